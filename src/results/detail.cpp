#include "results/detail.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace flyball::results {

Detail Detail::at(std::size_t level) {
    Detail detail;
    for (std::size_t i = 0; i < level; ++i) {
        detail.points = std::max<std::size_t>(16, detail.points / 2);
        // Fewer dots are missed less than fewer moments.
        (i % 2 == 0 ? detail.particles : detail.frames) =
            std::max<std::size_t>(8, (i % 2 == 0 ? detail.particles : detail.frames) / 2);
        detail.cells = std::max<std::size_t>(64, detail.cells / 2);
        detail.rows = std::max<std::size_t>(16, detail.rows / 2);
    }
    return detail;
}

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t most) {
    std::vector<std::size_t> chosen;
    if (values.size() <= std::max<std::size_t>(most, 4)) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            chosen.push_back(i);
        }
        return chosen;
    }
    const std::size_t stretches = std::max<std::size_t>(1, most / 4);
    for (std::size_t s = 0; s < stretches; ++s) {
        const std::size_t begin = s * values.size() / stretches;
        const std::size_t end = (s + 1) * values.size() / stretches;
        std::set<std::size_t> kept = {begin, end - 1};
        std::size_t least = end;
        std::size_t largest = end;
        std::size_t gap = end;
        for (std::size_t i = begin; i < end; ++i) {
            if (!std::isfinite(values[i])) {
                gap = std::min(gap, i);
                continue;
            }
            least = least == end || values[i] < values[least] ? i : least;
            largest = largest == end || values[i] > values[largest] ? i : largest;
        }
        for (const std::size_t i : {least, largest, gap}) {
            if (i != end) {
                kept.insert(i);
            }
        }
        chosen.insert(chosen.end(), kept.begin(), kept.end());
    }
    return chosen;
}

std::vector<std::size_t> evenly(std::size_t total, std::size_t count) {
    std::vector<std::size_t> chosen;
    count = std::min(total, count);
    for (std::size_t i = 0; i < count; ++i) {
        chosen.push_back(count > 1 ? i * (total - 1) / (count - 1) : 0);
    }
    return chosen;
}

}  // namespace flyball::results
