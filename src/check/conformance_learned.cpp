// Learned parameters of an equation: what a run says of them, and where it says nothing.
#include <fmt/format.h>

#include <set>

#include "check/conformance_reading.hpp"
#include "scheme/typing.hpp"

namespace flyball::check {

namespace {

std::string key_of(std::size_t instance, const scheme::Program& program) {
    const std::size_t count = program.learned().size();
    return fmt::format("{}.{}", instance / count, program.learned()[instance % count].name);
}

bool fits(const std::vector<double>& values, const scheme::Parameter& parameter) {
    return values.size() == 1 || parameter.per_channel;
}

void add_places(const scheme::Program& program, const scheme::Code& code, const std::string& prefix,
                const SavedParameters& saved, std::vector<LearnedPlace>& places) {
    std::set<std::size_t> used;  // instances
    for (const scheme::ExpressionPtr& coefficient : code.coefficients) {
        scheme::walk(*coefficient, [&](const scheme::Expression& e) {
            if (e.kind == scheme::Expression::Kind::learned) {
                used.insert(static_cast<std::size_t>(e.index));
            }
        });
    }
    for (const std::size_t instance : used) {
        const scheme::Parameter& parameter = program.learned()[instance % program.learned().size()];
        const std::string key = key_of(instance, program);
        const auto found = saved.find(key);
        places.push_back({parameter.name, fmt::format("{}scheme.{}", prefix, key), found != saved.end(),
                          found != saved.end() && fits(found->second, parameter)});
    }
}

}  // namespace

scheme::LearnedValues learned_of(const Hypothesis& hypothesis, const scheme::Code& code, const scheme::Environment& env,
                                 const SavedParameters& saved) {
    scheme::LearnedValues values = initial_learned(hypothesis.program, code, env);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto found = saved.find(key_of(i, hypothesis.program));
        if (found != saved.end() &&
            fits(found->second, hypothesis.program.learned()[i % hypothesis.program.learned().size()])) {
            values[i] = found->second;
        }
    }
    return values;
}

std::vector<LearnedPlace> learned_places(const RunFile& run, const Hypothesis& hypothesis) {
    const scheme::Program& program = hypothesis.program;
    const auto sub_layers = run.has_ffn ? scheme::SubLayers::attention_and_ffn : scheme::SubLayers::attention_only;
    std::vector<LearnedPlace> places;
    scheme::Environment env;
    for (std::size_t l = 0; l < run.layers(); ++l) {
        env = scheme::Environment::block(l + 1, run.layers(), hypothesis.dt, run.tokens, run.dim);
        add_places(program, lower_block(program, sub_layers, program.decide(env)), fmt::format("blocks.{}.", l),
                   run.blocks[l].learned, places);
    }
    add_places(program, lower_readout(program, program.decide(env)), "readout.", run.readout_learned, places);
    return places;
}

}  // namespace flyball::check
