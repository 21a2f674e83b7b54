#include "core/parallel.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/random.hpp"
#include "support.hpp"

namespace flyball {
namespace {

using Range = std::tuple<std::size_t, std::size_t, std::size_t>;

class Parallel : public testing::Test {
  protected:
    void TearDown() override { set_threads(available_cpus()); }

    static std::vector<Range> ranges(std::size_t count, std::size_t slots) {
        std::mutex mutex;
        std::vector<Range> found;
        parallel_slots(count, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            const std::lock_guard lock(mutex);
            found.emplace_back(slot, begin, end);
        });
        std::sort(found.begin(), found.end());
        return found;
    }
};

// What threads get by themselves is 2 MB under `ulimit -s unlimited`, and as little as a small limit says. (With 1 MB no
// thread begins: what it has for itself, thread_local, lies on its stack.)
TEST_F(Parallel, ThreadsHaveEightMegabytesOfStackWhateverTheSystemGivesByItself) {
    set_threads(2);  // the threads of earlier tests end
    // The C library keeps 40 MB of the stacks of threads that have ended, and gives them to new ones: these take them.
    std::atomic<bool> enough{false};
    std::vector<std::thread> takers;
    for (int i = 0; i < 12; ++i) {
        takers.emplace_back([&] { enough.wait(false); });
    }
    pthread_attr_t usual{};
    EXPECT_EQ(pthread_getattr_default_np(&usual), 0);
    pthread_attr_t small = usual;
    EXPECT_EQ(pthread_attr_setstacksize(&small, std::size_t{4} << 20U), 0);
    EXPECT_EQ(pthread_setattr_default_np(&small), 0);
    std::atomic<int> begun{0};
    std::vector<std::size_t> bytes(2);
    const std::thread::id caller = std::this_thread::get_id();
    parallel_slots(2, 2, [&](std::size_t slot, std::size_t, std::size_t) {
        begun.fetch_add(1);
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (begun.load() < 2 && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
        }
        pthread_attr_t own{};
        if (std::this_thread::get_id() != caller && pthread_getattr_np(pthread_self(), &own) == 0) {
            pthread_attr_getstacksize(&own, &bytes[slot]);
            pthread_attr_destroy(&own);
        }
    });
    enough = true;
    enough.notify_all();
    for (std::thread& taker : takers) {
        taker.join();
    }
    pthread_setattr_default_np(&usual);
    pthread_attr_destroy(&usual);
    EXPECT_GE(std::max(bytes[0], bytes[1]), std::size_t{8} << 20U);
}

TEST_F(Parallel, RangesCoverEverythingOnceForAnyThreadCount) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 64U, 1000U}) {
        for (const std::size_t slots : {0U, 1U, 2U, 3U, 16U, 64U, 2000U}) {
            std::vector<Range> expected;
            for (const int n : {1, 2, 5}) {
                set_threads(n);
                const std::vector<Range> found = ranges(count, slots);
                ASSERT_LE(found.size(), std::max<std::size_t>(slots, 1));
                std::size_t position = 0;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const auto [slot, begin, end] = found[i];
                    ASSERT_EQ(slot, i);
                    ASSERT_EQ(begin, position);
                    ASSERT_LT(begin, end);
                    position = end;
                }
                ASSERT_EQ(position, count);
                expected = n == 1 ? found : expected;
                ASSERT_EQ(found, expected) << count << " " << slots << " " << n;
            }
        }
    }
}

TEST_F(Parallel, RangesDifferInLengthByAtMostOne) {
    for (const auto& [slot, begin, end] : ranges(1003, 10)) {
        EXPECT_EQ(end - begin, slot < 3 ? 101U : 100U);
    }
}

TEST_F(Parallel, SumHasTheSameBitsAtAnyThreadCount) {
    const Random random(3);
    std::vector<double> x(10'007);
    random.fill_normal(x);
    const auto body = [&](std::size_t, std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += x[i];
        }
        return sum;
    };
    for (const std::size_t slots : {1U, 7U, 300U}) {
        set_threads(1);
        const double serial = parallel_sum(x.size(), slots, body);
        for (const int n : {2, 3, 8}) {
            set_threads(n);
            for (int repeat = 0; repeat < 20; ++repeat) {
                ASSERT_EQ(parallel_sum(x.size(), slots, body), serial);
            }
        }
    }
    EXPECT_EQ(parallel_sum(0, 4, body), 0.0);
}

// The second sum finds on the stack what the first has left there.
TEST_F(Parallel, SumOfFewerElementsThanSlotsHasNoOtherParts) {
    set_threads(1);
    const auto no_number = [](std::size_t, std::size_t, std::size_t) { return std::nan(""); };
    const auto length = [](std::size_t, std::size_t begin, std::size_t end) {
        return static_cast<double>(end - begin);
    };
    for (const std::size_t count : {0U, 1U, 5U}) {
        const double left = parallel_sum(128, 128, no_number);
        const double sum = parallel_sum(count, 128, length);
        EXPECT_TRUE(std::isnan(left));
        EXPECT_EQ(sum, static_cast<double>(count));
    }
}

TEST_F(Parallel, SumAddsInSlotOrder) {
    const double partial[] = {1, 1e16, -1e16};  // from the left 0, from the right 1
    EXPECT_EQ(parallel_sum(3, 3, [&](std::size_t slot, std::size_t, std::size_t) { return partial[slot]; }), 0.0);
}

