// The program as a process: closed and full streams, limits of the system, what does not fit into memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "cli/program.hpp"
#include "sanitized.hpp"

namespace flyball::cli {
namespace {

using test::Outcome;
using test::run_program;

const std::string small = "simulate --scheme pre-ln --tokens 4 --dim 3 --time 1 --samples 3 --threads 1 ";

// `before` for run_program: limits of the shell that starts the program. A hang is ended, and seen.
std::string limited(const std::string& limit) {
    return "ulimit " + limit + "; exec timeout -s KILL 60";
}

void expect_one_sentence(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("flyball: [", 0), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find(", expected "), std::string::npos) << outcome.err;
}

class Folder {
  public:
    explicit Folder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::filesystem::path& path() const { return path_; }
    bool has_litter() const {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".tmp" || extension == ".part") {
                return true;
            }
        }
        return false;
    }

  private:
    std::filesystem::path path_;
};

TEST(Process, AClosedStderrChangesNoExitCode) {
    EXPECT_EQ(run_program("--version 2>&-").exit, 0);
    EXPECT_EQ(run_program("schemes nonsense 2>&-").exit, 2);
    EXPECT_EQ(run_program("schemes nonsense 2>/dev/full").exit, 2);
    EXPECT_EQ(run_program("schemes nonsense <&- >&- 2>&-").exit, 2);
}

TEST(Process, AClosedOrFullStdoutIsAFailure) {
    expect_one_sentence(run_program("--version >&-"));
    expect_one_sentence(run_program("--help >/dev/full"));
    expect_one_sentence(run_program(small + ">/dev/full"));
    EXPECT_EQ(run_program("--version >&- 2>&-").exit, 2);
}

// A file of ours that is opened under the number of a closed stream would get what is meant for the stream.
TEST(Process, WithAllStreamsClosedTheFilesOfARunAreWhole) {
    const Folder open("flyball-open");
    const Folder closed("flyball-closed");
    ASSERT_EQ(run_program(small + "--out " + open.path().string()).exit, 0);
    EXPECT_EQ(run_program(small + "--out " + closed.path().string() + " <&- >&- 2>&-").exit, 2);  // nowhere to print
    for (const char* const name : {"samples.csv", "samples.safetensors", "config.toml", "cosine.svg"}) {
        const auto same = "cmp '" + (open.path() / name).string() + "' '" + (closed.path() / name).string() + "'";
        EXPECT_EQ(std::system(same.c_str()), 0) << name;
    }
}

// What is read through the number of a closed stream is nothing, and no file of ours: an empty configuration.
TEST(Process, AClosedStreamIsOpenedOnNothing) {
    const Folder folder("flyball-streams");
    std::filesystem::create_directories(folder.path());
    const std::string link = (folder.path() / "stream.toml").string();
    for (const auto& [number, closed] : {std::pair("0", " <&-"), std::pair("2", " 2>&-")}) {
        std::filesystem::remove(link);
        std::filesystem::create_symlink(std::string("/proc/self/fd/") + number, link);
        EXPECT_EQ(run_program(small + "--config " + link + closed).exit, 0) << closed;
    }
}

TEST(Process, AReaderThatLeavesIsAFailureWithASentence) {
    // The reader is gone before the program starts to print; the subshell keeps the program's exit code.
    const Outcome outcome = run_program("schemes --markdown; echo $? >&2; } | true", "{ sleep 0.3;");
    EXPECT_NE(outcome.err.find("Broken pipe"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.substr(outcome.err.size() - 2), "2\n") << outcome.err;
}

// Clusters like "unlimited", which gives threads 2 MB; the matrix library puts more on the stack. Both tests find
// eigenvalues of a matrix of 300 rows, in threads of ours and of OpenMP and in the first thread.
TEST(Process, RunsWhateverTheLimitOfTheStackIs) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers put more on the stack";
    }
    for (const char* const limit : {"unlimited", "2048", "1024", "256"}) {
        for (const char* const threads : {"1", "2"}) {
            const Outcome outcome = run_program(
                "simulate pre-ln --tokens 300 --dim 300 --time 0.1 --samples 2 --threads " + std::string(threads),
                limited(std::string("-s ") + limit + " 2>/dev/null"));
            EXPECT_EQ(outcome.exit, 0) << limit << " " << threads << outcome.err;
        }
    }
}

// An image of 300 MB without blocks on the disk takes a moment to be compared with its checksum; it is cut off as soon
// as the program has it in a map.
TEST(Process, AFileThatShrinksWhileItIsReadIsOneSentence) {
    const Folder folder("flyball-shrinks");
    const std::string out = folder.path().string();
    ASSERT_EQ(run_program(small + "--out " + out).exit, 0);
    const std::string file = (folder.path() / "cosine.svg").string();
    std::filesystem::resize_file(file, 300'000'000);
    const Outcome outcome = run_program(small + "--resume --out " + out +
                                        " & pid=$!; until grep -q cosine.svg /proc/$pid/maps "
                                        "|| ! kill -0 $pid; do sleep 0.002; done 2>/dev/null; : > '" +
                                        file + "'; wait $pid");
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find("became shorter, or could not be read on"), std::string::npos) << outcome.err;
}

