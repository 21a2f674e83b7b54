// The JSON document of predictions, field by field, against closed forms.
//
// With beta = 0 attention is the mean of what it sees, whatever the tokens are, and the equations of the symmetric
// start can be solved by hand. Post-LN: gamma' = 2 (1-gamma)(1+(n-1)gamma)/n, so (1+(n-1)gamma)/(1-gamma) = exp(2t) and
//
//     1-gamma = n/(exp(2t)+n-1)        gamma' -> 2n exp(-2t)
//
// A factor a(t) on f changes t to the integral of a. Pre-LN: 1-gamma = (r0/r)^2, and r' = 1 - c^2/r^2 with
// c^2 = r0^2 (n-1)/n.
#include "theory/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "scheme/own_equation.hpp"
#include "support.hpp"

namespace flyball::theory::test::prediction_test {
namespace {

constexpr double n = 4;

Json run_of(const scheme::Scheme& scheme, const std::vector<double>& times, const std::vector<double>& cosines) {
    return document({predict(scheme, with(n, 0), times, cosines)}, cosines).at("runs").at(0);
}

// `expected` has the numbers that a law of its kind has; all others are null.
void expect_law(const Json& law, const char* kind, const std::vector<std::pair<const char*, double>>& expected) {
    EXPECT_EQ(law.at("law"), kind);
    for (const char* key :
         {"rate", "p", "power", "time", "exponent", "constant", "log_constant", "limit", "log_one_minus_limit"}) {
        const auto found = std::find_if(expected.begin(), expected.end(),
                                        [&](const auto& one) { return std::string(one.first) == key; });
        if (found == expected.end()) {
            EXPECT_TRUE(law.at(key).is_null()) << kind << ' ' << key << ' ' << law.at(key);
        } else if (law.at(key).is_number()) {
            EXPECT_NEAR(law.at(key).get<double>(), found->second, 1e-7 * (1 + std::abs(found->second)))
                << kind << ' ' << key;
        } else {
            ADD_FAILURE() << kind << ' ' << key << " is " << law.at(key) << ", expected " << found->second;
        }
    }
}

TEST(DocumentOfPredictions, HasTheNumbersOfEveryKindOfLawUnderTheirNames) {
    // C exp(-2t) with C = 2n.
    expect_law(run_of(scheme::find_scheme("post-ln"), {}, {}).at("terminal"), "exponential",
               {{"rate", 2}, {"p", 1}, {"power", 0}, {"constant", 8}, {"log_constant", std::log(8)}});
    // Post-LN at u = 2 (sqrt(t+1) - 1): C t^(-1/2) exp(-4 sqrt t) with C = 2n exp(4).
    expect_law(
        run_of(scheme::find_scheme("sqrt-scaling"), {}, {}).at("terminal"), "stretched",
        {{"rate", 4}, {"p", 0.5}, {"power", -0.5}, {"constant", 8 * std::exp(4)}, {"log_constant", std::log(8) + 4}});
    // r -> t, so gamma' = 2 r'/r^3 -> 2/t^3.
    expect_law(run_of(scheme::find_scheme("pre-ln"), {}, {}).at("terminal"), "power",
               {{"exponent", -3}, {"constant", 2}, {"log_constant", std::log(2)}});
}

// Post-LN at the time 1 - exp(-t), which ends at 1.
TEST(DocumentOfPredictions, HasTheLogarithmOfWhatAFrozenCosineLacks) {
    const double lacks = n / (std::exp(2) + n - 1);
    const Json run = run_of(scheme::scheme_of_equation("norm(x + dt*f(x)*exp(-t))"), {}, {0.75});
    expect_law(run.at("terminal"), "frozen", {{"limit", 1 - lacks}, {"log_one_minus_limit", std::log(lacks)}});
    EXPECT_TRUE(run.at("time_to_cosine").at(0).at("t").is_null()) << "it stays below 0.62";
}

// However small the limit is, its error is relative to it, and no number of 53 bits is better than 1e-16.
TEST(DocumentOfPredictions, HasTheErrorOfALimitRelativeToIt) {
    const Json law = run_of(scheme::scheme_of_equation("norm(x + 1e-7*dt*f(x)*exp(-t))"), {}, {}).at("terminal");
    const double lacks = n / (std::exp(2e-7) + n - 1);
    EXPECT_NEAR(law.at("limit").get<double>() / (1 - lacks), 1, 1e-7);
    EXPECT_GT(law.at("error").get<double>(), 1e-16);
    EXPECT_LT(law.at("error").get<double>(), 1e-6);
}

// One constant of consensus for all runs of the same attention, or one in each run.
TEST(DocumentOfPredictions, HasTheConsensusConstantOnceWhereRunsAgree) {
    const auto prediction = [](double beta) { return predict(scheme::find_scheme("post-ln"), with(n, beta), {}, {}); };
    const auto key = "log_consensus_constant";
    const Json same = document({prediction(1), prediction(1)}, {});
    EXPECT_DOUBLE_EQ(same.at(key).get<double>(), log_consensus_constant(n, 1));
    EXPECT_FALSE(same.at("runs").at(0).contains(key));
    const Json other = document({prediction(1), prediction(2)}, {});
    EXPECT_FALSE(other.contains(key));
    EXPECT_DOUBLE_EQ(other.at("runs").at(0).at(key).get<double>(), log_consensus_constant(n, 1));
    EXPECT_DOUBLE_EQ(other.at("runs").at(1).at(key).get<double>(), log_consensus_constant(n, 2));
}

TEST(DocumentOfPredictions, HasTheCosineAndTheTimeOfAClosedForm) {
    const Json run = run_of(scheme::find_scheme("post-ln"), {0, 1}, {0.75});
    EXPECT_EQ(run.at("beta"), 0);
    EXPECT_NEAR(run.at("initial_velocity").get<double>(), 2 / n, 1e-12);
    EXPECT_EQ(run.at("t"), (std::vector<double>{0, 1}));
    EXPECT_NEAR(run.at("gamma").at(1).get<double>(), 1 - n / (std::exp(2) + n - 1), 1e-10);
    // (1 + 3*0.75)/(1 - 0.75) = 13.
    EXPECT_EQ(run.at("time_to_cosine").at(0).at("cosine"), 0.75);
    EXPECT_NEAR(run.at("time_to_cosine").at(0).at("t").get<double>(), std::log(13) / 2, 1e-9);
}

// dt = dr/(1 - c^2/r^2) from r = 1 to r = 2, where gamma = 3/4 and gamma' = 2 r'/r^3 = (1 - 3/16)/4.
TEST(DocumentOfPredictions, HasTheLengthOfTheStreamAsRadius) {
    const double c = std::sqrt((n - 1) / n);
    const double t = 1 + c / 2 * std::log((2 - c) * (1 + c) / ((2 + c) * (1 - c)));
    const Json run = run_of(scheme::find_scheme("pre-ln"), {t}, {});
    EXPECT_NEAR(run.at("radius").at(0).get<double>(), 2, 1e-9);
    EXPECT_NEAR(run.at("gamma").at(0).get<double>(), 0.75, 1e-9);
    EXPECT_NEAR(run.at("velocity").at(0).get<double>(), 13.0 / 64, 1e-9);
    EXPECT_NEAR(run.at("log_one_minus_gamma").at(0).get<double>(), -std::log(4), 1e-9);
}

// What was asked for, in its order: a head is told by its place.
TEST(DocumentOfPredictions, NamesTheBetaOfEveryHead) {
    Settings settings = with(n, 0);
    settings.betas = {2, 0.5, 1};
    const Json all = document({predict(scheme::find_scheme("post-ln"), settings, {}, {})}, {});
    const Json& run = all.at("runs").at(0);
    EXPECT_EQ(run.at("heads_beta"), (std::vector<double>{2, 0.5, 1}));
    EXPECT_FALSE(run.contains("beta"));
    EXPECT_FALSE(all.contains("log_consensus_constant")) << "that is of one beta";
}

}  // namespace
}  // namespace flyball::theory::test::prediction_test
