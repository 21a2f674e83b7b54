// Every field of a depth report against plain loops over what the model shows, in double.
#include "inspect/inspection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "inspect/document.hpp"
#include "inspect/reports.hpp"
#include "inspect/summary.hpp"
#include "model/pass.hpp"

namespace flyball::inspect::test {
namespace {

using Rows = std::vector<std::vector<double>>;

struct Shown {
    std::map<std::string, Rows> rows;                                     // by the name of the tap
    std::map<std::pair<std::size_t, std::size_t>, Rows> weights, scores;  // [layer, head]: rows of all sequences
    double loss = 0;
};

Shown shown_by(const model::Model<float>& model) {
    Shown shown;
    std::mutex mutex;
    model::Taps<float> taps;
    const auto keep = [&](const model::TapView<float>& view) {
        Rows& to = shown.rows[view.name()];
        to.clear();
        for (std::size_t i = 0; i < view.rows; ++i) {
            to.emplace_back(view.row(i), view.row(i) + view.columns);
        }
    };
    for (const char* const name :
         {"embed", "blocks.*.resid", "blocks.*.attn.added", "blocks.*.ffn.added", "blocks.*.grad", "embed.grad"}) {
        taps.add(name, keep);
    }
    const auto keep_square = [&](auto& to) {
        return [&](const model::TapView<float>& view) {
            const std::lock_guard lock(mutex);
            Rows& square = to[{view.layer, view.head}];
            square.resize(rows, std::vector<double>(tokens, NAN));
            for (std::size_t i = 0; i < view.rows; ++i) {
                std::vector<double>& row = square[view.sequence * tokens + view.first_row + i];
                std::copy_n(view.row(i), view.columns, row.begin() + static_cast<std::ptrdiff_t>(view.first_column));
            }
        };
    };
    taps.add("blocks.*.attn.pattern", keep_square(shown.weights));
    taps.add("blocks.*.attn.scores", keep_square(shown.scores));
    model::Pass<float> pass(model, {sequences, tokens}, model::Keep::inputs);
    pass.forward(ids, taps);
    model::Parameters<float> gradients(model.layout());
    shown.loss = pass.loss_and_backward(model::next_tokens(ids, sequences), gradients, 1, taps);
    return shown;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double length(const std::vector<double>& a) {
    return std::sqrt(dot(a, a));
}
double cosine(const std::vector<double>& a, const std::vector<double>& b) {
    return dot(a, b) / (length(a) * length(b));
}

template <class Value>
double mean_over_rows(Value value) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        sum += value(i);
    }
    return sum / static_cast<double>(rows);
}

std::vector<double> entries_of(const Rows& x) {
    std::vector<double> all;
    for (const auto& row : x) {
        all.insert(all.end(), row.begin(), row.end());
    }
    return all;
}

double variance(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double sum = 0;
    for (const double v : values) {
        sum += (v - mean) * (v - mean);
    }
    return sum / n;
}

void expect_stream(const Rows& x, const LayerReport& report) {
    std::vector<double> lengths;
    std::vector<double> sizes = entries_of(x);
    for (const auto& row : x) {
        lengths.push_back(length(row));
    }
    std::sort(lengths.begin(), lengths.end());
    EXPECT_NEAR(report.norm, std::accumulate(lengths.begin(), lengths.end(), 0.0) / rows, 1e-6);
    // 21 lengths: the middle one, and the second from each end, where 5 % of 20 gaps is one whole gap.
    EXPECT_NEAR(report.norm_median, lengths[10], 1e-6);
    EXPECT_NEAR(report.norm_low, lengths[1], 1e-6);
    EXPECT_NEAR(report.norm_high, lengths[19], 1e-6);
    double entry = 0;
    double cosines = 0;
    for (std::size_t s = 0; s < sequences; ++s) {
        entry += variance(entries_of({x.begin() + static_cast<std::ptrdiff_t>(s * tokens),
                                      x.begin() + static_cast<std::ptrdiff_t>((s + 1) * tokens)})) /
                 sequences;
        for (std::size_t i = 0; i < tokens; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                cosines += cosine(x[s * tokens + i], x[s * tokens + j]) / (sequences * tokens * (tokens - 1) / 2.0);
            }
        }
    }
    double data = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t k = 0; k < x[0].size(); ++k) {
            data +=
                variance({x[t][k], x[tokens + t][k], x[2 * tokens + t][k]}) / static_cast<double>(tokens * x[0].size());
        }
    }
    EXPECT_NEAR(report.entry_variance, entry, 1e-6);
    EXPECT_NEAR(report.data_variance, data, 1e-6);
    EXPECT_NEAR(report.cosine, cosines, 1e-6);
    std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](double v) { return std::fabs(v); });
    std::sort(sizes.begin(), sizes.end());
    EXPECT_NEAR(report.mean_abs, std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size()),
                1e-6);
    EXPECT_NEAR(report.largest, sizes.back(), 1e-6);
    EXPECT_NEAR(report.median_abs, sizes[(sizes.size() - 1) / 2], 1e-6);
    // Rank and residual have tests of their own with numbers of numpy; here: means over windows in their ranges.
    EXPECT_GT(report.effective_rank, 1);
    EXPECT_LE(report.effective_rank, 7);
    EXPECT_GT(report.collapse_residual, 0);
    EXPECT_LT(report.collapse_residual, 2);
}

