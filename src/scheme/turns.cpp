// Bisection between two looks with different outlines, of what differs alone: an equation of a hundred pulses has a
// thousand turns, and a thousand scalars, but at each turn a few of them do anything.
#include "scheme/turns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace flyball::scheme {

namespace {

using Look = TimeScalars::Look;

class Finder {
  public:
    Finder(const TimeScalars& scalars, const std::function<Environment(double)>& at)
        : scalars_(scalars), at_(at), turns_of_(scalars.size()), noisy_(scalars.size()) {}

    void along(const std::vector<double>& probes) {
        Look before = scalars_.look(at_(probes.front()));
        for (std::size_t i = 0; i + 1 < probes.size(); ++i) {
            Look after = scalars_.look(at_(probes[i + 1]));
            between(probes[i], before, probes[i + 1], after);
            before = std::move(after);
        }
    }

    std::vector<double> times() const {
        std::vector<double> result = times_;
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
        return result;
    }

    const std::vector<Turns::Noisy>& noisy() const { return given_up_; }

  private:
    // Several may change between two looks, each at its own time.
    void between(double begin, const Look& before, double end, const Look& after) {
        std::vector<std::size_t> changed;
        for (std::size_t i = 0; i < scalars_.size(); ++i) {
            if (before.outlines[i] != after.outlines[i] && !noisy_[i]) {
                changed.push_back(i);
            }
        }
        if (changed.empty()) {
            return;
        }
        const std::vector<std::size_t> parts = scalars_.parts_between(changed, before, after);
        Look here = before;
        std::vector<std::uint8_t> outlines = before.outlines;
        const auto as_before = [&](double t) {
            scalars_.look_at(parts, at_(t), here);
            return std::all_of(changed.begin(), changed.end(),
                               [&](std::size_t i) { return here.outlines[i] == outlines[i]; });
        };
        while (!changed.empty() && begin < end) {
            double low = begin;
            double high = end;
            while (std::nextafter(low, high) < high) {
                const double middle = low + (high - low) / 2;
                (as_before(middle) ? low : high) = middle;
            }
            as_before(high);
            if (low > 0) {
                times_.push_back(low);
            }
            for (const std::size_t i : changed) {
                if (here.outlines[i] != outlines[i]) {
                    outlines[i] = here.outlines[i];
                    count(i, low);
                }
            }
            begin = high;
            std::erase_if(changed, [&](std::size_t i) { return outlines[i] == after.outlines[i] || noisy_[i]; });
        }
    }

    void count(std::size_t scalar, double time) {
        constexpr std::size_t few = 8;
        std::vector<double>& turns = turns_of_[scalar];
        turns.push_back(time);
        // A sum of a hundred pulses turns six times for each, and each takes a dozen numbers, names and signs.
        if (turns.size() >= 4 * few + 2 * scalars_.length(scalar)) {
            noisy_[scalar] = true;
            std::sort(turns.begin(), turns.end());
            const auto at =
                static_cast<std::size_t>(std::upper_bound(turns.begin(), turns.end(), time) - turns.begin());
            given_up_.push_back({turns[at - std::min(at, few)], time});
        }
    }

    const TimeScalars& scalars_;
    const std::function<Environment(double)>& at_;
    std::vector<double> times_;
    std::vector<std::vector<double>> turns_of_;
    std::vector<bool> noisy_;
    std::vector<Turns::Noisy> given_up_;
};

// Closer and closer to both ends.
std::vector<double> towards_ends(double begin, double end, bool to_begin, bool to_end) {
    std::vector<double> times = {begin, end};
    for (double distance = (end - begin) / 2; distance > 1e-15 * end; distance /= 4) {
        if (to_begin) {
            times.push_back(begin + distance);
        }
        if (to_end) {
            times.push_back(end - distance);
        }
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

}  // namespace

// A second look around the turns of the first finds what changes back before the next probe: 1 - (t-300)^2*1e4 passes
// zero at 299.99 and at 300.01, which shows only from within.
Turns find_turns(const TimeScalars& scalars, const std::function<Environment(double)>& at,
                 const std::vector<double>& probes) {
    Finder finder(scalars, at);
    finder.along(probes);
    const std::vector<double> first = finder.times();
    for (std::size_t i = 0; i <= first.size() && !first.empty(); ++i) {
        const double begin = i > 0 ? std::nextafter(first[i - 1], HUGE_VAL) : probes.front();
        const double end = i < first.size() ? first[i] : probes.back();
        if (begin < end) {
            finder.along(towards_ends(begin, end, i > 0, i < first.size()));
        }
    }
    return {finder.times(), finder.noisy()};
}

}  // namespace flyball::scheme
