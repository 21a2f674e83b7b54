// Algorithms 1 to 3 on one row: keys join in falling order of weight, every quantity is updated in O(L).
#include "limits/walk.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::limits {

void WithMasked::assign(const RowInput& seen, std::size_t tokens) {
    weights.assign(tokens, 0.0);
    along.assign(tokens, 0.0);  // of a key of weight 0 it is not asked for
    std::copy_n(seen.weights, seen.seen.count(), weights.data() + seen.seen.begin);
    std::copy_n(seen.along, seen.seen.count(), along.data() + seen.seen.begin);
    row = {seen.gram, {0, tokens}, weights.data(), along.data()};
}

// Sorts the keys once, of equal weights the first first, and prepares |a_i|^2, <a_i, S> and |S|^2 = sum of <a_i, S>.
// O(L log L).
void RowWalk::start(const RowInput& row) {
    row_ = row;
    keys_ = row.seen.count();
    n_ = 0;
    total_ = mass_ = ss_ = logs_ = longest_ = farthest_ = distance_ = S2_ = Q_ = 0;
    sorted_.resize(keys_);
    for (std::size_t i = 0; i < keys_; ++i) {
        sorted_[i] = {row.weights[i], i};
        total_ += row.weights[i];
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const Key& a, const Key& b) {
        return a.weight > b.weight || (a.weight == b.weight && a.index < b.index);
    });
    positive_ = keys_ == 0 || sorted_.back().weight >= 0;
    order_.resize(keys_);
    std::transform(sorted_.begin(), sorted_.end(), order_.begin(), [](const Key& key) { return key.index; });
    q_.resize(keys_);
    b_.assign(keys_, 0.0);
    open_.assign(keys_, 1.0);
    c_.assign(keys_, 0.0);
    far_.assign(keys_, 0.0);
    const double* const diagonal = row.gram->diagonal() + row.seen.begin;
    for (std::size_t i = 0; i < keys_; ++i) {
        q_[i] = row.weights[i] * row.weights[i] * diagonal[i];
        Q_ += q_[i];
        b_[i] = row.along != nullptr ? row.weights[i] * row.along[i] : 0;
        S2_ += b_[i];
    }
    S2_ = std::max(S2_, 0.0);
}

// |s + a_j|^2 = |s|^2 + 2 alpha_j <x_j, s> + |a_j|^2, from c before it is changed; then the kernel does the rest in
// O(L).
void RowWalk::join(bool with_bound) {
    ++n_;
    const std::size_t j = order_[n_ - 1];
    const double weight = row_.weights[j];
    const double* const g = row_.gram->row(row_.seen.begin + j) + row_.seen.begin;
    const double* const diagonal = row_.gram->diagonal() + row_.seen.begin;
    ss_ = std::max(ss_ + 2 * weight * c_[j] + weight * weight * diagonal[j], 0.0);
    mass_ += weight;
    logs_ += weight > 0 ? weight * std::log(weight) : 0;
    open_[j] = 0;
    distance_ = kernels_.join(keys_, weight, g, ss_, row_.weights, q_.data(), open_.data(), c_.data());
    if (with_bound) {
        longest_ = std::max(longest_, diagonal[j]);
        farthest_ = kernels_.farthest(keys_, diagonal[j], g, diagonal, open_.data(), far_.data());
    }
}

// Theorem 1.2: a key is outside a random set of N with probability (L-N)/L, and what the set sums to is then N times
// the mean of the other keys, k (S - a_i) with k = N/(L-1), plus a deviation of mean zero. The length without that
// deviation is below the mean length, the root mean square with its variance is above it (Jensen, both).
double RowWalk::expected() const {
    const auto L = static_cast<double>(keys_);
    const auto n = static_cast<double>(n_);
    const double k = L > 1 ? n / (L - 1) : 0;
    return (L - n) / L * kernels_.main_sum(keys_, k, S2_, q_.data(), b_.data());
}

double RowWalk::expected_rms() const {
    const auto L = static_cast<double>(keys_);
    const auto n = static_cast<double>(n_);
    if (keys_ < 3) {
        return expected();
    }
    const double k = n / (L - 1);
    const double share = 1 / (L - 1);
    const double v = n * (L - 1 - n) / ((L - 1) * (L - 2));
    return (L - n) / L * kernels_.rms_sum(keys_, k, S2_, v, Q_, share, q_.data(), b_.data());
}

// Theorem 1.1. |a_i - s| <= alpha_i |x_i - s/abar| + (abar - alpha_i) |s|/abar for i outside; s/abar is a mean of
// selected vectors, so the first distance is at most d1 and the second length at most the longest of them. Summed over
// i.
double RowWalk::bound() const {
    if (!positive_) {
        return std::nan("");
    }
    const double outside = std::max(total_ - mass_, 0.0);
    return outside * std::sqrt(farthest_) + std::sqrt(longest_) * (mass_ * static_cast<double>(keys_ - n_) - outside);
}

DistanceAtN RowWalk::at() const {
    DistanceAtN at;
    at.n = n_;
    at.mass = mass_;
    at.share = positive_ ? mass_ / total_ : std::nan("");
    at.selected = std::sqrt(ss_);
    at.distance = distance_;
    at.bound = bound();
    at.expected = expected();
    at.expected_rms = expected_rms();
    const bool has_entropy = n_ > 1 && positive_ && mass_ > 0;
    at.uniformity = has_entropy ? (std::log(mass_) - logs_ / mass_) / std::log(static_cast<double>(n_)) : std::nan("");
    return at;
}

}  // namespace flyball::limits
