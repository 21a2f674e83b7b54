// The analysis of a model against the definitions, applied to what a pass of the same model records.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "limits/analysis.hpp"
#include "limits/diagnosis.hpp"
#include "limits/document.hpp"
#include "limits/head_sums.hpp"
#include "limits/jacobian.hpp"
#include "limits/reference.hpp"
#include "limits/row_report.hpp"
#include "model/pass.hpp"
#include "model/tiny.hpp"

namespace flyball::limits {
namespace {

constexpr const char* pre_ln = "x + dt*f(norm(x)) | norm(x)";
constexpr std::size_t tokens = 30;

model::Architecture small(bool causal) {
    model::Architecture a = model::test::tiny_architecture(pre_ln);
    a.layers = 2;
    a.positions = 40;
    a.causal = causal;
    return a;
}

std::vector<std::int32_t> some_ids() {
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>((i * i + 3 * i) % 11);
    }
    return ids;
}

// Rows of a head as the definitions want them, from what the taps show.
struct Recorded {
    std::vector<std::vector<double>> scores;   // [head * tokens + token][tokens], NaN where masked
    std::vector<std::vector<double>> vectors;  // [head][tokens * dim]
    std::size_t dim = 0;
};

Recorded record(const model::Model<float>& model, const std::vector<std::int32_t>& ids, std::size_t layer,
                Vectors vectors) {
    const model::Architecture& a = model.architecture();
    Recorded r;
    r.scores.assign(a.heads * ids.size(), std::vector<double>(ids.size(), std::nan("")));
    r.vectors.resize(a.heads);
    r.dim = vectors == Vectors::value ? a.head_dim : a.dim;
    using View = model::TapView<float>;
    model::Taps<float> taps;
    const std::string block = "blocks." + std::to_string(layer);
    taps.add(block + ".attn.scores", [&](const View& view) {
        for (std::size_t i = 0; i < view.rows; ++i) {
            for (std::size_t j = 0; j < view.columns; ++j) {
                const float score = view.row(i)[j];
                r.scores[view.head * ids.size() + view.first_row + i][view.first_column + j] =
                    std::isinf(score) ? std::nan("") : double{score};
            }
        }
    });
    const auto keep = [&](const View& view) {
        for (std::size_t h = 0; h < a.heads; ++h) {
            const std::size_t first = vectors == Vectors::value ? h * a.kv_heads / a.heads * a.head_dim : 0;
            r.vectors[h].clear();
            for (std::size_t t = 0; t < view.rows; ++t) {
                r.vectors[h].insert(r.vectors[h].end(), view.row(t) + first, view.row(t) + first + r.dim);
            }
        }
    };
    if (vectors == Vectors::value) {
        taps.add(block + ".attn.value", keep);
    } else if (vectors == Vectors::hidden) {
        taps.add(layer == 0 ? "embed" : "blocks." + std::to_string(layer - 1) + ".resid", keep);
    } else {
        const float* const table = model.at(model.layout().tokens);
        for (std::size_t h = 0; h < a.heads; ++h) {
            for (const std::int32_t id : ids) {
                const float* const row = table + static_cast<std::size_t>(id) * a.dim;
                for (std::size_t k = 0; k < a.dim; ++k) {
                    r.vectors[h].push_back(a.embedding_scale * double{row[k]});
                }
            }
        }
    }
    model::Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    return r;
}

// Softmax over what a row sees; with `length` also keys of weight 0 behind the mask.
reference::Row row_of(const Recorded& r, std::size_t head, std::size_t t, std::size_t count, bool include) {
    reference::Row row;
    row.dim = r.dim;
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
        const double score = r.scores[head * count + t][j];
        if (std::isnan(score) && !include) {
            continue;
        }
        row.weights.push_back(std::isnan(score) ? 0 : std::exp(score));
        sum += row.weights.back();
        row.vectors.insert(row.vectors.end(), r.vectors[head].begin() + static_cast<std::ptrdiff_t>(j * r.dim),
                           r.vectors[head].begin() + static_cast<std::ptrdiff_t>((j + 1) * r.dim));
    }
    for (double& weight : row.weights) {
        weight /= sum;
    }
    return row;
}

struct Direct {
    double distance = 0, expected = 0, rms = 0, bound = 0, rows = 0;
};

void expect_same(const model::Architecture& a, const Settings& settings) {
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const std::vector<std::int32_t> all = some_ids();
    const std::vector<std::size_t> lengths = {10, 20, tokens};
    const Result result = analyse(model, all, settings, lengths).front();
    ASSERT_EQ(result.heads.size(), a.layers * a.heads);
    EXPECT_EQ(result.rows_left_out, 0U);
    for (std::size_t k = 0; k < lengths.size(); ++k) {
        const std::vector<std::int32_t> ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(lengths[k]));
        for (std::size_t layer = 0; layer < a.layers; ++layer) {
            const Recorded r = record(model, ids, layer, settings.vectors);
            for (std::size_t head = 0; head < a.heads; ++head) {
                const HeadResult& found = result.heads[layer * a.heads + head];
                Direct d;
                for (std::size_t t = 0; t < ids.size(); ++t) {
                    const reference::Row row = row_of(r, head, t, ids.size(), settings.include_masked);
                    if (row.keys() > n_over_length) {
                        const DistanceAtN at = reference::distances(row, n_over_length);
                        d.distance += at.distance;
                        d.expected += at.expected;
                        d.rms += at.expected_rms;
                        d.bound += at.bound;
                        ++d.rows;
                    }
                }
                const DistanceMeans& means = found.by_length[k];
                ASSERT_EQ(means.length, lengths[k]);
                EXPECT_NEAR(means.distance, d.distance / d.rows, 1e-6 * d.distance) << layer << "." << head;
                EXPECT_NEAR(means.expected, d.expected / d.rows, 1e-6 * d.expected);
                EXPECT_NEAR(means.expected_rms, d.rms / d.rows, 1e-6 * d.rms);
                EXPECT_NEAR(means.bound, d.bound / d.rows, 1e-6 * d.bound);
            }
        }
    }
}