void expect_branch(const Rows& added, const Rows& before, double norm, double ratio, double with) {
    const double expected = mean_over_rows([&](std::size_t i) { return length(added[i]); });
    EXPECT_NEAR(norm, expected, 1e-5 * expected);
    EXPECT_NEAR(ratio, expected / mean_over_rows([&](std::size_t i) { return length(before[i]); }), 1e-5);
    EXPECT_NEAR(with, mean_over_rows([&](std::size_t i) { return cosine(added[i], before[i]); }), 1e-5);
}

void expect_heads(const Shown& shown, std::size_t layer, const Report& report) {
    double entropies = 0;
    double sinks = 0;
    double over = 0;
    double largest = -HUGE_VAL;
    for (std::size_t h = 0; h < 2; ++h) {
        double entropy = 0;
        double first = 0;
        double most = -HUGE_VAL;
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t k = 0; k <= i % tokens; ++k) {
                const double p = shown.weights.at({layer, h})[i][k];
                entropy -= p > 0 ? p * std::log(p) / rows : 0;
                most = std::max(most, shown.scores.at({layer, h})[i][k]);
            }
            first += shown.weights.at({layer, h})[i][0] / rows;
        }
        const model::HeadMeasures& head = report.heads[layer][h];
        EXPECT_NEAR(head.entropy, entropy, 1e-5);
        EXPECT_NEAR(head.first_weight, first, 1e-6);
        EXPECT_NEAR(head.largest_score, most, 1e-5);
        entropies += entropy / 2;
        sinks += first / 2;
        over += first > 0.3 ? 0.5 : 0;
        largest = std::max(largest, most);
    }
    EXPECT_NEAR(report.layers[layer].entropy, entropies, 1e-5);
    EXPECT_NEAR(report.layers[layer].sink, sinks, 1e-6);
    EXPECT_NEAR(report.layers[layer].sink_heads, over, 1e-12);
    EXPECT_NEAR(report.layers[layer].largest_logit, largest, 1e-5);
}

class Inspection : public testing::TestWithParam<const char*> {};

