// Sheets, PDF, PNG and films.
#include "report/print.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <filesystem>

#include "core/file.hpp"
#include "core/support.hpp"
#include "report/figure_about.hpp"
#include "report/film.hpp"
#include "report/support.hpp"
#include "report/svg.hpp"

namespace flyball::report {
namespace {

using test::expect_sound;
using test::has;
using test::line;
using test::matches;
using test::numbers;

LineFigure plain() {
    LineFigure figure{"A title", {"inverse temperature β", {}, {}, {}}, {"θ", {}, {}, {}}, {}, "a caption"};
    figure.series = {line("one", {0, 1}, {0, 1}), line("two", {0, 1}, {1, 3})};
    return figure;
}

double big_endian(const std::string& bytes, std::size_t at) {
    double value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = 256 * value + static_cast<unsigned char>(bytes.at(at + i));
    }
    return value;
}
// Of the header of a PNG.
double png_width(const std::string& bytes) {
    return big_endian(bytes, 16);
}

// The checksum of PNG, bit by bit (ISO 3309): the remainder by x^32 + x^26 + .. + 1, bits reversed.
std::uint32_t checksum(std::string_view bytes) {
    std::uint32_t rest = 0xffffffffU;
    for (const char byte : bytes) {
        rest ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0xedb88320U : 0U);
        }
    }
    return ~rest;
}

TEST(Png, HasTheColoursOfThePictureOnWhitePaper) {
    const std::string svg =
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><rect width="1" height="2" fill="#102030"/>)"
        R"(<rect x="1" width="1" height="1" fill="#ff8001"/><rect x="2" width="1" height="2" fill="#000000" fill-opacity="0.2"/></svg>)";
    Sheet sheet;
    sheet.width_px = 3;
    const std::string bytes = printed(svg, Format::png, sheet);
    ASSERT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
    std::string packed;
    for (std::size_t at = 8; at < bytes.size();) {
        const auto length = static_cast<std::size_t>(big_endian(bytes, at));
        EXPECT_EQ(big_endian(bytes, at + 8 + length), checksum(std::string_view(bytes).substr(at + 4, 4 + length)));
        packed += bytes.substr(at + 4, 4) == "IDAT" ? bytes.substr(at + 8, length) : std::string();
        at += 12 + length;
    }
    EXPECT_EQ(png_width(bytes), 3);
    EXPECT_EQ(big_endian(bytes, 20), 2);
    void* const zlib = dlopen("libz.so.1", RTLD_NOW);
    ASSERT_NE(zlib, nullptr);
    const auto unpack = reinterpret_cast<decltype(&uncompress)>(dlsym(zlib, "uncompress"));
    std::vector<unsigned char> rows(100);
    uLongf size = rows.size();
    ASSERT_EQ(unpack(rows.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()), Z_OK);
    rows.resize(size);
    // 0.2 of black on white is 255 - 51.
    EXPECT_EQ(rows, (std::vector<unsigned char>{0, 0x10, 0x20, 0x30, 0xff, 0x80, 0x01, 204, 204, 204,  //
                                                0, 0x10, 0x20, 0x30, 0xff, 0xff, 0xff, 204, 204, 204}));
}

TEST(Sheet, AColumnOfAPaperHasItsWidthAndItsLetters) {
    Sheet sheet;
    sheet.width_mm = 84;
    sheet.font_px = 8 * 96.0 / 72;  // 8 points
    const std::string svg = to_svg(plain(), sheet);
    expect_sound(svg);
    EXPECT_EQ(numbers(matches(svg, "role=\"img\" width=\"([0-9.]+)mm\"")).at(0), 84);
    // A label is 14 units high; so many millimetres a unit make 8 points.
    const double units = numbers(matches(svg, "viewBox=\"0 0 ([0-9.]+) ")).at(0);
    EXPECT_NEAR(14 * 84 / units, 8 * 25.4 / 72, 1e-3);
    for (const double x : numbers(matches(svg, "<text x=\"([0-9.]+)\""))) {
        EXPECT_LT(x, units);
    }
    Sheet larger;
    larger.font_px = 28;  // nothing said of the width: all of it is twice as large
    EXPECT_EQ(numbers(matches(to_svg(plain(), larger), "role=\"img\" width=\"([0-9.]+)\"")).at(0), 1120);
    larger.width_px = 700;  // a width that was given stays, and the letters are as large
    const std::string given = to_svg(plain(), larger);
    EXPECT_EQ(numbers(matches(given, "role=\"img\" width=\"([0-9.]+)\"")).at(0), 700);
    EXPECT_NEAR(14 * 700 / numbers(matches(given, "viewBox=\"0 0 ([0-9.]+) ")).at(0), 28, 1e-3);
}

