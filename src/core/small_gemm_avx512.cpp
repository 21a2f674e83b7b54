// Small products for AVX-512 (src/CMakeLists.txt sets the flags of this file by its name).
#include "core/small_gemm.hpp"

#if defined(__AVX512F__)

#include <immintrin.h>

namespace flyball {

namespace {

using Vector = __m512;
constexpr std::size_t tile_rows = 8;
constexpr std::size_t tile_vectors = 2;

inline Vector broadcast(float x) {
    return _mm512_set1_ps(x);
}
inline Vector multiply_add(const Vector& a, const Vector& b, const Vector& c) {
    return _mm512_fmadd_ps(a, b, c);
}

#include "core/small_gemm_body.inl"

constexpr SmallGemm table = {tile_columns, multiply, multiply_packed, pack_right};

}  // namespace

const SmallGemm* const small_gemm_avx512 = &table;

}  // namespace flyball

#else

namespace flyball {

const SmallGemm* const small_gemm_avx512 = nullptr;

}  // namespace flyball

#endif
