// What is saved from inside a model, the likeliest tokens and the loss of long texts, against torch: inside/
// make_inside.py made the expected numbers from the golden checkpoints.
#include <limits>
#include <set>

#include "../core/support.hpp"
#include "model/recorder.hpp"
#include "model/strides.hpp"
#include "model/top_tokens.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test::inside_test {
namespace {

using flyball::test::TemporaryFolder;

SafeTensors inside(const std::string& name) {
    return SafeTensors::open(std::filesystem::path(flyball::test::source_folder) / "tests" / "model" / "inside" /
                             (name + ".safetensors"));
}

const std::vector<std::string> watched = {"gpt2", "llama-gqa"};

SafeTensors recorded(const Model<float>& model, const std::vector<std::int32_t>& ids, const std::string& what,
                     const std::filesystem::path& file) {
    Recorder recorder(model.architecture(), ids.size(), parse_recorded(what, model.architecture()));
    Pass<float> pass(model, ids.size());
    pass.forward(ids, recorder.taps());
    recorder.save(file);
    return SafeTensors::open(file);
}

TEST(Recorded, InsideEqualsTorch) {
    const TemporaryFolder folder;
    for (const std::string& name : watched) {
        const Model<float> model = load_model(golden_folder() / name);
        const SafeTensors expected = inside(name);
        const SafeTensors saved =
            recorded(model, read_ids(expected), "query,key,value,branch,stream", folder.path() / "saved");
        std::size_t compared = 0;
        for (const std::string& tensor : expected.names()) {
            if (tensor.starts_with("query") || tensor.starts_with("key") || tensor.starts_with("value") ||
                tensor.starts_with("branch") || tensor.starts_with("stream")) {
                EXPECT_EQ(saved.info(tensor).shape, expected.info(tensor).shape) << tensor;
                EXPECT_LE(distance(saved.read<float>(tensor), expected.read<double>(tensor)), 1e-5)
                    << name << " " << tensor;
                ++compared;
            }
        }
        EXPECT_EQ(compared, 11U);
        EXPECT_EQ(saved.names().size(), 6 + 4 + 3U);
    }
}

// One block, one head: slices of the whole.
TEST(Recorded, NumbersChooseBlocksAndHeads) {
    const TemporaryFolder folder;
    const Model<float> model = load_model(golden_folder() / "llama-gqa");
    const std::vector<std::int32_t> ids = read_ids(inside("llama-gqa"));
    const SafeTensors all =
        recorded(model, ids, "attention,scores,query,key,value,hidden,stream,branches", folder.path() / "all");
    const SafeTensors some = recorded(
        model, ids,
        "attention.1.2,scores.0.3,query.1.3,key.0.1,value.1.0,hidden.2,hidden.1,stream.2,stream.0,branch.1.ffn,"
        "branch.0.attn,attention.1.2",
        folder.path() / "some");
    EXPECT_EQ(some.names(),
              (std::vector<std::string>{"attention.1.2", "branch.0.attn", "branch.1.ffn", "hidden.1", "hidden.2",
                                        "key.0.1", "query.1.3", "scores.0.3", "stream.0", "stream.2", "value.1.0"}));
    for (const auto& [one, whole, head] :
         std::vector<std::tuple<std::string, std::string, std::size_t>>{{"attention.1.2", "attention.1", 2},
                                                                        {"scores.0.3", "scores.0", 3},
                                                                        {"query.1.3", "query.1", 3},
                                                                        {"key.0.1", "key.0", 1},
                                                                        {"value.1.0", "value.1", 0},
                                                                        {"hidden.2", "hidden.2", 0},
                                                                        {"stream.2", "stream.2", 0},
                                                                        {"stream.0", "hidden.0", 0},
                                                                        {"hidden.1", "stream.1", 0},
                                                                        {"branch.1.ffn", "ffn_added.1", 0},
                                                                        {"branch.0.attn", "attn_added.0", 0}}) {
        const std::vector<float> part = some.read<float>(one);
        const std::vector<float> from = all.read<float>(whole);
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(head * part.size());
        EXPECT_EQ(part, std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(part.size()))) << one;
        EXPECT_EQ(some.info(one).shape.size(), 2U) << one;
    }
    EXPECT_NE(all.read<float>("stream.2"), all.read<float>("hidden.2")) << "the last is before the final norm";
    EXPECT_EQ(all.info("query.0").shape, (std::vector<std::size_t>{4, ids.size(), 6}));
    EXPECT_EQ(all.info("key.0").shape, (std::vector<std::size_t>{2, ids.size(), 6}));
}

