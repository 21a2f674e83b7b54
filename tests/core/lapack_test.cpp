// Eigenvalues and orthogonal factors against closed forms, and against what defines them.
#include "core/lapack.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/blas.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "support.hpp"

extern "C" {
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* work_size,
             int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* work_size, int* info);
}

namespace flyball::test {
namespace {

TEST(Lapack, EigenvaluesOfTheSecondDifferenceAreItsCosinesInIncreasingOrder) {
    for (const std::size_t size : {1U, 2U, 3U, 8U, 33U}) {
        std::vector<double> matrix(size * size, 0.0);
        for (std::size_t i = 0; i < size; ++i) {
            matrix[i * size + i] = 2;
            if (i + 1 < size) {
                matrix[i * size + i + 1] = matrix[(i + 1) * size + i] = -1;
            }
        }
        const std::vector<double> values = symmetric_eigenvalues(matrix, size);
        ASSERT_EQ(values.size(), size);
        for (std::size_t k = 0; k < size; ++k) {
            const double angle = M_PI * static_cast<double>(k + 1) / static_cast<double>(size + 1);
            EXPECT_NEAR(values[k], 2 - 2 * std::cos(angle), 1e-14 * static_cast<double>(size)) << size << " " << k;
        }
    }
}

// [[2, 1, 0], [1, 3, -1], [0, -1, -4]]: roots of x^3 - x^2 - 16 x + 22 by numpy.linalg.eigvalsh, to all digits.
TEST(Lapack, EigenvaluesMayBeNegative) {
    const std::vector<double> values = symmetric_eigenvalues({2, 1, 0, 1, 3, -1, 0, -1, -4}, 3);
    EXPECT_NEAR(values[0], -4.143256694283722, 1e-14);
    EXPECT_NEAR(values[1], 1.4299455423256653, 1e-14);
    EXPECT_NEAR(values[2], 3.713311151958058, 1e-14);
}

TEST(Lapack, NaNIsAResultAndNoRowsHaveNoValues) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double value : symmetric_eigenvalues({1, nan, nan, 1}, 2)) {
        EXPECT_TRUE(std::isnan(value));
    }
    for (const auto& [rows, columns] : {std::pair{2U, 3U}, std::pair{3U, 2U}}) {
        const std::vector<double> values = singular_values({1, 0, 2, nan, 1, 0}, rows, columns);
        ASSERT_EQ(values.size(), 2U);
        EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
    }
    EXPECT_TRUE(symmetric_eigenvalues({}, 0).empty());
    EXPECT_TRUE(orthogonal_factor({}, 0).empty());
}

// [[1, 2, 0], [-2, 1, 0], [5, 7, -3]] has 1 + 2i, 1 - 2i and -3; [[0, 1e200], [1e-200, 0]] has 1 and -1.
TEST(Lapack, EigenvaluesOfAMatrixThatIsNotSymmetricAreComplex) {
    std::vector<std::complex<double>> values = eigenvalues({1, 2, 0, -2, 1, 0, 5, 7, -3}, 3);
    std::sort(values.begin(), values.end(),
              [](const auto& x, const auto& y) { return x.real() + 0.1 * x.imag() < y.real() + 0.1 * y.imag(); });
    EXPECT_NEAR(std::abs(values[0] - std::complex<double>(-3, 0)), 0, 1e-14);
    EXPECT_NEAR(std::abs(values[1] - std::complex<double>(1, -2)), 0, 1e-14);
    EXPECT_NEAR(std::abs(values[2] - std::complex<double>(1, 2)), 0, 1e-14);
    values = eigenvalues({0, 1e200, 1e-200, 0}, 2);
    EXPECT_NEAR(std::abs(values[0].real() * values[1].real() + 1), 0, 1e-14);
    // On the diagonal an infinity is an eigenvalue to LAPACK, and the numbers beside it are found.
    for (const auto& value : eigenvalues({std::numeric_limits<double>::infinity(), 0, 0, 1}, 2)) {
        EXPECT_TRUE(std::isnan(value.real()) && std::isnan(value.imag()));
    }
    EXPECT_TRUE(eigenvalues({}, 0).empty());
}

// Gram and Schmidt by hand: (3, 4)/5, then (1, 0) less its part along it. A sign of the first row stays.
TEST(Lapack, SingularValuesAreThoseOfTheRowsWhicheverSideIsLonger) {
    // [[3, 0], [4, 5]] has sqrt(45) and sqrt(5); a column of zeros changes nothing.
    for (const auto& [matrix, rows, columns] : {std::tuple{std::vector<double>{3, 0, 4, 5}, 2U, 2U},
                                                std::tuple{std::vector<double>{3, 0, 0, 4, 5, 0}, 2U, 3U},
                                                std::tuple{std::vector<double>{0, 0, 3, 0, 4, 5}, 3U, 2U}}) {
        const std::vector<double> values = singular_values(matrix, rows, columns);
        ASSERT_EQ(values.size(), 2U);
        EXPECT_NEAR(values[0], std::sqrt(45.0), 1e-14);
        EXPECT_NEAR(values[1], std::sqrt(5.0), 1e-14);
    }
    EXPECT_NEAR(singular_values({1, 0, 0, 1e-12}, 2, 2)[1], 1e-12, 1e-16);
    EXPECT_TRUE(singular_values({}, 0, 3).empty());
}

