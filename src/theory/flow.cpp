// The equation as rates of two numbers a stream; manifolds and switches. What several streams need besides is in
// several.cpp, what is shown of them in readout.cpp.
#include "theory/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.hpp"
#include "core/number.hpp"
#include "scheme/limit.hpp"
#include "scheme/moments.hpp"
#include "scheme/switches.hpp"

namespace flyball::theory {

using scheme::Environment;
using scheme::PlaneVector;
using scheme::Program;

namespace {

constexpr double same = 1e-12;  // relative; rounding of a projection is far below
constexpr double smallest = std::numeric_limits<double>::min();
constexpr double rounding_of_a_sum = 16 * std::numeric_limits<double>::epsilon();  // relative to its parts

[[noreturn]] void refuse(const std::string& got, const std::string& expected, const std::string& hint = {}) {
    throw Error(ErrorKind::usage, "theory", got, expected, hint);
}

double length(const PlaneVector& x, double n) {
    return std::hypot(x.a * std::sqrt(1 - 1 / n), (x.a / n + x.b) * std::sqrt(n));  // squares would overflow at 1e154
}

double dot(const PlaneVector& x, const PlaneVector& y, double n) {
    return x.a * y.a * (1 - 1 / n) + (x.a / n + x.b) * (y.a / n + y.b) * n;
}

bool finite(const PlaneVector& x) {
    return std::isfinite(x.a) && std::isfinite(x.b);
}

auto first_bad_beta(const std::vector<double>& betas) {
    return std::find_if(betas.begin(), betas.end(), [](double beta) { return !(std::isfinite(beta) && beta >= 0); });
}

// A command walks along the same equation several times: what was found last is kept.
scheme::Moments moments_of(const Program& program, const Settings& settings,
                           const std::function<Environment(double)>& at) {
    struct Found {
        std::string text;
        double tokens = 0;
        double T = 0;
        std::optional<double> dim;
        scheme::Moments moments;
    };
    thread_local Found found;
    const std::string text = program.text();
    if (found.text != text || found.tokens != settings.tokens || found.T != settings.T || found.dim != settings.dim) {
        std::vector<double> probes = scheme::switch_probes(settings.T);
        while (probes.back() < last_time) {
            probes.push_back(std::min(probes.back() * 1.03, last_time));
        }
        found = {text, settings.tokens, settings.T, settings.dim, scheme::find_moments(program, at, probes)};
    }
    return found.moments;
}

}  // namespace

void check(const Program& program, const Settings& settings) {
    const double n = settings.tokens;
    if (!(n >= 2 && n <= 1e15 && n == std::floor(n))) {
        refuse(setting("tokens", format_double(n)), "a whole number from 2 to 1e15", "one token alone has no cosine");
    }
    if (settings.betas.empty() || first_bad_beta(settings.betas) != settings.betas.end()) {
        refuse(settings.betas.empty() ? "no beta"
                                      : setting(settings.betas.size() > 1 ? "heads-beta" : "beta",
                                                format_double(*first_bad_beta(settings.betas))),
               "a finite number, 0 or more, for each head");
    }
    if (!(settings.r0 >= 1e-100 && settings.r0 <= 1e100)) {
        refuse(setting("r0", format_double(settings.r0)), "a length from 1e-100 to 1e100");
    }
    if (!(settings.T > 0 && settings.T <= last_time)) {
        refuse(setting("time", format_double(settings.T)), "a time above 0, at most 1e100");
    }
    if (settings.dim && !(*settings.dim >= n && *settings.dim <= 1e15 && *settings.dim == std::floor(*settings.dim))) {
        refuse(fmt::format("{} for {} tokens", setting("dim", format_double(*settings.dim)), format_double(n)),
               "a whole number, at least the number of tokens", "orthonormal tokens need as many dimensions");
    }
    const Environment run{0, 0, settings.T, settings.T, 0, n, settings.dim.value_or(n)};
    if (const auto problem = scheme::reduced_law_problem(program, run)) {
        refuse(fmt::format("{}, which has no reduced law: {}", program.text(), *problem),
               "an equation with an ODE limit that treats all coordinates alike", "simulate it instead");
    }
}

Flow::Flow(const Program& program, const Settings& settings)
    : n_(settings.tokens),
      settings_(settings),
      // The number of tokens is written into the equation, so that the plane's metric can be another number.
      program_(program.with_quantity(scheme::Quantity::n, settings.tokens)),
      step_(program_),
      may_take_log_(program_.stream_count() == 1 && !program_.reads(scheme::embedding_variable)),
      may_rescale_(program_.stream_count() > 1 && !program_.reads(scheme::embedding_variable)) {
    compares_ = false;  // environment() must not clamp while switches are looked for
    const auto at = [&](double t) { return environment(t, n_); };
    scheme::Moments moments = moments_of(program_, settings_, at);
    compares_ = !program_.comparisons(at(0)).empty();
    switches_ = std::move(moments.switches);
    switches_.push_back(HUGE_VAL);
    stops_ = std::move(moments.stops);
    stops_.push_back(HUGE_VAL);
    stop_noise_ = std::move(moments.noise);
    stop_noise_.push_back(0);
    unresolved_ = moments.unresolved.value_or(HUGE_VAL);
    Stream start;
    start.log_length = std::log(settings_.r0);
    streams_.assign(program_.stream_count(), start);
    enter(0, switches_.front());
}

Environment Flow::environment(double t, double metric) const {
    if (compares_) {  // a comparison that flips at `begin_` has flipped in all of (begin_, end_]
        t = std::clamp(t, begin_ > 0 ? std::nextafter(begin_, HUGE_VAL) : 1e-300, end_);
    }
    return {0, t, settings_.T, settings_.T, t / settings_.T, metric, settings_.dim.value_or(settings_.tokens)};
}

PlaneVector Flow::vector(const Stream& stream) const {
    if (stream.plain) {
        return stream.x;
    }
    const PlaneVector u = stream.direction.unit(n_);
    const double r = std::exp(stream.log_length);
    return {r * u.a, r * u.b};
}

Numbers Flow::numbers() const {
    Numbers y;
    for (const Stream& stream : streams_) {
        y.push_back(stream.plain ? stream.x.a : stream.direction.value);
        y.push_back(stream.plain ? stream.x.b : stream.log_length);
    }
    return y;
}

std::vector<Flow::Stream> Flow::streams_of(const Numbers& y) const {
    std::vector<Stream> streams = streams_;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].plain) {
            streams[i].x = {y[2 * i], y[2 * i + 1]};
            continue;
        }
        streams[i].direction.value = y[2 * i];
        streams[i].log_length = streams[i].direction.log_length = y[2 * i + 1];
    }
    return streams;
}

