// Cells of comma-separated values, as RFC 4180 has them. Rows end in "\n"; numbers round-trip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flyball {

enum class Quotes { when_needed, always };

// Text with a comma, a quote or a line break stands in quotes, and its own quotes are doubled.
std::string csv_cell(std::string_view text, Quotes quotes = Quotes::when_needed);

// The rows of a whole text, "\r\n" for "\n" allowed, and the last newline may be missing, half or whole.
// Every row must have as many cells as the first; `what` names the
// text in the Error otherwise.
std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view what);

}  // namespace flyball
