// How a command's figures look: flags that every command with figures has.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "report/figure.hpp"

namespace flyball::cli {

// --figure-format, --figure-width, --figure-font, --figure-panels, --no-titles.
struct FigureFlags {
    std::vector<std::string> formats;
    std::string width;
    std::string font;
    bool panels = false;
    bool no_titles = false;

    void declare(CLI::App& app);
    // What was asked for, checked: sizes that make a picture, and what this machine can print. SVG is always written.
    // An Error when something was asked for and `written` says that no figures are.
    report::Sheet sheet(bool written, const std::string& command) const;
    // The same flags again, for a command line: "" or " --figure-format pdf --no-titles".
    std::string arguments() const;
};

// "84mm", "8.4cm", "3.3in", "600px", "8pt": in pixels, of which an inch has 96. An Error of the flag for anything else.
double pixels_of(const std::string& flag, const std::string& text);

}  // namespace flyball::cli
