// The figures and the text of `flyball inspect`, of reports whose numbers are typed.
//
// Of made_report(3), block l has in field number k of layer_fields() the value 0.14 + 0.32*l + 0.01*k.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/inspect_output.hpp"
#include "inspect/reports.hpp"

namespace flyball::cli::test::inspect_figures_test {
namespace {

using inspect::LayerReport;
using inspect::test::made_report;

Inspected made(const std::string& name = "made") {
    return {name, "x + f(x)", made_report(3), [](std::int32_t id) { return "t" + std::to_string(id); }};
}

double value_of(std::size_t l, int k) {
    return 0.14 + 0.32 * static_cast<double>(l) + 0.01 * k;
}

struct Expected {
    const char* file;
    const char* title;
    const char* axis;
    std::vector<std::pair<const char*, int>> lines;  // with the number of the field
    bool from_zero;
    const char* note;
};

const std::vector<Expected> expected = {
    {"norm",
     "Length of the stream after each block",
     "length of a token's vector",
     {{"median", 2}},
     false,
     "The band holds 90 % of the tokens.\n"},
    {"added",
     "What each branch adds, as a share of the stream",
     "length added / length of the stream",
     {{"attention", 14}, {"FFN", 17}},
     false,
     "As the equation adds it: after norms and factors.\n"},
    {"angle",
     "How far each block turns the stream",
     "mean angle / π",
     {{"measured", 19}, {"predicted", 20}},
     true,
     "Predicted from the equation, its gains and lengths, never from the turn itself.\n"},
    {"cosine",
     "How alike the tokens are",
     "cosine, distance",
     {{"mean cosine of two", 7}, {"distance from collapse", 9}},
     false,
     "Cosine 1: all tokens point one way. Distance 0: all tokens are one vector.\n"},
    {"rank", "How many directions the tokens of a window fill", "effective rank", {{"effective rank", 8}}, true, ""},
    {"attention",
     "What attention looks at",
     "share",
     {{"weight of the first token", 24}, {"heads that are sinks", 25}},
     true,
     "A sink gives the first token more than 30 % of its weight.\n"},
    {"gradient",
     "Gradient of the loss with respect to the stream",
     "length of the gradient",
     {{"gradient", 12}},
     false,
     ""},
    {"drop",
     "Loss increase when a block is left out",
     "nats a token",
     {{"increase", 29}},
     false,
     "All other blocks stay.\n"},
    {"lens",
     "Loss if the model ended after each block",
     "nats a token",
     {{"loss", 30}},
     false,
     "The block's stream goes through the final norm and the head.\n"},
    {"entropy", "Entropy of attention", "nats", {{"entropy", 23}}, true, "Mean over heads and queries.\n"},
    {"logits", "Largest attention score", "before the softmax", {{"largest score", 26}}, false, ""},
    {"variance",
     "Moments of the stream",
     "value",
     {{"mean absolute value", 4}, {"entry-wise variance", 5}, {"data-wise variance", 6}},
     false,
     "Data-wise variance needs several windows.\n"},
    {"entries",
     "Largest and median entry of the stream",
     "absolute value",
     {{"largest", 10}, {"median", 11}},
     false,
     ""},
    {"norm-gains", "Gains of the norms", "absolute gain", {{"mean", 27}, {"largest", 28}}, false, ""},
    {"branch-cosine",
     "Whether a branch points along the stream",
     "mean cosine",
     {{"attention", 15}, {"FFN", 18}},
     false,
     "Above 0 it lengthens the stream, below 0 it removes what is there.\n"},
};

void expect_series(const report::Series& series, int field, const std::string& what) {
    ASSERT_EQ(series.x.size(), 3U) << what;
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_EQ(series.x[l], static_cast<double>(l)) << what;
        EXPECT_NEAR(series.y[l], value_of(l, field), 1e-9) << what;
    }
}

TEST(InspectFigures, ShowEveryQuantityUnderItsName) {
    const std::vector<InspectFigure> figures = inspect_figures({made()});
    ASSERT_EQ(figures.size(), expected.size());
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const report::LineFigure& figure = figures[i].figure;
        EXPECT_EQ(figures[i].name, expected[i].file);
        EXPECT_EQ(figure.title, expected[i].title);
        EXPECT_EQ(figure.x.label, "block");
        EXPECT_EQ(figure.y.label, expected[i].axis);
        EXPECT_EQ(figure.y.scale, report::Scale::linear) << figures[i].name;
        EXPECT_EQ(figure.y.min, expected[i].from_zero ? std::optional<double>(0) : std::nullopt) << figures[i].name;
        EXPECT_EQ(figure.caption,
                  std::string(expected[i].note) +
                      "made: x + f(x), 2 x 3 tokens, loss 2.5000. Median length at the embedding: 0.03.");
        ASSERT_EQ(figure.series.size(), expected[i].lines.size()) << figures[i].name;
        for (std::size_t k = 0; k < figure.series.size(); ++k) {
            EXPECT_EQ(figure.series[k].name, expected[i].lines[k].first);
            EXPECT_EQ(figure.series[k].style.dash, "");
            expect_series(figure.series[k], expected[i].lines[k].second, figures[i].name);
            EXPECT_EQ(figure.series[k].lo.size(), i == 0 ? 3U : 0U);
        }
        if (figure.series.size() > 1) {
            EXPECT_NE(figure.series[0].style.colour, figure.series[1].style.colour);
        }
    }
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_NEAR(figures[0].figure.series[0].lo[l], value_of(l, 1), 1e-9);
        EXPECT_NEAR(figures[0].figure.series[0].hi[l], value_of(l, 3), 1e-9);
    }
}