TEST(Analysis, OfACausalModelIsTheDefinition) {
    for (const Vectors vectors : {Vectors::embedding, Vectors::hidden, Vectors::value}) {
        Settings settings;
        settings.vectors = vectors;
        expect_same(small(true), settings);
    }
}

// As Gemma has one: a token's vector is its row of the table times the factor (docs/limits.md, model/architecture.hpp).
// Four, so that the product is exact in float.
TEST(Analysis, OfEmbeddingsTakesTheFactorOfTheModel) {
    model::Architecture a = small(true);
    a.embedding_scale = 4;
    Settings settings;
    settings.vectors = Vectors::embedding;
    expect_same(a, settings);
}

TEST(Analysis, OfABidirectionalModelIsTheDefinition) {
    expect_same(small(false), {});
}

TEST(Analysis, WithMaskedKeysIsTheDefinition) {
    Settings settings;
    settings.include_masked = true;
    expect_same(small(true), settings);
}

// Theorem 2 with the least distance of all positions, and rows of one key too; the measures of a head stay those of the
// keys that are seen.
TEST(Analysis, SeparationWithMaskedKeysIsTheDefinition) {
    model::Architecture a = small(true);
    a.windows = {0, 8};
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.include_masked = true;
    const std::vector<std::int32_t> ids = some_ids();
    const Result result = analyse(model, ids, settings, {tokens}).front();
    const Result seen_alone = analyse(model, ids, {}, {tokens}).front();
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const Recorded r = record(model, ids, layer, Vectors::hidden);
        double ratio = 0, lower = 0, upper = 0;
        for (std::size_t t = 0; t < tokens; ++t) {
            const reference::Row row = row_of(r, 1, t, tokens, true);
            const SeparationAtN at = reference::separation(row, 4, reference::spread(reference::normalised(row)).least);
            ratio += at.ratio / tokens;
            lower += at.lower / tokens;
            upper += at.upper_exact / tokens;
        }
        const HeadResult& found = result.heads[layer * a.heads + 1];
        const auto four = std::find_if(found.separation.begin(), found.separation.end(),
                                       [](const SeparationMeans& row) { return row.n == 4; });
        EXPECT_NEAR(four->ratio, ratio, 1e-9) << layer;
        EXPECT_NEAR(four->lower, lower, 1e-4 * (1 + std::abs(lower))) << layer;
        EXPECT_NEAR(four->upper_exact, upper, 1e-9) << layer;
        const HeadResult& other = seen_alone.heads[layer * a.heads + 1];
        double spectral = 0;
        for (std::size_t t = 2; t < tokens; ++t) {
            spectral += reference::spectral_norm(row_of(r, 1, t, tokens, false).weights) / 2 / (tokens - 2);
        }
        EXPECT_NEAR(found.spectral, spectral, 1e-6) << layer;
        EXPECT_EQ(found.entropy, other.entropy);
        EXPECT_EQ(found.active_share, other.active_share);
        EXPECT_EQ(found.spectral, other.spectral);
        EXPECT_EQ(found.jacobian[3].spectral_largest, other.jacobian[3].spectral_largest);
        EXPECT_EQ(found.sensitivity[5].value, other.sensitivity[5].value);
    }
}

// The vectors of all layers are the same, the keys that a row sees are not.
TEST(Analysis, TheLeastDistanceOfEmbeddingsIsThatOfTheKeysInTheWindow) {
    model::Architecture a = small(true);
    a.windows = {0, 8};
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.vectors = Vectors::embedding;
    // A token comes again after eleven: among all keys the least distance is zero, within a window it is not.
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>(i % 11);
    }
    const Result result = analyse(model, ids, settings, {tokens}).front();
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const Recorded r = record(model, ids, layer, Vectors::embedding);
        double lower = 0;
        double rows = 0;
        for (std::size_t t = 4; t < tokens; ++t) {
            const reference::Row row = row_of(r, 1, t, tokens, false);
            lower += reference::separation(row, 4, reference::spread(reference::normalised(row)).least).lower;
            ++rows;
        }
        const std::vector<SeparationMeans>& separation = result.heads[layer * a.heads + 1].separation;
        const auto four = std::find_if(separation.begin(), separation.end(), [](const auto& at) { return at.n == 4; });
        EXPECT_NEAR(four->lower, lower / rows, 1e-4 * (1 + std::abs(lower / rows))) << layer;
    }
}

// They are looked for where they are wanted first, and again where the window is another one than that of the block
// before which called attention.
TEST(Analysis, TheLeastDistanceOfEmbeddingsIsKnownBehindABlockWithoutAttention) {
    struct Case {
        const char* equation;
        std::vector<std::size_t> windows;
    };
    for (const Case& one : {Case{"t < 1 ? x + dt*ffn(norm(x)) : x + dt*attn(norm(x)) | norm(x)", {0, 0}},
                            Case{"t < 1 ? x + dt*attn(norm(x)) : t < 2 ? x + dt*ffn(norm(x)) : x + dt*attn(norm(x)) | "
                                 "norm(x)",
                                 {0, 8, 8}}}) {
        model::Architecture a = small(true);
        a.layers = one.windows.size();
        a.windows = one.windows;
        a.equation = one.equation;
        const model::Model<float> model = model::test::tiny_model<float>(a, 5);
        Settings settings;
        settings.vectors = Vectors::embedding;
        std::vector<std::int32_t> ids(tokens);
        for (std::size_t i = 0; i < tokens; ++i) {
            ids[i] = static_cast<std::int32_t>(i % 11);
        }
        const Result result = analyse(model, ids, settings, {tokens}).front();
        const Recorded r = record(model, ids, a.layers - 1, Vectors::embedding);
        double lower = 0;
        for (std::size_t t = 4; t < tokens; ++t) {
            const reference::Row row = row_of(r, 1, t, tokens, false);
            lower += reference::separation(row, 4, reference::spread(reference::normalised(row)).least).lower /
                     static_cast<double>(tokens - 4);
        }
        const std::vector<SeparationMeans>& separation = result.heads.back().separation;
        const auto four = std::find_if(separation.begin(), separation.end(), [](const auto& at) { return at.n == 4; });
        EXPECT_NEAR(four->lower, lower, 1e-4 * (1 + std::abs(lower))) << one.equation;
    }
}

