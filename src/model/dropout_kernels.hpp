// The random bits of dropout: Philox4x32-10 (core/random.hpp, which is the definition) for a stretch of blocks at once.
//
// One source (dropout_kernels_body.inl) compiled for the baseline and for AVX2, where eight blocks share each
// instruction. The same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"

namespace flyball::model {

struct DropoutKernels {
    // bits[4 b + j] = word j of Random(seed, stream).block(first + b), b < blocks; `blocks` is a multiple of
    // dropout_blocks.
    void (*bits)(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t blocks,
                 std::uint32_t* bits);
    // out_i = 0 where bits_i < dropped, otherwise in_i * factor; out may be in
    void (*keep_float)(std::size_t count, const std::uint32_t* bits, std::uint32_t dropped, float factor,
                       const float* in, float* out);
    void (*keep_double)(std::size_t count, const std::uint32_t* bits, std::uint32_t dropped, double factor,
                        const double* in, double* out);
};

inline constexpr std::size_t dropout_blocks = 16;  // that are computed together

const DropoutKernels& dropout_kernels(Isa isa);

extern const DropoutKernels dropout_kernels_plain;
extern const DropoutKernels dropout_kernels_avx2;

}  // namespace flyball::model
