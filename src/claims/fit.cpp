#include "claims/fit.hpp"

#include <cassert>
#include <cmath>
#include <limits>

namespace flyball::claims {

double student_quantile(std::size_t degrees) {
    // One and two degrees in closed form; from three on the Cornish-Fisher series in 1/degrees, good to 0.4 %.
    if (degrees == 0) {
        return std::numeric_limits<double>::infinity();
    }
    if (degrees == 1) {
        return 12.706204736174698;  // tan(0.475 pi)
    }
    if (degrees == 2) {
        return 4.302652729749464;  // 0.95 sqrt(2 / (1 - 0.95^2))
    }
    const double z = 1.959963984540054;
    const double v = static_cast<double>(degrees);
    const double z2 = z * z;
    const double first = z * (z2 + 1) / 4;
    const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double fourth = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + first / v + second / (v * v) + third / (v * v * v) + fourth / (v * v * v * v);
}

// slope_error is t(n - 2) s/sqrt(sum (x - mean)^2) with s^2 the squared residuals over n - 2. Points of one run are not
// independent: read it as how straight the line is.
Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
    assert(x.size() == y.size());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Line none{nan, nan, nan, nan};
    const std::size_t n = x.size();
    if (n < 3) {
        return none;
    }
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t i = 0; i < n; ++i) {
        mean_x += x[i] / static_cast<double>(n);
        mean_y += y[i] / static_cast<double>(n);
    }
    double xx = 0;
    double xy = 0;
    for (std::size_t i = 0; i < n; ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (!(xx > 0)) {
        return none;
    }
    Line line;
    line.slope = xy / xx;
    line.intercept = mean_y - line.slope * mean_x;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double offset = y[i] - line.intercept - line.slope * x[i];
        squares += offset * offset;
    }
    line.residual = std::sqrt(squares / static_cast<double>(n));
    line.slope_error = student_quantile(n - 2) * std::sqrt(squares / static_cast<double>(n - 2) / xx);
    return line;
}

Mean mean_of(const std::vector<double>& values) {
    Mean mean;
    const auto n = static_cast<double>(values.size());
    for (const double value : values) {
        mean.value += value / n;
    }
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean.value) * (value - mean.value);
    }
    mean.error = values.size() < 2 ? std::numeric_limits<double>::infinity()
                                   : student_quantile(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
    return mean;
}

double all_succeeded_bound(std::size_t all) {
    return std::pow(0.05, 1 / static_cast<double>(all));
}

}  // namespace flyball::claims
