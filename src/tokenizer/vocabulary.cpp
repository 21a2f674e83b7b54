#include "tokenizer/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace flyball::tokenizer {

std::uint32_t Vocabulary::add(std::string_view text, std::int64_t id, std::string_view what) {
    if (id < 0 || id > largest_id) {
        throw Error(ErrorKind::input, "tokenizer.vocabulary",
                    fmt::format("the id {} of the token {} in {}", id, flyball::quoted(text), what),
                    fmt::format("ids from 0 to {}", largest_id));
    }
    if (find(text) != none) {
        throw Error(ErrorKind::input, "tokenizer.vocabulary",
                    fmt::format("the token {} twice in {}", flyball::quoted(text), what), "every token once");
    }
    if (2 * (size() + 1) > slots_.size()) {
        grow();
    }
    const auto index = static_cast<std::uint32_t>(size());
    texts_ += text;
    starts_.push_back(texts_.size());
    ids_.push_back(static_cast<std::int32_t>(id));
    longest_ = std::max(longest_, text.size());
    const std::uint64_t hash = hash_of(text);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].index != none) {
        at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), index};
    return index;
}

void Vocabulary::grow() {
    std::vector<Slot> slots(std::max<std::size_t>(64, 4 * slots_.size()));
    for (std::uint32_t index = 0; index < size(); ++index) {
        const std::uint64_t hash = hash_of(text(index));
        std::size_t at = hash & (slots.size() - 1);
        while (slots[at].index != none) {
            at = (at + 1) & (slots.size() - 1);
        }
        slots[at] = {static_cast<std::uint32_t>(hash >> 32U), index};
    }
    slots_ = std::move(slots);
}

void Vocabulary::finish(std::string_view what) {
    by_id_.clear();
    by_id_.reserve(size());
    for (std::uint32_t index = 0; index < size(); ++index) {
        by_id_.emplace_back(ids_[index], index);
    }
    std::sort(by_id_.begin(), by_id_.end());
    const auto same = std::adjacent_find(by_id_.begin(), by_id_.end(),
                                         [](const auto& a, const auto& b) { return a.first == b.first; });
    if (same != by_id_.end()) {
        throw Error(ErrorKind::input, "tokenizer.vocabulary",
                    fmt::format("the id {} for both {} and {} in {}", same->first, flyball::quoted(text(same->second)),
                                flyball::quoted(text((same + 1)->second)), what),
                    "an id of its own for every token");
    }
}

std::uint32_t Vocabulary::find(std::string_view first, std::string_view rest, std::uint64_t hash) const noexcept {
    if (slots_.empty()) {
        return none;
    }
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at].index != none; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at].tag != tag) {
            continue;
        }
        const std::string_view there = text(slots_[at].index);
        if (there.size() == first.size() + rest.size() && there.starts_with(first) && there.ends_with(rest)) {
            return slots_[at].index;
        }
    }
    return none;
}

std::uint32_t Vocabulary::find_id(std::int32_t id) const noexcept {
    const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair<std::int32_t, std::uint32_t>{id, 0});
    return at != by_id_.end() && at->first == id ? at->second : none;
}

}  // namespace flyball::tokenizer
