// What a moving picture shows of runs.
#include "dynamics/frames.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "dynamics/run_folder.hpp"

namespace flyball::dynamics::test::frames_test {
namespace {

std::filesystem::path fresh_path(const std::string& name) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()));
    std::filesystem::remove_all(path);
    return path;
}

TEST(MovingPicture, TakesSamplesEvenlyAndStaysSmall) {
    Settings s;
    s.tokens = 10;
    s.dim = 3;
    s.samples = 121;
    const std::vector<std::size_t> chosen = frame_samples(s);
    ASSERT_EQ(chosen.size(), 61U);
    EXPECT_EQ(chosen[0], 0U);
    EXPECT_EQ(chosen[1], 2U);
    EXPECT_EQ(chosen[60], 120U);
    s.samples = 5;
    EXPECT_EQ(frame_samples(s), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    s.samples = 121;
    s.tokens = 4096;  // of which 400 are shown
    s.dim = 1000;     // 1.6 MB a frame: ten of them
    EXPECT_EQ(frame_samples(s).size(), 10U);
    EXPECT_EQ(frame_samples(s).back(), 120U);
    s.dim = 100'000;
    EXPECT_TRUE(frame_samples(s).empty());
}

// 400 of 500 tokens are shown, and the file says how many there are.
TEST(MovingPicture, SaysHowManyTokensThereAre) {
    Settings s;
    s.tokens = 500;
    s.dim = 3;
    s.samples = 2;
    s.layers = 1;
    const std::filesystem::path path = fresh_path("flyball-frames-tokens") += ".safetensors";
    Frame frame;
    frame.theta.assign(shown_tokens(500).size() * 3, 0.5);
    write_frames(path, s, 1, [&](std::size_t) { return std::vector<Frame>{frame}; });
    EXPECT_EQ(SafeTensors::open(path).metadata().at("tokens"), "500");
    std::filesystem::remove(path);
}

TEST(MovingPicture, ShowsSomeOfManyTokensEvenly) {
    EXPECT_EQ(shown_tokens(3), (std::vector<std::size_t>{0, 1, 2}));
    const std::vector<std::size_t> some = shown_tokens(4000);
    ASSERT_EQ(some.size(), 400U);
    EXPECT_EQ(some[1], 10U);
    EXPECT_EQ(some.back(), 3990U);
}

// Rows with squares 9, 4 and 1 along three rotated axes and nothing along the fourth.
TEST(MovingPicture, LooksAlongTheLeadingDirections) {
    const double h = std::sqrt(0.5);
    const std::vector<std::vector<double>> axes = {{h, -h, 0, 0}, {h, h, 0, 0}, {0, 0, 0, 1}};
    const std::vector<double> sizes = {3, 2, 1};
    std::vector<float> rows;
    for (const double sign : {1.0, -1.0}) {
        for (std::size_t k = 0; k < 3; ++k) {
            for (std::size_t i = 0; i < 4; ++i) {
                rows.push_back(static_cast<float>(sign * sizes[k] * axes[k][i]));
            }
        }
    }
    const auto found = leading_directions(rows, 4);
    for (std::size_t k = 0; k < 3; ++k) {
        double product = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            product += found[k][i] * axes[k][i];
        }
        EXPECT_NEAR(std::fabs(product), 1, 1e-6) << k;
        const auto largest = std::max_element(found[k].begin(), found[k].end(),
                                              [](double a, double b) { return std::fabs(a) < std::fabs(b); });
        EXPECT_GT(*largest, 0) << "the same picture whatever the iteration began with";
    }
    const auto nothing = leading_directions(std::vector<float>(8, 0.0F), 4);
    for (std::size_t k = 0; k < 3; ++k) {
        double squared = 0;
        for (const double x : nothing[k]) {
            squared += x * x;
        }
        EXPECT_NEAR(squared, 1, 1e-12) << "still three directions";
    }
}

