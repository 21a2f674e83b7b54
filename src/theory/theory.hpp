// The reduced law of a scheme: what the equation predicts for a symmetric start, without running particles.
//
// n orthonormal tokens of length r0 stay equiangular, so every stream is x_j = a e_j + b sum_k e_k (scheme/plane.hpp)
// and the whole system is a handful of numbers. No formula of any scheme stands here: velocities come from the
// equation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheme/program.hpp"

namespace flyball::theory {

struct Settings {
    double tokens = 32;
    std::vector<double> betas = {1};  // one head each, identity weights, weight 1/H
    double r0 = 1;
    double T = 10;              // what the equation's T (and L) means; solutions go on past it
    std::optional<double> dim;  // the equation's d; default: tokens
};

struct Point {
    double t = 0;
    double log_one_minus_gamma = 0;  // of the readout; exact where gamma rounds to 1
    double gamma = 0;
    double radius = 0;  // |x|
    double log_velocity =
        0;                // log |gamma'|; -inf when it does not move, NaN (and the two below) when its digits are lost
    double velocity = 0;  // gamma'; 0 where it underflows
    double log_rate = 0;  // log |gamma'|/(1 - gamma), with all digits also where 1 - gamma underflows
};

enum class LawKind { exponential, stretched, power, frozen, extinct, other };
const char* name(LawKind kind);

// How gamma' ends, C t^power exp(-rate t^p) in general: exponential p = 1 (power 0 unless rates coincide or gains
// move); stretched p != 1 (power p - 1 as a rule); power C t^exponent; frozen: gamma tends to `limit` < 1; extinct: a
// stream reaches zero at `time`, gamma being `limit` there; other: none of these to 1 %, local slopes in `note`.
struct Law {
    LawKind kind = LawKind::other;
    std::optional<double> rate, p, power, time, exponent, constant, log_constant, limit;
    bool reached = true;  // when frozen: false where `limit` is but gamma at the end of the numbers, and `note` says so
    std::optional<double> log_one_minus_limit;  // when frozen: a limit may be below 1 by less than a number can say
    std::optional<double> error;                // estimated relative error of constant (of limit when frozen)
    // Cross-check from the velocities alone: the growth d log s/d log t of the speed factor s, theta' = P A/s, and
    // whether it says the same as the solution (0 exponential, 1 - p stretched, 1 power; a frozen gamma may have any).
    std::optional<double> speed_growth;
    bool speed_agrees = true;
    std::string note;
};

// Throws Error(usage) with the reason when the equation has no ODE limit or no reduced law, or a setting makes no
// sense.
void check(const scheme::Program& program, const Settings& settings);

// Each throws what check() throws.
double initial_velocity(const scheme::Program& program, const Settings& settings);  // gamma'(0)
// Points behind the end of the solution have no numbers; why it ends is written to `why_it_ends` then.
std::vector<Point> solve(const scheme::Program& program, const Settings& settings, const std::vector<double>& times,
                         std::string* why_it_ends = nullptr);
Law terminal_law(const scheme::Program& program, const Settings& settings);
std::optional<double> time_to_cosine(const scheme::Program& program, const Settings& settings, double cosine);

// log K(n, beta) by quadrature, r^2 (1 - gamma) -> K r0^2 for Pre-LN and Peri-LN: a cross-check that knows nothing of
// the above.
double log_consensus_constant(double tokens, double beta);

}  // namespace flyball::theory
