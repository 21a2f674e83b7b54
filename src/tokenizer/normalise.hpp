// Text before it is cut: the `normalizer` of a tokenizer file. Text in and out is valid UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer {

// Control characters go and white space becomes spaces; ideographs get spaces around them; accents go; lower case. In
// this order, each if asked for.
struct BertStep {
    bool clean = true, space_chinese = true, strip_accents = true, lower = true;
};
struct LowerStep {};
struct NfcStep {};
struct NfdStep {};
struct PrependStep {
    std::string text;
};
struct ReplaceStep {
    Pattern pattern;
    std::string by;
};
struct TrimStep {
    bool left = true, right = true;
};

using NormaliseStep = std::variant<BertStep, LowerStep, NfcStep, NfdStep, PrependStep, ReplaceStep, TrimStep>;

// A hostile file could make text grow without end: 64 times its size and 64 kB is an Error.
std::string normalised(std::string_view text, const std::vector<NormaliseStep>& steps);

// Every match of the pattern replaced. A result of more than `most` bytes is an Error.
std::string replaced(std::string_view text, const Pattern& pattern, std::string_view by, std::size_t most);

// How many bytes of white space the text starts and ends with.
std::size_t leading_space(std::string_view text) noexcept;
std::size_t trailing_space(std::string_view text) noexcept;

}  // namespace flyball::tokenizer
