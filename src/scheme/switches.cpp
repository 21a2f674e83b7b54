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
                                  const std::vector<double>& probes) {
    std::vector<double> times;
    if (probes.empty() || outcomes(probes.front()).empty()) {
        return times;
    }
    for (std::size_t i = 0; i + 1 < probes.size(); ++i) {
        double low = probes[i];
        double high = probes[i + 1];
        const std::vector<bool> before = outcomes(low);
        if (before == outcomes(high)) {
            continue;
        }
        while (std::nextafter(low, high) < high) {
            const double middle = low + (high - low) / 2;
            (outcomes(middle) == before ? low : high) = middle;
        }
        if (low > 0) {
            times.push_back(low);
        }
    }
    return times;
}

}  // namespace flyball::scheme