// Of eight tokens in two runs three lie along e0, two each along e1 and e3, one along e2: the picture shows seven of them.
TEST(MovingPicture, IsSeenAlongTheDirectionsOfAllRuns) {
    Settings s;
    s.tokens = 4;
    s.dim = 4;
    const std::vector<std::vector<std::size_t>> axes = {{0, 0, 0, 1}, {1, 3, 3, 2}};
    const std::filesystem::path path = fresh_path("flyball-moving-two");
    write_frames(path, s, 2, [&](std::size_t run) {
        Frame frame{0, std::vector<float>(16, 0.0F)};
        for (std::size_t j = 0; j < 4; ++j) {
            frame.theta[4 * j + axes[run][j]] = 1;
        }
        return std::vector<Frame>{frame};
    });
    const SafeTensors file = SafeTensors::open(path);
    EXPECT_NEAR(std::stod(file.metadata().at("share")), 7.0 / 8, 1e-6);
    const std::vector<float> second = file.read<float>("run.1");
    const auto length = [&](std::size_t j) { return std::hypot(second[3 * j], second[3 * j + 1], second[3 * j + 2]); };
    EXPECT_NEAR(length(1), 1, 1e-5);
    EXPECT_NEAR(length(3), 0, 1e-3);
    std::filesystem::remove_all(path);
}

// One token at 17 times, of which every second is looked at: along e0 three times, e1 twice, e4 four times; along e2
// and e3 only between them. Of all times 3 + 2 + 8 are shown.
TEST(MovingPicture, IsSeenAlongTheDirectionsOfAllTimes) {
    Settings s;
    s.tokens = 1;
    s.dim = 6;
    const std::vector<std::size_t> axes = {0, 2, 0, 2, 0, 3, 1, 3, 1, 4, 4, 4, 4, 4, 4, 4, 4};
    const std::filesystem::path path = fresh_path("flyball-moving-times");
    write_frames(path, s, 1, [&](std::size_t) {
        std::vector<Frame> frames;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            frames.push_back({static_cast<double>(i), std::vector<float>(6, 0.0F)});
            frames.back().theta[axes[i]] = 1;
        }
        return frames;
    });
    const SafeTensors file = SafeTensors::open(path);
    EXPECT_NEAR(std::stod(file.metadata().at("share")), 13.0 / 17, 1e-6);
    const std::vector<float> points = file.read<float>("run.0");
    ASSERT_EQ(points.size(), 3 * axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const double length = std::hypot(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
        EXPECT_NEAR(length, axes[i] == 2 || axes[i] == 3 ? 0 : 1, 1e-3) << i;
    }
    std::filesystem::remove_all(path);
}

TEST(MovingPicture, HasTheDirectionsOfTheSamples) {
    Settings s;
    s.tokens = 4;
    s.dim = 3;
    s.samples = 3;
    s.time = 2;
    const std::filesystem::path path = fresh_path("flyball-moving");
    RunFolder folder(path, record::FolderUse::fresh, {s, {scheme::find_scheme("peri-ln")}, false, ""});
    const SchemeRun run{scheme::find_scheme("peri-ln"), folder.run(0, control_of(s), watch_of(s))};
    const std::vector<TrajectorySample> samples = folder.frames(0, run.record);
    folder.write({run});
    const SafeTensors file = SafeTensors::open(path / "frames.safetensors");
    EXPECT_EQ(file.info("run.0").shape, (std::vector<std::size_t>{3, 4, 3}));
    EXPECT_EQ(file.read<double>("time.0"), (std::vector<double>{0, 1, 2}));
    const std::vector<float> points = file.read<float>("run.0");
    ASSERT_EQ(samples.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t i = 0; i < 12; ++i) {
            EXPECT_FLOAT_EQ(points[12 * k + i], static_cast<float>(samples[k].theta[i]));
        }
    }
    EXPECT_EQ(file.metadata().at("tokens"), "4");
    EXPECT_NEAR(std::stod(file.metadata().at("share")), 1, 1e-6) << "three dimensions are all there are";
    std::filesystem::remove_all(path);
}