TEST(Lapack, OrthogonalFactorIsGramSchmidtOfTheRows) {
    const std::vector<double> positive = orthogonal_factor({3, 4, 1, 0}, 2);
    const std::vector<double> negative = orthogonal_factor({-3, -4, 1, 0}, 2);
    const std::vector<double> expected = {0.6, 0.8, 0.8, -0.6};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(positive[i], expected[i], 1e-15);
        EXPECT_NEAR(negative[i], i < 2 ? -expected[i] : expected[i], 1e-15);
    }
}

// A = L Q with positive diagonal of L determines Q: that choice of signs is what makes Q Haar distributed.
TEST(Lapack, OrthogonalFactorLeavesATriangleWithPositiveDiagonal) {
    for (const std::size_t size : {1U, 2U, 5U, 40U}) {
        std::vector<double> matrix(size * size);
        Random(size, 4).fill_normal(matrix);
        const std::vector<double> q = orthogonal_factor(matrix, size);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j) {
                double inner = 0;
                double left = 0;
                for (std::size_t k = 0; k < size; ++k) {
                    inner += q[i * size + k] * q[j * size + k];
                    left += matrix[i * size + k] * q[j * size + k];
                }
                EXPECT_NEAR(inner, i == j ? 1 : 0, 1e-14) << size << " " << i << " " << j;
                if (j > i) {
                    EXPECT_NEAR(left, 0, 1e-13) << size << " " << i << " " << j;
                } else if (j == i) {
                    EXPECT_GT(left, 0) << size << " " << i;
                }
            }
        }
    }
}

TEST(Lapack, MatricesTooLargeForItsIntegersAreRefused) {
    EXPECT_THROW(symmetric_eigenvalues({}, 46341), Error);
    EXPECT_THROW(orthogonal_factor({}, 46341), Error);
}

// What LAPACK does in one call, with the signs that Haar's measure wants.
std::vector<double> factor_in_one_call(std::vector<double> matrix, std::size_t size) {
    prepare_blas();
    const BlasThreads one(1);
    const int n = static_cast<int>(size);
    std::vector<double> tau(size);
    std::vector<double> work(size * 64);
    const int work_size = static_cast<int>(work.size());
    int info = 0;
    dgeqrf_(&n, &n, matrix.data(), &n, tau.data(), work.data(), &work_size, &info);
    std::vector<double> signs(size);
    for (std::size_t i = 0; i < size; ++i) {
        signs[i] = matrix[i * size + i] < 0 ? -1 : 1;
    }
    dorgqr_(&n, &n, &n, matrix.data(), &n, tau.data(), work.data(), &work_size, &info);
    for (std::size_t i = 0; i < size * size; ++i) {
        matrix[i] *= signs[i / size];
    }
    return matrix;
}

TEST(Lapack, OrthogonalFactorHasTheBitsOfOneCall) {
    for (const std::size_t size : {1U, 2U, 33U, 128U, 129U, 160U, 161U, 200U, 289U, 400U}) {
        std::vector<double> matrix(size * size);
        Random(size, 6).fill_normal(matrix);
        EXPECT_EQ(orthogonal_factor(matrix, size), factor_in_one_call(matrix, size)) << size;
    }
}

TEST(Lapack, OrthogonalFactorStopsWhenItIsTold) {
    std::vector<double> matrix(200 * 200);
    Random(1, 6).fill_normal(matrix);
    const std::atomic<bool> flag{true};
    const StopOn stop(&flag);
    EXPECT_THROW(orthogonal_factor(matrix, 200), Stopped);
}

// Two rows along axes: 5 and 3 are their lengths, however long the rows are.
TEST(Lapack, SingularValuesOfLongRowsAreFoundAsLongAsAllNumbersFit) {
    const std::size_t columns = 50'000;
    std::vector<double> matrix(2 * columns);
    matrix[7] = 3;
    matrix[columns + 49'999] = -5;
    const std::vector<double> values = singular_values(matrix, 2, columns);
    EXPECT_NEAR(values.at(0), 5, 1e-14);
    EXPECT_NEAR(values.at(1), 3, 1e-14);
    EXPECT_ERROR(singular_values({}, 46341, 46341), "46341 x 46341 numbers");
}

}  // namespace
}  // namespace flyball::test
