#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/utf8.hpp"
#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/curves.hpp"
#include "report/text.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

char letter_of(std::size_t series) {
    return letters[series % letters.size()];
}

struct Cell {
    std::vector<std::size_t> owners;  // series with a dot here, each once
    unsigned dots = 0;                // bits of the braille pattern
    char letter = '\0';
    std::size_t letter_owner = 0;
};

// The plot as cells, each 2 dots wide and 4 high (1 x 1 in ASCII).
struct Canvas {
    std::size_t columns, rows;
    int dots_x, dots_y;  // in a cell
    std::vector<Cell> cells;

    Canvas(std::size_t columns_, std::size_t rows_, bool ascii)
        : columns(columns_), rows(rows_), dots_x(ascii ? 1 : 2), dots_y(ascii ? 1 : 4), cells(columns_ * rows_) {}

    int width() const { return static_cast<int>(columns) * dots_x; }
    int height() const { return static_cast<int>(rows) * dots_y; }
    Cell& at(std::size_t column, std::size_t row) { return cells[row * columns + column]; }

    void set(int x, int y, std::size_t series) {
        if (x < 0 || y < 0 || x >= width() || y >= height()) {
            return;
        }
        Cell& cell = at(static_cast<std::size_t>(x / dots_x), static_cast<std::size_t>(y / dots_y));
        // U+2800 + bits: the left column of dots is 0x01 02 04 40 from the top, the right one 0x08 10 20 80.
        constexpr std::array<std::array<unsigned, 4>, 2> bits = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
        cell.dots |= bits[static_cast<std::size_t>(x % dots_x)][static_cast<std::size_t>(y % dots_y)];
        if (std::find(cell.owners.begin(), cell.owners.end(), series) == cell.owners.end()) {
            cell.owners.push_back(series);
        }
    }

    // Every dot nearest to the segment, one a step along its longer side.
    void line(Point a, Point b, std::size_t series) {
        const double steps = std::max({std::abs(b.x - a.x), std::abs(b.y - a.y), 1.0});
        const int n = static_cast<int>(std::ceil(std::min(steps, 1e5)));
        for (int i = 0; i <= n; ++i) {
            const double share = static_cast<double>(i) / n;
            set(static_cast<int>(std::lround(std::lerp(a.x, b.x, share))),
                static_cast<int>(std::lround(std::lerp(a.y, b.y, share))), series);
        }
    }
};

void draw(Canvas& canvas, const LineFigure& figure, const Ruler& x, const Ruler& y) {
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
        const Series& series = figure.series[s];
        std::optional<Point> last;
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            if (!has_point(figure, series, i)) {
                last.reset();
                continue;
            }
            const Point point{x.at(series.x[i]) * (canvas.width() - 1),
                              (1 - y.at(series.y[i])) * (canvas.height() - 1)};
            canvas.line(last.value_or(point), point, s);
            last = point;
        }
    }
}

// A letter on each line about every 24 columns, elsewhere for each series, where no other line passes if possible.
void place_letters(Canvas& canvas, std::size_t series_count) {
    const std::size_t repeats = std::max<std::size_t>(1, canvas.columns / 24);
    for (std::size_t s = 0; s < series_count; ++s) {
        for (std::size_t k = 0; k < repeats; ++k) {
            const double share =
                (static_cast<double>(k) + (static_cast<double>(s) + 0.5) / static_cast<double>(series_count)) /
                static_cast<double>(repeats);
            const double target = share * static_cast<double>(canvas.columns - 1);
            Cell* best = nullptr;
            double best_cost = 0;
            for (std::size_t i = 0; i < canvas.cells.size(); ++i) {
                Cell& cell = canvas.cells[i];
                if (cell.letter != '\0' || std::find(cell.owners.begin(), cell.owners.end(), s) == cell.owners.end()) {
                    continue;
                }
                const double away = std::abs(static_cast<double>(i % canvas.columns) - target);
                const double cost = away + (cell.owners.size() > 1 ? 30 : 0);
                if (best == nullptr || cost < best_cost) {
                    best = &cell;
                    best_cost = cost;
                }
            }
            if (best != nullptr && (k == 0 || best_cost < 12)) {
                best->letter = letter_of(s);
                best->letter_owner = s;
            }
        }
    }
}

// Text in the series' colour, if colours are wanted.
std::string painted(std::string_view text, const Series& series, std::size_t index, const TextOptions& options) {
    if (!options.colour) {
        return std::string(text);
    }
    const Colour c = parse_colour(resolved(series.style, index).colour);
    return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", c.r, c.g, c.b, text);
}

std::string braille(unsigned bits) {
    std::string out;
    append_point(out, 0x2800 + bits);
    return out;
}

std::string row_text(Canvas& canvas, std::size_t row, const LineFigure& figure, const TextOptions& options) {
    std::string out;
    std::string piece;  // of one series
    std::size_t piece_owner = 0;
    std::string spaces;
    const auto end_piece = [&] {
        if (!piece.empty()) {
            out += painted(piece, figure.series[piece_owner], piece_owner, options);
            piece.clear();
        }
    };
    for (std::size_t column = 0; column < canvas.columns; ++column) {
        const Cell& cell = canvas.at(column, row);
        if (cell.owners.empty()) {
            spaces += ' ';
            continue;
        }
        const bool lettered = cell.letter != '\0';
        // Lines that coincide take turns.
        const std::size_t owner = lettered ? cell.letter_owner : cell.owners[column % cell.owners.size()];
        if (owner != piece_owner || !spaces.empty()) {
            end_piece();
            out += std::exchange(spaces, {});
        }
        piece_owner = owner;
        piece += lettered || options.ascii ? std::string(1, letter_of(owner)) : braille(cell.dots);
    }
    end_piece();
    return out;
}

