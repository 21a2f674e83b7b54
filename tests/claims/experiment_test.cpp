// Experiments judge: right equations hold, wrong ones do not; and what they are built on is right by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "claims/dynamics_table.hpp"
#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/paper.hpp"
#include "sanitized.hpp"

namespace flyball::claims {
namespace {

Context quick() {
    Context context;
    context.quick = true;
    return context;
}

const PaperRow& row_of(const std::string& scheme) {
    for (const PaperRow& row : paper_rows()) {
        if (row.scheme.rfind(scheme, 0) == 0) {
            return row;
        }
    }
    throw std::runtime_error("no row of " + scheme);
}

Measurement run_claim(const std::string& id) {
    for (const Claim& claim : ledger()) {
        if (claim.id == id) {
            return claim.experiment(quick());
        }
    }
    throw std::runtime_error("no claim " + id);
}

TEST(TableTwo, HoldsForEveryRow) {
    for (const PaperRow& row : paper_rows()) {
        const Measurement result = compare_with_row(row, scheme::find_scheme(row.scheme).program, quick());
        EXPECT_EQ(result.verdict, Verdict::holds) << row.scheme << " " << text_of(result.measured);
    }
}

TEST(TableTwo, AWrongEquationFlipsTheVerdict) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"peri-ln", "x + dt*norm(f(x)) | norm(x)"},                                    // Peri-LN without its inner norm
        {"peri-ln", "x + dt*f(norm(x)) | norm(x)"},                                    // without its outer one
        {"pre-ln", "x + 2*dt*f(norm(x)) | norm(x)"},                                   // a factor 2
        {"post-ln", "norm(x + 1.0001*dt*f(x))"},                                       // a small one
        {"sqrt-scaling", "norm(x + dt*f(x)/(t+1))"},                                   // another power
        {"ngpt", "unit(x + dt*(unit(f(x)) - x)/(2+t))"},                               // another alpha
        {"mix-ln", "depth <= 0.3 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)"},  // switches late
    };
    for (const auto& [scheme, equation] : wrong) {
        const Measurement result = compare_with_row(row_of(scheme), scheme::Program::parse(equation), quick());
        EXPECT_EQ(result.verdict, Verdict::fails) << equation << " " << text_of(result.measured);
    }
}

TEST(Experiments, FastOnesComeOutAsRecorded) {
    for (const Claim& claim : ledger()) {
        for (const char* fast : {"dynamics-initial-peri-ln", "dynamics-cone-small-beta", "dynamics-variance-post-ln",
                                 "dynamics-variance-ngpt-printed", "dynamics-variance-ngpt", "dynamics-causal-post-ln",
                                 "dynamics-clock-sqrt-scaling", "dynamics-beta-zero"}) {
            if (claim.id == fast) {
                const Measurement result = claim.experiment(quick());
                EXPECT_EQ(result.verdict, claim.expected) << claim.id << " " << text_of(result.measured);
                EXPECT_FALSE(result.note.empty()) << claim.id;
            }
        }
    }
}

// Each is here for a part of it that no other test of this program goes through.
TEST(Experiments, QuickOnesComeOutAsRecorded) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: numbers, whose code others run";
    }
    for (const char* id :
         {"dynamics-output-ln", "dynamics-terminal-sqrt-scaling", "dynamics-causal-sqrt-scaling", "dynamics-clock-ngpt",
          "dynamics-sync-peri-ln", "limits-sensitivity-bound", "limits-weights-by-range"}) {
        const std::vector<Claim> claims = ledger();
        const auto claim = std::find_if(claims.begin(), claims.end(), [&](const Claim& one) { return one.id == id; });
        ASSERT_NE(claim, claims.end()) << id;
        const Measurement result = claim->experiment(quick());
        EXPECT_EQ(result.verdict, claim->expected) << id << " " << text_of(result.measured);
        if (claim->id == "dynamics-sync-peri-ln") {
            // Four starts at each of two temperatures: a pair has met, or it waits.
            std::smatch found;
            const std::regex pairs(R"((\d+) pairs on the circle .*, and (\d+) that need more than 1e90 wait)");
            ASSERT_TRUE(std::regex_search(result.note, found, pairs)) << result.note;
            EXPECT_EQ(std::stoi(found[1]) + std::stoi(found[2]), 8) << result.note;
        }
    }
}

