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
    EXPECT_EQ(choose_isa("", Isa::avx512), Isa::avx512);
}

TEST(Isa, PlainCanBeForced) {
    EXPECT_EQ(choose_isa("plain", Isa::avx2), Isa::plain);
    EXPECT_EQ(choose_isa("avx2", Isa::avx2), Isa::avx2);
    EXPECT_EQ(choose_isa("plain", Isa::avx512), Isa::plain);
    EXPECT_EQ(choose_isa("avx2", Isa::avx512), Isa::avx2);
    EXPECT_EQ(choose_isa("avx512", Isa::avx512), Isa::avx512);
}

TEST(Isa, RefusesWhatTheCpuLacksAndWhatDoesNotExist) {
    EXPECT_ERROR(choose_isa("avx2", Isa::plain), "CPU without AVX2");
    EXPECT_ERROR(choose_isa("avx512", Isa::avx2), "CPU without AVX-512");
    EXPECT_ERROR(choose_isa("avx1024", Isa::avx2), "FLYBALL_ISA='avx1024', expected plain, avx2, avx512 or auto");
    EXPECT_ERROR(choose_isa("AVX2", Isa::avx2), "'AVX2'");
}

TEST(Isa, DetectionAgreesWithTheKernel) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::string word;
    bool avx2 = false;
    bool fma = false;
    int wide = 0;
    while (cpuinfo >> word) {
        avx2 = avx2 || word == "avx2";
        fma = fma || word == "fma";
        if (word == "flags") {
            wide = 0;  // of one processor
        }
        for (const char* part : {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}) {
            wide += word == part ? 1 : 0;
        }
    }
    EXPECT_EQ(detect_isa(), !(avx2 && fma) ? Isa::plain : wide == 5 ? Isa::avx512 : Isa::avx2);
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
    EXPECT_STREQ(name(Isa::avx512), "avx512");
}

}  // namespace
}  // namespace flyball
