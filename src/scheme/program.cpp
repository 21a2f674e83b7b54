#include "scheme/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "scheme/evaluate.hpp"
#include "scheme/syntax_error.hpp"
#include "scheme/typing.hpp"

namespace flyball::scheme {

Program Program::with_settings(std::string_view settings) const {
    Syntax changed = syntax_;
    std::vector<std::string> names;
    for (const ParameterSyntax& parameter : changed.parameters) {
        names.push_back(parameter.name);
    }
    std::vector<std::string> seen;
    for (const ParameterSyntax& setting : parse_settings(settings)) {
        const auto found = std::find_if(changed.parameters.begin(), changed.parameters.end(),
                                        [&](const ParameterSyntax& p) { return p.name == setting.name; });
        if (found == changed.parameters.end()) {
            const std::string near = nearest(setting.name, names);
            fail_at(settings, setting.span, fmt::format("the unknown parameter {}", flyball::quoted(setting.name)),
                    names.empty() ? "no settings: this scheme has no parameters"
                                  : fmt::format("one of {}", fmt::join(names, ", ")),
                    near.empty() ? "" : fmt::format("did you mean {}?", near));
        }
        if (std::find(seen.begin(), seen.end(), setting.name) != seen.end()) {
            fail_at(settings, setting.span, fmt::format("{} twice", flyball::quoted(setting.name)),
                    "every setting once");
        }
        seen.push_back(setting.name);
        // Checked here for the sake of the caret; parsing the whole text below would point into text nobody wrote.
        found->value = assign_parameter_types(settings, *setting.value);
    }
    return parse(print(changed));
}

bool Program::reads(int variable) const {
    bool found = false;
    const auto look = [&](const Expression& e) {
        found = found || (e.kind == Expression::Kind::variable && e.index == variable);
    };
    for (const auto* statements : {&attention_, &feed_forward_}) {
        for (const Statement& statement : *statements) {
            walk(*statement.value, look);
        }
    }
    walk(*readout_, look);
    return found;
}

std::string Program::readout_text() const {
    return syntax_.readout == nullptr ? "x" : print(*syntax_.readout);
}

std::vector<bool> Program::decide(const Environment& env) const {
    const Scope<double> scope{env.values(), {}};
    std::vector<bool> decisions(conditions_.size());
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        decisions[i] = evaluate_condition(*conditions_[i], scope);
    }
    return decisions;
}

std::vector<bool> Program::comparisons(const Environment& env) const {
    std::vector<double> started;  // learned parameters, which the arguments of min and max may name
    for (const Parameter& parameter : learned_) {
        started.push_back(evaluate(*parameter.value, Scope<double>{env.values(), {}}));
    }
    const Scope<double> scope{env.values(), started};
    Scope<Dual> beside;  // of dt, which min and max may be of
    std::transform(scope.quantities.begin(), scope.quantities.end(), beside.quantities.begin(),
                   [](double value) { return Dual{value}; });
    beside.quantities[static_cast<std::size_t>(Quantity::dt)].slope = 1;
    beside.beside_zero = env.dt == 0;
    std::vector<Dual> still(started.size());
    std::transform(started.begin(), started.end(), still.begin(), [](double value) { return Dual{value}; });
    beside.learned = still;
    std::vector<bool> outcomes;
    const auto collect = [&](const Expression& e) {
        if (e.kind == Expression::Kind::compare) {
            outcomes.push_back(evaluate_condition(e, scope));
        } else if (e.kind == Expression::Kind::call && (e.function == Function::min || e.function == Function::max)) {
            outcomes.push_back(
                at_most(evaluate(*e.arguments[0], beside), evaluate(*e.arguments[1], beside), beside.beside_zero));
        }
    };
    for (const auto* statements : {&attention_, &feed_forward_}) {
        for (const Statement& statement : *statements) {
            walk(*statement.value, collect);
        }
    }
    walk(*readout_, collect);
    for (const Parameter& parameter : learned_) {  // fixed ones are substituted
        walk(*parameter.value, collect);
    }
    return outcomes;
}

}  // namespace flyball::scheme
