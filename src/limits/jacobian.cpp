// Norms of the Jacobian of softmax without writing it down; the written-out ones are at the end, for tests.
#include "limits/jacobian.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "core/lapack.hpp"
#include "limits/row_kernels.hpp"

namespace flyball::limits {

// With a1 >= a2 the two largest and w = a1 - a2, the root is x = a2 + y, 0 < y < w. All terms but the first are taken
// together: their sum is replaced by r + s/(a2 - x) with the same value and slope at the last x. What is left,
//     (1 - r) y^2 - ((1 - r) w - a1^2 - s) y - s w = 0,
// has one root between 0 and w, since r <= 0 < s. Quadratic convergence; a bracket in case rounding stops it.
double sorted_spectral_norm(std::size_t m, const double* a) {
    constexpr int most_steps = 100;
    constexpr double tie = 1e-15;
    constexpr double precise = 1e-8;  // of a step: the next would be its square
    const double a1 = a[0];
    const double a2 = a[1];
    const double w = a1 - a2;
    if (w <= tie * a1) {
        return a1;
    }
    if (a2 <= 0) {
        return a1 * (1 - a1);
    }
    const RowKernels& kernels = row_kernels();
    double low = 0;
    double high = w;
    double y = w / 2;
    for (int step = 0; step < most_steps; ++step) {
        const double x = a2 + y;
        double value = 0;
        double slope = 0;
        kernels.secular(m - 1, x, a + 1, &value, &slope);
        const double f = a1 * a1 / (a1 - x) + value - 1;
        (f > 0 ? high : low) = y;
        const double s = slope * y * y;
        const double r = value + slope * y;
        const double A = 1 - r;
        const double B = A * w - a1 * a1 - s;
        const double root = std::sqrt(B * B + 4 * A * s * w);
        double next = B > 0 ? (B + root) / (2 * A) : 2 * s * w / (root - B);
        if (!(next > low && next < high)) {
            next = (low + high) / 2;
        } else if (std::abs(next - y) <= precise * std::min(y, w - y)) {
            return a2 + next;
        }
        const bool done = high - low <= tie * (a2 + y);
        y = next;
        if (done) {
            break;
        }
    }
    return a2 + y;
}

double spectral_norm(const std::vector<double>& given) {
    if (given.size() < 2) {
        return 0;
    }
    std::vector<double> a = given;
    std::sort(a.begin(), a.end(), std::greater<>());
    return sorted_spectral_norm(a.size(), a.data());
}

double infinity_norm(const std::vector<double>& a) {
    double most = 0;
    for (const double weight : a) {
        most = std::max(most, weight * (1 - weight));
    }
    return 2 * most;
}

// Karmarkar and Karp: the two largest numbers go to different sides, which is as good as one number, their difference.
double differencing(const std::vector<double>& a) {
    thread_local std::vector<double> heap;
    heap.clear();
    std::copy_if(a.begin(), a.end(), std::back_inserter(heap), [](double weight) { return weight > 0; });
    std::make_heap(heap.begin(), heap.end());
    while (heap.size() > 1) {
        std::pop_heap(heap.begin(), heap.end());
        const double first = heap.back();
        heap.pop_back();
        std::pop_heap(heap.begin(), heap.end());
        heap.back() = first - heap.back();
        std::push_heap(heap.begin(), heap.end());
    }
    return heap.empty() ? 0 : heap.front();
}

Interval infinity_to_one_norm(const std::vector<double>& a) {
    const double most = a.empty() ? 1 : *std::max_element(a.begin(), a.end());
    if (most >= 0.5) {
        return {4 * most * (1 - most), 4 * most * (1 - most)};
    }
    const double gap = differencing(a);  // p_S = (1 - gap)/2
    return {1 - gap * gap, 1};
}

double lemma2_bound(const std::vector<double>& F, const std::vector<double>& slope) {
    double sum = 0;
    double squares = 0;
    double least = F.front();
    double steepest = 0;
    for (std::size_t i = 0; i < F.size(); ++i) {
        sum += F[i];
        squares += F[i] * F[i];
        least = std::min(least, F[i]);
        steepest = std::max(steepest, std::abs(slope[i]));
    }
    const auto L = static_cast<double>(F.size());
    return steepest * (1 / (L * least) + std::sqrt(squares) / sum / (std::sqrt(L) * least));
}

namespace reference {

double spectral_norm(const std::vector<double>& a) {
    const std::size_t size = a.size();
    std::vector<double> matrix(size * size);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            matrix[i * size + j] = (i == j ? a[i] : 0) - a[i] * a[j];
        }
    }
    return symmetric_eigenvalues(matrix, size).back();
}

double infinity_to_one_norm(const std::vector<double>& a) {
    double most = 0;
    for (std::uint32_t bits = 0; bits < (std::uint32_t{1} << a.size()); ++bits) {
        double inside = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            inside += (bits >> i & 1U) != 0 ? a[i] : 0;
        }
        most = std::max(most, 4 * inside * (1 - inside));
    }
    return most;
}

double spectral_norm(const std::vector<double>& F, const std::vector<double>& slope) {
    const std::size_t size = F.size();
    double sum = 0;
    for (const double value : F) {
        sum += value;
    }
    std::vector<double> jacobian(size * size);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            jacobian[i * size + j] = ((i == j ? slope[i] : 0) - F[i] / sum * slope[j]) / sum;
        }
    }
    std::vector<double> squared(size * size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            for (std::size_t k = 0; k < size; ++k) {
                squared[i * size + j] += jacobian[k * size + i] * jacobian[k * size + j];
            }
        }
    }
    return std::sqrt(std::max(0.0, symmetric_eigenvalues(squared, size).back()));
}

}  // namespace reference

}  // namespace flyball::limits
