#include <fmt/format.h>

#include <algorithm>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "report/checks.hpp"
#include "report/figure.hpp"
#include "report/figure_about.hpp"
#include "report/print.hpp"

namespace flyball::report {
namespace {

std::string row(std::initializer_list<double> numbers) {
    std::string out;
    for (const double number : numbers) {
        out += (out.empty() ? "" : ",") + format_double(number);
    }
    return out + '\n';
}

std::string svg_of(const LineFigure& figure, const Sheet& sheet) {
    return sheet.panels && figure.series.size() > 1 ? to_svg(in_panels(figure), sheet) : to_svg(figure, sheet);
}

template <class Figure>
std::string svg_of(const Figure& figure, const Sheet& sheet) {
    return to_svg(figure, sheet);
}

// Everything is drawn before anything is written.
template <class Figure>
std::vector<std::string> write_all(const std::filesystem::path& folder, std::string_view name, const Figure& figure,
                                   const Sheet& sheet) {
    if (name.empty() || name.front() == '.' || name.find('/') != std::string_view::npos) {
        throw Error(ErrorKind::usage, "report.write_figure", "the name " + flyball::quoted(name),
                    "a file name without a folder");
    }
    const std::string svg = with_about(svg_of(figure, sheet), about(figure));
    std::vector<std::pair<std::string, std::string>> files;
    for (const Format format : sheet.formats) {
        check_stop();
        files.emplace_back(fmt::format("{}.{}", name, ending(format)),
                           format == Format::svg ? svg : printed(svg, format, sheet));
    }
    files.emplace_back(fmt::format("{}.csv", name), to_csv(figure));
    std::vector<std::string> written;
    for (const auto& [file, content] : files) {
        check_stop();
        remove_abandoned(folder, file);
        write_file_atomically(folder / file, content);
        written.push_back(file);
    }
    return written;
}

}  // namespace

namespace {

bool has_bands(const LineFigure& figure) {
    return std::any_of(figure.series.begin(), figure.series.end(),
                       [](const Series& series) { return !series.lo.empty(); });
}

// `bands`: with columns for the edges of a band, which are empty where this line has none.
std::string rows_of(const LineFigure& figure, const std::string& prefix, bool bands) {
    std::string out;
    for (const Series& series : figure.series) {
        const std::string name = prefix + csv_cell(series.name) + ',';
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            check_stop();
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

}  // namespace

std::string to_csv(const LineFigure& figure) {
    check(figure);
    const bool bands = has_bands(figure);
    return (bands ? "series,x,y,lo,hi\n" : "series,x,y\n") + rows_of(figure, "", bands);
}

std::string to_csv(const PanelFigure& figure) {
    const bool bands = std::any_of(figure.panels.begin(), figure.panels.end(), has_bands);
    std::string out = bands ? "panel,series,x,y,lo,hi\n" : "panel,series,x,y\n";
    for (const LineFigure& panel : figure.panels) {
        check(panel);
        out += rows_of(panel, csv_cell(panel.title) + ',', bands);
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
    const bool several = figure.runs.size() > 1;
    std::string out = several ? "run,t,point,x,y,z\n" : "t,point,x,y,z\n";
    for (const SphereFigure::Run& run : figure.runs) {
        const std::string name = several ? csv_cell(run.name) + "," : "";
        for (const SphereFigure::Frame& frame : run.frames) {
            check_stop();
            const std::string t = name + format_double(frame.t);
            for (std::size_t i = 0; i < frame.points.size(); ++i) {
                const auto& p = frame.points[i];
                out += fmt::format("{},{},{}", t, i, row({p[0], p[1], p[2]}));
            }
        }
    }
    return out;
}

std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const LineFigure& figure, const Sheet& sheet) {
    return write_all(folder, name, figure, sheet);
}

std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const HeatFigure& figure, const Sheet& sheet) {
    return write_all(folder, name, figure, sheet);
}

std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const BoxFigure& figure, const Sheet& sheet) {
    return write_all(folder, name, figure, sheet);
}

std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const SphereFigure& figure, const Sheet& sheet) {
    return write_all(folder, name, figure, sheet);
}

std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const PanelFigure& figure, const Sheet& sheet) {
    return write_all(folder, name, figure, sheet);
}

}  // namespace flyball::report
