// Tokens in the layouts of the micro-kernel; see PackedTokens in tile_kernels.hpp.
#pragma once

#include <cstddef>

#include "attention/tile_kernels.hpp"

namespace flyball::attention {

// strips [np/NR, d, NR] of tokens [begin, end) of z [n, d], zero beyond n. begin is a multiple of NR, end one or np.
template <class Real>
void pack_strips(const Real* z, std::size_t tokens, std::size_t dim, std::size_t begin, std::size_t end, Real* strips) {
    constexpr std::size_t NR = micro_columns<Real>;
    for (std::size_t i = begin; i < end; ++i) {
        Real* to = strips + i / NR * NR * dim + i % NR;
        for (std::size_t c = 0; c < dim; ++c) {
            to[c * NR] = i < tokens ? z[i * dim + c] : Real{0};
        }
    }
}

// panels [dp/NR, np, NR] of tokens [begin, end), zero beyond n and beyond d.
template <class Real>
void pack_panels(const Real* z, std::size_t tokens, std::size_t dim, std::size_t padded, std::size_t begin,
                 std::size_t end, Real* panels) {
    constexpr std::size_t NR = micro_columns<Real>;
    for (std::size_t first = 0; first < dim; first += NR) {
        Real* to = panels + first * padded;
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t c = 0; c < NR; ++c) {
                to[i * NR + c] = i < tokens && first + c < dim ? z[i * dim + first + c] : Real{0};
            }
        }
    }
}

}  // namespace flyball::attention
