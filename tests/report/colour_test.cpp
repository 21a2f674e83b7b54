#include "report/colour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/support.hpp"

namespace flyball::report {
namespace {

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Machado, Oliveira and Fernandes 2009, severity 1, applied to linear channels; the matrices are typed from the paper.
std::array<double, 3> as_seen(Colour colour, const std::array<std::array<double, 3>, 3>& matrix) {
    const auto linear = [](int c) { return std::pow(c / 255.0, 2.2); };
    const std::array<double, 3> in = {linear(colour.r), linear(colour.g), linear(colour.b)};
    std::array<int, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
        const double sum = matrix[i][0] * in[0] + matrix[i][1] * in[1] + matrix[i][2] * in[2];
        out[i] = static_cast<int>(std::lround(255 * std::pow(std::clamp(sum, 0.0, 1.0), 1 / 2.2)));
    }
    return oklab({out[0], out[1], out[2]});
}

TEST(HeatColour, HasEqualVisibleSteps) {
    std::vector<double> steps;
    for (int i = 0; i < 16; ++i) {
        steps.push_back(distance(oklab(heat_colour(i / 16.0)), oklab(heat_colour((i + 1) / 16.0))));
    }
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    EXPECT_GT(*least, 0.045);
    EXPECT_LT(*most / *least, 1.15);
}

TEST(HeatColour, GetsLighterAllTheWay) {
    for (int i = 0; i < 64; ++i) {
        EXPECT_LT(oklab(heat_colour(i / 64.0))[0], oklab(heat_colour((i + 1) / 64.0))[0]) << i;
    }
    EXPECT_EQ(heat_colour(-3), heat_colour(0));
    EXPECT_EQ(heat_colour(7), heat_colour(1));
}

TEST(HeatColour, TellsTenthsApartForTheColourBlind) {
    constexpr std::array<std::array<double, 3>, 3> protan = {
        {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
    constexpr std::array<std::array<double, 3>, 3> deutan = {
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
    for (const auto& matrix : {protan, deutan}) {
        for (int i = 0; i < 10; ++i) {
            EXPECT_GT(distance(as_seen(heat_colour(i / 10.0), matrix), as_seen(heat_colour((i + 1) / 10.0), matrix)),
                      0.04)
                << i;
        }
    }
}

TEST(OkLab, MatchesKnownColours) {
    EXPECT_NEAR(oklab({255, 255, 255})[0], 1, 1e-3);
    EXPECT_NEAR(oklab({0, 0, 0})[0], 0, 1e-12);
    const auto red = oklab({255, 0, 0});  // Ottosson's page: 0.628, 0.225, 0.126
    EXPECT_NEAR(red[0], 0.628, 1e-3);
    EXPECT_NEAR(red[1], 0.225, 1e-3);
    EXPECT_NEAR(red[2], 0.126, 1e-3);
}

TEST(ReadableOn, ReachesTheContrastOfWcag) {
    for (const char* const text : {"#efb118", "#97bbf5", "#4269d0", "#9c6b4e", "#ffffff", "#000000"}) {
        for (const Colour ground : {Colour{255, 255, 255}, Colour{20, 23, 28}}) {
            EXPECT_GE(contrast(readable_on(ground, parse_colour(text)), ground), 4.5) << text;
        }
    }
    EXPECT_EQ(readable_on({255, 255, 255}, {0, 0, 0}), (Colour{0, 0, 0}));
    EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
}

TEST(Resolved, ChoosesAColourOnlyWhenThereIsNone) {
    EXPECT_EQ(resolved({"#ABCDEF", "6 2"}, 3).colour, "#abcdef");
    EXPECT_NE(resolved({}, 0).colour, resolved({}, 1).colour);
    EXPECT_EQ(resolved({}, 0).colour, resolved({}, 10).colour);
    EXPECT_NE(resolved({}, 0).dash, resolved({}, 10).dash);
}

TEST(TellApart, GivesLinesOfOneColourShadesAndOfOneLookDifferentDashes) {
    std::vector<Series> series(7);
    const std::vector<Style> given = {{"#4269d0", ""}, {"#4269d0", "6 2"}, {"#efb118", ""}, {"#4269d0", ""},
                                      {"#4269d0", ""}, {"", ""},           {"", ""}};
    for (std::size_t i = 0; i < given.size(); ++i) {
        series[i].style = given[i];
    }
    tell_apart(series);
    for (const std::size_t i : {2U, 5U, 6U}) {  // alone with their colour
        EXPECT_EQ(series[i].style.colour, given[i].colour) << i;
        EXPECT_EQ(series[i].style.dash, given[i].dash) << i;
    }
    EXPECT_EQ(series[0].style.dash, "");
    EXPECT_EQ(series[1].style.dash, "6 2");
    EXPECT_EQ(series[3].style.dash, "2 2");
    EXPECT_EQ(series[4].style.dash, "8 2 2 2");
    // From dark to light, the hue that of the colour (b over a in OKLab).
    double before = 0.3;
    for (const std::size_t i : {0U, 1U, 3U, 4U}) {
        const auto lab = oklab(parse_colour(series[i].style.colour));
        EXPECT_GT(lab[0], before + 0.05) << i;
        EXPECT_LT(lab[2], -0.05) << i;
        before = lab[0];
    }
    EXPECT_LT(before, 0.85) << "it can be seen on white";
    std::vector<Series> many(20);
    for (Series& line : many) {
        line.style = {"#efb118", ""};
    }
    tell_apart(many);  // more than there are dashes: no line is lost
    EXPECT_NE(many[7].style.dash, many[6].style.dash);
    EXPECT_NE(many[18].style.colour, many[19].style.colour);
}

TEST(Resolved, RefusesWhatIsNoColourOrDash) {
    for (const char* const bad : {"red", "#12345", "#12345g", "#+1+2+3", "url(#x)", "#1234567"}) {
        EXPECT_ERROR(resolved({bad, ""}, 0), "#rrggbb");
    }
    EXPECT_ERROR(resolved({"#000000", "6\" onload=\""}, 0), "lengths");
}

}  // namespace
}  // namespace flyball::report
