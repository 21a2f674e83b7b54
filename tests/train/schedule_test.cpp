#include "train/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace flyball::train {
namespace {

// Worked out by hand for 4 steps of warm-up, 20 in all, a tenth at the end.
TEST(Schedule, RisesInEqualStepsThenFollowsACosine) {
    const Schedule schedule{2.0, 0.1, 4, 20};
    EXPECT_DOUBLE_EQ(schedule.rate(0), 2.0 / 5);
    EXPECT_DOUBLE_EQ(schedule.rate(3), 2.0 * 4 / 5);
    EXPECT_DOUBLE_EQ(schedule.rate(4), 2.0);
    EXPECT_DOUBLE_EQ(schedule.rate(12), 2.0 * 0.55);
    EXPECT_DOUBLE_EQ(schedule.rate(19), 2.0 * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * 15 / 16))));
}

TEST(Schedule, WithoutWarmUpStartsAtThePeak) {
    EXPECT_DOUBLE_EQ((Schedule{3.0, 0, 0, 10}.rate(0)), 3.0);
}

TEST(Optimisation, TakesWhatTheSettingsLeaveOpenFromTheScheme) {
    Settings settings;
    settings.steps = 200;
    const Optimisation usual = optimisation_of(settings, {}, 1000);
    EXPECT_EQ(usual.schedule.warm_up, 10U);
    EXPECT_EQ(usual.weight_decay, 0.1);
    EXPECT_EQ(usual.clip, 1);
    const scheme::Training ngpt{.unit_vectors = scheme::UnitVectors::all,
                                .warm_up = scheme::Training::WarmUp::none,
                                .weight_decay = false,
                                .clip = false};
    const Optimisation prescribed = optimisation_of(settings, ngpt, 1000);
    EXPECT_EQ(prescribed.schedule.warm_up, 0U);
    EXPECT_EQ(prescribed.weight_decay, 0);
    EXPECT_EQ(prescribed.clip, 0);
    EXPECT_EQ(prescribed.unit_vectors, scheme::UnitVectors::all);
    settings.warm_up = 7;
    settings.weight_decay = 0.3;
    settings.clip = 2;
    const Optimisation said = optimisation_of(settings, ngpt, 1000);
    EXPECT_EQ(said.schedule.warm_up, 7U);
    EXPECT_EQ(said.weight_decay, 0.3);
    EXPECT_EQ(said.clip, 2);
}

TEST(Optimisation, ClipsLearnedParametersInLargeModelsOnly) {
    const scheme::Training gpas{.learned_clip = 0.01, .learned_clip_from = 1e9};
    EXPECT_EQ(optimisation_of({}, gpas, 1'000'000).learned_clip, 0);
    EXPECT_EQ(optimisation_of({}, gpas, 2'000'000'000).learned_clip, 0.01);
}

}  // namespace
}  // namespace flyball::train
