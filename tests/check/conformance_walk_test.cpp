// The equation on saved rows: values by hand, and error estimates beside what rounding really does.
#include "check/conformance_walk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/half.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/program.hpp"

namespace flyball::check::against_test {
namespace {

constexpr double bf16 = 0x1p-8;

SavedRows saved(std::vector<double> values, double roundoff) {
    return {std::move(values), roundoff, roundoff};
}

struct WalkedBlock {
    scheme::Environment env = scheme::Environment::block(2, 4, 0.5, 1, 4);
    scheme::Program program;
    scheme::Code code;

    explicit WalkedBlock(const char* text)
        : program(scheme::Program::parse(text)),
          code(lower_block(program, scheme::SubLayers::attention_and_ffn, program.decide(env))) {}

    BlockResult run(const Estimate& x, const Estimate* attention, const Estimate* ffn, double roundoff,
                    const scheme::RowMap<double>& map, std::size_t dim) const {
        const BlockNumbers numbers{env, initial_learned(program, code, env),
                                   std::vector<scheme::RowMap<double>>(code.norm_count, map), roundoff};
        BlockGiven given;
        given.streams = {&x};
        given.embedding = &x;
        given.attention = attention;
        given.ffn = ffn;
        return walk_block(code, numbers, given, x.value.size() / dim, dim);
    }
};

TEST(ConformanceWalk, CallsReturnWhatWasSavedAndKeepWhatTheyGot) {
    const WalkedBlock block("x + dt*f(2*x)");  // dt = 0.5
    const Estimate x = estimate_of(saved({1, -2, 4, 0}, 0), true);
    const Estimate attention = estimate_of(saved({2, 2, 2, 2}, 0), true);
    const Estimate ffn = estimate_of(saved({-1, 0, 1, 2}, 0), true);
    const BlockResult result = block.run(x, &attention, &ffn, bf16, {}, 4);
    EXPECT_EQ(result.attention_in.value, (std::vector<double>{2, -4, 8, 0}));
    EXPECT_EQ(result.ffn_in.value, (std::vector<double>{4, -2, 10, 2}));  // 2*(x + 0.5*2)
    EXPECT_EQ(result.streams[0].value, (std::vector<double>{1.5, -1, 5.5, 2}));
    const BlockResult nothing = block.run(x, nullptr, nullptr, 0, {}, 4);
    EXPECT_EQ(nothing.streams[0].value, x.value);
    EXPECT_TRUE(nothing.streams[0].error.empty());
}

TEST(ConformanceWalk, ErrorsOfASumAreThoseOfItsPartsAndItsRounding) {
    const WalkedBlock block("m = x + 3*attn(x); x = m + ffn(m)");
    const Estimate x = estimate_of(saved({8, 0, 0, 0}, 0x1p-4), true);           // e = 1/2
    const Estimate attention = estimate_of(saved({-2, 0, 0, 0}, 0x1p-3), true);  // e = 1/4
    const Estimate zero = estimate_of(saved({0, 0, 0, 0}, 0), true);
    const BlockResult result = block.run(x, &attention, &zero, 0x1p-5, {}, 4);
    EXPECT_EQ(result.ffn_in.value[0], 2);
    // Passed on: (1/2)^2 + (3/4)^2; rounding: u^2 (2 (8^2 + 6^2) + 2^2).
    EXPECT_DOUBLE_EQ(result.ffn_in.error[0], std::sqrt(0.25 + 0.5625 + 204.0 / 1024));
    EXPECT_EQ(result.ffn_in.error[1], 0);
}

TEST(ConformanceWalk, PartsOfACoefficientThatCancelStillRound) {
    // x + 1*(a - x) is a, but whoever computes it rounds x: with u = 1/32 that is 2 u^2 ((1 + 1)*8)^2 and what a has.
    const WalkedBlock block("x + (attn(x) - x)");
    const Estimate x = estimate_of(saved({8, 0, 0, 0}, 0), true);
    const Estimate attention = estimate_of(saved({1, 0, 0, 0}, 0), true);
    const BlockResult result = block.run(x, &attention, nullptr, 0x1p-5, {}, 4);
    EXPECT_EQ(result.streams[0].value[0], 1);
    EXPECT_DOUBLE_EQ(result.streams[0].error[0], std::sqrt((2 * 256.0 + 2 + 1) / 1024));
}

TEST(ConformanceWalk, ACoefficientThatIsAQuotientRoundsAsMuchAsItIs) {
    const WalkedBlock block("x + attn(x)/L");  // L = 4
    const Estimate x = estimate_of(saved({8, 0, 0, 0}, 0), true);
    const Estimate attention = estimate_of(saved({16, 0, 0, 0}, 0), true);
    const BlockResult result = block.run(x, &attention, nullptr, 0x1p-5, {}, 4);
    EXPECT_EQ(result.streams[0].value[0], 12);
    EXPECT_DOUBLE_EQ(result.streams[0].error[0], std::sqrt((2 * (64.0 + 16) + 144) / 1024));
}

// The slope of g*curve(0.5 x + 0.25) at x = 1.5, where the curve is at 1: 0.5*g*(1 - tanh(1)^2), or 0.5*g*2/sqrt(pi)/e.
TEST(ConformanceWalk, ErrorsOfACurveAreThoseOfItsSlope) {
    const WalkedBlock block("x + attn(norm(x))");
    const Estimate x = estimate_of(saved({1.5, 1.5, 0, 0}, 0x1p-4), true);  // e = 1.5/16
    const Estimate zero = estimate_of(saved({0, 0, 0, 0}, 0), true);
    const std::vector<double> gain = {1, -3, 1, 1};
    scheme::RowMap<double> map;
    map.alpha = 0.5;
    map.shift = 0.25;
    map.gain = gain.data();
    for (const auto& [function, slope] :
         {std::pair(scheme::RowFunction::tanh, 0.5 * (1 - std::pow(std::tanh(1.0), 2))),
          std::pair(scheme::RowFunction::erf, 0.5 * 2 / std::sqrt(std::acos(-1.0)) * std::exp(-1.0))}) {
        map.function = function;
        constexpr double no_arithmetic = 1e-12;  // only the rounding of what was saved
        const Estimate normed = block.run(x, &zero, &zero, no_arithmetic, map, 4).attention_in;
        ASSERT_EQ(normed.error.size(), 4U);
        EXPECT_NEAR(normed.error[0], slope * 1.5 / 16, 1e-11);
        EXPECT_NEAR(normed.error[1], 3 * slope * 1.5 / 16, 1e-11);
        EXPECT_NEAR(normed.error[2], 0, 1e-11);
    }
}

// Rows rounded to BF16 and normed, beside the same rows before rounding: the difference is what the estimate says, per
// channel and on the whole. 400 rows of 8 channels, one of which is fifty times as large as the others.
TEST(ConformanceWalk, ErrorsOfNormsAreWhatRoundingDoes) {
    constexpr std::size_t dim = 8;
    constexpr std::size_t rows = 400;
    std::mt19937_64 generator(7);
    std::normal_distribution<double> normal;
    std::vector<double> exact(rows * dim);
    std::vector<double> rounded(rows * dim);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        exact[i] = (i % dim == 3 ? 50 : 1) * normal(generator) + (i % dim == 5 ? 4 : 0);
        rounded[i] = static_cast<double>(bf16_to_float(float_to_bf16(static_cast<float>(exact[i]))));
    }
    const std::vector<double> gain = {1, 2, 0.5, 1, -3, 1, 1, 0.1};
    const std::vector<double> bias = {0, 1, 0, -1, 0, 0, 2, 0};
    for (const scheme::Normaliser& normaliser : scheme::normalisers()) {
        scheme::RowMap<double> map;
        map.function = normaliser.function;
        map.eps = normaliser.eps;
        map.alpha = normaliser.alpha;
        map.gain = gain.data();
        map.bias = bias.data();
        const WalkedBlock block("x + attn(norm(x))");
        const Estimate zero = estimate_of(saved(std::vector<double>(rows * dim), 0), true);
        constexpr double no_arithmetic = 1e-12;  // only the rounding of what was saved
        const Estimate of_rounded =
            block.run(estimate_of(saved(rounded, bf16), true), &zero, &zero, no_arithmetic, map, dim).attention_in;
        const Estimate of_exact =
            block.run(estimate_of(saved(exact, 0), true), &zero, &zero, no_arithmetic, map, dim).attention_in;
        for (std::size_t channel = 0; channel < dim; ++channel) {
            double real = 0;
            double said = 0;
            for (std::size_t i = channel; i < exact.size(); i += dim) {
                real += std::pow(of_rounded.value[i] - of_exact.value[i], 2);
                said += std::pow(of_rounded.error[i], 2);
            }
            // Rounding to nearest is off by u times the number at most, by u/3 to u/2 of it on the whole.
            EXPECT_GT(std::sqrt(real / said), 0.2) << normaliser.name << " channel " << channel;
            EXPECT_LT(std::sqrt(real / said), 0.7) << normaliser.name << " channel " << channel;
        }
    }
}

}  // namespace
}  // namespace flyball::check::against_test