TEST(Analysis, WithWindowsAndGroupedHeadsIsTheDefinition) {
    model::Architecture a = model::test::tiny_llama(pre_ln);
    a.layers = 2;
    a.positions = 40;
    a.windows = {0, 8};
    for (const Vectors vectors : {Vectors::embedding, Vectors::value}) {
        Settings settings;
        settings.vectors = vectors;
        expect_same(a, settings);
    }
}

// Heads 0 and 1 share the first values, 2 and 3 the second.
TEST(Analysis, OfTwoGroupsOfHeadsIsTheDefinition) {
    model::Architecture a = small(true);
    a.heads = 4;
    a.kv_heads = a.head_dim = 2;
    Settings settings;
    settings.vectors = Vectors::value;
    expect_same(a, settings);
}

TEST(Analysis, OfOneLayerAndOneHead) {
    model::Architecture a = small(true);
    a.layers = a.heads = a.kv_heads = 1;
    a.head_dim = 8;
    expect_same(a, {});
}

// GPT-2 can divide the scores of block l by l as well: the second block's own temperature is twice the first one's, and at
// each temperature of the grid its weights are those of the products over it.
TEST(Analysis, TheJacobianOfABlockIsAtItsOwnTemperature) {
    model::Architecture a = small(true);
    a.scale_by_layer = true;
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const Result result = analyse(model, some_ids(), {}, {tokens}).front();
    const Recorded r = record(model, some_ids(), 1, Vectors::hidden);
    const HeadResult& found = result.heads[a.heads + 1];
    EXPECT_NEAR(found.temperature, 4, 1e-6);
    for (const JacobianMeans& at : found.jacobian) {
        double mean = 0;
        for (std::size_t t = 2; t < tokens; ++t) {
            std::vector<double> weights = row_of(r, 1, t, tokens, false).weights;
            const double top = *std::max_element(weights.begin(), weights.end());
            double sum = 0;
            for (double& weight : weights) {
                weight = std::pow(weight / top, 4 / at.temperature);
                sum += weight;
            }
            for (double& weight : weights) {
                weight /= sum;
            }
            mean += infinity_norm(weights) / at.temperature / static_cast<double>(tokens - 2);
        }
        EXPECT_NEAR(at.infinity, mean, 1e-4 * mean) << at.temperature;
    }
    // And so are the norms of the head as it is.
    double spectral = 0, infinity = 0;
    Interval sets;
    for (std::size_t t = 2; t < tokens; ++t) {
        const std::vector<double> weights = row_of(r, 1, t, tokens, false).weights;
        spectral += reference::spectral_norm(weights) / 4 / static_cast<double>(tokens - 2);
        infinity += infinity_norm(weights) / 4 / static_cast<double>(tokens - 2);
        sets.lower += infinity_to_one_norm(weights).lower / 4 / static_cast<double>(tokens - 2);
        sets.upper += infinity_to_one_norm(weights).upper / 4 / static_cast<double>(tokens - 2);
    }
    EXPECT_NEAR(found.spectral, spectral, 1e-6);
    EXPECT_NEAR(found.infinity, infinity, 1e-6);
    EXPECT_NEAR(found.infinity_to_one.lower, sets.lower, 1e-5);
    EXPECT_NEAR(found.infinity_to_one.upper, sets.upper, 1e-6);
}

