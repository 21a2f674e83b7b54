#include "core/blas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "support.hpp"

namespace flyball {
namespace {

template <class Real>
std::vector<Real> numbers(std::size_t size, std::uint64_t stream) {
    const Random random(1, stream);
    std::vector<Real> out(size);
    for (std::size_t i = 0; i < size; ++i) {
        out[i] = static_cast<Real>(random.normal(i));
    }
    return out;
}

template <class Real>
class Gemm : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Reals);

template <class Real>
void compare(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, std::size_t pad, Real alpha,
             Real beta) {
    const std::size_t lda = (ta == Transpose::yes ? m : k) + pad;
    const std::size_t ldb = (tb == Transpose::yes ? k : n) + pad;
    const std::size_t ldc = n + pad;
    const auto a = numbers<Real>((ta == Transpose::yes ? k : m) * lda, 1);
    const auto b = numbers<Real>((tb == Transpose::yes ? n : k) * ldb, 2);
    const auto start = numbers<Real>(m * ldc, 3);
    auto c = start;
    gemm(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < ldc; ++j) {
            if (j >= n) {
                ASSERT_EQ(c[i * ldc + j], start[i * ldc + j]) << "wrote beyond the row";
                continue;
            }
            double sum = 0;
            double size = 0;
            for (std::size_t l = 0; l < k; ++l) {
                const double product = double{ta == Transpose::yes ? a[l * lda + i] : a[i * lda + l]} *
                                       double{tb == Transpose::yes ? b[j * ldb + l] : b[l * ldb + j]};
                sum += product;
                size += std::fabs(product);
            }
            const double expected = double{alpha} * sum + double{beta} * double{start[i * ldc + j]};
            const double scale = std::fabs(double{alpha}) * size + std::fabs(double{beta} * double{start[i * ldc + j]});
            // Rounding of a sum of k+2 terms in any order.
            const double budget = static_cast<double>(k + 2) * double{std::numeric_limits<Real>::epsilon()} * scale;
            ASSERT_NEAR(double{c[i * ldc + j]}, expected, budget)
                << m << "x" << n << "x" << k << " at " << i << "," << j;
        }
    }
}

TYPED_TEST(Gemm, EqualsTheTripleLoopOverAwkwardSizes) {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
        for (const Transpose tb : {Transpose::no, Transpose::yes}) {
            for (const std::size_t m : {0U, 1U, 2U, 7U, 17U, 65U}) {
                for (const std::size_t n : {0U, 1U, 3U, 8U, 33U}) {
                    for (const std::size_t k : {0U, 1U, 5U, 16U, 31U, 129U}) {
                        compare<TypeParam>(ta, tb, m, n, k, (m + n + k) % 3, TypeParam(1.5), TypeParam(-0.5));
                    }
                }
            }
            compare<TypeParam>(ta, tb, 13, 11, 9, 2, TypeParam(0), TypeParam(2));
            compare<TypeParam>(ta, tb, 200, 150, 100, 1, TypeParam(1), TypeParam(0));
        }
    }
}

TYPED_TEST(Gemm, BetaZeroOverwritesNan) {
    for (const std::size_t size : {1U, 4U, 40U}) {
        const std::vector<TypeParam> one(size * size, 1);
        std::vector<TypeParam> c(size * size, std::numeric_limits<TypeParam>::quiet_NaN());
        gemm(Transpose::no, Transpose::no, size, size, size, TypeParam(1), one.data(), size, one.data(), size,
             TypeParam(0), c.data(), size);
        for (const TypeParam value : c) {
            ASSERT_EQ(value, static_cast<TypeParam>(size));
        }
    }
    // With nothing to add up the result is zero, not what was there.
    TypeParam c = std::numeric_limits<TypeParam>::quiet_NaN();
    const TypeParam unused = 1;
    gemm(Transpose::no, Transpose::no, 1, 1, 0, TypeParam(1), &unused, 0, &unused, 1, TypeParam(0), &c, 1);
    EXPECT_EQ(c, TypeParam(0));
}

