// The integrator: sub-steps, the extrapolation table, and the choice of order and step. For a handful of numbers, so
// clarity comes before speed.
#include "theory/extrapolation.hpp"

#include <algorithm>
#include <cmath>

#include "core/lapack.hpp"

namespace flyball::theory {

namespace {

constexpr std::size_t columns = 10;
constexpr std::size_t fewest_row = 2;  // the row of the table that is aimed at lies between these
constexpr std::size_t largest_row = columns - 2;
constexpr double largest_growth = 8;

int sub_step_count(bool implicit, std::size_t row) {
    return static_cast<int>(implicit ? row + 1 : 2 * (row + 1));
}

bool all_finite(const Numbers& y) {
    return std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

// J by forward differences: half the digits are enough, since J decides about stability and work, not about the limit
// that is extrapolated to.
bool Extrapolation::differentiate(double t, const Numbers& y) {
    const std::size_t m = y.size();
    Numbers size(m);
    problem_.sizes(y, y, size);
    jacobian_.assign(m, Numbers(m));
    Numbers moved = y;
    Numbers slope(m);
    for (std::size_t k = 0; k < m; ++k) {
        const double delta = 1e-7 * std::max(size[k], 1e-290);
        moved[k] = y[k] + delta;
        if (!problem_.slope(t, moved, slope)) {
            return false;
        }
        for (std::size_t i = 0; i < m; ++i) {
            jacobian_[i][k] = (slope[i] - slope_[i]) / (moved[k] - y[k]);
        }
        moved[k] = y[k];
    }
    return true;
}

// From the eigenvalues of J, whose entries are known to half the digits.
bool Extrapolation::only_damped_within(double h) const {
    constexpr double known = 1e-6;  // relative to the largest
    std::vector<double> entries;
    for (const Numbers& row : jacobian_) {
        entries.insert(entries.end(), row.begin(), row.end());
    }
    const std::vector<std::complex<double>> rates = eigenvalues(std::move(entries), jacobian_.size());
    double largest = 0;
    for (const std::complex<double>& rate : rates) {
        largest = std::max(largest, std::abs(rate));
    }
    return std::all_of(rates.begin(), rates.end(), [&](const std::complex<double>& rate) {
        return h * std::abs(rate) <= 1 || std::abs(rate) <= known * largest || rate.real() <= -0.5 * std::abs(rate);
    });
}

// Gaussian elimination with partial pivoting; m is two numbers a stream.
bool Extrapolation::solve_linear(double h, Numbers& right) {
    const std::size_t m = right.size();
    std::vector<Numbers> matrix(m, Numbers(m));
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t k = 0; k < m; ++k) {
            matrix[i][k] = (i == k ? 1.0 : 0.0) - h * jacobian_[i][k];
        }
    }
    for (std::size_t c = 0; c < m; ++c) {
        std::size_t pivot = c;
        for (std::size_t i = c + 1; i < m; ++i) {
            if (std::abs(matrix[i][c]) > std::abs(matrix[pivot][c])) {
                pivot = i;
            }
        }
        if (!(std::abs(matrix[pivot][c]) > 0)) {
            return false;
        }
        std::swap(matrix[c], matrix[pivot]);
        std::swap(right[c], right[pivot]);
        for (std::size_t i = c + 1; i < m; ++i) {
            const double factor = matrix[i][c] / matrix[c][c];
            for (std::size_t k = c; k < m; ++k) {
                matrix[i][k] -= factor * matrix[c][k];
            }
            right[i] -= factor * right[c];
        }
    }
    for (std::size_t c = m; c-- > 0;) {
        for (std::size_t k = c + 1; k < m; ++k) {
            right[c] -= matrix[c][k] * right[k];
        }
        right[c] /= matrix[c][c];
    }
    return all_finite(right);
}

// y(t + h) - y by `count` equal sub-steps of size k; increments keep the digits that y itself would round away.
//
//     explicit    y_1 = y + k v(y),   y_{i+1} = y_{i-1} + 2 k v(y_i)      an even number of them: errors in h^2
//     implicit    (I - k J) (y_{i+1} - y_i) = k v(t_{i+1}, y_i)           a linear system each, J of the step's start
bool Extrapolation::sub_steps(double t, const Numbers& y, double h, int count, Numbers& increment) {
    const std::size_t m = y.size();
    const double part = h / count;
    Numbers at(m);
    Numbers slope(m);
    increment.assign(m, 0);
    const auto here = [&] {
        for (std::size_t i = 0; i < m; ++i) {
            at[i] = y[i] + increment[i];
        }
    };
    const auto time = [&](int i) { return i == count ? t + h : t + part * i; };
    if (implicit) {
        for (int i = 0; i < count; ++i) {
            here();
            if (!problem_.slope(time(i + 1), at, slope)) {
                return false;
            }
            for (double& v : slope) {
                v *= part;
            }
            if (!solve_linear(part, slope)) {
                return false;
            }
            for (std::size_t k = 0; k < m; ++k) {
                increment[k] += slope[k];
            }
        }
        return all_finite(increment);
    }
    Numbers before(m);  // increment one sub-step ago
    for (std::size_t k = 0; k < m; ++k) {
        increment[k] = part * slope_[k];
    }
    for (int i = 1; i < count; ++i) {
        here();
        if (!problem_.slope(time(i), at, slope)) {
            return false;
        }
        for (std::size_t k = 0; k < m; ++k) {
            const double next = before[k] + 2 * part * slope[k];
            before[k] = increment[k];
            increment[k] = next;
        }
    }
    return all_finite(increment);
}

// The table of Aitken and Neville, row after row with n_0 < n_1 < .. sub-steps; each column takes out one power of the
// error:
//
//     T_j0 = sub_steps(n_j)
//     T_jk = T_{j,k-1} + (T_{j,k-1} - T_{j-1,k-1}) / ((n_j/n_{j-k})^m - 1)        m = 2 explicit, 1 implicit
//
// The newest two entries of a row tell its error. Every row also says with which step it would just have been good
// enough, and what it costs; the row with the least work per unit of time is aimed at in the next step. A table whose
// errors explode is given up at once; after a rejection the step is halved at least.
Extrapolation::Outcome Extrapolation::step(double& t, Numbers& y, double end) {
    const std::size_t m = y.size();
    slope_.resize(m);
    if (!problem_.slope(t, y, slope_) || (implicit && !differentiate(t, y))) {
        return Outcome::underflow;
    }
    double wanted = next_step;
    if (implicit && leap > wanted && only_damped_within(leap)) {
        wanted = leap;
    }
    leap = 0;
    Numbers size(m);
    Numbers after(m);
    for (;;) {
        const bool reaches = !(t + wanted * 1.0001 < end);
        const double h = reaches ? end - t : wanted;
        if (!(t + h > t) || !(h > 1e-290)) {
            return Outcome::underflow;
        }
        // table[k] is the entry of column k in the newest row.
        std::vector<Numbers> table;
        double work = 0;
        double best_rate = HUGE_VAL;  // work per unit of time at the order that suits best
        double best_step = 0;
        std::size_t best_order = order;
        bool accepted = false;
        double last_error = HUGE_VAL;
        const std::size_t rows = std::min(columns, order + 2);
        for (std::size_t row = 0; row < rows && !accepted; ++row) {
            const int count = sub_step_count(implicit, row);
            work += count;
            Numbers newest;
            if (!sub_steps(t, y, h, count, newest)) {
                last_error = HUGE_VAL;
                break;
            }
            std::vector<Numbers> next(row + 1);
            next[0] = std::move(newest);
            for (std::size_t k = 1; k <= row; ++k) {
                const double ratio = static_cast<double>(count) / sub_step_count(implicit, row - k);
                const double factor = 1 / ((implicit ? ratio : ratio * ratio) - 1);
                next[k].resize(m);
                for (std::size_t i = 0; i < m; ++i) {
                    next[k][i] = next[k - 1][i] + (next[k - 1][i] - table[k - 1][i]) * factor;
                }
            }
            table = std::move(next);
            if (row == 0) {
                continue;
            }
            for (std::size_t i = 0; i < m; ++i) {
                after[i] = y[i] + table[row][i];
            }
            problem_.sizes(y, after, size);
            double error = 0;
            for (std::size_t i = 0; i < m; ++i) {
                const double share = std::abs(table[row][i] - table[row - 1][i]) / (tolerance * size[i]);
                error = share <= error ? error : share;  // keeps NaN
            }
            if (!std::isfinite(error) || (row > 2 && error > 1e8 * std::max(1.0, last_error))) {
                last_error = HUGE_VAL;
                break;
            }
            last_error = error;
            const double power = implicit ? static_cast<double>(row) : 2.0 * static_cast<double>(row) + 1;
            const double factor = std::clamp(0.9 * std::pow(std::max(error, 1e-30), -1 / (power + (implicit ? 1 : 0))),
                                             0.02, largest_growth);
            if (row + 1 >= fewest_row && work / (h * factor) < best_rate) {
                best_rate = work / (h * factor);
                best_step = h * factor;
                best_order = row;
            }
            accepted = error <= 1 && row + 1 >= order;
        }
        if (accepted) {
            // The newest row does best, so one more may do better: keep the work per unit of time.
            if (best_order + 1 == table.size() && best_order < largest_row) {
                ++best_order;
                best_step *= (work + sub_step_count(implicit, best_order)) / work;
            }
            order = std::clamp(best_order, fewest_row, largest_row);
            y = after;
            t = reaches ? end : t + h;
            last_step = h;
            next_step = reaches ? std::max(best_step, wanted) : best_step;
            return Outcome::done;
        }
        wanted = std::min(0.5 * h, best_step > 0 && std::isfinite(last_error) ? best_step : 0.2 * h);
    }
}

}  // namespace flyball::theory
