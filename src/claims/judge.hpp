// Claims are run and judged here: one after the other or side by side, with what an earlier run has stored.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "claims/claim.hpp"

namespace flyball::claims {

// A claim that was skipped or is left undecided, or was tried on another model than the record is about, says nothing
// against its record.
bool as_recorded(const Claim& claim, Verdict verdict);

struct Judged {
    Claim claim;
    Measurement measurement;
    std::vector<std::string> pictures = {};  // names of figures that were written
    double seconds = 0;

    std::string note() const;  // the ledger's and the experiment's
    bool as_recorded() const { return claims::as_recorded(claim, measurement.verdict); }
};

// Runs the experiment. Without one the claim is not tested; when something that it needs is not there, it is skipped.
// Throws Interrupted when the context's stop flag is set.
Judged judge(const Claim& claim, const Context& context);

inline constexpr std::uint64_t ticks_per_claim = 1000;  // of progress

struct Judging {
    bool quick = false;
    std::uint64_t seed = 1;
    const std::atomic<bool>* stop = nullptr;
    // The functions below are called by several threads at the same time.
    std::function<void(std::uint64_t ticks)> advanced = {};
    std::function<std::optional<Judged>(const Claim&)> stored = {};  // by an earlier run; then it is not run again
    std::function<void(Judged&)> finished = {};  // as soon as a claim is judged, but not of those that were skipped
    Subject subject = {};
    Shelf shelf = {};
};

// In the order of `claims`; nothing where the run was stopped before. Claims share the threads, the longest are begun
// first; each has the same numbers on any number of threads. Those that ask to be alone run after all others.
std::vector<std::optional<Judged>> judge_all(const std::vector<Claim>& claims, const Judging& judging);

// "31 claims: 26 hold, 3 hold corrected, 2 fail; all as recorded".
std::string summary(const std::vector<Judged>& claims);
// The same of what is recorded: "31 claims: 26 hold, 3 hold corrected, 2 fail".
std::string summary(const std::vector<Claim>& claims);

}  // namespace flyball::claims
