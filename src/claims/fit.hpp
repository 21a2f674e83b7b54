// Straight lines through data, with an interval for the slope; and what a share of successes says about its cause.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::claims {

struct Line {
    double slope = 0;
    double intercept = 0;
    double slope_error = 0;  // half width of the 95 % interval: Student's t on the residuals
    double residual = 0;     // root mean square
};

// Least squares. At least three points with x that are not all equal; otherwise every member is NaN.
Line fit_line(const std::vector<double>& x, const std::vector<double>& y);

// Mean of independent values with the half width of its 95 % interval.
struct Mean {
    double value = 0;
    double error = 0;
};
Mean mean_of(const std::vector<double>& values);

// The 0.975 quantile of Student's t.
double student_quantile(std::size_t degrees);

// The smallest chance of success that would still give `all` of `all` successes with probability 5 %.
double all_succeeded_bound(std::size_t all);

}  // namespace flyball::claims
