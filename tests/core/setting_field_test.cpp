#include "core/setting_field.hpp"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(Joined, HasItsLastWordBeforeTheLastAlone) {
    EXPECT_EQ(joined({}, "or"), "");
    EXPECT_EQ(joined({"a"}, "or"), "a");
    EXPECT_EQ(joined({"a", "b"}, "and"), "a and b");
    EXPECT_EQ(joined({"a", "b", "c", "d"}, "or"), "a, b, c or d");
}

}  // namespace
}  // namespace flyball
