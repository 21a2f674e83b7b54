// The row kernels for the baseline instruction set of the architecture.
#include <cmath>
#include <limits>

#include "core/isa_variants.hpp"
#include "scheme/row_kernels.hpp"
#include "scheme/row_kernels_tables.hpp"

namespace flyball::scheme {

namespace {

constexpr std::size_t vector_bytes = 32;

#include "scheme/row_kernels_libm.inl"

#include "scheme/row_kernels_body.inl"

}  // namespace

const RowKernels<double> row_kernels_plain_double = table<double>;
const RowKernels<float> row_kernels_plain_float = table<float>;

template <>
const RowKernels<double>& row_kernels<double>(Isa isa) {
    return IsaVariants<RowKernels<double>>{row_kernels_plain_double, row_kernels_avx2_double,
                                           row_kernels_avx512_double}[isa];
}
template <>
const RowKernels<float>& row_kernels<float>(Isa isa) {
    return IsaVariants<RowKernels<float>>{row_kernels_plain_float, row_kernels_avx2_float,
                                          row_kernels_avx512_float}[isa];
}

}  // namespace flyball::scheme