TEST(Analysis, SeparationEntropyAndJacobianAreTheDefinitions) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const std::vector<std::int32_t> ids = some_ids();
    const Result result = analyse(model, ids, {}, {tokens}).front();
    const Recorded r = record(model, ids, 1, Vectors::hidden);
    const HeadResult& found = result.heads[a.heads + 1];
    EXPECT_EQ(found.layer, 1U);
    EXPECT_EQ(found.head, 1U);
    EXPECT_NEAR(found.temperature, 2, 1e-6);  // heads of 4 channels
    double entropy = 0, entropy_share = 0, spectral = 0, active = 0, active_share = 0, rows = 0, peak = 0, infinity = 0;
    Interval sets;
    std::vector<double> colder(temperature_grid().size());  // the row norm of J at each temperature
    std::vector<double> ratio(3), upper_broken(3), lower(3), upper(3), count(3), received(tokens), seen(tokens);
    const std::vector<std::size_t> chosen = {2, 8, 20};
    for (std::size_t t = 2; t < tokens; ++t) {
        const reference::Row row = row_of(r, 1, t, tokens, false);
        ++rows;
        const auto keys = static_cast<double>(t + 1);
        for (const double w : row.weights) {
            entropy -= w * std::log(w);
            entropy_share -= w * std::log(w) / std::log(keys);  // 1: spread over all keys
        }
        const std::vector<std::size_t> order = reference::order_of(row.weights);
        double mass = 0;
        for (std::size_t k = 0; mass < 0.9; ++k) {
            mass += row.weights[order[k]];
            ++active;
            active_share += 1 / keys;
        }
        peak += row.weights[order.front()];
        spectral += reference::spectral_norm(row.weights) / 2;
        infinity += infinity_norm(row.weights) / 2;
        sets.lower += infinity_to_one_norm(row.weights).lower / 2;
        sets.upper += infinity_to_one_norm(row.weights).upper / 2;
        for (std::size_t i = 0; i < colder.size(); ++i) {
            std::vector<double> weights = row.weights;  // softmax of 2 log a/T
            double sum = 0;
            for (double& w : weights) {
                w = std::pow(w / row.weights[order.front()], 2 / temperature_grid()[i]);
                sum += w;
            }
            for (double& w : weights) {
                w /= sum;
            }
            colder[i] += infinity_norm(weights) / temperature_grid()[i];
        }
        for (std::size_t k = 0; k < row.keys(); ++k) {
            received[k] += row.weights[k];
            ++seen[k];
        }
        const double delta = reference::spread(reference::normalised(row)).least;
        for (std::size_t k = 0; k < 3 && chosen[k] < row.keys(); ++k) {
            const SeparationAtN at = reference::separation(row, chosen[k], delta);
            ratio[k] += at.ratio;
            lower[k] += at.lower;
            upper[k] += at.upper_exact;
            upper_broken[k] += at.upper < at.ratio - 1e-9 ? 1 : 0;
            ++count[k];
        }
    }
    EXPECT_EQ(found.rows, tokens - 2);
    // At every temperature of the grid, where most weights vanish or all are nearly equal; scores are products over 2.
    ASSERT_EQ(found.jacobian.size(), temperature_grid().size());
    for (const JacobianMeans& at : found.jacobian) {
        double mean = 0, largest = 0, rows_norm = 0;
        for (std::size_t t = 2; t < tokens; ++t) {
            std::vector<double> weights;
            double top = -HUGE_VAL, sum = 0;
            for (std::size_t j = 0; j <= t; ++j) {
                top = std::max(top, r.scores[tokens + t][j]);
            }
            for (std::size_t j = 0; j <= t; ++j) {
                weights.push_back(std::exp(2 * (r.scores[tokens + t][j] - top) / at.temperature));
                sum += weights.back();
            }
            for (double& weight : weights) {
                weight /= sum;
            }
            const double norm = reference::spectral_norm(weights) / at.temperature;
            mean += norm / static_cast<double>(tokens - 2);
            largest = std::max(largest, norm);
            rows_norm += infinity_norm(weights) / at.temperature / static_cast<double>(tokens - 2);
        }
        EXPECT_NEAR(at.spectral, mean, 1e-9 * mean + 1e-12) << at.temperature;
        EXPECT_NEAR(at.spectral_largest, largest, 1e-9 * largest + 1e-12) << at.temperature;
        EXPECT_NEAR(at.infinity, rows_norm, 1e-9 * rows_norm + 1e-12) << at.temperature;
    }
    EXPECT_NEAR(found.entropy, entropy / rows, 1e-6);
    EXPECT_NEAR(found.entropy_share, entropy_share / rows, 1e-6);
    EXPECT_NEAR(found.active, active / rows, 1e-9);
    EXPECT_NEAR(found.active_share, active_share / rows, 1e-9);
    EXPECT_NEAR(found.peak, peak / rows, 1e-6);
    EXPECT_NEAR(found.spectral, spectral / rows, 1e-6);
    EXPECT_NEAR(found.infinity, infinity / rows, 1e-6);
    EXPECT_NEAR(found.infinity_to_one.lower, sets.lower / rows, 1e-5);
    EXPECT_NEAR(found.infinity_to_one.upper, sets.upper / rows, 1e-6);
    for (std::size_t i = 0; i < colder.size(); ++i) {
        EXPECT_NEAR(found.jacobian[i].infinity, colder[i] / rows, 1e-4 * colder[i] / rows) << temperature_grid()[i];
    }
    double sink = 0;
    for (std::size_t k = 0; k < tokens; ++k) {
        sink = 2 * seen[k] >= rows ? std::max(sink, received[k] / seen[k]) : sink;
    }
    EXPECT_NEAR(found.sink, sink, 1e-6);
    for (std::size_t k = 0; k < 3; ++k) {
        const auto row = std::find_if(found.separation.begin(), found.separation.end(),
                                      [&](const SeparationMeans& s) { return s.n == chosen[k]; });
        ASSERT_NE(row, found.separation.end());
        EXPECT_NEAR(row->ratio, ratio[k] / count[k], 1e-9) << chosen[k];
        EXPECT_NEAR(row->lower, lower[k] / count[k], 1e-4 * std::abs(lower[k]));
        EXPECT_NEAR(row->upper_exact, upper[k] / count[k], 1e-9);
        EXPECT_EQ(row->exact_broken, 0);
        EXPECT_EQ(row->lower_broken, 0);
        EXPECT_NEAR(row->upper_broken, upper_broken[k] / count[k], 1e-12);
    }
}

// Embeddings of the same token are the same vector: the least distance is 0, that of two which differ is not.
TEST(Analysis, RepeatedVectorsHaveBoundsOfTheirOwn) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.vectors = Vectors::embedding;
    const Result result = analyse(model, some_ids(), settings, {tokens}).front();
    const Recorded r = record(model, some_ids(), 0, Vectors::embedding);
    double lower = 0, lower_distinct = 0, upper_distinct = 0, rows = 0;
    for (std::size_t t = 8; t < tokens; ++t) {
        const reference::Row row = row_of(r, 0, t, tokens, false);
        const reference::Spread spread = reference::spread(reference::normalised(row));
        const SeparationAtN distinct = reference::separation(row, 8, std::min(spread.least_distinct, 2.0));
        lower += reference::separation(row, 8, std::min(spread.least, 2.0)).lower;
        lower_distinct += distinct.lower;
        upper_distinct += distinct.upper;
        ++rows;
    }
    const std::vector<SeparationMeans>& found = result.heads[0].separation;
    const auto at = std::find_if(found.begin(), found.end(), [](const SeparationMeans& s) { return s.n == 8; });
    ASSERT_NE(at, found.end());
    EXPECT_NEAR(at->lower, lower / rows, 1e-5 * std::abs(lower));
    EXPECT_NEAR(at->lower_distinct, lower_distinct / rows, 1e-5 * std::abs(lower_distinct));
    EXPECT_NEAR(at->upper_distinct, upper_distinct / rows, 1e-5);
    EXPECT_GT(std::abs(lower - lower_distinct), 1e-3 * std::abs(lower)) << "otherwise this says nothing";
}

