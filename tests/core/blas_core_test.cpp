// The choice of OpenBLAS's kernels on CPUs it does not know.
#include "core/blas_core.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/blas.hpp"

namespace flyball {
namespace {

TEST(BlasCore, IsChosenByFeaturesWhereTheLibraryTookOldKernels) {
    EXPECT_EQ(better_blas_core("Prescott", true, true), "SkylakeX");
    EXPECT_EQ(better_blas_core("Prescott", true, false), "Haswell");
    EXPECT_EQ(better_blas_core("Sandybridge", true, false), "Haswell");
    EXPECT_EQ(better_blas_core("Prescott", false, false), "") << "an old CPU";
    for (const char* without_avx512 : {"Haswell", "Zen", "Excavator"}) {
        EXPECT_EQ(better_blas_core(without_avx512, true, true), "SkylakeX") << without_avx512;
    }
}

TEST(BlasCore, IsLeftAloneWhereItFits) {
    for (const char* fits : {"SkylakeX", "Cooperlake", "SapphireRapids", "unknown"}) {
        EXPECT_EQ(better_blas_core(fits, true, true), "") << fits;
    }
    for (const char* fits : {"Haswell", "Zen", "Excavator"}) {
        EXPECT_EQ(better_blas_core(fits, true, false), "") << fits;
    }
}

// Whole numbers, so that every kernel gives the same bits.
TEST(BlasCore, ProductsAreRightAfterTheChoice) {
    choose_blas_core();
    const std::string core = blas_core();
    choose_blas_core();
    EXPECT_EQ(blas_core(), core) << "a choice that fits is not made again";
#if defined(__x86_64__)
    __builtin_cpu_init();
    const char* const told = std::getenv("OPENBLAS_CORETYPE");
    if (__builtin_cpu_supports("avx2") && core != "unknown" && (told == nullptr || *told == '\0')) {
        EXPECT_NE(core, "Prescott");
        EXPECT_TRUE(!__builtin_cpu_supports("avx512vl") || (core != "Haswell" && core != "Zen")) << core;
    }
#endif
    constexpr std::size_t n = 70;
    std::vector<float> a(n * n);
    std::vector<float> b(n * n);
    std::vector<float> c(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 5) - 2;
    }
    gemm(Transpose::no, Transpose::no, n, n, n, 1.0F, a.data(), n, b.data(), n, 0.0F, c.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::size_t k = 0; k < n; ++k) {
                sum += a[i * n + k] * b[k * n + j];
            }
            ASSERT_EQ(c[i * n + j], sum) << i << " " << j;
        }
    }
}

}  // namespace
}  // namespace flyball
