// A run in time: pieces without a jump, in each of them steps, in each step the samples and the event that lie in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "dynamics/runner.hpp"

namespace flyball::dynamics {

namespace {

constexpr double event_precision = 1e-10;  // of t

// What integrators see of the particles: one vector y of all streams.
class ParticleMotion final : public Motion {
  public:
    explicit ParticleMotion(Particles& particles) : particles_(particles) {}
    std::size_t numbers() const override { return particles_.numbers(); }
    void project(double t, double* y) override {
        particles_.copy_from(y);
        particles_.project(t);
        particles_.copy_to(y);
    }
    void velocity(double t, const double* y, double* slope) override { particles_.velocity(t, y, slope); }

  private:
    Particles& particles_;
};

}  // namespace

// Piece after piece. At the start of a piece the state is put on the manifold of its equation: Mix-LN's streams change
// their manifold at the switch.
void Runner::run_ode() {
    if (const auto problem = particles_.limit_problem()) {
        throw Error(
            ErrorKind::usage, "dynamics.run",
            fmt::format("{} for {}, which has no ODE limit: {}", setting("time"), problem_.program.text(), *problem),
            "an equation with a limit, or discrete layers",
            fmt::format("use {} instead of {}", setting("layers", "L"), setting("time")));
    }
    give_forecast();
    const Pieces pieces(problem_);
    const auto integrator = make_integrator(problem_, control_);
    ParticleMotion motion(particles_);
    if (!taken_up_) {
        y_.resize(particles_.numbers());
        particles_.copy_to(y_.data());
    }
    while (step_.t < problem_.time && !ended_) {
        if (step_.t >= pieces.unresolved()) {
            return end(Outcome::step_underflow);
        }
        const Piece piece = pieces.at(step_.t);
        particles_.set_segment(piece.begin, piece.end);
        if (step_.t == piece.begin) {  // also in a run taken up there: it has not entered the piece yet
            motion.project(step_.t, y_.data());
        }
        if (due(0)) {
            particles_.copy_from(y_.data());
            next_sample_ = 1;
            keep(particles_.measure_ode(0, speed_before()));
        }
        run_piece(piece, *integrator, motion);
    }
}

// Restart points come after everything that lies in the step before them, so that a run taken up there never has to
// look back; the integrator forgets there in every run.
void Runner::run_piece(const Piece& piece, Integrator& integrator, Motion& motion) {
    while (step_.t < piece.end && !ended_) {
        if (stop_asked()) {
            return end(Outcome::interrupted);
        }
        const double before = step_.t;
        const bool to_sample = integrator.ends_at_samples() && due(piece.end);
        const double target = to_sample ? times_[next_sample_] : piece.end;
        const Progressed progressed = integrator.step(motion, step_, y_, target);
        if (progressed != Progressed::stepped) {
            return end(progressed == Progressed::not_finite ? Outcome::nan : Outcome::step_underflow);
        }
        give_forecast();
        if (particles_.may_lose_digits(step_.t)) {
            particles_.copy_from(y_.data());
            if (particles_.digits_lost(step_.t)) {
                return end(Outcome::digits_lost);
            }
        }
        look_inside(before, integrator, motion);
        if (particles_.slow() && !ended_) {
            fuse(integrator);
        }
        if (gets_nowhere(step_, problem_.time) && !ended_) {
            return end(Outcome::step_underflow);
        }
        if (step_.t == piece.end || step_.steps % restart_every_ == 0) {
            integrator.forget();
            if (!ended_ && step_.t < problem_.time) {
                offer_restart_point();
            }
        }
        report_progress(step_.t / problem_.time);
    }
}

// Tokens that have merged become one direction: what the integrator knows of their motion is then out of date.
void Runner::fuse(Integrator& integrator) {
    particles_.copy_from(y_.data());
    if (particles_.fuse(step_.t, step_.h > 0 ? step_.h : control_.step)) {
        particles_.copy_to(y_.data());
        integrator.forget();
    }
}

// The particles as they are at t, in the step just taken.
void Runner::place(double t, Integrator& integrator, Motion& motion) {
    if (t == step_.t) {
        particles_.copy_from(y_.data());
    } else {
        integrator.inside(motion, t, y_, inner_);
        particles_.copy_from(inner_.data());
    }
}

double Runner::observed(double t) {
    return particles_.observe_ode(t, event_field(watch_.until->observable), speed_before());
}

// The least of a system at the last sample, which a run that is taken up has too: looks in between leave no trace.
double Runner::speed_before() const {
    if (record_.samples.empty()) {
        return HUGE_VAL;
    }
    double least = record_.samples.back().speed;
    for (std::size_t m = 1; !record_.systems.empty() && m <= problem_.systems; ++m) {
        least = std::min(least, record_.systems[record_.systems.size() - m].speed);
    }
    return least;
}

// Samples in (before, step_.t], and the first sight of the event: at one of them or at the end of the step.
void Runner::look_inside(double before, Integrator& integrator, Motion& motion) {
    if (watch_.until && before == step_.t) {  // t stands still while two tokens meet at t = 1e22
        place(step_.t, integrator, motion);
        if (watch_.until->holds(observed(step_.t))) {
            return end_at_event(before, step_.t, integrator, motion);
        }
    }
    for (double seen = before; seen < step_.t && !ended_;) {
        const bool sampled = due(step_.t);
        if (!sampled && !watch_.until) {
            return;
        }
        const double t = sampled ? times_[next_sample_] : step_.t;
        place(t, integrator, motion);
        if (sampled) {
            const Measurement sample = particles_.measure_ode(t, speed_before());
            if (watch_.until && watch_.until->holds(event_field(watch_.until->observable)(sample.all))) {
                return end_at_event(seen, t, integrator, motion);
            }
            ++next_sample_;
            keep(sample);
        } else if (watch_.until->holds(observed(t))) {
            return end_at_event(seen, t, integrator, motion);
        }
        seen = t;
    }
}

// The event happens in (before, t]: halve that, looking at the solution inside the step.
void Runner::end_at_event(double before, double t, Integrator& integrator, Motion& motion) {
    double low = before;
    double high = t;
    for (int i = 0; i < 64 && high - low > event_precision * high; ++i) {
        const double middle = low + 0.5 * (high - low);
        place(middle, integrator, motion);
        (watch_.until->holds(observed(middle)) ? high : low) = middle;
    }
    place(high, integrator, motion);
    const Measurement seen = particles_.measure_ode(high, speed_before());
    step_.t = high;
    keep(seen);
    end(Outcome::until);
}

}  // namespace flyball::dynamics
