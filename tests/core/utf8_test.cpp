// UTF-8: every code point there and back, and what is none replaced as Python does.
#include "core/utf8.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace flyball::test {
namespace {

// Python: b'...'.decode('utf-8', 'replace')
TEST(Utf8, RepairsAsPythonDoes) {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT_EQ(repaired_utf8("a\xFF"
                            "b"),
              "a" + r + "b");
    EXPECT_EQ(repaired_utf8("\xE2\x82"), r);  // a beginning cut off
    EXPECT_EQ(repaired_utf8("\xE2\x82z"), r + "z");
    EXPECT_EQ(repaired_utf8("\xC0\xAF"), r + r);                  // overlong
    EXPECT_EQ(repaired_utf8("\xE0\x80\xAF"), r + r + r);          // overlong in three bytes
    EXPECT_EQ(repaired_utf8("\xF0\x80\x80\xAF"), r + r + r + r);  // and in four
    EXPECT_EQ(repaired_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
    EXPECT_EQ(repaired_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
    EXPECT_EQ(repaired_utf8("\xF0\x9F\x98"), r);
    EXPECT_EQ(repaired_utf8("\xF0\x9F\x98\xF0\x9F\x98\x80"), r + "😀");
    std::size_t count = 0;
    EXPECT_EQ(repaired_utf8("ok\x80ok\xFE", &count), "ok" + r + "ok" + r);
    EXPECT_EQ(count, 2U);
}

TEST(Utf8, ValidTextIsLeftAlone) {
    for (char32_t value = 0; value < 0x110000; ++value) {
        if (value >= 0xD800 && value < 0xE000) {
            continue;
        }
        std::string point;
        append_point(point, value);
        ASSERT_TRUE(is_utf8(point));
        ASSERT_EQ(repaired_utf8(point), point);
        ASSERT_EQ(next_point(point).value, value);
        ASSERT_EQ(next_valid_point(point).value, value);
        ASSERT_EQ(point_length(point.front()), point.size());
        ASSERT_FALSE(is_continuation(point.front()));
        ASSERT_TRUE(std::all_of(point.begin() + 1, point.end(), is_continuation));
    }
    EXPECT_TRUE(is_utf8(""));
    EXPECT_FALSE(is_utf8("aaaaaaaaaaaaaaaa\x80"));
}

}  // namespace
}  // namespace flyball::test
