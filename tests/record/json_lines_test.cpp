// Lines that a killed run left behind are taken up to the last whole one; what was damaged is refused.
#include "record/json_lines.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "support.hpp"

namespace flyball::record::test {
namespace {

const Seal seal = {"metrics", {{"flyball version", "1"}, {"lr", "0.1"}}};

Json record_of(int step) {
    return {{"step", step}, {"loss", 4.0 / step}, {"note", "a \"quoted\"\nline"}};
}

// `count` lines as one run writes them, and the bytes they are.
std::string written(const std::filesystem::path& path, int count) {
    JsonLines lines(path, seal);
    for (int step = 1; step <= count; ++step) {
        lines.append(record_of(step));
    }
    return read_text_file(path, 1 << 20);
}

void put(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string refusal(const std::filesystem::path& path, const Seal& of = seal) {
    try {
        const JsonLines lines(path, of);
        return "not refused";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(JsonLines, AreRecordsOneALineWithTheirSealAtTheEnd) {
    const TemporaryFolder folder;
    const std::string text = written(folder / "m.jsonl", 2);
    const std::size_t end = text.find('\n');
    const std::string first = text.substr(0, end);
    // The first seal is of the run, the next of the seal before and the line: by hand.
    const std::string run = checksum(std::string_view(R"(["metrics",["flyball version","1"],["lr","0.1"]])"));
    const std::string content = R"({"step":1,"loss":4.0,"note":"a \"quoted\"\nline")";
    const std::string sum = checksum(std::string_view(run + content));
    EXPECT_EQ(first, content + R"(,"seal":")" + sum + "\"}");
    const std::string next = text.substr(end + 1);
    EXPECT_EQ(next, R"({"step":2,"loss":2.0,"note":"a \"quoted\"\nline","seal":")" +
                        checksum(std::string_view(sum + R"({"step":2,"loss":2.0,"note":"a \"quoted\"\nline")")) +
                        "\"}\n");
    JsonLines lines(folder / "m.jsonl", seal);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines.line(0), record_of(1));
    EXPECT_EQ(lines.line(1), record_of(2));
}

TEST(JsonLines, ATornLastLineIsCutOffWhereverItWasTorn) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    const std::string three = written(path, 3);
    const std::size_t whole = three.rfind('\n', three.size() - 2) + 1;  // the first two lines
    for (std::size_t size = whole; size < three.size(); ++size) {
        put(path, three.substr(0, size));
        {
            JsonLines lines(path, seal);
            ASSERT_EQ(lines.size(), 2U) << size;
            ASSERT_EQ(std::filesystem::file_size(path), whole) << size;
            lines.append(record_of(3));
        }
        ASSERT_EQ(read_text_file(path, 1 << 20), three) << size;
    }
    put(path, three + std::string(100, '\0'));  // what a file system may leave of a line after a power failure
    EXPECT_EQ(JsonLines(path, seal).size(), 3U);
    EXPECT_EQ(read_text_file(path, 1 << 20), three);
    put(path, three.substr(0, 5));  // not even one line
    EXPECT_EQ(JsonLines(path, seal).size(), 0U);
}

TEST(JsonLines, AnyFlippedBitInAWholeLineIsRefusedWithItsNumber) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    const std::string text = written(path, 3);
    int line = 1;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {  // the last newline: see below
        for (const int bit : {0, 3, 6}) {
            std::string damaged = text;
            damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
            put(path, damaged);
            const std::string said = refusal(path);
            ASSERT_NE(said.find("line " + std::to_string(line) + " without its seal"), std::string::npos)
                << "bit " << bit << " of byte " << i << ": " << said;
            ASSERT_EQ(read_text_file(path, 1 << 20), damaged) << "what is refused is left alone";
        }
        line += text[i] == '\n' ? 1 : 0;
    }
    // Without its newline the last line counts as torn; a run that had written three then misses one.
    put(path, text.substr(0, text.size() - 1) + "\x0b");
    JsonLines lines(path, seal);
    EXPECT_EQ(lines.size(), 2U);
    EXPECT_THROW(lines.keep(3), Error);
}

TEST(JsonLines, MissingExchangedAndForeignLinesAreRefused) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    const std::string text = written(path, 3);
    const std::size_t first = text.find('\n') + 1;
    const std::size_t second = text.find('\n', first) + 1;
    const std::string a = text.substr(0, first);
    const std::string b = text.substr(first, second - first);
    const std::string c = text.substr(second);
    for (const auto& [bytes, line] : std::vector<std::pair<std::string, int>>{{a + c, 2},
                                                                              {b + c, 1},
                                                                              {b + a + c, 1},
                                                                              {a + a + b + c, 2},
                                                                              {a + "{}\n" + b + c, 2},
                                                                              {a + "\n", 2},
                                                                              {"{\"step\":1}\n", 1},
                                                                              {a + b + c + a, 4}}) {
        put(path, bytes);
        EXPECT_NE(refusal(path).find("line " + std::to_string(line) + " without"), std::string::npos) << bytes;
    }
    put(path, text);
    EXPECT_NE(refusal(path, {"metrics", {{"flyball version", "1"}, {"lr", "0.2"}}}).find("line 1 without"),
              std::string::npos);
    EXPECT_NE(refusal(path, {"samples", seal.identity}).find("line 1 without"), std::string::npos);
    EXPECT_EQ(refusal(path), "not refused");
}