TEST_F(Parallel, WorkIsSharedWithThreadsThatSleptAlready) {
    set_threads(2);
    for (int repeat = 0; repeat < 5; ++repeat) {
        std::mutex mutex;
        std::set<std::thread::id> seen;
        // Each body waits until both have begun: only two threads can finish this.
        std::atomic<int> begun{0};
        parallel_slots(2, 2, [&](std::size_t, std::size_t, std::size_t) {
            begun.fetch_add(1);
            const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (begun.load() < 2 && std::chrono::steady_clock::now() < limit) {
                std::this_thread::yield();
            }
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
        ASSERT_EQ(seen.size(), 2U);
        EXPECT_TRUE(seen.contains(std::this_thread::get_id())) << "the caller takes part";
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than the workers spin
    }
}

TEST_F(Parallel, CallerWaitsForSlowBodies) {
    set_threads(2);
    std::atomic<int> done{0};
    parallel_slots(2, 2, [&](std::size_t slot, std::size_t, std::size_t) {
        // Whoever takes the slow slot, the other thread waits past its spinning.
        std::this_thread::sleep_for(std::chrono::milliseconds(slot == 0 ? 5 : 10));
        done.fetch_add(1);
    });
    EXPECT_EQ(done.load(), 2);
}

TEST_F(Parallel, TheExceptionOfTheLowestSlotArrives) {
    for (const int n : {1, 2, 5}) {
        set_threads(n);
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::string message;
            try {
                parallel_slots(64, 64, [](std::size_t slot, std::size_t, std::size_t) {
                    if (slot % 20 == 13) {
                        throw std::runtime_error("slot " + std::to_string(slot));
                    }
                });
            } catch (const std::runtime_error& error) {
                message = error.what();
            }
            ASSERT_EQ(message, "slot 13");
        }
        std::atomic<int> done{0};
        parallel_slots(8, 8, [&](std::size_t, std::size_t, std::size_t) { done.fetch_add(1); });
        EXPECT_EQ(done.load(), 8) << "the pool works after an exception";
    }
}

TEST_F(Parallel, TheLowestSlotWinsWhoeverThrowsFirst) {
    set_threads(2);
    for (const std::size_t first : {0U, 1U}) {
        std::atomic<int> begun{0};
        std::string message;
        try {
            parallel_slots(2, 2, [&](std::size_t slot, std::size_t, std::size_t) {
                begun.fetch_add(1);
                while (begun.load() < 2) {
                    std::this_thread::yield();
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(slot == first ? 0 : 20));
                throw std::runtime_error("slot " + std::to_string(slot));
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        EXPECT_EQ(message, "slot 0");
    }
}

TEST_F(Parallel, NestedCallsRunInTheCallingThread) {
    set_threads(3);
    EXPECT_FALSE(inside_parallel());
    std::atomic<int> wrong{0};
    std::atomic<int> calls{0};
    parallel_slots(6, 6, [&](std::size_t, std::size_t, std::size_t) {
        const auto self = std::this_thread::get_id();
        wrong.fetch_add(inside_parallel() ? 0 : 1);
        parallel_slots(4, 4, [&](std::size_t, std::size_t, std::size_t) {
            calls.fetch_add(1);
            wrong.fetch_add(std::this_thread::get_id() == self ? 0 : 1);
        });
    });
    EXPECT_EQ(calls.load(), 24);
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_FALSE(inside_parallel());
}

TEST_F(Parallel, SeveralThreadsMayCallAtOnce) {
    set_threads(3);
    std::vector<std::thread> users;
    std::atomic<std::size_t> total{0};
    for (int user = 0; user < 4; ++user) {
        users.emplace_back([&] {
            for (int repeat = 0; repeat < 200; ++repeat) {
                std::vector<int> hits(50, 0);  // plain ints: a slot run twice or unseen by us shows, also in TSan
                parallel_slots(50, 10, [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                        ++hits[i];
                    }
                });
                total.fetch_add(static_cast<std::size_t>(std::count(hits.begin(), hits.end(), 1)));
            }
        });
    }
    for (std::thread& user : users) {
        user.join();
    }
    EXPECT_EQ(total.load(), 4U * 200U * 50U);
}

TEST_F(Parallel, ThreadsCanBeChangedBetweenCallsAndDuringOthers) {
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::thread user([&] {
        while (!stop.load()) {
            const double sum = parallel_sum(100, 8, [](std::size_t, std::size_t begin, std::size_t end) {
                return static_cast<double>(end - begin);
            });
            wrong.fetch_add(sum == 100.0 ? 0 : 1);
        }
    });
    for (int i = 0; i < 50; ++i) {
        set_threads(1 + i % 4);
        EXPECT_EQ(threads(), 1 + i % 4);
    }
    stop.store(true);
    user.join();
    EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Parallel, RefusesAnImpossibleNumberOfThreads) {
    EXPECT_ERROR(set_threads(0), "got 0 threads, expected a number from 1 to 1024");
    EXPECT_ERROR(set_threads(-3), "-3");
    EXPECT_ERROR(set_threads(1025), "1025");
    set_threads(2);
    EXPECT_ERROR(parallel_slots(4, 4, [](std::size_t, std::size_t, std::size_t) { set_threads(1); }),
                 "inside a parallel body");
}

TEST_F(Parallel, DefaultIsWhatTheProcessMayUse) {
    EXPECT_GE(available_cpus(), 1);
    EXPECT_LE(available_cpus(), static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace flyball
