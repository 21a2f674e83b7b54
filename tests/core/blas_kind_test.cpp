// What kind of OpenBLAS there is decides whom the number of threads is asked of. Here the library says of itself
// whatever a test wants: the loader finds the function below before the library's own.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/blas.hpp"

extern "C" int openblas_get_parallel();

namespace {
bool is_on_pthreads = false;
}  // namespace

extern "C" __attribute__((visibility("default"))) int openblas_get_parallel() {
    constexpr int on_pthreads = 1;  // OPENBLAS_THREAD
    const auto own = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "openblas_get_parallel"));
    return is_on_pthreads || own == nullptr ? on_pthreads : own();
}

namespace flyball {
namespace {

// 0, or what is wrong. Five and seven beside one and three: whatever the number of processors, one of them is another.
int fault_on_pthreads() {
    is_on_pthreads = true;
    for (const int count : {3, 1, 7, 5}) {
        const int before = blas_threads();
        {
            const BlasThreads some(count);
            if (blas_threads() != count) {
                return 1;
            }
            int elsewhere = 0;
            std::thread([&] { elsewhere = blas_threads(); }).join();
            if (elsewhere != count) {
                return 2;  // there the number is the process's
            }
        }
        if (blas_threads() != before) {
            return 3;
        }
    }
    return 0;
}

// In a process of its own, which begins this test anew: what the library is, is asked once.
TEST(BlasOnPthreads, TheNumberOfThreadsIsTheOneThatWasSetAndTheSameInEveryThread) {
    if (dlsym(RTLD_NEXT, "openblas_get_parallel") == nullptr) {
        GTEST_SKIP() << "this BLAS is not OpenBLAS";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::exit(fault_on_pthreads()), testing::ExitedWithCode(0), "");
    EXPECT_GT(blas_threads(), 0) << "what it is here has the setting too";
}

}  // namespace
}  // namespace flyball