// More tokens than are computed at a time: what lies beyond the columns of a block of rows is minus infinity too.
TEST(Recorded, ScoresUnderTheMaskAreMinusInfinityAlsoOfManyTokens) {
    const TemporaryFolder folder;
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.layers = 2;
    a.positions = 70;
    a.windows = {0, 5};
    const SafeTensors saved = recorded(tiny_model<float>(a, 3), std::vector<std::int32_t>(70, 1), "scores,attention",
                                       folder.path() / "saved");
    for (std::size_t l = 0; l < 2; ++l) {
        const std::vector<float> scores = saved.read<float>("scores." + std::to_string(l));
        const std::vector<float> weights = saved.read<float>("attention." + std::to_string(l));
        ASSERT_EQ(scores.size(), 2U * 70 * 70);
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const std::size_t row = i / 70 % 70;
            const std::size_t column = i % 70;
            const bool is_seen = column <= row && (l == 0 || column + 5 > row);
            ASSERT_EQ(scores[i] == -std::numeric_limits<float>::infinity(), !is_seen)
                << l << " " << row << " " << column;
            ASSERT_EQ(weights[i] == 0, !is_seen) << l << " " << row << " " << column;
        }
    }
}

TEST(Recorded, MemoryIsThatOfTheTensors) {
    const Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");  // 4 blocks, 2 heads of 4, 1 of keys
    const auto bytes = [&](const char* what) { return memory_estimate(a, 7, parse_recorded(what, a)); };
    EXPECT_EQ(bytes("logits"), 4 * 7 * 11);
    EXPECT_EQ(bytes("hidden"), 4 * 5 * 7 * 8);
    EXPECT_EQ(bytes("stream.3"), 4 * 7 * 8);
    EXPECT_EQ(bytes("attention,scores"), 4 * 2 * 4 * 2 * 7 * 7);
    EXPECT_EQ(bytes("attention.1.1"), 4 * 7 * 7);
    EXPECT_EQ(bytes("query"), 4 * 4 * 2 * 7 * 4);
    EXPECT_EQ(bytes("key,value.0"), 4 * 5 * 1 * 7 * 4);
    EXPECT_EQ(bytes("branches"), 4 * 8 * 7 * 8);
    EXPECT_EQ(bytes("hidden.2,hidden,hidden.3"), bytes("hidden")) << "what is asked for twice is saved once";
}

// A model with one head has an axis of heads like any other; one head that was asked for has none.
TEST(Recorded, ShapesHaveAnAxisOfHeadsUnlessOneIsAskedFor) {
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    using Shape = std::vector<std::size_t>;
    for (const std::size_t heads : {1U, 2U}) {
        a.heads = a.kv_heads = heads;
        const auto shape = [&](const char* what) { return parse_recorded(what, a).front().shape(a, 7); };
        EXPECT_EQ(shape("attention.1"), (Shape{heads, 7, 7}));
        EXPECT_EQ(shape("key.1"), (Shape{heads, 7, 4}));
        EXPECT_EQ(shape("attention.1.0"), (Shape{7, 7}));
        EXPECT_EQ(shape("stream.1"), (Shape{7, 8}));
    }
}

