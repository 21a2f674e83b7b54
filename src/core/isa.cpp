#include "core/isa.hpp"

#include <cstdlib>

#include "core/error.hpp"

namespace flyball {

const char* name(Isa isa) noexcept {
    switch (isa) {
        case Isa::plain:
            return "plain";
        case Isa::avx2:
            return "avx2";
        case Isa::avx512:
            return "avx512";
    }
    return "unknown";
}

Isa detect_isa() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    // The compiler's check also asks the operating system whether it saves the wide registers.
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512cd");
        return wide ? Isa::avx512 : Isa::avx2;
    }
#endif
    return Isa::plain;
}

Isa choose_isa(std::string_view request, Isa detected) {
    if (request.empty() || request == "auto") {
        return detected;
    }
    if (request == "plain") {
        return Isa::plain;
    }
    if (request == "avx2") {
        if (detected == Isa::plain) {
            throw Error(ErrorKind::usage, "core.isa", "FLYBALL_ISA=avx2 on a CPU without AVX2 and FMA",
                        "an instruction set this CPU has", "unset FLYBALL_ISA or set it to plain");
        }
        return Isa::avx2;
    }
    if (request == "avx512") {
        if (detected != Isa::avx512) {
            throw Error(ErrorKind::usage, "core.isa", "FLYBALL_ISA=avx512 on a CPU without AVX-512",
                        "an instruction set this CPU has", "unset FLYBALL_ISA or set it to plain");
        }
        return Isa::avx512;
    }
    throw Error(ErrorKind::usage, "core.isa", "FLYBALL_ISA=" + flyball::quoted(request), "plain, avx2, avx512 or auto",
                "unset FLYBALL_ISA to choose automatically");
}

Isa active_isa() {
    static const Isa chosen = [] {
        const char* const request = std::getenv("FLYBALL_ISA");
        return choose_isa(request == nullptr ? "" : request, detect_isa());
    }();
    return chosen;
}

}  // namespace flyball
