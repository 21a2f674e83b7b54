// The corners of an analysis: all weight on one key, exact ties, N = L, one layer, a text shorter than asked for, and
// the two sets of row kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "limits/analysis.hpp"
#include "limits/diagnosis.hpp"
#include "limits/document.hpp"
#include "limits/over_heads.hpp"
#include "limits/reference.hpp"
#include "limits/row_kernels.hpp"
#include "limits/row_report.hpp"
#include "limits/rows.hpp"
#include "limits/separation.hpp"
#include "model/pass.hpp"
#include "model/tiny.hpp"

namespace flyball::limits::edges_test {
namespace {

constexpr const char* pre_ln = "x + dt*f(norm(x)) | norm(x)";

model::Architecture one_layer() {
    model::Architecture a = model::test::tiny_architecture(pre_ln);
    a.layers = 1;
    a.positions = 24;
    return a;
}

std::vector<std::int32_t> ids_of(std::size_t count) {
    std::vector<std::int32_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) {
        ids[i] = static_cast<std::int32_t>(i * 7 % 11);
    }
    return ids;
}

Settings with(const char* attention) {
    Settings settings;
    settings.attention = {Normaliser::parse(attention)};
    return settings;
}

// An embedding that is no number spoils every row that sees it: all of both heads from token 3 on, and those before it
// too, since the vectors of a layer are looked at together.
model::Model<float> spoiled_at_token_3() {
    model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        if (model.layout().parameters[i].role == model::Role::embedding) {
            model.parameters()->at(static_cast<int>(i))[static_cast<std::size_t>(ids_of(24)[3]) * 8] = NAN;
            break;  // of the tokens
        }
    }
    return model;
}

TEST(Edges, RowsThatAreNoNumbersAreLeftOutAndCountedForEveryHead) {
    const Result result = analyse(spoiled_at_token_3(), ids_of(24), with("softmax"), {24}).front();
    EXPECT_EQ(result.rows_left_out, 2U * 24U);
}

TEST(Edges, ARowThatIsNoNumbersIsRefusedWhereItIsAskedForAlone) {
    for (const char* attention : {"softmax", "sigmoid", "sparsemax", "entmax15"}) {
        Settings settings = with(attention);
        settings.head = {0, 1};
        settings.row = 10;
        try {
            row_document(spoiled_at_token_3(), ids_of(24), settings);
            ADD_FAILURE() << attention;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("got scores or vectors that are no finite numbers"),
                      std::string::npos)
                << attention << ": " << error.what();
        }
    }
}

// Rows 20 to 23 see 21 to 24 keys, and each head separates two of them: in the last row the second one's are no numbers.
TEST(Edges, CoverageIsOfRowsThatNoHeadHasLeftOut) {
    Plan plan;
    plan.lengths = {24};
    HeadSums first(plan, Normaliser::parse("softmax"));
    HeadSums second(plan, Normaliser::parse("softmax"));
    std::vector<std::size_t> keys(24);
    for (std::size_t t = 0; t < 24; ++t) {
        keys[t] = t + 1;
        first.separated()[t] = {0, 1};
        second.separated()[t] = {1, 2};
    }
    second.separated()[23].clear();
    second.leave_out(23);
    const Coverage found = coverage_of({&first, &second}, keys, 24);
    EXPECT_NEAR(found.share, (2.0 / 21 + 2.0 / 22 + 2.0 / 23) / 3, 1e-15);
    EXPECT_NEAR(found.measured, (3.0 / 21 + 3.0 / 22 + 3.0 / 23) / 3, 1e-15);
}

