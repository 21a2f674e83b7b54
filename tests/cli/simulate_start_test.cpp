// `flyball simulate --start`: what a user sees of it, and that files which nobody should trust end in one sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

namespace fs = std::filesystem;

class SimulateStart : public ::testing::Test {
  protected:
    SimulateStart() : root_(fs::temp_directory_path() / ("flyball-cli-start-" + std::to_string(getpid()))) {
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~SimulateStart() override { fs::remove_all(root_); }

    std::string write(const std::string& name, const std::string& contents) const {
        std::ofstream(root_ / name, std::ios::binary) << contents;
        return (root_ / name).string();
    }
    // Exit code 2, one line, and no folder.
    void expect_refused(const std::string& flags, const std::string& says) const {
        const Outcome outcome = run_program("simulate post-ln " + flags + " --out " + (root_ / "out").string());
        EXPECT_EQ(outcome.exit, 2) << flags << outcome.out << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << flags << outcome.err;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << flags << ": " << outcome.err;
        EXPECT_FALSE(fs::exists(root_ / "out")) << flags;
    }

    fs::path root_;
};

TEST_F(SimulateStart, TakesUpTheLastSampleOfATrajectory) {
    const std::string first = (root_ / "first").string();
    ASSERT_EQ(
        run_program("simulate pre-ln --tokens 5 --dim 3 --systems 2 --time 2 --samples 3 --trajectory --out " + first)
            .exit,
        0);
    const auto run = [&](const std::string& more) {
        const Outcome outcome =
            run_program("simulate pre-ln --start " + first + "/trajectory.h5 --time 1 --samples 2 " + more + " --json");
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return parse_json(outcome.out, "json")["runs"][0];
    };
    std::ifstream file(first + "/result.json");
    const Json before = parse_json(std::string(std::istreambuf_iterator<char>(file), {}), "json")["runs"][0];
    for (const char* quantity : {"variance", "energy", "pair_fraction"}) {
        EXPECT_EQ(run("")[quantity][0], before[quantity][2]) << quantity;
        EXPECT_EQ(run("--start-frame 1")[quantity][0], before[quantity][1]) << quantity;
    }
    EXPECT_EQ(run("")["radius"]["max"][0], before["radius"]["max"][2]) << "lengths are kept";
    EXPECT_EQ(run("--tokens 5 --dim 3 --systems 2")["energy"][0], before["energy"][2]);
}

TEST_F(SimulateStart, SaysWhereItStarted) {
    const std::string rows = write("rows.csv", "1,0\n0.6,0.8\n");
    const Outcome outcome = run_program("simulate post-ln --time 1 --samples 2 --start " + rows);
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("n = 2, d = 2, beta = 1, start from rows.csv, ODE"), std::string::npos) << outcome.out;
    const Outcome angles = run_program("simulate post-ln --time 1 --samples 2 --start equiangular:0.25 --tokens 40");
    EXPECT_NE(angles.out.find("n = 40, d = 40, beta = 1, start with all cosines 0.25, ODE"), std::string::npos);
}

TEST_F(SimulateStart, EndsAtAShareOfPairs) {
    const Outcome outcome =
        run_program("simulate post-ln --tokens 12 --dim 3 --pair-cosine 0.9 --until 'pair_fraction>0.5' --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json run = parse_json(outcome.out, "json")["runs"][0];
    EXPECT_EQ(run["outcome"], "until");
    EXPECT_GT(run["pair_fraction"].back(), 0.5);
    EXPECT_LE(run["pair_fraction"].back(), 0.5 + 1.5 / 66) << "the first pair above, of 66";
    EXPECT_LT(run["t"].back(), 10);
}

TEST_F(SimulateStart, RefusesWhatContradictsTheFile) {
    const std::string rows = write("rows.csv", "1,0\n0.6,0.8\n0,2\n");
    expect_refused("--start " + rows + " --tokens 4", "leave out --tokens");
    expect_refused("--start " + rows + " --dim 3", "leave out --dim");
    expect_refused("--start " + rows + " --systems 2", "leave out --systems");
    expect_refused("--start " + rows + " --r0 2", "leave out --r0");
    expect_refused("--start " + rows + " --start-frame 0", "leave out --start-frame");
    expect_refused("--start " + rows + " --weights builtin:pre-ln", "as many numbers as the model has channels");
    expect_refused("--start-frame 0", "--start FILE.h5");
    expect_refused("--start equiangular", "equiangular:RHO");
    expect_refused("--start equiangular:-0.2 --tokens 8", "a cosine from -0.14285714285714285");
    expect_refused("--start equiangular:0.2 --tokens 8 --dim 7", "at least 8 dimensions");
    expect_refused("--pair-cosine 1", "--pair-cosine 1");
}

TEST_F(SimulateStart, RefusesFilesThatNobodyShouldTrust) {
    const auto tensors = [](std::uint64_t length, const std::string& rest) {
        return std::string(reinterpret_cast<const char*>(&length), 8) + rest;
    };
    const std::string huge =
        R"({"x":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]}})" + std::string(8, '\0');
    const std::string hdf = "\x89HDF\r\n\x1a\n";
    ASSERT_EQ(mkfifo((root_ / "pipe.h5").c_str(), 0600), 0);
    fs::create_directory(root_ / "folder.safetensors");
    const std::vector<std::pair<std::string, std::string>> files = {
        {write("a.safetensors", tensors(huge.size() - 8, huge)), "a.safetensors"},
        {write("b.safetensors", tensors(std::uint64_t{1} << 62U, "{}")), "b.safetensors"},
        {write("c.safetensors", tensors(2, "{}")), "0 tensors"},
        {write("d.safetensors", "short"), "d.safetensors"},
        {write("e.h5", hdf), "no HDF5 file"},
        {write("f.h5", hdf + std::string(200, '\xff')), "superblock of version 255"},
        {write("g.h5", hdf + std::string(5, '\0') + "\x08\x08" + std::string(200, '\0')), "g.h5"},
        {write("h.csv", std::string(100000, ',')), "''"},
        {write("i.csv", std::string(100000, '"')), "i.csv"},
        {write("j.csv", "1,2\n" + std::string(1000, 'x')), "in line 2"},
        {write("k.csv", std::string(3, '\0')), "k.csv"},
        {(root_ / "pipe.h5").string(), "not a regular file"},
        {(root_ / "folder.safetensors").string(), "a directory"},
        {"/dev/null.csv", "/dev/null.csv"},
        {"/proc/self/mem.csv", "/proc/self/mem.csv"}};
    for (const auto& [file, says] : files) {
        expect_refused("--start " + file, says);
    }
}

}  // namespace
}  // namespace flyball::cli::test
