// UTF-8: reading and writing code points, and repairing text that is not UTF-8. The one decoder there is.
//
// Bytes that are no UTF-8 become U+FFFD, one for each longest piece that could have begun a character: what Python's
// bytes.decode("utf-8", "replace") gives, and so what a Hugging Face tokenizer would be shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flyball {

struct Utf8Point {
    char32_t value = 0;
    std::size_t length = 0;  // bytes; at least 1
    bool valid = false;      // otherwise the bytes are to be replaced by one U+FFFD
};

// The character, or the piece that is none, at the start of text that is not empty.
Utf8Point next_point(std::string_view text) noexcept;

// The same for text known to be valid; faster.
inline Utf8Point next_valid_point(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
    const char32_t first = byte(0);
    if (first < 0x80) {
        return {first, 1, true};
    }
    if (first < 0xE0) {
        return {(first & 0x1FU) << 6U | (byte(1) & 0x3FU), 2, true};
    }
    if (first < 0xF0) {
        return {(first & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU), 3, true};
    }
    return {(first & 7U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU), 4, true};
}

// Bytes of the character that starts with this byte, in valid text.
inline std::size_t point_length(char first) noexcept {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1U : byte < 0xE0 ? 2U : byte < 0xF0 ? 3U : 4U;
}

// Whether the byte continues a character: none starts here.
inline bool is_continuation(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

void append_point(std::string& text, char32_t point);

bool is_ascii(std::string_view text) noexcept;
bool is_utf8(std::string_view text) noexcept;

// The text with what is not UTF-8 replaced; `replaced`, when given, gets the number of replacements.
std::string repaired_utf8(std::string_view text, std::size_t* replaced = nullptr);

}  // namespace flyball
