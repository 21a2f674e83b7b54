// What the numbers of a head, and of a model, mean in plain words.
//
// Thresholds. A head is
//
//     selective    the keys that hold 90 % of its weight are at most 6 % of what it sees (the paper's critical N)
//     saturated    of its N heaviest keys at most 80 % can be told from the rest, N_s/N <= 0.80 (the paper's 0.70-0.80)
//     a sink       one key gets 30 % of the weight or more, over all rows that see it
//     sensitive    its weights move at half the speed that softmax can reach or faster: mean |J|_2 >= 0.5 * 1/(2T)
//
// N is 20, or, where no row sees more than 20 keys, the largest N below it that has rows: diagnosis_n, and whatever
// shows the ratio says the N.
#pragma once

#include <string>
#include <vector>

#include "limits/result.hpp"

namespace flyball::limits {

struct Diagnosis {
    bool selective = false;
    bool saturated = false;
    bool sink = false;
    bool sensitive = false;
    double separation = 0;   // N_s/N at the head's told_n; NaN where it has no row with more keys
    double sensitivity = 0;  // mean |J|_2 as a share of 1/(2T); NaN where it is not known
    std::string text;        // one sentence
};
Diagnosis diagnose(const HeadResult& head);

// A number of each head for a map of layers and heads; one list for figures, tables and documents.
struct HeadMeasure {
    const char* name;                     // of a file or a column
    const char* words;                    // in a figure beside the others
    const char* unit;                     // what its numbers are, along a colour bar
    std::string (*title)(const Result&);  // for a figure
    double (*value)(const HeadResult&);
};
const std::vector<HeadMeasure>& head_measures();

// N of the diagnosis: the largest up to 20 at which some head has N_s/N; 0 where there is none.
std::size_t diagnosis_n(const std::vector<HeadResult>& heads);

// Five lines about the whole model, and a paragraph of advice, from the numbers. `results` has one result for each
// normaliser; the lines are about the first.
std::vector<std::string> summary(const std::vector<Result>& results);
std::string guidance(const std::vector<Result>& results);

// The longest length of a result, and its means over length at that one.
std::size_t longest(const Result& result);

}  // namespace flyball::limits
