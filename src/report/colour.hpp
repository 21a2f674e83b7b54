// Colours: our own series colours, text that stays readable on either background, and the map of the heat figures.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "report/figure.hpp"

namespace flyball::report {

struct Colour {
    int r = 0, g = 0, b = 0;  // 0 .. 255

    bool operator==(const Colour&) const = default;
};

// "#rrggbb"; anything else is an Error.
Colour parse_colour(std::string_view text);
std::string to_hex(Colour colour);

// Lightness, green-red, blue-yellow of Ottosson's OKLab, in which distances are about as large as they look.
std::array<double, 3> oklab(Colour colour);

// WCAG's contrast ratio, 1 .. 21.
double contrast(Colour a, Colour b);

// The colour itself, or as much darker (lighter on a dark ground) as a contrast of 4.5 takes.
Colour readable_on(Colour ground, Colour colour);

// The style to draw with: checked, and with a colour of ours when it has none. `index` chooses it; after all colours
// are used they come again dashed.
Style resolved(const Style& style, std::size_t index);

// From dark blue over green to light yellow in equal visible steps, lighter all the way, so it reads in grey and with
// every common colour blindness. `share` is clamped to 0 .. 1.
Colour heat_colour(double share);

// The same around a boundary: blue at 0, white-grey at 1/2, orange-brown at 1, equally dark at both ends.
Colour side_colour(double share);

}  // namespace flyball::report
