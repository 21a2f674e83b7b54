#include "core/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/half.hpp"
#include "safetensors_support.hpp"
#include "support.hpp"

namespace flyball {
namespace {

using test::bytes_of;
using test::entry;
using test::file_of;
using test::parse;
using test::TemporaryFolder;

TEST(Safetensors, ReadsAHandmadeFile) {
    const std::string data("\x00\x00\x80\x3f\x00\x00\x00\xc0\x07", 9);  // 1.0f, -2.0f, 7
    const std::string contents = file_of(R"({"__metadata__":{"format":"pt"},"b":)" + entry("U8", "[1]", "[8,9]") +
                                             R"(,"a":)" + entry("F32", "[2,1]", "[0,8]") + "}   ",
                                         data);
    const SafeTensors file = SafeTensors::parse(bytes_of(contents), "'x'");
    EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(file.contains("a"));
    EXPECT_FALSE(file.contains("c"));
    EXPECT_EQ(file.info("a").dtype, Dtype::f32);
    EXPECT_EQ(file.info("a").shape, (std::vector<std::size_t>{2, 1}));
    EXPECT_EQ(file.info("a").bytes.size(), 8U);
    EXPECT_EQ(file.read<float>("a"), (std::vector<float>{1, -2}));
    EXPECT_EQ(file.read<double>("b"), (std::vector<double>{7}));
    EXPECT_EQ(file.metadata(), (TensorMetadata{{"format", "pt"}}));
}

TEST(Safetensors, AcceptsEmptyFilesScalarsAndEmptyTensors) {
    EXPECT_NO_THROW(parse(file_of("{}")));
    EXPECT_NO_THROW(parse(file_of(R"({"__metadata__":{}})")));
    EXPECT_NO_THROW(parse(file_of(R"({"a":)" + entry("U8", "[]", "[0,1]") + "}", "x")));
    EXPECT_NO_THROW(
        parse(file_of(R"({"a":)" + entry("F64", "[3,0]", "[0,0]") + R"(,"b":)" + entry("F64", "[0]", "[0,0]") + "}")));
}

TEST(Safetensors, ReadsUnalignedData) {
    const std::string data("\x01\x00\x00\x80\x3f", 5);
    std::string contents("?");
    contents +=
        file_of(R"({"a":)" + entry("U8", "[1]", "[0,1]") + R"(,"b":)" + entry("F32", "[1]", "[1,5]") + "}", data);
    const auto file = SafeTensors::parse(bytes_of(contents).subspan(1), "'x'");
    EXPECT_EQ(file.read<double>("b"), std::vector<double>{1.0});
    EXPECT_EQ(file.read<float>("b"), std::vector<float>{1.0F});
}

// A tensor of three pieces, in two types; what is taken may be taken again.
TEST(Safetensors, TakingIsCopyingInPieces) {
    const TemporaryFolder folder;
    std::vector<std::uint16_t> halves((std::size_t{1} << 22U) + 17);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        halves[i] = static_cast<std::uint16_t>(i * 7919 % 0x7000);
    }
    std::vector<float> singles(1000);
    for (std::size_t i = 0; i < singles.size(); ++i) {
        singles[i] = static_cast<float>(i) + 0.5F;
    }
    const auto path = folder.path() / "a.safetensors";
    write_safetensors(path,
                      std::vector{TensorToWrite{"h", Dtype::f16, {halves.size()}, std::as_bytes(std::span(halves))},
                                  tensor("s", {singles.size()}, singles)});
    const SafeTensors file = SafeTensors::open(path);
    for (int turn = 0; turn < 2; ++turn) {
        std::vector<float> taken(halves.size());
        file.take_to("h", std::span(taken));
        for (std::size_t i = 0; i < halves.size(); i += 1021) {
            ASSERT_EQ(taken[i], f16_to_float(halves[i])) << i;
        }
        EXPECT_EQ(taken.back(), f16_to_float(halves.back()));
        EXPECT_EQ(taken, file.read<float>("h"));
        std::vector<double> doubles(singles.size());
        file.take_to("s", std::span(doubles));
        EXPECT_EQ(doubles, file.read<double>("s"));
        file.let_go("s");
    }
    std::vector<float> wrong(3);
    EXPECT_ERROR(file.take_to("s", std::span(wrong)), "1000 elements of tensor 's'");
    EXPECT_ERROR(file.let_go("t"), "no tensor 't'");
}

TEST(Safetensors, AMissingTensorSuggestsTheNearest) {
    const std::string contents = file_of(R"({"model.norm.weight":)" + entry("U8", "[0]", "[0,0]") + "}");
    const SafeTensors file = SafeTensors::parse(bytes_of(contents), "'x'");
    EXPECT_ERROR(file.info("model.nrom.weight"),
                 "no tensor 'model.nrom.weight' in 'x', expected one of its 1 tensors. hint: did you mean "
                 "'model.norm.weight'?");
    EXPECT_ERROR(file.read<float>("lm_head.weight"), "no tensor 'lm_head.weight'");
}

TEST(Safetensors, CopyToChecksTheSize) {
    const std::string contents = file_of(R"({"a":)" + entry("U8", "[2]", "[0,2]") + "}", "\x01\x02");
    const SafeTensors file = SafeTensors::parse(bytes_of(contents), "'x'");
    std::vector<double> out(2);
    file.copy_to("a", std::span(out));
    EXPECT_EQ(out, (std::vector<double>{1, 2}));
    std::vector<float> wrong(3);
    EXPECT_ERROR(file.copy_to("a", std::span(wrong)), "2 elements of tensor 'a' in 'x', expected 3");
}

template <class Stored>
void round_trip(Dtype dtype, const std::vector<Stored>& stored, const std::vector<double>& values) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a.safetensors";
    const std::vector<TensorToWrite> tensors = {{"t", dtype, {stored.size()}, std::as_bytes(std::span(stored))}};
    write_safetensors(path, tensors);
    const SafeTensors file = SafeTensors::open(path);
    EXPECT_EQ(file.info("t").dtype, dtype);
    ASSERT_EQ(file.info("t").bytes.size(), stored.size() * sizeof(Stored)) << name(dtype);
    EXPECT_EQ(std::memcmp(file.info("t").bytes.data(), stored.data(), stored.size() * sizeof(Stored)), 0);
    EXPECT_EQ(file.read<double>("t"), values) << name(dtype);
    std::vector<float> floats(values.begin(), values.end());
    EXPECT_EQ(file.read<float>("t"), floats) << name(dtype);
}

