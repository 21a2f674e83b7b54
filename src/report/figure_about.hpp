// What a figure's CSV does not say: title, axes, colours. It travels in the figure's SVG as <metadata>, one JSON
// object, so that the pair of files can be drawn again elsewhere (the page of `flyball report`).
//
//     {"kind": "lines", "title", "caption", "x": axis, "y": axis, "series": [{"name", "colour", "dash", "points"}]}
//     {"kind": "heat",  "title", "caption", "x": axis, "y": axis, "colour": axis}
//     {"kind": "boxes", "title", "caption", "axis": axis, "groups": [{"label", "colour"}]}
//     axis: {"label", "log", "min"?, "max"?}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"
#include "report/figure.hpp"

namespace flyball::report {

Json about(const LineFigure& figure);
Json about(const HeatFigure& figure);
Json about(const BoxFigure& figure);
Json about(const SphereFigure& figure);  // null: the page draws spheres from frames.safetensors
Json about(const PanelFigure& figure);   // null: its panels are figures of their own

// The picture with the object in it; a null leaves it as it was.
std::string with_about(std::string svg, const Json& about);

// The object in a picture; nothing where there is none, an Error where it is damaged. `what` names the file.
std::optional<Json> about_in(std::string_view svg, std::string_view what);

}  // namespace flyball::report
