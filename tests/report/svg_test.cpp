#include "report/svg.hpp"

#include "report/support.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

using test::has;
using test::xml_fault;

TEST(XmlFault, FindsTheFaultsItIsFor) {
    EXPECT_EQ(xml_fault("<a b=\"1\"><c/>text &amp; more</a>"), "");
    EXPECT_NE(xml_fault("<a><b></a></b>"), "");
    EXPECT_NE(xml_fault("<a>"), "");
    EXPECT_NE(xml_fault("<a>x & y</a>"), "");
    EXPECT_NE(xml_fault("<a>x < y</a>"), "");
    EXPECT_NE(xml_fault("<a>x > y</a>"), "");
    EXPECT_NE(xml_fault("<a b=1/>"), "");
    EXPECT_NE(xml_fault("<a b=\"1\" b=\"2\"/>"), "");
    EXPECT_NE(xml_fault("<a>\x01</a>"), "");
}

TEST(Escape, EscapesTheFiveCharacters) {
    EXPECT_EQ(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Escape, LeavesNothingThatXmlForbids) {
    EXPECT_EQ(escape("a\tb\x1b[0mc\n"), "a b [0mc ");
    // The second row of control characters, U+0080 to U+009F: U+009B begins what ESC [ does. U+00A0 is a space.
    EXPECT_EQ(escape("a\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0z"), "a    \xc2\xa0z");
    EXPECT_EQ(escape("\xff\xc0\xaf"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(escape("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
    EXPECT_EQ(escape("\xe2\x82"), "\uFFFD\uFFFD");            // ends in the middle of a character
    EXPECT_EQ(escape("θ ⟨x⟩ 😀"), "θ ⟨x⟩ 😀");
    EXPECT_EQ(escape("a\u202Eb"), "a b");  // would turn the direction of what follows
}

TEST(Px, HasTwoDecimalsAndNoMinusZero) {
    EXPECT_EQ(px(1.0), "1");
    EXPECT_EQ(px(0.125), "0.12");
    EXPECT_EQ(px(-0.001), "0");
    EXPECT_EQ(px(1200.5), "1200.5");
    EXPECT_EQ(px(100), "100");
}

TEST(Wrapped, BreaksBetweenWordsAndCutsLongOnes) {
    const auto lines = wrapped("one two three four five six seven\nnext " + std::string(100, 'x'), 100, 10);
    ASSERT_GT(lines.size(), 4U);
    for (const auto& line : lines) {
        EXPECT_LE(text_width(line, 10), 100) << line;
    }
    EXPECT_NE(std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("next"); }),
              lines.end());
    EXPECT_TRUE(wrapped("", 100, 10).empty());
}

TEST(Wrapped, LosesNoWord) {
    const std::string text = "every word of the caption is there";
    std::string joined;
    for (const auto& line : wrapped(text, 60, 10)) {
        joined += (joined.empty() ? "" : " ") + line;
    }
    EXPECT_EQ(joined, text);
}

TEST(Fitted, EndsInDotsWhenItIsCut) {
    EXPECT_EQ(fitted("short", 100, 10), "short");
    const std::string cut = fitted(std::string(100, 'x'), 100, 10);
    EXPECT_TRUE(cut.ends_with("…"));
    EXPECT_LE(text_width(cut, 10), 100);
}

TEST(Page, RaisesSuperscriptsByMarkup) {
    Page page({}, "t", "d");
    page.text(0, 0, "2×10⁻³ s", Ink::strong, Anchor::start, 10);
    const std::string svg = page.finish(10, "");
    EXPECT_TRUE(has(svg, "2×10<tspan dy=\"-3.8\" font-size=\"7.4\">−3</tspan><tspan dy=\"3.8\">"));
    EXPECT_EQ(xml_fault(svg), "");
}

TEST(Page, HasLightAttributesAndDarkVariables) {
    Page page({}, "t", "d");
    page.text(0, 0, "name", "#efb118", Anchor::start, 10);
    const std::string svg = page.finish(10, "");
    EXPECT_TRUE(has(svg, "@media (prefers-color-scheme:dark)"));
    EXPECT_TRUE(has(svg, "class=\"f-paper\" fill=\"#ffffff\""));
    EXPECT_TRUE(has(svg, ".flyball .t-efb118{fill:#efb118}"));      // bright enough on dark
    EXPECT_FALSE(has(svg, "class=\"t-efb118\" fill=\"#efb118\""));  // darker on white
}

TEST(ToAscii, SpellsWhatItKnows) {
    EXPECT_EQ(to_ascii("10⁻³"), "1e-3");
    EXPECT_EQ(to_ascii("−2×10⁵"), "-2e5");
    EXPECT_EQ(to_ascii("r² of θ′, β ≥ 1"), "r^2 of theta', beta >= 1");
    EXPECT_EQ(to_ascii("日"), "?");
}

TEST(Shortened, CountsCharactersNotBytes) {
    EXPECT_EQ(shortened("θθθθ", 4), "θθθθ");
    EXPECT_EQ(shortened("θθθθ", 3), "θθ…");
    EXPECT_EQ(shortened("abcdef", 5, true), "ab...");
    EXPECT_EQ(columns("e\u0301"), 1U);
}

}  // namespace
}  // namespace flyball::report