// A picture draws 8000 dots at most, and a film of 600 times 1666: more tokens than that, other systems and streams
// would only take memory.
TEST(MovingPicture, KeepsOfManyTokensThoseThatCanBeSeen) {
    EXPECT_EQ(pictured_tokens(8000, 16).size(), 8000U);
    EXPECT_EQ(pictured_tokens(1000000, 16).size(), 8000U);
    EXPECT_EQ(pictured_tokens(1000000, 600).size(), 1666U);
    Settings s;
    s.tokens = 8004;
    s.dim = 2;
    s.systems = 2;
    s.samples = 2;
    s.layers = 1;
    const std::filesystem::path path = fresh_path("flyball-pictured");
    RunFolder folder(path, record::FolderUse::fresh, {s, {scheme::find_scheme("post-ln")}, true, ""});
    const Record record = folder.run(0, control_of(s), watch_of(s));
    const std::vector<TrajectorySample> frames = folder.frames(0, record);
    ASSERT_EQ(frames.size(), 2U);
    const SafeTensors last = SafeTensors::open(path / "work/sample-1-00001.safetensors");
    const std::vector<double> theta = last.read<double>("theta");
    ASSERT_EQ(theta.size(), 2U * 8004 * 2);
    ASSERT_EQ(frames[1].theta.size(), 8000U * 2);
    EXPECT_TRUE(frames[1].x.empty());
    for (const std::size_t j : {0U, 1U, 1999U, 2000U, 7999U}) {  // the j-th that is shown is token 8004 j / 8000
        EXPECT_EQ(frames[1].theta[2 * j], theta[2 * (8004 * j / 8000)]) << j;
        EXPECT_EQ(frames[1].theta[2 * j + 1], theta[2 * (8004 * j / 8000) + 1]) << j;
    }
    std::filesystem::remove_all(path);
}

// Orthonormal tokens in eight dimensions: the mean direction is the first, and three of eight directions show 3/8 of
// the start and more of whatever gathers.
TEST(MovingPicture, OfManyDimensionsIsSeenAlongThree) {
    Settings s;
    s.tokens = 8;
    s.dim = 8;
    s.start = StartKind::symmetric;
    s.samples = 5;
    s.time = 20;
    const std::filesystem::path path = fresh_path("flyball-moving-8");
    RunFolder folder(path, record::FolderUse::fresh, {s, {scheme::find_scheme("post-ln")}, false, ""});
    const SchemeRun run{scheme::find_scheme("post-ln"), folder.run(0, control_of(s), watch_of(s))};
    folder.write({run});
    const SafeTensors file = SafeTensors::open(path / "frames.safetensors");
    const std::vector<float> points = file.read<float>("run.0");
    const double share = std::stod(file.metadata().at("share"));
    EXPECT_GT(share, 3.0 / 8);
    EXPECT_LE(share, 1 + 1e-6);
    for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_NEAR(std::fabs(points[j * 3]), 1 / std::sqrt(8.0), 1e-3) << "the mean direction, at the start";
        EXPECT_GT(std::fabs(points[(4 * 8 + j) * 3]), 0.99) << "where all have gathered, at the end";
    }
    std::filesystem::remove_all(path);
}

TEST(MovingPicture, FramesThatWereSavedAreThereAndMoreAreRefused) {
    Settings s;
    s.tokens = 2;
    s.dim = 2;
    const std::filesystem::path path = fresh_path("flyball-frame-file");
    std::filesystem::create_directories(path);
    FrameFile file(path / "f.safetensors", {"frames", {{"run", "a"}}}, s);
    file.add(0, std::vector<double>{1, 0, 0, 1});
    file.add(0.5, std::vector<double>{0, 1, 0, 1});
    file.save();
    FrameFile again(path / "f.safetensors", {"frames", {{"run", "a"}}}, s);
    again.load(1);
    ASSERT_EQ(again.frames().size(), 1U);
    again.load(2);
    EXPECT_EQ(again.frames()[1].t, 0.5);
    EXPECT_EQ(again.frames()[1].theta, (std::vector<float>{0, 1, 0, 1}));
    EXPECT_THROW(again.load(3), Error);
    FrameFile other(path / "f.safetensors", {"frames", {{"run", "b"}}}, s);
    EXPECT_THROW(other.load(1), Error);
    std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace flyball::dynamics::test::frames_test
