#include "report/ruler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/number.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

constexpr double largest = 1e300;  // beyond it the length of a range may overflow
constexpr double smallest = 1e-300;
// A range this short relative to its values is rounding, not data.
constexpr double shortest_range = 1e-9;

std::string with_minus_sign(const std::string& text) {
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

double power_of_ten(int exponent) {
    return std::pow(10.0, exponent);
}

int decade_of(double positive) {
    return static_cast<int>(std::floor(std::log10(positive) + 1e-12));
}

// mantissa * 10^exponent with a decimal point that is right to the last bit, as far as doubles go.
double scaled(double mantissa, int exponent) {
    if (exponent < -300) {  // 10^-exponent may overflow
        return mantissa / 1e300 / power_of_ten(-exponent - 300);
    }
    return exponent < 0 ? mantissa / power_of_ten(-exponent) : mantissa * power_of_ten(exponent);
}

// A number on a 1-2-5 grid: fixed notation where it is short.
std::string log_label(int mantissa, int exponent, bool plain) {
    if (plain) {
        return fmt::format("{:.{}f}", scaled(mantissa, exponent), std::max(0, -exponent));
    }
    if (mantissa == 1) {
        return exponent == 0 ? "1" : exponent == 1 ? "10" : "10" + superscript(exponent);
    }
    return std::to_string(mantissa) + "×10" + superscript(exponent);
}

bool is_round(int mantissa) {
    return mantissa == 1 || mantissa == 2 || mantissa == 5;
}

std::vector<Tick> linear_ticks(double lo, double hi, int wanted, bool whole = false) {
    const double rough = std::max((hi - lo) / std::max(wanted, 1), whole ? 1.0 : 0.0);
    int exponent = decade_of(rough);
    int step = 1;
    const double leading = rough / power_of_ten(exponent);
    if (leading > std::sqrt(50.0)) {  // the nearest of 1, 2, 5 and 10 by ratio
        exponent += 1;
    } else {
        step = leading > std::sqrt(10.0) ? 5 : leading > std::numbers::sqrt2 ? 2 : 1;
    }
    const double size = scaled(step, exponent);
    const double slack = 1e-9 * (hi - lo) / size;
    const double first = std::ceil(lo / size - slack);
    const double last = std::floor(hi / size + slack);

    // One notation for all: with a common power of ten when the plain numbers would be long.
    const bool alone = first == last;  // perhaps 0, which has no decade
    const int top = alone ? exponent : decade_of(std::max(std::abs(first), std::abs(last)) * size);
    const bool plain = (top < 5 && exponent >= -4) || alone;
    std::vector<Tick> out;
    for (double k = first; k <= last; k += 1) {
        const double value = scaled(k * step, exponent);
        std::string label = "0";
        if (k != 0 && plain) {
            label = fmt::format("{:.{}f}", value, std::clamp(-exponent, 0, 15));
        } else if (k != 0) {
            const int decimals = std::clamp(top - exponent, 0, 12);
            label = fmt::format("{:.{}f}×10{}", scaled(value, -top), decimals, superscript(top));
        }
        out.push_back({value, with_minus_sign(label)});
    }
    return out;
}

// The powers of ten in the range are first..last; all of them, or every stride-th.
std::vector<Tick> decade_ticks(int first, int last, int wanted) {
    constexpr std::array<int, 10> strides = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500};
    const auto fits = [&](int stride) { return (last - first) / stride + 1 <= std::max(wanted, 2); };
    const auto* const found = std::find_if(strides.begin(), strides.end(), fits);
    const int stride = found == strides.end() ? strides.back() : *found;
    std::vector<Tick> out;
    for (int k = first; k <= last; ++k) {
        if (k % stride == 0) {
            out.push_back({power_of_ten(k), log_label(1, k, false)});
        } else if (stride <= 3) {
            out.push_back({power_of_ten(k), {}});
        }
    }
    return out;
}

// Of the numbers m*10^k in a range, all those of 1-2-5 have a name where there is room, and otherwise the powers.
std::vector<Tick> log_ticks(double lo, double hi, int wanted) {
    const double slack = 1e-9;
    const int first = static_cast<int>(std::ceil(std::log10(lo) - slack));
    const int last = static_cast<int>(std::floor(std::log10(hi) + slack));
    if (last - first + 1 > std::max(wanted, 2)) {
        return decade_ticks(first, last, wanted);
    }
    std::vector<std::pair<int, int>> inside;  // mantissa and exponent
    int round_ones = 0;
    for (int k = first - 1; k <= last; ++k) {
        for (int mantissa = 1; mantissa <= 9; ++mantissa) {
            const double value = scaled(mantissa, k);
            if (value >= lo * (1 - slack) && value <= hi * (1 + slack)) {
                inside.emplace_back(mantissa, k);
                round_ones += is_round(mantissa) ? 1 : 0;
            }
        }
    }
    const bool between = round_ones <= wanted || last - first + 1 < 3;
    const bool plain = first >= -3 && last <= 4;
    std::vector<Tick> out;
    int labelled = 0;
    for (const auto& [mantissa, k] : inside) {
        const bool named = mantissa == 1 || (between && is_round(mantissa));
        labelled += named ? 1 : 0;
        if (named || between || is_round(mantissa)) {
            out.push_back({scaled(mantissa, k), named ? log_label(mantissa, k, plain && between) : std::string()});
        }
    }
    return labelled >= 3 ? out : linear_ticks(lo, hi, wanted);
}

