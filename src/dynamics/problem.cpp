#include "dynamics/problem.hpp"

#include "dynamics/start.hpp"
#include "dynamics/start_file.hpp"
#include "dynamics/trained_weights.hpp"

namespace flyball::dynamics {

Problem problem_of(const Settings& s, const scheme::Program& program) {
    check(s);
    const bool centred = s.trained && s.trained->centred;
    Problem problem{program, s.systems, s.tokens, s.dim, centred ? centred_start(s) : start_rows(s), s.r0};
    if (s.start == StartKind::file) {
        problem.r0 = s.started->mean_length;
    }
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
