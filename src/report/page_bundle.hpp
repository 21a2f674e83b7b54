// web/src as one script and one style sheet; the source of this header is made by cmake/Web.cmake.
#pragma once

#include <string_view>

namespace flyball::report {

extern const std::string_view page_script;
extern const std::string_view page_style;

}  // namespace flyball::report
