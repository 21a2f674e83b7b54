// A pool of threads that take slots in order; spinning for a moment before sleeping, since solvers call often.
#include "core/parallel.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace flyball {

namespace {

constexpr int most_threads = 1024;
// Waking a sleeping thread costs about this much; a solver calls us again sooner than that.
constexpr std::chrono::microseconds spin_time{50};

thread_local bool inside = false;
thread_local const std::atomic<bool>* stop_flag = nullptr;  // of the StopOn whose work this thread does

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

template <class Condition>
bool spin_until(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + spin_time;
    do {
        for (int i = 0; i < 32; ++i) {
            if (condition()) {
                return true;
            }
            relax();
        }
    } while (std::chrono::steady_clock::now() < limit);
    return false;
}

// How threads are begun: with the stack they get by themselves, and never with less than thread_stack_bytes. By
// themselves they get as much as `ulimit -s` says, or 2 MB where it says "unlimited".
class ThreadAttributes {
  public:
    ThreadAttributes() : valid_(pthread_attr_init(&attributes_) == 0) {
        std::size_t usual = 0;
        if (valid_ && pthread_attr_getstacksize(&attributes_, &usual) == 0 && usual < thread_stack_bytes) {
            static_cast<void>(pthread_attr_setstacksize(&attributes_, thread_stack_bytes));
        }
    }
    ~ThreadAttributes() {
        if (valid_) {
            pthread_attr_destroy(&attributes_);
        }
    }
    ThreadAttributes(const ThreadAttributes&) = delete;
    ThreadAttributes& operator=(const ThreadAttributes&) = delete;
    const pthread_attr_t* get() const { return valid_ ? &attributes_ : nullptr; }

  private:
    pthread_attr_t attributes_{};
    bool valid_;
};

struct Split {
    std::size_t count;
    std::size_t slots;

    // The first count % slots ranges are one longer.
    std::size_t begin(std::size_t slot) const { return slot * (count / slots) + std::min(slot, count % slots); }
};

// One job at a time, offered through `left_`, the number of slots nobody has taken yet. Taking one is a
// compare-and-swap, and only who took a slot reads the job's fields: a thread that wakes up late finds nothing to take
// and touches nothing, so the job lives in plain members that the next job reuses.
class Pool {
  public:
    ~Pool() { stop(); }

    int threads() const { return threads_.load(std::memory_order_relaxed); }

    void set_threads(int count) {
        const std::lock_guard lock(owner_);
        stop();
        threads_.store(count, std::memory_order_relaxed);
    }

    // False, and nothing done, when another caller has the pool.
    bool try_run(Split split, SlotBody body) {
        const std::unique_lock lock(owner_, std::try_to_lock);
        if (!lock.owns_lock()) {
            return false;
        }
        start();
        split_ = split;
        body_ = body;
        stop_ = stop_flag;
        failed_slot_.store(std::numeric_limits<std::size_t>::max(), std::memory_order_relaxed);
        finished_.store(0, std::memory_order_relaxed);
        left_.store(split.slots);
        if (sleepers_.load() > 0) {
            { const std::lock_guard wake(sleep_); }
            work_.notify_all();
        }
        inside = true;
        while (run_one()) {
        }
        inside = false;
        const auto all_done = [this, &split] { return finished_.load() == split.slots; };
        if (!spin_until(all_done)) {
            std::unique_lock wait(sleep_);
            caller_waits_.store(true);
            done_.wait(wait, all_done);
            caller_waits_.store(false);
        }
        if (error_) {
            std::rethrow_exception(std::exchange(error_, nullptr));
        }
        return true;
    }

  private:
    // Takes and runs one slot; false when none is left.
    bool run_one() {
        std::size_t left = left_.load();
        do {
            if (left == 0) {
                return false;
            }
        } while (!left_.compare_exchange_weak(left, left - 1));
        const std::size_t slots = split_->slots;
        const std::size_t slot = slots - left;
        // Slots are taken in order, so everything below a failed slot has been taken and decides for itself.
        if (slot < failed_slot_.load(std::memory_order_relaxed)) {
            try {
                const StopOn stop(stop_);
                check_stop();
                (*body_)(slot, split_->begin(slot), split_->begin(slot + 1));
            } catch (...) {
                const std::lock_guard lock(error_mutex_);
                if (slot < failed_slot_.load(std::memory_order_relaxed)) {
                    failed_slot_.store(slot, std::memory_order_relaxed);
                    error_ = std::current_exception();
                }
            }
        }
        if (finished_.fetch_add(1) + 1 == slots && caller_waits_.load()) {
            { const std::lock_guard wake(sleep_); }
            done_.notify_one();
        }
        return true;
    }

    void work() {
        inside = true;
        const auto wanted = [this] { return left_.load() > 0 || stopping_.load(); };
        while (!stopping_.load()) {
            if (run_one() || spin_until(wanted)) {
                continue;
            }
            std::unique_lock lock(sleep_);
            sleepers_.fetch_add(1);
            work_.wait(lock, wanted);
            sleepers_.fetch_sub(1);
        }
    }

