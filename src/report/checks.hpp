// What every figure must satisfy, and notes a figure adds to its caption.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"

namespace flyball::report {

// Lengths that belong together, cells in order, colours and dashes that can be drawn. Throws Error.
void check(const LineFigure& figure);
void check(const HeatFigure& figure);
void check(const BoxFigure& figure);
void check(const SphereFigure& figure);

// The caption, then the note on a line of its own; either may be empty.
std::string with_note(std::string_view caption, std::string_view note);

// "Not shown, having no point to draw: a, b." or nothing.
std::string not_shown(const std::vector<std::string>& names);

}  // namespace flyball::report
