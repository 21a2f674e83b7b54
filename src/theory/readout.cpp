// What a flow shows: the cosine of the readout and its derivative.
#include <array>
#include <cmath>

#include "theory/flow.hpp"

namespace flyball::theory {

using scheme::PlaneVector;

namespace {

constexpr double smallest_log = -1300;
constexpr double same_readout = 1e-12;

}  // namespace

// Is the readout's direction that of one stream? Asked at times and states without symmetry. A time so late that the
// readout has no value says nothing.
void Flow::find_shown_stream(double t) {
    shown_.reset();
    std::vector<double> times = later_times();
    times.push_back(t);
    for (std::size_t i = 0; i < streams_.size() && !shown_; ++i) {
        bool parallel = true;
        bool seen = false;
        double state = 0;
        for (const double later : times) {
            const std::vector<Stream> trial = trial_streams(state);
            state += 1;
            if (const auto shown = readout(later, trial)) {
                const PlaneVector x = vector(trial[i]);
                seen = true;
                parallel =
                    parallel && std::abs(shown->a * x.b - shown->b * x.a) <= same_readout * std::abs(shown->a * x.b);
            }
        }
        parallel = parallel && seen;
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

// What errors of the state, which is known to about 1e-12, do to its rates. A stream that follows another one as fast
// as it relaxes moves by what two large parts leave of each other, and far out nothing of that is left.
Numbers Flow::rate_noise(double t, const Numbers& rate) {
    constexpr double step = 1e-6;
    constexpr double known = 1e-12;
    Numbers noise(rate.size());
    Numbers moved(rate.size());
    const Numbers state = numbers();
    for (std::size_t k = 0; k < rate.size(); ++k) {
        const Stream& stream = streams_[k / 2];
        if (k % 2 == 1 && stream.forgets_length) {
            continue;
        }
        // A direction or a share to its own size, the logarithm of a length as it is, a short stream to the others'.
        const double size = k % 2 == 0 ? std::abs(state[k]) : stream.plain ? longest_ : 1;
        Numbers trial = state;
        trial[k] += step * size;
        std::vector<Stream> streams = streams_of(trial);
        if (size == 0 || !onto_manifold(t, streams) || !rates(t, streams, moved)) {
            continue;
        }
        for (std::size_t i = 0; i < rate.size(); ++i) {
            noise[i] += std::abs(moved[i] - rate[i]) * (known / step);
        }
    }
    return noise;
}

// d value/dt of the readout's direction by the chain rule, one number of the state at a time: a stream that has become
// irrelevant then contributes nothing, however fast it still moves. Nothing when the direction hangs on the last digits
// of the streams: a readout x - norm(y) of two streams that become equal is what rounding left of them.
std::optional<double> Flow::readout_rate(double t, const Numbers& rate, const Direction& shown, const PlaneVector& here,
                                         const Numbers& noise, double& lost) {
    std::vector<PlaneVector> x;
    for (const Stream& stream : streams_) {
        x.push_back(vector(stream));
    }
    double result = 0;
    double sensitivity = 0;  // what relative changes of the numbers do to the value
    lost = 0;
    for (std::size_t k = 0; k < rate.size(); ++k) {
        const Stream& stream = streams_[k / 2];
        std::vector<PlaneVector> slopes(x.size());
        PlaneVector& slope = slopes[k / 2];
        slope = x[k / 2];  // the derivative by the logarithm of the length
        if (stream.plain) {
            slope = k % 2 == 0 ? PlaneVector{1, 0} : PlaneVector{0, 1};
        } else if (k % 2 == 0) {
            const double r = std::exp(stream.log_length);
            slope = stream.direction.turn(n_);
            slope = {r * slope.a, r * slope.b};
        }
        PlaneVector moved;
        if (step_.readout_slope(environment(t, n_), x, slopes, {settings_.r0, 0}, moved)) {
            return std::nullopt;
        }
        const double change = shown.chart == Chart::rho ? moved.b / here.a - here.b / here.a * (moved.a / here.a)
                                                        : moved.a / here.b - here.a / here.b * (moved.b / here.b);
        const double precise_to =
            stream.plain ? (k % 2 == 0 ? stream.x.a : longest_) : (k % 2 == 0 ? stream.direction.value : 1);
        sensitivity += std::abs(change * precise_to);
        result += rate[k] == 0 ? 0 : change * rate[k];
        lost += std::abs(change) * noise[k];
    }
    double largest_eta = 0;
    for (const Stream& stream : streams_) {
        const bool near = stream.direction.chart != Chart::rho;
        largest_eta = std::max(largest_eta, stream.plain ? std::abs(stream.x.a) / longest_
                                            : near       ? std::abs(stream.direction.eta())
                                                         : 1);
    }
    // Where 1 - gamma passes through zero its digits are lost for an instant only.
    const double least = shown.chart == Chart::rho ? 1 / n_ : 1e-3 * largest_eta;
    const double size = std::max(std::abs(shown.value), least);
    constexpr double rounding = 1e-13;  // of the numbers of the state
    constexpr double worst = 1e-5;      // what may become of it
    if (!std::isfinite(result) || !(sensitivity * rounding <= worst * size)) {
        return std::nullopt;
    }
    return result;
}

// What the readout does with t itself. Forward, because t may be 0; the step is the one whose result changes least when
// it is divided by four, rounding counted: exp(-t) wants another one than 1/(1+t).
double Flow::readout_drift(double t, Chart chart) {
    const auto value = [&](double time) {
        std::vector<Stream> streams = streams_;
        const auto x = onto_manifold(time, streams) ? readout(time, streams) : std::nullopt;
        return !x ? NAN : chart == Chart::rho ? x->b / x->a : x->a / x->b;
    };
    constexpr std::array<double, 7> weights = {-147.0 / 60, 6, -7.5, 20.0 / 3, -3.75, 1.2, -1.0 / 6};
    const double now = value(t);
    double delta = 2e-3 * std::max(t - begin_, 1e-3);
    double best = 0;
    double least = HUGE_VAL;
    double before = NAN;
    for (int tries = 0; tries < 24 && t + delta > t; ++tries, delta /= 4) {
        double change = 0;
        for (std::size_t i = 1; i < weights.size(); ++i) {
            change += weights[i] * (value(t + delta * static_cast<double>(i)) - now);
        }
        change /= delta;
        if (change == 0 && tries == 0) {
            return 0;
        }
        const double difference = std::abs(change - before) + 1e-15 * std::abs(now) / delta;
        if (difference < least) {
            least = difference;
            best = change;
        }
        before = change;
    }
    return best;
}

// The readout's direction and its rate give gamma, 1 - gamma and gamma', each by the way that keeps its digits. A rate
// that does not stand out a thousandfold from what errors of the state do to it is reported as lost (NaN), not as 0.
Point Flow::point(double t) {
    Point result;
    result.t = t;
    result.radius = length_of(streams_.front());
    Numbers rate;
    const bool moves = rates(t, streams_, rate);
    const Numbers noise = several() && moves ? rate_noise(t, rate) : Numbers(2 * streams_.size());
    Direction shown;
    double shown_rate = 0;
    double lost = 0;  // of the rate
    if (shown_) {
        shown = streams_[*shown_].direction;
        shown_rate = moves ? rate[2 * *shown_] : 0;
        lost = noise[2 * *shown_];
        if (follows_ && !may_take_log_) {  // alone and without x0 a stream is only made longer or shorter by N0
            shown_rate += readout_drift(t, shown.chart);
        }
    } else {
        const auto here = readout(t, streams_);
        std::optional<double> turning;
        if (here) {
            shown = Direction::of(*here, n_, false);
            turning = readout_rate(t, moves ? rate : Numbers(2 * streams_.size()), shown, *here, noise, lost);
        }
        if (!turning) {
            result.gamma = result.log_one_minus_gamma = result.log_velocity = result.velocity = result.log_rate = NAN;
            return result;
        }
        shown_rate = *turning + readout_drift(t, shown.chart);
    }
    result.gamma = shown.cosine(n_);
    const double log_carried = shown.log_one_minus_cosine(n_);
    if (!may_take_log_ && log_carried < smallest_log) {  // eta is no longer a number with all its digits
        result.gamma = 1;
        result.log_one_minus_gamma = result.log_velocity = result.log_rate = -HUGE_VAL;
        return result;
    }
    result.log_one_minus_gamma = log_carried + 2 * log_scale_;
    if (std::abs(shown_rate) < 1e3 * lost) {
        result.log_rate = result.log_velocity = result.velocity = NAN;
        return result;
    }
    double sign = 1;
    result.log_rate = shown_rate == 0 ? -HUGE_VAL : shown.log_relative_speed(n_, shown_rate, sign);
    result.log_velocity = result.log_rate == -HUGE_VAL ? -HUGE_VAL : result.log_rate + result.log_one_minus_gamma;
    // Through the logarithm only where the product would leave the range: it costs digits.
    const bool deep = log_scale_ < 0 || (shown.chart == Chart::zeta && shown.value < -100);
    result.velocity = deep ? sign * std::exp(result.log_velocity) : shown.speed(n_, shown_rate);
    return result;
}

}  // namespace flyball::theory
