#include "check/conformance_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check/conformance_explain.hpp"
#include "check/conformance_fit.hpp"
#include "scheme/branches.hpp"

namespace flyball::check {

namespace {

using scheme::Code;
using scheme::Instruction;

constexpr double same_factor = 0.01;  // factors that differ by less are the same factor
constexpr std::size_t most_shown = 6;

// The coefficient of the one term that a call's input, or a branch's contribution, has; -1 for none.
int coefficient_at(const Code& code, Place place) {
    if (place == Place::resid) {
        for (const scheme::Contribution& one : contributions(code)) {
            if (one.terms.size() == 1) {
                return one.terms[0].coefficient;
            }
        }
        return -1;
    }
    const scheme::SubLayer wanted =
        place == Place::attention_in ? scheme::SubLayer::attention : scheme::SubLayer::feed_forward;
    for (const Instruction& call : code.instructions) {
        if (call.kind != Instruction::Kind::call || call.sub_layer != wanted) {
            continue;
        }
        for (const Instruction& one : code.instructions) {
            if (one.out == call.in && one.kind == Instruction::Kind::combine && one.terms.size() == 1) {
                return one.terms[0].coefficient;
            }
        }
    }
    return -1;
}

std::string written_text(const RunFile& run, const Hypothesis& hypothesis, Place place, std::size_t block) {
    const scheme::Environment env =
        scheme::Environment::block(block + 1, run.layers(), hypothesis.dt, run.tokens, run.dim);
    const Code code = lower_block(
        hypothesis.program, run.has_ffn ? scheme::SubLayers::attention_and_ffn : scheme::SubLayers::attention_only,
        hypothesis.program.decide(env));
    const int coefficient = coefficient_at(code, place);
    if (coefficient < 0) {
        return "";
    }
    std::vector<scheme::Coefficient> values;
    std::vector<scheme::CoefficientFacts> facts;
    evaluate_coefficients(code, env, scheme::Run::values, initial_learned(hypothesis.program, code, env), run.dim,
                          values, facts);
    return fmt::format(" The equation has the factor {} there, which is {:.4g} in block {}.",
                       print(*code.coefficients[scheme::index(coefficient)]),
                       values[scheme::index(coefficient)].value[0], block);
}

// The factor of each block, or nothing where one of them has none.
std::optional<std::vector<double>> factors_of(const RunFile& run, const Hypothesis& hypothesis, const Reading& reading,
                                              Place place, const std::vector<std::size_t>& blocks) {
    std::vector<double> factors;
    for (const std::size_t block : blocks) {
        const PlaceReading& at = reading.blocks[block].at(place);
        if (at.rest <= std::max(at.tolerance, 1e-3 * at.error)) {
            factors.push_back(at.factor);
            continue;
        }
        const std::optional<double> inside_norm = place == Place::resid && hypothesis.program.stream_count() == 1
                                                      ? branch_factor(run, hypothesis, block)
                                                      : std::nullopt;
        if (!inside_norm) {
            return std::nullopt;
        }
        factors.push_back(*inside_norm);
    }
    return factors;
}

std::string law_of(const std::vector<double>& factors, const std::vector<std::size_t>& blocks) {
    const double first = factors[0];
    if (factors.size() > 1 && std::all_of(factors.begin(), factors.end(),
                                          [&](double factor) { return std::fabs(factor / first - 1) < same_factor; })) {
        return ", the same in each";
    }
    double up = 0;
    double down = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        if (factors[i] <= 0) {
            return "";
        }
        const double l = std::log(static_cast<double>(blocks[i] + 1));
        up += std::log(factors[i]) * l;
        down += l * l;
    }
    if (factors.size() < 2 || down == 0) {
        return "";
    }
    const double power = up / down;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        if (std::fabs(factors[i] / std::pow(static_cast<double>(blocks[i] + 1), power) - 1) > same_factor) {
            return "";
        }
    }
    return fmt::format(", which is l^{:.3g} with blocks counted from l = 1", power);
}

}  // namespace

std::optional<ConformanceFinding> factor_finding(const RunFile& run, const Hypothesis& hypothesis,
                                                 const Reading& reading, Place place,
                                                 const std::vector<std::size_t>& blocks) {
    const auto factors = factors_of(run, hypothesis, reading, place, blocks);
    if (!factors) {
        return std::nullopt;
    }
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(most_shown, factors->size()); ++i) {
        shown.push_back(fmt::format("{:.4g}", (*factors)[i]));
    }
    if (shown.size() < factors->size()) {
        shown.emplace_back("..");
    }
    ConformanceFinding finding;
    finding.id = fmt::format("factor-of-{}", name(place));
    finding.message =
        fmt::format("{} multiplied by {} beside what the equation says ({}){}.{}",
                    place == Place::resid ? "What the sub-layers add is" : "It is", fmt::join(shown, ", "),
                    blocks_text(blocks), law_of(*factors, blocks), written_text(run, hypothesis, place, blocks.back()));
    finding.evidence["blocks"] = blocks;
    finding.evidence["factors"] = *factors;
    return finding;
}

}  // namespace flyball::check
