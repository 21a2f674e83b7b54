// Moving pictures of particles: an SVG that a browser plays by itself, and its frames as PNG files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"

namespace flyball::report {

// All frames one after the other, the runs side by side at the same time; 15 frames a second, again and again. A viewer
// that does not move shows the last frame. Runs with fewer frames stay at their last one.
std::string film_svg(const SphereFigure& figure, const Sheet& sheet = {});

// One frame as a picture of its own, of the film's size.
std::string film_frame(const SphereFigure& figure, std::size_t frame, const Sheet& sheet = {});

// Writes folder/name.svg, and folder/name-0001.png and on when the sheet has PNG. Returns the names of the files.
std::vector<std::string> write_film(const std::filesystem::path& folder, std::string_view name,
                                    const SphereFigure& figure, const Sheet& sheet = {});

}  // namespace flyball::report
