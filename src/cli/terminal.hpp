// The process around a command: terminal, interrupts, memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/progress.hpp"

namespace flyball::cli {

// Writes to stderr when that is a terminal and --quiet was not given, and is empty otherwise.
Progress::Sink progress_sink();

// A bar on stderr of several runs, one after the other: which of how many it is, and the time left for all of them, as
// far as those so far tell. at() by one thread at a time.
class RunsProgress {
  public:
    explicit RunsProgress(std::size_t runs);
    void begin(const std::string& name);  // the next run
    void at(double share);                // of that run
    void finish();

  private:
    void show(double share);
    std::size_t runs_;
    std::size_t begun_ = 0;
    std::uint64_t shown_ = 0;
    Progress bar_;
};

// A bar on stderr of work that says which share of it is done. at() by one thread at a time.
class ShareProgress {
  public:
    explicit ShareProgress(const std::string& label);
    void at(double share);
    void finish() { bar_.finish(); }

  private:
    Progress bar_;
    std::uint64_t shown_ = 0;
};

// From now on SIGINT and SIGTERM set a flag that runs look at between steps; a second signal ends the process at once.
void catch_interrupts();
const std::atomic<bool>& interrupted();

// Bytes that this process may still use: free memory of the machine and limit of its control group.
double available_memory();

bool stdout_is_terminal();
inline constexpr std::size_t plot_rows = 20;  // of a plot of text, legend included: it fits a terminal of 24 rows

// Columns for what is printed: the environment's COLUMNS, otherwise those of the terminal, otherwise 80.
std::size_t output_columns();
// The same for a picture on stderr that is drawn again and again.
std::size_t error_columns();

}  // namespace flyball::cli
