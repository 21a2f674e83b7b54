// Long series are thinned, keep what an eye would miss, and say so; a page stays below its size.
#include "results/detail.hpp"

#include <algorithm>
#include <cmath>

#include "core/safetensors.hpp"
#include "report/page.hpp"
#include "results/parts.hpp"
#include "support.hpp"

namespace flyball::results::test {
namespace {

TEST(Thinned, KeepsEndsExtremesAndGaps) {
    std::vector<double> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<double>(i) * 0.01);
    }
    values[1234] = 50;
    values[4321] = -50;
    values[7777] = std::nan("");
    const std::vector<std::size_t> chosen = thinned(values, 400);
    EXPECT_LE(chosen.size(), 500U);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
    for (const std::size_t i : {0U, 1234U, 4321U, 7777U, 9999U}) {
        EXPECT_NE(std::find(chosen.begin(), chosen.end(), i), chosen.end()) << i;
    }
}

// Of 0, 5, -5, 1, 2 in both stretches: the first, the largest, the least, and the last, which is neither.
TEST(Thinned, KeepsTheLastOfAStretchThoughItIsNoExtreme) {
    EXPECT_EQ(thinned(std::vector<double>{0, 5, -5, 1, 2, 0, 5, -5, 1, 2}, 8),
              (std::vector<std::size_t>{0, 1, 2, 4, 5, 6, 7, 9}));
}

