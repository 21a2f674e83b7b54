// Particles in runs so long that slow motion matters: tokens that merge, and digits that run out.
#include <algorithm>
#include <cmath>
#include <functional>

#include "dynamics/particles.hpp"

namespace flyball::dynamics {

using scheme::SubLayer;

namespace {

constexpr double rounding_double = 0x1p-51;  // of an attention kernel, relative to |A|
constexpr double rounding_single = 0x1p-22;
constexpr double slow_shake = 0x1p-20;     // size of a disturbance that rounding errors are compared with
constexpr double noticeable = 1e-4;        // a turn, in radians
constexpr double fastest = 10;             // turns a unit of time that an equation makes of |A| = 1
constexpr double seen = 100;               // a speed this many times its doubt is right to one per cent
constexpr double consensus_cosine = 1e-6;  // below one: nothing is left to happen

constexpr double least_fusing = 1e-14;
constexpr double most_fusing = 1e-8;

}  // namespace

// One evaluation is one call of attention, in the frame or, where f sees other vectors than multiples of x, in
// ambient coordinates, which counts it too.
void Particles::in_frame(const std::function<void(OwnFrame&)>& body) {
    const std::size_t before = evaluations_;
    const std::size_t calls = frame_->attention_calls();
    body(*frame_);
    evaluations_ = before + (frame_->attention_calls() - calls);
}

Values Particles::frame_speeds(double t) {
    step_.readout(ode_environment(t), state_, readout_);
    measure::directions(readout_rows(), theta_);
    Values speeds;
    in_frame([&](OwnFrame& frame) { frame.speed(ode_environment(t), state_, groups_.leaders(), speeds); });
    return mean_of_systems(speeds);
}

bool Particles::fuse(double t, double h) {
    if (!slow_) {
        return false;
    }
    Values theta;
    measure::directions({state_.streams[0].data(), rows_, problem_.dim}, theta);
    const double tolerance = std::clamp(control_.rtol, least_fusing, most_fusing);
    const bool fused = groups_.update(
        t, h, tolerance, problem_.dim, theta, [&](const std::vector<std::size_t>& group, Groups::Moved& moved) {
            in_frame([&](OwnFrame& frame) {
                frame.motion(ode_environment(t), state_, groups_.leaders(), group, moved.alone);
            });
            moved.shared = moved.alone.turn;
            if (groups_.any()) {
                frame_->share(groups_.leaders(), moved.shared);
            }
        });
    if (fused) {
        groups_.share_directions(state_.streams[0], problem_.dim);
    }
    return fused;
}

namespace {

// Adds a vector of `slow_shake` times its length to every row, with signs that look random. The two such vectors are
// orthogonal (in an odd dimension nearly so): what one of them only makes longer, the other one turns.
void disturb(Values& rows, std::size_t dim, bool second) {
    for (std::size_t begin = 0; begin < rows.size(); begin += dim) {
        const double part =
            slow_shake * measure::length(rows.data() + begin, dim) / std::sqrt(static_cast<double>(dim));
        for (std::size_t c = 0; c < dim; ++c) {  // (u, v) of two channels, then (v, -u)
            const std::size_t at = begin + (second ? c ^ 1U : c);
            const bool up = (at * 0x9e3779b97f4a7c15ULL >> 40 & 1U) != 0;
            rows[begin + c] += up != (second && c % 2 == 1) ? part : -part;
        }
    }
}

}  // namespace

// What rounding does to the turn of a token, in ambient coordinates: outputs of the sub-layers and streams beside x are
// right to `rounding` of their length, and a disturbance of that kind, made large, shows what the equation makes of it.
// Each is disturbed by itself, so that no two disturbances cancel; squares add up.
void Particles::doubt(double t, Values& doubt, Values& speed) {
    const scheme::Environment env = ode_environment(t);
    if (slow_) {
        in_frame([&](OwnFrame& frame) { frame.doubt(env, state_, groups_.leaders(), doubt, speed); });
        return;
    }
    const std::size_t dim = problem_.dim;
    std::vector<Values> heard;
    std::vector<Values> slopes;
    const auto listen = [&](SubLayer which, const double* in, double* out) {
        sub_layer(which, in, out);
        heard.emplace_back(out, out + rows_ * dim);
    };
    step_.velocity(env, state_, listen, slopes);
    scheme::State<double> beside = state_;
    std::vector<Values*> sources;
    for (Values& answer : heard) {
        sources.push_back(&answer);
    }
    for (std::size_t i = 1; i < beside.streams.size(); ++i) {
        sources.push_back(&beside.streams[i]);
    }
    sources.push_back(&beside.embedding);

    const double rounding = control_.precision == Precision::f32 ? rounding_single : rounding_double;
    doubt.assign(rows_, 0.0);
    speed.resize(rows_);
    std::vector<Values> shaken;
    for (std::size_t k = 0; k < 2 * sources.size(); ++k) {
        Values& source = *sources[k / 2];
        const Values kept = source;
        disturb(source, dim, k % 2 == 1);
        std::size_t call = 0;
        const auto replay = [&](SubLayer, const double*, double* out) {
            std::copy(heard[call].begin(), heard[call].end(), out);
            ++call;
        };
        step_.velocity(env, beside, replay, shaken);
        source = kept;
        for (std::size_t row = 0; row < rows_; ++row) {
            const double* x = state_.streams[0].data() + row * dim;
            const double* v = slopes[0].data() + row * dim;
            double* w = shaken[0].data() + row * dim;
            std::transform(w, w + dim, v, w, std::minus<>());
            doubt[row] = std::hypot(doubt[row], measure::angular_speed(x, w, dim) * (rounding / slow_shake));
            speed[row] = measure::angular_speed(x, v, dim);
        }
    }
}

bool Particles::at_consensus(std::size_t system) {
    const double* first = theta_.data() + system * problem_.tokens * problem_.dim;
    for (std::size_t j = 1; j < problem_.tokens; ++j) {
        if (measure::squared_distance(first + j * problem_.dim, first, problem_.dim) > 2 * consensus_cosine) {
            return false;
        }
    }
    return true;
}

// Rounding turns a token by at most about fastest*rounding a unit of time. While that, times t, is not noticeable,
// nothing can have been lost, and no evaluation is spent on looking.
bool Particles::may_lose_digits(double t) const {
    return fastest * (control_.precision == Precision::f32 ? rounding_single : rounding_double) * t > noticeable;
}

// A token is lost when rounding alone may have turned it noticeably by now and its own motion does not stand out from
// that. Fast tokens are not: their motion is right whatever rounding adds. Neither are those of a system at consensus.
bool Particles::digits_lost(double t) {
    Values doubts;
    Values speeds;
    doubt(t, doubts, speeds);
    measure::directions({state_.streams[0].data(), rows_, problem_.dim}, theta_);
    for (std::size_t row = 0; row < rows_; ++row) {
        if (doubts[row] * t > noticeable && speeds[row] <= seen * doubts[row] && !at_consensus(row / problem_.tokens)) {
            return true;
        }
    }
    return false;
}

}  // namespace flyball::dynamics
