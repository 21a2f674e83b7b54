#include "dynamics/problem.hpp"

#include "dynamics/start.hpp"
#include "dynamics/start_file.hpp"
#include "dynamics/trained_weights.hpp"
#include "measure/moments.hpp"

namespace flyball::dynamics {

Problem problem_of(const Settings& s, const scheme::Program& program) {
    check(s);
    Problem problem = problem_without_start(s, program);
    const bool centred = s.trained && s.trained->centred;
    problem.start = centred ? centred_start(s) : start_rows(s);
    if (s.start == StartKind::file) {
        // LayerNorm takes the mean of a row's channels away, and lengths are those of what is left.
        problem.r0 =
            centred ? measure::mean_length(problem.start.data(), problem.rows(), s.dim) : s.started->mean_length;
    }
    return problem;
}

Problem problem_without_start(const Settings& s, const scheme::Program& program) {
    Problem problem{program, s.systems, s.tokens, s.dim, {}, s.r0};
    problem.attention.settings.kind = attention::kind_from_name(s.attention);
    problem.attention.settings.mask = s.causal ? attention::Mask::causal : attention::Mask::none;
    problem.attention.settings.beta = s.beta;
    problem.attention.heads = s.heads;
    if (s.weights != WeightKind::identity) {
        problem.attention.weights = [s](std::size_t system, std::size_t draw) { return draw_weights(s, system, draw); };
        problem.attention.per_system = s.draws_weights();
    }
    if (s.ffn_width > 0) {
        problem.ffn.width = s.ffn_width;
        problem.ffn.weights = [s](std::size_t system, std::size_t draw) { return draw_feed_forward(s, system, draw); };
    }
    problem.fresh = s.fresh || s.weights == WeightKind::model;
    problem.draw_of_layers = s.weights == WeightKind::model;
    problem.layers = s.layers;
    problem.dt = s.step();
    problem.time = s.time;
    return problem;
}

Control control_of(const Settings& s) {
    Control control;
    control.method = s.method;
    control.rtol = s.rtol;
    control.atol = s.atol;
    control.step = s.step();
    control.precision = s.precision;
    control.kernel = s.kernel;
    return control;
}

}  // namespace flyball::dynamics
