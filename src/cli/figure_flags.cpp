#include "cli/figure_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/flags.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "report/print.hpp"

namespace flyball::cli {

namespace {

constexpr double px_per_inch = 96;
constexpr double mm_per_inch = 25.4;

struct Unit {
    std::string_view name;
    double pixels;
};
constexpr std::array<Unit, 5> units = {{{"mm", px_per_inch / mm_per_inch},
                                        {"cm", 10 * px_per_inch / mm_per_inch},
                                        {"in", px_per_inch},
                                        {"px", 1},
                                        {"pt", px_per_inch / 72}}};

std::vector<report::Format> formats_of(const std::vector<std::string>& texts) {
    std::vector<report::Format> formats = {report::Format::svg};
    for (const std::string& text : texts) {
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t comma = std::min(text.find(',', begin), text.size());
            const std::string word = text.substr(begin, comma - begin);
            begin = comma + 1;
            bool known = false;
            for (const report::Format format : {report::Format::svg, report::Format::pdf, report::Format::png}) {
                if (word == report::ending(format)) {
                    known = true;
                    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
                        formats.push_back(format);
                    }
                }
            }
            if (!known) {
                throw Error(ErrorKind::usage, "cli.figures", setting("figure-format", flyball::quoted(word)),
                            "svg, pdf or png, or several of them with commas between them");
            }
        }
    }
    return formats;
}

}  // namespace

double pixels_of(const std::string& flag, const std::string& text) {
    for (const Unit& unit : units) {
        if (text.ends_with(unit.name)) {
            const auto number = parse_double(text.substr(0, text.size() - unit.name.size()));
            if (number && *number > 0) {
                return *number * unit.pixels;
            }
        }
    }
    throw Error(ErrorKind::usage, "cli.figures", setting(flag, flyball::quoted(text)),
                "a positive number with its unit: mm, cm, in, px or pt",
                flag == "figure-font" ? "8pt" : "84mm is a column of many papers");
}

void FigureFlags::declare(CLI::App& app) {
    add_list(app, "--figure-format", formats,
             "write every figure also as pdf (for papers) or png; SVG is always written")
        .type_name("pdf,png");
    add_option(app, "--figure-width", width, "how wide figures are, in mm, cm, in or px (default: 560px)")
        .type_name("84mm")
        .not_empty("a number with its unit");
    add_option(app, "--figure-font", font, "how large letters in figures are, in pt or px (default: 10.5pt)")
        .type_name("8pt")
        .not_empty("a number with its unit");
    add_flag(app, "--figure-panels", panels, "draw each line in a small plot of its own, the others grey behind it");
    add_flag(app, "--no-titles", no_titles, "figures without title and caption: a paper has its own");
}

report::Sheet FigureFlags::sheet(bool written, const std::string& command) const {
    const std::string asked = arguments();
    if (!written && !asked.empty()) {
        throw Error(ErrorKind::usage, "cli." + command, fmt::format("{} and no figures to write", asked.substr(1)),
                    "a place for them", command == "theory" ? "add --plot FILE.svg" : "add --out DIR");
    }
    report::Sheet sheet;
    sheet.formats = formats_of(formats);
    sheet.titles = !no_titles;
    sheet.panels = panels;
    if (!font.empty()) {
        sheet.font_px = pixels_of("figure-font", font);
    }
    if (!width.empty()) {
        const double pixels = pixels_of("figure-width", width);
        if (width.ends_with("px")) {
            sheet.width_px = pixels;
        } else {
            sheet.width_mm = pixels * mm_per_inch / px_per_inch;
        }
    }
    report::check_sheet(sheet);
    return sheet;
}

std::string FigureFlags::arguments() const {
    std::string text;
    for (const std::string& format : formats) {
        text += " --figure-format " + format;
    }
    text += width.empty() ? "" : " --figure-width " + width;
    text += font.empty() ? "" : " --figure-font " + font;
    text += panels ? " --figure-panels" : "";
    text += no_titles ? " --no-titles" : "";
    return text;
}

}  // namespace flyball::cli
