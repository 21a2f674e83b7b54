// An error in an equation: the text with a caret under the place, and what was expected there.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "scheme/expression.hpp"

namespace flyball::scheme {

// Where `at` is in `text`: "column 8", or "line 2, column 8" where it has several lines. Both count from 1.
std::string place_of(std::string_view text, std::size_t at);

// Throws Error(usage) whose detail shows the line of `text` that holds `span`, with carets under it.
[[noreturn]] void fail_at(std::string_view text, Span span, std::string_view got, std::string_view expected,
                          std::string_view hint = {});

}  // namespace flyball::scheme
