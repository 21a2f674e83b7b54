// Our SVG as PDF and PNG. librsvg draws it with Cairo, so there is one way to draw a figure; both are opened at the
// first picture, and a program that never prints does without them.
#pragma once

#include <string>
#include <string_view>

#include "report/figure.hpp"

namespace flyball::report {

// "svg", "pdf", "png".
std::string_view ending(Format format);

// The bytes of a PDF of the figure's size, with text as text, or of a PNG: as wide as the sheet says in pixels, at 300
// dots an inch when it says millimetres, with two dots a pixel when it says nothing. The same figure gives the same
// bytes with the same fonts and libraries. Not for Format::svg.
std::string printed(const std::string& svg, Format format, const Sheet& sheet);

// An Error when this machine cannot print what the sheet asks for, or the sheet's sizes make no picture: before the
// work.
void check_sheet(const Sheet& sheet);

}  // namespace flyball::report
