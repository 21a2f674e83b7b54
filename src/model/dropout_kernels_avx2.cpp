// Dropout's kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
//
// The rounds are written with intrinsics: compilers do not find the product of every second word by themselves.
#include "model/dropout_kernels.hpp"

#if defined(__AVX2__)

#include <immintrin.h>

namespace flyball::model {

namespace {

#include "model/dropout_kernels_body.inl"

constexpr std::size_t lanes = 8;

struct Product {
    __m256i high, low;
};

// Of eight words with one number, the upper and the lower words.
Product product(__m256i words, __m256i number) {
    const __m256i even = _mm256_mul_epu32(words, number);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(words, 32), number);
    return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
            _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}

__m256i everywhere(std::uint64_t word) {
    return _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(word)));
}

// Word by word: lane i is block i of eight.
struct Counters {
    __m256i c0, c1, c2, c3;
};

Counters counters(std::uint64_t stream, std::uint64_t first) {
    alignas(32) std::uint32_t low[lanes];
    alignas(32) std::uint32_t high[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
        low[i] = static_cast<std::uint32_t>(first + i);
        high[i] = static_cast<std::uint32_t>((first + i) >> 32);
    }
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(low)),
            _mm256_load_si256(reinterpret_cast<const __m256i*>(high)), everywhere(stream), everywhere(stream >> 32)};
}

void round_of(Counters& c, __m256i k0, __m256i k1) {
    const Product p0 = product(c.c0, everywhere(philox_m0));
    const Product p1 = product(c.c2, everywhere(philox_m1));
    c = {_mm256_xor_si256(_mm256_xor_si256(p1.high, c.c1), k0), p1.low,
         _mm256_xor_si256(_mm256_xor_si256(p0.high, c.c3), k1), p0.low};
}

// Block by block.
void store(const Counters& c, std::uint32_t* bits) {
    const __m256i a = _mm256_unpacklo_epi32(c.c0, c.c1);
    const __m256i b = _mm256_unpackhi_epi32(c.c0, c.c1);
    const __m256i d = _mm256_unpacklo_epi32(c.c2, c.c3);
    const __m256i e = _mm256_unpackhi_epi32(c.c2, c.c3);
    const __m256i of_04 = _mm256_unpacklo_epi64(a, d);
    const __m256i of_15 = _mm256_unpackhi_epi64(a, d);
    const __m256i of_26 = _mm256_unpacklo_epi64(b, e);
    const __m256i of_37 = _mm256_unpackhi_epi64(b, e);
    auto* const out = reinterpret_cast<__m256i*>(bits);
    _mm256_storeu_si256(out, _mm256_permute2x128_si256(of_04, of_15, 0x20));
    _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(of_26, of_37, 0x20));
    _mm256_storeu_si256(out + 2, _mm256_permute2x128_si256(of_04, of_15, 0x31));
    _mm256_storeu_si256(out + 3, _mm256_permute2x128_si256(of_26, of_37, 0x31));
}

// As random_bits of the body. A round waits for the one before it; two groups of eight blocks fill the time.
void random_bits_of_eights(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t blocks,
                           std::uint32_t* bits) {
    static_assert(dropout_blocks == 2 * lanes);
    for (std::size_t begin = 0; begin < blocks; begin += dropout_blocks) {
        Counters one = counters(stream, first + begin);
        Counters two = counters(stream, first + begin + lanes);
        auto k0 = static_cast<std::uint32_t>(seed);
        auto k1 = static_cast<std::uint32_t>(seed >> 32);
        for (int round = 0; round < 10; ++round) {
            round_of(one, everywhere(k0), everywhere(k1));
            round_of(two, everywhere(k0), everywhere(k1));
            k0 += philox_w0;
            k1 += philox_w1;
        }
        store(one, bits + 4 * begin);
        store(two, bits + 4 * (begin + lanes));
    }
}

// As keep of the body, which compilers make a branch for each number of.
void keep_float(std::size_t count, const std::uint32_t* bits, std::uint32_t dropped, float factor, const float* in,
                float* out) {
    const __m256i least = everywhere(dropped);
    const __m256 factors = _mm256_set1_ps(factor);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + i));
        const __m256i kept = _mm256_cmpeq_epi32(_mm256_max_epu32(own, least), own);  // own >= least, without signs
        const __m256 value = _mm256_mul_ps(_mm256_loadu_ps(in + i), factors);
        _mm256_storeu_ps(out + i, _mm256_and_ps(value, _mm256_castsi256_ps(kept)));
    }
    keep<float>(count - i, bits + i, dropped, factor, in + i, out + i);
}

}  // namespace

const DropoutKernels dropout_kernels_avx2 = {random_bits_of_eights, keep_float, keep<double>};

}  // namespace flyball::model

#else

namespace flyball::model {

const DropoutKernels dropout_kernels_avx2 = dropout_kernels_plain;

}  // namespace flyball::model

#endif