TEST(JsonLines, ARunThatGoesBackKeepsTheLinesUpToItsStepAndWritesTheSameBytesAgain) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    const std::string text = written(path, 6);
    for (int step = 0; step <= 7; ++step) {
        JsonLines lines(path, seal);
        const std::size_t kept = lines.keep_while([&](const Json& line) { return line.at("step") <= step; });
        EXPECT_EQ(kept, static_cast<std::size_t>(std::min(step, 6)));
        EXPECT_EQ(lines.size(), kept);
        EXPECT_EQ(JsonLines(path, seal).size(), kept) << "cut on disk";
        for (int next = static_cast<int>(kept) + 1; next <= 6; ++next) {
            lines.append(record_of(next));
        }
        EXPECT_EQ(read_text_file(path, 1 << 20), text);
    }
    JsonLines lines(path, seal);
    lines.keep(4);
    EXPECT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines.line(3), record_of(4));
    try {
        lines.keep(5);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("got 4 lines in "), std::string::npos) << error.what();
    }
}

TEST(JsonLines, AreWithTheSystemOneByOneAsTheyAreAppended) {
    const TemporaryFolder folder;
    for (const auto reach : {JsonLines::Reach::system, JsonLines::Reach::disk}) {
        const auto path = folder / (reach == JsonLines::Reach::disk ? "disk.jsonl" : "system.jsonl");
        JsonLines lines(path, seal, reach);
        for (std::size_t step = 1; step <= 3; ++step) {
            lines.append(record_of(static_cast<int>(step)));
            const std::string text = read_text_file(path, 1 << 20);
            EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), step);
        }
    }
}

TEST(JsonLines, AProcessKilledWhileItWritesLeavesWholeLinesAndIsGoneOnWith) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    for (int round = 0; round < 8; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            JsonLines lines(path, seal);
            for (;;) {
                lines.append(record_of(static_cast<int>(lines.size()) + 1));
            }
        }
        ASSERT_GT(child, 0);
        usleep(static_cast<useconds_t>(3000 * (round + 1)));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        const JsonLines lines(path, seal);
        for (std::size_t i = 0; i < lines.size(); i += 97) {
            ASSERT_EQ(lines.line(i), record_of(static_cast<int>(i) + 1));
        }
    }
    EXPECT_GT(JsonLines(path, seal).size(), 8U);
}

// A file in memory that may not shrink: a failed write stays there by half.
TEST(JsonLines, NothingIsWrittenBehindHalfALineThatCouldNotBeCutOff) {
    const int memory = memfd_create("lines", MFD_ALLOW_SEALING);
    ASSERT_GE(memory, 0);
    const std::string path = "/proc/self/fd/" + std::to_string(memory);
    JsonLines lines(path, seal);
    lines.append(record_of(1));
    const std::string text = read_text_file(path, 1 << 20);
    ASSERT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{text.size() + 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(lines.append(record_of(2)), Error);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    ASSERT_EQ(read_text_file(path, 1 << 20).size(), text.size() + 20) << "nothing was tested";
    EXPECT_THROW(lines.append(record_of(2)), Error) << "there is room again, but not at the end of the last line";
    EXPECT_EQ(read_text_file(path, 1 << 20).size(), text.size() + 20);
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines.line(0), record_of(1));
    close(memory);
}

TEST(JsonLines, AFullDiskIsAnErrorAndLeavesTheFileAsItWas) {
    const TemporaryFolder folder;
    const auto path = folder / "m.jsonl";
    const std::string text = written(path, 2);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        JsonLines lines(path, seal);
        const rlimit small{text.size() + 20, before.rlim_max};  // room for a part of the next line
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        try {
            lines.append(record_of(3));
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::resource);
            EXPECT_NE(std::string(error.what()).find("m.jsonl"), std::string::npos) << error.what();
        }
        setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_EQ(read_text_file(path, 1 << 20), text);
        EXPECT_EQ(lines.size(), 2U);
        lines.append(record_of(3));  // there is room again
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(JsonLines(path, seal).size(), 3U);
    EXPECT_THROW(JsonLines("/dev/full", seal), Error);
    EXPECT_THROW(JsonLines(folder / "none" / "m.jsonl", seal), Error);
    EXPECT_THROW(JsonLines(folder.path(), seal), Error);
}

}  // namespace
}  // namespace flyball::record::test
