// The page around a document, and what figures say of themselves.
#include "report/page.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/file.hpp"
#include "report/figure_about.hpp"
#include "report/page_bundle.hpp"

namespace flyball::report::test {
namespace {

TEST(Page, NothingInADocumentEndsItsScript) {
    Json document = Json::object();
    document["</script><script>alert(1)</script>"] = "<!-- <b>&amp; \u2028 \u2029 \" ' \\ ]]>";
    const std::string embedded = embedded_json(document);
    EXPECT_EQ(embedded.find_first_of("<>&"), std::string::npos);
    EXPECT_EQ(embedded.find("\u2028"), std::string::npos);
    EXPECT_EQ(embedded.find("\u2029"), std::string::npos);
    EXPECT_EQ(parse_json(embedded, "embedded"), document) << "and it says the same";
}

TEST(Page, IsOneFileThatMayNotAskForAnother) {
    const std::string page = page_around("{}", "a <b> & \"c\"");
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    EXPECT_NE(page.find("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"), std::string::npos);
    EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg")) << "the name of SVG, no address";
    EXPECT_EQ(page.find("https://"), std::string::npos);
    EXPECT_EQ(page.find(" src="), std::string::npos);
    EXPECT_LT(page.size(), 150'000U) << "the script itself stays small";
    EXPECT_EQ(page_frame_size() + 2 + std::string("a &lt;b&gt; &amp; &quot;c&quot;").size(), page.size());
}

TEST(Page, OnlyOneThatIsServedMayAskForNewsAndOnlyWhereItCameFrom) {
    const Source served{"/document", "7"};
    EXPECT_NE(page_policy(served).find("; connect-src 'self'"), std::string::npos);
    EXPECT_NE(page_around("{}", "", served).find("; connect-src 'self'\">"), std::string::npos);
    EXPECT_EQ(page_policy().find("connect-src"), std::string::npos) << "a file has nobody to ask";
}

TEST(Page, ItsScriptCanStandInAPage) {
    EXPECT_GT(page_script.size(), 10'000U);
    EXPECT_EQ(page_script.find("</script"), std::string_view::npos);
    EXPECT_EQ(page_script.find("<!--"), std::string_view::npos);
    EXPECT_EQ(page_style.find("</style"), std::string_view::npos);
    EXPECT_EQ(page_style.find("url("), std::string_view::npos);
}

LineFigure some_lines() {
    LineFigure figure;
    figure.title = "A <title> & 'more'";
    figure.caption = "two\nlines";
    figure.x = {"time", Scale::log, 0.5, {}};
    figure.y = {"y", Scale::linear, {}, 7.0};
    figure.series = {{"a", {1, 2}, {3, 4}, {}, {}, {"#102030", "6 2"}}, {"b\"", {1}, {5}, {}, {}, {}}};
    return figure;
}

TEST(FigureAbout, TravelsInThePicture) {
    const std::string svg = with_about(to_svg(some_lines()), about(some_lines()));
    const auto found = about_in(svg, "f.svg");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, about(some_lines()));
    EXPECT_EQ((*found)["kind"], "lines");
    EXPECT_EQ((*found)["title"], "A <title> & 'more'");
    EXPECT_EQ((*found)["caption"], "two\nlines");
    EXPECT_EQ((*found)["x"], parse_json(R"({"label": "time", "log": true, "min": 0.5})", "typed"));
    EXPECT_EQ((*found)["y"], parse_json(R"({"label": "y", "log": false, "max": 7.0})", "typed"));
    EXPECT_EQ((*found)["series"][0],
              parse_json(R"({"name": "a", "colour": "#102030", "dash": "6 2", "points": 2})", "typed"));
    EXPECT_EQ((*found)["series"][1]["name"], "b\"");
    EXPECT_EQ((*found)["series"][1]["colour"].get<std::string>().size(), 7U) << "the one it is drawn in";
}

TEST(FigureAbout, SaysBoundsThatAreZero) {
    LineFigure figure;
    figure.x = {"from", Scale::linear, 0.0, {}};
    figure.y = {"to", Scale::linear, {}, 0.0};
    EXPECT_EQ(about(figure)["x"], parse_json(R"({"label": "from", "log": false, "min": 0.0})", "typed"));
    EXPECT_EQ(about(figure)["y"], parse_json(R"({"label": "to", "log": false, "max": 0.0})", "typed"));
}

TEST(FigureAbout, OfHeatMapsAndBoxes) {
    HeatFigure heat;
    heat.colour = {"value", Scale::log, {}, {}};
    EXPECT_EQ(about(heat)["kind"], "heat");
    EXPECT_EQ(about(heat)["colour"], parse_json(R"({"label": "value", "log": true})", "typed"));
    BoxFigure boxes;
    boxes.groups = {{"g", {1, 2}, {}, {"#010203", ""}, {}}};
    EXPECT_EQ(about(boxes)["groups"][0], parse_json(R"({"label": "g", "colour": "#010203"})", "typed"));
}

TEST(FigureAbout, APictureWithoutItHasNone) {
    EXPECT_FALSE(about_in("<svg></svg>", "f.svg"));
    EXPECT_FALSE(about_in("<svg><metadata>{", "f.svg")) << "cut off";
    EXPECT_THROW(about_in("<metadata>{</metadata>", "f.svg"), Error);
}

TEST(FigureAbout, OfSpheresAndPanelsSaysWhatWasRun) {
    SphereFigure spheres;
    spheres.title = "Tokens";
    spheres.caption = "n = 2";
    spheres.runs = {{"post-ln", "#010203", {{0, {{1, 0, 0}, {0, 1, 0}}}, {2.5, {{1, 0, 0}, {1, 0, 0}}}}}};
    EXPECT_EQ(about(spheres), parse_json(R"({"kind": "spheres", "title": "Tokens", "caption": "n = 2",
      "runs": [{"name": "post-ln", "colour": "#010203", "points": 2, "times": [0.0, 2.5]}]})",
                                         "typed"));
    spheres.circle = true;
    EXPECT_EQ(about(spheres)["kind"], "circles");
    EXPECT_EQ(*about_in(with_about(to_svg(spheres), about(spheres)), "f.svg"), about(spheres));
    const PanelFigure panels{"All", {some_lines(), some_lines()}, 2, "seed 1"};
    EXPECT_EQ(about(panels)["kind"], "panels");
    EXPECT_EQ(about(panels)["caption"], "seed 1");
    EXPECT_EQ(about(panels)["panels"][1], about(some_lines()));
    EXPECT_EQ(*about_in(with_about(to_svg(panels), about(panels)), "f.svg"), about(panels));
}

}  // namespace
}  // namespace flyball::report::test
