// The row kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "scheme/row_kernels_tables.hpp"

#if defined(__AVX2__)

#include <features.h>
#include <immintrin.h>

#include <cmath>
#include <limits>

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define FLYBALL_LIBMVEC 1
#endif
#endif

#ifdef FLYBALL_LIBMVEC
// The C library's vector functions, called by name: the compiler would only use them under -ffast-math.
// NOLINTBEGIN(bugprone-reserved-identifier): these are their names in the vector function ABI.
extern "C" {
__m256d _ZGVdN4v_tanh(__m256d);
__m256d _ZGVdN4v_erf(__m256d);
__m256d _ZGVdN4v_exp(__m256d);
__m256 _ZGVdN8v_tanhf(__m256);
__m256 _ZGVdN8v_erff(__m256);
__m256 _ZGVdN8v_expf(__m256);
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace flyball::scheme {

namespace {

#ifdef FLYBALL_LIBMVEC
// The last few numbers go through a padded vector, so that every number takes the same path.
template <__m256d (*function)(__m256d)>
void for_all(std::size_t count, double* x) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        _mm256_storeu_pd(x + i, function(_mm256_loadu_pd(x + i)));
    }
    if (i < count) {
        double rest[4] = {};
        __builtin_memcpy(rest, x + i, (count - i) * sizeof(double));
        _mm256_storeu_pd(rest, function(_mm256_loadu_pd(rest)));
        __builtin_memcpy(x + i, rest, (count - i) * sizeof(double));
    }
}
template <__m256 (*function)(__m256)>
void for_all(std::size_t count, float* x) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm256_storeu_ps(x + i, function(_mm256_loadu_ps(x + i)));
    }
    if (i < count) {
        float rest[8] = {};
        __builtin_memcpy(rest, x + i, (count - i) * sizeof(float));
        _mm256_storeu_ps(rest, function(_mm256_loadu_ps(rest)));
        __builtin_memcpy(x + i, rest, (count - i) * sizeof(float));
    }
}
void tanh_all(std::size_t count, double* x) {
    for_all<_ZGVdN4v_tanh>(count, x);
}
void erf_all(std::size_t count, double* x) {
    for_all<_ZGVdN4v_erf>(count, x);
}
void exp_all(std::size_t count, double* x) {
    for_all<_ZGVdN4v_exp>(count, x);
}
void tanh_all(std::size_t count, float* x) {
    for_all<_ZGVdN8v_tanhf>(count, x);
}
void erf_all(std::size_t count, float* x) {
    for_all<_ZGVdN8v_erff>(count, x);
}
void exp_all(std::size_t count, float* x) {
    for_all<_ZGVdN8v_expf>(count, x);
}
#else
#include "scheme/row_kernels_libm.inl"
#endif

#include "scheme/row_kernels_body.inl"

}  // namespace

const RowKernels<double> row_kernels_avx2_double = table<double>;
const RowKernels<float> row_kernels_avx2_float = table<float>;

}  // namespace flyball::scheme

#else

namespace flyball::scheme {

const RowKernels<double> row_kernels_avx2_double = row_kernels_plain_double;
const RowKernels<float> row_kernels_avx2_float = row_kernels_plain_float;

}  // namespace flyball::scheme

#endif
