// Text from outside, made safe to draw: valid UTF-8 without control characters, measured and cut by character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::report {

// Bytes that are not UTF-8, and code points XML forbids, become U+FFFD; control characters become spaces, except '\n'
// when it is kept.
std::string clean(std::string_view text, bool keep_newlines = false);

// The characters of clean text, one string each.
std::vector<std::string_view> characters(std::string_view text);

// How many columns of a terminal: combining marks take none, everything else one.
std::size_t columns(std::string_view text);

// At most `longest` columns; what is cut ends in "…" ("..." in ASCII).
std::string shortened(std::string_view text, std::size_t longest, bool ascii = false);

// The same in ASCII: "10⁻³" is "1e-3", "2×10⁵" is "2e5", "−" is "-"; Greek letters are spelled; the rest is '?'.
std::string to_ascii(std::string_view text);

// "β = 5" for "beta = 5": the words of our own captions, before an equals sign, as the letters they stand for.
std::string with_greek(std::string_view text);

// "⁻³" for -3.
std::string superscript(int number);

// The character a superscript digit or sign stands for, '\0' for anything else.
char superscript_value(std::string_view character) noexcept;

}  // namespace flyball::report
