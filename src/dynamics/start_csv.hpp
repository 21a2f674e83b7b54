// Numbers as comma-separated text: one row a line. See start_file.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace flyball::dynamics {

constexpr std::size_t most_start_dimensions = std::size_t{1} << 24U;  // a row is held at once

struct CsvShape {
    std::size_t rows = 0;
    std::size_t columns = 0;
};

// Looks through the text without keeping any of it. Lines end in LF or CRLF; a byte order mark, empty lines at the end,
// blanks around numbers and quotes around cells are let pass. A first line without a number is a header. Anything else
// is an Error(input) with its line: cells that are no number (nan and inf are none), rows of different widths.
CsvShape csv_shape(std::string_view text, const std::string& path);

// The rows in turn, of a text that csv_shape has looked through.
void walk_csv(std::string_view text, const std::string& path,
              const std::function<void(std::span<const double>)>& visit);

}  // namespace flyball::dynamics