template <class Integer>
void integer_round_trip(Dtype dtype) {
    constexpr Integer least = std::numeric_limits<Integer>::min();
    constexpr Integer most = std::numeric_limits<Integer>::max();
    round_trip<Integer>(dtype, {0, 1, least, most}, {0, 1, static_cast<double>(least), static_cast<double>(most)});
}

TEST(Safetensors, EveryDtypeSurvivesTheRoundTrip) {
    const double infinity = std::numeric_limits<double>::infinity();
    round_trip<double>(Dtype::f64, {0.1, -1e30, infinity}, {0.1, -1e30, infinity});
    round_trip<float>(Dtype::f32, {0.5F, -1e30F}, {0.5, double{-1e30F}});
    round_trip<std::uint16_t>(Dtype::f16, {float_to_f16(1.5F), 0x0001, 0xfc00}, {1.5, 0x1p-24, -infinity});
    round_trip<std::uint16_t>(Dtype::bf16, {float_to_bf16(1.5F), 0x0001, 0x7f80}, {1.5, 0x1p-133, infinity});
    integer_round_trip<std::int64_t>(Dtype::i64);
    integer_round_trip<std::int32_t>(Dtype::i32);
    integer_round_trip<std::int16_t>(Dtype::i16);
    integer_round_trip<std::int8_t>(Dtype::i8);
    integer_round_trip<std::uint64_t>(Dtype::u64);
    integer_round_trip<std::uint32_t>(Dtype::u32);
    integer_round_trip<std::uint16_t>(Dtype::u16);
    integer_round_trip<std::uint8_t>(Dtype::u8);
    round_trip<std::uint8_t>(Dtype::boolean, {0, 1}, {0, 1});
}

