// Tests that compute beside the program what it should say multiply matrices as it does.
#include <gtest/gtest.h>

#include "core/blas_core.hpp"

namespace flyball::cli::test {
namespace {

class SameKernels : public testing::Environment {
    void SetUp() override { choose_blas_core(); }
};

const testing::Environment* const same_kernels = testing::AddGlobalTestEnvironment(new SameKernels);

}  // namespace
}  // namespace flyball::cli::test
