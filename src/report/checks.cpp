#include "report/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/error.hpp"
#include "report/colour.hpp"
#include "report/ruler.hpp"

namespace flyball::report {
namespace {

void require(bool condition, std::string_view where, const std::string& got, std::string_view expected) {
    if (!condition) {
        throw Error(ErrorKind::usage, where, got, expected);
    }
}

void check_centres(const std::vector<double>& centres, Scale scale, std::string_view name) {
    const bool falls = centres.size() > 1 && centres[1] < centres[0];
    for (std::size_t i = 0; i < centres.size(); ++i) {
        require(drawable(scale, centres[i]), "report.heat", fmt::format("{}[{}] = {}", name, i, centres[i]),
                scale == Scale::log ? "a positive number on a log axis" : "a finite number");
        require(i == 0 || (falls ? centres[i] < centres[i - 1] : centres[i] > centres[i - 1]), "report.heat",
                fmt::format("{}[{}] = {} after {}", name, i, centres[i], i == 0 ? 0 : centres[i - 1]),
                "centres that strictly increase or strictly decrease");
    }
}

}  // namespace

void check(const LineFigure& figure) {
    for (const Series& series : figure.series) {
        require(series.x.size() == series.y.size(), "report.line",
                fmt::format("{} x and {} y in the series {}", series.x.size(), series.y.size(),
                            flyball::quoted(series.name)),
                "as many of each");
        const bool no_band = series.lo.empty() && series.hi.empty();
        require(no_band || (series.lo.size() == series.y.size() && series.hi.size() == series.y.size()), "report.line",
                fmt::format("{} lo, {} hi and {} y in the series {}", series.lo.size(), series.hi.size(),
                            series.y.size(), flyball::quoted(series.name)),
                "a band as long as its line");
        resolved(series.style, 0);
    }
}

void check(const HeatFigure& figure) {
    require(figure.values.size() == figure.x_values.size() * figure.y_values.size(), "report.heat",
            fmt::format("{} values for {} columns and {} rows", figure.values.size(), figure.x_values.size(),
                        figure.y_values.size()),
            "one a cell");
    check_centres(figure.x_values, figure.x.scale, "x_values");
    check_centres(figure.y_values, figure.y.scale, "y_values");
    require(!figure.centre || drawable(figure.colour.scale, *figure.centre), "report.heat",
            fmt::format("the centre {}", figure.centre.value_or(0)),
            figure.colour.scale == Scale::log ? "a positive number on a log scale" : "a finite number");
}

void check(const BoxFigure& figure) {
    for (const BoxFigure::Group& group : figure.groups) {
        require(group.values.empty() || !group.five, "report.box",
                "values and five numbers in the group " + flyball::quoted(group.label), "one of them");
        for (std::size_t i = 1; group.five && i < 5; ++i) {
            require(!((*group.five)[i] < (*group.five)[i - 1]), "report.box",
                    fmt::format("{} after {} in the group {}", (*group.five)[i], (*group.five)[i - 1],
                                flyball::quoted(group.label)),
                    "minimum, lower quartile, median, upper quartile, maximum");
        }
        resolved(group.style, 0);
    }
}

void check(const SphereFigure& figure) {
    for (const SphereFigure::Run& run : figure.runs) {
        resolved({run.colour, {}}, 0);
    }
}

std::string with_note(std::string_view caption, std::string_view note) {
    std::string out(caption);
    if (!out.empty() && !note.empty() && !out.ends_with('\n')) {
        out += '\n';
    }
    return out.append(note);
}

std::string not_shown(const std::vector<std::string>& names) {
    return names.empty() ? std::string()
                         : fmt::format("Not shown, having no point to draw: {}.", fmt::join(names, ", "));
}

}  // namespace flyball::report
