#include "attention/bessel.hpp"

#include <cmath>
#include <cstddef>

namespace flyball::attention {

namespace {

constexpr double negligible = 1e-17;

}  // namespace

// Miller's backward recurrence:
//
//     I_{m-1} = I_{m+1} + (2m/beta) I_m      from an order so high that I is as good as 0 there, with any start
//     I_0 + 2 sum_{m>0} I_m = e^beta         fixes the common factor; leaving out e^beta gives e^-beta I_m
//     I_m(-beta) = (-1)^m I_m(beta)          for a negative beta
//
// Downwards I_m is the solution that grows, so errors die out; upwards the other solution, K_m, would take over. I_m
// falls like e^(-m^2/(2 beta)): at m = sqrt(90 beta) it is e^-45 = 3e-20 of I_0, and 40 orders more serve small beta.
// Numbers are divided down whenever they pass 1e200; what becomes 0 by that was negligible.
std::vector<double> scaled_bessel(double beta) {
    const double size = std::fabs(beta);
    if (size < 1e-300) {
        return {1.0};
    }
    const auto start = static_cast<std::size_t>(std::sqrt(90 * size) + 40);
    constexpr double huge = 1e200;
    std::vector<double> values(start + 1, 0.0);
    double above = 0;
    double here = 1 / huge;
    for (std::size_t m = start; m > 0; --m) {
        values[m] = here;
        const double below = above + 2 * static_cast<double>(m) / size * here;
        above = here;
        here = below;
        if (here > huge) {
            for (std::size_t k = m; k <= start; ++k) {
                values[k] = values[k] / here;
            }
            above /= here;
            here = 1;
        }
    }
    values[0] = here;
    double sum = 0;
    for (std::size_t m = start; m > 0; --m) {
        sum += 2 * values[m];
    }
    sum += values[0];
    for (std::size_t m = 0; m <= start; ++m) {
        values[m] *= (beta < 0 && m % 2 == 1 ? -1 : 1) / sum;
    }
    while (values.size() > 1 && std::fabs(values.back()) < negligible * values[0]) {
        values.pop_back();
    }
    return values;
}

}  // namespace flyball::attention