// T = 1e-9 leaves one key with all of the weight, far below what exp can tell from zero.
TEST(Edges, AllWeightOnOneKeyOfEveryRow) {
    const model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    const Result result = analyse(model, ids_of(24), with("softmax:1e-9"), {12, 24}).front();
    EXPECT_EQ(result.rows_left_out, 0U);
    for (const HeadResult& head : result.heads) {
        EXPECT_EQ(head.entropy, 0);
        EXPECT_EQ(head.active, 1);
        EXPECT_EQ(head.peak, 1);
        EXPECT_EQ(head.spectral, 0);
        EXPECT_EQ(head.infinity, 0);
        EXPECT_EQ(head.infinity_to_one.upper, 0);
        for (const DistanceMeans& row : head.by_n) {
            if (row.n < 24) {
                EXPECT_EQ(row.share, 1);
                EXPECT_LE(row.distance, row.bound * (1 + 1e-9)) << row.n;
                // Every key outside is |x_1| away; with more keys the bound takes the longest of them.
                EXPECT_TRUE(row.n > 1 || row.distance > row.bound * (1 - 1e-9));
            }
        }
        // The heavy key is at 0 from s, the others as far as those outside: N_s/N = 1.
        for (const SeparationMeans& row : head.separation) {
            EXPECT_TRUE(row.n >= 24 || std::abs(row.ratio - 1) < 1e-12) << row.n << " " << row.ratio;
        }
    }
}

// At an endless temperature all weights of a row are 1/L exactly, and the order is that of the keys. The first three
// keys get the same weights from the same rows, and the first of them is named as the one with the most weight.
TEST(Edges, ExactlyTiedWeights) {
    model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    const std::vector<std::int32_t> ids = ids_of(24);
    const Result result = analyse(model, ids, with("softmax:1e30"), {24}).front();
    for (const HeadResult& head : result.heads) {
        EXPECT_NEAR(head.entropy_share, 1, 1e-12);
        double mean = 0;  // of 1/L
        for (std::size_t keys = 3; keys <= 24; ++keys) {
            mean += 1.0 / static_cast<double>(keys) / 22;
        }
        EXPECT_NEAR(head.spectral * 1e30, mean, 1e-12) << "the norm of I/L - 11'/L^2 is 1/L";
        EXPECT_NEAR(head.sink, mean, 1e-12);
        EXPECT_EQ(head.sink_key, 0U);
        const auto five = std::find_if(head.by_n.begin(), head.by_n.end(), [](const auto& row) { return row.n == 5; });
        double share = 0;
        for (std::size_t keys = 6; keys <= 24; ++keys) {
            share += 5.0 / static_cast<double>(keys);
        }
        EXPECT_NEAR(five->share, share / 19, 1e-12);
        EXPECT_NEAR(five->uniformity, 1, 1e-12);
    }
}

// No row has more keys than the text has tokens: nothing is outside, and there is no number rather than a wrong one.
TEST(Edges, AsManySelectedAsThereAreKeys) {
    const model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    Settings settings;
    settings.top = {23, 24, 25};
    const std::vector<Result> results = analyse(model, ids_of(24), settings, {24});
    const Result& result = results.front();
    ASSERT_EQ(result.by_n.size(), 3U);
    EXPECT_TRUE(std::isfinite(result.by_n[0].distance));
    EXPECT_TRUE(std::isnan(result.by_n[1].distance));
    EXPECT_TRUE(std::isnan(result.by_n[2].bound));
    EXPECT_EQ(result.critical.front().distances.size(), 23U);
    const Json json = document({}, 24, settings, results, {});
    EXPECT_TRUE(parse_json(dump_json(json, 0), "it").at("distance_by_n")[1].at("true").is_null());
    settings.include_masked = true;
    const Result masked = analyse(model, ids_of(24), settings, {24}).front();
    EXPECT_TRUE(std::isfinite(masked.by_n[0].distance));
    EXPECT_TRUE(std::isnan(masked.by_n[1].distance));
}

TEST(Edges, OneLayerHasOneRowInEveryTable) {
    const model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    const std::vector<Result> results = analyse(model, ids_of(24), {}, {24});
    EXPECT_EQ(results[0].heads.size(), one_layer().heads);
    EXPECT_EQ(results[0].coverage.size(), 1U);
    EXPECT_EQ(summary(results).size(), 5U);
    const std::string table = heads_table(results);
    EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), 1 + one_layer().heads);
}

