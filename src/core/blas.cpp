#include "core/blas.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace flyball {

namespace {

using Get = int (*)();
using Set = void (*)(int);

struct ThreadSetting {
    Get get = nullptr;
    Set set = nullptr;
};

// Looked up at run time, so that any CBLAS links. OpenBLAS built on OpenMP asks OpenMP for the number on every call:
// there openblas_set_num_threads would race between threads and be undone by the next call from another thread.
const ThreadSetting& thread_setting() {
    static const ThreadSetting found = [] {
        const auto symbol = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
        constexpr int on_openmp = 2;  // OPENBLAS_OPENMP
        ThreadSetting setting;
        const auto kind = reinterpret_cast<Get>(symbol("openblas_get_parallel"));
        if (kind != nullptr && kind() == on_openmp) {
            setting.get = reinterpret_cast<Get>(symbol("omp_get_max_threads"));
            setting.set = reinterpret_cast<Set>(symbol("omp_set_num_threads"));
        } else if (kind != nullptr) {
            setting.get = reinterpret_cast<Get>(symbol("openblas_get_num_threads"));
            setting.set = reinterpret_cast<Set>(symbol("openblas_set_num_threads"));
        }
        return setting.get != nullptr && setting.set != nullptr ? setting : ThreadSetting{};
    }();
    return found;
}

// OpenBLAS's work area (its BUFFER_SIZE on x86-64), and the stack and heap that a thread takes beside it.
constexpr std::size_t area_bytes = std::size_t{128} << 20U;
constexpr std::size_t beside_bytes = std::size_t{32} << 20U;
// OpenBLAS has places for twice as many areas as threads it was built for, which are at least 64.
constexpr int most_areas = 100;

bool can_map(std::size_t bytes) {
    void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start != MAP_FAILED && ::munmap(start, bytes) == 0;
}

// Areas that were given back stay mapped and serve whoever calls next.
void map_areas(int count) {
    const auto allocate = reinterpret_cast<void* (*)(int)>(dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
    const auto release = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "blas_memory_free"));
    if (allocate == nullptr || release == nullptr) {
        return;  // another library, with ways of its own
    }
    std::vector<void*> areas;
    areas.reserve(static_cast<std::size_t>(count));
    bool refused = false;
    while (!refused && areas.size() < static_cast<std::size_t>(count)) {
        refused = !can_map(area_bytes + beside_bytes);
        if (!refused) {
            areas.push_back(allocate(0));
        }
    }
    for (void* const area : areas) {
        release(area);
    }
    if (refused) {
        throw Error(ErrorKind::resource, "core.blas", "too little address space for the matrix library",
                    fmt::format("{} MB for each of {} threads", (area_bytes + beside_bytes) >> 20U, count),
                    "raise the limit (ulimit -v), or use fewer " + setting("threads"));
    }
}

int as_int(std::size_t size, const char* what) {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (size > most) {
        throw Error(ErrorKind::resource, "core.gemm", fmt::format("{} = {}", what, size),
                    fmt::format("at most {}", most), "split the product into blocks");
    }
    return static_cast<int>(size);
}

int leading(std::size_t given, std::size_t row, const char* what) {
    if (given < row) {
        throw Error(ErrorKind::usage, "core.gemm", fmt::format("{} = {}", what, given),
                    fmt::format("at least {}, the length of a row", row));
    }
    return as_int(std::max<std::size_t>(given, 1), what);
}

CBLAS_TRANSPOSE cblas(Transpose transpose) {
    return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

template <class Real, class Product>
void checked_gemm(Product product, Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                  std::size_t k, Real alpha, const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Real beta,
                  Real* c, std::size_t ldc) {
    const int rows = as_int(m, "m");
    const int columns = as_int(n, "n");
    const int inner = as_int(k, "k");
    const int stride_a = leading(lda, transpose_a == Transpose::yes ? m : k, "lda");
    const int stride_b = leading(ldb, transpose_b == Transpose::yes ? k : n, "ldb");
    const int stride_c = leading(ldc, n, "ldc");
    if (m == 0 || n == 0) {
        return;
    }
    prepare_blas();
    std::optional<BlasThreads> single;
    if (inside_parallel()) {
        single.emplace(1);
    }
    product(CblasRowMajor, cblas(transpose_a), cblas(transpose_b), rows, columns, inner, alpha, a, stride_a, b,
            stride_b, beta, c, stride_c);
}

template <class Real, class Product>
void checked_gemv(Product product, Transpose transpose, std::size_t rows, std::size_t columns, Real alpha,
                  const Real* a, std::size_t lda, const Real* x, Real beta, Real* y) {
    const int m = as_int(rows, "rows");
    const int n = as_int(columns, "columns");
    const int stride = leading(lda, columns, "lda");
    const std::size_t count = transpose == Transpose::yes ? columns : rows;
    if (beta == Real{0}) {  // newer versions of the library keep a NaN of y
        std::fill_n(y, count, Real{0});
    }
    if (rows == 0 || columns == 0) {
        for (std::size_t i = 0; i < count; ++i) {
            y[i] *= beta;
        }
        return;
    }
    prepare_blas();
    std::optional<BlasThreads> single;
    if (inside_parallel()) {
        single.emplace(1);
    }
    product(CblasRowMajor, cblas(transpose), m, n, alpha, a, stride, x, 1, beta, y, 1);
}

}  // namespace

void gemv(Transpose transpose, std::size_t rows, std::size_t columns, float alpha, const float* a, std::size_t lda,
          const float* x, float beta, float* y) {
    checked_gemv(cblas_sgemv, transpose, rows, columns, alpha, a, lda, x, beta, y);
}

void gemv(Transpose transpose, std::size_t rows, std::size_t columns, double alpha, const double* a, std::size_t lda,
          const double* x, double beta, double* y) {
    checked_gemv(cblas_dgemv, transpose, rows, columns, alpha, a, lda, x, beta, y);
}

void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
    checked_gemm(cblas_sgemm, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, double alpha,
          const double* a, std::size_t lda, const double* b, std::size_t ldb, double beta, double* c, std::size_t ldc) {
    checked_gemm(cblas_dgemm, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

std::string blas_core() {
    using Name = char* (*)();
    const auto found = reinterpret_cast<Name>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
    const char* const core = found != nullptr ? found() : nullptr;
    return core != nullptr ? core : "unknown";
}

void prepare_blas() {
    static std::atomic<int> prepared{0};
    const int wanted = std::min(threads(), most_areas);
    if (prepared.load(std::memory_order_acquire) >= wanted) {
        return;
    }
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (prepared.load(std::memory_order_relaxed) < wanted) {
        map_areas(wanted);
        prepared.store(wanted, std::memory_order_release);
    }
}

int blas_threads() {
    const ThreadSetting& setting = thread_setting();
    return setting.get == nullptr ? 0 : setting.get();
}

BlasThreads::BlasThreads(int count) : before_(blas_threads()) {
    if (count < 1) {
        throw Error(ErrorKind::usage, "core.blas_threads", fmt::format("{} threads", count), "at least 1");
    }
    if (before_ > 0 && before_ != count) {
        thread_setting().set(count);
    }
}

BlasThreads::~BlasThreads() {
    if (before_ > 0 && blas_threads() != before_) {
        thread_setting().set(before_);
    }
}

}  // namespace flyball
