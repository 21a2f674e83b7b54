#include "claims/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/parallel.hpp"

namespace flyball::claims {

bool as_recorded(const Claim& claim, Verdict verdict) {
    return verdict == claim.expected || claim.is_elsewhere || verdict == Verdict::skipped ||
           verdict == Verdict::undecided;
}

// Elsewhere what the claim itself notes says nothing of the run.
std::string Judged::note() const {
    const std::string text = claim.note.empty() || measurement.note.empty() ? claim.note + measurement.note
                                                                            : claim.note + "; " + measurement.note;
    return claim.is_elsewhere && !claim.note.empty() ? "of the shipped model: " + text : text;
}

namespace {

Measurement measured(const Claim& claim, const Context& context) {
    Measurement nothing;
    if (!claim.experiment) {
        nothing.verdict = Verdict::not_tested;
        return nothing;
    }
    for (const Need& need : claim.needs) {
        if (!need.there()) {
            nothing.verdict = Verdict::skipped;
            nothing.note +=
                fmt::format("{}needs {}, which is not here: {}", nothing.note.empty() ? "" : "; ", need.what, need.how);
        }
    }
    return nothing.verdict == Verdict::skipped ? nothing : claim.experiment(context);
}

std::string counted(const std::vector<Verdict>& verdicts) {
    constexpr std::pair<Verdict, const char*> words[] = {
        {Verdict::holds, "hold"},          {Verdict::holds_corrected, "hold corrected"}, {Verdict::fails, "fail"},
        {Verdict::undecided, "undecided"}, {Verdict::not_tested, "not tested"},          {Verdict::skipped, "skipped"}};
    std::string parts;
    for (const auto& [verdict, word] : words) {
        if (const auto found = std::count(verdicts.begin(), verdicts.end(), verdict); found > 0) {
            parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", found, word);
        }
    }
    return fmt::format("{} claim{}: {}", verdicts.size(), verdicts.size() == 1 ? "" : "s", parts);
}

}  // namespace

Judged judge(const Claim& claim, const Context& context) {
    const auto begin = std::chrono::steady_clock::now();
    Judged judged{claim, measured(claim, context)};
    judged.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return judged;
}

// Side by side each claim runs in one thread, the longest first, so that none is left over at the end; those that want
// to be alone follow one by one with all threads.
std::vector<std::optional<Judged>> judge_all(const std::vector<Claim>& claims, const Judging& judging) {
    std::vector<std::optional<Judged>> results(claims.size());
    const auto stopped = [&] { return judging.stop != nullptr && judging.stop->load(std::memory_order_relaxed); };
    const auto one = [&](std::size_t i) {
        std::uint64_t shown = 0;
        const auto show = [&](double share) {
            const auto tick = static_cast<std::uint64_t>(share * static_cast<double>(ticks_per_claim));
            if (tick > shown && judging.advanced) {
                judging.advanced(tick - shown);
                shown = tick;
            }
        };
        if (judging.stored) {
            results[i] = judging.stored(claims[i]);
        }
        if (!results[i]) {
            try {
                results[i] = judge(
                    claims[i], {judging.quick, judging.seed, judging.stop, show, {}, judging.subject, judging.shelf});
            } catch (const Interrupted&) {
                return;
            }
            if (judging.finished && results[i]->measurement.verdict != Verdict::skipped) {
                judging.finished(*results[i]);
            }
        }
        show(1);
    };
    std::vector<std::size_t> order(claims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return claims[a].cost > claims[b].cost; });
    const auto alone =
        std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !claims[i].alone; });
    const auto beside = static_cast<std::size_t>(alone - order.begin());
    parallel_slots(beside, beside, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end && !stopped(); ++slot) {
            one(order[slot]);
        }
    });
    // Outside of any parallel part: whatever these experiments cut into slots gets all threads.
    for (std::size_t slot = beside; slot < order.size() && !stopped(); ++slot) {
        one(order[slot]);
    }
    return results;
}

std::string summary(const std::vector<Judged>& claims) {
    std::vector<Verdict> verdicts;
    std::size_t differ = 0;
    std::size_t open = 0;       // skipped, or undecided and not recorded so
    std::size_t elsewhere = 0;  // another verdict than the recorded one, which is that of the shipped model
    for (const Judged& judged : claims) {
        const Verdict verdict = judged.measurement.verdict;
        verdicts.push_back(verdict);
        if (verdict == judged.claim.expected) {
            continue;
        }
        const bool decided = verdict != Verdict::skipped && verdict != Verdict::undecided;
        ++(!judged.as_recorded() ? differ : decided ? elsewhere : open);
    }
    std::vector<std::string> parts = {counted(verdicts)};
    if (differ > 0) {
        parts.push_back(fmt::format("{} not as recorded", differ));
    }
    if (elsewhere > 0) {
        parts.push_back(fmt::format("{} not as recorded of the shipped model", elsewhere));
    }
    if (differ == 0 && open + elsewhere < claims.size()) {
        parts.emplace_back(open + elsewhere > 0 ? "all others as recorded" : "all as recorded");
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string summary(const std::vector<Claim>& claims) {
    std::vector<Verdict> verdicts;
    for (const Claim& claim : claims) {
        verdicts.push_back(claim.expected);
    }
    return counted(verdicts);
}

}  // namespace flyball::claims