// What a tolerance is relative to: rho and zeta to themselves (zeta, a logarithm, to at least 1), eta to what it will
// be, since it may fall by orders within a step or pass through 0, logarithms of lengths to at least 1.
void Flow::sizes(const Numbers& before, const Numbers& after, Numbers& size) const {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const double was = std::abs(before[2 * i]);
        const double is = std::abs(after[2 * i]);
        if (streams_[i].plain) {
            size[2 * i] = std::max({1e-3 * was, is, 1e-295, 1e-6 * shown_eta_ * longest_});
            size[2 * i + 1] = longest_;
            continue;
        }
        switch (streams_[i].direction.chart) {
            case Chart::rho:
                size[2 * i] = std::max({was, is, 1e-295});
                break;
            case Chart::eta:  // may pass through 0; a stream that is much closer to consensus than what is shown adds
                              // nothing
                size[2 * i] = std::max({1e-3 * was, is, 1e-295, shown_ == i ? 0 : 1e-6 * shown_eta_});
                break;
            case Chart::zeta:
                size[2 * i] = std::max({was, is, 1.0});
                break;
        }
        size[2 * i + 1] = std::max({std::abs(before[2 * i + 1]), std::abs(after[2 * i + 1]), 1.0});
    }
}

// N0 on vectors, and back to direction and length. A direction that N0 leaves alone keeps its number, which may have
// more digits than the vector has (zeta without bound, rho down to 1e-300).
bool Flow::project(double t, std::vector<Stream>& streams) {
    std::vector<PlaneVector> x;
    for (const Stream& stream : streams) {
        x.push_back(vector(stream));
    }
    std::vector<PlaneVector> projected = x;
    if (auto problem = step_.project(environment(t, n_), projected, {settings_.r0, 0})) {
        problem_ = *problem;
        return false;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].plain && finite(projected[i])) {
            streams[i].x = projected[i];
            continue;
        }
        const double size = length(projected[i], n_);
        if (!finite(projected[i]) || !(size > 0)) {
            problem_ = fmt::format("{} has no direction any more", program_.stream_name(i));
            return false;
        }
        streams[i].log_length = streams[i].direction.log_length = std::log(size);
        // Where the direction stays, its number stays too: it may have more digits than the vector.
        const double before = length(x[i], n_);
        const double wedge = (projected[i].a / size) * (x[i].b / before) - (projected[i].b / size) * (x[i].a / before);
        const double scale = std::abs(x[i].a / before) * std::abs(x[i].b / before);
        if (!(std::abs(wedge) <= same * scale)) {
            streams[i].direction = Direction::of(projected[i], n_, may_take_log_);
            streams[i].direction.log_length = streams[i].log_length;
        }
    }
    return true;
}