TEST(Sheet, WithoutTitlesTheWordsAreOnlyInTheDescription) {
    Sheet sheet;
    sheet.titles = false;
    for (const std::string& svg : {to_svg(plain(), sheet), to_svg(in_panels(plain()), sheet)}) {
        expect_sound(svg);
        EXPECT_FALSE(has(svg, ">A title</text>"));
        EXPECT_FALSE(has(svg, ">a caption</text>"));
        EXPECT_TRUE(has(svg, "<title>A title</title>"));
        EXPECT_TRUE(has(svg, "a caption</desc>"));
    }
    EXPECT_TRUE(has(to_svg(in_panels(plain()), sheet), ">two</text>")) << "panels are named";
    EXPECT_TRUE(has(to_svg(plain()), ">A title</text>"));
    EXPECT_TRUE(has(to_svg(plain(), sheet), "<desc>Lines of ")) << "the caption comes after what is drawn";
}

TEST(Sheet, RefusesSizesThatMakeNoPicture) {
    Sheet sheet;
    sheet.width_mm = 20;
    EXPECT_ERROR(check_sheet(sheet), "figure-width = 20mm, expected at least 53mm or 200px for letters of 10.5 points");
    sheet.font_px = 28;  // twice as large: twice the room
    EXPECT_ERROR(check_sheet(sheet), "at least 106mm or 400px for letters of 21 points");
    sheet.font_px = 4;
    EXPECT_NO_THROW(check_sheet(sheet));
    sheet.font_px = 1;
    EXPECT_ERROR(check_sheet(sheet), "letters of 2 to 200 pixels");
    sheet = {};
    sheet.width_px = 20001;
    EXPECT_ERROR(check_sheet(sheet), "at most 20000 dots");
    sheet.width_px = test::nan;
    EXPECT_ERROR(check_sheet(sheet), "figure-width");
}

TEST(Printed, APngIsAsWideAsTheSheetSays) {
    const auto width = [](const Sheet& sheet) {
        const std::string bytes = printed(to_svg(plain(), sheet), Format::png, sheet);
        EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n"));
        return png_width(bytes);
    };
    EXPECT_EQ(width({}), 1120) << "two dots a pixel";
    Sheet pixels;
    pixels.width_px = 600;
    EXPECT_EQ(width(pixels), 600);
    Sheet paper;
    paper.width_mm = 84;
    EXPECT_EQ(width(paper), 992) << "84 mm at 300 dots an inch";
}

TEST(Printed, APdfHasTheSizeOfThePaperAndNoDateInIt) {
    Sheet sheet;
    sheet.width_mm = 84;
    const std::string svg = to_svg(plain(), sheet);
    const std::string bytes = printed(svg, Format::pdf, sheet);
    EXPECT_TRUE(bytes.starts_with("%PDF-"));
    EXPECT_NEAR(numbers(matches(bytes, "MediaBox \\[ 0 0 ([0-9.]+) ")).at(0), 84 * 72 / 25.4, 0.01);
    EXPECT_TRUE(has(bytes, "/FontFile")) << "text is text, with its font";
    EXPECT_EQ(bytes, printed(svg, Format::pdf, sheet));
    EXPECT_TRUE(has(bytes, "20000101000000"));
}

TEST(Printed, APdfIsCalledAsItsFigureIs) {
    LineFigure figure = plain();
    figure.title = "Pre-LN's <angle> & \"speed\"";
    const std::string bytes = printed(to_svg(figure, {}), Format::pdf, {});
    EXPECT_TRUE(has(bytes, "/Title (Pre-LN's <angle> & \"speed\")")) << matches(bytes, "/Title (.*)").at(0);
}

