#include "core/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace flyball {

namespace {

// How many bytes at the start are plain ASCII, eight at a time.
std::size_t ascii_prefix(std::string_view text) noexcept {
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, text.data() + i, 8);
        if ((eight & 0x8080808080808080U) != 0) {
            break;
        }
    }
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) {
        ++i;
    }
    return i;
}

}  // namespace

Utf8Point next_point(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return {static_cast<char32_t>(first), 1, true};
    }
    if (first < 0xC2 || first > 0xF4) {
        return {0xFFFD, 1, false};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    // Only the second byte has a range of its own: it rules out overlong forms, surrogates and what is above U+10FFFF.
    const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    char32_t value = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte(i) < (i == 1 ? low : 0x80U) || byte(i) > (i == 1 ? high : 0xBFU)) {
            return {0xFFFD, i, false};
        }
        value = value << 6U | (byte(i) & 0x3FU);
    }
    return {value, length, true};
}

void append_point(std::string& text, char32_t point) {
    const auto put = [&text](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | point >> 6U);
        put(0x80U | (point & 0x3FU));
    } else if (point < 0x10000) {
        put(0xE0U | point >> 12U);
        put(0x80U | (point >> 6U & 0x3FU));
        put(0x80U | (point & 0x3FU));
    } else {
        put(0xF0U | point >> 18U);
        put(0x80U | (point >> 12U & 0x3FU));
        put(0x80U | (point >> 6U & 0x3FU));
        put(0x80U | (point & 0x3FU));
    }
}

bool is_ascii(std::string_view text) noexcept {
    return ascii_prefix(text) == text.size();
}

bool is_utf8(std::string_view text) noexcept {
    while (true) {
        text.remove_prefix(ascii_prefix(text));
        if (text.empty()) {
            return true;
        }
        const Utf8Point point = next_point(text);
        if (!point.valid) {
            return false;
        }
        text.remove_prefix(point.length);
    }
}

std::string repaired_utf8(std::string_view text, std::size_t* replaced) {
    std::string out;
    out.reserve(text.size());
    std::size_t count = 0;
    while (!text.empty()) {
        const Utf8Point point = next_point(text);
        if (point.valid) {
            out += text.substr(0, point.length);
        } else {
            out += "\xEF\xBF\xBD";
            ++count;
        }
        text.remove_prefix(point.length);
    }
    if (replaced != nullptr) {
        *replaced = count;
    }
    return out;
}

}  // namespace flyball
