// What runs in layers and in time have in common (samples, restart points, outcomes), and the loop over layers; the
// loop over time is in run_ode.cpp.
#include "dynamics/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "dynamics/runner.hpp"

namespace flyball::dynamics {

namespace {

constexpr double collapsed_cosine = 0.999;
constexpr double diverged_radius = 1e100;
constexpr double zero_radius = 1e-12;  // of r0 and of 1, the length of what is added: a direction is lost below

}  // namespace

Runner::Runner(Problem problem, const Control& control, const Watch& watch)
    : control_(control),
      watch_(watch),
      particles_(std::move(problem), control),
      problem_(particles_.problem()),
      times_(watch.times.empty() ? std::vector<double>{0, problem_.final_time()} : watch.times),
      cost_(problem_, control),
      restart_every_(cost_.restart_every()) {
    particles_.set_pair_cosine(watch.pair_cosine);
}

Record Runner::run(const std::optional<RestartPoint>& from) {
    const auto begin = std::chrono::steady_clock::now();
    if (from) {
        take_up(*from);
    }
    try {
        const StopOn stop(control_.stop);
        if (problem_.layers) {
            run_layers();
        } else {
            run_ode();
        }
    } catch (const Stopped&) {  // what was half done is dropped; the last restart point stands
        end(Outcome::interrupted);
    }
    if (!ended_) {
        record_.ended = step_.t;
    }
    record_.kernel = particles_.kernel();
    record_.steps = step_.steps;
    record_.evaluations = particles_.evaluations();
    record_.fused = particles_.fusings();
    record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (const Sample& sample : record_.samples) {
        if (problem_.tokens > 1 && !record_.collapse_time && sample.cosine > collapsed_cosine) {
            record_.collapse_time = sample.t;
        }
    }
    return std::move(record_);
}

void Runner::take_up(const RestartPoint& from) {
    taken_up_ = true;
    y_ = from.y;
    particles_.copy_from(from.y.data());
    particles_.set_evaluations(from.evaluations, from.fallbacks);
    step_ = from.step;
    next_sample_ = from.next_sample;
    record_.samples = from.samples;
    record_.systems = from.systems;
    particles_.set_fusings(from.fused);
}

void Runner::offer_restart_point() {
    if (watch_.restart_point) {
        watch_.restart_point({step_, next_sample_, particles_.evaluations(), particles_.fallbacks(), y_,
                              record_.samples, record_.systems, particles_.fusings()});
    }
}

void Runner::end(Outcome outcome) {
    record_.outcome = outcome;
    record_.ended = step_.t;
    ended_ = true;
}

void Runner::report_progress(double share) {
    if (watch_.progress) {
        watch_.progress(share);
    }
}

// Layers and equal steps are known from the start; of a run that chooses its steps only after the first of them.
void Runner::give_forecast() {
    if (watch_.forecast && !forecast_given_) {
        if (const auto seconds =
                cost_.seconds_left(step_, particles_.evaluations(), times_.size() - next_sample_, watch_.log_time)) {
            watch_.forecast(*seconds / threads());
            forecast_given_ = true;
        }
    }
}

bool Runner::healthy(const Sample& sample) {
    if (!std::isfinite(sample.radius) || !std::isfinite(sample.cosine)) {
        end(Outcome::nan);
    } else if (sample.radius_max > diverged_radius) {
        end(Outcome::diverged);
    } else if (sample.radius_min < zero_radius * problem_.r0 && sample.radius_min < zero_radius) {
        end(Outcome::radius_zero);
    }
    // Lengths say more where they tell too. Infinite is a readout such as x*sqrt(t) + x0 at its start: the run goes on.
    if (!ended_ && std::isnan(sample.speed)) {
        end(Outcome::nan);
    }
    if (ended_) {
        record_.ended = sample.t;  // the step it lies in went on
    }
    return !ended_;
}

void Runner::keep(const Measurement& seen) {
    const Sample& sample = seen.all;
    record_.samples.push_back(sample);
    record_.systems.insert(record_.systems.end(), seen.systems.begin(), seen.systems.end());
    if (watch_.sampled) {
        watch_.sampled(sample, particles_);
    }
    if (healthy(sample) && watch_.until && watch_.until->holds(event_field(watch_.until->observable)(sample))) {
        end(Outcome::until);
    }
}

// The speed at the start is that of the first layer, tried on a copy.
void Runner::first_layer_sample() {
    check_stop();  // each of these goes through all numbers
    const scheme::State<double> start = particles_.state();
    check_stop();
    Measurement first = particles_.measure_layers(0, nullptr);
    check_stop();
    const std::vector<double> before = particles_.theta();
    particles_.layer(1);
    check_stop();
    const Measurement second = particles_.measure_layers(1, &before);
    check_stop();
    first.all.speed = second.all.speed;
    for (std::size_t m = 0; m < first.systems.size(); ++m) {
        first.systems[m].speed = second.systems[m].speed;
    }
    particles_.state() = start;
    particles_.set_evaluations(0, 0);
    check_stop();
    particles_.measure_layers(0, nullptr);
    next_sample_ = 1;
    keep(first);
}

// Layer l leads from l - 1 to l. The speed of a sample is how far its layer turned the tokens, so the directions before
// it are measured too; with an event to look for, that is every layer.
void Runner::run_layers() {
    const std::size_t layers = *problem_.layers;
    std::vector<double> before;
    give_forecast();
    if (!taken_up_ && due(0)) {
        first_layer_sample();
    }
    for (std::size_t l = step_.steps + 1; l <= layers && !ended_; ++l) {
        if (stop_asked()) {
            return end(Outcome::interrupted);
        }
        const bool sampled = next_sample_ < times_.size() &&
                             std::llround(times_[next_sample_] / problem_.dt) == static_cast<long long>(l);
        const bool watched = watch_.until.has_value();
        if (sampled || watched) {
            particles_.measure_layers(l - 1, nullptr);
            before = particles_.theta();
        }
        particles_.layer(l);
        step_.steps = l;
        step_.t = static_cast<double>(l) * problem_.dt;
        if (sampled || watched) {
            const Measurement seen = particles_.measure_layers(l, &before);
            next_sample_ += sampled ? 1 : 0;
            if (sampled || watch_.until->holds(event_field(watch_.until->observable)(seen.all))) {
                keep(seen);
            }
        }
        if (!ended_ && l < layers && l % restart_every_ == 0) {
            y_.resize(particles_.numbers());
            particles_.copy_to(y_.data());
            offer_restart_point();
        }
        report_progress(static_cast<double>(l) / static_cast<double>(layers));
    }
}

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
        case Outcome::digits_lost:
            return "digits-lost";
        case Outcome::radius_zero:
            return "radius-zero";
        case Outcome::interrupted:
            return "interrupted";
    }
    return "";
}

