#include "dynamics/start.hpp"

#include <cmath>

#include "core/random.hpp"
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

}  // namespace

// Random numbers of system m are those of stream 1 + 16 m: adding systems or changing weights does not move its start.
std::vector<double> start_rows(const Settings& s) {
    const std::size_t per_system = s.tokens * s.dim;
    std::vector<double> rows(s.systems * per_system, 0.0);
    for (std::size_t m = 0; m < s.systems; ++m) {
        double* system = rows.data() + m * per_system;
        if (s.start == StartKind::symmetric) {
            for (std::size_t j = 0; j < s.tokens; ++j) {
                system[j * s.dim + j] = s.r0;
            }
            continue;
        }
        const Random random(s.seed, start_stream + 16 * m);
        random.fill_normal({system, per_system});
        if (s.start == StartKind::gaussian) {
            continue;
        }
        if (s.start == StartKind::cone) {
            // Points at angle at most a from the axis have pairwise angle at most 2a; cos 2a = 1 - delta.
            std::vector<double> axis(s.dim);
            random.fill_normal(axis, per_system + 1);
            normalise(axis.data(), s.dim, 1);
            const double angle = std::acos(1 - s.cone_delta) / 2;
            for (std::size_t j = 0; j < s.tokens; ++j) {
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
            normalise(system + j * s.dim, s.dim, s.r0);
        }
    }
    return rows;
}

}  // namespace flyball::dynamics