// A window of 8 lets no key be seen by half of the rows, and a key that few see is no sink.
TEST(Analysis, SinksAreKeysThatHalfOfTheRowsSee) {
    model::Architecture a = small(true);
    a.windows = {0, 8};
    const Result result = analyse(model::test::tiny_model<float>(a, 5), some_ids(), {}, {tokens}).front();
    EXPECT_GT(result.heads[0].sink, 0);
    EXPECT_TRUE(std::isnan(result.heads[a.heads].sink)) << "that would be the weight of a key";
    EXPECT_NE(diagnose(result.heads[a.heads]).text.find("no key is seen by half of the tokens: no sink"),
              std::string::npos);
}

// Which of its 20 heaviest keys a row tells from the rest, |a_i - s| <= r, from the vectors themselves.
std::vector<bool> separated(const reference::Row& given, std::size_t n) {
    const reference::Row row = reference::normalised(given);
    const std::vector<std::size_t> order = reference::order_of(row.weights);
    std::vector<double> s(row.dim);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t c = 0; c < row.dim; ++c) {
            s[c] += row.weights[order[k]] * row.vector(order[k])[c];
        }
    }
    std::vector<double> away(row.keys());
    for (std::size_t i = 0; i < row.keys(); ++i) {
        for (std::size_t c = 0; c < row.dim; ++c) {
            const double d = row.weights[i] * row.vector(i)[c] - s[c];
            away[i] += d * d;
        }
    }
    double nearest = HUGE_VAL;
    for (std::size_t k = n; k < row.keys(); ++k) {
        nearest = std::min(nearest, away[order[k]]);
    }
    std::vector<bool> result(row.keys());
    for (std::size_t k = 0; k < n; ++k) {
        result[order[k]] = away[order[k]] <= nearest;
    }
    return result;
}

TEST(Analysis, CoverageIsWhatTheHeadsOfALayerSeparateTogether) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const Result result = analyse(model, some_ids(), {}, {tokens}).front();
    ASSERT_EQ(result.coverage.size(), a.layers);
    for (std::size_t layer = 0; layer < a.layers; ++layer) {
        const Recorded r = record(model, some_ids(), layer, Vectors::hidden);
        double share = 0, predicted = 0, measured = 0, rows = 0;
        for (std::size_t t = 20; t < tokens; ++t) {
            const auto keys = static_cast<double>(t + 1);
            std::vector<bool> together(t + 1);
            double p = 0;
            for (std::size_t head = 0; head < a.heads; ++head) {
                const std::vector<bool> one = separated(row_of(r, head, t, tokens, false), 20);
                for (std::size_t i = 0; i <= t; ++i) {
                    together[i] = together[i] || one[i];
                    p += one[i] ? 1 / (keys * static_cast<double>(a.heads)) : 0;
                }
            }
            share += p;
            predicted += 1 - std::pow(1 - p, static_cast<double>(a.heads));
            measured += static_cast<double>(std::count(together.begin(), together.end(), true)) / keys;
            ++rows;
        }
        const Coverage& found = result.coverage[layer];
        EXPECT_EQ(found.layer, layer);
        EXPECT_EQ(found.heads, a.heads);
        EXPECT_NEAR(found.share, share / rows, 1e-9);
        EXPECT_NEAR(found.predicted, predicted / rows, 1e-9);
        EXPECT_NEAR(found.measured, measured / rows, 1e-9);
        EXPECT_GT(found.share, 0);
    }
}

// D(N) is that of the means of heads, which the definitions give for one N.
TEST(Analysis, KolmogorovSmirnovComparesTheMeansOfHeads) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const Result result = analyse(model, some_ids(), {}, {10, tokens}).front();
    std::vector<double> distance;
    std::vector<double> expected;
    for (const HeadResult& head : result.heads) {
        distance.push_back(head.by_length.back().distance);
        expected.push_back(head.by_length.back().expected);
    }
    ASSERT_EQ(result.critical.size(), 2U);
    EXPECT_EQ(result.critical.back().distances.size(), tokens - 1);
    EXPECT_NEAR(result.critical.back().distances[n_over_length - 1], ks_distance(distance, expected), 1e-12);
    EXPECT_EQ(result.critical.front().length, 10U);
}

TEST(Analysis, SensitivityOfTheModelIsThatOfItsMostSensitiveHead) {
    const model::Model<float> model = model::test::tiny_model<float>(small(true), 5);
    const Result result = analyse(model, some_ids(), {}, {tokens}).front();
    ASSERT_EQ(result.sensitivity.size(), temperature_grid().size() * step_sizes().size());
    for (std::size_t i = 0; i < result.sensitivity.size(); ++i) {
        double most = 0;
        for (const HeadResult& head : result.heads) {
            most = std::max(most, head.sensitivity[i].value);
        }
        EXPECT_EQ(result.sensitivity[i].value, most);
        EXPECT_LE(most,
                  Normaliser().sensitivity_bound(result.sensitivity[i].temperature, result.sensitivity[i].eps, 1));
    }
    for (std::size_t i = 0; i < result.jacobian.size(); ++i) {
        JacobianMeans most;
        for (const HeadResult& head : result.heads) {
            most.spectral = std::max(most.spectral, head.jacobian[i].spectral);
            most.spectral_largest = std::max(most.spectral_largest, head.jacobian[i].spectral_largest);
            most.infinity = std::max(most.infinity, head.jacobian[i].infinity);
        }
        EXPECT_EQ(result.jacobian[i].spectral, most.spectral);
        EXPECT_EQ(result.jacobian[i].spectral_largest, most.spectral_largest);
        EXPECT_EQ(result.jacobian[i].infinity, most.infinity);
    }
    for (const JacobianMeans& row : result.jacobian) {
        EXPECT_LE(row.spectral, row.spectral_largest);
        EXPECT_LE(row.spectral_largest, 1 / (2 * row.temperature) * (1 + 1e-12));
    }
}

