#include "core/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.hpp"
#include "core/error.hpp"

// LAPACK comes with the BLAS library; these are its Fortran entry points.
extern "C" {
void dsyev_(const char* job, const char* triangle, const int* n, double* a, const int* lda, double* values,
            double* work, const int* work_size, int* info, std::size_t, std::size_t);
void dgeev_(const char* left, const char* right, const int* n, double* a, const int* lda, double* real,
            double* imaginary, double* vl, const int* ldvl, double* vr, const int* ldvr, double* work,
            const int* work_size, int* info, std::size_t, std::size_t);
void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda, double* values, double* u,
             const int* ldu, double* vt, const int* ldvt, double* work, const int* work_size, int* integers, int* info,
             std::size_t);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* work_size,
             int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* work_size, int* info);
}

namespace flyball {

namespace {

int checked_size(std::size_t size, const char* where) {
    if (size > 46340) {  // n^2 must fit an int
        throw Error(ErrorKind::usage, where, fmt::format("a matrix of {} rows", size), "at most 46340");
    }
    return static_cast<int>(size);
}

}  // namespace

std::vector<double> symmetric_eigenvalues(std::vector<double> matrix, std::size_t size) {
    prepare_blas();
    const BlasThreads one(1);
    const int n = checked_size(size, "core.symmetric_eigenvalues");
    std::vector<double> values(size);
    if (size == 0) {
        return values;
    }
    int info = 0;
    int work_size = -1;
    double best = 0;
    dsyev_("N", "U", &n, matrix.data(), &n, values.data(), &best, &work_size, &info, 1, 1);
    std::vector<double> work(static_cast<std::size_t>(best));
    work_size = static_cast<int>(work.size());
    dsyev_("N", "U", &n, matrix.data(), &n, values.data(), work.data(), &work_size, &info, 1, 1);
    if (info != 0) {  // does not converge on NaN: the caller sees NaN, not an error
        values.assign(size, std::numeric_limits<double>::quiet_NaN());
    }
    return values;
}

// Fortran sees the transpose, which has the same eigenvalues.
std::vector<std::complex<double>> eigenvalues(std::vector<double> matrix, std::size_t size) {
    prepare_blas();
    const BlasThreads one(1);
    const int n = checked_size(size, "core.eigenvalues");
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::complex<double>> values(size, {nan, nan});
    if (size == 0 || !std::all_of(matrix.begin(), matrix.end(), [](double v) { return std::isfinite(v); })) {
        return values;
    }
    std::vector<double> real(size);
    std::vector<double> imaginary(size);
    std::vector<double> work(4 * size);
    const int work_size = static_cast<int>(work.size());
    const int no_vectors = 1;
    int info = 0;
    dgeev_("N", "N", &n, matrix.data(), &n, real.data(), imaginary.data(), nullptr, &no_vectors, nullptr, &no_vectors,
           work.data(), &work_size, &info, 1, 1);
    for (std::size_t i = 0; info == 0 && i < size; ++i) {
        values[i] = {real[i], imaginary[i]};
    }
    return values;
}

// Fortran sees the transpose, [columns, rows], whose singular values are the same.
std::vector<double> singular_values(std::vector<double> matrix, std::size_t rows, std::size_t columns) {
    prepare_blas();
    const BlasThreads one(1);
    const int m = checked_size(columns, "core.singular_values");
    const int n = checked_size(rows, "core.singular_values");
    std::vector<double> values(std::min(rows, columns));
    if (values.empty()) {
        return values;
    }
    std::vector<int> integers(8 * values.size());
    const int unused = 1;  // no vectors are asked for
    int info = 0;
    int work_size = -1;
    double best = 0;
    dgesdd_("N", &m, &n, matrix.data(), &m, values.data(), nullptr, &unused, nullptr, &unused, &best, &work_size,
            integers.data(), &info, 1);
    std::vector<double> work(static_cast<std::size_t>(best));
    work_size = static_cast<int>(work.size());
    dgesdd_("N", &m, &n, matrix.data(), &m, values.data(), nullptr, &unused, nullptr, &unused, work.data(), &work_size,
            integers.data(), &info, 1);
    if (info != 0) {  // NaN among the numbers
        values.assign(values.size(), std::numeric_limits<double>::quiet_NaN());
    }
    return values;
}

// Q of Q R is Haar distributed only if R has a positive diagonal: Householder's leaves signs that depend on the data.
std::vector<double> orthogonal_factor(std::vector<double> matrix, std::size_t size) {
    prepare_blas();
    const BlasThreads one(1);
    const int n = checked_size(size, "core.orthogonal_factor");
    if (size == 0) {
        return matrix;
    }
    std::vector<double> tau(size);
    std::vector<double> work(size * 64);
    int work_size = static_cast<int>(work.size());
    int info = 0;
    dgeqrf_(&n, &n, matrix.data(), &n, tau.data(), work.data(), &work_size, &info);
    std::vector<double> signs(size);
    for (std::size_t i = 0; i < size; ++i) {
        signs[i] = matrix[i * size + i] < 0 ? -1 : 1;
    }
    dorgqr_(&n, &n, &n, matrix.data(), &n, tau.data(), work.data(), &work_size, &info);
    // Fortran's columns are our rows; Haar needs column i of Q times the sign of R_ii.
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            matrix[i * size + k] *= signs[i];
        }
    }
    return matrix;
}

}  // namespace flyball