TEST_P(Inspection, HasEveryFieldByItsDefinition) {
    const model::Model<float> model = small_model(GetParam(), 0.7);
    const Shown shown = shown_by(model);
    const Report report = inspect(model, {sequences, tokens}, ids, {});
    ASSERT_EQ(report.layers.size(), 4U);
    EXPECT_NEAR(report.loss, shown.loss, 1e-12);
    EXPECT_EQ(report.first_not_finite, 4U);
    expect_stream(shown.rows.at("embed"), report.embedding);
    const std::vector<double> embedding_gradient = entries_of(shown.rows.at("embed.grad"));
    EXPECT_NEAR(report.embedding.gradient, length(embedding_gradient), 1e-5 * length(embedding_gradient));
    for (std::size_t l = 0; l < 4; ++l) {
        SCOPED_TRACE(l);
        const LayerReport& layer = report.layers[l];
        const std::string block = "blocks." + std::to_string(l);
        const Rows& before = shown.rows.at(l == 0 ? "embed" : "blocks." + std::to_string(l - 1) + ".resid");
        const Rows& x = shown.rows.at(block + ".resid");
        expect_stream(x, layer);
        expect_branch(shown.rows.at(block + ".attn.added"), before, layer.attention_norm, layer.attention_ratio,
                      layer.attention_cosine);
        expect_branch(shown.rows.at(block + ".ffn.added"), before, layer.ffn_norm, layer.ffn_ratio, layer.ffn_cosine);
        const double angle = mean_over_rows([&](std::size_t i) { return std::acos(cosine(before[i], x[i])); });
        EXPECT_NEAR(layer.angular_distance, angle / std::numbers::pi, 1e-6);
        EXPECT_NEAR(layer.angular_ratio, layer.angular_distance / layer.angular_predicted, 1e-12);
        EXPECT_NEAR(layer.influence, 1 - mean_over_rows([&](std::size_t i) { return cosine(before[i], x[i]); }), 1e-6);
        const std::vector<double> gradient = entries_of(shown.rows.at(block + ".grad"));
        EXPECT_NEAR(layer.gradient, length(gradient), 1e-5 * length(gradient));
        expect_heads(shown, l, report);
        EXPECT_TRUE(std::isnan(layer.drop) && std::isnan(layer.lens_loss) && std::isnan(layer.lens_agreement));
    }
}

INSTANTIATE_TEST_SUITE_P(Wirings, Inspection,
                         testing::Values("x + dt*f(norm(x)) | norm(x)", "x + dt*norm(f(norm(x))) | norm(x)",
                                         "norm(x + dt*f(x))"));

// The same sub-layer twice is as long as twice the sub-layer, and points where it points; so do three of which one is
// taken away again, though what is added last points the other way.
TEST(Inspection, OfASubLayerThatIsAddedTwiceMeasuresTheSum) {
    const auto layers_of = [](const char* equation) {
        return inspect(small_model(equation, 0.7), {sequences, tokens}, ids, {.gradient = false}).layers;
    };
    const std::vector<LayerReport> doubled = layers_of("x + 2*dt*f(x) | norm(x)");
    for (const char* const equation : {"x + dt*f(x) + dt*f(x) | norm(x)", "x + 3*dt*f(x) - dt*f(x) | norm(x)",
                                       "x - dt*f(x) + 3*dt*f(x) | norm(x)"}) {
        SCOPED_TRACE(equation);
        const std::vector<LayerReport> twice = layers_of(equation);
        ASSERT_EQ(twice.size(), doubled.size());
        for (std::size_t l = 0; l < twice.size(); ++l) {
            EXPECT_NEAR(twice[l].attention_norm, doubled[l].attention_norm, 1e-4 * doubled[l].attention_norm);
            EXPECT_NEAR(twice[l].attention_cosine, doubled[l].attention_cosine, 1e-4);
            EXPECT_NEAR(twice[l].ffn_ratio, doubled[l].ffn_ratio, 1e-4 * doubled[l].ffn_ratio);
            EXPECT_NEAR(twice[l].ffn_cosine, doubled[l].ffn_cosine, 1e-4);
        }
    }
}

