// The kinds of attention on one row of scores, and their derivatives: the one place where each is defined.
#include "attention/row_weights.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/unreachable.hpp"

namespace flyball::attention {

namespace {

void softmax(double beta, std::size_t count, double* s) {
    double largest = beta * s[0];
    for (std::size_t k = 0; k < count; ++k) {
        s[k] *= beta;
        largest = std::max(largest, s[k]);
    }
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
        s[k] = std::exp(s[k] - largest);
        sum += s[k];
    }
    for (std::size_t k = 0; k < count; ++k) {
        s[k] /= sum;
    }
}

// Sorted copy of scale*(s - max s), largest first, and the same scaling of s itself: projections do not change when a
// constant is added to all scores, and the largest being 0 keeps the sums below small.
void scale_and_sort(double scale, std::size_t count, double* s, std::vector<double>& sorted) {
    double largest = scale * s[0];
    for (std::size_t k = 0; k < count; ++k) {
        s[k] *= scale;
        largest = std::max(largest, s[k]);
    }
    for (std::size_t k = 0; k < count; ++k) {
        s[k] -= largest;
    }
    sorted.assign(s, s + count);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
}

// p_k = max(s_k - tau, 0) with sum 1. The support is the largest r with 1 + r u_r > sum_{i<=r} u_i, u sorted.
void sparsemax(double beta, std::size_t count, double* s, std::vector<double>& sorted) {
    scale_and_sort(beta, count, s, sorted);
    double sum = 0;
    double tau = -1;
    for (std::size_t r = 0; r < count; ++r) {
        sum += sorted[r];
        const double size = static_cast<double>(r + 1);
        if (1 + size * sorted[r] <= sum) {
            break;
        }
        tau = (sum - 1) / size;
    }
    for (std::size_t k = 0; k < count; ++k) {
        s[k] = std::max(s[k] - tau, 0.0);
    }
}

// p_k = max(s_k/2 - tau, 0)^2 with sum 1. For a support of the r largest u = s/2, with mean M and mean square Q,
//     sum (u - tau)^2 = 1   =>   tau = M - sqrt(M^2 - Q + 1/r)
// and r is the largest with u_r >= tau(r) (algorithm 2 of the paper). M^2 - Q is a variance: kept by Welford's update,
// since the difference of squares would cancel.
void entmax15(double beta, std::size_t count, double* s, std::vector<double>& sorted) {
    scale_and_sort(beta / 2, count, s, sorted);
    double mean = 0;
    double squares = 0;  // sum of (u - mean)^2
    double tau = -1;
    for (std::size_t r = 0; r < count; ++r) {
        const double size = static_cast<double>(r + 1);
        const double step = sorted[r] - mean;
        mean += step / size;
        squares += step * (sorted[r] - mean);
        const double inside = (1 - squares) / size;
        if (inside < 0) {
            break;
        }
        const double candidate = mean - std::sqrt(inside);
        if (candidate > sorted[r]) {
            break;
        }
        tau = candidate;
    }
    for (std::size_t k = 0; k < count; ++k) {
        const double root = std::max(s[k] - tau, 0.0);
        s[k] = root * root;
    }
}

// The ways back. G is the gradient by the weights p, g the one by s = beta * score; p' stands for dp along ds.
//
//     softmax     p_k' = p_k (s_k' - sum p s')                          g_k = p_k (G_k - sum p G)
//     sparsemax   p_k' = s_k' - mean of s' over the support S           g_k = G_k - mean of G over S on S, 0 elsewhere
//     entmax15    p = r^2, r = s/2 - tau: p_k' = r_k (s_k' - 2 tau'),
//                 sum p' = 0 => 2 tau' = sum r s' / sum r               g_k = r_k (G_k - sum r G / sum r)
//
// All three are g_k = c_k (G_k - sum c G / sum c) with c = p, [p > 0], sqrt p: symmetric, so that forward and back
// agree.
template <class Curve>
void reverse_on_simplex(double beta, std::size_t count, const double* p, double* grad, const Curve& curve) {
    double sum = 0;
    double along = 0;
    for (std::size_t k = 0; k < count; ++k) {
        sum += curve(p[k]);
        along += curve(p[k]) * grad[k];
    }
    for (std::size_t k = 0; k < count; ++k) {
        grad[k] = beta * curve(p[k]) * (grad[k] - along / sum);
    }
}

void softmax_reverse(double beta, std::size_t count, const double* p, double* grad) {
    reverse_on_simplex(beta, count, p, grad, [](double weight) { return weight; });
}

}  // namespace

Form form_of(Kind kind) {
    switch (kind) {
        case Kind::softmax:
            return {Form::Weights::exponential, false, false};
        case Kind::ssmax:
            return {Form::Weights::exponential, true, false};
        case Kind::unnormalized:
            return {Form::Weights::exponential, false, true};
        case Kind::sigmoid:
            return {Form::Weights::sigmoid, false, false};
        case Kind::sparsemax:
        case Kind::entmax15:
            return {Form::Weights::whole_row, false, false};
    }
    unreachable();
}

double score_factor(Kind kind, std::size_t allowed) {
    return form_of(kind).by_log_count ? std::log(static_cast<double>(allowed)) : 1.0;
}

void row_weights(Kind kind, double beta, std::size_t tokens, std::size_t allowed, double* scores,
                 std::vector<double>& room) {
    const double count = static_cast<double>(allowed);
    switch (kind) {
        case Kind::softmax:
            return softmax(beta, allowed, scores);
        case Kind::ssmax:
            return softmax(std::log(count) * beta, allowed, scores);
        case Kind::sparsemax:
            return sparsemax(beta, allowed, scores, room);
        case Kind::entmax15:
            return entmax15(beta, allowed, scores, room);
        case Kind::unnormalized:
            for (std::size_t k = 0; k < allowed; ++k) {
                scores[k] = std::exp(beta * (scores[k] - 1)) / static_cast<double>(tokens);
            }
            return;
        case Kind::sigmoid:
            for (std::size_t k = 0; k < allowed; ++k) {
                scores[k] = 1 / (1 + std::exp(std::log(count) - beta * scores[k]));
            }
            return;
    }
}

void row_weights_reverse(Kind kind, double beta, std::size_t allowed, const double* weights, double* grad) {
    switch (kind) {
        case Kind::softmax:
            return softmax_reverse(beta, allowed, weights, grad);
        case Kind::ssmax:
            return softmax_reverse(std::log(static_cast<double>(allowed)) * beta, allowed, weights, grad);
        case Kind::sparsemax:
            return reverse_on_simplex(beta, allowed, weights, grad,
                                      [](double weight) { return weight > 0 ? 1.0 : 0.0; });
        case Kind::entmax15:
            return reverse_on_simplex(beta, allowed, weights, grad, [](double weight) { return std::sqrt(weight); });
        case Kind::unnormalized:  // p' = p s'
            for (std::size_t k = 0; k < allowed; ++k) {
                grad[k] *= beta * weights[k];
            }
            return;
        case Kind::sigmoid:  // p' = p (1 - p) s'
            for (std::size_t k = 0; k < allowed; ++k) {
                grad[k] *= beta * weights[k] * (1 - weights[k]);
            }
            return;
    }
}

}  // namespace flyball::attention
