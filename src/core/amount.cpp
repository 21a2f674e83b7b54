#include "core/amount.hpp"

#include <fmt/format.h>

#include <utility>

namespace flyball {

namespace {

std::string two_digits(double value) {
    return value < 10 ? fmt::format("{:.1f}", value) : value < 1e6 ? fmt::format("{:.0f}", value) : "a million or more";
}

}  // namespace

std::string duration_text(double seconds) {
    constexpr std::pair<double, const char*> units[] = {
        {365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    for (const auto& unit : units) {
        if (seconds >= 1.5 * unit.first) {
            return fmt::format("{} {}", two_digits(seconds / unit.first), unit.second);
        }
    }
    return fmt::format("{:.0f} seconds", seconds);
}

std::string memory_text(double bytes) {
    return bytes < 1e9 ? fmt::format("{} MB", two_digits(bytes * 1e-6))
                       : fmt::format("{} GB", two_digits(bytes * 1e-9));
}

}  // namespace flyball
