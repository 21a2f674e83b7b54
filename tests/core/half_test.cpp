#include "core/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace flyball {
namespace {

std::uint32_t bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

// The definition: sign, exponent and mantissa as powers of two.
double f16_value(std::uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const double mantissa = half & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0 + mantissa, exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_nan_pattern(std::uint16_t half) {
    return (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
}

TEST(Half, EveryF16HasItsValueAsFloat) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const float value = f16_to_float(half);
        if ((half & 0x7c00) == 0x7c00) {
            ASSERT_EQ(std::isnan(value), is_nan_pattern(half)) << i;
            ASSERT_EQ(std::isinf(value), !is_nan_pattern(half)) << i;
        } else {
            ASSERT_EQ(static_cast<double>(value), f16_value(half)) << i;
        }
        ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << i;
    }
}

TEST(Half, EveryF16SurvivesTheRoundTrip) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const std::uint16_t expected = is_nan_pattern(half) ? static_cast<std::uint16_t>(half | 0x200) : half;
        ASSERT_EQ(float_to_f16(f16_to_float(half)), expected) << i;
    }
}

TEST(Half, EveryBf16SurvivesTheRoundTrip) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        ASSERT_EQ(bits(bf16_to_float(half)), i << 16);
        const bool nan = (half & 0x7f80) == 0x7f80 && (half & 0x7f) != 0;
        ASSERT_EQ(float_to_bf16(bf16_to_float(half)), nan ? (half | 0x40) : half) << i;
    }
}

// Between neighbours the nearer wins, and the even one when both are equally near.
TEST(Half, FloatToF16RoundsToNearestEven) {
    for (std::uint32_t i = 0; i < 0x7bff; ++i) {
        const auto low = static_cast<std::uint16_t>(i);
        const auto high = static_cast<std::uint16_t>(i + 1);
        // Exact: the mean of two neighbouring halves has one bit more.
        const float middle = static_cast<float>((f16_value(low) + f16_value(high)) / 2);
        ASSERT_EQ(float_to_f16(middle), i % 2 == 0 ? low : high) << i;
        ASSERT_EQ(float_to_f16(std::nextafter(middle, 0.0F)), low) << i;
        ASSERT_EQ(float_to_f16(std::nextafter(middle, 1e9F)), high) << i;
        ASSERT_EQ(float_to_f16(-middle), 0x8000 | (i % 2 == 0 ? low : high)) << i;
    }
}

TEST(Half, FloatToF16AtTheEdges) {
    EXPECT_EQ(float_to_f16(65504.0F), 0x7bff);
    EXPECT_EQ(float_to_f16(std::nextafter(65520.0F, 0.0F)), 0x7bff);
    EXPECT_EQ(float_to_f16(65520.0F), 0x7c00);
    EXPECT_EQ(float_to_f16(std::numeric_limits<float>::max()), 0x7c00);
    EXPECT_EQ(float_to_f16(-std::numeric_limits<float>::infinity()), 0xfc00);
    EXPECT_EQ(float_to_f16(0x1p-25F), 0);  // the tie between 0 and the least subnormal
    EXPECT_EQ(float_to_f16(std::nextafter(0x1p-25F, 1.0F)), 1);
    EXPECT_EQ(float_to_f16(std::numeric_limits<float>::denorm_min()), 0);
    EXPECT_EQ(float_to_f16(-0.0F), 0x8000);
    EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(std::bit_cast<float>(0x7f800001U)))));
}

TEST(Half, FloatToBf16RoundsToNearestEven) {
    for (std::uint32_t i = 0; i < 0x7f7f; ++i) {
        const float middle = std::bit_cast<float>((i << 16) | 0x8000U);
        ASSERT_EQ(float_to_bf16(middle), i + i % 2) << i;
        ASSERT_EQ(float_to_bf16(std::bit_cast<float>((i << 16) | 0x7fffU)), i) << i;
        ASSERT_EQ(float_to_bf16(std::bit_cast<float>((i << 16) | 0x8001U)), i + 1) << i;
    }
    EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7fffffffU)))));
    EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0xff800001U)))));
}

TEST(Half, ConversionIsMonotone) {
    const Random random(5);
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits(2 * i)));
        const auto b = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits(2 * i + 1)));
        if (a <= b) {
            ASSERT_LE(f16_to_float(float_to_f16(a)), f16_to_float(float_to_f16(b)));
            ASSERT_LE(bf16_to_float(float_to_bf16(a)), bf16_to_float(float_to_bf16(b)));
        }
    }
}

}  // namespace
}  // namespace flyball
