// A solution sampled to its end, and the power of t that its end follows. Internal to the terminal law (law.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "theory/theory.hpp"
#include "theory/track.hpp"

namespace flyball::theory {

inline constexpr double near_consensus = 0.02;  // 1 - gamma below: the law of the neighbourhood of consensus may show

// u = -log(1 - gamma), lambda = u'.
struct Sample {
    double t;
    double u;
    double log_rate;  // log lambda; -inf when nothing moves
    double log_velocity;
    double log_s;
    double gamma;
    bool forward;  // gamma grows
    bool on_grid;  // at 10^(k/4), not just where the integrator stepped
};

struct Walk {
    std::vector<Sample> samples;
    std::string stopped;      // why it ended before t = 1e100
    bool unfinished = false;  // it ended before the equation had done all that it does at definite times
    bool underflow = false;   // 1 - gamma has become 0, or so small that the law must have shown
    std::optional<Track::Extinction> extinct;
    double shaken = 0;       // Track::shaken()
    bool has_digits = true;  // of gamma, at the end
    double noise = 0;        // relative, of u and lambda: integration and rounding

    bool to_the_end() const { return !underflow && stopped.empty(); }
};

// Every accepted step and four fixed times a decade, to t = 1e100; with several streams to 1 - gamma = exp(-deep), for
// their steps do not grow.
Walk walk(const scheme::Program& program, const Settings& settings, double deep);

// Samples at times in equal ratios, eight a decade, that end with `end`: for solutions too short for the grid above.
std::vector<Sample> sampled_back_from(const scheme::Program& program, const Settings& settings, double begin,
                                      double end);

// Samples at equal distances, as far as the solution goes.
std::vector<Sample> sampled_evenly(const scheme::Program& program, const Settings& settings, double begin, double end,
                                   double step);

// The last sample at or before t.
const Sample& sample_at(const std::vector<Sample>& samples, double t);

// When consensus came near; 0 if it never did.
double arrival(const Walk& walk);

struct Tail {
    std::vector<Sample> samples;
    double slope = 0;     // d log lambda/d log t at the end
    double drift = 0;     // largest misfit of log lambda in the tail
    double log_c = 0;     // lambda = c t^slope
    double s_growth = 0;  // d log s/d log t
    double s_drift = 0;
    bool steady = false;     // the slope has come to rest: corrections have died
    double slope_error = 0;  // what the slope changed by since one decade, or half the tail, earlier
};

Tail tail_of(const Walk& walk);

}  // namespace flyball::theory
