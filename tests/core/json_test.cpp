#include "core/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "support.hpp"

namespace flyball {
namespace {

TEST(Json, ReadsEveryKindOfValueInOrder) {
    const Json json =
        parse_json(R"( {"z": [1, -2, 0.5, true, false, null], "a": {"": "\u00e9\n"}, "b": {}, "c": []} )", "x");
    EXPECT_EQ(json.dump(), R"({"z":[1,-2,0.5,true,false,null],"a":{"":"é\n"},"b":{},"c":[]})");
    EXPECT_EQ(parse_json("3", "x"), 3);
    EXPECT_EQ(parse_json("18446744073709551615", "x").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Json, ErrorsNameLineAndColumn) {
    EXPECT_ERROR(parse_json("{\"a\": 1,\n  \"b\": tru }", "'run.json'"),
                 "got invalid literal in 'run.json', line 2 column 11, expected JSON text.");
    EXPECT_ERROR(parse_json("{\n\"a\": 1,\n \"a\": 2}", "x"), "the key 'a' twice in x, line 3 column 4");
    EXPECT_ERROR(parse_json("", "x"), "unexpected end of input in x, line 1 column 1");
    EXPECT_ERROR(parse_json("[1, 2", "x"), "unexpected end of input");
    EXPECT_ERROR(parse_json("[1 2]", "x"), "unexpected number literal in x, line 1 column 4");
    EXPECT_ERROR(parse_json("{} {}", "x"), "unexpected '{' in x, line 1 column 4");
}

TEST(Json, RefusesWhatJsonForbids) {
    for (const char* text : {"{", "]", "[1,]", "{\"a\":1,}", "{a:1}", "'a'", "// c\n1", "NaN", "Infinity", "01", "1.",
                             ".5", "+1", "\"\t\"", "\"\\x\"", "\"\\ud800\"", "[1] x", "nul", "\xef\xbb\xbf{}"}) {
        EXPECT_ERROR(parse_json(text, "x"), "[core.parse_json] got");
    }
    EXPECT_ERROR(parse_json("1e999", "x"), "a number too large for double precision");
}

TEST(Json, RefusesInvalidUtf8AndNul) {
    EXPECT_ERROR(parse_json("\"\xff\"", "x"), "UTF-8");
    EXPECT_ERROR(parse_json("\"\xc0\x80\"", "x"), "UTF-8");
    EXPECT_ERROR(parse_json("\"\xed\xa0\x80\"", "x"), "UTF-8");
    EXPECT_ERROR(parse_json(std::string_view("{}\0garbage", 10), "x"), "a NUL byte in x, line 1 column 3");
}

TEST(Json, DuplicatesAreRefusedInEveryObject) {
    EXPECT_ERROR(parse_json(R"([{"b": {"a": 1, "a": 1}}])", "x"), "'a' twice");
    EXPECT_ERROR(parse_json(R"({"a": 1, "\u0061": 1})", "x"), "'a' twice");
    EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": {"a": 1}})", "x").size(), 2U);
}

TEST(Json, DepthIsBounded) {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_NO_THROW(parse_json(nested(64), "x"));
    EXPECT_ERROR(parse_json(nested(65), "x"), "nested deeper than 64 levels in x, line 1 column 65");
    EXPECT_ERROR(parse_json(std::string(10'000'000, '['), "x"), "nested deeper");
    EXPECT_ERROR(parse_json(R"({"a":{"a":{}}})", "x", {.max_depth = 2}), "objects nested deeper than 2");
}

TEST(Json, SizeIsBounded) {
    EXPECT_NO_THROW(parse_json("[1,2]", "x", {.max_bytes = 5}));
    EXPECT_ERROR(parse_json("[1,2]", "x", {.max_bytes = 4}), "x of 5 bytes, expected at most 4 bytes");
}

TEST(Json, ManyKeysTakeLinearTime) {
    std::string text = "{";
    for (int i = 0; i < 200'000; ++i) {
        text.append("\"").append(std::to_string(i)).append("\":0,");
    }
    text += "\"x\":0}";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(parse_json(text, "x").size(), 200'001U);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));  // quadratic: minutes
}

TEST(Json, EveryDoubleReadsBackToTheSameBits) {
    const Random random(9);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const double value = std::bit_cast<double>(random.bits(i));
        if (std::isfinite(value)) {
            const double back = parse_json(dump_json(Json(value)), "x").get<double>();
            ASSERT_EQ(std::bit_cast<std::uint64_t>(back), random.bits(i)) << dump_json(Json(value));
        }
    }
}

TEST(Json, NonFiniteNumbersBecomeNull) {
    const Json json = {std::nan(""), std::numeric_limits<double>::infinity(), 1.5};
    EXPECT_EQ(dump_json(json), "[null,null,1.5]");
}

TEST(Json, DumpNeverThrowsOnText) {
    EXPECT_EQ(dump_json(Json("a\xff")), "\"a\xef\xbf\xbd\"");
    EXPECT_EQ(dump_json(Json{{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

}  // namespace
}  // namespace flyball