TEST(Experiments, AreAFunctionOfTheSeedAlone) {
    const Measurement once = run_claim("dynamics-causal-post-ln");
    const Measurement again = run_claim("dynamics-causal-post-ln");
    EXPECT_EQ(once.measured, again.measured);
    EXPECT_EQ(once.note, again.note);
}

TEST(Experiments, OfRandomWeightsDrawOthersForAnotherSeed) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: six schemes with a hundred dimensions";
    }
    for (const Claim& claim : ledger()) {
        if (claim.id == "dynamics-random-weights-early") {
            Context another = quick();
            another.seed = 2;
            const std::string note = claim.experiment(quick()).note;
            EXPECT_NE(claim.experiment(another).note, note);
            // What was measured stands before what is stated: sqrt(64/e) = 4.852, and 3.235 with gain 1.5 in V.
            EXPECT_NE(note.find(" for 4.85 and "), std::string::npos) << note;
            EXPECT_NE(note.find(" for 3.23 with gains 1 and 1.5 in V"), std::string::npos) << note;
        }
    }
}

// What a reader compares, prediction and measurement, are of the same n, beta and r0, and within what is said.
TEST(Experiments, ShowNumbersThatBearOutTheirVerdict) {
    for (const Claim& claim : ledger()) {
        const bool initial = claim.id.rfind("dynamics-initial-", 0) == 0;
        if (initial || claim.id == "dynamics-start-temperature" || claim.id == "dynamics-terminal-ngpt-summable") {
            const Measurement result = claim.experiment(quick());
            EXPECT_EQ(result.verdict, Verdict::holds) << claim.id;
            const double predicted = std::get<double>(result.predicted);
            const double allowed = initial ? 1e-9 * std::abs(predicted) : std::get<double>(result.tolerance);
            EXPECT_NEAR(std::get<double>(result.measured), predicted, allowed) << claim.id;
        }
    }
}

// The formula of Theorem 4.1 where it is shown, at n = 256, beta = 5, r0 = 1; Mix-LN begins as Post-LN.
TEST(Experiments, TheVelocityShownAtTheStartIsTheOneOfTheTheorem) {
    EXPECT_NEAR(std::get<double>(run_claim("dynamics-initial-post-ln").predicted), 2 / (std::exp(5) + 255), 1e-15);
    EXPECT_NEAR(std::get<double>(run_claim("dynamics-initial-peri-ln").predicted), 2 / std::sqrt(std::exp(10) + 255),
                1e-15);
}

// With the same draws in every group the interval would be of length zero. Quick runs have four groups of 32 draws.
TEST(Experiments, GroupsOfRandomWeightsAreDrawnApart) {
    const std::string note = run_claim("dynamics-norm-growth-fresh").note;
    EXPECT_NE(note.find("pre-ln"), std::string::npos) << note;
    EXPECT_NE(note.find("+- 0.0"), std::string::npos) << note;
    EXPECT_EQ(note.find("+- 0.000"), std::string::npos) << note;
    EXPECT_NE(note.find("mean over 4 groups of 32 draws"), std::string::npos) << note;
}

TEST(Listed, HasItsAndBeforeTheLast) {
    EXPECT_EQ(listed({"one"}), "one");
    EXPECT_EQ(listed({"one", "two"}), "one and two");
    EXPECT_EQ(listed({"one", "two", "three", "four"}), "one, two, three and four");
}

TEST(LogSpaced, TimesGrowByOneFactorToTheLast) {
    const std::vector<double> times = log_spaced(0.5, 4, 4);
    ASSERT_EQ(times.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(times[i], 0.5 * std::pow(2, static_cast<double>(i)), 1e-14) << i;
    }
    EXPECT_EQ(times.back(), 4);
}

