#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/colour.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

struct Theme {
    std::string_view name, light, dark;
};
// In the order of Ink.
constexpr std::array<Theme, 5> theme = {{{"ink", "#1f2328", "#e6e9ee"},
                                         {"muted", "#656d78", "#9aa4b2"},
                                         {"axis", "#8b949e", "#6b7482"},
                                         {"grid", "#e7e9ed", "#2b313a"},
                                         {"paper", "#ffffff", "#14171c"}}};
constexpr double title_size = 16;
constexpr double title_line = 21;
constexpr double caption_line = 17;
constexpr double px_per_mm = 96 / 25.4;
constexpr std::string_view fonts = "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif";

const Theme& of(Ink ink) {
    return theme[static_cast<std::size_t>(ink)];
}

std::string_view name(Anchor anchor) {
    return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

// Widths of a rather wide sans-serif, in units of the font size.
double character_width(std::string_view character) {
    if (superscript_value(character) != '\0') {
        return 0.46;
    }
    if (character.size() > 1) {
        return columns(character) == 0 ? 0 : 0.66;
    }
    const char c = character[0];
    constexpr std::string_view narrow = "ijlI.,:;|!'()[]ft/ r\"{}-";
    constexpr std::string_view wide = "mwMW@%";
    if (narrow.find(c) != std::string_view::npos) {
        return 0.37;
    }
    if (wide.find(c) != std::string_view::npos) {
        return 0.97;
    }
    return c >= 'A' && c <= 'Z' ? 0.70 : 0.62;
}

// Escaped, with runs of superscripts raised.
std::string markup(std::string_view text, double size) {
    std::string out;
    const std::string safe = clean(text);
    std::string raised;
    const auto close = [&](bool more) {
        if (!raised.empty()) {
            const double lift = 0.38 * size;
            out += fmt::format("<tspan dy=\"{}\" font-size=\"{}\">{}</tspan>", px(-lift), px(0.74 * size), raised);
            // The way back down needs a character to carry it.
            out += more ? fmt::format("<tspan dy=\"{}\">\u200B</tspan>", px(lift)) : std::string();
            raised.clear();
        }
    };
    for (const auto character : characters(safe)) {
        const char power = superscript_value(character);
        if (power != '\0') {
            raised += power == '-' ? std::string("−") : std::string(1, power);
        } else {
            close(true);
            out += escape(character);
        }
    }
    close(false);
    return out;
}

std::string style_sheet(const std::vector<std::string>& text_colours) {
    std::string light;
    std::string dark;
    std::string rules;
    for (const Theme& ink : theme) {
        light += fmt::format("--{}:{};", ink.name, ink.light);
        dark += fmt::format("--{}:{};", ink.name, ink.dark);
        rules += fmt::format(".flyball .f-{0}{{fill:var(--{0})}}.flyball .s-{0}{{stroke:var(--{0})}}\n", ink.name);
    }
    std::string series;
    const Colour ground = parse_colour(of(Ink::paper).dark);
    for (const std::string& colour : text_colours) {
        series += fmt::format(".flyball .t-{}{{fill:{}}}", colour.substr(1),
                              to_hex(readable_on(ground, parse_colour(colour))));
    }
    return fmt::format("<style>\n.flyball{{{}}}\n{}@media (prefers-color-scheme:dark){{.flyball{{{}}}{}}}\n</style>\n",
                       light, rules, dark, series);
}

}  // namespace

std::string px(double value) {
    std::string out = fmt::format("{:.2f}", value);
    while (out.back() == '0') {
        out.pop_back();
    }
    if (out.back() == '.') {
        out.pop_back();
    }
    return out == "-0" ? "0" : out;
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : clean(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string unescaped(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}}};
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t taken = 1;
        char c = text[i];
        for (const auto& [entity, meaning] : entities) {
            if (text.substr(i, entity.size()) == entity) {
                taken = entity.size();
                c = meaning;
                break;
            }
        }
        out += c;
        i += taken;
    }
    return out;
}

double text_width(std::string_view text, double size) {
    double width = 0;
    for (const auto character : characters(text)) {
        width += character_width(character);
    }
    return width * size;
}

