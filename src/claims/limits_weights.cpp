// Lemma 1 and Corollary 1: with logits in a fixed range no weight can keep its size as the number of keys grows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/limits.hpp"
#include "claims/limits_rows.hpp"
#include "core/random.hpp"
#include "limits/normaliser.hpp"

namespace flyball::claims {

namespace {

std::vector<double> softmax_of(const std::vector<double>& logits, double temperature) {
    std::vector<double> z((logits.size() + 31) / 32 * 32);
    std::vector<double> room;
    std::transform(logits.begin(), logits.end(), z.begin(), [&](double l) { return l / temperature; });
    limits::Normaliser().weigh(logits.size(), z.data(), room);
    z.resize(logits.size());
    return z;
}

// One logit at one end of [-reach, reach] and all others at the other end, which is as large or small as a weight gets.
std::vector<double> extreme_logits(std::size_t keys, double reach, bool largest) {
    std::vector<double> logits(keys, largest ? -reach : reach);
    logits.front() = -logits.front();
    return logits;
}

std::vector<double> random_logits(std::size_t keys, double reach, std::uint64_t seed) {
    const Random numbers(seed, 21);
    std::vector<double> logits(keys);
    for (std::size_t i = 0; i < keys; ++i) {
        logits[i] = reach * (2 * numbers.uniform(i) - 1);
    }
    return logits;
}

// F(l)/sum F for F = exp, softplus and squareplus: L alpha_i between min F/max F and max F/min F over [-a, a].
Measurement any_normaliser(const Context& context) {
    constexpr double a = 0.7;
    BoundCheck above;
    BoundCheck below;
    const std::vector<double (*)(double)> functions = {[](double l) { return std::exp(l); },
                                                       [](double l) { return std::log1p(std::exp(l)); },
                                                       [](double l) { return (l + std::sqrt(l * l + 4)) / 2; }};
    const std::size_t large = 20000;
    for (const auto& F : functions) {
        const double most = context.predict("C2", F(a) / F(-a));
        const double least = context.predict("C1", F(-a) / F(a));
        const auto see = [&](const std::vector<double>& logits, bool is_extreme) {
            double sum = 0;
            for (const double l : logits) {
                sum += F(l);
            }
            for (const double l : {logits.front(), logits.back()}) {
                const double scaled = static_cast<double>(logits.size()) * F(l) / sum;
                is_extreme&& l == logits.front() && l > 0 ? above.see_attaining(scaled, most) : above.see(scaled, most);
                is_extreme&& l == logits.front() && l < 0 ? below.see_attaining(least, scaled)
                                                          : below.see(least, scaled);
            }
        };
        for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(50, 500); ++seed) {
            see(random_logits(2 + seed % 60, a, seed), false);
        }
        see(extreme_logits(large, a, true), true);
        see(extreme_logits(large, a, false), true);
    }
    Measurement result;
    result.predicted = "C1/L <= alpha <= C2/L";
    result.measured = fmt::format("{} weights, none outside; attained to {:.4f} and {:.4f}",
                                  above.count() + below.count(), above.attaining(), below.attaining());
    result.tolerance = "never outside; attained within 1 %";
    result.verdict = verdict_of(above.sound() && below.sound());
    result.note =
        "F = exp, softplus and squareplus, logits in [-0.7, 0.7], C1 = min F/max F, C2 = max F/min F; attained "
        "with 20,000 keys, one at one end and all others at the other";
    return result;
}

Measurement softmax_bound(const Context& context) {
    BoundCheck above;
    BoundCheck below;
    for (const double T : {0.5, 1.0, 4.0}) {
        const double D = 0.4 * T;  // |q||k|
        const double factor = context.predict("exponent", 2) * D / T;
        const auto see = [&](const std::vector<double>& logits, bool is_largest, bool is_smallest) {
            const std::vector<double> alpha = softmax_of(logits, T);
            const auto L = static_cast<double>(logits.size());
            const auto [least, most] = std::minmax_element(alpha.begin(), alpha.end());
            is_largest ? above.see_attaining(*most * L, std::exp(factor)) : above.see(*most * L, std::exp(factor));
            is_smallest ? below.see_attaining(std::exp(-factor), *least * L) : below.see(std::exp(-factor), *least * L);
        };
        for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(50, 500); ++seed) {
            see(random_logits(2 + seed % 60, D, seed), false, false);
        }
        see(extreme_logits(20000, D, true), true, false);
        see(extreme_logits(20000, D, false), false, true);
    }
    Measurement result;
    result.predicted = "exp(-2D/T)/L <= alpha <= exp(2D/T)/L";
    result.measured = fmt::format("none of {} weights outside; attained to {:.4f} and {:.4f}", above.count(),
                                  above.attaining(), below.attaining());
    result.tolerance = "never outside; attained within 1 %";
    result.verdict = verdict_of(above.sound() && below.sound());
    return result;
}

// Sharper: with range R of the logits, 1/(1 + (L-1) e^{R/T}) <= alpha <= 1/(1 + (L-1) e^{-R/T}), attained at every L.
Measurement by_range(const Context& context) {
    BoundCheck above;
    BoundCheck below;
    for (const std::size_t keys : {2U, 5U, 64U, 1000U}) {
        for (const double T : {0.5, 1.0}) {
            for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(20, 200); ++seed) {
                for (const int extreme : {0, 1, 2}) {
                    const std::vector<double> logits =
                        extreme == 0 ? random_logits(keys, 1.5, seed) : extreme_logits(keys, 1.5, extreme == 1);
                    const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
                    const double R = context.predict("R", *high - *low);
                    const auto others = static_cast<double>(keys - 1);
                    const double most = 1 / (1 + others * std::exp(-R / T));
                    const double least = 1 / (1 + others * std::exp(R / T));
                    const std::vector<double> alpha = softmax_of(logits, T);
                    const auto [smallest, largest] = std::minmax_element(alpha.begin(), alpha.end());
                    extreme == 1 ? above.see_attaining(*largest, most) : above.see(*largest, most);
                    extreme == 2 ? below.see_attaining(least, *smallest) : below.see(least, *smallest);
                }
            }
        }
    }
    Measurement result;
    result.predicted = "1/(1+(L-1)exp(R/T)) <= alpha <= 1/(1+(L-1)exp(-R/T))";
    result.measured = fmt::format("none of {} rows outside; attained to {:.6f} and {:.6f}", above.count(),
                                  above.attaining(), below.attaining());
    result.tolerance = "never outside; attained within 1 %";
    result.verdict = verdict_of(above.sound() && below.sound());
    result.note = "so a weight of fixed size needs a range of logits that grows as T log L";
    return result;
}

}  // namespace

std::vector<Claim> limits_weights_claims() {
    return {
        {"limits-lemma-1",
         "A normaliser F that does not know the number of keys, on logits in [-a, a], gives every key a weight between "
         "C1/L and C2/L.",
         "Lemma 1", Verdict::holds, "", any_normaliser},
        {"limits-corollary-1",
         "Softmax gives every key a weight between exp(-2D/T)/L and exp(2D/T)/L, D the product of the lengths of query "
         "and key.",
         "Corollary 1", Verdict::holds, "", softmax_bound},
        {"limits-weights-by-range",
         "With R the range of the logits every weight of softmax lies between 1/(1+(L-1)e^(R/T)) and "
         "1/(1+(L-1)e^(-R/T)), and both ends are attained.",
         "finding", Verdict::holds, "", by_range},
    };
}

}  // namespace flyball::claims