TEST(Recorded, WhatIsNotThereIsRefused) {
    const Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    EXPECT_ERROR(parse_recorded("attention.4", a), "got what = 'attention.4', expected a block from 0 to 3");
    EXPECT_ERROR(parse_recorded("attention.99", a), "a block from 0 to 3");
    EXPECT_ERROR(parse_recorded("attention.1.2", a), "a head from 0 to 1");
    EXPECT_ERROR(parse_recorded("key.1.1", a), "a head of keys and values from 0 to 0");
    EXPECT_ERROR(parse_recorded("stream.x", a), "the number of blocks passed, from 0 to 4");
    EXPECT_ERROR(parse_recorded("stream.5", a), "from 0 to 4");
    EXPECT_ERROR(parse_recorded("hidden.-1", a), "from 0 to 4");
    EXPECT_ERROR(parse_recorded("hidden.1.2", a), "one number, hidden.N");
    EXPECT_ERROR(parse_recorded("query.", a), "a block from 0 to 3");
    EXPECT_ERROR(parse_recorded("scores.1.1.1", a), "a block and a head, scores.B.H");
    EXPECT_ERROR(parse_recorded("branch.1.mlp", a), "branch.B.attn or branch.B.ffn");
    EXPECT_ERROR(parse_recorded("branch.4.ffn", a), "a block from 0 to 3");
    EXPECT_ERROR(parse_recorded("branches.1", a), "branches without numbers");
    EXPECT_ERROR(parse_recorded("logits.0", a), "logits without numbers");
    EXPECT_ERROR(parse_recorded("atention.1", a), "did you mean attention?");
    EXPECT_ERROR(parse_recorded("", a), "some of logits");
    EXPECT_ERROR(parse_recorded("hidden,,logits", a), "some of logits");
}

TEST(TopTokens, AreThoseOfTorch) {
    for (const std::string& name : watched) {
        const Model<float> model = load_model(golden_folder() / name);
        const SafeTensors expected = inside(name);
        const std::vector<std::int32_t> ids = read_ids(expected);
        TopTokens top(model.architecture(), ids.size(), 5);
        Taps<float> taps;
        top.listen(taps);
        Pass<float> pass(model, ids.size());
        pass.forward(ids);
        pass.losses(next_tokens(ids), taps);
        EXPECT_EQ(std::vector<double>(top.ids().begin(), top.ids().end()), expected.read<double>("top_ids"));
        EXPECT_LE(distance(top.log_probabilities(), expected.read<double>("top_log_probability")), 1e-5);
    }
}

TEST(TopTokens, EqualLogitsAreOrderedByIdAndNanIsLast) {
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    TopTokens top(a, 3, 4);
    Taps<float> taps;
    top.listen(taps);
    const std::vector<float> logits = {1, 3, NAN, 3, 2, -1, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    taps.send({.site = Site::logits, .first_row = 1, .rows = 2, .columns = 11, .data = logits.data(), .stride = 11});
    EXPECT_EQ(top.ids(), (std::vector<std::int64_t>{0, 0, 0, 0, 1, 3, 4, 0, 0, 1, 2, 3}));
    EXPECT_TRUE(std::isnan(top.log_probabilities()[4])) << "a row with NaN has no probabilities";
    EXPECT_NEAR(top.log_probabilities()[8], -std::log(11.0), 1e-6);
    const float least = -std::numeric_limits<float>::infinity();
    const std::vector<float> low = {NAN, least, NAN, least, 1, NAN, NAN, NAN, NAN, NAN, NAN};
    taps.send({.site = Site::logits, .first_row = 0, .rows = 1, .columns = 11, .data = low.data(), .stride = 11});
    EXPECT_EQ(std::vector<std::int64_t>(top.ids().begin(), top.ids().begin() + 4),
              (std::vector<std::int64_t>{4, 1, 3, 0}))
        << "behind logits of minus infinity too";
    EXPECT_NO_THROW(TopTokens(a, 3, 11)) << "all there are";
    EXPECT_ERROR(TopTokens(a, 3, 12), "from 1 to 11");
    EXPECT_ERROR(TopTokens(a, 3, 0), "from 1 to 11");
    a.has_head = false;
    EXPECT_ERROR(TopTokens(a, 3, 1), "without a language-model head");
}

TEST(Losses, OfRowsAreThoseOfTorchsLogits) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const SafeTensors expected = SafeTensors::open(golden_folder() / "gpt2" / "expected.safetensors");
    const std::vector<std::int32_t> ids = read_ids(expected);
    const std::vector<double> logits = expected.read<double>("logits");
    const std::size_t vocab = model.architecture().vocab;
    Pass<float> pass(model, ids.size());
    pass.forward(ids);
    Taps<float> taps;
    taps.add("logits", [](const TapView<float>&) {});
    std::vector<std::int32_t> targets = next_tokens(ids);
    targets[4] = no_target;
    for (const std::vector<double>& losses : {pass.losses(targets), pass.losses(targets, taps)}) {
        ASSERT_EQ(losses.size(), ids.size());
        double total = 0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (targets[i] == no_target) {
                EXPECT_TRUE(std::isnan(losses[i])) << i;
                continue;
            }
            double sum = 0;
            for (std::size_t v = 0; v < vocab; ++v) {
                sum += std::exp(logits[i * vocab + v]);
            }
            const double loss = std::log(sum) - logits[i * vocab + static_cast<std::size_t>(targets[i])];
            EXPECT_NEAR(losses[i], loss, 1e-5 * loss) << i;
            total += loss;
        }
        EXPECT_NEAR(pass.loss(targets), total / 17, 1e-5 * total / 17);
    }
}

