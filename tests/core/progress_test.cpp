#include "core/progress.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace flyball {
namespace {

struct Screen {
    std::vector<std::string> lines;
    double time = 0;

    Progress::Sink sink() {
        return [this](std::string_view text) { lines.emplace_back(text); };
    }
    Progress::Clock clock() {
        return [this] { return time; };
    }
};

TEST(Progress, ShowsBarPercentageAndTimes) {
    Screen screen;
    Progress progress("run", 200, screen.sink(), 1.0, screen.clock());
    screen.time = 10;
    progress.advance(50);
    ASSERT_EQ(screen.lines.size(), 1U);
    EXPECT_EQ(screen.lines[0], "\rrun [######..................]  25% 00:10 left 00:30");
    screen.time = 4000;
    progress.advance(150);
    progress.finish();
    ASSERT_EQ(screen.lines.size(), 3U);
    // Three spaces wipe the end of the longer line before.
    EXPECT_EQ(screen.lines[2], "\rrun [########################] 100% 1:06:40           \n");
    EXPECT_EQ(screen.lines[1].size() + 1, screen.lines[2].size());
}

TEST(Progress, KeepsTheIntervalBetweenOutputs) {
    Screen screen;
    Progress progress("run", 1000, screen.sink(), 0.5, screen.clock());
    for (int i = 0; i < 100; ++i) {
        screen.time = 0.01 * (i + 1);
        progress.advance();
    }
    EXPECT_EQ(screen.lines.size(), 2U);  // at 0.5 and 1.0
}

TEST(Progress, FinishEndsTheLineOnce) {
    Screen screen;
    {
        Progress progress("run", 10, screen.sink(), 1.0, screen.clock());
        progress.advance(10);
        progress.finish();
        progress.finish();
        screen.time = 100;
        progress.advance();
    }
    ASSERT_EQ(screen.lines.size(), 1U);
    EXPECT_TRUE(screen.lines[0].ends_with("\n"));
}

TEST(Progress, TheLineEndsAlsoWhenTheJobFails) {
    Screen screen;
    try {
        Progress progress("run", 10, screen.sink(), 1.0, screen.clock());
        screen.time = 5;
        progress.advance();
        throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
    }
    ASSERT_EQ(screen.lines.size(), 2U);
    EXPECT_EQ(screen.lines[1], "\n");
    Screen quiet;
    { const Progress progress("run", 10, quiet.sink(), 1.0, quiet.clock()); }
    EXPECT_TRUE(quiet.lines.empty());
}

TEST(Progress, UnknownTotalShowsTheCount) {
    Screen screen;
    Progress progress("reading", 0, screen.sink(), 1.0, screen.clock());
    screen.time = 61;
    progress.advance(12);
    ASSERT_EQ(screen.lines.size(), 1U);
    EXPECT_EQ(screen.lines[0], "\rreading 12 01:01");
}

TEST(Progress, MoreThanTotalStaysAtHundred) {
    Screen screen;
    Progress progress("run", 10, screen.sink(), 1.0, screen.clock());
    screen.time = 2;
    progress.advance(50);
    ASSERT_EQ(screen.lines.size(), 1U);
    EXPECT_NE(screen.lines[0].find("100% 00:02 left 00:00"), std::string::npos) << screen.lines[0];
}

TEST(Progress, NothingDoneYetHasNoRemainingTime) {
    Screen screen;
    Progress progress("run", 10, screen.sink(), 1.0, screen.clock());
    screen.time = 2;
    progress.advance(0);
    ASSERT_EQ(screen.lines.size(), 1U);
    EXPECT_TRUE(screen.lines[0].ends_with("  0% 00:02 left --:--")) << screen.lines[0];
}

TEST(Progress, AnEmptySinkDoesNothing) {
    int asked = 0;
    Progress progress("run", 10, {}, 0.0, [&] {
        ++asked;
        return 0.0;
    });
    progress.advance(5);
    progress.finish();
    EXPECT_EQ(asked, 0);
}

TEST(Progress, EveryPercentOfAHundredIsShown) {
    std::string last;
    Progress progress(
        "run", 100, [&](std::string_view text) { last = text; }, 0.0);
    for (int percent = 1; percent <= 100; ++percent) {
        progress.advance();
        EXPECT_NE(last.find(fmt::format(" {}%", percent)), std::string::npos) << last;
    }
}

TEST(Progress, CountsFromManyThreads) {
    std::string last;
    Progress progress(
        "run", 0, [&](std::string_view text) { last = text; }, 0.0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                progress.advance();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    progress.finish();
    EXPECT_EQ(last.substr(0, 10), "\rrun 8000 ") << last;
}

}  // namespace
}  // namespace flyball
