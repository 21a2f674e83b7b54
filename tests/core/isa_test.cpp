#include "core/isa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
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
    std::set<std::string> flags;  // of the first processor
    for (std::string line; flags.empty() && std::getline(cpuinfo, line);) {
        if (line.starts_with("flags")) {  // a line of "vmx flags" comes after it where there is one
            std::istringstream words(line);
            flags = {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
        }
    }
    const auto has = [&](const char* flag) { return flags.contains(flag); };
    const bool wide = has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl") && has("avx512cd");
    EXPECT_EQ(detect_isa(), !(has("avx2") && has("fma")) ? Isa::plain : wide ? Isa::avx512 : Isa::avx2);
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
