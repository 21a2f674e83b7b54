// Which of OpenBLAS's kernels multiply matrices, on a CPU that OpenBLAS does not know.
//
// OpenBLAS chooses by the CPU's model number. A model that is younger than the library gets the kernels of 2004
// (Prescott, SSE3) or those without AVX-512 (Haswell): on an Intel Xeon of 2023 Debian 12's OpenBLAS runs at a fifth of
// what the CPU can do, on an AMD EPYC of 2024 at half. What the CPU can do is in its feature flags, so for such a CPU
// the kernels are chosen by them.
#pragma once

#include <string>
#include <string_view>

namespace flyball {

// What OpenBLAS should be told instead of `chosen`, its own choice, on a CPU with these features; "" when its choice
// fits.
std::string better_blas_core(std::string_view chosen, bool avx2, bool avx512);

// Tells OpenBLAS so, unless OPENBLAS_CORETYPE is set or the library is another one. Call it at the start of a program:
// nobody may be multiplying, in this thread or another.
void choose_blas_core();

}  // namespace flyball
