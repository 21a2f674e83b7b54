// The names of kinds and masks, for flags and records.
#include <array>

#include <fmt/format.h>

#include "attention/attention.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::attention {

namespace {

template <class Value>
struct Named {
    Value value;
    const char* name;
};

constexpr std::array<Named<Kind>, 6> kinds = {{{Kind::softmax, "softmax"},
                                               {Kind::unnormalized, "unnormalized"},
                                               {Kind::sparsemax, "sparsemax"},
                                               {Kind::entmax15, "entmax15"},
                                               {Kind::ssmax, "ssmax"},
                                               {Kind::sigmoid, "sigmoid"}}};
constexpr std::array<Named<Mask>, 2> masks = {{{Mask::none, "none"}, {Mask::causal, "causal"}}};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& entry : table) {
        names.emplace_back(entry.name);
    }
    return names;
}

template <class Table, class Value>
const char* name_in(const Table& table, Value value) {
    for (const auto& entry : table) {
        if (entry.value == value) {
            return entry.name;
        }
    }
    return "";
}

template <class Table>
auto find_in(const Table& table, std::string_view name, std::string_view where) {
    for (const auto& entry : table) {
        if (name == entry.name) {
            return entry.value;
        }
    }
    const std::vector<std::string> names = names_of(table);
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::usage, where, flyball::quoted(name), fmt::format("one of {}", fmt::join(names, ", ")),
                near.empty() ? std::string() : fmt::format("did you mean {}?", flyball::quoted(near)));
}

}  // namespace

std::vector<std::string> kind_names() {
    return names_of(kinds);
}
const char* name(Kind kind) noexcept {
    return name_in(kinds, kind);
}
Kind kind_from_name(std::string_view name) {
    return find_in(kinds, name, "attention.kind_from_name");
}

std::vector<std::string> mask_names() {
    return names_of(masks);
}
const char* name(Mask mask) noexcept {
    return name_in(masks, mask);
}
Mask mask_from_name(std::string_view name) {
    return find_in(masks, name, "attention.mask_from_name");
}

}  // namespace flyball::attention