TYPED_TEST(Gemm, RefusesSizesThatDoNotFit) {
    TypeParam x = 0;
    const auto call = [&](std::size_t m, std::size_t n, std::size_t k, std::size_t lda, std::size_t ldb,
                          std::size_t ldc) {
        gemm(Transpose::no, Transpose::no, m, n, k, TypeParam(1), &x, lda, &x, ldb, TypeParam(0), &x, ldc);
    };
    EXPECT_ERROR(call(std::size_t{1} << 31, 1, 1, 1, 1, 1), "m = 2147483648, expected at most 2147483647");
    EXPECT_ERROR(call(1, std::size_t{1} << 31, 1, 1, 1, 1), "n = 2147483648, expected at most 2147483647");
    EXPECT_ERROR(call(1, 1, std::size_t{1} << 31, 1, 1, 1), "k = 2147483648, expected at most 2147483647");
    EXPECT_ERROR(call(1, 1, 1, std::size_t{1} << 40, 1, 1), "lda = 1099511627776");
    EXPECT_ERROR(call(2, 2, 2, 1, 2, 2), "lda = 1, expected at least 2, the length of a row");
    EXPECT_ERROR(call(2, 2, 2, 2, 1, 2), "ldb = 1");
    EXPECT_ERROR(call(2, 2, 2, 2, 2, 1), "ldc = 1");
}

TYPED_TEST(Gemm, ARowThroughAMatrixIsTheProductWithOneRow) {
    using Real = TypeParam;
    for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
        for (const std::size_t pad : {0U, 3U}) {
            for (const Real beta : {Real{0}, Real{1}, Real{2}}) {
                const std::size_t rows = 37;
                const std::size_t columns = 21;
                const std::size_t in = transpose == Transpose::no ? columns : rows;
                const std::size_t out = transpose == Transpose::no ? rows : columns;
                const auto a = numbers<Real>(rows * (columns + pad), 1);
                const auto x = numbers<Real>(in, 2);
                auto start = numbers<Real>(out + 1, 3);
                auto y = start;
                if (beta == Real{0}) {
                    std::fill_n(y.begin(), out, std::numeric_limits<Real>::quiet_NaN());  // is overwritten
                }
                gemv(transpose, rows, columns, Real{3}, a.data(), columns + pad, x.data(), beta, y.data());
                for (std::size_t o = 0; o < out; ++o) {
                    double sum = 0;
                    for (std::size_t i = 0; i < in; ++i) {
                        const std::size_t at =
                            transpose == Transpose::no ? o * (columns + pad) + i : i * (columns + pad) + o;
                        sum += double{a[at]} * double{x[i]};
                    }
                    EXPECT_NEAR(double{y[o]}, 3 * sum + double{beta} * double{start[o]},
                                500 * double{std::numeric_limits<Real>::epsilon()});
                }
                EXPECT_EQ(y[out], start[out]) << "wrote beyond the end";
            }
        }
    }
    Real y = 5;
    gemv(Transpose::no, 1, 0, Real{1}, nullptr, 1, nullptr, Real{2}, &y);
    EXPECT_EQ(y, 10);
    // The same the other way round: a sum of no rows leaves beta y in every column.
    std::vector<Real> sums = {5, 7, 9};
    gemv(Transpose::yes, 0, 2, Real{1}, nullptr, 2, nullptr, Real{2}, sums.data());
    EXPECT_EQ(sums, (std::vector<Real>{10, 14, 9}));
    EXPECT_ERROR(gemv(Transpose::no, 2, 3, Real{1}, &y, 2, &y, Real{0}, &y), "lda = 2");
}

TEST(BlasThreads, SetsAndRestores) {
    const int before = blas_threads();
    if (before == 0) {
        GTEST_SKIP() << "this BLAS has no thread setting";
    }
    {
        const BlasThreads three(3);
        EXPECT_EQ(blas_threads(), 3);
        {
            const BlasThreads one(1);
            EXPECT_EQ(blas_threads(), 1);
        }
        EXPECT_EQ(blas_threads(), 3);
    }
    EXPECT_EQ(blas_threads(), before);
    EXPECT_ERROR(BlasThreads(0), "0 threads");
}

TEST(BlasThreads, ProductsInsideThePoolAreRight) {
    set_threads(3);
    const std::size_t n = 130;
    const auto a = numbers<double>(n * n, 1);
    std::vector<double> expected(n * n);
    {
        const BlasThreads one(1);
        gemm(Transpose::no, Transpose::yes, n, n, n, 1.0, a.data(), n, a.data(), n, 0.0, expected.data(), n);
    }
    std::vector<std::vector<double>> c(12, std::vector<double>(n * n));
    parallel_slots(c.size(), c.size(), [&](std::size_t slot, std::size_t, std::size_t) {
        gemm(Transpose::no, Transpose::yes, n, n, n, 1.0, a.data(), n, a.data(), n, 0.0, c[slot].data(), n);
    });
    set_threads(available_cpus());
    for (const auto& result : c) {
        EXPECT_EQ(result, expected) << "one BLAS thread gives the same bits in any thread";
    }
}

}  // namespace
}  // namespace flyball
