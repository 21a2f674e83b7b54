// Random numbers as a pure function of (seed, stream, index).
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11) through Random123: the key is the seed, the 128-bit counter is
// (index, stream). Nothing is stored, so numbers do not depend on who asks, in which order, or on which thread.
//
// uniform(i) and bits(i) read block i of the stream; normal(i) reads block i/2. A stream therefore serves one
// purpose: take another stream for another quantity. Not for cryptography.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace flyball {

class Random {
  public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept : seed_(seed), stream_(stream) {}

    std::uint64_t seed() const noexcept { return seed_; }
    std::uint64_t stream() const noexcept { return stream_; }

    // The raw 128 bits of one counter value.
    std::array<std::uint32_t, 4> block(std::uint64_t index) const noexcept;

    std::uint64_t bits(std::uint64_t index) const noexcept;

    // Odd multiples of 2^-53: never 0, never 1, symmetric about 1/2.
    double uniform(std::uint64_t index) const noexcept;

    // Standard normal by Box-Muller; one block gives the pair (2k, 2k+1). |normal| < 8.6.
    double normal(std::uint64_t index) const noexcept;

    // out[i] = normal(first + i), at half the cost. Looks at the stop signal now and then (parallel.hpp).
    void fill_normal(std::span<double> out, std::uint64_t first = 0) const;

  private:
    std::uint64_t seed_;
    std::uint64_t stream_;
};

}  // namespace flyball
