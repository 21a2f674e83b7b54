#include "core/setting_field.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace flyball {
namespace {

TEST(Joined, HasItsLastWordBeforeTheLastAlone) {
    EXPECT_EQ(joined({}, "or"), "");
    EXPECT_EQ(joined({"a"}, "or"), "a");
    EXPECT_EQ(joined({"a", "b"}, "and"), "a and b");
    EXPECT_EQ(joined({"a", "b", "c", "d"}, "or"), "a, b, c or d");
}

TEST(SettingReader, TakesTheLeastWholeNumberAndNoneBelow) {
    const SettingReader reader("core.settings");
    EXPECT_EQ(reader.whole("3", "steps", 3), 3U);
    EXPECT_EQ(reader.whole("0", "steps", 0), 0U);
    try {
        reader.whole("2", "steps", 3);
        FAIL() << "2 is below 3";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "[core.settings] got steps = '2', expected a whole number, 3 or more.");
    }
}

}  // namespace
}  // namespace flyball
