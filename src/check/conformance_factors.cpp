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

// The coefficient of the one term that a call's input, or its contribution to the stream, has; -1 for none.
int coefficient_at(const Code& code, scheme::SubLayer wanted, bool added) {
    if (added) {
        for (const scheme::Contribution& one : contributions(code)) {
            if (one.sub_layer == wanted && one.terms.size() == 1) {
                return one.terms[0].coefficient;
            }
        }
        return -1;
    }
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

std::string written_text(const RunFile& run, const Hypothesis& hypothesis, scheme::SubLayer sub_layer, bool added,
                         std::size_t block) {
    const scheme::Environment env =
        scheme::Environment::block(block + 1, run.layers(), hypothesis.dt, run.tokens, run.dim);
    const Code code = lower_block(
        hypothesis.program, run.has_ffn ? scheme::SubLayers::attention_and_ffn : scheme::SubLayers::attention_only,
        hypothesis.program.decide(env));
    const int coefficient = coefficient_at(code, sub_layer, added);
    if (coefficient < 0) {
        return "";
    }
    std::vector<scheme::Coefficient> values;
    std::vector<scheme::CoefficientFacts> facts;
    evaluate_coefficients(code, env, scheme::Run::values,
                          learned_of(hypothesis, code, env, run.blocks[hypothesis.order[block]].learned), run.dim,
                          values, facts);
    const std::string text = print(*code.coefficients[scheme::index(coefficient)]);
    const std::vector<double>& value = values[scheme::index(coefficient)].value;
    return value.size() == 1 ? fmt::format(" The equation has the factor {} there, which is {:.4g} in block {}.", text,
                                           value[0], block)
                             : fmt::format(" The equation has the factor {} there, of each channel its own.", text);
}

// `known`: how well each factor is known.
std::string law_of_factors(const std::vector<double>& factors, const std::vector<std::size_t>& blocks, double known) {
    const double same = std::max(same_factor, known);
    const double first = factors[0];
    if (factors.size() > 1 && std::all_of(factors.begin(), factors.end(),
                                          [&](double factor) { return std::fabs(factor / first - 1) < same; })) {
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
        if (std::fabs(factors[i] / std::pow(static_cast<double>(blocks[i] + 1), power) - 1) > same) {
            return "";
        }
    }
    return fmt::format(", which is l^{:.3g} with blocks counted from l = 1", power);
}

ConformanceFinding factors_finding(const std::string& id, const std::string& what, const std::vector<double>& factors,
                                   const std::vector<std::size_t>& blocks, double known, const std::string& written) {
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(most_shown, factors.size()); ++i) {
        shown.push_back(fmt::format("{:.4g}", factors[i]));
    }
    if (shown.size() < factors.size()) {
        shown.emplace_back("..");
    }
    ConformanceFinding finding;
    finding.id = id;
    finding.message =
        fmt::format("{} multiplied by {} beside what the equation says ({}){}.{}", what, fmt::join(shown, ", "),
                    blocks_text(blocks), law_of_factors(factors, blocks, known), written);
    finding.evidence["blocks"] = blocks;
    finding.evidence["factors"] = factors;
    return finding;
}

// The factors of all blocks with their shape, or nothing where one of the blocks has none; and their misfit.
std::optional<double> factors_of_shape(const RunFile& run, const Hypothesis& hypothesis, BranchShape shape,
                                       const std::vector<std::size_t>& blocks, BranchFinding& found) {
    double misfit = 0;
    found.shape = shape;
    found.attention.clear();
    found.ffn.clear();
    for (const std::size_t block : blocks) {
        const auto fitted = fit_branches(run, hypothesis, block, shape);
        if (!fitted) {
            return std::nullopt;
        }
        found.attention.push_back(fitted->factors.attention);
        found.ffn.push_back(fitted->factors.feed_forward);
        misfit += fitted->misfit;
    }
    return misfit;
}

}  // namespace

std::optional<ConformanceFinding> input_factor(const RunFile& run, const Hypothesis& hypothesis, const Reading& reading,
                                               Place place, const std::vector<std::size_t>& blocks) {
    std::vector<double> factors;
    double known = 0;
    for (const std::size_t block : blocks) {
        const PlaceReading& at = reading.blocks[block].at(place);
        if (!at.factor_explains && at.rest > 1e-3 * at.error) {
            return std::nullopt;
        }
        factors.push_back(at.factor);
        known = std::max(known, at.factor_error);
    }
    const auto sub_layer = place == Place::attention_in ? scheme::SubLayer::attention : scheme::SubLayer::feed_forward;
    return factors_finding(fmt::format("factor-of-{}", name(place)), "It is", factors, blocks, known,
                           written_text(run, hypothesis, sub_layer, false, blocks.back()));
}

std::optional<BranchFinding> branch_factors(const RunFile& run, const Hypothesis& hypothesis, const Reading& reading,
                                            const std::vector<std::size_t>& blocks) {
    if (hypothesis.program.stream_count() > 1 || blocks.empty()) {
        return std::nullopt;  // a step alone does not know the other streams
    }
    std::optional<BranchFinding> best;
    double least = HUGE_VAL;
    for (const BranchShape shape : {BranchShape::both, BranchShape::attention, BranchShape::ffn, BranchShape::each}) {
        if ((shape != BranchShape::both && !run.has_ffn) || (shape == BranchShape::each && best)) {
            continue;
        }
        BranchFinding found;
        const auto misfit = factors_of_shape(run, hypothesis, shape, blocks, found);
        if (misfit && *misfit < least) {
            least = *misfit;
            best = std::move(found);
        }
    }
    if (!best) {
        return std::nullopt;
    }
    double known = 0;
    for (const std::size_t block : blocks) {
        known = std::max(known, reading.blocks[block].at(Place::resid).factor_error);
    }
    const auto add = [&](const char* id, const char* what, const std::vector<double>& factors, scheme::SubLayer of) {
        best->findings.push_back(
            factors_finding(id, what, factors, blocks, known, written_text(run, hypothesis, of, true, blocks.back())));
    };
    if (best->shape == BranchShape::both) {
        add("factor-of-resid", run.has_ffn ? "What the sub-layers add is" : "What attention adds is", best->attention,
            scheme::SubLayer::attention);
    }
    if (best->shape == BranchShape::attention || best->shape == BranchShape::each) {
        add("factor-of-attention", "What attention adds is", best->attention, scheme::SubLayer::attention);
    }
    if (best->shape == BranchShape::ffn || best->shape == BranchShape::each) {
        add("factor-of-ffn", "What the feed-forward adds is", best->ffn, scheme::SubLayer::feed_forward);
    }
    return best;
}

}  // namespace flyball::check
