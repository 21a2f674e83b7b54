#include "report/colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "core/error.hpp"

namespace flyball::report {
namespace {

constexpr std::array<std::string_view, 10> palette = {"#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
                                                      "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0"};
constexpr std::array<std::string_view, 4> dashes = {"", "6 2", "2 2", "8 2 2 2"};

double to_linear(int channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double from_linear(double c) {
    return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

using Triple = std::array<double, 3>;

// B. Ottosson, "A perceptual color space for image processing", 2020; sRGB channels in 0 .. 1, outside when the
// colour cannot be shown.
Triple srgb_of(const Triple& lab) {
    const auto cube = [](double v) { return v * v * v; };
    const double l = cube(lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2]);
    const double m = cube(lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2]);
    const double s = cube(lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2]);
    return {from_linear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            from_linear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            from_linear(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Colour rounded(const Triple& srgb) {
    const auto channel = [](double c) { return static_cast<int>(std::lround(std::clamp(c, 0.0, 1.0) * 255)); };
    return {channel(srgb[0]), channel(srgb[1]), channel(srgb[2])};
}

// The path of the heat map: lightness rises evenly, the hue turns from blue over green to yellow. The chroma is a
// smooth curve below what a screen can show on the way (least, 0.100, in the blue-green at 0.45): at the limit itself
// there would be kinks, which show as lines that are not in the data.
Triple heat_path(double share) {
    const double lightness = 0.24 + 0.70 * share;
    const double hue = (292 - 187 * std::pow(share, 1.15)) * std::numbers::pi / 180;
    const double from_waist = share - 0.45;
    const double chroma = 0.097 + (from_waist < 0 ? 0.15 : 0.22) * from_waist * from_waist;
    return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

double distance(const Triple& a, const Triple& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

constexpr std::size_t heat_colours = 256;

// Equal steps along the path as it looks: sampled finely, then read off at equal lengths.
std::array<Colour, heat_colours> make_heat_table() {
    constexpr std::size_t fine = 1024;
    std::array<Triple, fine + 1> path{};
    std::array<double, fine + 1> length{};
    for (std::size_t i = 0; i <= fine; ++i) {
        path[i] = heat_path(static_cast<double>(i) / fine);
        length[i] = i == 0 ? 0 : length[i - 1] + distance(path[i], path[i - 1]);
    }
    std::array<Colour, heat_colours> table{};
    std::size_t i = 0;
    for (std::size_t k = 0; k < heat_colours; ++k) {
        const double wanted = length[fine] * static_cast<double>(k) / (heat_colours - 1);
        while (i < fine && length[i] < wanted) {
            ++i;
        }
        table[k] = rounded(srgb_of(path[i]));
    }
    return table;
}

// The i-th of n from dark to light, none of them too light for white paper or too dark for black.
Colour shade(Colour colour, std::size_t i, std::size_t n) {
    constexpr double darkest = 0.36;
    constexpr double lightest = 0.80;
    const Triple lab = oklab(colour);
    const double range = std::min(lightest - darkest, 0.2 * static_cast<double>(n - 1));
    const double first = std::clamp(lab[0] - range / 2, darkest, lightest - range);
    const double lightness = first + range * static_cast<double>(i) / static_cast<double>(n - 1);
    return rounded(srgb_of({lightness, lab[1], lab[2]}));
}

bool is_dash(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || c == ' ' || c == '.' || c == ','; });
}

}  // namespace

Colour parse_colour(std::string_view text) {
    const auto channel = [&](std::size_t at) {
        int value = -1;
        const char* const end = text.data() + at + 2;
        const auto [stop, error] = std::from_chars(text.data() + at, end, value, 16);
        return error == std::errc() && stop == end ? value : -1;
    };
    Colour out;
    if (text.size() == 7 && text[0] == '#') {
        out = {channel(1), channel(3), channel(5)};
    }
    if (text.size() != 7 || text[0] != '#' || out.r < 0 || out.g < 0 || out.b < 0) {
        throw Error(ErrorKind::usage, "report.colour", "the colour " + flyball::quoted(text), "#rrggbb");
    }
    return out;
}

std::string to_hex(Colour colour) {
    return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

std::array<double, 3> oklab(Colour colour) {
    const double r = to_linear(colour.r);
    const double g = to_linear(colour.g);
    const double b = to_linear(colour.b);
    const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double contrast(Colour a, Colour b) {
    const auto luminance = [](Colour c) {
        return 0.2126 * to_linear(c.r) + 0.7152 * to_linear(c.g) + 0.0722 * to_linear(c.b) + 0.05;
    };
    const double first = luminance(a);
    const double second = luminance(b);
    return std::max(first, second) / std::min(first, second);
}

Colour readable_on(Colour ground, Colour colour) {
    Triple lab = oklab(colour);
    const double step = oklab(ground)[0] > 0.5 ? -0.01 : 0.01;
    Colour out = colour;
    for (int i = 0; i < 100 && contrast(out, ground) < 4.5; ++i) {
        lab[0] += step;
        out = rounded(srgb_of(lab));
    }
    return out;
}

void tell_apart(std::vector<Series>& series) {
    constexpr std::array<std::string_view, 8> more = {"",     "6 2", "2 2",          "8 2 2 2",
                                                      "12 3", "1 4", "12 3 2 3 2 3", "4 6"};
    std::map<std::string, std::vector<Series*>> by_colour;
    for (auto line = series.begin(); line != series.end(); ++line) {
        if (line->style.colour.empty()) {
            continue;
        }
        by_colour[line->style.colour].push_back(&*line);
        const auto is_taken = [&](std::string_view dash) {
            return std::any_of(series.begin(), line, [&](const Series& other) {
                return other.style.colour == line->style.colour && other.style.dash == dash;
            });
        };
        if (!is_taken(line->style.dash)) {
            continue;
        }
        const auto free =
            std::find_if(more.begin(), more.end(), [&](std::string_view dash) { return !is_taken(dash); });
        line->style.dash = free == more.end() ? line->style.dash : std::string(*free);
    }
    for (const auto& [colour, lines] : by_colour) {
        for (std::size_t i = 0; lines.size() > 1 && i < lines.size(); ++i) {
            lines[i]->style.colour = to_hex(shade(parse_colour(colour), i, lines.size()));
        }
    }
}

Style resolved(const Style& style, std::size_t index) {
    Style out = style;
    if (out.colour.empty()) {
        out.colour = palette[index % palette.size()];
        if (out.dash.empty()) {
            out.dash = dashes[index / palette.size() % dashes.size()];
        }
    }
    out.colour = to_hex(parse_colour(out.colour));
    if (!is_dash(out.dash)) {
        throw Error(ErrorKind::usage, "report.style", "the dash " + flyball::quoted(out.dash),
                    "lengths such as \"6 2\"");
    }
    return out;
}

Colour heat_colour(double share) {
    static const auto table = make_heat_table();
    const double clamped = std::clamp(std::isnan(share) ? 0 : share, 0.0, 1.0);
    return table[static_cast<std::size_t>(std::lround(clamped * (heat_colours - 1)))];
}

Colour side_colour(double share) {
    const double clamped = std::clamp(std::isnan(share) ? 0.5 : share, 0.0, 1.0);
    const double away = 2 * clamped - 1;  // -1 .. 1
    const double hue = (away < 0 ? 255 : 55) * std::numbers::pi / 180;
    const double lightness = 0.96 - 0.52 * std::abs(away);
    const double chroma = 0.115 * std::abs(away);
    return rounded(srgb_of({lightness, chroma * std::cos(hue), chroma * std::sin(hue)}));
}

}  // namespace flyball::report