TEST(PlainAttention, OfEquiangularTokensIsTheReducedLaw) {
    // theta_j = a e_j + b sum e_k with cosine gamma: 2ab + n b^2 = gamma, a^2 = 1 - gamma.
    const std::size_t n = 5;
    const double gamma = 0.37;
    const double beta = 1.9;
    const double a = std::sqrt(1 - gamma);
    const double b = (-a + std::sqrt(a * a + 5 * gamma)) / 5;
    std::vector<double> theta(n * n, b);
    for (std::size_t j = 0; j < n; ++j) {
        theta[j * n + j] += a;
    }
    const PlainAttention attention = plain_attention(theta, n, beta);
    const Equiangular reduced = equiangular(5, beta, gamma);
    EXPECT_NEAR(measure::dot(theta.data(), attention.value.data(), n), reduced.along, 1e-14);
    EXPECT_NEAR(std::sqrt(measure::dot(attention.value.data(), attention.value.data(), n)), reduced.length, 1e-14);
    // s gamma' = 2 <P A_1, theta_2>
    const double across = measure::dot(attention.value.data(), theta.data() + n, n) - reduced.along * gamma;
    EXPECT_NEAR(2 * across, reduced.rate, 1e-14);
}

TEST(SolveRow, PostLnAtBetaZeroHasAClosedForm) {
    // beta = 0: gamma' = 2 (1-gamma)(1+(n-1)gamma)/n, so (1+(n-1)gamma)/(1-gamma) = e^{2t}.
    for (const double t : {0.5, 2.0, 5.0}) {
        const double ratio = std::exp(2 * t);
        const double gamma = (ratio - 1) / (ratio + 8 - 1);
        EXPECT_NEAR(solve_row(row_of("post-ln"), 8, 0, 1, {t}).front().gamma, gamma, 1e-10) << t;
    }
}

TEST(LogK, GivesTheConstantsOfBothTerminalLaws) {
    // By scipy.integrate.quad on the integral: at n = 256, beta = 5 Post-LN's constant 2 n K is 4269.602,
    // Pre-LN's 16.67813.
    EXPECT_NEAR(2 * 256 * std::exp(log_K(256, 5)), 4269.602, 1e-3);
    EXPECT_NEAR(2 * std::exp(log_K(256, 5)), 16.67813, 1e-5);
}

TEST(LogK, VanishesAtBetaZeroAndHasTheRightSlope) {
    EXPECT_DOUBLE_EQ(log_K(16, 0), 0);
    // To first order in beta the integrand is beta/(1+(n-1)g): log K = beta log(n)/(n-1).
    EXPECT_NEAR(log_K(16, 1e-6), 1e-6 * std::log(16.0) / 15, 1e-11);
}

TEST(RandomRows, HaveTheLengthAskedForAndNoPreferredDirection) {
    const std::size_t n = 4000;
    const std::vector<double> rows = random_rows(n, 3, 1.5, 5);
    double mean = 0;
    for (const double length : measure::lengths({rows.data(), n, 3})) {
        EXPECT_NEAR(length, 1.5, 1e-14);
    }
    for (std::size_t i = 0; i < rows.size(); i += 3) {
        mean += rows[i] / static_cast<double>(n);
    }
    EXPECT_NEAR(mean, 0, 4 * 1.5 / std::sqrt(3.0 * static_cast<double>(n)));  // four standard deviations
}

TEST(OneMinusCosines, IsTheMeanOverPairsOfEachSystem) {
    // First system: e1, e2, (e1+e2)/sqrt 2; second: three equal tokens.
    const double h = std::sqrt(0.5);
    const std::vector<double> theta = {1, 0, 0, 1, h, h, 0, 1, 0, 1, 0, 1};
    const std::vector<double> result = one_minus_cosines(theta, 2, 2);
    EXPECT_NEAR(result[0], 1 - 2 * h / 3, 1e-15);
    EXPECT_NEAR(result[1], 0, 1e-15);
}

}  // namespace
}  // namespace flyball::claims
