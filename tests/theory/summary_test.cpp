// The sentences that end `theory`, from predictions made by hand.
#include "theory/summary.hpp"

#include <gtest/gtest.h>

namespace flyball::theory::test::summary_test {
namespace {

Prediction made(double velocity, std::optional<double> arrival, LawKind kind, double rate_or_exponent, double p = 1) {
    Prediction one{scheme::find_scheme("pre-ln"), {}, velocity, {}, {0.1, arrival}, {}};
    one.law.kind = kind;
    one.law.p = p;
    one.law.rate = rate_or_exponent;
    one.law.exponent = rate_or_exponent;
    return one;
}

TEST(SummaryOfPredictions, SaysWhoStartsWhoArrivesAndWhoLasts) {
    EXPECT_EQ(
        summary({made(0.5, 4, LawKind::exponential, 2), made(0.5, 9, LawKind::stretched, 4, 0.5),
                 made(0.1, 25.25, LawKind::power, -3)},
                {"a", "b", "c"}, {0.5, 0.99}),
        "At the start the cosine of a and b rises fastest (rate 0.5) and that of c slowest (0.1). a reaches a cosine "
        "of 0.99 first, at t = 4, and c last, at t = 25.2. In the end c lasts longest: the last of the way goes by "
        "a power of t.");
    EXPECT_EQ(summary({made(1, 4, LawKind::exponential, 2), made(1, {}, LawKind::frozen, 0)}, {"a", "b"}, {0.5, 0.99}),
              "At the start the cosines of all rise at the rate 1. a reaches a cosine of 0.99 first, at t = 4; b never "
              "does. In the end b lasts longest: its tokens never meet.");
}

TEST(SummaryOfPredictions, AmongEqualLawsTheSlowerOneLasts) {
    EXPECT_EQ(
        summary({made(1, 4, LawKind::exponential, 2), made(1, 4.01, LawKind::exponential, 1)}, {"a", "b"}, {0.5, 0.99}),
        "At the start the cosines of all rise at the rate 1. a and b reach a cosine of 0.99 first, at t = 4. In the "
        "end b lasts longest, though for all of them the last of the way goes exponentially.");
    EXPECT_EQ(
        summary({made(1, 4, LawKind::power, -2), made(1, 4.01, LawKind::power, -3)}, {"a", "b"}, {0.5, 0.99}),
        "At the start the cosines of all rise at the rate 1. a and b reach a cosine of 0.99 first, at t = 4. In the "
        "end a lasts longest, though for all of them the last of the way goes by a power of t.");
    EXPECT_EQ(
        summary({made(1, 4, LawKind::power, -3), made(1, 4, LawKind::power, -3)}, {"a", "b"}, {0.5, 0.99}),
        "At the start the cosines of all rise at the rate 1. a and b reach a cosine of 0.99 first, at t = 4. In the "
        "end all are alike: the last of the way goes by a power of t.");
}

// For large t the smaller p decides whatever the rates are; of equal rates the larger power of t lasts longer.
TEST(SummaryOfPredictions, AmongStretchedLawsTheSmallerPowerOfTimeLasts) {
    EXPECT_EQ(
        summary({made(1, 4, LawKind::stretched, 1, 0.75), made(1, 4, LawKind::stretched, 3, 0.5)}, {"a", "b"},
                {0.5, 0.99}),
        "At the start the cosines of all rise at the rate 1. a and b reach a cosine of 0.99 first, at t = 4. In the "
        "end b lasts longest, though for all of them the last of the way goes by a stretched exponential of t.");
    Prediction longer = made(1, 4, LawKind::exponential, 2);
    longer.law.power = 2;
    EXPECT_EQ(
        summary({longer, made(1, 4, LawKind::exponential, 2)}, {"a", "b"}, {0.5, 0.99}),
        "At the start the cosines of all rise at the rate 1. a and b reach a cosine of 0.99 first, at t = 4. In the "
        "end a lasts longest, though for all of them the last of the way goes exponentially.");
}

TEST(SummaryOfPredictions, OfOneComparesNothing) {
    EXPECT_EQ(
        summary({made(0.5, 4, LawKind::stretched, 4, 0.5)}, {"a"}, {0.5, 0.99}),
        "At the start the cosine of a rises at the rate 0.5. It reaches a cosine of 0.99 at t = 4. In the end the "
        "last of the way goes by a stretched exponential of t.");
    EXPECT_EQ(
        summary({made(0, {}, LawKind::frozen, 0)}, {"a"}, {0.5, 0.99}),
        "At the start the cosine of a rises at the rate 0. It never reaches a cosine of 0.99. In the end its tokens "
        "never meet.");
    EXPECT_EQ(summary({made(0.5, {}, LawKind::extinct, 0)}, {"a"}, {0.5, 0.99}),
              "At the start the cosine of a rises at the rate 0.5. It never reaches a cosine of 0.99.");
}

TEST(SummaryOfPredictions, DoesNotSayNeverOfWhatNumbersDoNotReach) {
    Prediction lost = made(0, {}, LawKind::frozen, 0);
    lost.law.reached = false;
    EXPECT_EQ(summary({lost}, {"a"}, {0.5, 0.99}),
              "At the start the cosine of a rises at the rate 0. It does not reach a cosine of 0.99 as far as numbers "
              "go.");
    const Prediction frozen = made(1, {}, LawKind::frozen, 0);
    EXPECT_EQ(summary({made(1, 4, LawKind::power, -3), lost, frozen}, {"a", "b", "c"}, {0.5, 0.99}),
              "At the start the cosine of a and c rises fastest (rate 1) and that of b slowest (0). a reaches a cosine "
              "of 0.99 first, at t = 4; c never does; b does not, as far as numbers go. In the end c lasts longest: "
              "its tokens never meet.");
    EXPECT_NE(
        summary({lost, frozen}, {"a", "b"}, {0.5, 0.99}).find("None reaches a cosine of 0.99 as far as numbers go."),
        std::string::npos);
    EXPECT_NE(summary({frozen, frozen}, {"a", "b"}, {0.5, 0.99}).find("None ever reaches a cosine of 0.99."),
              std::string::npos);
}

TEST(SummaryOfPredictions, SaysThatACosineFalls) {
    const auto start = [](const std::vector<double>& speeds) {
        std::vector<Prediction> runs;
        for (const double speed : speeds) {
            runs.push_back(made(speed, 4, LawKind::other, 0));
        }
        return summary(runs, {"a", "b", "c"}, {});
    };
    EXPECT_EQ(start({-0.5}), "At the start the cosine of a falls at the rate 0.5.");
    EXPECT_EQ(start({-0.5, -0.5}), "At the start the cosines of all fall at the rate 0.5.");
    EXPECT_EQ(start({-0.5, 0.25, -0.1}),
              "At the start the cosine of a falls fastest (rate 0.5) and that of b rises fastest (0.25).");
    EXPECT_EQ(start({-0.5, -0.1}),
              "At the start the cosine of a falls fastest (rate 0.5) and that of b falls slowest (0.1).");
}

}  // namespace
}  // namespace flyball::theory::test::summary_test