std::string shown(std::string_view text, const TextOptions& options) {
    const std::string safe = clean(text);
    return options.ascii ? to_ascii(safe) : safe;
}

std::vector<std::string> legend(const LineFigure& figure, std::size_t width, const TextOptions& options) {
    std::vector<std::string> lines;
    std::size_t used = width;
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
        const Series& series = figure.series[s];
        bool any = false;
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            any = any || has_point(figure, series, i);
        }
        const std::string name =
            shortened(shown(series.name, options) + (any ? "" : " (not shown)"), width - 4, options.ascii);
        const std::size_t size = 2 + columns(name);
        if (used + 3 + size > width) {
            lines.emplace_back("  ");
            used = 2;
        } else {
            lines.back() += "   ";
            used += 3;
        }
        lines.back() += painted(std::string(1, letter_of(s)), series, s, options) + " " + name;
        used += size;
    }
    return lines;
}

// Numbers under the x axis, centred at their ticks; those that would touch are left out, and lose their tick.
std::pair<std::string, std::string> x_axis(const Ruler& ruler, std::size_t indent, std::size_t plot_columns,
                                           std::size_t width, const TextOptions& options) {
    std::vector<bool> ticked(plot_columns, false);
    std::string numbers;
    std::size_t used = 0;
    for (const Tick& tick : ruler.ticks(std::max(2, static_cast<int>(plot_columns / 12)))) {
        const std::string label = shown(tick.label, options);
        const std::size_t size = columns(label);
        const auto column =
            static_cast<std::size_t>(std::lround(ruler.at(tick.value) * static_cast<double>(plot_columns - 1)));
        const std::size_t middle = indent + column;
        std::size_t start = middle - std::min(middle, size / 2);
        start = std::min(start, width - std::min(width, size));
        if (label.empty() || (used > 0 && start < used + 2)) {
            continue;
        }
        numbers += std::string(start - used, ' ') + label;
        used = start + size;
        ticked[std::min(column, plot_columns - 1)] = true;
    }
    std::string rule;
    for (const bool tick : ticked) {
        rule += options.ascii ? (tick ? "+" : "-") : (tick ? "┬" : "─");
    }
    return {rule, numbers};
}

}  // namespace

std::string text_plot(const LineFigure& figure, std::size_t width, std::size_t height, TextOptions options) {
    check(figure);
    width = std::max<std::size_t>(width, 24);
    height = std::max<std::size_t>(height, 8);
    const auto [x, y] = rulers(figure);
    const auto names = legend(figure, width, options);
    const std::size_t around = (figure.title.empty() ? 0 : 1) + (figure.y.label.empty() ? 0 : 1) +
                               (figure.x.label.empty() ? 0 : 1) + 2 + names.size();
    const std::size_t rows = height > around + 4 ? height - around : 4;

    const std::size_t dots = options.ascii ? 1 : 4;  // a tick stands in the row of the dots of its value
    std::vector<std::string> numbers(rows);
    std::size_t number_width = 0;
    for (const Tick& tick : y.ticks(std::max(2, static_cast<int>(rows / 3)))) {
        const auto row = static_cast<std::size_t>(
            std::lround((1 - y.at(tick.value)) * static_cast<double>(rows * dots - 1)) / static_cast<long>(dots));
        if (!tick.label.empty() && row < rows) {
            numbers[row] = shown(tick.label, options);
            number_width = std::max(number_width, columns(numbers[row]));
        }
    }
    const std::size_t indent = number_width + 3;  // space, number, space or tick, axis
    Canvas canvas(std::max<std::size_t>(width - std::min(width, indent), 10), rows, options.ascii);
    draw(canvas, figure, x, y);
    place_letters(canvas, figure.series.size());

    std::string out;
    const auto add_text = [&](std::string_view text, std::size_t column) {
        if (!text.empty()) {
            const std::string safe = shown(text, options);
            out += std::string(column, ' ') + shortened(safe, width - column, options.ascii) + '\n';
        }
    };
    add_text(figure.title, 0);
    add_text(figure.y.label, 1);
    const bool empty =
        std::all_of(canvas.cells.begin(), canvas.cells.end(), [](const Cell& c) { return c.owners.empty(); });
    for (std::size_t row = 0; row < rows; ++row) {
        const std::string& number = numbers[row];
        out += std::string(1 + number_width - columns(number), ' ') + number + ' ';
        out += options.ascii ? (number.empty() ? "|" : "+") : (number.empty() ? "│" : "┤");
        const std::string line = empty && row == rows / 2 ? std::string(canvas.columns / 2 - 4, ' ') + "no data"
                                                          : row_text(canvas, row, figure, options);
        out += line + '\n';
    }
    const auto [rule, below] = x_axis(x, indent, canvas.columns, width, options);
    out += std::string(indent - 1, ' ') + (options.ascii ? "+" : "└") + rule + '\n' + below + '\n';
    if (!figure.x.label.empty()) {
        const std::string label = shortened(shown(figure.x.label, options), canvas.columns, options.ascii);
        out +=
            std::string(indent + (canvas.columns - std::min(canvas.columns, columns(label))) / 2, ' ') + label + '\n';
    }
    for (const std::string& line : names) {
        out += line + '\n';
    }
    return out;
}

}  // namespace flyball::report