// Files of figures and tables are in one folder.
TEST(InspectFigures, AreNotCalledLikeTables) {
    for (const InspectFigure& one : inspect_figures({made()})) {
        for (const char* const table : {"layers", "heads", "gains", "depth"}) {
            EXPECT_NE(one.name, table);
        }
    }
}

TEST(InspectFigures, OfTwoModelsHaveAColourAModelAndADashALine) {
    Inspected second = made("other");
    second.report.loss = inspect::not_measured;
    second.report.sequences = 1;
    for (LayerReport& layer : second.report.layers) {
        layer.angular_distance += 10;
        layer.norm_median += 10;
    }
    const std::vector<InspectFigure> figures = inspect_figures({made(), second});
    const std::vector<report::Series>& lengths = figures[0].figure.series;
    ASSERT_EQ(lengths.size(), 2U);
    EXPECT_EQ(lengths[0].name, "made");
    EXPECT_EQ(lengths[1].name, "other");
    EXPECT_NEAR(lengths[1].y[2], 10.8, 1e-9);
    EXPECT_NE(lengths[0].style.colour, lengths[1].style.colour);
    const std::vector<report::Series>& turns = figures[2].figure.series;
    ASSERT_EQ(turns.size(), 4U);
    EXPECT_EQ(turns[0].name, "made, measured");
    EXPECT_EQ(turns[1].name, "made, predicted");
    EXPECT_EQ(turns[2].name, "other, measured");
    EXPECT_EQ(turns[3].name, "other, predicted");
    EXPECT_EQ(turns[0].style.colour, turns[1].style.colour);
    EXPECT_NE(turns[0].style.colour, turns[2].style.colour);
    EXPECT_EQ(turns[0].style.dash, "");
    EXPECT_EQ(turns[1].style.dash, "5 3");
    EXPECT_EQ(turns[3].style.dash, "5 3");
    EXPECT_NEAR(turns[0].y[0], 0.33, 1e-9);
    EXPECT_NEAR(turns[2].y[0], 10.33, 1e-9);
    EXPECT_EQ(figures[4].figure.caption,
              "made: x + f(x), 2 x 3 tokens, loss 2.5000. Median length at the embedding: 0.03.\n"
              "other: x + f(x), 1 x 3 tokens. Median length at the embedding: 0.03.");
}

TEST(InspectFigures, TakeALogAxisForAWideRange) {
    Inspected one = made();
    const auto norm_axis = [&] { return inspect_figures({one})[0].figure.y; };
    one.report.layers[2].norm_median = 4.7;  // 0.16 * 30 = 4.8
    EXPECT_EQ(norm_axis().scale, report::Scale::linear);
    one.report.layers[2].norm_median = 4.9;
    EXPECT_EQ(norm_axis().scale, report::Scale::log);
    one.report.layers[0].norm_median = 0;  // has no place on it
    EXPECT_EQ(norm_axis().scale, report::Scale::linear);
    // What begins at zero stays so, whatever its range; what is below zero is not cut off.
    one.report.layers[2].effective_rank = 100;
    EXPECT_EQ(inspect_figures({one})[4].figure.y.scale, report::Scale::linear);
    EXPECT_EQ(inspect_figures({one})[4].figure.y.min, 0.0);
    one.report.layers[1].angular_distance = 0;
    EXPECT_EQ(inspect_figures({one})[2].figure.y.min, 0.0);
    one.report.layers[1].angular_distance = -0.5;
    EXPECT_EQ(inspect_figures({one})[2].figure.y.min, std::nullopt);
}

