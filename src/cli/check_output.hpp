// What `flyball check` shows: a report for a terminal and a page of figures.
#pragma once

#include <string>

#include "check/preflight.hpp"
#include "report/figure.hpp"

namespace flyball::cli {

std::string check_text(const check::PreflightReport& report);

// Streams and gradients of fresh models over depth, and the losses of the short runs; yardsticks beside the blocks.
report::PanelFigure check_page(const check::PreflightReport& report);

}  // namespace flyball::cli
