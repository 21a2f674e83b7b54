#include "claims/limits_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "limits/reference.hpp"
#include "limits/separation.hpp"
#include "limits/walk.hpp"
#include "measure/extremes.hpp"
#include "measure/rows.hpp"

namespace flyball::claims {

SelectionRow gaussian_row(std::size_t keys, std::size_t dim, double sharpness, std::uint64_t seed) {
    SelectionRow row;
    row.dim = dim;
    const Random logits(seed, 11);
    double sum = 0;
    for (std::size_t i = 0; i < keys; ++i) {
        row.alpha.push_back(std::exp(sharpness * logits.normal(i)));
        sum += row.alpha.back();
    }
    for (double& weight : row.alpha) {
        weight /= sum;
    }
    row.x.resize(keys * dim);
    Random(seed, 12).fill_normal(row.x);
    return row;
}

SelectionRow on_the_sphere(SelectionRow row) {
    row.x = measure::directions({row.x.data(), row.keys(), row.dim});
    return row;
}

std::vector<std::size_t> top_of(const SelectionRow& row, std::size_t n) {
    std::vector<std::size_t> order = limits::reference::order_of(row.alpha);
    order.resize(n);
    return order;
}

limits::DistanceAtN measured_distance(const SelectionRow& row, std::size_t n) {
    limits::Gram gram;
    gram.assign(row.x.data(), row.keys(), row.dim, row.dim);
    std::vector<double> along(row.keys());
    for (std::size_t i = 0; i < row.keys(); ++i) {
        for (std::size_t j = 0; j < row.keys(); ++j) {
            along[i] += row.alpha[j] * gram.row(i)[j];
        }
    }
    limits::RowWalk walk;
    walk.start({&gram, {0, row.keys()}, row.alpha.data(), along.data()});
    while (walk.selected() < n) {
        walk.join(true);
    }
    return walk.at();
}

limits::SeparationAtN measured_separation(const SelectionRow& row, std::size_t n) {
    limits::Gram gram;
    gram.assign(row.x.data(), row.keys(), row.dim, row.dim);
    const std::vector<std::size_t> order = limits::reference::order_of(row.alpha);
    limits::SeparationWalk walk;
    walk.start(gram, {0, row.keys()}, row.alpha.data(), order);
    while (walk.selected() < n) {
        walk.join();
    }
    return walk.at(gram.least_distances({{0, row.keys()}}).front().any);
}

double measured_distance(const SelectionRow& row, const std::vector<std::size_t>& set) {
    return limits::reference::distance({row.alpha, row.x, row.dim}, set);
}

std::vector<std::size_t> random_subset(std::size_t keys, std::size_t count, std::uint64_t seed, std::uint64_t draw) {
    const Random random(seed, 100 + draw);
    std::vector<std::size_t> all(keys);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
        const auto left = static_cast<double>(keys - i);
        std::swap(all[i], all[i + static_cast<std::size_t>(random.uniform(i) * left)]);
    }
    all.resize(count);
    return all;
}

void BoundCheck::see(double value, double bound) {
    largest_ = !std::isfinite(value) || std::isnan(bound) ? HUGE_VAL : std::max(largest_, value / bound);
    ++count_;
}

void BoundCheck::see_attaining(double value, double bound) {
    see(value, bound);
    attaining_ = measure::smaller(attaining_, value / bound);
}

}  // namespace flyball::claims
