// Files made to break the reader. Each is refused with a sentence, at once and without much memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "core/safetensors.hpp"
#include "safetensors_support.hpp"
#include "support.hpp"

namespace flyball {
namespace {

using test::entry;
using test::file_of;
using test::parse;
using test::TemporaryFolder;
using test::with_length;

TEST(Safetensors, RefusesFilesCutShort) {
    EXPECT_ERROR(parse(""), "'x' of 0 bytes");
    EXPECT_ERROR(parse("1234567"), "'x' of 7 bytes, expected a safetensors file, which has at least 8");
    EXPECT_ERROR(parse(with_length(3, "{}")), "a header of 3 bytes in 'x', expected at most 2");
    const std::string whole = file_of(R"({"a":)" + entry("U8", "[4]", "[0,4]") + "}", "abcd");
    EXPECT_NO_THROW(parse(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_ERROR(parse(whole.substr(0, size)), "[core.safetensors] got");
    }
    EXPECT_ERROR(parse(whole.substr(0, whole.size() - 1)), "expected a range within the 3 bytes of data");
}

TEST(Safetensors, RefusesHeaderLengthsBeyondTheFileOrTheCap) {
    EXPECT_ERROR(parse(with_length(100'000'000'000, "{}")), "a header of 100000000000 bytes");
    EXPECT_ERROR(parse(with_length(~0ULL, "{}")), "18446744073709551615");
    EXPECT_ERROR(parse(with_length(~0ULL - 7, "{}")), "expected at most 2");
    EXPECT_ERROR(parse(with_length(0, "")), "'{'");
    const std::string large(100'000'001, ' ');
    EXPECT_ERROR(parse(file_of("{}" + large)), "expected at most 100000000");
}

TEST(Safetensors, RefusesBadShapes) {
    const auto with_shape = [](const std::string& shape, const std::string& dtype = "F32") {
        parse(file_of(R"({"a":)" + entry(dtype, shape, "[0,4]") + "}", "abcd"));
    };
    EXPECT_NO_THROW(with_shape("[1,1]"));
    EXPECT_ERROR(with_shape("[-1]"),
                 "got -1 in the header of 'x', line 1 column 32, expected an array of non-negative");
    EXPECT_ERROR(with_shape("[1.0]"), "'1.0'");
    EXPECT_ERROR(with_shape("[1e0]"), "'1e0'");
    EXPECT_ERROR(with_shape("[18446744073709551616]"), "'18446744073709551616'");
    EXPECT_ERROR(with_shape("[4294967296,4294967296]"), "overflows");
    EXPECT_ERROR(with_shape("[4611686018427387905]"), "overflows");  // times 4 bytes: 4 modulo 2^64
    EXPECT_ERROR(with_shape("[0,4294967296,4294967296]"), "overflows");
    EXPECT_ERROR(with_shape("[2]"), "4 bytes for tensor 'a' in 'x', expected 8 for its shape and dtype");
    EXPECT_ERROR(with_shape("[0]"), "4 bytes for tensor 'a'");
    EXPECT_ERROR(with_shape("[[1]]"), "nested deeper");
    EXPECT_ERROR(with_shape("[\"1\"]"), "'1'");
    EXPECT_ERROR(with_shape("[null]"), "null");
    EXPECT_ERROR(with_shape("1"), "got 1");
    EXPECT_ERROR(with_shape("null"), "got null");
    std::string ones = "[1";
    for (int i = 0; i < 64; ++i) {
        ones += ",1";
    }
    EXPECT_ERROR(with_shape(ones + "]"), "more than 64 dimensions");
}

TEST(Safetensors, RefusesBadOffsets) {
    const auto with_offsets = [](const std::string& offsets) {
        parse(file_of(R"({"a":)" + entry("U8", "[4]", offsets) + "}", "abcd"));
    };
    EXPECT_NO_THROW(with_offsets("[0,4]"));
    EXPECT_ERROR(with_offsets("[4,0]"), "data_offsets [4, 0] of tensor 'a'");
    EXPECT_ERROR(with_offsets("[0,5]"), "a range within the 4 bytes");
    EXPECT_ERROR(with_offsets("[18446744073709551615,3]"), "a range within");
    EXPECT_ERROR(with_offsets("[0]"), "an incomplete entry for tensor 'a'");
    EXPECT_ERROR(with_offsets("[0,4,4]"), "more than two numbers");
    EXPECT_ERROR(with_offsets("[0,-4]"), "-4");
    EXPECT_ERROR(with_offsets("[0,3]"), "3 bytes for tensor 'a' in 'x', expected 4");
}

TEST(Safetensors, RefusesOverlapsHolesAndTrailingBytes) {
    const auto two = [](const std::string& first, const std::string& second, const std::string& data) {
        parse(file_of(R"({"a":)" + entry("U8", "[4]", first) + R"(,"b":)" + entry("U8", "[4]", second) + "}", data));
    };
    EXPECT_NO_THROW(two("[0,4]", "[4,8]", "abcdefgh"));
    EXPECT_NO_THROW(two("[4,8]", "[0,4]", "abcdefgh"));
    EXPECT_ERROR(two("[0,4]", "[2,6]", "abcdef"),
                 "tensor 'b' at offset 2 in 'x', expected offset 4, without overlapping");
    EXPECT_ERROR(two("[0,4]", "[0,4]", "abcd"), "overlapping");
    EXPECT_ERROR(two("[0,4]", "[5,9]", "abcdefghi"), "without a hole after the tensor before it");
    EXPECT_ERROR(two("[1,5]", "[5,9]", "abcdefghi"), "tensor 'a' at offset 1");
    EXPECT_ERROR(two("[0,4]", "[4,8]", "abcdefghi"), "1 bytes after the last tensor");
    EXPECT_ERROR(parse(file_of("{}", "x")), "1 bytes after the last tensor");
}

TEST(Safetensors, RefusesHeadersOfAnotherForm) {
    const auto good = entry("U8", "[0]", "[0,0]");
    EXPECT_ERROR(parse(file_of("[]")), "'{'");
    EXPECT_ERROR(parse(file_of(" {}")), "'{'");
    EXPECT_ERROR(parse(file_of("{")), "unexpected end of input");
    EXPECT_ERROR(parse(file_of("{} {}")), "unexpected '{'");
    EXPECT_ERROR(parse(file_of(std::string("{}\0\0", 4))), "a NUL byte");
    EXPECT_ERROR(parse(file_of(R"({"a":1})")), "got 1");
    EXPECT_ERROR(parse(file_of(R"({"a":null})")), "got null");
    EXPECT_ERROR(parse(file_of(R"({"a":[]})")), "an array");
    EXPECT_ERROR(parse(file_of(R"({"a":{}})")), "an incomplete entry for tensor 'a'");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":"U8","shape":[0]}})")), "an incomplete entry");
    EXPECT_ERROR(parse(file_of(R"({"a":{"shape":[0],"data_offsets":[0,0]}})")), "an incomplete entry");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})")), "an incomplete entry");
    // What one entry has, the next one must still say.
    EXPECT_ERROR(parse(file_of(R"({"a":)" + good + R"(,"b":{"shape":[0],"data_offsets":[0,0]}})")),
                 "an incomplete entry for tensor 'b'");
    EXPECT_ERROR(parse(file_of(R"({"a":)" + good + R"(,"b":{"dtype":"U8","data_offsets":[0,0]}})")),
                 "an incomplete entry for tensor 'b'");
    EXPECT_ERROR(parse(file_of(R"({"a":)" + good + R"(,"b":{"dtype":"U8","shape":[0]}})")),
                 "an incomplete entry for tensor 'b'");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1}})")),
                 "the field 'more' of tensor 'a'");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":["U8"],"shape":[0],"data_offsets":[0,0]}})")), "an array");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":{},"shape":[0],"data_offsets":[0,0]}})")), "an object");
    EXPECT_ERROR(parse(file_of(R"({"a":)" + entry("Q4", "[0]", "[0,0]") + "}")), "the dtype 'Q4' of tensor 'a'");
    EXPECT_ERROR(parse(file_of(R"({"a":)" + entry("f32", "[0]", "[0,0]") + "}")), "expected F64, F32");
    EXPECT_ERROR(parse(file_of(R"({"a":)" + good + R"(,"a":)" + good + "}")), "the key 'a' twice");
    EXPECT_ERROR(parse(file_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})")),
                 "the key 'dtype' twice");
    EXPECT_ERROR(parse(file_of(R"({"__metadata__":{"a":1}})")), "texts in __metadata__");
    EXPECT_ERROR(parse(file_of(R"({"__metadata__":{"a":{}}})")), "an object");
    EXPECT_ERROR(parse(file_of(R"({"__metadata__":{"a":["b"]}})")), "an array");
    EXPECT_ERROR(parse(file_of(R"({"__metadata__":"a"})")), "got 'a'");
    EXPECT_ERROR(parse(file_of("{\"\xff\":" + good + "}")), "UTF-8");
    EXPECT_ERROR(parse(file_of("{\"__metadata__\":{\"a\":\"\xc3\"}}")), "UTF-8");
}

