#include "dynamics/observables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attention/pairs.hpp"
#include "core/parallel.hpp"
#include "measure/extremes.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

namespace {

constexpr double cluster_cosine = 1 - 1e-3;
constexpr std::size_t most_cluster_tokens = 65536;
constexpr std::size_t most_ranked = 1024;  // that measure::effective_rank has a number for
constexpr std::size_t slots = 64;          // fixed: the same bits on any number of threads

measure::Rows system_rows(const Measured& shape, const std::vector<double>& rows, std::size_t system) {
    return {rows.data() + system * shape.tokens * shape.dim, shape.tokens, shape.dim};
}

}  // namespace

bool is_measured(const SampleField& field, std::size_t tokens, std::size_t dim) {
    if (field.value == &Sample::clusters || field.value == &Sample::pair_fraction) {
        return tokens <= most_cluster_tokens;
    }
    return field.value != &Sample::effective_rank || std::min(tokens, dim) <= most_ranked;
}

std::string where_measured() {
    return fmt::format(
        "clusters and pair_fraction are of at most {} tokens, effective_rank where tokens or dimensions are at most {}",
        most_cluster_tokens, most_ranked);
}

std::optional<double> measure_one(const Measured& shape, const SampleField& field, const std::vector<double>& theta,
                                  const std::vector<double>& x) {
    const auto mean_of = [&](double (*of)(const measure::Rows&)) {
        double sum = 0;
        for (std::size_t m = 0; m < shape.systems; ++m) {
            sum += of(system_rows(shape, theta, m));
        }
        return sum / static_cast<double>(shape.systems);
    };
    if (field.value == &Sample::cosine) {
        return 1 - mean_of(measure::one_minus_cosine);
    }
    if (field.value == &Sample::one_minus_cosine) {
        return mean_of(measure::one_minus_cosine);
    }
    if (field.value == &Sample::variance) {
        return mean_of(measure::variance);
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

namespace {

// Of n(n-1)/2 pairs; one token alone agrees with itself, as its cosine says.
double share_of_pairs(std::uint64_t count, std::size_t tokens) {
    const auto n = static_cast<double>(tokens);
    return tokens < 2 ? 1 : static_cast<double>(count) / (n * (n - 1) / 2);
}

// Energy is -(1/n^2) sum_jk exp(beta (<theta_j, theta_k> - 1)), that of the paper over n^2 e^beta: -1 at consensus.
// Clusters are the components of the graph of pairs with a cosine above 0.999. O(n^2 d) a system, less in 2 and 3
// dimensions (attention/pairs.hpp).
Sample measure_system(const Measured& shape, const measure::Rows& theta, const measure::Rows& x) {
    Sample sample;
    const std::size_t n = shape.tokens;
    const bool counted = n <= most_cluster_tokens;
    const auto when_counted = [counted](double level) { return counted ? std::optional(level) : std::nullopt; };
    const attention::PairStatistics pairs = attention::pair_statistics(
        n, shape.dim, theta.data, shape.beta, when_counted(cluster_cosine), when_counted(shape.pair_cosine));
    sample.one_minus_cosine = measure::one_minus_cosine(theta);
    sample.cosine = sample.cosine_lo = sample.cosine_hi = 1 - sample.one_minus_cosine;
    sample.variance = measure::variance(theta);
    sample.energy = -pairs.exponential_sum / (static_cast<double>(n) * static_cast<double>(n));
    sample.effective_rank = measure::effective_rank(theta);
    if (counted) {
        sample.clusters = static_cast<double>(pairs.components.value_or(0));
        sample.pair_fraction = share_of_pairs(pairs.above.value_or(0), n);
    }
    sample.radius = 0;
    sample.radius_min = HUGE_VAL;
    sample.radius_max = 0;
    for (const double r : measure::lengths(x)) {
        sample.radius += r / static_cast<double>(n);
        sample.radius_min = measure::smaller(sample.radius_min, r);
        sample.radius_max = measure::larger(sample.radius_max, r);
    }
    return sample;
}

// Means over systems, except where a quantity is an extreme or a quantile.
Sample over_systems(const std::vector<Sample>& systems) {
    const auto mean = [&](double Sample::*value) {
        double sum = 0;
        for (const Sample& system : systems) {
            sum += system.*value / static_cast<double>(systems.size());
        }
        return sum;
    };
    Sample all;
    all.t = systems.front().t;
    all.one_minus_cosine = mean(&Sample::one_minus_cosine);
    all.cosine = 1 - all.one_minus_cosine;
    all.radius = mean(&Sample::radius);
    all.variance = mean(&Sample::variance);
    all.energy = mean(&Sample::energy);
    all.speed = mean(&Sample::speed);
    all.clusters = mean(&Sample::clusters);
    all.pair_fraction = mean(&Sample::pair_fraction);
    all.effective_rank = mean(&Sample::effective_rank);
    std::vector<double> cosines;
    all.radius_min = HUGE_VAL;
    all.radius_max = 0;
    for (const Sample& system : systems) {
        cosines.push_back(system.cosine);
        all.radius_min = measure::smaller(all.radius_min, system.radius_min);
        all.radius_max = measure::larger(all.radius_max, system.radius_max);
    }
    all.cosine_lo = measure::quantile(cosines, 0.05);
    all.cosine_hi = measure::quantile(cosines, 0.95);
    return all;
}

}  // namespace

Measurement measure(const Measured& shape, double t, const std::vector<double>& theta, const std::vector<double>& x,
                    const std::vector<double>& speeds) {
    std::vector<Sample> systems(shape.systems);
    parallel_slots(shape.systems, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) {
            systems[m] = measure_system(shape, system_rows(shape, theta, m), system_rows(shape, x, m));
            systems[m].t = t;
            systems[m].speed = speeds[m];
        }
    });
    const Sample all = over_systems(systems);
    return {all, shape.systems > 1 ? std::move(systems) : std::vector<Sample>()};
}

}  // namespace flyball::dynamics