namespace {

Record stopped_before_a_step(const std::optional<RestartPoint>& from) {
    Record record;
    record.outcome = Outcome::interrupted;
    if (from) {
        record.samples = from->samples;
        record.systems = from->systems;
        record.ended = from->step.t;
    }
    return record;
}

}  // namespace

Record run(Problem problem, const Control& control, const Watch& watch, const std::optional<RestartPoint>& from) {
    if (problem.start.size() != problem.rows() * problem.dim || problem.start.empty()) {
        throw Error(
            ErrorKind::usage, "dynamics.run", fmt::format("a start of {} numbers", problem.start.size()),
            fmt::format("{} systems of {} tokens in {} dimensions", problem.systems, problem.tokens, problem.dim));
    }
    const StopOn stop(control.stop);  // here too: drawing large weights takes longer than anybody wants to wait
    try {
        return Runner(std::move(problem), control, watch).run(from);
    } catch (const Stopped&) {
        return stopped_before_a_step(from);
    }
}

Watch watch_of(const Settings& settings, Watch watch) {
    watch.times = sample_times(settings);
    watch.log_time = settings.log_time;
    watch.until = settings.until;
    watch.pair_cosine = settings.pair_cosine;
    return watch;
}

Record run(const Settings& settings, const scheme::Program& program, const Watch& watch,
           const std::optional<RestartPoint>& from) {
    return run(settings, program, control_of(settings), watch_of(settings, watch), from);
}

Record run(const Settings& settings, const scheme::Program& program, const Control& control, const Watch& watch,
           const std::optional<RestartPoint>& from) {
    const StopOn stop(control.stop);  // a start of many tokens takes a while, too
    try {
        return run(problem_of(settings, program), control, watch, from);
    } catch (const Stopped&) {
        return stopped_before_a_step(from);
    }
}

}  // namespace flyball::dynamics