TEST(Thinned, FewValuesStayAsTheyAre) {
    EXPECT_EQ(thinned(std::vector<double>{3, 1, 2}, 400), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(thinned(std::vector<double>{}, 400).empty());
    EXPECT_EQ(thinned(std::vector<double>(400, 1.0), 400).size(), 400U);
}

TEST(Evenly, HasTheFirstAndTheLast) {
    EXPECT_EQ(evenly(5, 9), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(evenly(9, 3), (std::vector<std::size_t>{0, 4, 8}));
    EXPECT_EQ(evenly(7, 1), (std::vector<std::size_t>{0}));
    EXPECT_TRUE(evenly(0, 3).empty());
}

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

// Two stretches of ten: what is kept of a quantity is at its own places, and not at those kept of the axis.
TEST(Curves, ThatAreThinnedHaveTheirOwnPlaces) {
    CurveSeries series{"one", {}, {}, {{"up", {}, {}}, {"peak", std::vector<double>(20, 0.0), {}}}};
    for (int i = 0; i < 20; ++i) {
        series.x.push_back(100 + i);
        series.quantities[0].y.push_back(i);
    }
    series.quantities[1].y[13] = 7;
    Detail detail;
    detail.points = 8;
    const Json shown = curves({"title", "about", "x", false, {}}, {series}, detail)["series"][0];
    EXPECT_EQ(shown.at("own_x").at("up"), typed("[100.0, 109.0, 110.0, 119.0]"));
    EXPECT_EQ(shown.at("own_x").at("peak"), typed("[100.0, 109.0, 110.0, 113.0, 119.0]"));
    EXPECT_EQ(shown["y"]["peak"], typed("[0.0, 0.0, 0.0, 7.0, 0.0]"));
    EXPECT_EQ(shown["points"], 20);
}

// As `flyball schemes` has it; a scheme with settings of its own is still that scheme.
TEST(Curves, OfASchemeWithSettingsHaveItsColour) {
    std::size_t own_equations = 0;
    EXPECT_EQ(style_of_scheme("mix-ln:tau=3", own_equations).colour, "#3ca951");
    EXPECT_EQ(own_equations, 0U);
    style_of_scheme("norm(x)", own_equations);
    EXPECT_EQ(own_equations, 1U);
}

TEST(Table, SaysHowManyRowsThereAreWhereItShowsFewer) {
    Detail detail;
    detail.rows = 2;
    const Json rows = Json::array({Json::array({1}), Json::array({2}), Json::array({3})});
    const Json part = table("title", "about", {"column"}, rows, detail);
    EXPECT_EQ(part["of"], 3);
    EXPECT_EQ(part["rows"], Json::array({Json::array({1}), Json::array({2})}));
}

// Six schemes, 10,000 samples and 4096 tokens, of which a simulation keeps 61 frames of 400.
TEST(PageOfALargeRun, StaysBelowThreeMegabytesAndSaysSoWhereItIsThinnedFurther) {
    const ResultFolder folder("simulate");
    Json runs = Json::array();
    std::vector<std::vector<float>> points(6);
    std::vector<double> times;
    std::vector<TensorToWrite> tensors;
    for (std::size_t k = 0; k < 61; ++k) {
        times.push_back(static_cast<double>(k));
    }
    for (std::size_t i = 0; i < 6; ++i) {
        Json run = {{"scheme", "scheme-" + std::to_string(i)}, {"equation", "e"}, {"outcome", "done"}};
        for (const char* key : {"t", "a", "b", "c", "d", "e", "f", "g", "h", "speed", "energy", "variance"}) {
            Json list = Json::array();
            for (int k = 0; k < 10'000; ++k) {
                list.push_back(std::string(key) == "t" ? k : std::sin(k * 0.37 + static_cast<double>(i)) / 3);
            }
            run[key] = std::move(list);
        }
        runs.push_back(std::move(run));
        points[i].assign(61 * 400 * 3, 0.3F);
        tensors.push_back(tensor("run." + std::to_string(i), {61, 400, 3}, points[i]));
        tensors.push_back(tensor("time." + std::to_string(i), {61}, times));
    }
    folder.put("result.json", dump_json({{"runs", runs}}));
    write_safetensors(folder.path() / "frames.safetensors", tensors, {{"tokens", "4096"}, {"dim", "3"}});
    const Page page = page_of({folder.path()});
    EXPECT_LT(page.html.size(), largest_page);
    EXPECT_GT(page.html.size(), largest_page / 4) << "and the room is used";
    EXPECT_NE(page.html.find("\"points\":10000"), std::string::npos) << "how many there were";
    EXPECT_NE(page.html.find("\"tokens\":4096"), std::string::npos);
    const Page several = page_of({folder.path(), folder.path(), folder.path(), folder.path()});
    EXPECT_LT(several.html.size(), largest_page);
    EXPECT_GT(several.html.size(), largest_page / 4) << "no more is left out than must be";
    EXPECT_NE(several.html.find("These results are large"), std::string::npos);
}

TEST(PageOfALargeRun, SaysThatItIsASelectionFromTheFirstLevelOn) {
    const ResultFolder folder("train");
    EXPECT_EQ(document_of({folder.path()}, 0)["notes"], Json::array());
    for (const std::size_t level : {1U, 2U}) {
        const Json notes = document_of({folder.path()}, level)["notes"];
        ASSERT_EQ(notes.size(), 1U) << level;
        EXPECT_NE(notes[0].get<std::string>().find("To keep this page below 3 MB"), std::string::npos);
    }
}

Json claims_of(std::size_t count, std::size_t letters) {
    Json claims = Json::array();
    for (std::size_t k = 0; k < count; ++k) {
        claims.push_back({{"id", "a-" + std::to_string(k)},
                          {"statement", std::string(letters, 's')},
                          {"source", "T"},
                          {"predicted", 1},
                          {"measured", 1},
                          {"tolerance", 0},
                          {"verdict", "holds"},
                          {"note", ""},
                          {"expected_verdict", "holds"},
                          {"seconds", 1},
                          {"figures", Json::array()}});
    }
    return {{"claims", std::move(claims)}};
}

// A document that would fit if there were no script and no style beside it.
TEST(PageOfALargeRun, IsMeasuredWithTheScriptThatShowsIt) {
    const ResultFolder folder("reproduce");
    const std::size_t wanted = largest_page - 10'000 - report::page_frame_size() / 4;
    folder.put("claims.json", dump_json(claims_of(wanted / 4200, 4000)));
    const std::size_t size = report::embedded_json(document_of({folder.path()})).size();
    ASSERT_LT(size, largest_page - 10'000);
    ASSERT_GT(size + report::page_frame_size(), largest_page);
    EXPECT_LT(page_of({folder.path()}).html.size(), largest_page);
}

// Claims are never thinned. 1.6, 1.4 and 0.2 MB of them: without the largest folder the others fit.
TEST(PageOfManyFolders, LeavesOutTheLargestAndSaysHowToSeeIt) {
    const ResultFolder folders[] = {ResultFolder("reproduce"), ResultFolder("reproduce"), ResultFolder("reproduce")};
    const std::size_t counts[] = {100, 800, 700};
    for (std::size_t i = 0; i < 3; ++i) {
        folders[i].put("claims.json", dump_json(claims_of(counts[i], 2000)));
    }
    const Page page = page_of({folders[0].path(), folders[1].path(), folders[2].path()});
    EXPECT_LT(page.html.size(), largest_page);
    EXPECT_GT(page.html.size(), largest_page / 2);
    const std::string said =
        "These results are too large for a page beside the others: `flyball report` of this folder alone shows them.";
    EXPECT_EQ(page.folders[0]["unreadable"], Json::array());
    EXPECT_EQ(page.folders[1]["unreadable"], Json::array({said}));
    EXPECT_EQ(page.folders[2]["unreadable"], Json::array());
    const Page alone = page_of({folders[1].path()});
    EXPECT_EQ(alone.folders[0]["unreadable"], Json::array());
    EXPECT_NE(alone.html.find("a-799"), std::string::npos);
}

}  // namespace
}  // namespace flyball::results::test
