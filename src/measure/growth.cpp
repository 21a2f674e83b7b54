// Four laws fitted to a curve over depth, and the choice among them.
#include "measure/growth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/unreachable.hpp"

namespace flyball::measure {

namespace {

constexpr std::size_t least_values = 4;  // two are a line whatever the law
constexpr double little = 1.25;
constexpr double worthwhile = 0.75;

struct Line {
    double start = 0;
    double slope = 0;
    double slope_error = 0;
};

// Minimises sum w (v - start - slope*u)^2.
Line weighted_line(const std::vector<double>& u, const std::vector<double>& v, const std::vector<double>& w) {
    double sum = 0;
    double mean_u = 0;
    double mean_v = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        sum += w[i];
        mean_u += w[i] * u[i];
        mean_v += w[i] * v[i];
    }
    mean_u /= sum;
    mean_v /= sum;
    double uu = 0;
    double uv = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        uu += w[i] * (u[i] - mean_u) * (u[i] - mean_u);
        uv += w[i] * (u[i] - mean_u) * (v[i] - mean_v);
    }
    Line line;
    line.slope = uv / uu;
    line.start = mean_v - line.slope * mean_u;
    double left = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double away = v[i] - line.start - line.slope * u[i];
        left += w[i] * away * away;
    }
    line.slope_error = std::sqrt(left / static_cast<double>(u.size() - 2) / uu);
    return line;
}

double log_error(const std::vector<double>& y, const std::function<double(std::size_t)>& fit) {
    double squares = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double value = fit(i);
        if (!(value > 0)) {
            return std::numeric_limits<double>::infinity();
        }
        squares += std::log(y[i] / value) * std::log(y[i] / value);
    }
    return std::sqrt(squares / static_cast<double>(y.size()));
}

struct Law {
    GrowthClass kind;
    Line line;
    double error;
};

}  // namespace

const char* name(GrowthClass growth) noexcept {
    switch (growth) {
        case GrowthClass::bounded:
            return "bounded";
        case GrowthClass::sqrt:
            return "sqrt";
        case GrowthClass::linear:
            return "linear";
        case GrowthClass::exponential:
            return "exponential";
        case GrowthClass::unknown:
            return "unknown";
    }
    unreachable();
}

// Least squares of relative errors: y has weights 1/y^2, y^2 has 1/y^4, log y has 1. Laws are then compared by one
// measure, the root mean square of log(y/fit), whatever they were fitted in.
Growth growth(const std::vector<double>& y) {
    Growth result;
    if (y.size() < least_values ||
        std::any_of(y.begin(), y.end(), [](double v) { return !(v > 0) || !std::isfinite(v); })) {
        return result;
    }
    std::vector<double> l;
    std::vector<double> log_l;
    std::vector<double> log_y;
    std::vector<double> square;
    std::vector<double> one;
    std::vector<double> relative;         // weights of y
    std::vector<double> relative_square;  // weights of y^2
    for (std::size_t i = 0; i < y.size(); ++i) {
        l.push_back(static_cast<double>(i + 1));
        log_l.push_back(std::log(l.back()));
        log_y.push_back(std::log(y[i]));
        square.push_back(y[i] * y[i]);
        one.push_back(1);
        relative.push_back(1 / square.back());
        relative_square.push_back(relative.back() * relative.back());
    }
    const Line power = weighted_line(log_l, log_y, one);
    result.exponent = power.slope;
    result.exponent_error = power.slope_error;
    result.factor = y.back() / y.front();

    const Line flat = weighted_line(l, log_y, one);
    double mean = 0;
    for (const double v : log_y) {
        mean += v / static_cast<double>(y.size());
    }
    const double constant = log_error(y, [&](std::size_t) { return std::exp(mean); });
    const Line root = weighted_line(l, square, relative_square);
    const Line straight = weighted_line(l, y, relative);
    const std::vector<Law> laws = {
        {GrowthClass::sqrt, root,
         log_error(y, [&](std::size_t i) { return std::sqrt(std::max(0.0, root.start + root.slope * l[i])); })},
        {GrowthClass::linear, straight,
         log_error(y, [&](std::size_t i) { return straight.start + straight.slope * l[i]; })},
        {GrowthClass::exponential, flat,
         log_error(y, [&](std::size_t i) { return std::exp(flat.start + flat.slope * l[i]); })}};
    const Law& best =
        *std::min_element(laws.begin(), laws.end(), [](const Law& a, const Law& b) { return a.error < b.error; });
    const bool grows = best.line.slope > 0 && result.factor > little && best.error < worthwhile * constant;
    result.kind = grows ? best.kind : GrowthClass::bounded;
    result.rate = grows ? best.line.slope : flat.slope;
    result.rate_error = grows ? best.line.slope_error : flat.slope_error;
    result.error = grows ? best.error : constant;
    return result;
}

}  // namespace flyball::measure
