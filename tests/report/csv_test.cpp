#include <sstream>

#include "core/support.hpp"
#include "report/figure_about.hpp"
#include "report/support.hpp"

namespace flyball::report {
namespace {

using flyball::test::TemporaryFolder;
using test::expect_sound;
using test::line;

// RFC 4180, the reader's side.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            rows.back().back() += '"';
            ++i;
        } else if (c == '"') {
            inside = !inside;
        } else if (c == ',' && !inside) {
            rows.back().emplace_back();
        } else if (c == '\n' && !inside) {
            rows.emplace_back(1);
        } else {
            rows.back().back() += c;
        }
    }
    EXPECT_EQ(rows.back(), std::vector<std::string>{""});  // the last line ends
    rows.pop_back();
    return rows;
}

TEST(Csv, OfLinesRoundTripsNamesAndBits) {
    LineFigure figure;
    figure.series = {line("a, \"b\"\nc", {0.1, 1.0 / 3, 5e-324}, {1e300, -0.0, 123456.789}), line("plain", {1}, {2})};
    const auto rows = parse_csv(to_csv(figure));
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[0], (std::vector<std::string>{"series", "x", "y"}));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(rows[i + 1][0], figure.series[0].name);
        EXPECT_EQ(parse_double(rows[i + 1][1]).value(), figure.series[0].x[i]);
        EXPECT_EQ(parse_double(rows[i + 1][2]).value(), figure.series[0].y[i]);
    }
    EXPECT_EQ(rows[4], (std::vector<std::string>{"plain", "1", "2"}));
}

TEST(Csv, ACommaAQuoteOrANewLineAloneIsEnoughToQuoteAName) {
    for (const char* name : {"a,b", "a\"b", "a\nb"}) {
        LineFigure figure;
        figure.series = {line(name, {1}, {2})};
        const auto rows = parse_csv(to_csv(figure));
        ASSERT_EQ(rows.size(), 2U) << name;
        EXPECT_EQ(rows[1], (std::vector<std::string>{name, "1", "2"}));
    }
}

TEST(Csv, OfBandsHasEmptyCellsWhereThereIsNone) {
    LineFigure figure;
    figure.series = {line("a", {1}, {2}), line("b", {3}, {test::nan})};
    figure.series[0].lo = {1.5};
    figure.series[0].hi = {2.5};
    EXPECT_EQ(to_csv(figure), "series,x,y,lo,hi\na,1,2,1.5,2.5\nb,3,nan,,\n");
}

TEST(Csv, OfPanelsHasTheBandsOfEveryPanel) {
    LineFigure bare;
    bare.title = "one";
    bare.series = {line("a", {1}, {2})};
    LineFigure banded;
    banded.title = "two";
    banded.series = {line("b", {3}, {4})};
    PanelFigure page;
    page.panels = {bare, bare};
    EXPECT_EQ(to_csv(page), "panel,series,x,y\none,a,1,2\none,a,1,2\n");
    banded.series[0].lo = {3.5};
    banded.series[0].hi = {4.5};
    page.panels = {bare, banded};
    EXPECT_EQ(to_csv(page), "panel,series,x,y,lo,hi\none,a,1,2,,\ntwo,b,3,4,3.5,4.5\n");
}

TEST(Csv, OfTheOtherFigures) {
    HeatFigure heat;
    heat.x_values = {1, 2};
    heat.y_values = {10};
    heat.values = {0.5, 0.25};
    EXPECT_EQ(to_csv(heat), "x,y,value\n1,10,0.5\n2,10,0.25\n");
    BoxFigure box;
    box.groups = {{"g", {1, 2}, {}, {}}, {"h", {}, std::array<double, 5>{1, 2, 3, 4, 5}, {}}};
    EXPECT_EQ(to_csv(box),
              "group,kind,value\ng,value,1\ng,value,2\nh,min,1\nh,lower,2\nh,median,3\nh,upper,4\nh,max,5\n");
    box.groups = {{"g", {1}, {}, {}, {{"upper, as printed", 2}}}};
    EXPECT_EQ(to_csv(box), "group,kind,value\ng,value,1\ng,\"upper, as printed\",2\n");
    SphereFigure sphere;
    sphere.runs = {{"one", "", {{0.5, {{1, 0, 0}, {0, 0, 1}}}}}};
    EXPECT_EQ(to_csv(sphere), "t,point,x,y,z\n0.5,0,1,0,0\n0.5,1,0,0,1\n");
    sphere.runs.push_back({"a, b", "", {{2, {{0, 1, 0}}}}});
    EXPECT_EQ(to_csv(sphere), "run,t,point,x,y,z\none,0.5,0,1,0,0\none,0.5,1,0,0,1\n\"a, b\",2,0,0,1,0\n");
}

TEST(WriteFigure, WritesTheSvgAndTheCsv) {
    const TemporaryFolder folder;
    LineFigure figure;
    figure.series = {line("a", {0, 1}, {0, 1})};
    write_figure(folder.path(), "cosine", figure);
    EXPECT_EQ(folder.get("cosine.svg"), with_about(to_svg(figure), about(figure)));
    EXPECT_EQ(folder.get("cosine.csv"), to_csv(figure));
    EXPECT_EQ(folder.files(), 2U);
    write_figure(folder.path(), "heat", HeatFigure{});
    write_figure(folder.path(), "box", BoxFigure{});
    write_figure(folder.path(), "sphere", SphereFigure{});
    EXPECT_EQ(folder.files(), 8U);
}

TEST(WriteFigure, RefusesABadNameAndABadFigureAndWritesNothing) {
    const TemporaryFolder folder;
    LineFigure figure;
    EXPECT_ERROR(write_figure(folder.path(), "../x", figure), "without a folder");
    EXPECT_ERROR(write_figure(folder.path(), "", figure), "without a folder");
    EXPECT_ERROR(write_figure(folder.path() / "missing", "x", figure), "No such file");
    figure.series = {line("a", {0}, {})};
    EXPECT_ERROR(write_figure(folder.path(), "x", figure), "1 x and 0 y");
    EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace flyball::report