// What an integrator asks about need not be where N0 would leave it. The charts stay, since its numbers are theirs.
bool Flow::onto_manifold(double t, std::vector<Stream>& streams) {
    if (!follows_) {
        return true;
    }
    std::vector<Chart> charts;
    for (const Stream& stream : streams) {
        charts.push_back(stream.direction.chart);
    }
    if (!project(t, streams)) {
        return false;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
        streams[i].direction = streams[i].direction.in(charts[i]);
    }
    return true;
}

// Finds out by trial which lengths the manifold fixes in this piece: a stream twice or half as long that comes out of
// N0 the same has no length of its own.
void Flow::enter(double begin, double end) {
    begin_ = begin;
    end_ = end;
    for (Stream& stream : streams_) {
        make_polar(stream);
    }
    if (!project(begin, streams_)) {
        return;
    }
    // A length that N0 sets is no variable of the flow.
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const auto length_after = [&](double factor) {
            std::vector<Stream> trial = streams_;
            trial[i].log_length += std::log(factor);
            return project(begin, trial) ? trial[i].log_length : NAN;
        };
        const double is = length_after(1);
        streams_[i].forgets_length = std::abs(length_after(2) - is) <= same && std::abs(length_after(0.5) - is) <= same;
    }
    watch_projection(begin);
    problem_.clear();
    find_shown_stream(begin);
    look(begin);
}

// States without symmetry, one for each `which`.
std::vector<Flow::Stream> Flow::trial_streams(double which) const {
    std::vector<Stream> trial = streams_;
    for (std::size_t k = 0; k < trial.size(); ++k) {
        trial[k].direction = {};
        trial[k].direction.value = (0.1 + 0.35 * static_cast<double>(k)) / (1 + 0.1 * which);
        trial[k].log_length = 0.3 + 0.4 * static_cast<double>(k);
    }
    return trial;
}

// What N0 does as a rule, nothing or a length of its own that never changes, holds inside a step as it does at its
// ends. Where it sets a stream from t or from other streams, their slopes are known only where N0 has been applied. By
// trial at other times and states.
void Flow::watch_projection(double begin) {
    follows_ = false;
    for (Stream& stream : streams_) {
        stream.length_follows = false;
    }
    std::vector<double> times = later_times();
    times.insert(times.begin(), begin);
    std::vector<double> first;  // lengths at the first state, at the same time
    double which = 0;
    for (const double t : times) {
        for (const double state : {0.0, 1 + which}) {
            const std::vector<Stream> before = trial_streams(state);
            std::vector<Stream> after = before;
            if (!project(t, after)) {
                continue;
            }
            for (std::size_t i = 0; i < after.size(); ++i) {
                Stream& stream = streams_[i];
                const double was = stream.forgets_length ? stream.log_length : before[i].log_length;
                const double turned = after[i].direction.in(Chart::rho).value - before[i].direction.value;
                follows_ = follows_ || !(std::abs(after[i].log_length - was) <= same) || !(std::abs(turned) <= same);
                if (state == 0) {
                    first.resize(after.size());
                    first[i] = after[i].log_length;
                } else if (stream.forgets_length && !first.empty()) {
                    stream.length_follows =
                        stream.length_follows || !(std::abs(after[i].log_length - first[i]) <= same);
                }
            }
        }
        which += 1;
    }
}

double Flow::last_change() const {
    const auto last_finite = [](const std::vector<double>& times) { return times.size() > 1 ? *(times.end() - 2) : 0; };
    return std::max(last_finite(switches_), last_finite(stops_));
}

// Times of this piece at which something may be seen that is not there at its begin: soon, late, very late, and where
// factors change.
std::vector<double> Flow::later_times() const {
    std::vector<double> times;
    for (const double later : {0.3, 2.0, 50.0}) {
        times.push_back(std::min(begin_ + later, end_));
    }
    for (double t = 1e3; t < std::min(end_, last_time); t *= 1e3) {
        if (t > begin_) {
            times.push_back(t);
        }
    }
    std::copy_if(stops_.begin(), stops_.end(), std::back_inserter(times),
                 [&](double t) { return t > begin_ && t <= end_ && std::isfinite(t); });
    return times;
}

