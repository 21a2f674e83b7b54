#include "dynamics/observables.hpp"

#include <algorithm>
#include <cmath>

#include "attention/pairs.hpp"
#include "core/blas.hpp"
#include "core/lapack.hpp"
#include "core/parallel.hpp"

namespace flyball::dynamics {

namespace {

constexpr double cluster_cosine = 1 - 1e-3;
constexpr std::size_t most_cluster_tokens = 65536;
constexpr std::size_t most_rank = 1024;  // eigenvalues of larger matrices cost more than the run
constexpr std::size_t slots = 64;        // fixed: the same bits on any number of threads

double dot(const double* a, const double* b, std::size_t dim) {
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        sum += a[c] * b[c];
    }
    return sum;
}

// (|sum theta|^2 - sum |theta|^2) / (n(n-1)): the mean over pairs without looking at pairs. One token: 1.
double mean_cosine(const double* theta, std::size_t n, std::size_t dim) {
    if (n == 1) {
        return 1;
    }
    // 1 - mean = sum over pairs |theta_i - theta_j|^2 / (n(n-1)) = variance * n/(n-1): no cancellation near consensus.
    std::vector<double> mean(dim, 0.0);
    double lengths = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            mean[c] += theta[j * dim + c] / static_cast<double>(n);
        }
        lengths += dot(theta + j * dim, theta + j * dim, dim);
    }
    double spread = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            const double offset = theta[j * dim + c] - mean[c];
            spread += offset * offset;
        }
    }
    return lengths / static_cast<double>(n) - spread / static_cast<double>(n - 1);
}

double variance_of(const double* theta, std::size_t n, std::size_t dim) {
    std::vector<double> mean(dim, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            mean[c] += theta[j * dim + c] / static_cast<double>(n);
        }
    }
    double spread = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            const double offset = theta[j * dim + c] - mean[c];
            spread += offset * offset;
        }
    }
    return spread / static_cast<double>(n);
}

// exp of the entropy of the singular values' shares: 1 at consensus, min(n, d) for orthonormal rows.
double effective_rank_of(const double* theta, std::size_t n, std::size_t dim) {
    const std::size_t size = std::min(n, dim);
    if (size > most_rank) {
        return std::nan("");
    }
    std::vector<double> gram(size * size);
    const BlasThreads one(1);
    const auto [left, right] =
        n <= dim ? std::pair{Transpose::no, Transpose::yes} : std::pair{Transpose::yes, Transpose::no};
    gemm(left, right, size, size, std::max(n, dim), 1.0, theta, dim, theta, dim, 0.0, gram.data(), size);
    std::vector<double> values = symmetric_eigenvalues(std::move(gram), size);
    double total = 0;
    for (double& value : values) {
        value = std::sqrt(std::max(0.0, value));
        total += value;
    }
    double entropy = 0;
    for (const double value : values) {
        if (value > 0) {
            entropy -= value / total * std::log(value / total);
        }
    }
    return std::exp(entropy);
}

}  // namespace

void directions(const Measured& shape, const std::vector<double>& rows, std::vector<double>& theta) {
    theta.resize(rows.size());
    for (std::size_t row = 0; row < shape.systems * shape.tokens; ++row) {
        const double* x = rows.data() + row * shape.dim;
        const double length = std::sqrt(dot(x, x, shape.dim));
        for (std::size_t c = 0; c < shape.dim; ++c) {
            theta[row * shape.dim + c] = length == 0 ? 0 : x[c] / length;
        }
    }
}

double mean_angular_speed(const Measured& shape, const std::vector<double>& rows, const std::vector<double>& slope) {
    double sum = 0;
    const std::size_t count = shape.systems * shape.tokens;
    for (std::size_t row = 0; row < count; ++row) {
        const double* x = rows.data() + row * shape.dim;
        const double* v = slope.data() + row * shape.dim;
        const double squares = dot(x, x, shape.dim);
        if (squares == 0) {
            continue;
        }
        const double along = dot(x, v, shape.dim) / squares;
        double across = 0;
        for (std::size_t c = 0; c < shape.dim; ++c) {
            const double part = v[c] - along * x[c];
            across += part * part;
        }
        sum += std::sqrt(across / squares);
    }
    return sum / static_cast<double>(count);
}

