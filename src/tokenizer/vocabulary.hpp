// Token texts and their ids.
//
// Inside the tokenizer tokens are numbered densely, in the order of the file (an index); ids may be any numbers from 0
// to 2^31 - 2 with gaps, and memory grows with the number of tokens alone, never with an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flyball::tokenizer {

// FNV-1a, open so that the hashes of all beginnings of a text come from one pass over it.
inline constexpr std::uint64_t hash_start = 0xCBF29CE484222325U;
inline std::uint64_t hash_more(std::uint64_t hash, char c) noexcept {
    return (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
}
inline std::uint64_t hash_end(std::uint64_t hash) noexcept {
    hash ^= hash >> 32U;
    hash *= 0xD6E8FEB86659FD93U;
    return hash ^ hash >> 32U;
}
inline std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = hash_start;
    for (const char c : text) {
        hash = hash_more(hash, c);
    }
    return hash_end(hash);
}

class Vocabulary {
  public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;
    static constexpr std::int64_t largest_id = 0x7FFFFFFE;

    // Throws on an id out of range or a text that is there already; `what` names the file. The same id twice is found
    // by finish(), which must be called after the last add().
    std::uint32_t add(std::string_view text, std::int64_t id, std::string_view what);
    void finish(std::string_view what);

    std::size_t size() const noexcept { return ids_.size(); }
    std::size_t longest() const noexcept { return longest_; }  // bytes of the longest text
    std::int32_t largest() const noexcept { return by_id_.empty() ? -1 : by_id_.back().first; }
    std::int32_t id(std::uint32_t index) const noexcept { return ids_[index]; }
    std::string_view text(std::uint32_t index) const noexcept {
        return std::string_view(texts_).substr(starts_[index], starts_[index + 1] - starts_[index]);
    }

    std::uint32_t find(std::string_view text) const noexcept { return find({}, text, hash_of(text)); }
    // The token `first` followed by `rest`, whose hash together is known.
    std::uint32_t find(std::string_view first, std::string_view rest, std::uint64_t hash) const noexcept;
    std::uint32_t find_id(std::int32_t id) const noexcept;

  private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t index = none;
    };
    void grow();

    std::string texts_;
    std::vector<std::size_t> starts_ = {0};
    std::vector<std::int32_t> ids_;
    std::vector<Slot> slots_;
    std::vector<std::pair<std::int32_t, std::uint32_t>> by_id_;
    std::size_t longest_ = 0;
};

}  // namespace flyball::tokenizer
