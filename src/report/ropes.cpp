#include "report/ropes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace flyball::report {
namespace {

constexpr double touching = 1.2;
constexpr std::size_t sampled = 3;              // columns from one point of a strand to the next
constexpr std::size_t most_rope_points = 4000;  // about 50 kB
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// The height of a curve in each column of a pixel; NaN where it is not in the plot.
std::vector<double> heights(const Curve& curve, const Plot& plot, std::size_t columns) {
    std::vector<double> out(columns, nothing);
    for (const Stretch& run : curve.runs) {
        for (std::size_t i = 1; i < run.size(); ++i) {
            const Point& from = run[i - 1];
            const Point& to = run[i];
            if (to.x < from.x) {
                return std::vector<double>(columns, nothing);
            }
            const double first = std::max(0.0, std::ceil(from.x - plot.left));
            const double last = std::min(static_cast<double>(columns) - 1, std::floor(to.x - plot.left));
            for (double c = first; c <= last; c += 1) {
                const double share = to.x > from.x ? (c + plot.left - from.x) / (to.x - from.x) : 1;
                const double y = from.y + share * (to.y - from.y);
                out[static_cast<std::size_t>(c)] = y >= plot.top - 1 && y <= plot.bottom() + 1 ? y : nothing;
            }
        }
    }
    return out;
}

using Group = std::vector<std::size_t>;  // of curves that are together, in the order they are drawn

// For each curve the group it is in; empty when it is alone or not there.
std::vector<Group> groups_at(const std::vector<std::vector<double>>& y, std::size_t column) {
    Group there;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!std::isnan(y[i][column])) {
            there.push_back(i);
        }
    }
    std::sort(there.begin(), there.end(), [&](std::size_t a, std::size_t b) { return y[a][column] < y[b][column]; });
    std::vector<Group> out(y.size());
    for (std::size_t begin = 0; begin < there.size();) {
        std::size_t end = begin + 1;
        while (end < there.size() && y[there[end]][column] - y[there[begin]][column] < touching) {
            ++end;
        }
        Group group(there.begin() + static_cast<std::ptrdiff_t>(begin),
                    there.begin() + static_cast<std::ptrdiff_t>(end));
        std::sort(group.begin(), group.end());
        for (const std::size_t i : group) {
            out[i] = group.size() > 1 ? group : Group();
        }
        begin = end;
    }
    return out;
}

Strand strand_of(std::size_t curve, const Group& group, const std::vector<double>& y, double left, std::size_t begin,
                 std::size_t end) {
    const auto above = static_cast<double>(
        std::count_if(group.begin(), group.end(), [&](std::size_t other) { return other > curve; }));
    Strand strand{curve, {}, strand_dash * static_cast<double>(group.size() - 1), strand_dash * above};
    for (std::size_t c = begin; c < end; c += sampled) {
        strand.points.push_back({left + static_cast<double>(c), y[c]});
    }
    strand.points.push_back({left + static_cast<double>(end - 1), y[end - 1]});
    return strand;
}

}  // namespace

std::vector<Strand> strands(const std::vector<Curve>& curves, const Plot& plot) {
    const auto columns = static_cast<std::size_t>(std::max(0.0, std::floor(plot.width))) + 1;
    std::vector<std::vector<double>> y;
    y.reserve(curves.size());
    for (const Curve& curve : curves) {
        y.push_back(heights(curve, plot, columns));
    }
    std::vector<Strand> out;
    std::size_t points = 0;
    std::vector<Group> current(curves.size());
    std::vector<std::size_t> since(curves.size(), 0);
    for (std::size_t column = 0; column <= columns; ++column) {
        const auto now = column < columns ? groups_at(y, column) : std::vector<Group>(curves.size());
        for (std::size_t i = 0; i < curves.size(); ++i) {
            if (now[i] == current[i]) {
                continue;
            }
            const bool is_hidden = !current[i].empty() && current[i].back() != i;
            if (is_hidden && static_cast<double>(column - since[i]) >= 2 * strand_dash) {
                out.push_back(strand_of(i, current[i], y[i], plot.left, since[i], column));
                points += out.back().points.size();
            }
            current[i] = now[i];
            since[i] = column;
        }
    }
    return points <= most_rope_points ? out : std::vector<Strand>();
}

}  // namespace flyball::report
