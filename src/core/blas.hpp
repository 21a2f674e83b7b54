// Matrix products over CBLAS, row-major.
//
// Promises: sizes are checked (they must fit the library's int, leading dimensions must hold a row); zero sizes are
// fine; beta = 0 overwrites C whatever it held. A call from inside parallel_slots uses one BLAS thread, so threads
// never multiply.
//
// The library may sum in another order with another number of threads. Where the same bits matter at any thread count,
// call gemm with BlasThreads(1) or from inside parallel_slots.
#pragma once

#include <cstddef>
#include <string>

namespace flyball {

enum class Transpose { no, yes };

// C (m x n) = alpha * op(A) * op(B) + beta * C with op(A) m x k and op(B) k x n. A leading dimension is the distance
// between the rows as stored: lda >= k (m when A is transposed), ldb >= n (k when B is transposed), ldc >= n.
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc);
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, double alpha,
          const double* a, std::size_t lda, const double* b, std::size_t ldb, double beta, double* c, std::size_t ldc);

// y = alpha * op(A) x + beta * y with A [rows, columns] as stored: y has `rows` numbers and x `columns`, or the other
// way round when A is transposed. One row through a matrix is read at the speed of memory here, and not by gemm, which
// packs the matrix first.
void gemv(Transpose transpose, std::size_t rows, std::size_t columns, float alpha, const float* a, std::size_t lda,
          const float* x, float beta, float* y);
void gemv(Transpose transpose, std::size_t rows, std::size_t columns, double alpha, const double* a, std::size_t lda,
          const double* x, double beta, double* y);

// The processor type that the library chose its kernels for ("Zen", "Haswell"), or "unknown". Products on another type
// may end in other last digits.
std::string blas_core();

// OpenBLAS maps a work area for each thread that calls it, and where the system refuses (ulimit -v, no overcommit) it
// asks again for ever. This has the areas of all our threads mapped beforehand, or throws Error(resource). gemm and
// the functions of lapack.hpp call it themselves; once it has succeeded it costs a comparison.
void prepare_blas();

// The number of threads BLAS uses in the calling thread; 0 when the library has no such setting.
int blas_threads();

// Sets the number of BLAS threads for the calling thread until the end of the scope. With an OpenMP build of OpenBLAS
// the setting belongs to the thread; with its pthreads build it is the process's; other libraries ignore it.
class BlasThreads {
  public:
    explicit BlasThreads(int count);
    ~BlasThreads();
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;

  private:
    int before_;
};

}  // namespace flyball
