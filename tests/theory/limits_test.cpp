// Limits of sequences that are known: the parts that the terminal law is put together from.
#include "theory/limits.hpp"

#include <gtest/gtest.h>

namespace flyball::theory::test {
namespace {

template <class Function>
std::vector<Term> on_times(int first, int last, const Function& function) {
    std::vector<Term> terms;
    for (int k = first; k <= last; ++k) {
        const double t = std::pow(10.0, k / 4.0);
        terms.push_back({t, function(t), 1e-15, true});
    }
    return terms;
}

TEST(LimitOf, SumsACorrectionThatIsAnyPowerOfTime) {
    for (const double delta : {0.2, 0.37, 1.3}) {
        const Estimate limit = limit_of(on_times(0, 24, [&](double t) { return 3 + 2 * std::pow(t, -delta); }));
        EXPECT_NEAR(limit.value, 3, 1e-9) << delta;
        EXPECT_LT(limit.error, 1e-9) << delta;
    }
}

TEST(LimitOf, HasALargeErrorWhereTheSequenceGoesOn) {
    EXPECT_GT(limit_of(on_times(0, 24, [](double t) { return std::log(1 + t); })).error, 1);
    // A turning point looks like a limit.
    EXPECT_EQ(limit_of(on_times(-8, 24, [](double t) { return std::pow(std::log(t), 4); })).error, HUGE_VAL);
}

// Each step of a sequence between the times of the grid may be as small as it likes: what counts is how far the last
// eight of them went, here 8e-6.
TEST(LimitOf, OfMembersBetweenTheGridComparesThoseEightApart) {
    std::vector<Term> terms;
    for (int i = 0; i < 100; ++i) {
        terms.push_back({1.0 + i, 1e-6 * i, 1e-15, false});
    }
    const Estimate limit = limit_of(terms);
    EXPECT_NEAR(limit.error, 8e-6, 1e-9);
    terms.resize(8);
    EXPECT_EQ(limit_of(terms).error, HUGE_VAL) << "none is eight after another";
}

TEST(LimitOfSeries, TakesOutEveryTermOfTheSeries) {
    const auto terms = on_times(4, 14, [](double t) { return 3 + 2 / t - 40 / (t * t) + 300 / (t * t * t); });
    EXPECT_NEAR(limit_of_series(terms, 1).value, 3, 1e-9);
    EXPECT_GT(std::abs(limit_of(terms).value - 3), 1e-7);
}

TEST(WithoutPower, LeavesTheConstant) {
    for (const Term& term : without_power(on_times(0, 12, [](double t) { return 5 * std::pow(t, 0.7) - 2; }), 0.7)) {
        EXPECT_NEAR(term.value, -2, 1e-10);
    }
}

TEST(LocalPowers, DoNotSeeTheConstant) {
    for (const Term& term : local_powers(on_times(0, 12, [](double t) { return 5 * std::pow(t, 0.7) - 2; }))) {
        EXPECT_NEAR(term.value, 0.7, 1e-10);
    }
}

TEST(Settles, TellsPowersFromLogarithms) {
    EXPECT_TRUE(settles(on_times(4, 40, [](double t) { return 1 + std::pow(t, -0.5); }), 1e-9));
    EXPECT_FALSE(settles(on_times(4, 40, [](double t) { return 1 + 1 / std::log(t); }), 1e-9));
    EXPECT_FALSE(settles(on_times(260, 400, [](double t) { return 1 - std::pow(std::log(t), -2); }), 1e-9));
}

}  // namespace
}  // namespace flyball::theory::test
