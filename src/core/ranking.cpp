#include "core/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/setting_field.hpp"

namespace flyball {

namespace {

bool alike(double a, double b) {
    constexpr double tie = 0.01;
    return std::fabs(a - b) <= tie * std::max(std::fabs(a), std::fabs(b));
}

}  // namespace

Ranking rank(const std::vector<Ranked>& values) {
    std::vector<Ranked> finite;
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](const Ranked& one) { return std::isfinite(one.value); });
    Ranking ranking;
    if (finite.empty()) {
        return ranking;
    }
    const auto [least, most] = std::minmax_element(finite.begin(), finite.end(),
                                                   [](const Ranked& a, const Ranked& b) { return a.value < b.value; });
    ranking.least = least->value;
    ranking.most = most->value;
    ranking.all_alike = alike(ranking.least, ranking.most);
    for (const Ranked& one : finite) {
        if (alike(one.value, ranking.least)) {
            ranking.smallest.push_back(one.name);
        }
        if (alike(one.value, ranking.most)) {
            ranking.largest.push_back(one.name);
        }
    }
    return ranking;
}

std::string names_in_words(const std::vector<std::string>& names) {
    constexpr std::size_t most_named = 6;
    if (names.size() <= most_named) {
        return joined(names, "and");
    }
    std::vector<std::string> some(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most_named) - 1);
    some.push_back(fmt::format("{} more", names.size() - some.size()));
    return joined(some, "and");
}

const char* verb_for(const std::vector<std::string>& names, const char* one, const char* several) {
    return names.size() == 1 ? one : several;
}

}  // namespace flyball
