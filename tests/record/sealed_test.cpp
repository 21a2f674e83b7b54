// A sealed file opens as what it is, and as nothing else: every bit of it counts.
#include "record/sealed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "support.hpp"

namespace flyball::record {
namespace {

using test::TemporaryFolder;

const Seal seal{"sample 3", {{"seed", "7"}, {"beta", "2.5"}}};
const std::array<double, 3> values = {1.5, -2, 1e-300};

void write(const std::filesystem::path& path, const Seal& with) {
    const std::array<TensorToWrite, 1> tensors = {tensor("x", {3}, values)};
    write_sealed(path, with, tensors, {{"t", "0.5"}});
}

// Without the waits for the disk of an atomic write: thousands are made here.
void put(const std::filesystem::path& path, const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
}

std::string sentence(const std::filesystem::path& path, const Seal& with) {
    try {
        open_sealed(path, with);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        return error.what();
    }
    return "";
}

TEST(Sealed, OpensWithItsContents) {
    const TemporaryFolder folder;
    write(folder / "a", seal);
    const SafeTensors file = open_sealed(folder / "a", seal);
    EXPECT_EQ(file.read<double>("x"), std::vector<double>(values.begin(), values.end()));
    EXPECT_EQ(file.metadata().at("t"), "0.5");
}

// What a crash of the system leaves. Our own file cannot be downloaded again.
TEST(Sealed, OneThatIsEmptyOrCutShortSaysHowToGoOn) {
    const TemporaryFolder folder;
    write(folder / "a", seal);
    const std::string text = read_text_file(folder / "a", 1 << 20);
    for (const std::size_t left : {std::size_t{0}, std::size_t{5}, std::size_t{40}, text.size() - 1}) {
        put(folder / "b", text.substr(0, left));
        const std::string says = sentence(folder / "b", seal);
        EXPECT_NE(says.find("damaged or cut short"), std::string::npos) << says;
        EXPECT_NE(says.find("start anew with force"), std::string::npos) << says;
        EXPECT_EQ(says.find("download"), std::string::npos) << says;
    }
}

// [1,3] and [3,1] have the same bytes of data: the shape itself is sealed.
TEST(Sealed, AnotherShapeOfTheSameBytesIsRefused) {
    const TemporaryFolder folder;
    const std::array<TensorToWrite, 1> tensors = {tensor("x", {1, 3}, values)};
    write_sealed(folder / "a", seal, tensors, {{"t", "0.5"}});
    std::string text = read_text_file(folder / "a", 1 << 20);
    const std::size_t shape = text.find("[1,3]");
    ASSERT_NE(shape, std::string::npos);
    put(folder / "b", text.replace(shape, 5, "[3,1]"));
    EXPECT_NE(sentence(folder / "b", seal).find("checksum"), std::string::npos);
}

// Each text with its length in front, by key, then each tensor: its name, its type and shape, and its bytes. Tensors
// come by their names, in whatever order they are written, so that the seal does not depend on the layout of a file.
TEST(Sealed, TheChecksumOfATensorFileIsOfItsTextsAndOfItsTensorsByName) {
    const TemporaryFolder folder;
    const std::array<double, 1> of_a = {0.5};
    const std::array<double, 1> of_b = {-3};
    const std::array<float, 2> of_c = {1, -2};
    const std::array<TensorToWrite, 3> tensors = {tensor("c", {2}, of_c), tensor("b", {1}, of_b),
                                                  tensor("a", {1}, of_a)};
    const Seal sealed = {"letters", {{"seed", "7"}}};
    write_sealed(folder / "a", sealed, tensors, {{"t", "0.5"}});
    std::string all;
    const auto add_text = [&](std::string_view text) {
        const std::uint64_t size = text.size();
        all.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
    };
    for (const char* const text : {"seal.kind", "letters", "seal.run.seed", "7", "t", "0.5", "a", "F64[1]"}) {
        add_text(text);
    }
    all.append(reinterpret_cast<const char*>(of_a.data()), sizeof of_a);
    add_text("b");
    add_text("F64[1]");
    all.append(reinterpret_cast<const char*>(of_b.data()), sizeof of_b);
    add_text("c");
    add_text("F32[2]");
    all.append(reinterpret_cast<const char*>(of_c.data()), sizeof of_c);
    EXPECT_EQ(open_sealed(folder / "a", sealed).metadata().at("seal.checksum"), checksum(std::string_view(all)));
}

TEST(Sealed, ChecksumsAreThoseOfXxh3) {
    // Printed by xxhsum -H3 for no bytes.
    EXPECT_EQ(checksum(std::string_view("")), "2d06800538d394c2");
    for (int i = 0; i < 200; ++i) {  // one in sixteen begins with a zero
        EXPECT_EQ(checksum(std::string_view(std::to_string(i))).size(), 16U) << i;
    }
    EXPECT_NE(checksum(std::string_view("123456789")), checksum(std::string_view("123456788")));
}

// What a run that began from a model is bound to: its weights and how they are to be read, and nothing else.
TEST(Sealed, AModelIsKnownByItsWeightsAndItsConfig) {
    const TemporaryFolder folder;
    const std::filesystem::path at(folder.path());
    put(at / "model.safetensors", "weights");
    put(at / "config.json", "{}");
    const std::string before = model_checksum(at);
    put(at / "notes.txt", "of no matter");
    EXPECT_EQ(model_checksum(at), before);
    put(at / "config.json", "{ }");
    const std::string other_config = model_checksum(at);
    EXPECT_NE(other_config, before);
    put(at / "model.safetensors", "other weights");
    EXPECT_NE(model_checksum(at), other_config);
}

TEST(Sealed, EverySingleFlippedBitOfATensorFileIsRefused) {
    const TemporaryFolder folder;
    write(folder / "a", seal);
    const std::string whole = read_text_file(folder / "a", 1 << 20);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        put(folder / "b", damaged);
        EXPECT_THROW(open_sealed(folder / "b", seal), Error) << "bit " << bit;
    }
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        put(folder / "b", whole.substr(0, size));
        EXPECT_THROW(open_sealed(folder / "b", seal), Error) << "cut to " << size;
    }
}

