// The row kernels for any CPU.
#include "limits/row_kernels.hpp"

#include <cstdint>

namespace flyball::limits {

namespace {

#include "limits/row_kernels_body.inl"

}  // namespace

const RowKernels row_kernels_plain = table;

}  // namespace flyball::limits
