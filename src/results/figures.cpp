// Figures that commands drew, from their two files: the numbers of NAME.csv, and what NAME.svg says of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "report/figure_about.hpp"
#include "results/parts.hpp"

namespace flyball::results {

namespace {

using Rows = std::vector<std::vector<std::string>>;

double cell_number(const std::string& cell) {
    return parse_double(cell).value_or(std::numeric_limits<double>::quiet_NaN());
}

[[noreturn]] void refuse_figure(const std::string& name, std::string_view got, std::string_view expected) {
    throw Error(ErrorKind::input, "results.figure", fmt::format("{} in {}", got, flyball::quoted(name + ".csv")),
                expected, "run the command again");
}

Json picked_json(const std::vector<double>& values, const std::vector<std::size_t>& chosen) {
    Json list = Json::array();
    for (const std::size_t i : chosen) {
        list.push_back(values[i]);
    }
    return list;
}

void fill_lines(Json& figure, const Rows& rows, const std::string& name, const Detail& detail) {
    const bool bands = rows.front().size() == 5;
    std::size_t at = 1;
    for (Json& series : figure["series"]) {
        const auto points = series.at("points").get<std::size_t>();
        if (rows.size() - at < points || rows.front().size() < 3) {
            refuse_figure(name, fmt::format("{} rows", rows.size() - 1), "as many as the picture says");
        }
        std::vector<std::vector<double>> columns(bands ? 4 : 2);
        for (std::size_t i = 0; i < points; ++i, ++at) {
            for (std::size_t k = 0; k < columns.size(); ++k) {
                columns[k].push_back(cell_number(rows[at][k + 1]));
            }
        }
        const std::vector<std::size_t> chosen = thinned(columns[1], detail.points);
        series["x"] = picked_json(columns[0], chosen);
        series["y"] = picked_json(columns[1], chosen);
        if (bands && std::any_of(columns[2].begin(), columns[2].end(), [](double v) { return std::isfinite(v); })) {
            series["lo"] = picked_json(columns[2], chosen);
            series["hi"] = picked_json(columns[3], chosen);
        }
    }
}

void fill_heat(Json& figure, const Rows& rows, const std::string& name, const Detail& detail) {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> values;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double here = cell_number(rows[i][0]);
        if (y.empty() || cell_number(rows[i][1]) != y.back()) {
            y.push_back(cell_number(rows[i][1]));
        }
        if (y.size() == 1) {
            x.push_back(here);
        }
        values.push_back(cell_number(rows[i][2]));
    }
    if (values.size() != x.size() * y.size()) {
        refuse_figure(name, fmt::format("{} cells", values.size()), fmt::format("{} x {}", x.size(), y.size()));
    }
    // Of too many cells every second, third, .. one in both directions.
    const auto step = static_cast<std::size_t>(
        std::ceil(std::sqrt(static_cast<double>(values.size()) / static_cast<double>(detail.cells))));
    const std::size_t skip = std::max<std::size_t>(1, step);
    figure["x_values"] = Json::array();
    figure["y_values"] = Json::array();
    figure["values"] = Json::array();
    for (std::size_t j = 0; j < x.size(); j += skip) {
        figure["x_values"].push_back(x[j]);
    }
    for (std::size_t i = 0; i < y.size(); i += skip) {
        figure["y_values"].push_back(y[i]);
        for (std::size_t j = 0; j < x.size(); j += skip) {
            figure["values"].push_back(values[i * x.size() + j]);
        }
    }
}

// Minimum, quartiles and maximum; of values, by linear interpolation between order statistics.
std::vector<double> five_numbers(std::vector<double> values) {
    std::vector<double> five(5, std::numeric_limits<double>::quiet_NaN());
    std::sort(values.begin(), values.end());
    for (std::size_t k = 0; k < five.size() && !values.empty(); ++k) {
        const double place = 0.25 * static_cast<double>(k) * static_cast<double>(values.size() - 1);
        const auto i = static_cast<std::size_t>(place);
        const double next = values[std::min(i + 1, values.size() - 1)];
        five[k] = values[i] + (place - static_cast<double>(i)) * (next - values[i]);
    }
    return five;
}

// Of the values those that the axis can show, as in the picture.
void fill_boxes(Json& figure, const Rows& rows) {
    const bool log = figure.at("axis").at("log").get<bool>();
    const std::vector<std::string> kinds = {"min", "lower", "median", "upper", "max"};
    for (Json& group : figure["groups"]) {
        std::vector<double> values;
        std::vector<double> five(5, std::numeric_limits<double>::quiet_NaN());
        bool is_five = false;
        group["marks"] = Json::array();
        for (std::size_t i = 1; i < rows.size(); ++i) {
            if (rows[i][0] != group.at("label").get<std::string>()) {
                continue;
            }
            const double value = cell_number(rows[i][2]);
            const auto kind = std::find(kinds.begin(), kinds.end(), rows[i][1]);
            if (kind != kinds.end()) {
                five[static_cast<std::size_t>(kind - kinds.begin())] = value;
                is_five = true;
            } else if (rows[i][1] == "value") {
                values.push_back(value);
            } else {
                group["marks"].push_back({{"label", rows[i][1]}, {"value", value}});
            }
        }
        std::erase_if(values, [log](double v) { return !std::isfinite(v) || (log && v <= 0); });
        group["count"] = values.size();
        group["five"] = is_five ? five : five_numbers(values);
    }
}

// What the picture says of itself; null where it says nothing, or the page has its own of these.
Json picture_of(const Reader& reader, const std::string& name) {
    std::optional<Json> figure = report::about_in(reader.text(name + ".svg"), name + ".svg");
    if (!figure) {
        return nullptr;
    }
    const std::string kind = figure->at("kind");
    return kind == "spheres" || kind == "circles" || kind == "panels" ? Json() : *figure;
}

void fill(Json& figure, const Reader& reader, const std::string& name) {
    const Rows rows = parse_csv(reader.text(name + ".csv"), name + ".csv");
    const std::string kind = figure.at("kind");
    const std::size_t columns = rows.empty() ? 0 : rows.front().size();
    if (columns != 3 && !(kind == "lines" && columns == 5)) {
        refuse_figure(name, fmt::format("{} columns", columns), "those of a figure");
    }
    figure["name"] = name;
    if (kind == "lines") {
        fill_lines(figure, rows, name, reader.detail());
    } else if (kind == "heat") {
        fill_heat(figure, rows, name, reader.detail());
    } else if (kind == "boxes") {
        fill_boxes(figure, rows);
    } else {
        refuse_figure(name, "a picture of another kind", "lines, a heat map or boxes");
    }
}

}  // namespace

void add_figure(Reader& reader, const std::string& name, Json& drawn) {
    Json figure;
    reader.attempt(name + ".svg", [&] { figure = picture_of(reader, name); });
    if (!figure.is_null()) {
        reader.attempt(name + ".csv", [&] {
            fill(figure, reader, name);
            drawn.push_back(std::move(figure));
        });
    }
}

}  // namespace flyball::results