double quantile(std::vector<double>& values, double share) {
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double value_of(const Sample& sample, const std::string& name) {
    if (name == "cosine") {
        return sample.cosine;
    }
    if (name == "radius") {
        return sample.radius;
    }
    if (name == "variance") {
        return sample.variance;
    }
    if (name == "energy") {
        return sample.energy;
    }
    if (name == "speed") {
        return sample.speed;
    }
    return sample.clusters.value_or(std::nan(""));
}

std::optional<double> measure_one(const Measured& shape, const std::string& observable,
                                  const std::vector<double>& theta, const std::vector<double>& x) {
    double sum = 0;
    const std::size_t per_system = shape.tokens * shape.dim;
    if (observable == "cosine" || observable == "variance") {
        for (std::size_t m = 0; m < shape.systems; ++m) {
            const double* system = theta.data() + m * per_system;
            sum += observable == "cosine" ? mean_cosine(system, shape.tokens, shape.dim)
                                          : variance_of(system, shape.tokens, shape.dim);
        }
        return sum / static_cast<double>(shape.systems);
    }
    if (observable == "radius") {
        for (std::size_t row = 0; row < shape.systems * shape.tokens; ++row) {
            const double* r = x.data() + row * shape.dim;
            sum += std::sqrt(dot(r, r, shape.dim));
        }
        return sum / static_cast<double>(shape.systems * shape.tokens);
    }
    return std::nullopt;
}

Sample measure(const Measured& shape, double t, const std::vector<double>& theta, const std::vector<double>& x,
               double speed) {
    Sample sample;
    sample.t = t;
    sample.speed = speed;
    const std::size_t n = shape.tokens;
    const std::size_t per_system = n * shape.dim;
    const auto systems = static_cast<double>(shape.systems);
    struct System {
        double cosine, variance, energy, effective_rank, clusters;
    };
    std::vector<System> all(shape.systems);
    const bool counted = n <= most_cluster_tokens;
    parallel_slots(shape.systems, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) {
            const double* system = theta.data() + m * per_system;
            const attention::PairStatistics pairs = attention::pair_statistics(
                n, shape.dim, system, shape.beta, counted ? std::optional(cluster_cosine) : std::nullopt);
            all[m] = {mean_cosine(system, n, shape.dim), variance_of(system, n, shape.dim),
                      -pairs.exponential_sum / (static_cast<double>(n) * static_cast<double>(n)),
                      effective_rank_of(system, n, shape.dim), static_cast<double>(pairs.components.value_or(0))};
        }
    });
    std::vector<double> cosines;
    double clusters = 0;
    for (const System& system : all) {
        cosines.push_back(system.cosine);
        sample.cosine += system.cosine / systems;
        sample.variance += system.variance / systems;
        sample.energy += system.energy / systems;
        sample.effective_rank += system.effective_rank / systems;
        clusters += system.clusters / systems;
    }
    if (counted) {
        sample.clusters = clusters;
    }
    sample.cosine_lo = quantile(cosines, 0.05);
    sample.cosine_hi = quantile(cosines, 0.95);
    sample.radius_min = HUGE_VAL;
    sample.radius_max = 0;
    for (std::size_t row = 0; row < shape.systems * n; ++row) {
        const double r = std::sqrt(dot(x.data() + row * shape.dim, x.data() + row * shape.dim, shape.dim));
        sample.radius += r / (systems * static_cast<double>(n));
        sample.radius_min = std::min(sample.radius_min, r);
        sample.radius_max = std::max(sample.radius_max, r);
    }
    return sample;
}

}  // namespace flyball::dynamics
