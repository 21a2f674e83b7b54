#include "claims/system.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

#include "core/random.hpp"

namespace flyball::claims {

using scheme::Environment;
using scheme::State;

System::System(const scheme::Program& program, std::size_t tokens, std::size_t dim, double T,
               const attention::Settings& attention, attention::Weights<double> weights)
    : System(program, tokens, dim, T,
             [kernel = std::make_shared<attention::Attention<double>>(
                  attention::Shape{1, tokens, dim}, attention, std::move(weights))](const double* in, double* out) {
                 (*kernel)(in, out);
             }) {}

System::System(const scheme::Program& program, std::size_t tokens, std::size_t dim, double T, Layer layer)
    : tokens_(tokens),
      dim_(dim),
      T_(T),
      end_(T),
      layer_(std::move(layer)),
      step_(program, scheme::SubLayers::attention_only, tokens, dim),
      program_(program) {
    assert(program.stream_count() == 1);
}

Environment System::at(double t) const {
    const double margin = 1e-13 * std::min(end_ - begin_, 1.0);
    const double first = std::max(begin_ + margin, std::nextafter(begin_, end_));
    const double last = std::min(end_ - margin, std::nextafter(end_, begin_));
    return Environment::ode(std::clamp(t, first, last), T_, tokens_, dim_);
}

void System::start(std::vector<double> rows, double t) {
    begin_ = t;
    end_ = std::max(T_, t + 1);
    state_ = State<double>::start(program_, tokens_, dim_, std::move(rows));
    step_.project(at(t), state_);
}

void System::velocity(double t, const State<double>& state, std::vector<std::vector<double>>& slopes) {
    step_.velocity(
        at(t), state, [this](scheme::SubLayer, const double* in, double* out) { layer_(in, out); }, slopes);
}

Motion System::motion(double t) {
    std::vector<std::vector<double>> slopes;
    velocity(t, state_, slopes);
    Motion motion{slopes[0], std::vector<double>(tokens_)};
    for (std::size_t j = 0; j < tokens_; ++j) {
        const double* row = x().data() + j * dim_;
        double* turn = motion.turn.data() + j * dim_;
        const double length = std::sqrt(dot(row, row, dim_));
        const double along = dot(row, turn, dim_) / length;
        motion.growth[j] = along;
        for (std::size_t c = 0; c < dim_; ++c) {
            turn[c] = (turn[c] - along * row[c] / length) / length;
        }
    }
    return motion;
}

void System::advance(double t, double end, std::size_t steps) {
    begin_ = t;
    end_ = end;
    step_.project(at(t), state_);
    const double ratio = std::pow((1 + end) / (1 + t), 1 / static_cast<double>(steps));
    std::vector<std::vector<double>> k;
    for (std::size_t i = 0; i < steps; ++i) {
        const double next = i + 1 == steps ? end : (1 + t) * ratio - 1;
        const double h = next - t;
        const State<double> before = state_;
        std::vector<double> sum(before.streams[0].size(), 0.0);
        constexpr double weights[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
        constexpr double nodes[] = {0, 0.5, 0.5, 1};
        for (int stage = 0; stage < 4; ++stage) {
            State<double> moved = before;
            for (std::size_t c = 0; stage > 0 && c < sum.size(); ++c) {
                moved.streams[0][c] += nodes[stage] * h * k[0][c];
            }
            step_.project(at(t + nodes[stage] * h), moved);
            velocity(t + nodes[stage] * h, moved, k);
            for (std::size_t c = 0; c < sum.size(); ++c) {
                sum[c] += weights[stage] * h * k[0][c];
            }
        }
        for (std::size_t c = 0; c < sum.size(); ++c) {
            state_.streams[0][c] += sum[c];
        }
        step_.project(at(next), state_);
        t = next;
    }
}

double dot(const double* a, const double* b, std::size_t dim) {
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        sum += a[c] * b[c];
    }
    return sum;
}

std::vector<double> lengths_of(const std::vector<double>& rows, std::size_t dim) {
    std::vector<double> lengths;
    for (std::size_t at = 0; at < rows.size(); at += dim) {
        lengths.push_back(std::sqrt(dot(rows.data() + at, rows.data() + at, dim)));
    }
    return lengths;
}

std::vector<double> directions_of(const std::vector<double>& rows, std::size_t dim) {
    std::vector<double> theta = rows;
    const std::vector<double> lengths = lengths_of(rows, dim);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        theta[i] /= lengths[i / dim];
    }
    return theta;
}

double variance_of(const std::vector<double>& theta, std::size_t dim) {
    const std::size_t n = theta.size() / dim;
    std::vector<double> mean(dim, 0.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        mean[i % dim] += theta[i] / static_cast<double>(n);
    }
    double spread = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        spread += (theta[i] - mean[i % dim]) * (theta[i] - mean[i % dim]);
    }
    return spread / static_cast<double>(n);
}

std::vector<double> random_rows(std::size_t tokens, std::size_t dim, double r0, std::uint64_t seed) {
    std::vector<double> rows(tokens * dim);
    Random(seed, 77).fill_normal(rows);
    rows = directions_of(rows, dim);
    for (double& value : rows) {
        value *= r0;
    }
    return rows;
}

}  // namespace flyball::claims
