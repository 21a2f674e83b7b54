#include "limits/row_kernels.hpp"

#include "core/isa_variants.hpp"

namespace flyball::limits {

const RowKernels& row_kernels(Isa isa) {
    return IsaVariants<RowKernels>{row_kernels_plain, row_kernels_avx2}[isa];
}

}  // namespace flyball::limits
