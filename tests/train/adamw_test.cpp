// AdamW's arithmetic beside its definition in double, for both instruction sets and awkward sizes, and beside torch.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "train/adamw_kernels.hpp"

namespace flyball::train::test {
namespace {

struct State {
    std::vector<double> weights, first, second;
};

// The definition, one number after the other.
void reference(State& state, const std::vector<float>& gradients, const AdamwStep& s) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const double g = s.gradient_scale * static_cast<double>(gradients[i]);
        state.first[i] = s.beta1 * state.first[i] + (1 - s.beta1) * g;
        state.second[i] = s.beta2 * state.second[i] + (1 - s.beta2) * g * g;
        state.weights[i] -= s.rate * s.decay * state.weights[i];
        state.weights[i] -= s.rate * (state.first[i] / s.bias1) / (std::sqrt(state.second[i] / s.bias2) + s.eps);
    }
}

std::vector<float> random(std::size_t count, double scale, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(scale * Random(seed).normal(i));
    }
    return values;
}

AdamwStep step_of(int number) {
    AdamwStep step;
    step.rate = 0.01;
    step.beta2 = 0.95;
    step.decay = 0.1;
    step.gradient_scale = 0.5;
    step.bias1 = 1 - std::pow(step.beta1, number);
    step.bias2 = 1 - std::pow(step.beta2, number);
    return step;
}

TEST(Adamw, FollowsTheDefinitionForManySteps) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{130}, std::size_t{100'003}}) {
        std::vector<float> weights = random(count, 1, 1);
        std::vector<float> first(count, 0);
        std::vector<float> second(count, 0);
        State exact{{weights.begin(), weights.end()}, std::vector<double>(count), std::vector<double>(count)};
        for (int number = 1; number <= 20; ++number) {
            const std::vector<float> gradients = random(count, 0.1, 1 + static_cast<std::uint64_t>(number));
            adamw_update(count, weights.data(), first.data(), second.data(), gradients.data(), step_of(number));
            reference(exact, gradients, step_of(number));
        }
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_NEAR(static_cast<double>(weights[i]), exact.weights[i], 3e-6) << i << " of " << count;
            ASSERT_NEAR(static_cast<double>(first[i]), exact.first[i], 1e-7) << i;
            ASSERT_NEAR(static_cast<double>(second[i]), exact.second[i], 1e-8) << i;
        }
    }
}

// torch.optim.AdamW(lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1) of torch 2.13 in double, three steps with
// half of these gradients.
TEST(Adamw, IsTheOneOfTorch) {
    std::array<float, 4> weights = {0.5F, -1.25F, 0.0F, 3.0F};
    std::array<float, 4> first = {};
    std::array<float, 4> second = {};
    const std::array<std::array<float, 4>, 3> gradients = {
        {{0.1F, -0.2F, 0.0F, 4.0F}, {0.3F, 0.2F, 1e-3F, -4.0F}, {-0.5F, 0.7F, 2e-3F, 1.0F}}};
    for (int number = 1; number <= 3; ++number) {
        adamw_update(4, weights.data(), first.data(), second.data(),
                     gradients[static_cast<std::size_t>(number) - 1].data(), step_of(number));
    }
    const std::array<double, 4> torch_weights = {0.48102570492172286, -1.2427573839112516, -0.015465342530528472,
                                                 2.9808342016269567};
    const std::array<double, 4> torch_first = {-0.00745, 0.0359, 0.000145, 0.032};
    const std::array<double, 4> torch_second = {0.0043065625, 0.00705125, 6.1875e-08, 0.383};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(static_cast<double>(weights[i]), torch_weights[i], 5e-7) << i;
        EXPECT_NEAR(static_cast<double>(first[i]), torch_first[i], 2e-8) << i;
        EXPECT_NEAR(static_cast<double>(second[i]), torch_second[i], 3e-7 * torch_second[i]) << i;
    }
}

TEST(Adamw, BothInstructionSetsGiveTheSameBits) {
    if (detect_isa() == Isa::plain) {
        GTEST_SKIP() << "this CPU has one";
    }
    const AdamwKernels::Factors factors{0.5F, 0.9F, 0.1F, 0.95F, 0.05F, 0.999F, 0.02F, 3.0F, 1e-8F};
    for (const std::size_t count : {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{1003}}) {
        const std::vector<float> gradients = random(count, 0.1, 5);
        std::array<std::vector<std::vector<float>>, 2> results;
        std::array<double, 2> squares{};
        for (std::size_t which = 0; which < 2; ++which) {
            const AdamwKernels& kernels = adamw_kernels(which == 0 ? Isa::plain : Isa::avx2);
            std::vector<std::vector<float>>& r = results[which];
            r = {random(count, 1, 6), random(count, 0.1, 7), std::vector<float>(count, 0.25F)};
            kernels.update(count, r[0].data(), r[1].data(), r[2].data(), gradients.data(), factors);
            squares[which] = kernels.squares(count, gradients.data());
        }
        EXPECT_EQ(results[0], results[1]) << count;
        EXPECT_EQ(squares[0], squares[1]) << count;
    }
}

TEST(Adamw, NotANumberStaysOne) {
    std::array<float, 3> weights = {1, 2, 3};
    std::array<float, 3> first = {};
    std::array<float, 3> second = {};
    const std::array<float, 3> gradients = {0.1F, std::numeric_limits<float>::quiet_NaN(), 0.1F};
    adamw_update(3, weights.data(), first.data(), second.data(), gradients.data(), step_of(1));
    EXPECT_TRUE(std::isfinite(weights[0]));
    EXPECT_TRUE(std::isnan(weights[1]));
    EXPECT_TRUE(std::isfinite(weights[2]));
    EXPECT_TRUE(std::isnan(squared_norm(3, gradients.data())));
}

TEST(SquaredNorm, IsSummedInDouble) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{300'001}}) {
        const std::vector<float> values = random(count, 3, 9);
        long double sum = 0;
        for (const float x : values) {
            sum += static_cast<long double>(x) * static_cast<long double>(x);
        }
        EXPECT_NEAR(squared_norm(count, values.data()), static_cast<double>(sum), 1e-14 * static_cast<double>(sum));
    }
    // 2^24 + 1 is no float: a sum in float would lose the ones.
    std::vector<float> values(10'001, 1.0F);
    values[0] = 4096.0F;
    EXPECT_EQ(squared_norm(values.size(), values.data()), 16'777'216.0 + 10'000.0);
}

}  // namespace
}  // namespace flyball::train::test
