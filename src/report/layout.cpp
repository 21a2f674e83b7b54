#include "report/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace flyball::report {
namespace {

double column_of(double x, double column) {
    return std::floor(x / column);
}

// Runs joined where one ends in the column in which the next begins.
template <class Item>
std::vector<std::vector<Item>> joined(const std::vector<std::vector<Item>>& runs, double column) {
    std::vector<std::vector<Item>> out;
    for (const auto& run : runs) {
        if (run.empty()) {
            continue;
        }
        if (!out.empty() && column_of(out.back().back().x, column) == column_of(run.front().x, column)) {
            out.back().insert(out.back().end(), run.begin(), run.end());
        } else {
            out.push_back(run);
        }
    }
    return out;
}

// Calls visit(begin, end) for each stretch of consecutive items in one column.
template <class Item, class Visit>
void each_column(const std::vector<Item>& run, double column, Visit visit) {
    for (std::size_t begin = 0; begin < run.size();) {
        std::size_t end = begin + 1;
        while (end < run.size() && column_of(run[end].x, column) == column_of(run[begin].x, column)) {
            ++end;
        }
        visit(begin, end);
        begin = end;
    }
}

}  // namespace

// With y_i = wanted_i - i*gap the condition "at least gap apart" reads "y does not decrease", so this is isotonic
// regression: neighbours out of order are pooled at their mean. Clamping its solution solves the bounded problem.
std::vector<double> pushed_apart(std::span<const double> wanted, double gap, double lo, double hi) {
    const std::size_t n = wanted.size();
    if (n == 0) {
        return {};
    }
    if (n > 1) {
        gap = std::min(gap, (hi - lo) / static_cast<double>(n - 1));
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });

    struct Pool {
        double sum;
        std::size_t count;
        double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < n; ++i) {
        pools.push_back({wanted[order[i]] - static_cast<double>(i) * gap, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back().sum += last.sum;
            pools.back().count += last.count;
        }
    }
    const double highest = std::max(lo, hi - static_cast<double>(n - 1) * gap);
    std::vector<double> out(n);
    std::size_t i = 0;
    for (const Pool& pool : pools) {
        for (std::size_t k = 0; k < pool.count; ++k, ++i) {
            out[order[i]] = std::clamp(pool.mean(), lo, highest) + static_cast<double>(i) * gap;
        }
    }
    return out;
}

std::vector<Stretch> thinned(const std::vector<Stretch>& runs, double column) {
    std::vector<Stretch> out;
    for (const Stretch& run : joined(runs, column)) {
        Stretch& kept = out.emplace_back();
        each_column(run, column, [&](std::size_t begin, std::size_t end) {
            const auto first = run.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto last = run.begin() + static_cast<std::ptrdiff_t>(end);
            const auto [low, high] =
                std::minmax_element(first, last, [](const Point& a, const Point& b) { return a.y < b.y; });
            std::array<Stretch::const_iterator, 4> picked = {first, std::min(low, high), std::max(low, high), last - 1};
            const auto* const stop = std::unique(picked.begin(), picked.end());
            for (const auto* it = picked.begin(); it != stop; ++it) {
                kept.push_back(**it);
            }
        });
    }
    return out;
}

std::vector<Band> thinned(const std::vector<Band>& bands, double column) {
    std::vector<Band> out;
    for (const Band& band : joined(bands, column)) {
        Band& kept = out.emplace_back();
        each_column(band, column, [&](std::size_t begin, std::size_t end) {
            Slice slice = band[begin];
            for (std::size_t i = begin; i < end; ++i) {
                slice.lo = std::min(slice.lo, band[i].lo);
                slice.hi = std::max(slice.hi, band[i].hi);
            }
            slice.x = end == band.size() ? band[end - 1].x : band[begin].x;
            if (end == band.size() && begin == 0 && end > 1) {
                kept.push_back({band[0].x, slice.lo, slice.hi});
            }
            kept.push_back(slice);
        });
    }
    return out;
}

}  // namespace flyball::report
