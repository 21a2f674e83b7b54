#include "core/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace flyball {

namespace {

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string clock_text(double seconds) {
    if (!(seconds < 360000.0)) {
        return "--:--";
    }
    const auto whole = static_cast<std::uint64_t>(std::max(0.0, std::round(seconds)));
    if (whole < 3600) {
        return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
    }
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string label, std::uint64_t total, Sink sink, double min_interval_seconds, Clock clock)
    : label_(std::move(label)),
      total_(total),
      sink_(std::move(sink)),
      interval_(min_interval_seconds),
      clock_(clock ? std::move(clock) : Clock(steady_seconds)),
      start_(sink_ ? clock_() : 0.0),
      next_(start_ + interval_) {}

Progress::~Progress() {
    const std::lock_guard lock(mutex_);
    if (!finished_ && shown_) {
        try {
            sink_("\n");
        } catch (...) {  // nothing can be done about a sink that fails while we leave
        }
    }
}

void Progress::advance(std::uint64_t n) {
    if (!sink_) {
        return;
    }
    done_.fetch_add(n, std::memory_order_relaxed);
    const double now = clock_();
    if (now < next_.load(std::memory_order_relaxed)) {
        return;
    }
    // Whoever comes second skips: a bar is not worth waiting for.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && !finished_ && now >= next_.load(std::memory_order_relaxed)) {
        next_.store(now + interval_, std::memory_order_relaxed);
        show(now, "");
    }
}

void Progress::set_label(std::string label) {
    const std::lock_guard lock(mutex_);
    label_ = std::move(label);
}

void Progress::finish() {
    if (!sink_) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!finished_) {
        finished_ = true;
        show(clock_(), "\n");
    }
}

void Progress::show(double now, std::string_view end) {
    constexpr std::size_t bar_width = 24;
    const std::uint64_t done = done_.load(std::memory_order_relaxed);
    const double elapsed = now - start_;
    std::string line;
    if (total_ == 0) {
        line = fmt::format("{} {} {}", label_, done, clock_text(elapsed));
    } else {
        const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
        const auto filled = static_cast<std::size_t>(share * static_cast<double>(bar_width));
        const std::uint64_t percent = 100 * std::min(done, total_) / total_;  // 0.29 * 100 is less than 29
        line = fmt::format("{} [{}{}] {:3}% {}", label_, std::string(filled, '#'), std::string(bar_width - filled, '.'),
                           percent, clock_text(elapsed));
        if (end.empty()) {
            line += fmt::format(" left {}", clock_text(elapsed / share - elapsed));
        }
    }
    // Spaces wipe what a longer line left on the terminal.
    const std::size_t length = line.size();
    line.append(width_ > length ? width_ - length : 0, ' ');
    width_ = length;
    shown_ = true;
    sink_("\r" + line + std::string(end));
}

}  // namespace flyball
