// What would explain a run that is not as its equation says: one mistake at a time, tried on some of the rows.
#pragma once

#include <string>
#include <vector>

#include "check/conformance.hpp"
#include "check/conformance_factors.hpp"

namespace flyball::check {

struct Explanation {
    std::string id;
    std::string message;
    Json evidence = Json::object();
    double error = 0;
    bool conforms = false;
    bool contrived = false;  // it takes a number that nobody would write; told where nothing else explains the run
    std::vector<std::size_t> order = {};  // of the blocks, where they were saved in another one
    std::vector<std::size_t> depth = {};  // where blocks were exchanged
};

// Those under which the run conforms; without any the one that comes closest, if it leaves less than half of the error.
// `branches`: what was found of factors on what the sub-layers add.
std::vector<Explanation> explain(const RunFile& run, const scheme::Program& program, GainOrder gains,
                                 const Reading& reading, const std::optional<BranchFinding>& branches);

// The same of one mistake in some blocks, where the others conform: norms, wiring, gains of another block. `plain` is
// the reading as asked.
std::vector<Explanation> explain_in_some_blocks(const RunFile& run, const Hypothesis& plain, const Reading& reading);

// "The norm of `norm(x)`", of the norm that is numbered k in the text.
std::string norm_text(const scheme::Program& program, int k);

// The catalogue's entry with the smallest error; one that conforms comes before one that does not, what was asked for
// before others. `change_numbers`: also with one number of a parameter changed. Blocks are read in the order that an
// explanation has found.
NearestScheme nearest_scheme(const RunFile& run, const scheme::Scheme& asked, bool change_numbers,
                             const std::vector<Explanation>& explanations);

// How many rows such trials take: enough to tell schemes apart, few enough for a large model.
std::size_t rows_for_trials(const RunFile& run);

// "block 3", "blocks 1 to 5", "blocks 0, 2 and 4".
std::string blocks_text(const std::vector<std::size_t>& blocks);

}  // namespace flyball::check
