#include "measure/rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/blas.hpp"
#include "core/lapack.hpp"
#include "measure/extremes.hpp"

namespace flyball::measure {

namespace {

constexpr std::size_t most_rank = 1024;

bool is_zero(const double* row, std::size_t dim) {
    return std::all_of(row, row + dim, [](double value) { return value == 0; });
}

}  // namespace

double dot(const double* a, const double* b, std::size_t dim) {
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        sum += a[c] * b[c];
    }
    return sum;
}

double squared_distance(const double* a, const double* b, std::size_t dim) {
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    }
    return sum;
}

double length(const double* row, std::size_t dim) {
    const double squares = dot(row, row, dim);
    // Between these bounds no square that matters has overflowed or lost digits below the smallest double.
    if (squares > 1e-280 && squares < 1e280) {
        return std::sqrt(squares);
    }
    double largest = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        largest = std::max(largest, std::fabs(row[c]));
    }
    if (largest == 0 || !std::isfinite(largest) || std::isnan(squares)) {
        return std::isnan(squares) ? squares : largest;
    }
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        const double scaled = row[c] / largest;
        sum += scaled * scaled;
    }
    return largest * std::sqrt(sum);
}

std::vector<double> lengths(const Rows& rows) {
    std::vector<double> result(rows.count);
    for (std::size_t j = 0; j < rows.count; ++j) {
        result[j] = length(rows.row(j), rows.dim);
    }
    return result;
}

void directions(const Rows& rows, std::vector<double>& theta) {
    theta.resize(rows.count * rows.dim);
    for (std::size_t j = 0; j < rows.count; ++j) {
        const double size = length(rows.row(j), rows.dim);
        for (std::size_t c = 0; c < rows.dim; ++c) {
            theta[j * rows.dim + c] = size == 0 ? 0 : rows.row(j)[c] / size;
        }
    }
}

std::vector<double> directions(const Rows& rows) {
    std::vector<double> theta;
    directions(rows, theta);
    return theta;
}

// Differences from the first row are exact where rows are close (Sterbenz), so that rows which agree to 15 digits keep
// the digits of how they differ. With delta_j = theta_j - theta_1:  variance = (1/n) sum |delta_j - mean delta|^2.
double variance(const Rows& theta) {
    const auto n = static_cast<double>(theta.count);
    std::vector<double> mean(theta.dim, 0.0);
    for (std::size_t j = 0; j < theta.count; ++j) {
        for (std::size_t c = 0; c < theta.dim; ++c) {
            mean[c] += (theta.row(j)[c] - theta.data[c]) / n;
        }
    }
    double spread = 0;
    for (std::size_t j = 0; j < theta.count; ++j) {
        for (std::size_t c = 0; c < theta.dim; ++c) {
            const double offset = theta.row(j)[c] - theta.data[c] - mean[c];
            spread += offset * offset;
        }
    }
    return spread / n;
}

// With m zero rows of n:
//
//     |sum theta|^2   = n(n-m) - n^2 variance
//     mean over pairs = (|sum theta|^2 - (n-m))/(n(n-1)) = (n-m)/n - variance n/(n-1)
double one_minus_cosine(const Rows& theta) {
    if (theta.count <= 1) {
        return 0;
    }
    const auto n = static_cast<double>(theta.count);
    double zero = 0;
    for (std::size_t j = 0; j < theta.count; ++j) {
        zero += is_zero(theta.row(j), theta.dim) ? 1 : 0;
    }
    return zero / n + variance(theta) * n / (n - 1);
}

// Eigenvalues of the Gram matrix are cheap, and right to rounding of the largest: a singular value of s times the largest
// is then off by 1e-16/s of it. Where one of them is so small that this could be seen, as where tokens have come
// together, they are taken from the rows themselves.
double effective_rank(const Rows& rows) {
    const std::size_t size = std::min(rows.count, rows.dim);
    if (size > most_rank) {
        return std::nan("");
    }
    std::vector<double> gram(size * size);
    const BlasThreads one(1);  // the same bits on any number of threads
    const auto [left, right] =
        rows.count <= rows.dim ? std::pair{Transpose::no, Transpose::yes} : std::pair{Transpose::yes, Transpose::no};
    gemm(left, right, size, size, std::max(rows.count, rows.dim), 1.0, rows.data, rows.dim, rows.data, rows.dim, 0.0,
         gram.data(), size);
    constexpr double least = 1e-6;  // of the largest eigenvalue; s = 1e-3
    std::vector<double> values = symmetric_eigenvalues(std::move(gram), size);
    constexpr std::size_t most = std::size_t{1} << 23;  // numbers that are copied for it
    if (!values.empty() && values.front() < least * values.back() && rows.count * rows.dim <= most) {
        return std::exp(entropy(singular_values({rows.data, rows.data + rows.count * rows.dim}, rows.count, rows.dim)));
    }
    for (double& value : values) {
        value = std::isnan(value) ? value : std::sqrt(std::max(0.0, value));
    }
    return std::exp(entropy(values));
}

namespace {

// The geometric mean of the norms induced by the sum and by the maximum, of rows minus `shift`.
double mixed_norm(const Rows& rows, const std::vector<double>& shift) {
    std::vector<double> columns(rows.dim, 0.0);
    double widest = 0;
    for (std::size_t j = 0; j < rows.count; ++j) {
        double across = 0;
        for (std::size_t c = 0; c < rows.dim; ++c) {
            const double value = std::fabs(rows.row(j)[c] - shift[c]);
            across += value;
            columns[c] += value;
        }
        widest = larger(widest, across);
    }
    double highest = 0;
    for (const double column : columns) {
        highest = larger(highest, column);
    }
    return std::sqrt(widest * highest);
}

}  // namespace

double collapse_residual(const Rows& rows) {
    std::vector<double> mean(rows.dim, 0.0);
    const double whole = mixed_norm(rows, mean);
    for (std::size_t j = 0; j < rows.count; ++j) {
        for (std::size_t c = 0; c < rows.dim; ++c) {
            mean[c] += rows.row(j)[c] / static_cast<double>(rows.count);
        }
    }
    return mixed_norm(rows, mean) / whole;
}

double angular_speed(const double* x, const double* v, std::size_t dim) {
    const double size = length(x, dim);
    if (size == 0) {
        return 0;
    }
    double along = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        along += x[c] / size * v[c];
    }
    double across = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        const double part = v[c] - along * (x[c] / size);
        across += part * part;
    }
    return std::sqrt(across) / size;
}

double mean_angular_speed(const Rows& rows, const double* slope) {
    double sum = 0;
    for (std::size_t j = 0; j < rows.count; ++j) {
        sum += angular_speed(rows.row(j), slope + j * rows.dim, rows.dim);
    }
    return sum / static_cast<double>(rows.count);
}

double entropy(const std::vector<double>& weights) {
    double total = 0;
    for (const double weight : weights) {
        total += weight;
    }
    double sum = 0;
    for (const double weight : weights) {
        if (weight != 0) {
            sum -= weight / total * std::log(weight / total);
        }
    }
    return sum;
}

double quantile(std::vector<double>& values, double share) {
    assert(!values.empty());
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
        return std::nan("");  // values that cannot be put in order have no quantile
    }
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double part = place - static_cast<double>(below);
    if (part == 0) {
        return values[below];  // 0 times an infinite gap is none
    }
    const double gap = values[above] - values[below];
    return std::isfinite(gap) ? values[below] + part * gap : std::lerp(values[below], values[above], part);
}

}  // namespace flyball::measure
