#include "core/blas_core.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "core/blas.hpp"

namespace flyball {

namespace {

// Of OpenBLAS's kernels those that use AVX2 or AVX-512; the others are for CPUs without them.
constexpr std::array<std::string_view, 3> with_avx2 = {"Haswell", "Zen", "Excavator"};
constexpr std::array<std::string_view, 3> with_avx512 = {"SkylakeX", "Cooperlake", "SapphireRapids"};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

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
    if (chosen == "unknown" || is_one_of(with_avx512, chosen)) {
        return "";
    }
    if (avx512) {
        return "SkylakeX";
    }
    return avx2 && !is_one_of(with_avx2, chosen) ? "Haswell" : "";
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
    if (blas_core() != better) {  // built without these kernels, it takes those of 2004: then its own choice was better
        forget();
        choose();
    }
}

}  // namespace flyball
