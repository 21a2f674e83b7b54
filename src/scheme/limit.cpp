// Whether an equation has an ODE limit: by its plan and by applying N0 twice, at several times of a run.
#include "scheme/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.hpp"
#include "scheme/plane.hpp"
#include "scheme/rows.hpp"
#include "scheme/switches.hpp"

namespace flyball::scheme {

namespace {

constexpr std::size_t probe_rows = 5;
constexpr std::size_t probe_dim = 7;
constexpr std::array<double, 4> probe_times = {0, 0.1, 0.5, 0.9};  // of T

Environment at_time(const Environment& run, double t) {
    Environment env = run;
    env.dt = 0;
    env.t = t;
    env.L = run.T;
    env.depth = t / run.T;
    return env;
}

// These, and one between any two switches: what an equation is there need not be seen at any fixed time.
std::vector<Environment> probes_of(const Program& program, const Environment& run) {
    std::vector<Environment> probes;
    for (const double share : probe_times) {
        probes.push_back(at_time(run, share * run.T));
    }
    const auto outcomes = [&](double t) { return program.comparisons(at_time(run, t)); };
    std::vector<double> switches = find_switches(outcomes, switch_probes(run.T));
    if (!switches.empty()) {
        switches.push_back(run.T);
    }
    for (std::size_t i = 0; i < switches.size(); ++i) {
        const double begin = i == 0 ? 0 : switches[i - 1];
        probes.push_back(at_time(run, begin + 0.5 * (switches[i] - begin)));
    }
    return probes;
}

// Rows of very different lengths, so that a norm that fails to be idempotent shows.
std::vector<double> probe() {
    std::vector<double> rows(probe_rows * probe_dim);
    Random(1, 0).fill_normal(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t row = i / probe_dim;
        rows[i] *= 0.5 + static_cast<double>(row);
    }
    return rows;
}

// Coefficients decide first (velocity and project both make a plan); then N0 is applied twice to numbers, which a map
// that is not idempotent changes twice. The sub-layer is the identity: what it gives does not matter to either
// question.
std::optional<std::string> problem_at(const Program& program, SubLayers sub_layers, const Environment& env) {
    RowStep<double> step(program, sub_layers, probe_rows, probe_dim);
    State<double> state = State<double>::start(program, probe_rows, probe_dim, probe());
    for (std::size_t i = 1; i < state.streams.size(); ++i) {  // streams need not be equal
        std::rotate(state.streams[i].begin(), state.streams[i].begin() + static_cast<std::ptrdiff_t>(i),
                    state.streams[i].end());
    }
    std::vector<std::vector<double>> slopes;
    const auto some_function = [](SubLayer, const double* in, double* out) {
        std::copy_n(in, probe_rows * probe_dim, out);
    };
    if (auto problem = step.velocity(env, state, some_function, slopes)) {
        return problem;
    }
    if (auto problem = step.project(env, state)) {
        return problem;
    }
    const State<double> once = state;
    if (auto problem = step.project(env, state)) {
        return problem;
    }
    for (std::size_t i = 0; i < state.streams.size(); ++i) {
        for (std::size_t k = 0; k < state.streams[i].size(); ++k) {
            const double change = std::abs(state.streams[i][k] - once.streams[i][k]);
            if (!(change <= 1e-12 * (1 + std::abs(once.streams[i][k])))) {
                return fmt::format("with dt = 0 the equation still changes {} every time it is applied",
                                   program.stream_name(i));
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> limit_problem(const Program& program, SubLayers sub_layers, const Environment& run) {
    for (const Environment& env : probes_of(program, run)) {
        if (auto problem = problem_at(program, sub_layers, env)) {
            return problem;
        }
    }
    return std::nullopt;
}

std::optional<std::string> reduced_law_problem(const Program& program, const Environment& run) {
    if (auto problem = limit_problem(program, SubLayers::attention_only, run)) {
        return problem;
    }
    for (const Environment& env : probes_of(program, run)) {
        if (auto problem = plane_problem(program, env)) {
            return problem;
        }
    }
    return std::nullopt;
}

}  // namespace flyball::scheme