// Three tokens are the fewest: one row of three keys.
TEST(Edges, ThreeTokensAreEnough) {
    const model::Model<float> model = model::test::tiny_model<float>(one_layer(), 5);
    const std::vector<Result> results = analyse(model, ids_of(3), {}, {3});
    EXPECT_EQ(results[0].heads[0].rows, 1U);
    EXPECT_TRUE(std::isnan(results[0].by_length[0].distance));  // N = 5 of three keys
    EXPECT_EQ(results[0].heads[0].told_n, 2U);
    EXPECT_EQ(results[0].critical[0].distances.size(), 2U);
    EXPECT_EQ(summary(results)[1], "The 5 heaviest keys hold - of the weight at 3 tokens.");
}

// Ids repeat after eleven tokens, so that two embeddings are the same: delta is 0, and the curves over distinct tokens
// take the least distance of two that differ.
TEST(Edges, RepeatedTokensHaveDeltaZeroAndCurvesOfTheirOwn) {
    const model::Architecture a = one_layer();
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const std::vector<std::int32_t> ids = ids_of(24);
    Settings settings;
    settings.vectors = Vectors::embedding;
    const std::vector<Result> results = analyse(model, ids, settings, {24});
    const HeadResult& head = results[0].heads[1];
    // The weights, as the pass has them.
    std::vector<std::vector<double>> scores(ids.size());
    model::Taps<float> taps;
    taps.add("blocks.0.attn.scores", [&](const model::TapView<float>& view) {
        for (std::size_t i = 0; view.head == 1 && i < view.rows; ++i) {
            const float* const row = view.row(i) - view.first_column;
            scores[view.first_row + i].assign(row, row + view.first_row + i + 1);
        }
    });
    model::Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    const float* const table = model.at(model.layout().tokens);
    double lower = 0, upper = 0, lower_distinct = 0, upper_distinct = 0, rows = 0;
    constexpr std::size_t n = 4;
    for (std::size_t t = n; t < ids.size(); ++t) {
        reference::Row row;
        row.dim = a.dim;
        double sum = 0;
        for (std::size_t j = 0; j <= t; ++j) {
            row.weights.push_back(std::exp(scores[t][j]));
            sum += row.weights.back();
            const float* const x = table + static_cast<std::size_t>(ids[j]) * a.dim;
            row.vectors.insert(row.vectors.end(), x, x + a.dim);
        }
        for (double& weight : row.weights) {
            weight /= sum;
        }
        double least = 2, distinct = 2;
        const reference::Row unit = reference::normalised(row);
        for (std::size_t i = 0; i <= t; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                double squares = 0;
                for (std::size_t c = 0; c < a.dim; ++c) {
                    squares += std::pow(unit.vector(i)[c] - unit.vector(j)[c], 2);
                }
                least = std::min(least, ids[i] == ids[j] ? 0 : std::sqrt(squares));
                distinct = ids[i] == ids[j] ? distinct : std::min(distinct, std::sqrt(squares));
            }
        }
        EXPECT_EQ(least == 0, t >= 11) << t;
        const SeparationAtN any = reference::separation(row, n, least);
        const SeparationAtN differing = reference::separation(row, n, distinct);
        lower += any.lower;
        upper += any.upper;
        lower_distinct += differing.lower;
        upper_distinct += differing.upper;
        ++rows;
    }
    const auto found = std::find_if(head.separation.begin(), head.separation.end(),
                                    [](const SeparationMeans& row) { return row.n == n; });
    ASSERT_NE(found, head.separation.end());
    EXPECT_NEAR(found->lower, lower / rows, 1e-5);
    EXPECT_NEAR(found->upper, upper / rows, 1e-5);
    EXPECT_NEAR(found->lower_distinct, lower_distinct / rows, 1e-5);
    EXPECT_NEAR(found->upper_distinct, upper_distinct / rows, 1e-5);
    EXPECT_GT(found->lower_distinct, found->lower + 0.01);  // a larger delta makes every xi smaller
    EXPECT_GT(found->upper_distinct, found->upper);
    const Json json = document({}, 24, settings, results, {});
    EXPECT_EQ(json.at("heads")[1].at("separation")[2].at("n"), 4);
    EXPECT_EQ(json.at("heads")[1].at("separation")[2].at("lower_distinct"), found->lower_distinct);
    EXPECT_EQ(json.at("heads")[1].at("separation")[2].at("upper_distinct"), found->upper_distinct);
}

