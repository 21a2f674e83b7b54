#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cli/command.hpp"
#include "core/number.hpp"
#include "report/utf8.hpp"

namespace flyball::cli {

namespace {

std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void on_interrupt(int /*signal*/) {
    if (interrupt_flag.exchange(true)) {
        _exit(static_cast<int>(ExitCode::interrupted));
    }
}

double number_in(const char* path) {
    std::ifstream file(path);
    double value = 0;
    return file >> value ? value : -1;
}

}  // namespace

Progress::Sink progress_sink() {
    if (is_quiet() || isatty(STDERR_FILENO) == 0) {
        return {};
    }
    return [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    };
}

namespace {

constexpr std::uint64_t ticks = 1000;

}  // namespace

ShareProgress::ShareProgress(const std::string& label) : bar_(label, ticks, progress_sink()) {}

void ShareProgress::at(double share) {
    const auto tick = static_cast<std::uint64_t>(share * static_cast<double>(ticks));
    if (tick > shown_) {
        bar_.advance(tick - shown_);
        shown_ = tick;
    }
}

RunsProgress::RunsProgress(std::size_t runs) : runs_(runs), bar_("", ticks * runs, progress_sink()) {}

void RunsProgress::begin(const std::string& name) {
    constexpr std::size_t longest_name = 20;
    ++begun_;
    const std::string shown = report::shortened(name, longest_name);
    bar_.set_label(runs_ == 1 ? shown : fmt::format("{} ({} of {})", shown, begun_, runs_));
    show(0);
}

void RunsProgress::at(double share) {
    show(std::clamp(share, 0.0, 1.0));
}

void RunsProgress::show(double share) {
    const auto tick =
        static_cast<std::uint64_t>((static_cast<double>(begun_ - 1) + share) * static_cast<double>(ticks));
    if (tick > shown_) {
        bar_.advance(tick - shown_);
        shown_ = tick;
    }
}

void RunsProgress::finish() {
    show(1);
    bar_.finish();
}

void catch_interrupts() {
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& interrupted() {
    return interrupt_flag;
}

double available_memory() {
    double available = 1e18;
    std::ifstream info("/proc/meminfo");
    for (std::string key; info >> key;) {
        double kilobytes = 0;
        if (key == "MemAvailable:" && info >> kilobytes) {
            available = kilobytes * 1024;
            break;
        }
        info.ignore(256, '\n');
    }
    const double limit = number_in("/sys/fs/cgroup/memory.max");  // "max" reads as -1
    const double used = number_in("/sys/fs/cgroup/memory.current");
    if (limit > 0 && used >= 0) {
        available = std::min(available, limit - used);
    }
    // The limits of the process (ulimit -v and -d) count addresses, whether they are backed by memory or not.
    double size = 0;
    if (std::ifstream("/proc/self/statm") >> size) {
        size *= static_cast<double>(sysconf(_SC_PAGESIZE));
        for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
            rlimit most{};
            if (getrlimit(kind, &most) == 0 && most.rlim_cur != RLIM_INFINITY) {
                available = std::min(available, static_cast<double>(most.rlim_cur) - size);
            }
        }
    }
    return std::max(0.0, available);
}

bool stdout_is_terminal() {
    return isatty(STDOUT_FILENO) != 0;
}

namespace {

std::size_t columns_of(int descriptor) {
    constexpr std::int64_t least = 20;
    constexpr std::int64_t most = 1000;
    const char* const said = std::getenv("COLUMNS");
    if (const auto columns = parse_integer(said == nullptr ? "" : said); columns && *columns >= least) {
        return static_cast<std::size_t>(std::min(*columns, most));
    }
    winsize size = {};
    const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= least;
    return known ? size.ws_col : 80;
}

}  // namespace

std::size_t output_columns() {
    return columns_of(STDOUT_FILENO);
}

std::size_t error_columns() {
    return columns_of(STDERR_FILENO);
}

}  // namespace flyball::cli
