// What tokenizers ask of Unicode: character classes, lower case, canonical decomposition and composition.
//
// The tables agree at every code point with those of the library `tokenizers`, which are of different ages;
// unicode_table.py writes them from Unicode 14 and says what it takes back. Not here: compatibility forms
// (NFKC, NFKD) and anything that depends on a language.
#pragma once

#include <string>
#include <string_view>

namespace flyball::tokenizer {

// Unicode's White_Space.
bool is_white_space(char32_t point) noexcept;
// Control, format and private use; not unassigned.
bool is_control(char32_t point) noexcept;
bool is_nonspacing_mark(char32_t point) noexcept;
// Unicode's punctuation and ASCII's symbols.
bool is_punctuation(char32_t point) noexcept;
std::string punctuation_class();  // the same as ranges for inside the [..] of a PCRE2 pattern
// The blocks that BERT calls Chinese: ideographs, no kana and no Hangul.
bool is_chinese(char32_t point) noexcept;

// Text is valid UTF-8. Lower case goes character by character: no final sigma, U+0130 becomes two.
void append_lower(std::string& out, char32_t point);
std::string nfd(std::string_view text);
std::string nfc(std::string_view text);

}  // namespace flyball::tokenizer
