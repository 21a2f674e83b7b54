// The two-sample Kolmogorov-Smirnov test, and the critical N that the paper finds with it.
//
//     D = largest difference of the two empirical distribution functions
//     p = Q(sqrt(n m/(n + m)) D),   Q(x) = 2 sum_{k >= 1} (-1)^(k-1) exp(-2 k^2 x^2)          (Smirnov's limit)
//
// For two samples of 144 heads and alpha = 0.01 the two cannot be told apart below D = 0.192. The power of the test
// grows with the number of heads, so that a critical N at a fixed alpha says as much about how many heads a model has
// as about them; at the fixed D = 0.192 it does not.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace flyball::limits {

inline constexpr double fixed_distance = 0.192;

double ks_distance(std::vector<double> a, std::vector<double> b);  // neither empty; NaN where a value is
double ks_p_value(double distance, std::size_t a, std::size_t b);

struct CriticalN {
    std::optional<std::size_t> n;  // the first that the test does not tell apart; none: it tells all of them apart
    double distance = 0;           // D there
    double p = 0;
    bool differs_later = false;  // it tells a later N apart again
};

// distances[i] is D for N = i + 1, between two samples of so many heads.
CriticalN critical_by_level(const std::vector<double>& distances, std::size_t heads, double alpha);
CriticalN critical_by_distance(const std::vector<double>& distances, std::size_t heads, double distance);

}  // namespace flyball::limits