[[noreturn]] void refuse(const Axis& axis, std::string_view got, std::string_view expected) {
    throw Error(ErrorKind::usage, "report.axis", fmt::format("{} for the axis {}", got, flyball::quoted(axis.label)),
                expected);
}

void check(const Axis& axis) {
    for (const auto& bound : {axis.min, axis.max}) {
        if (bound && !std::isfinite(*bound)) {
            refuse(axis, "the bound " + format_double(*bound), "a finite number");
        }
        if (bound && axis.scale == Scale::log && *bound <= 0) {
            refuse(axis, "the bound " + format_double(*bound), "a positive number on a log scale");
        }
    }
    if (axis.min && axis.max && !(*axis.min < *axis.max)) {
        refuse(axis, fmt::format("min {} and max {}", format_double(*axis.min), format_double(*axis.max)),
               "min below max");
    }
}

// Bounds that were given stay; a free one moves away until the range can be drawn.
Ruler linear_ruler(const Axis& axis, Extent data, double padding) {
    double lo = std::clamp(axis.min.value_or(data.lo), -largest, largest);
    double hi = std::clamp(axis.max.value_or(data.hi), -largest, largest);
    const double size = std::max(std::abs(lo), std::abs(hi));
    if (!(hi - lo > std::max(shortest_range * size, smallest))) {
        const double margin = size > smallest * 10 ? 0.1 * size : 1;
        lo = axis.min ? lo : std::min(lo, hi) - margin;
        hi = axis.max ? hi : std::max(lo, hi) + margin;
        if (!(hi - lo > std::max(shortest_range * size, smallest))) {
            lo -= margin;  // both were given, too close to tell apart
            hi += margin;
        }
        return {Scale::linear, lo, hi};
    }
    const double margin = padding * (hi - lo);
    if (!axis.min && padding > 0) {
        // A range that starts near zero starts at zero.
        lo = lo >= 0 && lo - margin < 0.05 * hi ? 0 : lo - margin;
    }
    if (!axis.max && padding > 0) {
        hi = hi <= 0 && hi + margin > 0.05 * lo ? 0 : hi + margin;
    }
    return {Scale::linear, lo, hi};
}

Ruler log_ruler(const Axis& axis, Extent data, double padding) {
    const double least = std::log10(std::numeric_limits<double>::min());
    double lo = std::log10(axis.min.value_or(data.lo));
    double hi = std::log10(axis.max.value_or(data.hi));
    if (!(hi - lo > shortest_range)) {
        lo = axis.min ? lo : std::min(lo, hi) - 0.5;
        hi = axis.max ? hi : std::max(lo, hi) + 0.5;
        if (!(hi - lo > shortest_range)) {
            lo -= 0.5;
            hi += 0.5;
        }
    } else {
        const double margin = padding * (hi - lo);
        lo -= axis.min ? 0 : margin;
        hi += axis.max ? 0 : margin;
    }
    lo = std::clamp(lo, least, 307.0);
    hi = hi - lo > shortest_range ? std::min(hi, 308.0) : lo + 0.5;
    const auto exact = [](const std::optional<double>& bound, double exponent) {
        return bound && std::abs(std::log10(*bound) - exponent) < 1e-12 ? *bound : std::pow(10.0, exponent);
    };
    return {Scale::log, exact(axis.min, lo), exact(axis.max, hi)};
}

}  // namespace

bool drawable(Scale scale, double value) noexcept {
    return std::isfinite(value) && (scale == Scale::linear || value > 0);
}

void Extent::add(Scale scale, double value) noexcept {
    if (drawable(scale, value)) {
        lo = std::min(lo, value);
        hi = std::max(hi, value);
    }
}

double Ruler::at(double value) const noexcept {
    const double share = scale == Scale::log ? (std::log(value) - std::log(lo)) / (std::log(hi) - std::log(lo))
                                             : (std::clamp(value, -largest, largest) - lo) / (hi - lo);
    return std::isnan(share) ? 0 : std::clamp(share, -100.0, 101.0);
}

std::vector<Tick> Ruler::ticks(int wanted) const {
    return scale == Scale::log ? log_ticks(lo, hi, wanted) : linear_ticks(lo, hi, wanted, whole && hi - lo >= 2);
}

Ruler make_ruler(const Axis& axis, Extent data, double padding) {
    check(axis);
    if (data.empty()) {
        const double start = axis.scale == Scale::log ? 1 : 0;
        const double end = axis.scale == Scale::log ? 10 : 1;
        data.lo = axis.min ? *axis.min : axis.max ? std::min(start, *axis.max) : start;
        data.hi = axis.max ? *axis.max : std::max(end, data.lo);
    }
    return axis.scale == Scale::log ? log_ruler(axis, data, padding) : linear_ruler(axis, data, padding);
}

std::string compact(double value, int digits) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "undefined" : value > 0 ? "∞" : "−∞";
    }
    const double size = std::abs(value);
    if (size == 0 || (size >= 1e-3 && size < 1e5)) {
        const int decimals = std::max(0, digits - 1 - (size == 0 ? 0 : decade_of(size)));
        return with_minus_sign(format_double(*parse_double(fmt::format("{:.{}f}", value, decimals))));
    }
    const std::string text = fmt::format("{:.{}e}", value, digits - 1);
    const auto e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    const std::string mantissa = format_double(*parse_double(text.substr(0, e)));
    return mantissa == "1" ? "10" + superscript(exponent) : with_minus_sign(mantissa) + "×10" + superscript(exponent);
}

}  // namespace flyball::report