// Three tiles of rows, the first without a target.
TEST(Losses, TilesWithoutATargetAreSkippedAndOthersNot) {
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.positions = 700;
    const Model<double> model = tiny_model<double>(a, 2);
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < 700; ++i) {
        ids.push_back(static_cast<std::int32_t>(i * i % 11));
    }
    Pass<double> pass(model, ids.size());
    pass.forward(ids);
    const std::vector<double> all = pass.losses(next_tokens(ids));
    std::vector<std::int32_t> targets = next_tokens(ids);
    std::fill_n(targets.begin(), 300, no_target);
    const std::vector<double> some = pass.losses(targets);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i < 300) {
            EXPECT_TRUE(std::isnan(some[i]));
        } else if (i + 1 < ids.size()) {
            EXPECT_EQ(some[i], all[i]) << i;
        }
    }
}

TEST(Strides, LossesAreThoseOfTorchsWindows) {
    std::size_t compared = 0;
    for (const std::string& name : watched) {
        const Model<float> model = load_model(golden_folder() / name);
        const SafeTensors expected = inside(name);
        const std::vector<std::int32_t> text = read_ids(expected, "text");
        for (const std::string& tensor : expected.names()) {
            if (!tensor.starts_with("losses.")) {
                continue;
            }
            const std::size_t dot = tensor.find('.', 7);
            const std::size_t length = std::stoul(tensor.substr(7, dot - 7));
            const std::size_t stride = std::stoul(tensor.substr(dot + 1));
            const std::vector<double> losses = expected.read<double>(tensor);
            std::vector<std::size_t> told;
            const TextScore score = score_by_strides(model, text, {length, stride, name != "gpt2"},
                                                     [&](std::size_t done) { told.push_back(done); });
            double total = 0;
            std::size_t scored = 0;
            ASSERT_EQ(score.losses.size(), losses.size());
            for (std::size_t i = 0; i < losses.size(); ++i) {
                ASSERT_EQ(std::isnan(score.losses[i]), std::isnan(losses[i])) << tensor << " " << i;
                if (!std::isnan(losses[i])) {
                    EXPECT_NEAR(score.losses[i], losses[i], 1e-5 * std::fabs(losses[i]) + 1e-5) << tensor << " " << i;
                    total += losses[i];
                    ++scored;
                }
            }
            EXPECT_EQ(score.mean.scored, scored);
            const double mean = total / static_cast<double>(scored);
            EXPECT_NEAR(score.mean.loss, mean, 1e-5 * mean) << tensor;
            EXPECT_NEAR(score.mean.perplexity, std::exp(mean), 1e-4 * std::exp(mean));
            EXPECT_EQ(told.size(), score.windows);
            EXPECT_EQ(told.back(), text.size());
            EXPECT_TRUE(score.finite);
            ++compared;
        }
    }
    EXPECT_EQ(compared, 7U);
}

