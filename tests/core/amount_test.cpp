#include "core/amount.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace flyball {
namespace {

TEST(Amount, DurationsAreInAUnitOfWhichThereAreOneAndAHalf) {
    EXPECT_EQ(duration_text(0), "0 seconds");
    EXPECT_EQ(duration_text(89), "89 seconds");
    EXPECT_EQ(duration_text(90), "1.5 minutes");
    EXPECT_EQ(duration_text(5399), "90 minutes");
    EXPECT_EQ(duration_text(5400), "1.5 hours");
    EXPECT_EQ(duration_text(20 * 3600), "20 hours");
    EXPECT_EQ(duration_text(2 * 86400), "2.0 days");
    EXPECT_EQ(duration_text(500 * 86400), "500 days");
    EXPECT_EQ(duration_text(2 * 31557600.0), "2.0 years");
    EXPECT_EQ(duration_text(1e100), "a million or more years");
    EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "a million or more years");
}

TEST(Amount, MemoryIsInMillionsAndThousandsOfMillionsOfBytes) {
    EXPECT_EQ(memory_text(25e6), "25 MB");
    EXPECT_EQ(memory_text(1.5e6), "1.5 MB");
    EXPECT_EQ(memory_text(999e6), "999 MB");
    EXPECT_EQ(memory_text(1e9), "1.0 GB");
    EXPECT_EQ(memory_text(64e9), "64 GB");
    EXPECT_EQ(memory_text(1e18), "a million or more GB");
}

}  // namespace
}  // namespace flyball