std::vector<std::string> wrapped(std::string_view text, double width, double size) {
    std::vector<std::string> lines;
    std::string line;
    std::string word;
    const auto end_word = [&] {
        if (!line.empty() && text_width(line + " " + word, size) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        if (!word.empty()) {
            line += line.empty() ? word : " " + word;
        }
        word.clear();
    };
    const std::string safe = clean(text, true);
    for (const auto character : characters(safe)) {
        if (character == "\n") {
            end_word();
            lines.push_back(std::move(line));
            line.clear();
        } else if (character == " ") {
            end_word();
        } else {
            if (text_width(word, size) + character_width(character) * size > width) {
                end_word();
            }
            word += character;
        }
    }
    end_word();
    if (!line.empty()) {
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string fitted(std::string_view text, double width, double size) {
    std::string safe = clean(text);
    if (text_width(safe, size) <= width) {
        return safe;
    }
    const auto all = characters(safe);
    std::string out;
    double used = character_width("…") * size;
    for (const auto character : all) {
        used += character_width(character) * size;
        if (used > width) {
            break;
        }
        out += character;
    }
    return out + "…";
}

double Page::width_on(const Sheet& sheet) {
    const double pixels = sheet.width_mm ? *sheet.width_mm * px_per_mm : sheet.width_px.value_or(Sheet::usual_width);
    // Without a width, larger letters make a larger figure.
    return sheet.width_mm || sheet.width_px ? pixels * Sheet::usual_font / sheet.font_px : pixels;
}

Page::Page(const Sheet& sheet, std::string_view title, std::string_view description)
    : sheet_(sheet),
      width_(width_on(sheet)),
      title_(clean(title)),
      description_(clean(description)),
      title_lines_(sheet.titles ? wrapped(title_, width_ - 2 * margin, title_size * 1.06) : std::vector<std::string>()),
      top_(margin + title_line * static_cast<double>(title_lines_.size())) {}

void Page::open_lines(Ink ink, double stroke_width) {
    body_ += fmt::format("<g class=\"s-{}\" stroke=\"{}\" stroke-width=\"{}\" fill=\"none\">\n", of(ink).name,
                         of(ink).light, px(stroke_width));
}

std::string Page::fill(Ink ink) {
    return fmt::format("class=\"f-{}\" fill=\"{}\"", of(ink).name, of(ink).light);
}

void Page::text(double x, double y, std::string_view text, Ink ink, Anchor anchor, double size) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" {} text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", px(x), px(y),
                         fill(ink), name(anchor), px(size), markup(text, size));
}

void Page::text(double x, double y, std::string_view text, std::string_view colour, Anchor anchor, double size) {
    const Colour parsed = parse_colour(colour);
    const std::string hex = to_hex(parsed);
    if (std::find(text_colours_.begin(), text_colours_.end(), hex) == text_colours_.end()) {
        text_colours_.push_back(hex);
    }
    const std::string light = to_hex(readable_on(parse_colour(of(Ink::paper).light), parsed));
    body_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" class=\"t-{}\" fill=\"{}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", px(x),
        px(y), hex.substr(1), light, name(anchor), px(size), markup(text, size));
}

std::string Page::opening(const Sheet& sheet, double height, std::string_view title, std::string_view description,
                          std::string_view style) {
    const double width = width_on(sheet);
    const double scale = sheet.font_px / Sheet::usual_font / (sheet.width_mm ? px_per_mm : 1);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flyball\" role=\"img\" width=\"{0}{2}\" "
        "height=\"{1}{2}\" viewBox=\"0 0 {3} {4}\" font-family=\"{5}\">\n<title>{6}</title>\n<desc>{7}</desc>\n{8}"
        "<rect {9} width=\"{3}\" height=\"{4}\"/>\n",
        px(width * scale), px(height * scale), sheet.width_mm ? "mm" : "", px(width), px(height), fonts, escape(title),
        escape(description), style, fill(Ink::paper));
}

std::string Page::finish(double bottom, std::string_view caption) const {
    const auto lines = sheet_.titles ? wrapped(caption, width_ - 2 * margin, tick_size) : std::vector<std::string>();
    Page frame(sheet_, {}, {});
    for (std::size_t i = 0; i < title_lines_.size(); ++i) {
        frame.body_ += fmt::format("<text x=\"{}\" y=\"{}\" {} font-size=\"{}\" font-weight=\"600\">{}</text>\n",
                                   px(margin), px(margin + 13 + title_line * static_cast<double>(i)), fill(Ink::strong),
                                   px(title_size), markup(title_lines_[i], title_size));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        frame.text(margin, bottom + 18 + caption_line * static_cast<double>(i), lines[i], Ink::muted, Anchor::start,
                   tick_size);
    }
    const double height =
        std::ceil(bottom + (lines.empty() ? 0 : 8 + caption_line * static_cast<double>(lines.size())) + 12);
    // What is not drawn is still said.
    const std::string about = sheet_.titles || caption.empty() ? description_ : description_ + " " + clean(caption);
    return opening(sheet_, height, title_, about, style_sheet(text_colours_)) + body_ + frame.body_ + "</svg>\n";
}

}  // namespace flyball::report