TEST(Inspection, LeavesOutEachBlockInTurnWhenAskedTo) {
    const model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    const Report report = inspect(model, {sequences, tokens}, ids, {.drop = true, .gradient = false});
    for (std::size_t l = 0; l < 4; ++l) {
        // The same loss with both branches of the block scaled to nothing.
        model::Pass<float> pass(model, {sequences, tokens});
        pass.edit({{l, model::Edit::What::attention, 0}, {l, model::Edit::What::feed_forward, 0}});
        pass.forward(ids);
        const double without = pass.loss(model::next_tokens(ids, sequences));
        EXPECT_NEAR(report.layers[l].drop, without - report.loss, 1e-6);
        EXPECT_NE(report.layers[l].drop, 0);
    }
    EXPECT_TRUE(std::isnan(report.layers[0].gradient));
}

TEST(Inspection, LooksThroughTheLensAtEveryBlock) {
    const model::Model<float> model = small_model("x + dt*norm(f(norm(x))) | norm(x)");
    const Report report = inspect(model, {sequences, tokens}, ids, {.lens = true, .gradient = false});
    EXPECT_NEAR(report.layers[3].lens_loss, report.loss, 1e-6);
    EXPECT_EQ(report.layers[3].lens_agreement, 1);
    ASSERT_EQ(report.lens_top.size(), 4U);
    EXPECT_EQ(report.final_top, report.lens_top[3]);
    // After block 1, with the last two blocks left out, the same model says the same.
    model::Pass<float> pass(model, {sequences, tokens});
    std::vector<std::int32_t> early;
    std::vector<std::int32_t> late;
    for (std::vector<std::int32_t>* const top : {&early, &late}) {
        model::Taps<float> taps;
        taps.add("logits", [&](const model::TapView<float>& view) {
            for (std::size_t i = 0; i < view.rows; ++i) {
                top->push_back(
                    static_cast<std::int32_t>(std::max_element(view.row(i), view.row(i) + view.columns) - view.row(i)));
            }
        });
        pass.edit(top == &early ? std::vector<model::Edit>{{2, model::Edit::What::block}, {3, model::Edit::What::block}}
                                : std::vector<model::Edit>{});
        pass.forward(ids);
        const double loss = pass.loss(model::next_tokens(ids, sequences), taps);
        if (top == &early) {
            EXPECT_NEAR(report.layers[1].lens_loss, loss, 1e-6);
        }
    }
    double same = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        same += early[i] == late[i] ? 1.0 / rows : 0;
    }
    EXPECT_NEAR(report.layers[1].lens_agreement, same, 1e-12);
    EXPECT_LT(same, 1);  // otherwise the agreement of anything would do
    EXPECT_EQ(report.lens_top[1], early.back());
}

TEST(Inspection, OfOneSequenceHasNoDataVarianceAndOfAnEncoderNoLoss) {
    model::Architecture a = model::test::tiny_architecture("norm(x + dt*f(x))");
    a.causal = false;
    a.has_head = false;
    const model::Model<float> encoder = model::test::tiny_model<float>(a, 2);
    const Report report =
        inspect(encoder, 7, std::vector<std::int32_t>(ids.begin(), ids.begin() + 7), {.drop = true, .lens = true});
    EXPECT_TRUE(std::isnan(report.loss));
    EXPECT_TRUE(report.lens_top.empty());
    for (const LayerReport& layer : report.layers) {
        EXPECT_TRUE(std::isnan(layer.data_variance) && std::isnan(layer.gradient) && std::isnan(layer.drop));
        EXPECT_TRUE(std::isfinite(layer.norm) && std::isfinite(layer.cosine) && std::isfinite(layer.entropy));
    }
}

TEST(Inspection, WantsTwoTokensToCompare) {
    const model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    EXPECT_THROW(inspect(model, 1, std::vector<std::int32_t>(ids.begin(), ids.begin() + 1), {}), Error);
    EXPECT_TRUE(
        std::isfinite(inspect(model, 2, std::vector<std::int32_t>(ids.begin(), ids.begin() + 2), {}).layers[0].cosine));
}