TEST(Safetensors, TheSameTensorsGiveTheSameBytesInAnyOrder) {
    const TemporaryFolder folder;
    const std::vector<float> a = {1, 2, 3};
    const std::vector<double> b = {4};
    const std::vector<std::int64_t> c = {5, 6};
    const std::uint8_t d = 1;
    const TensorToWrite flag{"flag", Dtype::boolean, {}, std::as_bytes(std::span(&d, 1))};
    const TensorMetadata metadata = {{"z", "1"}, {"a", "\"quoted\" é"}};
    const std::vector<TensorToWrite> one = {flag, tensor("x", {3}, a), tensor("y", {}, b), tensor("w", {1, 2}, c)};
    const std::vector<TensorToWrite> two = {tensor("w", {1, 2}, c), tensor("y", {}, b), flag, tensor("x", {3}, a)};
    write_safetensors(folder.path() / "1", one, metadata);
    write_safetensors(folder.path() / "2", two, metadata);
    EXPECT_EQ(folder.get("1"), folder.get("2"));
    const std::string text = folder.get("1");
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    EXPECT_EQ(length % 8, 0U);
    EXPECT_EQ(text.substr(8, length).substr(0, 17), R"({"__metadata__":{)");
    const SafeTensors file = SafeTensors::open(folder.path() / "1");
    EXPECT_EQ(file.metadata(), metadata);
    for (const std::string& tensor_name : file.names()) {
        const TensorInfo& info = file.info(tensor_name);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.bytes.data()) % size_of(info.dtype), 0U) << "aligned";
    }
    EXPECT_EQ(file.read<float>("x"), a);
    EXPECT_EQ(file.read<double>("w"), (std::vector<double>{5, 6}));
}

// Typed by hand from the format's description: compact JSON padded with spaces, larger elements first.
TEST(Safetensors, WritesTheDocumentedLayout) {
    const TemporaryFolder folder;
    const std::vector<float> a = {1, 2};
    const std::uint8_t b = 7;
    const std::vector<TensorToWrite> tensors = {{"b", Dtype::u8, {1}, std::as_bytes(std::span(&b, 1))},
                                                tensor("a", {2}, a)};
    write_safetensors(folder.path() / "f", tensors);
    const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                               R"("b":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})";
    std::string padded = header;
    padded.resize((header.size() + 7) / 8 * 8, ' ');
    EXPECT_EQ(folder.get("f"), file_of(padded, std::string("\x00\x00\x80\x3f\x00\x00\x00\x40\x07", 9)));
}

TEST(Safetensors, RefusesToWriteWhatCouldNotBeRead) {
    const TemporaryFolder folder;
    const std::vector<float> a = {1, 2};
    const auto write = [&](std::vector<TensorToWrite> tensors, const TensorMetadata& metadata = {}) {
        write_safetensors(folder.path() / "f", tensors, metadata);
    };
    EXPECT_ERROR(write({tensor("a", {3}, a)}), "8 bytes for tensor 'a', expected 12");
    EXPECT_ERROR(write({tensor("a", {std::size_t{1} << 62, 4}, a)}), "a shape whose size fits");
    EXPECT_ERROR(write({tensor("a", {2}, a), tensor("a", {2}, a)}), "the tensor 'a' twice");
    EXPECT_ERROR(write({tensor("__metadata__", {2}, a)}), "__metadata__");
    EXPECT_ERROR(write({tensor("\xff", {2}, a)}), "UTF-8");
    EXPECT_ERROR(write({}, {{"a", "\xff"}}), "UTF-8");
    EXPECT_EQ(folder.files(), 0U);
    EXPECT_NO_THROW(write({}));
    EXPECT_TRUE(SafeTensors::open(folder.path() / "f").names().empty());
}

class Checkpoint : public testing::Test {
  protected:
    void shard(const std::string& file, const std::string& tensor_name, float value) {
        const std::vector<TensorToWrite> tensors = {tensor(tensor_name, {1}, std::span<const float>(&value, 1))};
        write_safetensors(folder_.path() / file, tensors, {{"format", "pt"}});
    }
    SafeTensors open() { return SafeTensors::open_checkpoint(folder_.path()); }
    void index(const std::string& text) { folder_.put("model.safetensors.index.json", text); }

    TemporaryFolder folder_;
};

TEST_F(Checkpoint, OneFileNeedsNoIndex) {
    shard("model.safetensors", "a", 1);
    EXPECT_EQ(open().read<float>("a"), std::vector<float>{1});
}

