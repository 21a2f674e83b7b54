#include "core/expected_whole.hpp"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(ExpectedWhole, SaysOfANumberThatIsTooLargeThatItIs) {
    for (const char* const text : {"18446744073709551616", "1e20", "+99999999999999999999", "1e300"}) {
        EXPECT_EQ(expected_whole(text, 2), "a whole number up to 18446744073709551615: this one is too large") << text;
    }
    for (const char* const text : {"1e18", "9007199254740994.0", "1.2e19"}) {
        EXPECT_EQ(expected_whole(text, 2),
                  "all digits of a whole number this large: exponents are read up to 9007199254740992")
            << text;
    }
    for (const char* const text : {"1", "-1e20", "1.5", "many", "", "-18446744073709551616", "1e400"}) {
        EXPECT_EQ(expected_whole(text, 2), "a whole number, 2 or more") << text;
    }
}

}  // namespace
}  // namespace flyball
