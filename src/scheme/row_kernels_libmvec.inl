// tanh, erf and exp of many numbers in vectors. Included by row_kernels_avx2.cpp and row_kernels_avx512.cpp, each
// inside a namespace of its own, after row_kernels_libmvec.hpp.

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
