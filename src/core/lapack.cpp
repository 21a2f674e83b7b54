#include "core/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

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
void dgeqr2_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, int* info);
void dorg2r_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             int* info);
void dlarft_(const char* direct, const char* stored, const int* n, const int* k, const double* v, const int* ldv,
             const double* tau, double* t, const int* ldt, std::size_t, std::size_t);
void dlarfb_(const char* side, const char* transpose, const char* direct, const char* stored, const int* m,
             const int* n, const int* k, const double* v, const int* ldv, const double* t, const int* ldt, double* c,
             const int* ldc, double* work, const int* ldwork, std::size_t, std::size_t, std::size_t, std::size_t);
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
    if (rows != 0 && columns > static_cast<std::size_t>(std::numeric_limits<int>::max()) / rows) {
        throw Error(ErrorKind::usage, "core.singular_values", fmt::format("a matrix of {} x {} numbers", rows, columns),
                    fmt::format("at most {} numbers", std::numeric_limits<int>::max()));
    }
    const int m = static_cast<int>(columns);
    const int n = static_cast<int>(rows);
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

namespace {

// What dgeqrf and dorgqr do, block by block of columns, with a look at the stop signal in between: a matrix of 4096
// rows takes them seconds. The same routines in the same order with the same block sizes (those that LAPACK's ilaenv
// has for both), so the same bits.
class BlockedQr {
  public:
    BlockedQr(std::vector<double>& matrix, int size) : a_(matrix.data()), n_(size) {
        if (n_ > crossover) {
            last_ = (n_ - crossover - 1) / block * block;
            whole_ = last_ + block;
        }
    }

    // R, and below its diagonal the reflections.
    void factor() {
        for (int i = 0; i < whole_; i += block) {
            const int rows = n_ - i;
            dgeqr2_(&rows, &block, at(i, i), &n_, tau(i), work_.data(), &info_);
            reflect("T", i);
        }
        if (whole_ < n_) {
            const int rest = n_ - whole_;
            dgeqr2_(&rest, &rest, at(whole_, whole_), &n_, tau(whole_), work_.data(), &info_);
        }
    }

    // Q in their place.
    void form() {
        for (int column = whole_; column < n_; ++column) {
            std::fill_n(at(0, column), whole_, 0.0);
        }
        if (whole_ < n_) {
            const int rest = n_ - whole_;
            dorg2r_(&rest, &rest, &rest, at(whole_, whole_), &n_, tau(whole_), work_.data(), &info_);
        }
        for (int i = last_; whole_ > 0 && i >= 0; i -= block) {
            const int rows = n_ - i;
            reflect("N", i);
            dorg2r_(&rows, &block, &block, at(i, i), &n_, tau(i), work_.data(), &info_);
            for (int column = i; column < i + block; ++column) {
                std::fill_n(at(0, column), i, 0.0);
            }
        }
    }

  private:
    static constexpr int block = 32;
    static constexpr int crossover = 128;  // the last columns, at most so many, are not worth blocks

    double* at(int row, int column) {
        return a_ + static_cast<std::size_t>(column) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(row);
    }
    double* tau(int i) { return tau_.data() + i; }
    // The block's reflections, applied to the columns after it. Both ways come through here, block after block.
    void reflect(const char* transpose, int i) {
        check_stop();
        const int rows = n_ - i;
        const int after = n_ - i - block;
        if (after > 0) {
            dlarft_("F", "C", &rows, &block, at(i, i), &n_, tau(i), triangle_.data(), &block, 1, 1);
            dlarfb_("L", transpose, "F", "C", &rows, &after, &block, at(i, i), &n_, triangle_.data(), &block,
                    at(i, i + block), &n_, work_.data(), &n_, 1, 1, 1, 1);
        }
    }

    double* a_;
    int n_;
    std::vector<double> tau_ = std::vector<double>(static_cast<std::size_t>(n_));
    std::vector<double> triangle_ = std::vector<double>(block * block);
    std::vector<double> work_ = std::vector<double>(static_cast<std::size_t>(n_) * block);
    int last_ = 0;   // where the last block begins
    int whole_ = 0;  // how many columns are in blocks
    int info_ = 0;
};

}  // namespace

// Q of Q R is Haar distributed only if R has a positive diagonal: Householder's leaves signs that depend on the data.
std::vector<double> orthogonal_factor(std::vector<double> matrix, std::size_t size) {
    prepare_blas();
    const BlasThreads one(1);
    const int n = checked_size(size, "core.orthogonal_factor");
    if (size == 0) {
        return matrix;
    }
    BlockedQr qr(matrix, n);
    qr.factor();
    std::vector<double> signs(size);
    for (std::size_t i = 0; i < size; ++i) {
        signs[i] = matrix[i * size + i] < 0 ? -1 : 1;
    }
    qr.form();
    // Fortran's columns are our rows; Haar needs column i of Q times the sign of R_ii.
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            matrix[i * size + k] *= signs[i];
        }
    }
    return matrix;
}

}  // namespace flyball