// g of one head from the definition, along the directions that all heads share.
TEST(Analysis, SensitivityIsTheDefinition) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.seed = 3;
    const HeadResult found = analyse(model, some_ids(), settings, {tokens}).front().heads[1];
    const Recorded r = record(model, some_ids(), 0, Vectors::hidden);
    const auto weights = [&](std::size_t t, const std::vector<double>& v, double T, double eps) {
        std::vector<double> out;
        double sum = 0;
        for (std::size_t j = 0; j <= t; ++j) {
            out.push_back(std::exp((2 * (r.scores[tokens + t][j] - r.scores[tokens + t][0]) + eps * v[j]) / T));
            sum += out.back();
        }
        for (double& weight : out) {
            weight /= sum;
        }
        return out;
    };
    std::size_t compared = 0;
    for (const SensitivityMeans& at : found.sensitivity) {
        if (at.temperature < 0.05) {
            continue;  // exp without its largest argument taken off
        }
        double mean = 0;
        for (std::size_t t = 2; t < tokens; ++t) {
            const std::vector<double> v = direction_of(3, t, t + 1);
            EXPECT_NEAR(std::inner_product(v.begin(), v.end(), v.begin(), 0.0), 1, 1e-12);
            const std::vector<double> before = weights(t, v, at.temperature, 0);
            const std::vector<double> after = weights(t, v, at.temperature, at.eps);
            double squares = 0;
            for (std::size_t j = 0; j <= t; ++j) {
                squares += (after[j] - before[j]) * (after[j] - before[j]);
            }
            mean += std::sqrt(squares) / at.eps / static_cast<double>(tokens - 2);
        }
        EXPECT_NEAR(at.value, mean, 1e-6 * mean) << at.temperature << " " << at.eps;
        ++compared;
    }
    EXPECT_GT(compared, 15U);
}

TEST(Analysis, ComparesNormalisersOnTheSameLogits) {
    Settings settings;
    for (const std::string& name : Normaliser::names()) {
        settings.attention.push_back(Normaliser::parse(name));
    }
    settings.attention.push_back(Normaliser::parse("softmax:2"));  // the model's own temperature
    const model::Model<float> model = model::test::tiny_model<float>(small(true), 5);
    const std::vector<Result> results = analyse(model, some_ids(), settings, {10, tokens});
    ASSERT_EQ(results.size(), settings.attention.size());
    EXPECT_EQ(results[1].attention, "sparsemax");
    EXPECT_NEAR(results.back().by_length[0].distance, results.front().by_length[0].distance, 1e-6);
    EXPECT_LT(results[1].heads[0].active, results[0].heads[0].active);  // sparsemax leaves keys out
    EXPECT_TRUE(std::isnan(results[5].by_length[0].bound));             // sa-softmax has negative weights
    EXPECT_FALSE(std::isnan(results[6].by_length[0].bound));
    const Json json = document({}, tokens, settings, results, {});
    EXPECT_EQ(json.at("alternatives").size(), results.size() - 1);
    EXPECT_FALSE(guidance(results).empty());
}

// Each head has sums of its own for each kind, which know the kind: what else is asked for changes nothing.
TEST(Analysis, OfSeveralKindsIsThatOfEachAlone) {
    const model::Architecture a = small(true);
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings several;
    for (const char* const name : {"softmax", "sigmoid", "sparsemax"}) {
        several.attention.push_back(Normaliser::parse(name));
    }
    const std::vector<Result> together = analyse(model, some_ids(), several, {10, tokens});
    ASSERT_EQ(together.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
        SCOPED_TRACE(several.attention[k].name());
        Settings one;
        one.attention = {several.attention[k]};
        const Result alone = analyse(model, some_ids(), one, {10, tokens}).front();
        EXPECT_EQ(together[k].attention, several.attention[k].name());
        ASSERT_EQ(together[k].heads.size(), a.layers * a.heads);
        for (std::size_t h = 0; h < together[k].heads.size(); ++h) {
            const HeadResult& found = together[k].heads[h];
            const HeadResult& wanted = alone.heads[h];
            EXPECT_EQ(found.layer, h / a.heads);
            EXPECT_EQ(found.head, h % a.heads);
            EXPECT_EQ(std::isnan(found.spectral), k != 0) << "norms of the Jacobian are those of softmax";
            EXPECT_EQ(found.active, wanted.active);
            EXPECT_EQ(found.by_length[1].distance, wanted.by_length[1].distance);
            ASSERT_EQ(found.sensitivity.size(), wanted.sensitivity.size());
            for (std::size_t i = 0; i < found.sensitivity.size(); ++i) {
                EXPECT_EQ(found.sensitivity[i].value, wanted.sensitivity[i].value) << i;
            }
        }
    }
}

// A model of scalable softmax is looked at as it is, without being told: softmax of log(m) times the scores.
TEST(Analysis, OfAModelIsOfTheKindThatItHas) {
    model::Architecture a = small(true);
    a.attention_kind = attention::Kind::ssmax;
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const Result result = analyse(model, some_ids(), {}, {tokens}).front();
    EXPECT_EQ(result.attention, "ssmax");
    const Recorded r = record(model, some_ids(), 0, Vectors::hidden);
    double peak = 0;
    for (std::size_t t = 2; t < tokens; ++t) {
        const std::vector<double>& scores = r.scores[tokens + t];
        const double top = *std::max_element(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(t + 1));
        double sum = 0;
        for (std::size_t j = 0; j <= t; ++j) {
            sum += std::exp(std::log(static_cast<double>(t + 1)) * (scores[j] - top));
        }
        peak += 1 / sum / static_cast<double>(tokens - 2);
    }
    EXPECT_NEAR(result.heads[1].peak, peak, 1e-6);
}

