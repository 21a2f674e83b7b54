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

TEST(Extremes, OfAListKeepANanWhereverItIs) {
    EXPECT_EQ(largest_in({1, 5, -7}), 5);
    EXPECT_EQ(smallest_in({1, 5, -7}), -7);
    for (const std::vector<double>& with : {std::vector<double>{NAN, 1, 2}, {1, NAN, 2}, {2, 1, NAN}}) {
        EXPECT_TRUE(std::isnan(largest_in(with)));
        EXPECT_TRUE(std::isnan(smallest_in(with)));
    }
    EXPECT_EQ(largest_in({}), -HUGE_VAL);
    EXPECT_EQ(smallest_in({}), HUGE_VAL);
}

}  // namespace
}  // namespace flyball::measure