bool Flow::velocity(double t, const std::vector<Stream>& streams, const Frame& frame, std::vector<PlaneVector>& slopes,
                    std::vector<double>& parts) {
    std::vector<PlaneVector> x;
    for (const Stream& stream : streams) {
        x.push_back(frame.from_plane(vector(stream)));
    }
    const auto f = [&](const PlaneVector& z) { return attention(settings_.betas, n_, frame, z, lost_weights_); };
    if (auto problem =
            step_.velocity(environment(t, frame.metric), x, frame.from_plane({settings_.r0, 0}), f, slopes, &parts)) {
        problem_ = *problem;
        return false;
    }
    return true;
}

// Rates of the numbers of the state, two a stream: of its direction and of log |x|. Each stream has an evaluation in the
// frame of its own direction, where its turn is a number by itself; near consensus, or plain, they share one in {e, s}.
bool Flow::rates(double t, const std::vector<Stream>& streams, Numbers& result) {
    result.assign(2 * streams.size(), 0);
    std::optional<std::vector<PlaneVector>> standard;  // the slopes in {e, s}, shared by the streams that use it
    std::vector<double> standard_parts;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const Stream& stream = streams[i];
        const Frame frame = stream.plain ? Frame::standard(n_) : Frame::of(stream.direction, n_);
        const bool own = frame.alpha != 1 || frame.kappa != 0;
        std::vector<PlaneVector> slopes;
        std::vector<double> parts;
        if (!own && standard) {
            slopes = *standard;
            parts = standard_parts;
        } else if (!velocity(t, streams, frame, slopes, parts)) {
            return false;
        } else if (!own) {
            standard = slopes;
            standard_parts = parts;
        }
        if (stream.plain) {
            if (!finite(slopes[i])) {
                problem_ = fmt::format("the velocity of {} is not finite", program_.stream_name(i));
                return false;
            }
            result[2 * i] = slopes[i].a;
            result[2 * i + 1] = slopes[i].b;
            continue;
        }
        const PlaneVector u = own ? PlaneVector{1, 0} : stream.direction.unit(n_);
        const double shrink = std::exp(-stream.log_length);
        const PlaneVector v{slopes[i].a * shrink, slopes[i].b * shrink};
        // What turns a token may be less of a long stream's |x| than the smallest number.
        const double larger = shrink < 1 && std::abs(v.a) < 1e-200 && std::abs(v.b) < 1e100 ? 0x1p330 : 1;
        const PlaneVector turn{slopes[i].a * (shrink * larger), slopes[i].b * (shrink * larger)};
        result[2 * i] = stream.direction.rate(frame, own, turn, n_) / larger;
        if (std::abs(result[2 * i]) < smallest) {
            // A subnormal number has lost its digits, and steps would follow its noise.
            lost_turn_ = result[2 * i] != 0 ? std::max(lost_turn_, t * smallest) : lost_turn_;
            result[2 * i] = 0;
        }
        // A length that N0 fixes, at least at this t, does not move. Nor does one whose rate is what rounding leaves of
        // its parts: a length at rest would seem to run to zero in time, or drift in 1e9 of it.
        const double growth = dot(u, v, frame.metric);
        const bool rests = (stream.forgets_length && !stream.length_follows) ||
                           std::abs(growth) <= rounding_of_a_sum * parts[i] * shrink;
        result[2 * i + 1] = rests ? 0 : growth;
        if (!std::isfinite(result[2 * i]) || !std::isfinite(result[2 * i + 1])) {
            problem_ = fmt::format("the velocity of {} is not finite", program_.stream_name(i));
            return false;
        }
    }
    return true;
}

bool Flow::slope(double t, const Numbers& y, Numbers& result) {
    std::vector<Stream> streams = streams_of(y);
    for (const Stream& stream : streams) {
        // Beyond the numbers a double has; a token's own share of a short stream is shorter still.
        if (!stream.plain && !(stream.log_length < 645 && stream.log_length > -552)) {
            problem_ = stream.log_length > 0 ? "the length grows beyond 1e280" : "the length shrinks below 1e-240";
            return false;
        }
    }
    if (!onto_manifold(t, streams) || !rates(t, streams, result)) {
        return false;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].forgets_length) {
            result[2 * i + 1] = 0;  // no variable of the flow
        }
    }
    return true;
}

bool Flow::settle(double t, const Numbers& y) {
    streams_ = streams_of(y);
    for (Stream& stream : streams_) {
        if (!stream.plain) {
            stream.direction = stream.direction.recharted(n_, may_take_log_);
        }
    }
    if (!project(t, streams_)) {
        return false;
    }
    if (!may_take_log_) {
        look(t);
        rescale(t);
    }
    return true;
}

}  // namespace flyball::theory
