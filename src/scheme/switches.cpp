#include "scheme/switches.hpp"

#include <cmath>

namespace flyball::scheme {

std::vector<double> switch_probes(double T) {
    constexpr int count = 4096;
    std::vector<double> probes;
    for (int i = 0; i <= count; ++i) {
        probes.push_back(T * i / count);
    }
    return probes;
}

// Bisection down to two neighbouring numbers: a step may end exactly at the last time before the flip.
std::vector<double> find_switches(const std::function<std::vector<bool>(double)>& outcomes,
                                  const std::vector<double>& probes, std::size_t most) {
    std::vector<double> times;
    if (probes.empty()) {
        return times;
    }
    std::vector<bool> before = outcomes(probes.front());
    if (before.empty()) {
        return times;
    }
    for (std::size_t i = 0; i + 1 < probes.size(); ++i) {
        std::vector<bool> now = outcomes(probes[i + 1]);
        double begin = probes[i];
        // Several may flip between two probes, each at its own time.
        while (before != now && times.size() <= most) {
            double low = begin;
            double high = probes[i + 1];
            while (std::nextafter(low, high) < high) {
                const double middle = low + (high - low) / 2;
                (outcomes(middle) == before ? low : high) = middle;
            }
            if (low > 0) {
                times.push_back(low);
            }
            begin = high;
            before = outcomes(begin);
        }
        before = std::move(now);
    }
    return times;
}

}  // namespace flyball::scheme
