#include "dynamics/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "scheme/limit.hpp"

namespace flyball::dynamics {

namespace {

constexpr double collapsed_cosine = 0.999;
constexpr double diverged_radius = 1e100;
constexpr double zero_radius = 1e-12;  // of r0: a direction is lost below

bool holds(const Until& until, double value) {
    return until.above ? value > until.level : value < until.level;
}

bool holds(const Until& until, const Sample& sample) {
    return holds(until, event_field(until.observable)(sample));
}

class Runner {
  public:
    Runner(const Settings& settings, const scheme::Program& program, const Watch& watch)
        : settings_(settings), watch_(watch), particles_(settings, program), times_(sample_times(settings)) {}

    Record run(const std::optional<RestartPoint>& from) {
        const auto begin = std::chrono::steady_clock::now();
        if (from) {
            take_up(*from);
        }
        if (settings_.layers) {
            run_layers();
        } else {
            run_ode();
        }
        record_.kernel = particles_.kernel();
        record_.steps = step_.steps;
        record_.evaluations = particles_.evaluations();
        record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (const Sample& sample : record_.samples) {
            if (!record_.collapse_time && sample.cosine > collapsed_cosine) {
                record_.collapse_time = sample.t;
            }
        }
        return std::move(record_);
    }

  private:
    void run_layers();
    void run_ode();
    void take_up(const RestartPoint& from);
    void offer_restart_point();
    bool keep(const Sample& sample);     // false: the run ends here
    bool healthy(const Sample& sample);  // sets the outcome when not
    bool stop_asked() const { return watch_.stop != nullptr && watch_.stop->load(std::memory_order_relaxed); }
    void refine_until(double before, const std::vector<double>& y_before, Integrator& integrator);
    std::vector<double> breakpoints() const;