TEST(InspectFigures, LeaveOutWhatWasNotMeasured) {
    Inspected one = made();
    for (LayerReport& layer : one.report.layers) {
        layer.gradient = layer.drop = layer.data_variance = inspect::not_measured;
    }
    const std::vector<InspectFigure> figures = inspect_figures({one});
    EXPECT_EQ(figures.size(), expected.size() - 2);
    EXPECT_EQ(figures[6].name, "lens");
    ASSERT_EQ(figures[9].name, "variance");
    ASSERT_EQ(figures[9].figure.series.size(), 2U);
    EXPECT_EQ(figures[9].figure.series[1].name, "entry-wise variance");
    one.report.layers[1].norm_median = inspect::not_measured;  // a gap, and no reason to leave the others out
    EXPECT_TRUE(std::isnan(inspect_figures({one})[0].figure.series[0].y[1]));
    EXPECT_EQ(inspect_page({one}).panels.size(), 7U);
}

TEST(InspectPage, ShowsTheFirstNine) {
    const report::PanelFigure page = inspect_page({made()});
    EXPECT_EQ(page.title, "Where depth goes in made");
    EXPECT_EQ(page.caption, "made: x + f(x), 2 x 3 tokens, loss 2.5000. Median length at the embedding: 0.03.");
    EXPECT_EQ(page.columns, 2U);
    ASSERT_EQ(page.panels.size(), 9U);
    for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(page.panels[i].title, expected[i].title);
        std::string note = expected[i].note;
        note = note.substr(0, note.find('\n'));  // the page says once which models these are
        EXPECT_EQ(page.panels[i].caption, note);
        expect_series(page.panels[i].series.at(0), expected[i].lines[0].second, expected[i].file);
    }
    EXPECT_EQ(inspect_page({made(), made("other")}).title, "Where depth goes, side by side");
    EXPECT_EQ(inspect_page({made(), made("other")}).panels[1].series.size(), 4U);
}

std::string first_lines(const std::string& text, std::size_t count) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
        end = text.find('\n', end) + 1;
    }
    return text.substr(0, end);
}

