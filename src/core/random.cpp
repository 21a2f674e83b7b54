#include "core/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/parallel.hpp"

namespace flyball {

namespace {

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return (std::uint64_t{high} << 32) | low;
}

// 52 bits and a half: 53 bits and a half would round up to 1 at the upper end.
double open_unit(std::uint64_t bits) {
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

std::pair<double, double> normal_pair(const std::array<std::uint32_t, 4>& block) {
    const double radius = std::sqrt(-2.0 * std::log(open_unit(join(block[0], block[1]))));
    const double angle = 2.0 * std::numbers::pi * open_unit(join(block[2], block[3]));
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

std::array<std::uint32_t, 4> Random::block(std::uint64_t index) const noexcept {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const r123::Philox4x32::ctr_type counter = {{low(index), high(index), low(stream_), high(stream_)}};
    const r123::Philox4x32::key_type key = {{low(seed_), high(seed_)}};
    const auto out = r123::Philox4x32()(counter, key);
    return {out[0], out[1], out[2], out[3]};
}

std::uint64_t Random::bits(std::uint64_t index) const noexcept {
    const auto out = block(index);
    return join(out[0], out[1]);
}

double Random::uniform(std::uint64_t index) const noexcept {
    return open_unit(bits(index));
}

double Random::normal(std::uint64_t index) const noexcept {
    const auto [even, odd] = normal_pair(block(index / 2));
    return index % 2 == 0 ? even : odd;
}

void Random::fill_normal(std::span<double> out, std::uint64_t first) const {
    constexpr std::size_t between_looks = 1U << 16U;  // a millisecond
    std::size_t i = 0;
    if (first % 2 == 1 && !out.empty()) {
        out[i++] = normal(first);
    }
    while (i + 1 < out.size()) {
        check_stop();
        for (const std::size_t end = std::min(out.size(), i + between_looks); i + 1 < end; i += 2) {
            const auto [even, odd] = normal_pair(block((first + i) / 2));
            out[i] = even;
            out[i + 1] = odd;
        }
    }
    if (i < out.size()) {
        out[i] = normal(first + i);
    }
}

}  // namespace flyball