TEST(Strides, StandardErrorIsTheDeviationOverTheRootOfTheCount) {
    const MeanLoss some = mean_loss(std::vector<double>{NAN, 1, 2, 6});  // mean 3, deviations -2, -1, 3
    EXPECT_EQ(some.scored, 3U);
    EXPECT_DOUBLE_EQ(some.loss, 3);
    EXPECT_DOUBLE_EQ(some.standard_error, std::sqrt(14.0 / 2 / 3));
    EXPECT_DOUBLE_EQ(some.perplexity, std::exp(3.0));
    EXPECT_TRUE(std::isnan(mean_loss(std::vector<double>{NAN, 4}).standard_error));
    EXPECT_TRUE(std::isnan(mean_loss({}).loss));
}

// Of two windows the second has a token without numbers: the mean of the first alone would be that of another text.
TEST(Strides, ALossThatIsNoNumberLeavesNoMean) {
    Model<float> model = tiny_model<float>(tiny_llama("x + dt*f(norm(x)) | norm(x)"), 3);
    model.parameters()->at(model.layout().tokens)[9 * model.architecture().dim] = NAN;
    const TextScore score = score_by_strides(model, tiny_ids, {4, 4});  // 3, 1, 4, 1 and 5, 9, 2
    EXPECT_FALSE(score.finite);
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_TRUE(std::isfinite(score.losses[i])) << i;
    }
    EXPECT_TRUE(std::isnan(score.losses[6]));
    EXPECT_TRUE(std::isnan(score.mean.loss));
    EXPECT_TRUE(std::isnan(score.mean.standard_error));
    EXPECT_TRUE(std::isnan(score.mean.perplexity));
}

TEST(Strides, ThatMakeNoSenseAreRefused) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const std::vector<std::int32_t> text(50, 3);
    EXPECT_ERROR(score_by_strides(model, text, {16, 0}), "got stride = 0, expected from 1 to 16");
    EXPECT_ERROR(score_by_strides(model, text, {16, 17}), "got stride = 17, expected from 1 to 16");
    EXPECT_ERROR(score_by_strides(model, text, {1, 1}), "at least 2");
    EXPECT_ERROR(score_by_strides(model, text, {33, 8}), "from 1 to 32");
    EXPECT_ERROR(score_by_strides(model, text, {33, 8, true}), "positions of this model are learned");
    EXPECT_ERROR(score_by_strides(load_model(golden_folder() / "bert"), text, {16, 8}), "predicts the next token");
}

TEST(AllowLong, GoesBeyondRotaryPositionsAlone) {
    Batch batch(40);
    batch.allow_long = true;
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    EXPECT_NO_THROW(check_length(a, batch));
    EXPECT_ERROR(check_length(a, 40), "allow-long of forward goes on beyond them");
    EXPECT_ERROR(check_length(a, 40), "got 40 tokens, expected from 1 to 9, the positions of this");
    EXPECT_ERROR(check_length(a, 40), "shorten the input, for example with length = 9");
    a.learned_positions = true;
    EXPECT_ERROR(check_length(a, batch), "positions of this model are learned, and there are no more of them");
    EXPECT_ERROR(check_length(a, 40), "learned");
    a.rope.scaling = Rope::Scaling::dynamic;  // which goes on by itself, unlike the table of the others
    EXPECT_ERROR(check_length(a, 10), "from 1 to 9, the positions of this flyball model");
    EXPECT_ERROR(check_length(a, batch), "learned");
    EXPECT_NO_THROW(check_length(a, 9));
    a.learned_positions = false;
    EXPECT_NO_THROW(check_length(a, 40));
    Batch none(0);
    none.allow_long = true;
    EXPECT_ERROR(check_length(a, none), "got 0 tokens");
}

}  // namespace
}  // namespace flyball::model::test::inside_test
