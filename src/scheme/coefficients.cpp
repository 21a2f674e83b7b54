// Coefficients of a code as numbers, with their slopes, and the way back from their gradients to learned parameters.
#include "scheme/coefficients.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "scheme/evaluate.hpp"
#include "scheme/typing.hpp"

namespace flyball::scheme {

namespace {

std::size_t width(const Expression& coefficient, const LearnedValues& learned, std::size_t dim) {
    if (coefficient.type != Type::channel) {
        return 1;
    }
    const bool wide = std::any_of(learned.begin(), learned.end(), [](const auto& v) { return v.size() > 1; });
    return wide ? dim : 1;
}

// A parameter of size 1 is the same for every channel.
double at_channel(const std::vector<double>& values, std::size_t channel) {
    return values.size() == 1 ? values[0] : values[channel];
}

// t + eps: depth = t/T moves along.
Scope<Dual> scope_of(const Environment& env, bool time_goes_on) {
    Scope<Dual> scope;
    const auto quantities = env.values();
    for (std::size_t q = 0; q < quantities.size(); ++q) {
        scope.quantities[q] = {quantities[q], 0};
    }
    if (time_goes_on) {
        scope.quantities[static_cast<std::size_t>(Quantity::t)].slope = 1;
        scope.quantities[static_cast<std::size_t>(Quantity::depth)].slope = 1 / env.T;
    }
    return scope;
}

}  // namespace

LearnedValues initial_learned(const Program& program, const Code& code, const Environment& env) {
    LearnedValues values(code.learned_count);
    const Scope<double> scope{env.values(), {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = {evaluate(*program.learned()[i % program.learned().size()].value, scope)};
    }
    return values;
}

LearnedValues initial_learned_slopes(const Program& program, const Code& code, const Environment& env) {
    LearnedValues slopes(code.learned_count);
    const Scope<Dual> scope = scope_of(env, true);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        slopes[i] = {evaluate(*program.learned()[i % program.learned().size()].value, scope).slope};
    }
    return slopes;
}

// dt = 0 + eps gives slopes with respect to dt for the derivative, dt = 0 none for the projection; in the other runs dt
// is the number that it is. Where N0 changes infinitely fast at one t (sqrt(t) at 0) it is taken to rest there: the
// integral over that moment is a number all the same, and every step ends at N0 of its own t. What is zero is a fact
// about the numbers here and now, except in `record`: there a learned coefficient at 0 (ReZero at its start) still has
// a gradient, so its term stays.
void evaluate_coefficients(const Code& code, const Environment& env, Run run, const LearnedValues& learned,
                           std::size_t dim, std::vector<Coefficient>& values, std::vector<CoefficientFacts>& facts,
                           const LearnedValues& learned_slopes) {
    Scope<Dual> scope = scope_of(env, moves_in_time(run));
    if (takes_limit(run)) {
        scope.quantities[static_cast<std::size_t>(Quantity::dt)] = {0, run == Run::derivative ? 1.0 : 0.0};
        scope.beside_zero = run == Run::derivative;
    }
    std::vector<Dual> channel(learned.size());
    scope.learned = channel;

    values.resize(code.coefficients.size());
    facts.resize(code.coefficients.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Expression& expression = *code.coefficients[i];
        const std::size_t size = width(expression, learned, dim);
        values[i].value.resize(size);
        values[i].slope.resize(size);
        facts[i] = {run != Run::record, true, true};
        for (std::size_t k = 0; k < size; ++k) {
            for (std::size_t p = 0; p < learned.size(); ++p) {
                channel[p] = {at_channel(learned[p], k), learned_slopes.empty() ? 0 : at_channel(learned_slopes[p], k)};
            }
            Dual c = evaluate(expression, scope);
            if (run == Run::tangent && !std::isfinite(c.slope)) {
                c.slope = 0;
            }
            values[i].value[k] = c.value;
            values[i].slope[k] = c.slope;
            facts[i].zero = facts[i].zero && c.value == 0;
            facts[i].slope_zero = facts[i].slope_zero && c.slope == 0;
            facts[i].finite = facts[i].finite && finite(c);
        }
    }
}

bool has_learned(const Expression& coefficient) {
    bool found = false;
    walk(coefficient, [&](const Expression& e) { found = found || e.kind == Expression::Kind::learned; });
    return found;
}

// dL/dp = sum over coefficients c of dL/dc dc/dp, each dc/dp by one evaluation in dual numbers with slope 1 at p. A
// coefficient per channel of a parameter that is one number adds up over channels.
void chain_to_learned(const Code& code, const Environment& env, const LearnedValues& learned,
                      const std::vector<std::vector<double>>& coefficient_gradient, LearnedValues& gradient) {
    Scope<Dual> scope = scope_of(env, false);
    std::vector<Dual> channel(learned.size());
    scope.learned = channel;
    for (std::size_t i = 0; i < coefficient_gradient.size(); ++i) {
        for (std::size_t k = 0; k < coefficient_gradient[i].size(); ++k) {
            for (std::size_t p = 0; p < learned.size(); ++p) {
                channel[p] = {at_channel(learned[p], k), 0};
            }
            for (std::size_t p = 0; p < learned.size(); ++p) {
                channel[p].slope = 1;
                const double slope = evaluate(*code.coefficients[i], scope).slope;
                channel[p].slope = 0;
                // A parameter that the coefficient does not contain has slope 0; adding 0*inf must not make a NaN.
                if (slope != 0) {
                    gradient[p][gradient[p].size() == 1 ? 0 : k] += slope * coefficient_gradient[i][k];
                }
            }
        }
    }
}

}  // namespace flyball::scheme
