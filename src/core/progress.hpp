// A progress bar that does not know where it is shown.
//
// The text goes to a sink, ready to print: "\r", label, bar, percentage, elapsed and remaining time; finish() adds the
// line end. An empty sink makes every call a no-op. advance() may be called from any thread and only adds and
// reads the clock unless it is time to show something. If an exception ends the job, the destructor ends the line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace flyball {

class Progress {
  public:
    using Sink = std::function<void(std::string_view)>;
    using Clock = std::function<double()>;  // seconds from any fixed start, never going back

    // `total` 0: unknown, only the count and the time are shown. An empty clock is the steady one.
    Progress(std::string label, std::uint64_t total, Sink sink, double min_interval_seconds = 0.1, Clock clock = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void advance(std::uint64_t n = 1);

    // What stands before the bar from now on. advance() shows it.
    void set_label(std::string label);

    // Shows the last state and ends the line; further calls do nothing.
    void finish();

  private:
    void show(double now, std::string_view end);

    std::string label_;  // guarded by the mutex
    const std::uint64_t total_;
    const Sink sink_;
    const double interval_;
    const Clock clock_;
    const double start_;
    std::atomic<std::uint64_t> done_{0};
    std::atomic<double> next_;
    std::mutex mutex_;  // guards the sink and what follows
    bool finished_ = false;
    bool shown_ = false;
    std::size_t width_ = 0;
};

}  // namespace flyball
