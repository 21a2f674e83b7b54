// Event files byte by byte as TensorBoard's own writer makes them.
#include "record/event_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"
#include "support.hpp"

namespace flyball::record::test {
namespace {

std::string hex(const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) {
        result += text;
    }
    return result;
}

// Made by make_event_file.py with tensorboard 2.21.0 of PyPI; "78" x 200 is a tag of 200 letters.
std::string golden() {
    return std::string(
               "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe92000000000000000"
               "29eda9500900006040fc54d94110012a130a110a0a6c6f73732f747261696e1533338340fc2bfad31e00000000000000"
               "d9dc12320900008040fc54d9412a130a110a0a6c6f73732f747261696e15000000007b2d307d19000000000000008bf1"
               "0828090000c040fc54d94110ac022a0b0a090a02cf80150000807fdd96aaa2dd00000000000000620373de1080808080"
               "80202ad3010ad0010ac801") +
           repeated("78", 200) + "15000020c05ed79442";
}

constexpr double start = 1700000000.25;

void write_golden_events(EventFile& file) {
    file.scalar("loss/train", 1, 4.1, 1700000001.5);
    file.scalar("loss/train", 0, 0.0, 1700000002.0);
    file.scalar("\u03c0", 300, std::numeric_limits<double>::infinity(), 1700000003.0);
    file.scalar(std::string(200, 'x'), std::int64_t{1} << 40, -2.5, 0.0);
}

TEST(EventFile, HasTheBytesOfTensorBoardsWriter) {
    const TemporaryFolder folder;
    const auto path = folder / "events.out.tfevents.1";
    EventFile file(path, start);
    write_golden_events(file);
    EXPECT_EQ(hex(read_text_file(path, 1 << 20)), golden());  // before it is closed: events are written at once
    file.flush();
}

TEST(EventFile, StartsAnewWhenItIsOpenedAgain) {
    const TemporaryFolder folder;
    const auto path = folder / "events.out.tfevents.1";
    {
        EventFile file(path);
        file.scalar(std::string(2000, 'y'), 7, 1);
    }
    EventFile file(path, start);
    write_golden_events(file);
    EXPECT_EQ(hex(read_text_file(path, 1 << 20)), golden());
}

// By hand from the encoding's definition: a varint holds seven bits a byte, a negative step has ten, two's complement.
TEST(EventFile, TakesStepsAtTheBordersOfAVarint) {
    const TemporaryFolder folder;
    const auto path = folder / "tfevents";
    EventFile file(path, start);
    const std::size_t before = read_text_file(path, 1 << 20).size();
    file.scalar("a", -1, 1, 0);
    const std::string event = hex(read_text_file(path, 1 << 20).substr(before + 12));
    EXPECT_EQ(event.substr(0, 2 * 23), "10ffffffffffffffffff012a0a0a080a0161150000803f");
    for (const auto& [step, bytes] : {std::pair{127, "107f2a"}, {128, "1080012a"}, {129, "1081012a"}}) {
        const std::size_t end = read_text_file(path, 1 << 20).size();
        file.scalar("a", step, 1, 0);
        EXPECT_EQ(hex(read_text_file(path, 1 << 20).substr(end + 12)).find(bytes), 0U) << step;
    }
}

TEST(EventFile, StampsEventsWithTheSecondsSince1970) {
    const double now = wall_clock();
    EXPECT_GT(now, 1.7e9);
    EXPECT_LT(now, 1e11);
    EXPECT_LE(now, wall_clock());
}

// RFC 3720, appendix B.4; and the check value of the catalogues of CRCs, of "123456789".
TEST(Crc32c, IsThatOfRfc3720) {
    const auto of = [](const std::vector<unsigned char>& bytes) { return crc32c(std::as_bytes(std::span(bytes))); };
    std::vector<unsigned char> rising(32);
    std::iota(rising.begin(), rising.end(), static_cast<unsigned char>(0));
    EXPECT_EQ(of(std::vector<unsigned char>(32, 0)), 0x8A9136AAU);
    EXPECT_EQ(of(std::vector<unsigned char>(32, 0xFF)), 0x62A8AB43U);
    EXPECT_EQ(of(rising), 0x46DD794EU);
    EXPECT_EQ(of({rising.rbegin(), rising.rend()}), 0x113FDB5CU);
    EXPECT_EQ(of({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xE3069283U);
    EXPECT_EQ(of({}), 0U);
}

TEST(EventFile, IsAsBeforeWhenTheDiskIsFull) {
    const TemporaryFolder folder;
    const auto path = folder / "events.out.tfevents.1";
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    EventFile file(path, start);
    const std::string text = read_text_file(path, 1 << 20);
    const rlimit small{text.size() + 20, before.rlim_max};  // room for a part of the next event
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    try {
        file.scalar("loss/train", 1, 4.1, 1700000001.5);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::resource);
        EXPECT_NE(std::string(error.what()).find("tfevents"), std::string::npos) << error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(read_text_file(path, 1 << 20), text);
    write_golden_events(file);  // there is room again
    EXPECT_EQ(hex(read_text_file(path, 1 << 20)), golden());
}

TEST(EventFile, IsRefusedWhereNoFileCanBe) {
    const TemporaryFolder folder;
    EXPECT_THROW(EventFile("/dev/full"), Error);
    EXPECT_THROW(EventFile(folder / "none" / "tfevents"), Error);
    EXPECT_THROW(EventFile(folder.path()), Error);
}

}  // namespace
}  // namespace flyball::record::test
