// What a run of code has to compute, decided from its coefficients before any vector is touched.
//
// Every register is a dual vector: a primal part and a slope, the derivative with respect to dt or, where streams bring
// the slopes that they move with, along that motion. Six kinds of run use the same code:
//
//     values       dt as given, no slopes                                        one layer, or the readout
//     record       the same, but a coefficient that happens to be 0 is kept      one layer that reverse mode will walk
//     along        dt as given, t + eps; slopes of the streams are carried on    how the readout moves
//     derivative   dt = 0 + eps; f is evaluated, its slope is unknown            the velocity of S(x, dt) at dt = 0
//     projection   dt = 0; f is opaque: nothing about it may matter              N0 = S(., 0)
//     tangent      the same with t + eps; slopes of the streams are carried on   how N0 moves
//
// The slope of f(z) is never needed where an ODE limit exists: f is multiplied by a coefficient that vanishes with dt,
// so (0 + c1 eps)(F + ? eps) = c1 F eps. A slope that stays unknown, or an opaque value that survives, means there is
// no limit, and the plan says which part of the equation is to blame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheme/code.hpp"
#include "scheme/dual.hpp"

namespace flyball::scheme {

enum class Run { values, record, along, derivative, projection, tangent };

inline bool takes_limit(Run run) {
    return run == Run::derivative || run == Run::projection || run == Run::tangent;
}
// Time goes on in it, at rate 1.
inline bool moves_in_time(Run run) {
    return run == Run::along || run == Run::tangent;
}

// What is known of a register before it is computed, and who wants it. `zero` is known to be 0 whatever the streams
// are: it costs nothing and ends the spread of `unknown`. Only what is known and needed is computed.
struct Mark {
    enum class Part : unsigned char { zero, known, unknown };
    Part primal = Part::zero;
    Part slope = Part::zero;
    bool primal_needed = false;
    bool slope_needed = false;
    int blame = -1;  // the instruction that made a part unknown

    bool computes_primal() const { return primal == Part::known && primal_needed; }
    bool computes_slope() const { return slope == Part::known && slope_needed; }
};

// The value of a coefficient: whether it is zero matters to the plan, its numbers to the kernels.
struct CoefficientFacts {
    bool zero = false;       // value is 0 (in every channel)
    bool slope_zero = true;  // its slope is 0 (in every channel)
    bool finite = true;
};

struct Plan {
    std::vector<Mark> marks;             // by register
    std::optional<std::string> problem;  // why there is no limit; the plan must not be run then
};

// `entry` gives the parts of the streams on entry (embedding: known, no slope). Reuses the memory of `plan`.
void make_plan(const Code& code, Run run, const std::vector<CoefficientFacts>& coefficients,
               const std::vector<Mark>& entry, Plan& plan);

}  // namespace flyball::scheme