// Rows of every length up to four vectors and beyond, so that both loops and what is left behind them are walked.
TEST(Edges, BothSetsOfKernelsAgree) {
    if (active_isa() == Isa::plain) {
        GTEST_SKIP() << "there is only one here";
    }
    const RowKernels& plain = row_kernels(Isa::plain);
    const RowKernels& fast = row_kernels(active_isa());
    for (std::size_t m = 1; m < 40; ++m) {
        const reference::Row row = random_row(m, 5, 2, m);
        const Prepared prepared(row);
        std::vector<double> open(m, 1.0);
        open[m / 2] = 0;
        std::vector<double> q(m), b(m);
        for (std::size_t i = 0; i < m; ++i) {
            q[i] = row.weights[i] * row.weights[i] * prepared.gram.diagonal()[i];
            b[i] = row.weights[i] * prepared.along[i];
        }
        const double* const g = prepared.gram.row(m / 2);
        const double* const alpha = row.weights.data();
        const double* const diagonal = prepared.gram.diagonal();
        const double* const inverse = prepared.gram.inverse_lengths();
        std::vector<double> c1(m, 0.1), c2(m, 0.1), f1(m), f2(m), one(m, 1.0);
        const auto near = [m](double found, double wanted, const char* what) {
            EXPECT_NEAR(found, wanted, 1e-12 * (1 + std::abs(wanted))) << what << " of " << m;
        };
        near(fast.join(m, 0.3, g, 2, alpha, q.data(), open.data(), c1.data()),
             plain.join(m, 0.3, g, 2, alpha, q.data(), open.data(), c2.data()), "join");
        fast.add(m, 0.2, g, c1.data());
        plain.add(m, 0.2, g, c2.data());
        near(fast.main_sum(m, 0.4, 3, q.data(), b.data()), plain.main_sum(m, 0.4, 3, q.data(), b.data()), "main_sum");
        near(fast.rms_sum(m, 0.4, 3, 0.7, 5, 0.1, q.data(), b.data()),
             plain.rms_sum(m, 0.4, 3, 0.7, 5, 0.1, q.data(), b.data()), "rms_sum");
        near(fast.farthest(m, 2, g, diagonal, open.data(), f1.data()),
             plain.farthest(m, 2, g, diagonal, open.data(), f2.data()), "farthest");
        near(fast.nearest(m, 2, alpha, q.data(), inverse, open.data(), c1.data()),
             plain.nearest(m, 2, alpha, q.data(), inverse, open.data(), c2.data()), "nearest");
        fast.unit_farthest(m, 1, 0.5, g, inverse, one.data(), f1.data());
        plain.unit_farthest(m, 1, 0.5, g, inverse, one.data(), f2.data());
        near(fast.squared_difference(m, c1.data(), f1.data()), plain.squared_difference(m, c2.data(), f2.data()),
             "squared_difference");
        double v1 = 0, v2 = 0, s1 = 0, s2 = 0;
        fast.secular(m, 3, alpha, &v1, &s1);
        plain.secular(m, 3, alpha, &v2, &s2);
        near(v1, v2, "secular");
        near(s1, s2, "slope");
        for (std::size_t i = 0; i < m; ++i) {
            near(c1[i], c2[i], "c");
            near(f1[i], f2[i], "far");
        }
    }
}

}  // namespace
}  // namespace flyball::limits::edges_test