// Sums take 60 bytes a token for each head and kind; under a causal mask half of the directions are never needed.
TEST(Analysis, MemoryGrowsWithKindsAndIsTwiceTheDirectionsWithoutAMask) {
    Settings settings;
    const double one = memory_estimate(small(true), 1000, settings);
    EXPECT_DOUBLE_EQ(memory_estimate(small(false), 1000, settings) - one, 8 * 1e6 / 2);
    settings.attention = {Normaliser::parse("softmax")};
    EXPECT_EQ(memory_estimate(small(true), 1000, settings), one);
    settings.attention = {Normaliser::parse("softmax"), Normaliser::parse("ssmax"), Normaliser::parse("sigmoid")};
    EXPECT_DOUBLE_EQ(memory_estimate(small(true), 1000, settings) - one, 2 * 4 * 60 * 1000);  // 2 layers of 2 heads
}

// Without a mask every length is a pass of its own, whose work is its third power: 10^3 of 10^3 + 20^3.
TEST(Analysis, ProgressRisesWithTheThirdPowerOfTheLengthsToOne) {
    for (const bool causal : {true, false}) {
        const model::Model<float> model = model::test::tiny_model<float>(small(causal), 5);
        std::vector<double> shares;
        Watch watch;
        watch.progress = [&](double share) { shares.push_back(share); };
        analyse(model, some_ids(), {}, {10, 20}, watch);
        ASSERT_FALSE(shares.empty());
        EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
        EXPECT_GT(shares.front(), 0);
        EXPECT_NEAR(shares.back(), 1, 1e-12);
        const bool stops_between =
            std::any_of(shares.begin(), shares.end(), [](double share) { return std::abs(share - 1.0 / 9) < 1e-12; });
        EXPECT_EQ(stops_between, !causal);
    }
}

TEST(Analysis, OfTwoCallsOfAttentionInABlockIsRefused) {
    model::Architecture a = small(true);
    a.equation = "h = x + dt*attn(norm(x)); o = h + dt*attn(norm(h)); x = o + dt*ffn(norm(o)) | norm(x)";
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    try {
        analyse(model, some_ids(), {}, {tokens});
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what())
                      .find("got an equation that calls attention twice in a block, expected one call of attention"),
                  std::string::npos)
            << error.what();
    }
}

// Weights of sigmoid do not sum to 1: 90 % are of what they sum to.
TEST(Analysis, ActiveKeysHoldNinetyPerCentOfTheSumOfWeights) {
    const model::Model<float> model = model::test::tiny_model<float>(small(true), 5);
    Settings settings;
    settings.attention = {Normaliser::parse("sigmoid")};
    const Result result = analyse(model, some_ids(), settings, {tokens}).front();
    const Recorded r = record(model, some_ids(), 0, Vectors::hidden);
    double active = 0;
    for (std::size_t t = 2; t < tokens; ++t) {
        std::vector<double> weights;
        for (std::size_t j = 0; j <= t; ++j) {
            weights.push_back(1 / (1 + static_cast<double>(t + 1) * std::exp(-r.scores[tokens + t][j])));
        }
        std::sort(weights.rbegin(), weights.rend());
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (double mass = 0; mass < 0.9 * sum; ++active) {
            mass += weights.front();
            weights.erase(weights.begin());
        }
    }
    EXPECT_NEAR(result.heads[1].active, active / (tokens - 2), 1e-9);
}

TEST(SeparationCounts, ArePowersOfTwoUpTo128AndWhatIsAskedForAndToldOf) {
    Settings settings;
    settings.top = {3, 200};
    EXPECT_EQ(separation_counts(settings), (std::vector<std::size_t>{1, 2, 3, 4, 8, 16, 20, 32, 64, 128, 200}));
}

TEST(Settings, CompareKindsThatDiffer) {
    Settings settings;
    settings.attention = {Normaliser::parse("softmax"), Normaliser::parse("softmax:0.5"), Normaliser::parse("ssmax")};
    EXPECT_NO_THROW(check(settings));
    settings.attention.push_back(Normaliser::parse("softmax:0.5"));
    EXPECT_THROW(check(settings), Error);
}

TEST(Lengths, FollowTheTextAndTheModel) {
    const model::Architecture a = small(true);  // 40 positions
    Settings settings;
    EXPECT_EQ(lengths_for(settings, a, 40).lengths, (std::vector<std::size_t>{32}));
    EXPECT_EQ(lengths_for(settings, a, 20).lengths, (std::vector<std::size_t>{20}));
    EXPECT_EQ(lengths_for(settings, a, 20).notes.size(), 1U);
    EXPECT_THROW(lengths_for(settings, a, 2), Error);
    settings.lengths = {8, 41};
    EXPECT_THROW(lengths_for(settings, a, 40), Error);
    settings.lengths = {8, 30};
    EXPECT_EQ(lengths_for(settings, a, 20).lengths, (std::vector<std::size_t>{8}));
    EXPECT_EQ(lengths_for(settings, a, 30).lengths, (std::vector<std::size_t>{8, 30})) << "the whole text";
    EXPECT_EQ(tokens_wanted(settings, a), 30U);
    settings.row = 35;  // rows count from 0
    EXPECT_EQ(tokens_wanted(settings, a), 36U);
    settings.row = 100;
    EXPECT_EQ(tokens_wanted(settings, a), 40U);
}

// Token 24 sees the keys 17 to 24, which keep their numbers in the text.
TEST(RowReport, CountsKeysFromTheBeginningOfTheText) {
    model::Architecture a = small(true);
    a.windows = {0, 8};
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.head = {1, 0};
    settings.row = 24;
    const Json json = row_document(model, some_ids(), settings);
    const reference::Row row = row_of(record(model, some_ids(), 1, Vectors::hidden), 0, 24, tokens, false);
    std::vector<std::size_t> order = reference::order_of(row.weights);
    ASSERT_EQ(order.size(), 8U);
    for (std::size_t& key : order) {
        key += 17;
    }
    EXPECT_EQ(json.at("first_key"), 17);
    EXPECT_EQ(json.at("order"), order);
}

