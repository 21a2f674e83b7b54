#include "dynamics/velocities.hpp"

#include "dynamics/particles.hpp"
#include "dynamics/pieces.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

// x' = r' theta + r theta': growth is the part of x' along theta, and the turn what is left of it over r.
Velocities velocities(const Problem& problem, double t) {
    const std::size_t dim = problem.dim;
    const Piece piece = Pieces(problem).at(t);
    Particles particles(problem, {});
    particles.set_segment(piece.begin, piece.end);
    particles.project(t);
    std::vector<std::vector<double>> slopes;
    particles.velocity(t, slopes);
    Velocities result;
    result.x = particles.x();
    const measure::Rows rows{result.x.data(), problem.rows(), dim};
    result.theta = measure::directions(rows);
    result.r = measure::lengths(rows);
    result.turn = std::move(slopes[0]);
    result.growth.resize(rows.count);
    for (std::size_t j = 0; j < rows.count; ++j) {
        const double* theta = result.theta.data() + j * dim;
        double* turn = result.turn.data() + j * dim;
        result.growth[j] = measure::dot(theta, turn, dim);
        for (std::size_t c = 0; c < dim; ++c) {
            turn[c] = (turn[c] - result.growth[j] * theta[c]) / result.r[j];
        }
    }
    return result;
}

}  // namespace flyball::dynamics