TEST(Safetensors, DeepNestingIsRefusedAtOnce) {
    EXPECT_ERROR(parse(file_of("{\"a\":" + std::string(100'000, '['))), "an array");
    std::string objects = "{\"a\":";
    for (int i = 0; i < 100'000; ++i) {
        objects += "{\"dtype\":";
    }
    EXPECT_ERROR(parse(file_of(objects)), "an object");
}

// The address space stands for memory: peak resident size before and after.
TEST(Safetensors, HostileHeadersNeedLittleMemory) {
    if (test::sanitized) {
        GTEST_SKIP() << "sanitizers have their own memory";
    }
    const auto peak_bytes = [] {
        struct rusage usage {};
        getrusage(RUSAGE_SELF, &usage);
        return static_cast<double>(usage.ru_maxrss) * 1024;
    };
    const TemporaryFolder folder;
    {
        const auto path = folder.put("length", with_length(99'999'999, "{}"));
        std::filesystem::resize_file(path, 50'000'000);
        const double before = peak_bytes();
        EXPECT_ERROR(SafeTensors::open(path), "a header of 99999999 bytes");
        EXPECT_LT(peak_bytes() - before, 1e6);
    }
    {
        // A shape that would be 2^62 bytes, with no data at all.
        const double before = peak_bytes();
        EXPECT_ERROR(parse(file_of(R"({"a":)" + entry("F32", "[1152921504606846976]", "[0,0]") + "}")), "0 bytes for");
        EXPECT_LT(peak_bytes() - before, 1e6);
    }
    {
        // As many entries as possible for the bytes.
        std::string header = "{";
        for (int i = 0; i < 200'000; ++i) {
            header.append("\"").append(std::to_string(i)).append("\":").append(entry("U8", "[0]", "[0,0]")).append(",");
        }
        const auto path = folder.put("many", file_of(header + "\"x\":" + entry("U8", "[0]", "[0,0]") + "}"));
        const auto size = static_cast<double>(header.size());
        const double before = peak_bytes();
        EXPECT_EQ(SafeTensors::open(path).names().size(), 200'001U);
        EXPECT_LT(peak_bytes() - before, 10 * size);
    }
}

}  // namespace
}  // namespace flyball
