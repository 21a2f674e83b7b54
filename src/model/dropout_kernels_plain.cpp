// Dropout's kernels for any CPU.
#include "model/dropout_kernels.hpp"

namespace flyball::model {

namespace {

#include "model/dropout_kernels_body.inl"

}  // namespace

const DropoutKernels dropout_kernels_plain = {random_bits, keep<float>, keep<double>};

}  // namespace flyball::model