// Hidden keys are selected with the others, after those that are seen; the row still sees no more than its window.
TEST(RowReport, WithMaskedKeysStillSaysWhichKeysItSees) {
    model::Architecture a = small(true);
    a.windows = {0, 8};
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    Settings settings;
    settings.head = {1, 0};
    settings.row = 24;
    settings.top = {4, 12};
    settings.include_masked = true;
    const Json json = row_document(model, some_ids(), settings);
    EXPECT_EQ(json.at("keys"), 8);
    EXPECT_EQ(json.at("first_key"), 17);
    EXPECT_EQ(json.at("weights").size(), 8U);
    EXPECT_EQ(json.at("logits").size(), 8U);
    EXPECT_EQ(json.at("order").size(), 8U);
    const reference::Row row = row_of(record(model, some_ids(), 1, Vectors::hidden), 0, 24, tokens, true);
    ASSERT_EQ(json.at("distance").size(), 2U) << "more keys can be selected than are seen";
    for (const Json& at : json.at("distance")) {
        const double wanted = reference::distances(row, at.at("n").get<std::size_t>()).distance;
        EXPECT_NEAR(at.at("true").get<double>(), wanted, 1e-6 * wanted);
    }
}

TEST(RowReport, OfABlockThatDoesNotCallAttentionOnceIsRefused) {
    const auto refusal = [](const char* equation) -> std::string {
        model::Architecture a = small(true);
        a.equation = equation;
        Settings settings;
        settings.head = {1, 0};
        settings.row = 24;
        try {
            row_document(model::test::tiny_model<float>(a, 5), some_ids(), settings);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const std::string none = refusal("t < 1 ? x + dt*attn(norm(x)) : x + dt*ffn(norm(x)) | norm(x)");
    EXPECT_NE(none.find("got head = 1.0, expected a block that calls attention, which block 1 does not"),
              std::string::npos)
        << none;
    const std::string twice =
        refusal("h = x + dt*attn(norm(x)); o = h + dt*attn(norm(h)); x = o + dt*ffn(norm(o)) | norm(x)");
    EXPECT_NE(twice.find("got an equation that calls attention twice in a block"), std::string::npos) << twice;
}

TEST(RowReport, AgreesWithTheDefinitions) {
    const model::Model<float> model = model::test::tiny_model<float>(small(true), 5);
    Settings settings;
    settings.head = {1, 0};
    settings.row = 24;
    const Json json = row_document(model, some_ids(), settings);
    const Recorded r = record(model, some_ids(), 1, Vectors::hidden);
    const reference::Row row = row_of(r, 0, 24, tokens, false);
    EXPECT_EQ(json.at("keys"), 25);
    for (const Json& at : json.at("distance")) {
        const DistanceAtN wanted = reference::distances(row, at.at("n").get<std::size_t>());
        EXPECT_NEAR(at.at("true").get<double>(), wanted.distance, 1e-6 * wanted.distance);
        EXPECT_NEAR(at.at("bound").get<double>(), wanted.bound, 1e-6 * wanted.bound);
    }
    EXPECT_EQ(json.at("distance").size(), 4U);  // N = 100 is more than there are keys
    const double delta = reference::spread(reference::normalised(row)).least;
    EXPECT_NEAR(json.at("delta").get<double>(), delta, 1e-6);
    for (const Json& at : json.at("separation")) {
        const SeparationAtN wanted = reference::separation(row, at.at("n").get<std::size_t>(), delta);
        EXPECT_NEAR(at.at("ratio").get<double>(), wanted.ratio, 1e-9);
        EXPECT_NEAR(at.at("lower").get<double>(), wanted.lower, 1e-4 * (1 + std::abs(wanted.lower)));
        EXPECT_NEAR(at.at("upper").get<double>(), wanted.upper, 1e-5);
    }
    // Of embeddings, where tokens repeat, the curves over distinct ones differ from the bounds.
    settings.vectors = Vectors::embedding;
    const Json repeated = row_document(model, some_ids(), settings);
    EXPECT_EQ(repeated.at("delta"), 0);
    const reference::Row same = row_of(record(model, some_ids(), 1, Vectors::embedding), 0, 24, tokens, false);
    const Json& four = repeated.at("separation")[2];
    ASSERT_EQ(four.at("n"), 4);
    const SeparationAtN apart = reference::separation(same, 4, repeated.at("delta_distinct").get<double>());
    EXPECT_NEAR(four.at("lower_distinct").get<double>(), apart.lower, 1e-4 * (1 + std::abs(apart.lower)));
    EXPECT_NEAR(four.at("upper_distinct").get<double>(), apart.upper, 1e-5);
    EXPECT_GT(four.at("lower_distinct").get<double>(), four.at("lower").get<double>());
    settings.vectors = Vectors::hidden;
    EXPECT_NEAR(json.at("jacobian").at("spectral").get<double>(), reference::spectral_norm(row.weights) / 2, 1e-6);
    EXPECT_EQ(json.at("jacobian").at("temperature"), 2);  // heads of four channels
    EXPECT_EQ(json.at("jacobian").at("bound"), 0.25);     // 1/(2T)
    EXPECT_LE(json.at("jacobian").at("spectral").get<double>(), 0.25);
    settings.head = {2, 0};
    EXPECT_THROW(row_document(model, some_ids(), settings), Error);
    settings.head = {1, 0};
    settings.row = 1;
    EXPECT_THROW(row_document(model, some_ids(), settings), Error);
    settings.row = tokens;
    EXPECT_THROW(row_document(model, some_ids(), settings), Error);
}

}  // namespace
}  // namespace flyball::limits
