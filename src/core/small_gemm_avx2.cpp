// Small products for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "core/small_gemm.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

namespace flyball {

namespace {

using Vector = __m256;
constexpr std::size_t tile_rows = 6;
constexpr std::size_t tile_vectors = 2;

inline Vector broadcast(float x) {
    return _mm256_set1_ps(x);
}
inline Vector multiply_add(const Vector& a, const Vector& b, const Vector& c) {
    return _mm256_fmadd_ps(a, b, c);
}

#include "core/small_gemm_body.inl"

constexpr SmallGemm table = {tile_columns, multiply, multiply_packed, pack_right};

}  // namespace

const SmallGemm* const small_gemm_avx2 = &table;

}  // namespace flyball

#else

namespace flyball {

const SmallGemm* const small_gemm_avx2 = nullptr;

}  // namespace flyball

#endif