// What nobody has asked to be saved ends at once, with the exit code of an interrupt and not that of a kill.
TEST(Process, ASignalBeforeThereIsAnythingToSaveHasItsExitCode) {
    for (const char* const signal : {"TERM", "INT"}) {
        const Outcome outcome = run_program("train --tokens 400000000 --threads 1",
                                            std::string("timeout --preserve-status -s ") + signal + " 1");
        EXPECT_EQ(outcome.exit, 130) << signal;
        EXPECT_EQ(outcome.err, "flyball: interrupted before there was anything to save\n") << signal;
    }
}

// nohup, and jobs in the background of a script.
TEST(Process, ASignalThatIsSwitchedOffStaysSo) {
    const Outcome outcome = run_program(
        "train --tokens 400000000 --threads 1; } & pid=$!; sleep 0.5; kill -TERM $pid; sleep 0.2; kill -KILL $pid; "
        "wait $pid",
        "{ trap '' TERM; exec");
    EXPECT_EQ(outcome.exit, 128 + 9) << outcome.err;
}

TEST(Process, AFileSizeLimitIsOneSentenceAndLeavesNoLitter) {
    const Folder folder("flyball-limit");
    const std::string arguments = small + "--trajectory --out " + folder.path().string();
    expect_one_sentence(run_program(arguments, limited("-f 4")));  // blocks of 512 or 1024 bytes
    EXPECT_FALSE(folder.has_litter());
    EXPECT_EQ(run_program(arguments + " --resume").exit, 0);
}

TEST(Process, ASmallAddressSpaceIsOneSentence) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need terabytes of addresses";
    }
    // Below about 80 MB the system's loader refuses by itself. 350 MB are enough to start with one thread of OpenBLAS,
    // not to multiply matrices with two threads of ours.
    expect_one_sentence(run_program("--version", limited("-v 120000")));
    expect_one_sentence(run_program("--version", limited("-v 200000")));
    const std::string products =
        "simulate --scheme pre-ln --tokens 100 --dim 64 --weights gaussian --time 0.1 --samples 2 ";
    expect_one_sentence(run_program(products + "--threads 2", "export OMP_NUM_THREADS=1; " + limited("-v 350000")));
    const Outcome enough = run_program(products + "--threads 1", "export OMP_NUM_THREADS=1; " + limited("-v 700000"));
    EXPECT_EQ(enough.exit, 0) << enough.err;
}

// 1,024 MB of addresses, of which OpenBLAS has taken 128 MB (see below) before anybody asks what is left.
TEST(Process, AddressesThatAreTakenAreNotFree) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need terabytes of addresses";
    }
    const Outcome outcome =
        run_program(small + "--beta 2 --systems 30000000", "export OMP_NUM_THREADS=1; " + limited("-v 1000000"));
    expect_one_sentence(outcome);
    const std::string before = "expected at most the ";
    const std::size_t at = outcome.err.find(before);
    ASSERT_NE(at, std::string::npos) << outcome.err;
    EXPECT_LT(std::stod(outcome.err.substr(at + before.size())), 0.95) << outcome.err;
}

// OpenBLAS maps 128 MB a thread (BUFFER_SIZE on x86-64), and asks again for ever where it cannot; 64 MB are for the
// rest: 192 MB with one thread.
TEST(Process, TooLittleAddressSpaceIsToldBeforeOpenBlasAsksForIt) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need terabytes of addresses";
    }
    const Outcome outcome = run_program("--version", "export OMP_NUM_THREADS=1; " + limited("-v 200000"));
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(
        outcome.err,
        "flyball: [cli.main] got too little address space to start, expected room for 192 MB more. hint: raise the "
        "limit (ulimit -v).\n");
}

// What a text needs is not estimated: it is read, and memory runs out meanwhile. The file has no blocks on the disk;
// its 200 MB and as many tokens of four bytes are a gigabyte, and 400 MB are there.
TEST(Process, MemoryThatRunsOutIsNoBugOfOurs) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need terabytes of addresses";
    }
    const Folder folder("flyball-large");
    std::filesystem::create_directories(folder.path());
    const std::filesystem::path file = folder.path() / "text";
    std::ofstream(file).close();
    std::filesystem::resize_file(file, 200'000'000);
    const Outcome outcome =
        run_program("train --data '" + file.string() + "'", "export OMP_NUM_THREADS=1; " + limited("-v 400000"));
    expect_one_sentence(outcome);
    EXPECT_EQ(outcome.err.rfind("flyball: [cli.main] got too little memory", 0), 0U) << outcome.err;
}

TEST(Process, WhatDoesNotFitIntoMemoryIsRefusedBeforeTheRun) {
    for (const char* const flags :
         {"--samples 1000000000000", "--samples 1000000000000 --log-time", "--fresh --weights gaussian --time 1e15",
          "--fresh --weights gaussian --layers 1000000000000000 --samples 3", "--tokens 100000000000",
          "--dim 1000000000000", "--systems 1000000000000", "--ffn 1000000000000"}) {
        // The limit protects the machine should the estimate fail; without sanitizers, which need more addresses.
        const Outcome outcome = run_program("simulate --scheme pre-ln --time 1 --threads 1 " + std::string(flags),
                                            sanitized ? "" : limited("-v 8000000"));
        SCOPED_TRACE(flags);
        expect_one_sentence(outcome);
        EXPECT_EQ(outcome.err.find("cli.main"), std::string::npos) << "found out by running out of it";
    }
}

}  // namespace
}  // namespace flyball::cli
