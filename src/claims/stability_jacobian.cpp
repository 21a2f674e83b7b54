// How a sub-layer changes gradients on their way back: its Jacobian, for four places of the norms.
#include <fmt/format.h>

#include <cmath>

#include "claims/stability.hpp"
#include "claims/stability_sub_layer.hpp"
#include "core/unreachable.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

std::string jacobian_formula(Placement placement) {
    switch (placement) {
        case Placement::pre:
            return "1 + Dt L_F gamma/s(x)";
        case Placement::peri:
            return "1 + Dt L_F gamma_in gamma_out/(s(a) s(x))";
        case Placement::post:
            return "(gamma/s(u)) (1 + Dt L_F)";
        case Placement::output:
            return "1 + Dt L_F gamma/s(a)";
    }
    unreachable();
}

double jacobian_share(const Context& context, const SubLayerCase& one, Placement placement) {
    const double bound =
        context.predict("bound", jacobian_bound(placement, block_numbers(one, placement, least_number)));
    return operator_norm(jacobian_of(one.model, one.x0)) / bound;
}

Measurement jacobian(const Context& context, Placement placement) {
    double random = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        context.at(static_cast<double>(seed) / static_cast<double>(cases));
        random = measure::larger(random, jacobian_share(context, drawn_case(placement, seed), placement));
    }
    return bounded(random, jacobian_share(context, attaining_case(placement), placement), jacobian_formula(placement));
}

// The largest |J| over the bound with a mean divisor, over placements and draws.
Measurement jacobian_by_mean(const Context& context) {
    double largest = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (const Placement placement : all_placements) {
        for (std::uint64_t seed = 1; seed <= cases; ++seed) {
            context.at(static_cast<double>(seed) / static_cast<double>(cases));
            const SubLayerCase one = drawn_case(placement, seed);
            BlockNumbers numbers = block_numbers(one, placement, mean_number);
            const BlockNumbers least = block_numbers(one, placement, least_number);
            numbers.s_in = context.predict("s", numbers.s_in, {least.s_in});
            numbers.s_out = context.predict("s", numbers.s_out, {least.s_out});
            largest = measure::larger(
                largest, operator_norm(jacobian_of(one.model, one.x0)) / jacobian_bound(placement, numbers));
        }
    }
    Measurement result;
    result.predicted = 1.0;
    result.measured = largest;
    result.tolerance = 1e-9;
    result.verdict = verdict_of(largest < 1 + 1e-9);
    result.note = "largest Jacobian over its bound, tokens of lengths 1 : 4 : 7";
    return result;
}

}  // namespace

std::vector<Claim> stability_jacobian_claims() {
    std::vector<Claim> claims = {
        {"stability-jacobian-mean", "The bounds on block Jacobians hold with the mean divisor s over tokens.",
         "finding", Verdict::fails, "They hold with the smallest s over tokens, of s(x) and of s(a) each",
         jacobian_by_mean},
    };
    for (const auto& [placement, name] : named_placements) {
        claims.push_back(of_placement(fmt::format("stability-jacobian-{}", name),
                                      fmt::format("With {} a sub-layer's Jacobian is at most {}.",
                                                  title_of_placement(placement), jacobian_formula(placement)),
                                      placement, jacobian));
    }
    return claims;
}

}  // namespace flyball::claims
