// Included by dropout_kernels_plain.cpp and dropout_kernels_avx2.cpp, each inside a namespace of its own: everything
// has internal linkage, so that no function compiled for AVX2 can be picked by the linker for the baseline.
//
// Salmon, Moraes, Dror, Shaw (SC11): the counter is four words c, the key two words k, and a round is
//     c <- (high(M1 c2) ^ c1 ^ k0, low(M1 c2), high(M0 c0) ^ c3 ^ k1, low(M0 c0)),      k <- k + (W0, W1)

constexpr std::uint32_t philox_m0 = 0xD2511F53;
constexpr std::uint32_t philox_m1 = 0xCD9E8D57;
constexpr std::uint32_t philox_w0 = 0x9E3779B9;
constexpr std::uint32_t philox_w1 = 0xBB67AE85;

// Only the plain table needs it; AVX2 has one of its own.
[[maybe_unused]] void random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t blocks,
                                  std::uint32_t* bits) {
    constexpr std::size_t lanes = dropout_blocks;
    for (std::size_t begin = 0; begin < blocks; begin += lanes) {
        std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::uint64_t index = first + begin + i;
            c0[i] = static_cast<std::uint32_t>(index);
            c1[i] = static_cast<std::uint32_t>(index >> 32);
            c2[i] = static_cast<std::uint32_t>(stream);
            c3[i] = static_cast<std::uint32_t>(stream >> 32);
        }
        auto k0 = static_cast<std::uint32_t>(seed);
        auto k1 = static_cast<std::uint32_t>(seed >> 32);
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = 0; i < lanes; ++i) {
                const std::uint64_t p0 = std::uint64_t{philox_m0} * c0[i];
                const std::uint64_t p1 = std::uint64_t{philox_m1} * c2[i];
                c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
                c1[i] = static_cast<std::uint32_t>(p1);
                c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
                c3[i] = static_cast<std::uint32_t>(p0);
            }
            k0 += philox_w0;
            k1 += philox_w1;
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            std::uint32_t* const out = bits + 4 * (begin + i);
            out[0] = c0[i];
            out[1] = c1[i];
            out[2] = c2[i];
            out[3] = c3[i];
        }
    }
}

template <class Real>
void keep(std::size_t count, const std::uint32_t* bits, std::uint32_t dropped, Real factor, const Real* in, Real* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const Real value = in[i] * factor;
        out[i] = bits[i] < dropped ? Real{0} : value;
    }
}
