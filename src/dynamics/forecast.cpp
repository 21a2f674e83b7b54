#include "dynamics/forecast.hpp"

#include <algorithm>
#include <cmath>

#include "attention/cost_table.hpp"
#include "attention/kernels.hpp"
#include "dynamics/method.hpp"
#include "dynamics/own_frame.hpp"
#include "scheme/code.hpp"

namespace flyball::dynamics {

namespace {

constexpr double seconds_per_flop = 1 / 25e9;  // of matrix products
constexpr double seconds_per_number = 20e-9;   // of the equation and the integrator, per number of a stream
constexpr double seconds_per_cosine = 1.5e-9;  // of the energy, beside its matrix product
constexpr double restart_seconds = 10;
constexpr std::size_t most_restart_steps = 100;
constexpr std::size_t telling_steps = 5;  // of a method that chooses them: the first are as short as its first guess
// Of one that remembers steps: bdf starts at order 1, with steps that are thousands of times shorter.
constexpr std::size_t telling_own_steps = 60;
constexpr double telling_seconds = 60;

struct Calls {
    double attention = 0;
    double feed_forward = 0;
};

Calls calls_of(const Problem& s) {
    const auto start = s.layers ? scheme::Environment::layer(1, *s.layers, s.dt, s.tokens, s.dim)
                                : scheme::Environment::ode(0, s.final_time(), s.tokens, s.dim);
    const scheme::Code code = scheme::lower_block(s.program, s.sub_layers(), s.program.decide(start));
    Calls calls;
    for (const scheme::Stage& stage : code.stages) {
        if (stage.call >= 0) {
            const auto which = code.instructions[static_cast<std::size_t>(stage.call)].sub_layer;
            (which == scheme::SubLayer::attention ? calls.attention : calls.feed_forward) += 1;
        }
    }
    return calls;
}

// One call of attention for all systems, on one thread.
double attention_seconds(const Problem& s, const Control& control) {
    if (s.attention.instead) {
        return 0;  // nobody knows
    }
    const bool identity = s.attention.identity();
    const std::size_t all_heads = s.attention.heads;
    attention::HeadProblem problem;
    problem.tokens = s.tokens;
    problem.identity = identity;
    problem.width = identity ? s.dim : std::max<std::size_t>(1, s.dim / all_heads);
    problem.kind = s.attention.settings.kind;
    problem.mask = s.attention.settings.mask;
    problem.beta = std::fabs(s.attention.settings.beta);
    problem.systems = identity ? s.systems : 1;
    const bool single = control.precision == Precision::f32;
    const char* kernel = attention::choose_kernel(problem, single, control.kernel).name;
    const double heads = identity ? 1 : static_cast<double>(all_heads);
    const double products =
        identity ? 0 : 8.0 * static_cast<double>(s.tokens) * static_cast<double>(s.dim) * static_cast<double>(s.dim);
    return static_cast<double>(s.systems) *
           (heads * 1e-9 * attention::estimated_nanoseconds(kernel, problem, single) + products * seconds_per_flop);
}

}  // namespace

Cost::Cost(const Problem& s, const Control& control)
    : layers_(s.layers), time_(s.time), step_(control.step), fresh_(s.fresh), method_(row_for(s, control)) {
    const Calls calls = calls_of(s);
    const double n = static_cast<double>(s.tokens);
    const double d = static_cast<double>(s.dim);
    const double systems = static_cast<double>(s.systems);
    const double ffn = 4 * systems * n * d * static_cast<double>(s.ffn.width) * seconds_per_flop;
    const double rows = systems * n * d * static_cast<double>(s.program.stream_count()) * seconds_per_number;
    calls_ = std::max(1.0, calls.attention);
    evaluation_seconds_ = calls.attention * attention_seconds(s, control) + calls.feed_forward * ffn + rows;
    const double pairs = s.dim == 2 ? 0 : n * n / 2 * (seconds_per_cosine + 2 * d * seconds_per_flop);
    const double small = std::min(n, d);
    const double rank = small > 1024 ? 0 : (2 * n * d * small + 10 * small * small * small) * seconds_per_flop;
    sample_seconds_ = (s.layers ? 0 : evaluation_seconds_) + systems * (pairs + rank) + rows;
}

double Cost::evaluations_per_step() const {
    if (layers_) {
        return 1;
    }
    return method_.table == nullptr ? 1 : static_cast<double>(method_.table().stages());
}

std::size_t Cost::restart_every() const {
    if (!layers_ && method_.table == nullptr) {
        return most_restart_steps;  // each restart loses what it remembers: bdf goes back to order 1
    }
    const double steps = restart_seconds / (evaluations_per_step() * evaluation_seconds_);
    return static_cast<std::size_t>(std::clamp(steps, 1.0, static_cast<double>(most_restart_steps)));
}

std::optional<double> Cost::seconds_left(const StepState& state, std::size_t evaluations, std::size_t samples_left,
                                         bool log_time) const {
    double steps = 0;
    double per_step = evaluations_per_step();
    if (layers_) {
        steps = static_cast<double>(*layers_ - state.steps);
    } else if (method_.has_equal_steps()) {
        steps = std::ceil((time_ - state.t) / step_);
    } else {
        if (time_ > slow_time && !fresh_) {
            return std::nullopt;  // steps of 1 and of 1e20 follow each other: the next says nothing of those to come
        }
        const double taken = static_cast<double>(evaluations) / calls_;
        const std::size_t telling = method_.table == nullptr ? telling_own_steps : telling_steps;
        if (state.steps == 0 || (state.steps < telling && taken * evaluation_seconds_ < telling_seconds)) {
            return std::nullopt;
        }
        per_step = std::max(1.0, taken / static_cast<double>(state.steps));
        // Steps as long as the next one; where samples are spaced in log t, so are they.
        const double left = time_ - state.t;
        steps = log_time && state.t > 0 ? std::log(time_ / state.t) / std::log1p(state.h / state.t) : left / state.h;
        steps = std::max(steps, fresh_ ? left : 0);  // no step crosses a whole time
    }
    return steps * per_step * evaluation_seconds_ + static_cast<double>(samples_left) * sample_seconds_;
}

}  // namespace flyball::dynamics