TEST(Inspection, ReadsTheGainsOfEveryNorm) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    std::vector<model::NormPlace> norms = model.layout().blocks[2].norms;  // of attention, of the FFN, and gaps
    std::erase_if(norms, [](const model::NormPlace& norm) { return norm.gain == model::absent; });
    ASSERT_EQ(norms.size(), 2U);
    const model::NormPlace place = norms[1];
    const std::vector<float> gains = {1, -3, 2, 2, 0, 0, 1, 1};
    std::copy(gains.begin(), gains.end(), model.parameters()->at(place.gain));
    std::fill_n(model.parameters()->at(norms[0].gain), 8, 0.5F);
    const Report report = inspect(model, {sequences, tokens}, ids, {.gradient = false});
    ASSERT_EQ(report.gains.size(), 8U);
    const GainReport& gain = report.gains[5];
    EXPECT_EQ(gain.layer, 2U);
    EXPECT_EQ(gain.norm, model.layout().parameters[static_cast<std::size_t>(place.gain)].name);
    EXPECT_NEAR(gain.mean, 1.25, 1e-6);
    EXPECT_NEAR(gain.deviation, std::sqrt(20.0 / 8 - 0.25), 1e-6);
    EXPECT_NEAR(gain.largest, 3, 1e-6);
    EXPECT_NEAR(report.layers[2].gain_mean, (1.25 + 0.5) / 2, 1e-6);
    EXPECT_NEAR(report.layers[2].gain_largest, 3, 1e-6);
}

// Queries of ones and keys of minus ones: every score of a head of four channels is -4/sqrt(4).
TEST(Inspection, TheLargestScoreMayBeNegative) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    for (const model::BlockLayout& block : model.layout().blocks) {
        ASSERT_EQ(block.qkv.size(), 1U);  // queries, keys and values in one matrix of 3*8 times 8
        std::fill_n(model.parameters()->at(block.qkv[0].weight), 192, 0.0F);
        std::fill_n(model.parameters()->at(block.qkv[0].bias), 8, 1.0F);
        std::fill_n(model.parameters()->at(block.qkv[0].bias) + 8, 8, -1.0F);
    }
    const Report report = inspect(model, {sequences, tokens}, ids, {.gradient = false});
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_NEAR(report.layers[l].largest_logit, -2, 1e-6);
        EXPECT_NEAR(report.heads[l][1].largest_score, -2, 1e-6);
    }
}

TEST(Inspection, SaysHowFarItIs) {
    const model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    for (const Settings& settings : {Settings{}, Settings{.drop = true, .lens = true}, Settings{.gradient = false}}) {
        std::vector<double> shares;
        inspect(model, {sequences, tokens}, ids, settings, {[&](double share) { shares.push_back(share); }, nullptr});
        ASSERT_EQ(shares.size(), settings.drop ? 6U : 1U);  // all blocks at once, then each left out, then the lens
        EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
        EXPECT_NEAR(shares.back(), 1, 1e-12);
        // Of 1 + 3 passes for all blocks, 4 without one of them, and 1 + 4/2 for the lens.
        EXPECT_NEAR(shares.front(), settings.drop ? 4.0 / 11 : 1, 1e-12);
    }
}

TEST(Inspection, DoesNotDependOnThreads) {
    const model::Model<float> model = small_model("x + dt*norm(f(norm(x))) | norm(x)");
    const int before = threads();
    set_threads(1);
    const Report one = inspect(model, {sequences, tokens}, ids, {.drop = true, .lens = true});
    set_threads(3);
    const Report three = inspect(model, {sequences, tokens}, ids, {.drop = true, .lens = true});
    set_threads(before);
    for (std::size_t l = 0; l < 4; ++l) {
        for (const LayerField& field : layer_fields()) {
            EXPECT_EQ(one.layers[l].*field.value, three.layers[l].*field.value) << field.name;
        }
    }
}

TEST(Inspection, StopsWhenItIsToldTo) {
    const model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    const std::atomic<bool> stop = true;
    EXPECT_THROW(inspect(model, {sequences, tokens}, ids, {}, {{}, &stop}), Stopped);
}

