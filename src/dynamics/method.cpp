#include "dynamics/method.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "core/setting_field.hpp"
#include "dynamics/bdf.hpp"
#include "dynamics/own_frame.hpp"

namespace flyball::dynamics {

namespace {

constexpr auto rows = std::to_array<MethodRow>({
    {Method::automatic, "auto", "erk", dop853_table, nullptr, 30},  // or bdf: row_for
    {Method::erk, "erk", "", dop853_table, nullptr, 30},
    {Method::bdf, "bdf", "stiff equations", nullptr, make_bdf, 30},
    {Method::euler, "euler", "", euler_table, nullptr, 12},
    {Method::rk4, "rk4", "", rk4_table, nullptr, 15},
});

// Under the mask tokens that have met are held apart by those that only one of them sees, at rate 1 and over any time.
Method chosen(Method asked, bool causal, double time) {
    return asked == Method::automatic && causal && time > slow_time ? Method::bdf : asked;
}

std::string names_where(bool equal_steps) {
    std::vector<std::string> words;
    for (const MethodRow& row : rows) {
        if (row.method != Method::automatic && row.has_equal_steps() == equal_steps) {
            words.emplace_back(row.name);
        }
    }
    return joined(words, "and");
}

}  // namespace

std::span<const MethodRow> method_rows() {
    return rows;
}

const MethodRow& row_of(Method method) {
    const auto* const found =
        std::find_if(rows.begin(), rows.end(), [&](const MethodRow& row) { return row.method == method; });
    assert(found != rows.end() && "a method without a row");
    return *found;
}

const MethodRow& row_for(const Problem& problem, const Control& control) {
    return row_of(chosen(control.method, problem.attention.causal(), problem.time));
}

const MethodRow& row_for(const Settings& settings) {
    return row_of(chosen(settings.method, settings.causal, settings.time));
}

std::vector<const RkTable*> rk_tables() {
    std::vector<const RkTable*> tables;
    for (const MethodRow& row : rows) {
        if (row.table != nullptr && std::find(tables.begin(), tables.end(), &row.table()) == tables.end()) {
            tables.push_back(&row.table());
        }
    }
    return tables;
}

std::string method_help() {
    std::vector<std::string> words;
    for (const MethodRow& row : rows) {
        words.push_back(row.name + (*row.help == '\0' ? std::string() : std::string(" (") + row.help + ")"));
    }
    return joined(words, "or");
}

std::string methods_with_equal_steps() {
    return names_where(true);
}

std::string methods_with_chosen_steps() {
    return names_where(false);
}

}  // namespace flyball::dynamics