    void start() {
        const auto workers = static_cast<std::size_t>(threads() - 1);
        if (workers_.size() == workers || refused_) {
            return;
        }
        workers_.reserve(workers);
        const ThreadAttributes attributes;
        while (workers_.size() < workers && !refused_) {
            pthread_t worker{};
            // Where the system gives no more threads: the results do not depend on how many there are.
            refused_ = pthread_create(&worker, attributes.get(), work_in, this) != 0;
            if (!refused_) {
                workers_.push_back(worker);
            }
        }
    }

    static void* work_in(void* pool) {
        static_cast<Pool*>(pool)->work();
        return nullptr;
    }

    void stop() {
        stopping_.store(true);
        { const std::lock_guard lock(sleep_); }
        work_.notify_all();
        for (const pthread_t worker : workers_) {
            pthread_join(worker, nullptr);
        }
        workers_.clear();
        stopping_.store(false);
        refused_ = false;
    }

    std::atomic<int> threads_{available_cpus()};
    std::mutex owner_;  // held by the caller whose job is running
    std::vector<pthread_t> workers_;
    bool refused_ = false;
    std::atomic<bool> stopping_{false};

    // The job. Written by the owner while no slot is on offer, read by those who took a slot.
    std::optional<Split> split_;
    std::optional<SlotBody> body_;
    const std::atomic<bool>* stop_ = nullptr;
    std::exception_ptr error_;
    std::mutex error_mutex_;
    std::atomic<std::size_t> failed_slot_{0};

    alignas(64) std::atomic<std::size_t> left_{0};
    alignas(64) std::atomic<std::size_t> finished_{0};

    std::mutex sleep_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::atomic<int> sleepers_{0};
    std::atomic<bool> caller_waits_{false};
};

Pool& pool() {
    static Pool instance;
    return instance;
}

// Version 2 control groups: "max 100000" or "200000 100000" (quota and period in microseconds).
int group_limit() {
    std::FILE* const file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file == nullptr) {
        return most_threads;
    }
    long long quota = 0;
    long long period = 0;
    const int read = std::fscanf(file, "%lld %lld", &quota, &period);
    std::fclose(file);
    if (read != 2 || quota <= 0 || period <= 0) {
        return most_threads;
    }
    return static_cast<int>(std::clamp<long long>((quota + period - 1) / period, 1, most_threads));
}

}  // namespace

int available_cpus() {
    int cpus = static_cast<int>(std::min<unsigned>(std::thread::hardware_concurrency(), most_threads));
#ifdef __linux__
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
        cpus = CPU_COUNT(&mask);
    }
#endif
    return std::max(1, std::min(cpus, group_limit()));
}

void set_threads(int count) {
    if (count < 1 || count > most_threads) {
        throw Error(ErrorKind::usage, "core.set_threads", fmt::format("{} threads", count),
                    fmt::format("a number from 1 to {}", most_threads));
    }
    if (inside) {
        throw Error(ErrorKind::usage, "core.set_threads", "a call from inside a parallel body", "a call from outside",
                    "set the number of threads before the parallel part starts");
    }
    pool().set_threads(count);
}

int threads() {
    return pool().threads();
}

bool inside_parallel() noexcept {
    return inside;
}

StopOn::StopOn(const std::atomic<bool>* flag) noexcept : outer_(stop_flag) {
    stop_flag = flag;
}

StopOn::~StopOn() {
    stop_flag = outer_;
}

void check_stop() {
    if (stop_flag != nullptr && stop_flag->load(std::memory_order_relaxed)) {
        throw Stopped{};
    }
}

void parallel_slots(std::size_t count, std::size_t slots, SlotBody body) {
    if (count == 0) {
        return;
    }
    const Split split{count, std::clamp<std::size_t>(slots, 1, count)};
    if (split.slots > 1 && !inside && pool().threads() > 1 && pool().try_run(split, body)) {
        return;
    }
    for (std::size_t slot = 0; slot < split.slots; ++slot) {
        check_stop();
        body(slot, split.begin(slot), split.begin(slot + 1));
    }
}

double parallel_sum(std::size_t count, std::size_t slots, SlotSum body) {
    constexpr std::size_t few = 128;
    std::array<double, few> on_stack;
    std::vector<double> on_heap;
    slots = std::min(std::max<std::size_t>(slots, 1), count);  // as parallel_slots does
    double* partial = on_stack.data();
    if (slots > few) {
        on_heap.resize(slots);
        partial = on_heap.data();
    }
    parallel_slots(count, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
        partial[slot] = body(slot, begin, end);
    });
    double sum = 0.0;
    for (std::size_t slot = 0; slot < slots; ++slot) {
        sum += partial[slot];
    }
    return sum;
}

}  // namespace flyball
