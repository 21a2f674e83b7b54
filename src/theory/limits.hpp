// Limits of slowly converging sequences, with an honest estimate of how well they are known. Internal to the terminal
// law.
#pragma once

#include <cmath>
#include <vector>

namespace flyball::theory {

struct Estimate {
    double value = 0;
    double error = HUGE_VAL;
};

// One member of a sequence that converges as t grows while its rounding grows too.
struct Term {
    double t = 0;
    double value = 0;
    double rounding = 0;
    bool on_grid = true;  // times in equal ratios; others lie between them
};

// The limit, taken where corrections and rounding balance. Corrections like t^-delta become a geometric series on times
// in equal ratios, which Aitken's formula sums; a sequence too short for that is taken as it is. The error is infinite
// when later members contradict the limit by more than 1 %.
Estimate limit_of(const std::vector<Term>& terms);

// The same where corrections are expected to be a series in t^-delta, from t^(-first delta) on: each can be taken out
// exactly.
Estimate limit_of_series(std::vector<Term> terms, double delta, int first = 1);

// (v(t) - Q v(t'))/(1 - Q) with Q = (t/t')^p: what is left of v = c t^p + rest when the leading power, whatever its
// coefficient, is taken out. `terms` lie on a grid.
std::vector<Term> without_power(const std::vector<Term>& terms, double p);

// p of v = c t^p + constant + what dies out, from the ratios of differences.
std::vector<Term> local_powers(const std::vector<Term>& terms);

// Does the sequence settle as corrections t^-delta do? One that follows 1/log t comes to rest nowhere: each quarter of
// its way, in log t, is about as long as the one before. `negligible` is a movement that does not count.
bool settles(const std::vector<Term>& terms, double negligible);

}  // namespace flyball::theory
