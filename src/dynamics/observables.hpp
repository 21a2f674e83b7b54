// What is measured at a sample: functions of the readout's directions theta and of |x|. Definitions: docs/simulate.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace flyball::dynamics {

struct Sample {
    double t = 0;
    double cosine = 0;     // mean over pairs i < j and systems
    double cosine_lo = 0;  // 5 % and 95 % quantiles over systems
    double cosine_hi = 0;
    double radius = 0;  // of |x|, over tokens and systems
    double radius_min = 0;
    double radius_max = 0;
    double variance = 0;
    double energy = 0;
    double speed = 0;
    std::optional<double> clusters;  // mean over systems; none above 65,536 tokens
    double effective_rank = 0;       // NaN above min(n, d) = 1024
};

// theta: [systems, tokens, dim] unit rows (zero rows stay zero); x: the stream; theta_slope may be null (speed is then
// given).
struct Measured {
    std::size_t systems = 1;
    std::size_t tokens = 1;
    std::size_t dim = 1;
    double beta = 1;
};

// Unit rows of `rows`, and along them the part of `slope` across the row divided by its length.
void directions(const Measured& shape, const std::vector<double>& rows, std::vector<double>& theta);
double mean_angular_speed(const Measured& shape, const std::vector<double>& rows, const std::vector<double>& slope);

Sample measure(const Measured& shape, double t, const std::vector<double>& theta, const std::vector<double>& x,
               double speed);

// By the name that --until uses; NaN where it was not measured.
double value_of(const Sample& sample, const std::string& observable);

// Cosine, radius or variance alone, at O(n d): what an event is looked for with after every step. Nothing for the
// others.
std::optional<double> measure_one(const Measured& shape, const std::string& observable,
                                  const std::vector<double>& theta, const std::vector<double>& x);

// Linear interpolation between order statistics; values are sorted in place.
double quantile(std::vector<double>& values, double share);

}  // namespace flyball::dynamics
