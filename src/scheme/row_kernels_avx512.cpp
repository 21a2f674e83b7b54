// The row kernels built for AVX-512 (src/CMakeLists.txt sets the flags of this file by its name).
#include "scheme/row_kernels_tables.hpp"

#if defined(__AVX512F__)

#include <cmath>
#include <limits>

#include "scheme/row_kernels_libmvec.hpp"

namespace flyball::scheme {

namespace {

constexpr std::size_t vector_bytes = 64;

#include "scheme/row_kernels_libmvec.inl"

#include "scheme/row_kernels_body.inl"

}  // namespace

const RowKernels<double> row_kernels_avx512_double = table<double>;
const RowKernels<float> row_kernels_avx512_float = table<float>;

}  // namespace flyball::scheme

#else

namespace flyball::scheme {

const RowKernels<double> row_kernels_avx512_double = row_kernels_plain_double;
const RowKernels<float> row_kernels_avx512_float = row_kernels_plain_float;

}  // namespace flyball::scheme

#endif
