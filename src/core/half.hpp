// Sixteen-bit floating point (IEEE binary16 "F16" and bfloat16 "BF16") to and from float.
//
// Promises: to float is exact for every pattern, NaN payloads included; from float rounds to nearest, ties to even,
// overflows to infinity, keeps subnormals, and makes every NaN quiet. Integer arithmetic only where subnormals matter,
// so the results hold when some library has switched on flush-to-zero. No arithmetic type: storage only.
#pragma once

#include <bit>
#include <cstdint>

namespace flyball {

constexpr float f16_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t magnitude = half & 0x7fffU;
    const std::uint32_t mantissa = half & 0x3ffU;
    std::uint32_t bits = 0;
    if (magnitude >= 0x7c00U) {
        bits = 0x7f800000U | (mantissa << 13);  // infinity or NaN
    } else if (magnitude >= 0x400U) {
        bits = (magnitude << 13) + (112U << 23);  // the exponent bias goes from 15 to 127
    } else {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24F);
    }
    return std::bit_cast<float>(sign | bits);
}

constexpr std::uint16_t float_to_f16(float value) noexcept {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (all >> 16) & 0x8000U;
    const std::uint32_t bits = all & 0x7fffffffU;
    std::uint32_t half = 0;
    if (bits > 0x7f800000U) {
        half = 0x7e00U | ((bits >> 13) & 0x3ffU);
    } else if (bits >= 0x477ff000U) {
        half = 0x7c00U;  // from 65520 on, the nearest is infinity
    } else if (bits >= 0x38800000U) {
        const std::uint32_t rounded = bits + 0xfffU + ((bits >> 13) & 1U);
        half = (rounded - (112U << 23)) >> 13;
    } else if (bits >= 0x33000000U) {
        // Subnormal result, in units of 2^-24: the significand shifted right by 14 to 24 places.
        const std::uint32_t significand = (bits & 0x7fffffU) | 0x800000U;
        const std::uint32_t shift = 126U - (bits >> 23);
        const std::uint32_t rest = significand & ((1U << shift) - 1U);
        const std::uint32_t tie = 1U << (shift - 1U);
        half = significand >> shift;
        half += (rest > tie || (rest == tie && (half & 1U) != 0U)) ? 1U : 0U;
    }
    return static_cast<std::uint16_t>(sign | half);
}

constexpr float bf16_to_float(std::uint16_t half) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

constexpr std::uint16_t float_to_bf16(float value) noexcept {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<std::uint16_t>((bits >> 16) | 0x40U);  // rounding could turn this NaN into infinity
    }
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace flyball
