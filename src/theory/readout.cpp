// What a flow shows: the cosine of the readout and its derivative.
#include <array>
#include <cmath>

#include "theory/flow.hpp"

namespace flyball::theory {

using scheme::PlaneVector;

namespace {

constexpr double smallest_log = -1300;
constexpr double same = 1e-12;

}  // namespace

// Is the readout's direction that of one stream? Asked at times and states without symmetry.
void Flow::find_shown_stream(double t) {
    shown_.reset();
    for (std::size_t i = 0; i < streams_.size() && !shown_; ++i) {
        bool parallel = true;
        for (const double later : {0.0, 0.37, 3.1, 40.0}) {
            std::vector<Stream> trial = streams_;
            for (std::size_t k = 0; k < trial.size(); ++k) {
                trial[k].direction = {};
                trial[k].direction.value = (0.1 + 0.35 * static_cast<double>(k)) / (1 + 0.1 * later);
                trial[k].log_length = 0.3 + 0.4 * static_cast<double>(k);
            }
            const auto shown = readout(std::min(t + later, end_), trial);
            const PlaneVector x = vector(trial[i]);
            parallel =
                parallel && shown && std::abs(shown->a * x.b - shown->b * x.a) <= same * std::abs(shown->a * x.b);
        }
        if (parallel) {
            shown_ = i;
        }
    }
}

std::optional<PlaneVector> Flow::readout(double t, const std::vector<Stream>& streams) {
    std::vector<PlaneVector> x;
    for (const Stream& stream : streams) {
        x.push_back(vector(stream));
    }
    PlaneVector shown;
    if (step_.readout(environment(t, n_), x, {settings_.r0, 0}, shown) || !std::isfinite(shown.a) ||
        !std::isfinite(shown.b)) {
        return std::nullopt;
    }
    return shown;
}

// gamma' = (2/s) w (1-gamma)(1+(n-1)gamma) with w the weight of another token.
double Flow::log_speed_factor(const Point& point) const {
    double other = 0;
    for (const double beta : settings_.betas) {
        other += head_weights(beta, n_, std::exp(point.log_one_minus_gamma / 2)).other;
    }
    other /= static_cast<double>(settings_.betas.size());
    return std::log(2 * other * (1 + (n_ - 1) * point.gamma)) - point.log_rate;
}

Point Flow::point(double t) {
    Point result;
    result.t = t;
    result.radius = std::exp(streams_.front().log_length);
    Numbers rate;
    const bool moves = rates(t, streams_, rate);
    Direction shown;
    double shown_rate = 0;
    if (shown_) {
        shown = streams_[*shown_].direction;
        shown_rate = moves ? rate[2 * *shown_] : 0;
    } else {
        const auto here = readout(t, streams_);
        if (!here) {
            result.gamma = result.log_one_minus_gamma = result.log_velocity = result.velocity = result.log_rate = NAN;
            return result;
        }
        shown = Direction::of(*here, n_, false);
        // The chain rule, one number of the state at a time and each on its own scale: a stream that has become
        // irrelevant then contributes exactly nothing, however fast it still moves.
        const auto value = [&](double time, const std::vector<Stream>& streams) {
            const auto x = readout(time, streams);
            return !x ? NAN : shown.chart == Chart::rho ? x->b / x->a : x->a / x->b;
        };
        for (std::size_t k = 0; moves && k < rate.size(); ++k) {
            if (rate[k] == 0) {
                continue;
            }
            const Stream& stream = streams_[k / 2];
            double delta = 0.01;
            if (k % 2 == 0) {
                const double size = std::abs(stream.direction.value);
                delta *= stream.direction.chart == Chart::rho ? std::max(size, 1 / n_) : size;
            }
            const auto moved = [&](int steps) {
                std::vector<Stream> streams = streams_;
                (k % 2 == 0 ? streams[k / 2].direction.value : streams[k / 2].log_length) += steps * delta;
                return value(t, streams);
            };
            const double derivative =
                (0.75 * (moved(1) - moved(-1)) - 0.15 * (moved(2) - moved(-2)) + (moved(3) - moved(-3)) / 60) / delta;
            shown_rate += delta > 0 ? derivative * rate[k] : 0;
        }
        // What the readout does with t itself; forward, because t may be 0.
        constexpr std::array<double, 7> weights = {-147.0 / 60, 6, -7.5, 20.0 / 3, -3.75, 1.2, -1.0 / 6};
        const double delta = 2e-3 * std::max(t - begin_, 1e-3);
        double change = 0;
        const double now = value(t, streams_);
        for (std::size_t i = 1; i < weights.size(); ++i) {
            change += weights[i] * (value(t + delta * static_cast<double>(i), streams_) - now);
        }
        shown_rate += change / delta;
    }
    result.gamma = shown.cosine(n_);
    result.log_one_minus_gamma = shown.log_one_minus_cosine(n_);
    if (!may_take_log_ && result.log_one_minus_gamma < smallest_log) {  // eta is no longer a number with all its digits
        result.gamma = 1;
        result.log_one_minus_gamma = result.log_velocity = result.log_rate = -HUGE_VAL;
        return result;
    }
    double sign = 1;
    result.log_rate = shown_rate == 0 ? -HUGE_VAL : shown.log_relative_speed(n_, shown_rate, sign);
    result.log_velocity = result.log_rate == -HUGE_VAL ? -HUGE_VAL : result.log_rate + result.log_one_minus_gamma;
    // Through the logarithm only where the product would leave the range: it costs digits.
    const bool deep = shown.chart == Chart::zeta && shown.value < -100;
    result.velocity = deep ? sign * std::exp(result.log_velocity) : shown.speed(n_, shown_rate);
    return result;
}

}  // namespace flyball::theory