TEST(WriteFigure, WritesWhatTheSheetSays) {
    const auto folder = std::filesystem::temp_directory_path() / "flyball-print-test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    Sheet sheet;
    sheet.formats = {Format::svg, Format::pdf, Format::png};
    sheet.panels = true;
    const auto files = write_figure(folder, "lines", plain(), sheet);
    EXPECT_EQ(files, (std::vector<std::string>{"lines.svg", "lines.pdf", "lines.png", "lines.csv"}));
    for (const std::string& file : files) {
        EXPECT_GT(std::filesystem::file_size(folder / file), 20U) << file;
    }
    EXPECT_EQ(read_text_file(folder / "lines.svg", 1 << 20),
              with_about(to_svg(in_panels(plain()), sheet), about(plain())))
        << "and what it shows";
    EXPECT_EQ(write_figure(folder, "again", plain()), (std::vector<std::string>{"again.svg", "again.csv"}));
    std::filesystem::remove_all(folder);
}

SphereFigure two_runs() {
    SphereFigure figure;
    figure.title = "Two";
    figure.runs = {{"long", "#112233", {}}, {"short", "#445566", {}}};
    for (int i = 0; i < 3; ++i) {
        figure.runs[0].frames.push_back({0.5 * i, {{1, 0.1 * i, 0}}});
    }
    figure.runs[1].frames = {{0, {{1, 0, 0}}}, {0.5, {{1, 0.5, 0}}}};
    return figure;
}

// Each frame for a third of the time, in its order, each at its own time; the last one where nothing moves.
TEST(Film, ShowsEveryFrameInItsTurn) {
    const std::string svg = film_svg(two_runs());
    EXPECT_EQ(test::xml_fault(svg), "");
    const std::vector<std::string> twice = {"0;0.33333", "0;0.33333;0.66667", "0;0.66667",
                                            "0;0.33333", "0;0.33333;0.66667", "0;0.66667"};
    EXPECT_EQ(matches(svg, "keyTimes=\"([0-9.;]+)\""), twice) << "behind, and in front";
    EXPECT_EQ(matches(svg, "values=\"([a-z;]+)\"").at(1), "hidden;visible;hidden");
    EXPECT_EQ(matches(svg, "<g visibility=\"([a-z]+)\">"),
              (std::vector<std::string>{"hidden", "hidden", "visible", "hidden", "hidden", "visible"}));
    EXPECT_EQ(matches(svg, "dur=\"([0-9.]+)s\"").at(0), "0.20") << "15 a second";
    EXPECT_EQ(matches(svg, ">t = ([0-9.]+)<"), (std::vector<std::string>{"0", "0.5", "1"}));
    EXPECT_EQ(matches(svg, "d=\"(M[-0-9. ]+h0)\" stroke=\"#112233\"").size(), 3U);
    const auto stays = matches(svg, "d=\"(M[-0-9. ]+h0)\" stroke=\"#445566\"");
    ASSERT_EQ(stays.size(), 3U) << "a run that ended stays where it is";
    EXPECT_NE(stays[0], stays[1]);
    EXPECT_EQ(stays[1], stays[2]);
    EXPECT_TRUE(has(film_svg(SphereFigure{}), "no data"));
}

TEST(Film, IsWrittenAsPicturesToo) {
    const auto folder = std::filesystem::temp_directory_path() / "flyball-film-test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    Sheet sheet;
    EXPECT_EQ(write_film(folder, "film", two_runs(), sheet), (std::vector<std::string>{"film.svg"}));
    sheet.formats.push_back(Format::png);
    sheet.width_px = 300;
    EXPECT_EQ(write_film(folder, "film", two_runs(), sheet),
              (std::vector<std::string>{"film-0001.png", "film-0002.png", "film-0003.png", "film.svg"}));
    EXPECT_EQ(png_width(read_text_file(folder / "film-0002.png", 1 << 20)), 300);
    EXPECT_TRUE(has(film_frame(two_runs(), 1), ">t = 0.5<"));
    for (std::size_t i = 0; i < 3; ++i) {  // several threads write them
        EXPECT_EQ(read_text_file(folder / ("film-000" + std::to_string(i + 1) + ".png"), 1 << 20),
                  printed(film_frame(two_runs(), i, sheet), Format::png, sheet))
            << i;
    }
    const auto said = about_in(read_text_file(folder / "film.svg", 1 << 20), "film.svg");
    ASSERT_TRUE(said);
    EXPECT_EQ(*said, about(two_runs()));
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flyball::report
