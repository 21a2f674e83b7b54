// Beyond the paper: how selection depends on the placement of the norm, and on a norm of queries and keys. The shipped
// models differ in nothing else: sizes, text, steps and seed are the same.
#include <fmt/format.h>

#include <cmath>

#include "claims/limits.hpp"
#include "claims/limits_model.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

limits::Settings short_text() {
    limits::Settings settings;
    settings.lengths = {32, 64, 128};
    return settings;
}

// The share of the weight on the five heaviest keys at 128 tokens.
double share_of(const Context& context, const char* model) {
    return analysed(context, short_text(), std::string("builtin:") + model).result.by_length.back().share;
}

Measurement placements(const Context& context) {
    const std::vector<const char*> models = {"ngpt",    "sqrt-scaling", "mix-ln",    "pre-ln",
                                             "post-ln", "peri-ln",      "ln-scaling"};
    const double least = context.predict("least ratio", 1.3);
    std::vector<double> shares;
    std::string seen;
    for (const char* const model : models) {
        context.at(static_cast<double>(shares.size()) / static_cast<double>(models.size()));
        shares.push_back(share_of(context, model));
        seen += fmt::format("{}{} {:.3f}", seen.empty() ? "" : ", ", model, shares.back());
    }
    const double ratio = shares.front() / shares.back();
    Measurement result;
    result.predicted = fmt::format("nGPT most, LN-Scaling least, a factor {} or more apart", least);
    result.measured = fmt::format("a factor {:.2f}", ratio);
    result.tolerance = "none";
    result.verdict = verdict_of(measure::largest_in(shares) == shares.front() &&
                                measure::smallest_in(shares) == shares.back() && ratio >= least);
    result.note = "share of the weight on the five heaviest keys at 128 tokens: " + seen;
    return result;
}

Measurement normed_queries(const Context& context) {
    const double stated = context.predict("ratio", 1);
    const double found = share_of(context, "pre-ln-qk") / share_of(context, "pre-ln");
    Measurement result;
    result.predicted = stated;
    result.measured = found;
    result.tolerance = 0.05;
    result.verdict = verdict_of(std::abs(found - stated) < 0.05);
    result.note = "share of the weight on the five heaviest keys at 128 tokens, builtin:pre-ln-qk over builtin:pre-ln";
    return result;
}

}  // namespace

std::vector<Claim> limits_placement_claims() {
    std::vector<Claim> claims = {
        {"limits-placement",
         "Of the shipped models, which differ in the placement of the norm alone, nGPT puts the most weight on its "
         "five "
         "heaviest keys and LN-Scaling the least.",
         "finding", Verdict::holds, "One model of each placement: how much is chance of the seed is not known",
         placements},
        {"limits-qk-norm", "A norm of queries and keys leaves the weight on the five heaviest keys as it is.",
         "finding", Verdict::holds, "One model of each", normed_queries},
    };
    for (Claim& claim : claims) {
        claim.alone = true;
    }
    return claims;
}

}  // namespace flyball::claims
