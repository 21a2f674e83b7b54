// The C library's vector functions, called by name: the compiler would only use them under -ffast-math. Those of AVX2
// are used with AVX-512 too, so that both give the same bits.
#pragma once

#include <features.h>
#include <immintrin.h>

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define FLYBALL_LIBMVEC 1
#endif
#endif

#ifdef FLYBALL_LIBMVEC
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