void expect_80_columns(const std::string& text) {
    std::size_t column = 0;
    for (const char c : text) {
        column = c == '\n' ? 0 : column + 1;
        ASSERT_LE(column, 80U) << text;
    }
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(InspectText, ShowsATableOfBlocks) {
    const std::string text = inspect_text({made()});
    EXPECT_EQ(first_lines(text, 8),
              "made: x + f(x)\n"
              "\n"
              "block  length  cosine   rank   attn    ffn   turn   pred   grad   drop   lens\n"
              "-----  ------  ------  -----  -----  -----  -----  -----  -----  -----  -----\n"
              "embed   0.030   0.080  0.090      -      -      -      -  0.130      -      -\n"
              "0       0.160   0.210  0.220  0.280  0.310  0.330  0.340  0.260  0.430  0.440\n"
              "1       0.480   0.530  0.540  0.600  0.630  0.650  0.660  0.580  0.750  0.760\n"
              "2       0.800   0.850  0.860  0.920  0.950  0.970  0.980  0.900  1.070  1.080\n");
    EXPECT_TRUE(says(text, "\n 1. Loss 2.5000 nats a token over 2 windows of 3 tokens.\n"));
    EXPECT_TRUE(says(text, "\n10. Through the lens,"));
    // Blocks that say the same stand together.
    Inspected same = made();
    same.report.lens_top[1] = 20;
    const std::string start = "Most likely next token after the text, if the model ended after block ";
    EXPECT_TRUE(says(text, start + "0:\n  't20', 1: 't21', 2: 't22'.\n") ||
                says(text, start + "0: 't20',\n  1: 't21', 2: 't22'.\n"))
        << text;
    EXPECT_TRUE(says(inspect_text({same}), start + "0-1:\n  't20', 2: 't22'.\n"));
    EXPECT_TRUE(says(text, "turn: angle between the streams before and after the block, over pi;"));
    EXPECT_FALSE(says(text, "entr:"));
    EXPECT_FALSE(says(text, "growth: how the length grows"));
    expect_80_columns(text);
}

TEST(InspectText, ShowsAttentionWhereThereIsRoom) {
    Inspected one = made();
    one.report.lens_top.clear();
    for (LayerReport& layer : one.report.layers) {
        layer.drop = layer.lens_loss = layer.lens_agreement = layer.gradient = inspect::not_measured;
    }
    const std::string text = inspect_text({one});
    EXPECT_TRUE(says(text,
                     "block  length  cosine   rank   attn    ffn   turn   pred   entr   sink\n"
                     "-----  ------  ------  -----  -----  -----  -----  -----  -----  -----\n"
                     "embed   0.030   0.080  0.090      -      -      -      -      -      -\n"
                     "0       0.160   0.210  0.220  0.280  0.310  0.330  0.340  0.370  0.380\n"))
        << text;
    EXPECT_FALSE(says(text, "Most likely next token"));
    EXPECT_TRUE(says(text, "entr: entropy of attention in nats;"));
}

// Numbers from the very small to the very large keep to their columns.
TEST(InspectText, ShowsNumbersOfAnySize) {
    Inspected one = made();
    const std::vector<double> sizes = {0, 0.00099, 0.001, 9.9, 12.34, 123.44, 1234.5, 99999, 100000, 1.5e20, 3e-9};
    const std::vector<std::string> texts = {"0.000", "1e-03", "0.001", "9.900", "12.34", "123.4",
                                            "1234",  "99999", "1e+05", "2e+20", "3e-09"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        one.report.layers[1].effective_rank = sizes[i];
        one.report.layers[1].drop = -sizes[i];
        const std::string text = inspect_text({one});
        EXPECT_TRUE(
            says(text, "\n1       0.480   0.530  " + std::string(5 - texts[i].size(), ' ') + texts[i] + "  0.600"))
            << texts[i] << "\n"
            << text;
        expect_80_columns(text);
    }
    one.report.layers[1].effective_rank = HUGE_VAL;
    EXPECT_TRUE(says(inspect_text({one}), "\n1       0.480   0.530      -  0.600"));
}

TEST(InspectText, ExplainsTheColumnsOfEveryTable) {
    Inspected encoder = made("encoder");
    for (LayerReport& layer : encoder.report.layers) {
        layer.drop = layer.lens_loss = layer.gradient = inspect::not_measured;
    }
    for (const std::string& text : {inspect_text({encoder, made()}), inspect_text({made(), encoder})}) {
        for (const char* const part : {"entr: entropy of attention in nats;", "grad: length of the gradient;",
                                       "lens: loss if the model ended here."}) {
            std::string one_line = text;
            std::replace(one_line.begin(), one_line.end(), '\n', ' ');
            EXPECT_TRUE(says(one_line, part)) << text;
        }
    }
}

TEST(InspectText, ComparesModels) {
    Inspected second = made(std::string(70, 'n') + " and more");
    second.report.growth.kind = measure::GrowthClass::exponential;
    second.report.bound = model::StreamBound::exponential;
    second.report.loss = 3.25;
    second.report.layers[2].gradient = 0.13;
    second.report.layers[1].angular_ratio = 2;
    second.report.layers[1].angular_distance = 1;
    const std::string text = inspect_text({made(), second});
    // turn: 0.33 + 0.65 + 0.97 and 0.33 + 1 + 0.97; m/p: the mean of 0.35, 0.67 (or 2) and 0.99; grad: 0.26/0.9,
    // 0.26/0.13.
    EXPECT_TRUE(says(text,
                     "\nno.   loss  growth       bound        first   last    cos   turn    m/p   grad\n"
                     "---  -----  -----------  -----------  -----  -----  -----  -----  -----  -----\n"
                     "  1  2.500  linear       linear       0.160  0.800  0.850  1.950  0.670  0.289\n"
                     "  2  3.250  exponential  exponential  0.160  0.800  0.850  2.300  1.113  2.000\n"
                     "no.: 1 is made, 2 is\n"))
        << text;
    expect_80_columns(text);
}

}  // namespace
}  // namespace flyball::cli::test::inspect_figures_test