TEST(Inspection, SaysWhereTheStreamStopsBeingFinite) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    std::fill_n(model.parameters()->at(model.layout().blocks[2].ffn_out.bias), 8, NAN);
    const Report report = inspect(model, {sequences, tokens}, ids, {.gradient = false});
    EXPECT_EQ(report.first_not_finite, 2U);
    EXPECT_TRUE(std::isfinite(report.layers[1].norm));
    EXPECT_TRUE(std::isnan(report.layers[2].norm));
    EXPECT_EQ(report.growth.kind, measure::GrowthClass::unknown);
    EXPECT_TRUE(std::isfinite(report.layers[1].largest_logit));
    for (const LayerField& field : layer_fields()) {
        const double value = report.layers[3].*field.value;
        const bool of_weights =
            std::string(field.name).starts_with("gain") || std::string(field.name) == "angular_predicted";
        EXPECT_TRUE(of_weights || std::isnan(value))
            << field.name << " = " << value << " of a stream that is not finite";
    }
}

// Places of norms have gaps.
int first_gain(const std::vector<model::NormPlace>& norms) {
    const auto found = std::find_if(norms.begin(), norms.end(),
                                    [](const model::NormPlace& norm) { return norm.gain != model::absent; });
    return found->gain;
}

TEST(Inspection, AGainThatIsNoNumberHasNoLargestAndNoDeviation) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    const int parameter = first_gain(model.layout().blocks[1].norms);
    model.parameters()->at(parameter)[3] = NAN;
    const Report report = inspect(model, {sequences, tokens}, ids, {.gradient = false});
    EXPECT_TRUE(std::isfinite(report.layers[0].gain_largest));
    EXPECT_TRUE(std::isnan(report.layers[1].gain_largest));
    const std::string& name = model.layout().parameters[static_cast<std::size_t>(parameter)].name;
    const auto found = std::find_if(report.gains.begin(), report.gains.end(),
                                    [&](const GainReport& gain) { return gain.norm == name; });
    ASSERT_NE(found, report.gains.end());
    EXPECT_TRUE(std::isnan(found->largest) && std::isnan(found->deviation));
}

// The last head alone: the first has a finite score.
TEST(Inspection, ALogitThatIsNoNumberOfAnyHeadIsTheLargestOfItsBlock) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    model.parameters()->at(model.layout().blocks[1].qkv[0].bias)[7] = NAN;  // the last channel of 8 queries
    const Report report = inspect(model, {sequences, tokens}, ids, {.gradient = false});
    EXPECT_TRUE(std::isfinite(report.heads[1][0].largest_score) && std::isfinite(report.heads[1][0].entropy));
    EXPECT_TRUE(std::isnan(report.heads[1][1].largest_score) && std::isnan(report.heads[1][1].entropy));
    EXPECT_TRUE(std::isnan(report.layers[1].largest_logit));
    EXPECT_TRUE(std::isnan(report.layers[1].sink_heads));
}

TEST(Inspection, LogitsThatAreNoNumbersHaveNoLikeliestToken) {
    model::Model<float> model = small_model("x + dt*f(norm(x)) | norm(x)");
    Report report = inspect(model, {sequences, tokens}, ids, {.lens = true, .gradient = false});
    EXPECT_TRUE(report.final_top.has_value());
    EXPECT_EQ(report.layers.back().lens_agreement, 1);
    // Of the final norm: every stream is finite, and no logit is.
    model.parameters()->at(first_gain(model.layout().readout_norms))[3] = NAN;
    report = inspect(model, {sequences, tokens}, ids, {.lens = true, .gradient = false});
    EXPECT_EQ(report.first_not_finite, 4U);
    EXPECT_FALSE(report.final_top.has_value());
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_TRUE(std::isnan(report.layers[l].lens_agreement)) << l;
        EXPECT_FALSE(report.lens_top[l].has_value()) << l;
    }
    for (const std::string& line : summary(report, {})) {
        EXPECT_EQ(line.find("Through the lens"), std::string::npos) << line;
    }
    EXPECT_TRUE(document({}, report, {}).at("layers")[0].at("lens_top").is_null());
}

}  // namespace
}  // namespace flyball::inspect::test
