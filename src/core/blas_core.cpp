#include "core/blas_core.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "core/blas.hpp"

namespace flyball {

namespace {

// Of OpenBLAS's kernels those that use AVX2 or more; the others are for CPUs without it.
constexpr std::array<std::string_view, 6> modern = {"Haswell",  "Zen",        "Excavator",
                                                    "SkylakeX", "Cooperlake", "SapphireRapids"};

struct Features {
    bool avx2 = false;
    bool avx512 = false;  // as SkylakeX has it
};

Features features() {
    Features found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    found.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    found.avx512 = found.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512cd");
#endif
    return found;
}

}  // namespace

std::string better_blas_core(std::string_view chosen, bool avx2, bool avx512) {
    if (chosen == "unknown" || std::find(modern.begin(), modern.end(), chosen) != modern.end()) {
        return "";
    }
    return avx512 ? "SkylakeX" : avx2 ? "Haswell" : "";
}

void choose_blas_core() {
    using Act = void (*)();
    const char* const told = std::getenv("OPENBLAS_CORETYPE");
    if (told != nullptr && *told != '\0') {
        return;
    }
    const Features cpu = features();
    const std::string better = better_blas_core(blas_core(), cpu.avx2, cpu.avx512);
    // The library chooses when it is loaded; these two make it choose again.
    const auto forget = reinterpret_cast<Act>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
    const auto choose = reinterpret_cast<Act>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
    if (better.empty() || forget == nullptr || choose == nullptr) {
        return;
    }
    if (setenv("OPENBLAS_CORETYPE", better.c_str(), 1) != 0) {
        throw std::bad_alloc();  // with other kernels the results would have other bits than the next run's
    }
    forget();
    choose();
    unsetenv("OPENBLAS_CORETYPE");  // programs that we start choose for themselves
}

}  // namespace flyball
