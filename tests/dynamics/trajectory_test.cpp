// H5MD files read back with the HDF5 library itself: the layout of docs/simulate.md, and the numbers that were given.
#include "dynamics/trajectory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/version.hpp"
#include "dynamics/h5_file.hpp"
#include "hdf5_file.hpp"

namespace flyball::dynamics {
namespace {

class Folder {
  public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("flyball-trajectory-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

Settings three_tokens() {
    Settings s;
    s.tokens = 3;
    s.dim = 2;
    s.systems = 2;
    s.beta = 2.5;
    s.seed = 18446744073709551615U;
    return s;
}

TEST(H5md, HoldsTheNumbersThatWereGiven) {
    const Folder folder;
    const Settings s = three_tokens();
    const TrajectoryParts parts(folder.path(), "sample-1", {{"seed", "7"}});
    const std::vector<double> times = {0, 0.125, 3.5, 1e22};
    std::vector<double> expected;
    for (std::size_t i = 0; i < times.size(); ++i) {
        TrajectorySample sample{times[i], {}, std::vector<double>(12, -7.0)};
        for (std::size_t k = 0; k < 12; ++k) {
            sample.x.push_back(static_cast<double>(100 * i + k) + 1.0 / 3);
            expected.push_back(sample.x.back());
        }
        parts.save(i, sample);
    }
    write_h5md(folder.path() / "t.h5", parts, times.size(), s, "pre-ln", "x + dt*f(norm(x)) | norm(x)");

    const flyball::test::Hdf5File file(folder.path() / "t.h5");
    EXPECT_EQ(file.shape("/particles/tokens/position/value"), (std::vector<hsize_t>{4, 6, 2}));
    EXPECT_EQ(file.numbers("/particles/tokens/position/value"), expected);
    EXPECT_EQ(file.numbers("/particles/tokens/position/time"), times);
    EXPECT_EQ(file.numbers("/particles/tokens/position/step"), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(file.integers("/h5md", "version"), (std::vector<long long>{1, 1}));
    EXPECT_EQ(file.text("/h5md/author", "name"), "flyball");
    EXPECT_EQ(file.text("/h5md/creator", "name"), "flyball");
    EXPECT_EQ(file.text("/h5md/creator", "version"), version);
    EXPECT_EQ(file.integers("/particles/tokens/box", "dimension"), (std::vector<long long>{2}));
    EXPECT_EQ(file.text("/particles/tokens/box", "boundary"), "none");
    EXPECT_EQ(file.text("/parameters", "scheme"), "pre-ln");
    EXPECT_EQ(file.text("/parameters", "equation"), "x + dt*f(norm(x)) | norm(x)");
    EXPECT_EQ(file.integers("/parameters", "tokens"), (std::vector<long long>{3}));
    EXPECT_EQ(file.integers("/parameters", "systems"), (std::vector<long long>{2}));
    EXPECT_EQ(file.text("/parameters", "beta"), "2.5");
    EXPECT_EQ(file.text("/parameters", "seed"), "18446744073709551615");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.h5.part"));
}

// The disk is full for a moment while samples are written, and there is room again when the file is to take its place:
// what was lost in between must not be forgotten.
TEST(H5md, ADiskThatWasFullForAMomentLeavesTheOldFile) {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "t.h5";
    write_file_atomically(path, "the old one");
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        H5File file(path);
        const rlimit small{4096, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        {
            const std::vector<double> numbers(1 << 18, 1.5);
            const hsize_t size = numbers.size();
            const H5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
            const H5Handle set(
                H5Dcreate2(file, "numbers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                "set");
            h5_require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), "numbers");
        }
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        try {
            file.commit();
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::resource) << error.what();
        }
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(read_text_file(path, 100), "the old one");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left beside it";
}

TEST(H5md, PartsComeBackAsTheyWereAndOnlyToTheirOwnRun) {
    const Folder folder;
    const TrajectoryParts mine(folder.path(), "sample-1", {{"seed", "7"}});
    mine.save(0, {0, {1, 2}, {3, 4}});
    mine.save(2, {0.1, {5, 6}, {7, 8}});
    const TrajectorySample read = mine.load(2);
    EXPECT_EQ(read.t, 0.1);
    EXPECT_EQ(read.x, (std::vector<double>{5, 6}));
    EXPECT_EQ(read.theta, (std::vector<double>{7, 8}));
    EXPECT_TRUE(mine.has(0));
    EXPECT_FALSE(mine.has(1));
    EXPECT_THROW(TrajectoryParts(folder.path(), "sample-1", {{"seed", "8"}}).load(2), Error);
    std::filesystem::rename(folder.path() / "sample-1-00002.safetensors", folder.path() / "sample-1-00001.safetensors");
    EXPECT_THROW(mine.load(1), Error) << "another sample in its place";
}

}  // namespace
}  // namespace flyball::dynamics
