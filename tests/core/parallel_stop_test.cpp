// Work that is told to stop stops, in every thread of the pool, and only the work it was said of.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "core/parallel.hpp"

namespace flyball {
namespace {

class Threads {
  public:
    explicit Threads(int count) : before_(threads()) { set_threads(count); }
    ~Threads() { set_threads(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

  private:
    int before_;
};

TEST(StopOn, EndsBodiesInTheirMiddleAtAnyNumberOfThreads) {
    for (const int count : {1, 2, 4}) {
        const Threads use(count);
        std::atomic<bool> flag{false};
        std::atomic<int> finished{0};
        const StopOn stop(&flag);
        EXPECT_THROW(parallel_slots(64, 64,
                                    [&](std::size_t slot, std::size_t, std::size_t) {
                                        if (slot == 3) {
                                            flag = true;
                                        }
                                        while (slot >= 3 && !flag) {
                                        }
                                        check_stop();
                                        ++finished;
                                    }),
                     Stopped);
        EXPECT_LE(finished.load(), 3);
    }
}

TEST(StopOn, SkipsSlotsThatHaveNotBegun) {
    std::atomic<bool> flag{true};
    const StopOn stop(&flag);
    int run = 0;
    EXPECT_THROW(parallel_slots(10, 10, [&](std::size_t, std::size_t, std::size_t) { ++run; }), Stopped);
    EXPECT_EQ(run, 0);
}

TEST(StopOn, ReachesNestedLoopsAndEndsWithItsScope) {
    const Threads use(2);
    std::atomic<bool> flag{false};
    {
        const StopOn stop(&flag);
        EXPECT_THROW(parallel_slots(2, 2,
                                    [&](std::size_t, std::size_t, std::size_t) {
                                        flag = true;
                                        parallel_slots(3, 3, [](std::size_t, std::size_t, std::size_t) {});
                                    }),
                     Stopped);
        {
            const StopOn inner(nullptr);
            EXPECT_NO_THROW(check_stop());
        }
        EXPECT_THROW(check_stop(), Stopped);
    }
    std::atomic<int> run{0};
    parallel_slots(8, 8, [&](std::size_t, std::size_t, std::size_t) {
        check_stop();
        ++run;
    });
    EXPECT_EQ(run.load(), 8);
}

}  // namespace
}  // namespace flyball
