#include "core/isa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support.hpp"

namespace flyball {
namespace {

TEST(Isa, AutomaticTakesTheBestTheCpuHas) {
    EXPECT_EQ(choose_isa("", Isa::avx2), Isa::avx2);
    EXPECT_EQ(choose_isa("auto", Isa::avx2), Isa::avx2);
    EXPECT_EQ(choose_isa("auto", Isa::plain), Isa::plain);
}

TEST(Isa, PlainCanBeForced) {
    EXPECT_EQ(choose_isa("plain", Isa::avx2), Isa::plain);
    EXPECT_EQ(choose_isa("avx2", Isa::avx2), Isa::avx2);
}

TEST(Isa, RefusesWhatTheCpuLacksAndWhatDoesNotExist) {
    EXPECT_ERROR(choose_isa("avx2", Isa::plain), "CPU without AVX2");
    EXPECT_ERROR(choose_isa("avx512", Isa::avx2), "FLYBALL_ISA='avx512', expected plain, avx2 or auto");
    EXPECT_ERROR(choose_isa("AVX2", Isa::avx2), "'AVX2'");
}

TEST(Isa, DetectionAgreesWithTheKernel) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::string word;
    bool avx2 = false;
    bool fma = false;
    while (cpuinfo >> word) {
        avx2 = avx2 || word == "avx2";
        fma = fma || word == "fma";
    }
    EXPECT_EQ(detect_isa(), avx2 && fma ? Isa::avx2 : Isa::plain);
}

TEST(Isa, TheEnvironmentIsReadOnce) {
    const Isa first = active_isa();
    setenv("FLYBALL_ISA", "nonsense", 1);
    EXPECT_EQ(active_isa(), first);
    unsetenv("FLYBALL_ISA");
}

TEST(Isa, HasNames) {
    EXPECT_STREQ(name(Isa::plain), "plain");
    EXPECT_STREQ(name(Isa::avx2), "avx2");
}

}  // namespace
}  // namespace flyball
