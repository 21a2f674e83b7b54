#include "dynamics/observables.hpp"

#include <algorithm>
#include <cmath>

#include "attention/pairs.hpp"
#include "core/parallel.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

namespace {

constexpr double cluster_cosine = 1 - 1e-3;
constexpr std::size_t most_cluster_tokens = 65536;
constexpr std::size_t slots = 64;  // fixed: the same bits on any number of threads

measure::Rows system_rows(const Measured& shape, const std::vector<double>& rows, std::size_t system) {
    return {rows.data() + system * shape.tokens * shape.dim, shape.tokens, shape.dim};
}

}  // namespace

std::optional<double> measure_one(const Measured& shape, const SampleField& field, const std::vector<double>& theta,
                                  const std::vector<double>& x) {
    const auto over_systems = [&](double (*of)(const measure::Rows&)) {
        double sum = 0;
        for (std::size_t m = 0; m < shape.systems; ++m) {
            sum += of(system_rows(shape, theta, m));
        }
        return sum / static_cast<double>(shape.systems);
    };
    if (field.value == &Sample::cosine) {
        return 1 - over_systems(measure::one_minus_cosine);
    }
    if (field.value == &Sample::one_minus_cosine) {
        return over_systems(measure::one_minus_cosine);
    }
    if (field.value == &Sample::variance) {
        return over_systems(measure::variance);
    }
    if (field.value == &Sample::radius) {
        double sum = 0;
        for (const double r : measure::lengths({x.data(), shape.systems * shape.tokens, shape.dim})) {
            sum += r;
        }
        return sum / static_cast<double>(shape.systems * shape.tokens);
    }
    return std::nullopt;
}

// Energy is -(1/n^2) sum_jk exp(beta (<theta_j, theta_k> - 1)), that of the paper over n^2 e^beta: -1 at consensus.
// Clusters are the components of the graph of pairs with a cosine above 0.999. O(n^2 d) a system, less in 2 and 3
// dimensions (attention/pairs.hpp).
Sample measure(const Measured& shape, double t, const std::vector<double>& theta, const std::vector<double>& x,
               double speed) {
    Sample sample;
    sample.t = t;
    sample.speed = speed;
    const std::size_t n = shape.tokens;
    const auto systems = static_cast<double>(shape.systems);
    struct System {
        double one_minus_cosine, variance, energy, effective_rank, clusters;
    };
    std::vector<System> all(shape.systems);
    const bool counted = n <= most_cluster_tokens;
    parallel_slots(shape.systems, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) {
            const measure::Rows rows = system_rows(shape, theta, m);
            const attention::PairStatistics pairs = attention::pair_statistics(
                n, shape.dim, rows.data, shape.beta, counted ? std::optional(cluster_cosine) : std::nullopt);
            all[m] = {measure::one_minus_cosine(rows), measure::variance(rows),
                      -pairs.exponential_sum / (static_cast<double>(n) * static_cast<double>(n)),
                      measure::effective_rank(rows), static_cast<double>(pairs.components.value_or(0))};
        }
    });
    const auto mean = [&](double System::*value) {
        double sum = 0;
        for (const System& system : all) {
            sum += system.*value / systems;
        }
        return sum;
    };
    sample.one_minus_cosine = mean(&System::one_minus_cosine);
    sample.variance = mean(&System::variance);
    sample.energy = mean(&System::energy);
    sample.effective_rank = mean(&System::effective_rank);
    if (counted) {
        sample.clusters = mean(&System::clusters);
    }
    std::vector<double> cosines;
    for (const System& system : all) {
        cosines.push_back(1 - system.one_minus_cosine);
    }
    sample.cosine = 1 - sample.one_minus_cosine;
    sample.cosine_lo = measure::quantile(cosines, 0.05);
    sample.cosine_hi = measure::quantile(cosines, 0.95);
    const std::vector<double> radii = measure::lengths({x.data(), shape.systems * n, shape.dim});
    sample.radius = 0;
    sample.radius_min = HUGE_VAL;
    sample.radius_max = 0;
    for (const double r : radii) {
        sample.radius += r / static_cast<double>(radii.size());
        sample.radius_min = std::min(sample.radius_min, r);
        sample.radius_max = std::max(sample.radius_max, r);
    }
    return sample;
}

}  // namespace flyball::dynamics
