#include "limits/kolmogorov.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::limits {

// Both distribution functions step at the same time at equal values: ties must not count as differences.
double ks_distance(std::vector<double> a, std::vector<double> b) {
    const auto strange = [](double x) { return std::isnan(x); };
    if (std::any_of(a.begin(), a.end(), strange) || std::any_of(b.begin(), b.end(), strange)) {
        return std::nan("");
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::size_t i = 0;
    std::size_t j = 0;
    double most = 0;
    while (i < a.size() && j < b.size()) {
        const double at = std::min(a[i], b[j]);
        while (i < a.size() && a[i] == at) {
            ++i;
        }
        while (j < b.size() && b[j] == at) {
            ++j;
        }
        const double below_a = static_cast<double>(i) / static_cast<double>(a.size());
        const double below_b = static_cast<double>(j) / static_cast<double>(b.size());
        most = std::max(most, std::abs(below_a - below_b));
    }
    return most;
}

double ks_p_value(double distance, std::size_t a, std::size_t b) {
    const auto n = static_cast<double>(a);
    const auto m = static_cast<double>(b);
    const double x = std::sqrt(n * m / (n + m)) * distance;
    if (x < 0.2) {  // the series converges slowly there; Q is 1 to twelve digits
        return 1;
    }
    double sum = 0;
    for (int k = 1; k <= 100; ++k) {
        const double term = std::exp(-2 * k * k * x * x);
        sum += k % 2 == 1 ? term : -term;
        if (term < 1e-18) {
            break;
        }
    }
    return std::clamp(2 * sum, 0.0, 1.0);
}

namespace {

template <class SameAt>
CriticalN first_same(const std::vector<double>& distances, std::size_t heads, const SameAt& same) {
    CriticalN result;
    for (std::size_t i = 0; i < distances.size(); ++i) {
        if (std::isnan(distances[i])) {
            continue;  // no row of any head selects so many
        }
        const double p = ks_p_value(distances[i], heads, heads);
        const bool is_same = same(distances[i], p);
        if (is_same && !result.n) {
            result = {i + 1, distances[i], p, false};
        }
        result.differs_later = result.differs_later || (result.n && !is_same);
    }
    return result;
}

}  // namespace

CriticalN critical_by_level(const std::vector<double>& distances, std::size_t heads, double alpha) {
    return first_same(distances, heads, [alpha](double, double p) { return p > alpha; });
}

CriticalN critical_by_distance(const std::vector<double>& distances, std::size_t heads, double distance) {
    return first_same(distances, heads, [distance](double found, double) { return found < distance; });
}

}  // namespace flyball::limits
