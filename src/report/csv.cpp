#include <fmt/format.h>

#include <algorithm>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "report/checks.hpp"
#include "report/figure.hpp"
#include "report/figure_about.hpp"

namespace flyball::report {
namespace {

std::string row(std::initializer_list<double> numbers) {
    std::string out;
    for (const double number : numbers) {
        out += (out.empty() ? "" : ",") + format_double(number);
    }
    return out + '\n';
}

template <class Figure>
void write_both(const std::filesystem::path& folder, std::string_view name, const Figure& figure) {
    if (name.empty() || name.front() == '.' || name.find('/') != std::string_view::npos) {
        throw Error(ErrorKind::usage, "report.write_figure", "the name " + flyball::quoted(name),
                    "a file name without a folder");
    }
    const std::string svg = with_about(to_svg(figure), about(figure));
    for (const char* const kind : {".csv", ".svg"}) {
        remove_abandoned(folder, std::string(name) + kind);
    }
    write_file_atomically(folder / (std::string(name) + ".csv"), to_csv(figure));
    write_file_atomically(folder / (std::string(name) + ".svg"), svg);
}

}  // namespace

std::string to_csv(const LineFigure& figure) {
    check(figure);
    const bool bands = std::any_of(figure.series.begin(), figure.series.end(),
                                   [](const Series& series) { return !series.lo.empty(); });
    std::string out = bands ? "series,x,y,lo,hi\n" : "series,x,y\n";
    for (const Series& series : figure.series) {
        const std::string name = csv_cell(series.name) + ',';
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            out += name;
            if (!series.lo.empty()) {
                out += row({series.x[i], series.y[i], series.lo[i], series.hi[i]});
            } else {
                const std::string numbers = row({series.x[i], series.y[i]});
                out += bands ? numbers.substr(0, numbers.size() - 1) + ",,\n" : numbers;
            }
        }
    }
    return out;
}

std::string to_csv(const PanelFigure& figure) {
    std::string out = "panel,series,x,y\n";
    for (const LineFigure& panel : figure.panels) {
        check(panel);
        for (const Series& series : panel.series) {
            for (std::size_t i = 0; i < series.x.size(); ++i) {
                out += csv_cell(panel.title) + ',' + csv_cell(series.name) + ',' + row({series.x[i], series.y[i]});
            }
        }
    }
    return out;
}

std::string to_csv(const HeatFigure& figure) {
    check(figure);
    std::string out = "x,y,value\n";
    const std::size_t n = figure.x_values.size();
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
        out += row({figure.x_values[i % n], figure.y_values[i / n], figure.values[i]});
    }
    return out;
}

std::string to_csv(const BoxFigure& figure) {
    check(figure);
    constexpr std::array<std::string_view, 5> kinds = {"min", "lower", "median", "upper", "max"};
    std::string out = "group,kind,value\n";
    for (const BoxFigure::Group& group : figure.groups) {
        const std::string label = csv_cell(group.label) + ',';
        for (const double value : group.values) {
            out += label + "value," + row({value});
        }
        for (std::size_t i = 0; group.five && i < kinds.size(); ++i) {
            out += label + std::string(kinds[i]) + ',' + row({(*group.five)[i]});
        }
        for (const BoxFigure::Mark& mark : group.marks) {
            out += label + csv_cell(mark.label) + ',' + row({mark.value});
        }
    }
    return out;
}

std::string to_csv(const SphereFigure& figure) {
    std::string out = "t,point,x,y,z\n";
    for (const SphereFigure::Frame& frame : figure.frames) {
        const std::string t = format_double(frame.t);
        for (std::size_t i = 0; i < frame.points.size(); ++i) {
            const auto& p = frame.points[i];
            out += fmt::format("{},{},{}", t, i, row({p[0], p[1], p[2]}));
        }
    }
    return out;
}

void write_figure(const std::filesystem::path& folder, std::string_view name, const LineFigure& figure) {
    write_both(folder, name, figure);
}

void write_figure(const std::filesystem::path& folder, std::string_view name, const HeatFigure& figure) {
    write_both(folder, name, figure);
}

void write_figure(const std::filesystem::path& folder, std::string_view name, const BoxFigure& figure) {
    write_both(folder, name, figure);
}

void write_figure(const std::filesystem::path& folder, std::string_view name, const SphereFigure& figure) {
    write_both(folder, name, figure);
}

void write_figure(const std::filesystem::path& folder, std::string_view name, const PanelFigure& figure) {
    write_both(folder, name, figure);
}

}  // namespace flyball::report
