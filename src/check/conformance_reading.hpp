// A saved run read as one equation: block by block, how far what the equation gives is from what was saved.
//
// Each block starts from the saved stream before it, so an error does not spread to the next block. Streams other than
// x are not saved; the equation carries them on from the embedding. Errors are Frobenius norms of differences over
//
//     attn.in, ffn.in, readout    the norm of what was saved
//     resid                       what the block's sub-layers change in it: a small branch is not hidden by the stream
//
// A place conforms when rounding explains it. Two questions are asked of the difference D with the estimates e of
// conformance_walk.hpp: in no row may the root mean square of D_i/e_i exceed `rounding_factor`, and the multiple of
// what the sub-layers add, both or one of them, that D contains may not exceed what rounding can make of it (which is
// sharper: errors of rounding average out over rows and channels, a wrong factor does not; conformance_compare.cpp).
//
// A hypothesis is the same question asked otherwise: another equation, a norm left out, another dt. Whatever explains a
// difference is a hypothesis under which the run conforms.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "check/conformance_walk.hpp"
#include "scheme/branches.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

inline constexpr double rounding_factor = 4;
// A gain and a bias per channel explain any two rows, and say nothing of fewer than these.
inline constexpr std::size_t rows_for_gains = 8;

enum class Place { attention_in, ffn_in, resid };
inline constexpr std::size_t place_count = 3;
const char* name(Place place) noexcept;   // as the tensor is called: attn.in
const char* title(Place place) noexcept;  // "the input of attention"

struct PlaceReading {
    bool checked = false;
    double error = 0;
    double tolerance = 0;               // what rounding explains; error <= tolerance: conforms
    double factor = 1;                  // saved = factor * equation fits best
    double factor_error = 0;            // what rounding can make of the factor
    bool factor_explains = false;       // with that factor the place conforms
    double rest = 0;                    // the error that stays with that factor
    double misfit = 0;                  // sum of squares of differences over what rounding may do
    std::vector<double> branches = {};  // at the new stream: 1 + the multiple of each sub-layer's part that is missing
    std::size_t wrong_rows = 0;
    bool conforms() const { return !checked || error <= tolerance; }
};

struct BlockReading {
    std::array<PlaceReading, place_count> places;  // by Place
    std::vector<int> gains;  // by norm in the order of evaluation: whose gains in the file it was given, -1 for none
    const PlaceReading& at(Place place) const { return places[static_cast<std::size_t>(place)]; }
    bool conforms() const;
    // The first place that does not conform in the order of the block; where all do, the one with the largest error.
    Place where() const;
    double error() const { return at(where()).error; }
};

// Which of the file's gains belong to which norm.
enum class GainOrder {
    evaluated,  // as checkpoints of Flyball number them: the norm that is evaluated first is 0
    written,    // by the place where `norm(` stands in the text
    fitted,     // whichever fit best, or none
    shared,     // as evaluated, and a file that has fewer of them starts again: one norm serves both sub-layers
    free,       // none of them: the inputs of sub-layers may have any gain and bias per channel
};

enum class Alteration {
    none,
    without_norm,      // one norm of the text does nothing, in both sub-layers
    without_one_norm,  // in one of them
    skip_after_norm,   // the skip takes what the norm gave, where the equation takes what it was given
    skip_before_norm,
    parallel,   // the feed-forward reads what it would read if attention added nothing
    ffn_first,  // attention and feed-forward exchanged
};

struct Hypothesis {
    explicit Hypothesis(const scheme::Program& program_, const RunFile& run);

    scheme::Program program;
    double dt = 1;
    scheme::RowFunction function = scheme::RowFunction::sphere;
    double eps = 0;
    double clock_shift = 0;          // added to t
    std::vector<std::size_t> order;  // the file's block at each step
    std::vector<std::size_t> depth;  // which block of the equation each step is
    GainOrder gains = GainOrder::evaluated;
    Alteration alteration = Alteration::none;
    int norm = -1;                  // without_norm: its index in the text; without_one_norm: its instance in the block
    std::vector<std::size_t> only;  // the steps that are altered; empty: all of them, and the readout
    bool alters(std::size_t step) const;
    scheme::BranchFactors branches = {};  // on what the sub-layers add
    bool rough = false;  // errors alone are asked for, whether they are of rounding is not: for searches
};

struct Reading {
    std::vector<BlockReading> blocks;  // by step
    PlaceReading readout;
    bool readout_gains_fitted = false;  // none are in the file and a gain per channel explains the readout
    double error = 0;                   // root mean square over all places, each counted as 10 at most
    bool conforms = false;
};

Reading read_as(const RunFile& run, const Hypothesis& hypothesis);

// One step alone, from the stream `before`. For equations of several streams those start at the embedding.
BlockReading read_step(const RunFile& run, const Hypothesis& hypothesis, std::size_t step, const SavedRows& before);

// How many norms the block at this step evaluates.
std::size_t norms_at(const RunFile& run, const Hypothesis& hypothesis, std::size_t step);

// By instance: what was saved of learned parameters, and the equation's own values where nothing was.
scheme::LearnedValues learned_of(const Hypothesis& hypothesis, const scheme::Code& code, const scheme::Environment& env,
                                 const SavedParameters& saved);

// Where the equation uses learned parameters, and where the run does not say what they were.
struct LearnedPlace {
    std::string parameter;
    std::string tensor;      // that gives it
    bool is_given = false;   // it is there
    bool is_usable = false;  // .. and has as many numbers as the equation has of it
};
std::vector<LearnedPlace> learned_places(const RunFile& run, const Hypothesis& hypothesis);

// Whether the alteration changes any block: otherwise it explains nothing.
bool alters_a_block(const RunFile& run, const Hypothesis& hypothesis);

// The first sub-layer that the equation calls twice in a block: a run has one input and one output of each.
std::optional<scheme::SubLayer> called_twice(const RunFile& run, const scheme::Program& program);

}  // namespace flyball::check
