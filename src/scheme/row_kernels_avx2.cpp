// The row kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "scheme/row_kernels_tables.hpp"

#if defined(__AVX2__)

#include <cmath>
#include <limits>

#include "scheme/row_kernels_libmvec.hpp"

namespace flyball::scheme {

namespace {

constexpr std::size_t vector_bytes = 32;

#include "scheme/row_kernels_libmvec.inl"

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
