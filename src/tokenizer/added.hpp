// Added tokens ("<|endoftext|>", "[MASK]"): found in the text before anything else looks at it.
//
// The leftmost wins, and of those that start together the longest. A text of n bytes takes at most O(n times the
// longest added token).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flyball::tokenizer {

struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool left_strip = false, right_strip = false;  // takes the white space on that side with it
    bool single_word = false;                      // not where a letter or digit touches it
    bool normalised = false;                       // looked for in the normalised text, after the others
    bool special = false;                          // left out of decoded text
};

class AddedTokens {
  public:
    // The first of two tokens with the same text counts.
    void add(const std::string& text, const AddedToken& token);
    bool empty() const noexcept { return tokens_.empty(); }

    // Calls piece(text, nullptr) and piece(matched, token) in order; nothing is called for empty text.
    using Piece = std::function<void(std::string_view, const AddedToken*)>;
    void split(std::string_view text, const Piece& piece) const;

  private:
    struct Found {
        std::size_t length = 0;
        const AddedToken* token = nullptr;
    };
    Found longest(std::string_view text) const;

    static constexpr std::uint32_t root = 0;
    std::vector<AddedToken> tokens_;
    std::vector<bool> starts_ = std::vector<bool>(256);          // bytes that some token starts with
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // (node, byte) -> node
    std::vector<std::int64_t> ends_ = {-1};                      // node -> the token that ends there
};

}  // namespace flyball::tokenizer
