// Every claim of a paper that can be run, as data with one experiment each.
//
// A claim says in our own words what a source states and which verdict we have come to record for it. Its experiment
// gives two things that share no code: a prediction typed from the source, and a measurement by the machinery of the
// equation (scheme, dynamics, theory). The verdict follows from the two and a tolerance; it is never copied from the
// record, so a run of the ledger is also a regression test: something changed when a verdict is not the recorded one.
//
//     holds             the measurement agrees with the claim as stated
//     holds-corrected   it does not, and agrees with the corrected statement that the claim's note gives
//     fails             neither
//     undecided         runs of different seeds differ by more than what is to be seen; the figures are given
//     not-tested        there is no experiment, and the note says why
//     skipped           the experiment needs something that is not here; the note says what and how to get it
//
// A claim that could not fail would say nothing. So every number that a verdict rests on is asked for with
// Context::predict, and tests/claims/planted_test.cpp puts the nearest wrong statement in its place (a factor, another
// exponent, a missing term): each claim has at least one that must flip its verdict, at the sizes of a quick run.
//
// Quick and full runs differ in sizes, seeds and grids, never in what is compared. Statistical claims fix the seed.
// Not here: the list of all claims (groups.hpp), running them (judge.hpp), what is shown of them (documents.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/figure.hpp"

namespace flyball::claims {

enum class Verdict { holds, holds_corrected, fails, undecided, not_tested, skipped };
const char* name(Verdict verdict);
Verdict verdict_from_name(std::string_view name);  // Error(input) for anything else

// As stated, or else as corrected.
Verdict verdict_of(bool as_stated);
Verdict verdict_of(bool as_stated, bool as_corrected);

// A number where the quantity is one number, otherwise a few words; nothing where nothing was run.
using Value = std::variant<std::monostate, double, std::string>;
std::string text_of(const Value& value);
std::string markdown(const std::string& text);  // for a cell of a table

struct Picture {
    std::string name;  // of its files, without extension
    std::variant<report::LineFigure, report::HeatFigure> figure;
};

struct Measurement {
    Value predicted;
    Value measured;
    Value tolerance;
    Verdict verdict = Verdict::not_tested;
    std::string note;  // what else was seen: intervals, sizes, error budget
    std::vector<Picture> pictures = {};
};

// Thrown out of an experiment when its stop flag is set; no claim is recorded then.
struct Interrupted {};

// The model and the text that statements about one model are tried on; empty: those that come with the program.
struct Subject {
    std::string model;
    std::string text;
};

// Where results that several claims share, and that take long to compute, are kept for a run that is taken up again.
struct Shelf {
    std::function<std::optional<std::string>(const std::string& name)> find = {};
    std::function<void(const std::string& name, const std::string& text)> keep = {};  // by several threads at a time
};

struct Context {
    bool quick = false;
    std::uint64_t seed = 1;
    const std::atomic<bool>* stop = nullptr;
    std::function<void(double share)> progress = {};
    // For tests: what is predicted instead of `stated` for a quantity at a place (sizes, times, a token's state).
    std::function<double(std::string_view quantity, double stated, const std::vector<double>& place)> replaced = {};
    Subject subject = {};
    Shelf shelf = {};

    // What the source states for a quantity. The prediction's name and place are for whoever replaces it.
    double predict(std::string_view quantity, double stated, const std::vector<double>& place = {}) const;

    template <class Size>
    Size size(Size when_quick, Size when_full) const {
        return quick ? when_quick : when_full;
    }
    void at(double share) const;  // tells the progress; throws Interrupted when asked to stop
    // The same for a part of an experiment: its progress 0..1 becomes begin..end of this one.
    Context part(double begin, double end) const;
};

// Something that an experiment cannot do without and the program does not bring: a checkpoint, a text.
struct Need {
    std::string what;  // "the checkpoint openai-community/gpt2"
    std::string how;   // to get it
    std::function<bool()> there;
};
Need checkpoint_need(const std::string& model);                   // a folder or an id, as model/locate.hpp finds it
Need file_need(const std::string& path, const std::string& how);  // a regular file

struct Claim {
    std::string id;         // kebab-case, begins with its group's name
    std::string statement;  // one sentence
    std::string source;     // theorem, table, figure; or "finding"
    Verdict expected = Verdict::holds;
    std::string note;                                       // what is true instead, or what to know; may be empty
    std::function<Measurement(const Context&)> experiment;  // none: not tested, and the note says why
    double cost = 1;     // about how many seconds a full run takes where that is many: the longest are begun first
    bool alone = false;  // runs while no other claim does, with all threads for itself
    std::vector<Need> needs = {};  // skipped when one of them is not there
    bool of_one_model = false;     // the recorded verdict is that of the shipped model
    bool is_elsewhere = false;     // and this run is about another, on which any verdict is news
};

}  // namespace flyball::claims
