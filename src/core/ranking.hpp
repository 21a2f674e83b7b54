// Who is first and who is last among several, in words: what summaries of runs are made of.
//
// Values that agree to 1 % are a tie, and all of them are named. Values that are not finite take no part.
#pragma once

#include <string>
#include <vector>

namespace flyball {

struct Ranked {
    std::string name;
    double value = 0;
};

struct Ranking {
    std::vector<std::string> smallest, largest;  // names; the same ones when all are alike
    double least = 0, most = 0;
    bool all_alike = false;

    bool empty() const { return largest.empty(); }
};
Ranking rank(const std::vector<Ranked>& values);

// "a", "a and b", "a, b and c"; of many the first few and how many more.
std::string names_in_words(const std::vector<std::string>& names);
// "moves" for one name, "move" for several.
const char* verb_for(const std::vector<std::string>& names, const char* one, const char* several);

}  // namespace flyball
