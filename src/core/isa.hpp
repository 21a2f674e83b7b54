// Which instruction set the kernels use, decided once per process.
//
// The build is plain x86-64 (or any other architecture); files named *_avx2.cpp are compiled for AVX2 and FMA, files
// named *_avx512.cpp for AVX-512 as Skylake-X has it, and may be called only when active_isa() says so. A table without
// a variant for AVX-512 uses that for AVX2. Not a benchmark: the choice never depends on timing.
#pragma once

#include <string_view>

namespace flyball {

enum class Isa { plain, avx2, avx512 };  // each can run what those before it can

const char* name(Isa isa) noexcept;

// What this CPU and operating system can run.
Isa detect_isa() noexcept;

// The choice `request` ("plain", "avx2", "avx512", "auto" or "") makes on a machine that can run `detected`.
Isa choose_isa(std::string_view request, Isa detected);

// choose_isa of the environment variable FLYBALL_ISA; later changes of the variable are not seen.
Isa active_isa();

}  // namespace flyball
