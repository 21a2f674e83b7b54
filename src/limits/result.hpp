// What an analysis finds: for every head the means over its rows, and over heads what the paper draws.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "limits/jacobian.hpp"
#include "limits/kolmogorov.hpp"
#include "limits/normaliser.hpp"

namespace flyball::limits {

// Means over rows, or over heads; NaN where there is no row.
struct DistanceMeans {
    std::size_t length = 0;
    std::size_t n = 0;
    double distance = 0;
    double expected = 0;
    double expected_rms = 0;
    double bound = 0;
    double share = 0;       // of the weight that the N keys hold
    double uniformity = 0;  // of the weights among them
};

struct SeparationMeans {
    std::size_t n = 0;
    double ratio = 0;
    double lower = 0;
    double upper = 0;
    double upper_patched = 0;
    double lower_exact = 0;
    double upper_exact = 0;
    double lower_distinct = 0;  // with the least distance of two vectors that differ: a curve to look at, no bound
    double upper_distinct = 0;
    // Shares of rows in which a bound is broken.
    double lower_broken = 0;
    double upper_broken = 0;
    double patched_broken = 0;
    double exact_broken = 0;
};

struct SensitivityMeans {
    double temperature = 0;
    double eps = 0;
    double value = 0;  // of a head: mean over rows; of a model: the largest head's
};

struct JacobianMeans {
    double temperature = 0;
    double spectral = 0;          // mean over rows; of a model: the largest head's
    double spectral_largest = 0;  // the largest row's
    double infinity = 0;
};

// One head, at the longest length.
struct HeadResult {
    std::size_t layer = 0;
    std::size_t head = 0;
    std::size_t rows = 0;  // with three keys or more
    double temperature = 0;
    double entropy = 0;        // nats
    double entropy_share = 0;  // over log L
    double active = 0;         // keys that hold 90 % of the weight
    double active_share = 0;   // over L
    double peak = 0;           // the largest weight
    double sink = 0;           // the largest share that one key gets, as a mean over the rows that see it
    std::size_t sink_key = 0;
    std::size_t told_n = 0;  // N of the diagnosis' N_s/N, the same for all heads of a result; 0: there is none
    double spectral = 0;     // |J|_2 at the model's own temperature, mean over rows
    double infinity = 0;     // and its other norms
    Interval infinity_to_one;
    std::vector<DistanceMeans> by_length;
    std::vector<DistanceMeans> by_n;
    std::vector<SeparationMeans> separation;
    std::vector<SensitivityMeans> sensitivity;
    std::vector<JacobianMeans> jacobian;
};

struct KsCurve {
    std::size_t length = 0;
    std::vector<double> distances;  // for N = 1, 2, ..
    CriticalN by_level;
    CriticalN by_distance;
};

// How much of what a row sees the heads of a layer separate together: N = 20 keys each.
struct Coverage {
    std::size_t layer = 0;
    std::size_t heads = 0;
    double share = 0;      // of a row's keys that one head separates, p
    double predicted = 0;  // 1 - (1-p)^H
    double measured = 0;   // of a row's keys that some head separates
};

// Under one normaliser.
struct Result {
    std::string attention;
    std::vector<HeadResult> heads;
    std::vector<DistanceMeans> by_length;  // means over heads
    std::vector<DistanceMeans> by_n;
    std::vector<KsCurve> critical;
    std::vector<SeparationMeans> separation;
    std::vector<SensitivityMeans> sensitivity;  // largest head
    std::vector<JacobianMeans> jacobian;        // largest head
    std::vector<Coverage> coverage;
    std::size_t rows_left_out = 0;  // whose scores or vectors are not finite
    bool repeated_vectors = false;  // the least distance is 0 in every row that counts
};

}  // namespace flyball::limits