TEST_F(Checkpoint, ShardsLookLikeOneFile) {
    shard("one.safetensors", "a", 1);
    shard("two.safetensors", "b", 2);
    index(
        R"({"metadata": {"total_size": 999999999999}, "weight_map": {"b": "two.safetensors", "a": "one.safetensors"}})");
    const SafeTensors checkpoint = open();
    EXPECT_EQ(checkpoint.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(checkpoint.read<float>("a"), std::vector<float>{1});
    EXPECT_EQ(checkpoint.read<float>("b"), std::vector<float>{2});
    EXPECT_EQ(checkpoint.metadata(), (TensorMetadata{{"format", "pt"}}));
}

TEST_F(Checkpoint, ShardsStayInTheFolder) {
    shard("one.safetensors", "a", 1);
    for (const char* name : {"../x", "..", ".", "", "/etc/passwd", "sub/one.safetensors", "a\\\\b", "one\\u0000x"}) {
        index(std::string(R"({"weight_map": {"a": ")") + name + "\"}}");
        EXPECT_ERROR(open(), "expected a plain file name in the same folder");
    }
    index(R"({"weight_map": {"a": 3}})");
    EXPECT_ERROR(open(), "the file '3' for tensor 'a'");
}

TEST_F(Checkpoint, ShardsMayBeLinksAsInTheHuggingFaceCache) {
    shard("blob", "a", 1);
    std::filesystem::create_symlink("blob", folder_.path() / "one.safetensors");
    index(R"({"weight_map": {"a": "one.safetensors"}})");
    EXPECT_EQ(open().read<float>("a"), std::vector<float>{1});
}

TEST_F(Checkpoint, TheIndexMustAgreeWithTheShards) {
    shard("one.safetensors", "a", 1);
    index(R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors"}})");
    EXPECT_ERROR(open(), "no tensor 'b' in");
    index(R"({"weight_map": {"a": "missing.safetensors"}})");
    EXPECT_ERROR(open(), "missing.safetensors");
    index(R"({"weight_map": {}})");
    EXPECT_ERROR(open(), "without a weight_map");
    index(R"({"weight_map": []})");
    EXPECT_ERROR(open(), "without a weight_map");
    index("[]");
    EXPECT_ERROR(open(), "without a weight_map");
    index("{");
    EXPECT_ERROR(open(), "line 1 column 2");
}

// transformers 5.23 reads every tensor of the files that an index names, wherever the index says that it is.
TEST_F(Checkpoint, TensorsThatTheIndexLeavesOutOrPutsElsewhereAreReadWhereTheyAre) {
    const float values[] = {1, 3};
    write_safetensors(folder_.path() / "one.safetensors",
                      std::vector{tensor("a", {1}, std::span<const float>(values, 1)),
                                  tensor("left out", {1}, std::span<const float>(values + 1, 1))});
    shard("two.safetensors", "b", 2);
    index(R"({"weight_map": {"b": "two.safetensors", "a": "two.safetensors", "left out": "one.safetensors"}})");
    EXPECT_EQ(open().read<float>("a"), std::vector<float>{1});
    index(R"({"weight_map": {"b": "two.safetensors", "a": "one.safetensors"}})");
    EXPECT_EQ(open().names(), (std::vector<std::string>{"a", "b", "left out"}));
    EXPECT_EQ(open().read<float>("left out"), std::vector<float>{3});
}

// transformers takes the one of the last file there, whichever the index names.
TEST_F(Checkpoint, TwoFilesMayNotDisagreeAboutATensor) {
    shard("one.safetensors", "a", 1);
    const float values[] = {1, 2};
    const auto second = [&](float a) {
        const std::vector<TensorToWrite> tensors = {tensor("a", {1}, std::span<const float>(&a, 1)),
                                                    tensor("b", {1}, std::span<const float>(values + 1, 1))};
        write_safetensors(folder_.path() / "two.safetensors", tensors);
    };
    for (const char* const file : {"one", "two"}) {
        index(std::string(R"({"weight_map": {"b": "two.safetensors", "c": "one.safetensors", "a": ")") + file +
              ".safetensors\"}}");
        second(4);
        EXPECT_ERROR(open(), "two tensors 'a' in");
        EXPECT_ERROR(open(), "one in 'one.safetensors' and another in 'two.safetensors'");
        second(1);
        EXPECT_ERROR(open(), "no tensor 'c' in");  // and nothing else is wrong
    }
}

TEST_F(Checkpoint, SaysWhatAFolderLacks) {
    EXPECT_ERROR(open(), "without tensors, expected a folder with model.safetensors");
    folder_.put("pytorch_model.bin", "");
    EXPECT_ERROR(open(), "hint: convert pytorch_model.bin");
    EXPECT_ERROR(SafeTensors::open_checkpoint(folder_.path() / "missing"), "which is no folder");
    EXPECT_ERROR(SafeTensors::open(folder_.path() / "missing"), "No such file");
}

}  // namespace
}  // namespace flyball
