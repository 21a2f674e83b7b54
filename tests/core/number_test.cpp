#include "core/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace flyball {
namespace {

TEST(Number, ReadsTheFormsPeopleType) {
    EXPECT_EQ(parse_double("1e-4"), 1e-4);
    EXPECT_EQ(parse_double(".5"), 0.5);
    EXPECT_EQ(parse_double("2."), 2.0);
    EXPECT_EQ(parse_double("+3"), 3.0);
    EXPECT_EQ(parse_double("-.25E+1"), -2.5);
    EXPECT_EQ(parse_double("1E5"), 1e5);
    EXPECT_EQ(parse_double("5e-324"), std::numeric_limits<double>::denorm_min());
    EXPECT_TRUE(std::signbit(parse_double("-0").value()));
}

TEST(Number, RefusesWhatIsNotOneNumber) {
    for (const char* text :
         {"",  " ", "1 ", " 1", "1x",  "1,5", "0x10", "inf", "-inf", "nan",   "infinity", "NaN",    "+",
          "-", ".", "e5", "1e", "1e+", "--1", "+-1",  "-+1", "++1",  "1e999", "-1e999",   "1e-999", "1_000"}) {
        EXPECT_EQ(parse_double(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_double(std::string_view("1\0", 2)), std::nullopt);
}

TEST(Number, IntegersMustFit) {
    EXPECT_EQ(parse_integer("42"), 42);
    EXPECT_EQ(parse_integer("+7"), 7);
    EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
    for (const char* text : {"", "9223372036854775808", "1.0", "1e3", "0x1", " 1", "1 ", "+-1", "+", "-"}) {
        EXPECT_EQ(parse_integer(text), std::nullopt) << text;
    }
}

TEST(Number, FormatsWithoutPaddingAndPlus) {
    EXPECT_EQ(format_double(1e-4), "1e-4");
    EXPECT_EQ(format_double(1e-10), "1e-10");
    EXPECT_EQ(format_double(1e100), "1e100");
    EXPECT_EQ(format_double(-2.5e-300), "-2.5e-300");
    EXPECT_EQ(format_double(0.25), "0.25");
    EXPECT_EQ(format_double(100000), "100000");
    EXPECT_EQ(format_double(-300000), "-300000");
    EXPECT_EQ(format_double(1e6), "1e6");
    EXPECT_EQ(format_double(0.1), "0.1");
    EXPECT_EQ(format_double(0), "0");
    EXPECT_EQ(format_double(-0.0), "-0");
    EXPECT_EQ(format_double(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(format_double(-std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(format_double(std::nan("")), "nan");
}

TEST(Number, EveryDoubleReadsBackToTheSameBits) {
    const Random random(1, 2);
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const double value = std::bit_cast<double>(random.bits(i));
        if (!std::isfinite(value)) {
            continue;
        }
        const auto back = parse_double(format_double(value));
        ASSERT_TRUE(back.has_value()) << format_double(value);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(*back), random.bits(i)) << format_double(value);
    }
}

TEST(Number, IgnoresTheLocale) {
    const char* const comma_locale = std::setlocale(LC_ALL, "de_DE.UTF-8");
    EXPECT_EQ(parse_double("1.5"), 1.5);
    EXPECT_EQ(format_double(1.5), "1.5");
    std::setlocale(LC_ALL, "C");
    if (comma_locale == nullptr) {
        GTEST_SKIP() << "no locale with a decimal comma on this machine";
    }
}

TEST(Number, WholeNumbersAreCountsInAnySpelling) {
    EXPECT_EQ(parse_whole("1000000"), 1000000U);
    EXPECT_EQ(parse_whole("1e6"), 1000000U);
    EXPECT_EQ(parse_whole("32.0"), 32U);
    EXPECT_EQ(parse_whole("+7"), 7U);
    EXPECT_EQ(parse_whole("18446744073709551615"), 18446744073709551615U);
    EXPECT_EQ(parse_whole("9007199254740992.0"), 9007199254740992U);  // 2^53
    for (const char* wrong :
         {"", "x", "1.5", "-1", "-0.5", "1e300", "18446744073709551616", "9.1e15", "0x10", "1e", "+-1"}) {
        EXPECT_EQ(parse_whole(wrong), std::nullopt) << wrong;
    }
}

TEST(FormatShort, WritesOutWhatPeopleWriteOut) {
    const std::vector<std::pair<double, const char*>> three = {
        {1024, "1024"},    {999999, "999999"},   {1234.56, "1235"}, {999.6, "1000"},    {0.012345, "0.0123"},
        {1e-4, "0.0001"},  {12345678, "1.23e7"}, {1e6, "1e6"},      {1.5e-5, "1.5e-5"}, {0, "0"},
        {-2048, "-2048"},  {-0.5, "-0.5"},       {99.96, "100"},    {3.14159, "3.14"},  {-1234.56, "-1235"},
        {999999.7, "1e6"}, {100000.4, "100000"}};
    for (const auto& [value, text] : three) {
        EXPECT_EQ(format_short(value, 3), text) << value;
    }
    EXPECT_EQ(format_short(1234.56, 6), "1234.56");
    EXPECT_EQ(format_short(2.99999999999, 6), "3");
    EXPECT_EQ(format_short(std::nan(""), 3), "nan");
    EXPECT_EQ(format_short(-INFINITY, 3), "-inf");
}

}  // namespace
}  // namespace flyball
