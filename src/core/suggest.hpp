// "Did you mean ...": the candidate closest to a misspelt word.
//
// Promises: insertions, deletions, substitutions and swaps of neighbours cost one each, case costs nothing; the first
// of equally close candidates wins. Not a search engine: words far from every candidate get no suggestion.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flyball {

// "" when nothing is within max(1, length of the word / 3) edits.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace flyball
