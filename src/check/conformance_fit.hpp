// Searches: the number in an equation, the dt, the order of blocks under which a run conforms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/conformance_reading.hpp"

namespace flyball::check {

struct FittedNumber {
    double value = 0;
    double error = 0;
    bool conforms = false;
    bool simple = false;  // a whole number or a simple fraction, at which the run conforms
};
// Where `error_at` is smallest: at one of the trials, or between its neighbours among them.
FittedNumber fit_number(std::vector<double> trials, const std::function<double(double)>& error_at);

// The step dt at which the run conforms best.
FittedNumber fit_dt(const RunFile& run, const Hypothesis& hypothesis);

// A number written in the text of an equation.
struct WrittenNumber {
    double value = 0;
    scheme::Span span;      // in Program::text()
    std::string parameter;  // in the value of this parameter, or empty
    bool exponent = false;  // it is what stands after ^
    std::string base;       // of that power
};
// Exponents first: they are what is mistaken most easily.
std::vector<WrittenNumber> written_numbers(const scheme::Program& program);

// The equation with this number replaced; nothing where that is no equation.
std::optional<scheme::Program> with_number(const scheme::Program& program, const WrittenNumber& number, double value);

// The number that fits best in its place, and the error then.
FittedNumber fit_written(const RunFile& run, const Hypothesis& hypothesis, const WrittenNumber& number);

// For each step the file's block that follows, when they were saved in another order than they ran in.
std::optional<std::vector<std::size_t>> order_that_fits(const RunFile& run, const Hypothesis& hypothesis);

// For each step the block of the equation that it is, when blocks with factors of their own were exchanged.
std::optional<std::vector<std::size_t>> depths_that_fit(const RunFile& run, const Hypothesis& hypothesis,
                                                        const Reading& reading);

// Which sub-layers' contributions to the stream a factor is on.
enum class BranchShape { both, attention, ffn, each };  // each: a factor of its own
struct FittedBranches {
    scheme::BranchFactors factors;
    double misfit = 0;  // PlaceReading::misfit of the new stream
};
// The factors at which one step conforms behind attention's input, or nothing.
std::optional<FittedBranches> fit_branches(const RunFile& run, const Hypothesis& hypothesis, std::size_t step,
                                           BranchShape shape);

// The factor on such contributions in all blocks, from what it is in each of them.
FittedNumber fit_branch_factor(const RunFile& run, const Hypothesis& hypothesis, BranchShape shape,
                               const std::vector<double>& factors);
scheme::BranchFactors of_shape(BranchShape shape, double factor);

}  // namespace flyball::check