TEST(Sealed, EverySingleFlippedBitOfAJsonFileIsRefused) {
    const TemporaryFolder folder;
    write_sealed_json(folder / "a", seal, {{"predicted", 1.25}, {"note", "so"}});
    EXPECT_EQ(read_sealed_json(folder / "a", seal)["predicted"], 1.25);
    const std::string whole = read_text_file(folder / "a", 1 << 20);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        put(folder / "b", damaged);
        EXPECT_THROW(read_sealed_json(folder / "b", seal), Error) << "bit " << bit;
    }
}

TEST(Sealed, AJsonFileThatSomebodyLaidOutAnewIsRefused) {
    const TemporaryFolder folder;
    write_sealed_json(folder / "a", seal, {{"predicted", 1.25}});
    std::string text = read_text_file(folder / "a", 1 << 20);
    text.replace(text.find('\n'), 1, " ");
    put(folder / "b", text);
    EXPECT_THROW(read_sealed_json(folder / "b", seal), Error);
}

TEST(Sealed, AFileOfAnotherRunIsRefusedWithWhatDiffers) {
    const TemporaryFolder folder;
    write(folder / "a", seal);
    Seal other = seal;
    other.identity[0].second = "8";
    EXPECT_NE(sentence(folder / "a", other).find("seed = '7'"), std::string::npos) << sentence(folder / "a", other);
    EXPECT_NE(sentence(folder / "a", other).find("seed = '8', as in this run"), std::string::npos);
    other = seal;
    other.identity.emplace_back("weights", "gaussian");
    EXPECT_NE(sentence(folder / "a", other).find("a run without weights"), std::string::npos);
    other = seal;
    other.identity.pop_back();
    EXPECT_NE(sentence(folder / "a", other).find("beta = '2.5'"), std::string::npos);
    other = seal;
    other.kind = "sample 4";
    EXPECT_NE(sentence(folder / "a", other).find("'sample 3'"), std::string::npos);
}

TEST(Sealed, TheProgramsIdentityNamesVersionInstructionSetAndBlasCore) {
    const Identity identity = program_identity();
    ASSERT_EQ(identity.size(), 3U);
    EXPECT_EQ(identity[0].first, "flyball version");
    EXPECT_EQ(identity[1].first, "instruction set");
    EXPECT_EQ(identity[2].first, "BLAS core");
    for (const auto& [key, value] : identity) {
        EXPECT_FALSE(value.empty()) << key;
    }
}

}  // namespace
}  // namespace flyball::record
