#include "dynamics/start.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "dynamics/start_file.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

namespace {

// Streams of random numbers; each purpose has its own, so that one choice never shifts another.
constexpr std::uint64_t start_stream = 1;

void normalise(double* row, std::size_t dim, double length) {
    const double factor = length / measure::length(row, dim);
    for (std::size_t c = 0; c < dim; ++c) {
        row[c] *= factor;
    }
}

// n vectors of equal length whose mean lies along the first axis (left out where it is 0) and whose differences lie
// across it:
//
//     x_j = (sqrt((1 + (n-1) rho)/n), sqrt(1 - rho) h_j),     <h_i, h_j> = [i = j] - 1/n
//
// where coordinate k = 1 .. n-1 of h_j is 1/sqrt(k(k+1)) for j < k, -sqrt(k/(k+1)) for j = k and 0 beyond (Helmert's
// matrix without its row of ones). Nothing is subtracted from anything, so that near rho = 1 the small differences
// between tokens keep their digits, as near the lower end their small mean does.
void equiangular(std::size_t tokens, std::size_t dim, double rho, double length, double* rows) {
    const double mean = share_of_mean(tokens, rho);
    const double along = length * std::sqrt(mean / static_cast<double>(tokens));
    const double across = length * std::sqrt(1 - rho);
    const bool simplex = mean == 0;
    for (std::size_t j = 0; j < tokens; ++j) {
        check_stop();
        double* row = rows + j * dim;
        if (!simplex) {
            row[0] = along;
        }
        for (std::size_t k = std::max<std::size_t>(1, j); k < tokens; ++k) {
            const auto order = static_cast<double>(k);
            row[k - (simplex ? 1 : 0)] =
                across * (j == k ? -std::sqrt(order / (order + 1)) : 1 / std::sqrt(order * (order + 1)));
        }
    }
}

}  // namespace

double share_of_mean(std::size_t tokens, double rho) {
    const auto others = static_cast<double>(tokens - 1);
    const double share = std::fma(others, rho, 1.0);
    // -1/(n-1) as a number is off by half a unit in its last place.
    return std::fabs(share) <= others * std::fabs(rho) * 2.3e-16 ? 0 : share;
}

// Random numbers of system m are those of stream 1 + 16 m: adding systems or changing weights does not move its start.
std::vector<double> start_rows(const Settings& s) {
    if (s.start == StartKind::file) {
        return s.started->rows();
    }
    const std::size_t per_system = s.tokens * s.dim;
    std::vector<double> rows(s.systems * per_system, 0.0);
    for (std::size_t m = 0; m < s.systems; ++m) {
        double* system = rows.data() + m * per_system;
        if (s.start == StartKind::symmetric) {
            for (std::size_t j = 0; j < s.tokens; ++j) {
                check_stop();
                system[j * s.dim + j] = s.r0;
            }
            continue;
        }
        if (s.start == StartKind::equiangular) {
            equiangular(s.tokens, s.dim, s.start_cosine, s.r0, system);
            continue;
        }
        const Random random(s.seed, start_stream + 16 * m);
        random.fill_normal({system, per_system});
        if (s.start == StartKind::gaussian) {
            continue;
        }
        if (s.start == StartKind::cone) {
            // Points at angle at most a from the axis have pairwise angle at most 2a; 1 - cos 2a = 2 sin^2 a = delta.
            std::vector<double> axis(s.dim);
            random.fill_normal(axis, per_system + 1);
            normalise(axis.data(), s.dim, 1);
            const double angle = std::asin(std::sqrt(s.cone_delta / 2));
            for (std::size_t j = 0; j < s.tokens; ++j) {
                check_stop();
                double* row = system + j * s.dim;
                const double along = measure::dot(row, axis.data(), s.dim);
                for (std::size_t c = 0; c < s.dim; ++c) {
                    row[c] -= along * axis[c];
                }
                const double tilt = s.dim == 1 ? 0 : angle * random.uniform(2 * per_system + 1 + j);
                if (s.dim > 1) {
                    normalise(row, s.dim, std::sin(tilt));
                }
                for (std::size_t c = 0; c < s.dim; ++c) {
                    row[c] += std::cos(tilt) * axis[c];
                }
            }
        }
        for (std::size_t j = 0; j < s.tokens; ++j) {
            check_stop();
            normalise(system + j * s.dim, s.dim, s.r0);
        }
    }
    return rows;
}

}  // namespace flyball::dynamics
