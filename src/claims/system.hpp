// A scheme beside an attention of one's own: velocities at given states, and runs that dynamics::Settings cannot say
// (V = I with random Q and K, heads of different temperature, normed queries and keys).
//
// Small and plain on purpose: classical Runge-Kutta with steps that are even in log(1 + t). Rows are [tokens, dim].
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "attention/attention.hpp"
#include "scheme/rows.hpp"

namespace flyball::claims {

// theta' and r' of every token, from the equation's velocity x'.
struct Motion {
    std::vector<double> turn;    // [tokens, dim]
    std::vector<double> growth;  // [tokens]
};

class System {
  public:
    // `T` is what the equation's T and depth refer to.
    System(const scheme::Program& program, std::size_t tokens, std::size_t dim, double T,
           const attention::Settings& attention, attention::Weights<double> weights = {});
    // With a sub-layer of the caller's: in and out are [tokens, dim].
    using Layer = std::function<void(const double* in, double* out)>;
    System(const scheme::Program& program, std::size_t tokens, std::size_t dim, double T, Layer layer);

    void start(std::vector<double> rows, double t = 0);  // projected to the scheme's manifold at t
    const std::vector<double>& x() const { return state_.streams[0]; }

    Motion motion(double t);

    // From t to `end` in so many steps. No switch of the equation may lie inside.
    void advance(double t, double end, std::size_t steps);

  private:
    void velocity(double t, const scheme::State<double>& state, std::vector<std::vector<double>>& slopes);
    scheme::Environment at(double t) const;

    std::size_t tokens_;
    std::size_t dim_;
    double T_;
    double begin_ = 0;  // the open segment that times are kept in
    double end_ = 0;
    Layer layer_;
    scheme::RowStep<double> step_;
    scheme::Program program_;
    scheme::State<double> state_;
};

// Directions of rows and their lengths.
std::vector<double> directions_of(const std::vector<double>& rows, std::size_t dim);
std::vector<double> lengths_of(const std::vector<double>& rows, std::size_t dim);
double dot(const double* a, const double* b, std::size_t dim);
// (1/n) sum |theta_j - mean|^2, without cancellation.
double variance_of(const std::vector<double>& theta, std::size_t dim);

// r0 times independent uniform points of the sphere.
std::vector<double> random_rows(std::size_t tokens, std::size_t dim, double r0, std::uint64_t seed);

}  // namespace flyball::claims
