// A NaN among numbers is their extreme: it says that one of them is not known.
#include "measure/extremes.hpp"

#include <gtest/gtest.h>

namespace flyball::measure {
namespace {

TEST(Extremes, AreThoseOfNumbers) {
    EXPECT_EQ(larger(1, 2), 2);
    EXPECT_EQ(larger(2, 1), 2);
    EXPECT_EQ(larger(-INFINITY, -3), -3);
    EXPECT_EQ(smaller(1, 2), 1);
    EXPECT_EQ(smaller(2, 1), 1);
    EXPECT_EQ(smaller(3, INFINITY), 3);
}

TEST(Extremes, KeepANanOnEitherSide) {
    EXPECT_TRUE(std::isnan(larger(NAN, 1)));
    EXPECT_TRUE(std::isnan(larger(1, NAN)));
    EXPECT_TRUE(std::isnan(larger(-INFINITY, NAN)));
    EXPECT_TRUE(std::isnan(smaller(NAN, 1)));
    EXPECT_TRUE(std::isnan(smaller(1, NAN)));
    EXPECT_TRUE(std::isnan(smaller(INFINITY, NAN)));
}

}  // namespace
}  // namespace flyball::measure
