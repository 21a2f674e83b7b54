// Algorithm 4 on one row, in the same way, on unit vectors.
#include "limits/separation.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::limits {

namespace {

// xi_i, or zeta_i: `alone` and `pairs` without key i.
double reach(double alone, double pairs, double squared_distance) {
    return std::sqrt(std::max(0.0, alone + (1 - squared_distance / 2) * pairs));
}

}  // namespace

void SeparationWalk::start(const Gram& gram, const Seen& seen, const double* weights,
                           const std::vector<std::size_t>& order) {
    gram_ = &gram;
    seen_ = seen;
    weights_ = weights;
    order_ = &order;
    n_ = 0;
    sum_ = squares_ = ss_ = widest_ = 0;
    const std::size_t keys = seen.count();
    square_.resize(keys);
    unit_.resize(keys);
    far_.assign(keys, 0.0);
    open_.assign(keys, 1.0);
    c_.assign(keys, 0.0);
    for (std::size_t i = 0; i < keys; ++i) {
        const bool has_direction = gram.inverse_lengths()[seen.begin + i] > 0;
        unit_[i] = has_direction ? 1 : 0;
        square_[i] = has_direction ? weights[i] * weights[i] : 0;
    }
}

void SeparationWalk::join() {
    const std::size_t j = (*order_)[n_];
    const std::size_t at = seen_.begin + j;
    const double inverse = gram_->inverse_lengths()[at];
    const double weight = weights_[j];
    widest_ = std::max(widest_, far_[j]);
    kernels_.unit_farthest(seen_.count(), unit_[j], inverse, gram_->row(at) + seen_.begin,
                           gram_->inverse_lengths() + seen_.begin, unit_.data(), far_.data());
    ss_ = std::max(ss_ + 2 * weight * inverse * c_[j] + square_[j], 0.0);
    sum_ += weight;
    squares_ += weight * weight;
    open_[j] = 0;
    kernels_.add(seen_.count(), weight * inverse, gram_->row(at) + seen_.begin, c_.data());
    ++n_;
}

double SeparationWalk::squared_distance(std::size_t i) const {
    const double along = weights_[i] * gram_->inverse_lengths()[seen_.begin + i] * c_[i];
    return std::max(0.0, square_[i] - 2 * along + ss_);
}

double SeparationWalk::nearest() const {
    return kernels_.nearest(seen_.count(), ss_, weights_, square_.data(), gram_->inverse_lengths() + seen_.begin,
                            open_.data(), c_.data());
}

// Bounds and ratio at the keys selected now. `pairs` is the sum over j != k of alpha_j alpha_k without key i, which is
// (sum)^2 less the squares. What counts as separated is compared in squares, as r was found: no root can tip it.
SeparationAtN SeparationWalk::at(double delta) const {
    // Where zeta_i is |a_i - s| itself, as for one key, rounding must not put it above r.
    constexpr double rounding = 1 + 1e-12;
    const double nearest_square = nearest();
    SeparationAtN result;
    result.n = n_;
    result.r = std::sqrt(nearest_square);
    double xis = 0;
    for (std::size_t k = 0; k < n_; ++k) {
        const std::size_t i = (*order_)[k];
        const double weight = weights_[i];
        const double alone = squares_ - weight * weight;
        const double pairs = (sum_ - weight) * (sum_ - weight) - alone;
        const double xi = reach(alone, pairs, delta * delta);
        const double zeta = reach(alone, pairs, widest_);
        const double gap = xi - result.r;
        const double term = std::exp(-gap * gap / 2);
        xis += xi;
        result.ratio += squared_distance(i) <= nearest_square ? 1 : 0;
        result.upper += term;
        result.upper_patched += xi <= result.r ? 1 : term;
        result.lower_exact += rounding * xi <= result.r ? 1 : 0;
        result.upper_exact += zeta <= rounding * result.r ? 1 : 0;
    }
    const auto size = static_cast<double>(n_);
    result.lower = 1 - xis / (result.r * size);
    for (double* const share :
         {&result.ratio, &result.upper, &result.upper_patched, &result.lower_exact, &result.upper_exact}) {
        *share /= size;
    }
    return result;
}

void SeparationWalk::separated(std::vector<std::size_t>& keys) const {
    const double nearest_square = nearest();
    keys.clear();
    for (std::size_t k = 0; k < n_; ++k) {
        if (squared_distance((*order_)[k]) <= nearest_square) {
            keys.push_back((*order_)[k]);
        }
    }
}

}  // namespace flyball::limits