    Settings settings_;
    const Watch& watch_;
    Particles particles_;
    std::vector<double> times_;
    Record record_;
    StepState step_;
    std::size_t next_sample_ = 0;
};

void Runner::take_up(const RestartPoint& from) {
    particles_.copy_from(from.y.data());
    particles_.set_evaluations(from.evaluations);
    step_ = from.step;
    next_sample_ = from.next_sample;
    record_.samples = from.samples;
}

void Runner::offer_restart_point() {
    if (watch_.restart_point) {
        RestartPoint point{step_, next_sample_, particles_.evaluations(), std::vector<double>(particles_.numbers()),
                           record_.samples};
        particles_.copy_to(point.y.data());
        watch_.restart_point(point);
    }
}

bool Runner::healthy(const Sample& sample) {
    if (!std::isfinite(sample.radius) || !std::isfinite(sample.cosine)) {
        record_.outcome = Outcome::nan;
    } else if (sample.radius_max > diverged_radius) {
        record_.outcome = Outcome::diverged;
    } else if (sample.radius_min < zero_radius * settings_.r0) {
        record_.outcome = Outcome::radius_zero;
    } else {
        return true;
    }
    return false;
}

bool Runner::keep(const Sample& sample) {
    record_.samples.push_back(sample);
    if (watch_.sampled) {
        watch_.sampled(sample, particles_);
    }
    if (!healthy(sample)) {
        return false;
    }
    if (settings_.until && holds(*settings_.until, sample)) {
        record_.outcome = Outcome::until;
        return false;
    }
    return true;
}

void Runner::run_layers() {
    const std::size_t layers = *settings_.layers;
    std::vector<double> before;
    const auto layer_of = [&](double t) { return static_cast<std::size_t>(std::llround(t / settings_.dt)); };
    if (step_.steps == 0 && next_sample_ == 0) {
        // The speed at the start is that of the first layer, tried on a copy.
        const scheme::State<double> start = particles_.state();
        Sample first = particles_.measure_layers(0, nullptr);
        before = particles_.theta();
        particles_.layer(1);
        first.speed = particles_.measure_layers(1, &before).speed;
        particles_.state() = start;
        particles_.set_evaluations(0);
        next_sample_ = 1;
        particles_.measure_layers(0, nullptr);
        if (!keep(first)) {
            return;
        }
    }
    for (std::size_t l = step_.steps + 1; l <= layers; ++l) {
        if (stop_asked()) {
            record_.outcome = Outcome::interrupted;
            return;
        }
        const bool due = next_sample_ < times_.size() && layer_of(times_[next_sample_]) == l;
        const bool watched = settings_.until.has_value();
        if (due || watched) {
            particles_.measure_layers(l - 1, nullptr);
            before = particles_.theta();
        }
        particles_.layer(l);
        step_.steps = l;
        step_.t = static_cast<double>(l) * settings_.dt;
        if (due) {
            ++next_sample_;
            if (!keep(particles_.measure_layers(l, &before))) {
                return;
            }
        } else if (watched) {
            const Sample sample = particles_.measure_layers(l, &before);
            if (holds(*settings_.until, sample)) {
                keep(sample);
                return;
            }
        }
        if (due || l % restart_steps == 0) {
            offer_restart_point();
        }
        if (watch_.progress) {
            watch_.progress(static_cast<double>(l) / static_cast<double>(layers));
        }
    }
}

// Samples, switches of the equation and, with fresh weights, whole times: no step crosses one.
std::vector<double> Runner::breakpoints() const {
    std::vector<double> points = switch_times(particles_.program(), settings_);
    if (settings_.fresh) {
        for (double t = 1; t < settings_.time; t += 1) {
            points.push_back(t);
        }
    }
    points.push_back(0);
    points.push_back(settings_.time);
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

// The event lies in the step just taken from `before`: halve the interval, stepping anew from its start each time.
void Runner::refine_until(double before, const std::vector<double>& y_before, Integrator& integrator) {
    double low = before;
    double high = step_.t;
    std::vector<double> y_high(particles_.numbers());
    particles_.copy_to(y_high.data());
    std::vector<double> y_low = y_before;
    const auto ignore = [](const StepState&) { return true; };
    for (int i = 0; i < 40 && high - low > 1e-10 * std::max(1.0, high); ++i) {
        const double middle = 0.5 * (low + high);
        particles_.copy_from(y_low.data());
        StepState trial{low, middle - low, 0};
        if (integrator.advance(particles_, trial, middle, ignore) != Progressed::reached) {
            break;
        }
        const bool there =
            holds(*settings_.until, particles_.observe_ode(middle, event_field(settings_.until->observable)));
        auto& y = there ? y_high : y_low;
        (there ? high : low) = middle;
        particles_.copy_to(y.data());
    }
    particles_.copy_from(y_high.data());
    step_.t = high;
}

void Runner::run_ode() {
    if (const auto problem = particles_.limit_problem()) {
        throw Error(ErrorKind::usage, "dynamics.run",
                    fmt::format("--time for {}, which has no ODE limit: {}", particles_.program().text(), *problem),
                    "an equation with a limit, or discrete layers", "use --layers L --dt DT instead of --time");
    }
    const std::vector<double> points = breakpoints();
    const auto integrator = make_integrator(settings_);
    const auto segment_of = [&](double t) {  // the piece between switches that starts at or before t
        const auto after = std::upper_bound(points.begin(), points.end(), t);
        const auto end = after == points.end() ? points.end() - 1 : after;
        return std::pair{*(end - 1), *end};
    };
    const auto enter = [&](double t) {
        const auto [begin, end] = segment_of(t);
        particles_.set_segment(begin, end);
        if (t == begin) {
            particles_.project(t);
        }
    };
    if (next_sample_ == 0) {
        enter(0);
        next_sample_ = 1;
        if (!keep(particles_.measure_ode(0))) {
            return;
        }
    }
    std::vector<double> y_before(particles_.numbers());
    double t_before = step_.t;
    bool until_reached = false;
    const auto hook = [&](const StepState& state) {
        if (settings_.until) {
            step_ = state;
            if (holds(*settings_.until, particles_.observe_ode(state.t, event_field(settings_.until->observable)))) {
                until_reached = true;
                return false;
            }
            particles_.copy_to(y_before.data());
            t_before = state.t;
        }
        if (state.steps % restart_steps == 0) {
            step_ = state;
            offer_restart_point();
        }
        if (watch_.progress) {
            watch_.progress(state.t / settings_.time);
        }
        return !stop_asked();
    };
    while (next_sample_ < times_.size()) {
        const double target = times_[next_sample_];
        while (step_.t < target) {
            enter(step_.t);
            const double stop = std::min(target, segment_of(step_.t).second);
            particles_.copy_to(y_before.data());
            t_before = step_.t;
            const Progressed progressed = integrator->advance(particles_, step_, stop, hook);
            if (until_reached) {
                refine_until(t_before, y_before, *integrator);
                keep(particles_.measure_ode(step_.t));
                record_.outcome = Outcome::until;
                return;
            }
            if (progressed != Progressed::reached) {
                record_.outcome = progressed == Progressed::stopped          ? Outcome::interrupted
                                  : progressed == Progressed::step_underflow ? Outcome::step_underflow
                                                                             : Outcome::nan;
                return;
            }
        }
        ++next_sample_;
        if (!keep(particles_.measure_ode(target))) {
            return;
        }
        offer_restart_point();
    }
}

}  // namespace

const char* name(Outcome outcome) {
    switch (outcome) {
        case Outcome::done:
            return "done";
        case Outcome::until:
            return "until";
        case Outcome::diverged:
            return "diverged";
        case Outcome::nan:
            return "nan";
        case Outcome::step_underflow:
            return "step-underflow";
        case Outcome::radius_zero:
            return "radius-zero";
        case Outcome::interrupted:
            return "interrupted";
    }
    return "";
}

std::vector<double> switch_times(const scheme::Program& program, const Settings& settings) {
    const double T = settings.final_time();
    const auto at = [&](double t) {
        return program.comparisons(scheme::Environment::ode(t, T, settings.tokens, settings.dim));
    };
    std::vector<double> times;
    if (at(0).empty()) {
        return times;
    }
    constexpr int probes = 4096;  // two switches closer than T/4096 would be seen as none or one
    for (int i = 0; i < probes; ++i) {
        double low = T * i / probes;
        double high = T * (i + 1) / probes;
        if (at(low) == at(high)) {
            continue;
        }
        const std::vector<bool> before = at(low);
        while (std::nextafter(low, high) < high) {
            const double middle = low + (high - low) / 2;
            (at(middle) == before ? low : high) = middle;
        }
        // depth <= tau holds at the switch itself, depth < tau does not: the switch is the last point before.
        const double point = low;
        if (point > 0 && point < T) {
            times.push_back(point);
        }
    }
    return times;
}

Record run(const Settings& settings, const scheme::Program& program, const Watch& watch,
           const std::optional<RestartPoint>& from) {
    check(settings);
    return Runner(settings, program, watch).run(from);
}

}  // namespace flyball::dynamics
