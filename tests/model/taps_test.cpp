// What taps show beside the stream x, and what edits change: against equations written out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>

#include "../core/support.hpp"
#include "core/safetensors.hpp"
#include "model/pass.hpp"
#include "model/recorder.hpp"
#include "scheme/catalogue.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

using Tensors = std::map<std::string, std::vector<double>>;

Tensors run(const Model<double>& model, const std::vector<std::string>& names, const std::vector<Edit>& edits = {},
            Keep keep = Keep::nothing) {
    Tensors seen;
    Taps<double> taps;
    for (const std::string& name : names) {
        taps.add(name, [&seen](const TapView<double>& view) {
            EXPECT_TRUE(
                seen.emplace(view.name(), std::vector<double>(view.data, view.data + view.rows * view.columns)).second)
                << view.name() << " came twice";
        });
    }
    Pass<double> pass(model, tiny_ids.size(), keep);
    pass.edit(edits);
    pass.forward(tiny_ids, taps);
    seen["readout"] = pass.readout();
    return seen;
}

std::vector<double> sum(const std::vector<double>& a, const std::vector<double>& b, double factor = 1) {
    std::vector<double> out = a;
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] += factor * b[i];
    }
    return out;
}

const std::vector<std::string> everything = {"embed", "blocks.*.resid.*", "blocks.*.attn.added.*",
                                             "blocks.*.ffn.added.*"};

// Between blocks, in an equation that only ever adds, the stream gains what the branches add.
TEST(Taps, AStreamGainsWhatItsBranchesAdd) {
    for (const std::string equation :
         {"x + dt*f(norm(x)) | norm(x)", "x + dt*norm(f(norm(x))) | norm(x)",
          "x + a*dt*norm(f(x)) | norm(x) where ~a[d] = 0.3", "x + dt*norm(f(x) + g) | norm(x) where ~g[d] = 0.2"}) {
        for (const Keep keep : {Keep::nothing, Keep::inputs}) {
            Architecture a = tiny_architecture(equation);
            a.dt = 0.5;
            const Tensors seen = run(tiny_model<double>(a, 5), everything, {}, keep);
            std::vector<double> x = seen.at("embed");
            for (std::size_t l = 0; l < a.layers; ++l) {
                const std::string block = "blocks." + std::to_string(l);
                x = sum(sum(x, seen.at(block + ".attn.added")), seen.at(block + ".ffn.added"));
                EXPECT_LE(distance(x, seen.at(block + ".resid")), 1e-13) << equation;
                x = seen.at(block + ".resid");
            }
        }
    }
}

TEST(Taps, EveryStreamIsSeenAndEachSumHasItsContribution) {
    const Architecture a = tiny_architecture("o = f(x); x = norm(x + 0.5*o); y = y + 0.25*o | x + norm(y)");
    const Tensors seen = run(tiny_model<double>(a, 6), everything);
    const auto& y0 = seen.at("embed");
    const auto& attention = seen.at("blocks.0.attn.added.y");
    const auto& ffn = seen.at("blocks.0.ffn.added.y");
    EXPECT_LE(distance(sum(sum(y0, attention), ffn), seen.at("blocks.0.resid.y")), 1e-13);
    EXPECT_LE(distance(seen.at("blocks.0.attn.added"), sum(attention, attention)), 1e-13) << "0.5*o against 0.25*o";
    EXPECT_NE(seen.at("blocks.0.resid"), seen.at("blocks.0.resid.y"));
    EXPECT_EQ(run(tiny_model<double>(a, 6), {"blocks.*.resid"}).count("blocks.0.resid.y"), 0U) << "x unless asked";
}

TEST(Taps, OutputNormsAndCoefficientsAreInWhatIsAdded) {
    // nGPT: unit((1 - 0.3) x + 0.3 unit(f(x))); what is added has length 0.3.
    const Tensors seen =
        run(tiny_model<double>(tiny_architecture("unit(x + dt*0.3*(unit(f(x)) - x))"), 7), {"blocks.*.attn.added"});
    const std::vector<double>& added = seen.at("blocks.2.attn.added");
    for (std::size_t i = 0; i < tiny_ids.size(); ++i) {
        double square = 0;
        for (std::size_t k = 0; k < 8; ++k) {
            square += added[i * 8 + k] * added[i * 8 + k];
        }
        EXPECT_NEAR(std::sqrt(square), 0.3, 1e-12);
    }
}

TEST(Taps, ScoresBecomeThePattern) {
    for (const std::string& name : attention::kind_names()) {
        Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
        a.attention_kind = attention::kind_from_name(name);
        std::vector<double> scores;
        std::vector<double> pattern;
        std::vector<double> plain;
        const auto keep = [](std::vector<double>& to) {
            return [&to](const TapView<double>& view) {
                for (std::size_t i = 0; view.head == 1 && i < view.rows; ++i) {
                    to.insert(to.end(), view.row(i), view.row(i) + view.columns);
                }
            };
        };
        Taps<double> taps;
        taps.add("blocks.1.attn.scores", keep(scores));
        taps.add("blocks.1.attn.pattern", keep(pattern));
        const Model<double> model = tiny_model<double>(a, 8);
        Pass<double> pass(model, tiny_ids.size());
        pass.forward(tiny_ids, taps);
        Taps<double> alone;
        alone.add("blocks.1.attn.pattern", keep(plain));
        pass.forward(tiny_ids, alone);
        EXPECT_EQ(pattern, plain) << "looking changes nothing";
        ASSERT_EQ(scores.size(), pattern.size());
        ASSERT_EQ(scores.size(), tiny_ids.size() * tiny_ids.size());
        for (std::size_t i = 0; i < tiny_ids.size(); ++i) {
            double total = 0;
            for (std::size_t j = 0; j < tiny_ids.size(); ++j) {
                const bool visible = j <= i && j + 3 > i;  // a window of 3
                EXPECT_EQ(std::isfinite(scores[i * 7 + j]), visible);
                total += visible ? std::exp(scores[i * 7 + j]) : 0;
            }
            for (std::size_t j = 0; name == "softmax" && j < tiny_ids.size(); ++j) {
                EXPECT_NEAR(pattern[i * 7 + j], std::exp(scores[i * 7 + j]) / total, 1e-12);
            }
        }
    }
}

TEST(Taps, EveryListenerIsTold) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 1);
    std::vector<std::size_t> first;
    std::vector<std::size_t> second;
    std::size_t one_block = 0;
    Taps<double> taps;
    taps.add("blocks.*.resid", [&](const TapView<double>& view) { first.push_back(view.layer); });
    taps.add("blocks.*.resid", [&](const TapView<double>& view) { second.push_back(view.layer); });
    taps.add("blocks.2.resid", [&](const TapView<double>&) { ++one_block; });
    Pass<double>(model, tiny_ids.size()).forward(tiny_ids, taps);
    EXPECT_EQ(first, (std::vector<std::size_t>{0, 1, 2, 3}));
    EXPECT_EQ(second, first);
    EXPECT_EQ(one_block, 1U);
}

TEST(Taps, AStreamThatTheEquationLacksIsAnError) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 1);
    EXPECT_ERROR(run(model, {"blocks.*.resid.y"}), "a stream of the equation: x");
    Taps<double> taps;
    const auto nothing = [](const TapView<double>&) {};
    EXPECT_ERROR(taps.add("blocks.*.attn.out.y", nothing), "the unknown tap");
    EXPECT_ERROR(taps.add("blocks.*.resid.", nothing), "the unknown tap");
}

// ---- edits ---------------------------------------------------------------------------------------------------------

void copy_parameters(const Model<double>& from, Model<double>& to,
                     const std::function<std::string(std::string)>& name) {
    for (std::size_t i = 0; i < to.layout().parameters.size(); ++i) {
        const std::string wanted = name(to.layout().parameters[i].name);
        bool found = false;
        for (std::size_t j = 0; j < from.layout().parameters.size(); ++j) {
            if (from.layout().parameters[j].name == wanted) {
                std::copy_n(from.at(static_cast<int>(j)), to.layout().parameters[i].elements(),
                            to.parameters()->at(static_cast<int>(i)));
                found = true;
            }
        }
        EXPECT_TRUE(found) << wanted;
    }
}

TEST(Edits, AModelWithoutABlockIsAModelThatNeverHadIt) {
    for (const std::string equation : {"x + dt*f(norm(x)) | norm(x)", "norm(x + dt*f(x))",
                                       "o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)"}) {
        Architecture a = tiny_architecture(equation);
        const Model<double> model = tiny_model<double>(a, 9);
        a.layers = 3;
        Model<double> shorter = tiny_model<double>(a, 10);
        copy_parameters(model, shorter, [](std::string name) {
            if (name.starts_with("blocks.") && name[7] > '0') {
                ++name[7];  // blocks 1 and 2 are blocks 2 and 3 of the whole
            }
            return name;
        });
        const std::vector<double> expected = run(shorter, {}).at("readout");
        for (const Keep keep : {Keep::nothing, Keep::inputs}) {
            const std::vector<double> got = run(model, {}, {{1, Edit::What::block}}, keep).at("readout");
            EXPECT_EQ(got, expected) << equation;
            EXPECT_NE(run(model, {}, {}, keep).at("readout"), expected);
        }
    }
}

TEST(Edits, AFactorIsThatOfAnEquationWrittenWithIt) {
    // {} is the place of the factor; a block program, so that attention and FFN have their own.
    for (const std::string equation : {
             "a = x + {}dt*norm(attn(norm(x))); x = a + dt*norm(ffn(norm(a))) | norm(x)",
             "a = norm(x + {}dt*attn(x)); x = norm(a + dt*ffn(a))",
             "a = unit(0.7*x + {}0.3*unit(attn(x))); x = unit(0.7*a + 0.3*unit(ffn(a)))",
             "o = attn(x); a = norm(x + {}dt*o); p = ffn(a); x = norm(a + dt*p); y = y + {}dt*o + dt*p | x + norm(y)",
         }) {
        const auto with = [&equation](const std::string& factor) {
            std::string text = equation;
            for (std::size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}")) {
                text.replace(at, 2, factor);
            }
            return text;
        };
        Architecture a = tiny_architecture(with(""));
        const Model<double> model = tiny_model<double>(a, 11);
        a.equation = with("0.25*");
        Model<double> written = tiny_model<double>(a, 12);
        copy_parameters(model, written, [](std::string name) { return name; });
        std::vector<Edit> edits;
        for (std::size_t l = 0; l < a.layers; ++l) {
            edits.push_back({l, Edit::What::attention, 0.25});
        }
        for (const Keep keep : {Keep::nothing, Keep::everything}) {
            const Tensors got = run(model, everything, edits, keep);
            const Tensors expected = run(written, everything, {}, keep);
            for (const auto& [name, values] : expected) {
                EXPECT_LE(distance(got.at(name), values), 1e-13) << equation << ": " << name;
            }
        }
    }
}

TEST(Edits, EverySchemeOfTheCatalogueScalesWhatABranchAdds) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const Model<double> model = tiny_model<double>(tiny_architecture(entry.equation), 13);
        const Tensors whole = run(model, everything);
        const Tensors half = run(model, everything, {{0, Edit::What::attention, 0.5}, {1, Edit::What::feed_forward}});
        std::size_t scaled = 0;
        for (const auto& [name, values] : whole) {
            if (name.starts_with("blocks.0.attn.added")) {
                EXPECT_LE(distance(half.at(name), sum(values, values, -0.5)), 1e-12) << entry.name << ": " << name;
                ++scaled;
            }
            if (name.starts_with("blocks.1.ffn.added")) {
                EXPECT_EQ(half.at(name), std::vector<double>(values.size(), 0.0)) << entry.name << ": " << name;
                ++scaled;
            }
        }
        EXPECT_GE(scaled, 2U) << entry.name;
    }
}

TEST(Edits, GradientsAreThoseOfTheEditedModel) {
    const std::vector<Edit> edits = {
        {0, Edit::What::attention, 0.5}, {1, Edit::What::block}, {2, Edit::What::feed_forward, -2}};
    Model<double> model = tiny_model<double>(tiny_architecture("x + dt*norm(f(norm(x))) | norm(x)"), 14);
    const auto loss = [&](Parameters<double>* gradients) {
        Pass<double> pass(model, tiny_ids.size(), Keep::inputs);
        pass.edit(edits);
        pass.forward(tiny_ids);
        return gradients == nullptr ? pass.loss(next_tokens(tiny_ids))
                                    : pass.loss_and_backward(next_tokens(tiny_ids), *gradients);
    };
    Parameters<double> gradients(model.layout());
    loss(&gradients);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        double& value = model.parameters()->at(static_cast<int>(i))[0];
        const double before = value;
        const double step = 1e-5;
        value = before + step;
        const double above = loss(nullptr);
        value = before - step;
        const double below = loss(nullptr);
        value = before;
        const double measured = (above - below) / (2 * step);
        EXPECT_NEAR(gradients.at(static_cast<int>(i))[0], measured, 1e-8 + 1e-5 * std::fabs(measured)) << spec.name;
        if (spec.name.starts_with("blocks.1.")) {
            EXPECT_EQ(gradients.at(static_cast<int>(i))[0], 0) << spec.name;
        }
    }
}

TEST(Edits, WhatCannotBeDoneIsRefused) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 1);
    EXPECT_ERROR(run(model, {}, {{4, Edit::What::block}}), "a block from 0 to 3");
    EXPECT_ERROR(run(model, {}, {{1, Edit::What::block, 0.5}}), "scale its two branches");
}

// Attention only feeds the FFN here: leaving it out is not leaving out a branch.
TEST(Edits, OfABranchThatAddsNothingAreRefused) {
    const Model<double> model = tiny_model<double>(tiny_architecture("m = attn(norm(x)); x = x + dt*ffn(m)"), 3);
    Pass<double> pass(model, tiny_ids.size());
    EXPECT_THROW(pass.edit({{1, Edit::What::attention, 0}}), Error);
    EXPECT_NO_THROW(pass.edit({{1, Edit::What::feed_forward, 0}}));
}

TEST(Edits, WantAForwardPassBeforeTheWayBack) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    Pass<double> pass(model, tiny_ids.size(), Keep::everything);
    Parameters<double> gradients(model.layout());
    const std::vector<std::int32_t> targets = next_tokens(tiny_ids);
    pass.forward(tiny_ids);
    pass.edit({{1, Edit::What::block, 0}});
    EXPECT_THROW(pass.loss_and_backward(targets, gradients), Error);
    pass.forward(tiny_ids);
    EXPECT_NO_THROW(pass.loss_and_backward(targets, gradients));
}

// Two sums take what attention gave: a tensor for one of them would be wrong.
TEST(Recorder, RefusesWhatHasNoRoom) {
    const auto record = [](const char* equation) {
        const Model<float> model = tiny_model<float>(tiny_architecture(equation), 3);
        Recorder recorder(model.architecture(), tiny_ids.size(), parse_recorded("branches", model.architecture()));
        Pass<float> pass(model, tiny_ids.size());
        pass.forward(tiny_ids, recorder.taps());
    };
    EXPECT_NO_THROW(record("x + dt*f(norm(x)) | norm(x)"));
    EXPECT_THROW(record("o = f(norm(x)); y = x + 2*dt*o; x = y + norm(x + 3*dt*o) | norm(x)"), Error);
}

TEST(Document, SaysWhatAModelIs) {
    const Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    const Json about = document("mine", tiny_model<float>(a, 3));
    EXPECT_EQ(about["name"], "mine");
    EXPECT_EQ(about["equation"], "x + dt*f(norm(x)) | norm(x)");
    const std::map<std::string, std::size_t> sizes = {{"layers", 4},   {"dim", 8},      {"heads", 2},
                                                      {"kv_heads", 1}, {"head_dim", 4}, {"ffn_dim", 12},
                                                      {"vocab", 11},   {"positions", 9}};
    for (const auto& [key, value] : sizes) {
        EXPECT_EQ(about[key], value) << key;
    }
    Architecture narrow = a;
    narrow.head_dim = narrow.rope.dims = 2;  // heads need not fill the stream
    EXPECT_EQ(document("mine", tiny_model<float>(narrow, 3))["head_dim"], 2);
    EXPECT_EQ(about["norm"], "rmsnorm");
    // Embedding and head 11 x 8, the last norm 8; a block: q 8 x 8, k and v 4 x 8, o 8 x 8, three of 12 x 8, two norms.
    EXPECT_EQ(about["parameters"], 2 * 88 + 8 + 4 * (64 + 32 + 32 + 64 + 3 * 96 + 16));
}

// In the last block: what comes after an infinite score is not a number, which would tell by itself.
// Where a block's step is 0 its sub-layers are not run: zeros would be taken for their numbers.
TEST(Recorder, HasNothingOfASubLayerThatIsNotRun) {
    Architecture a = tiny_architecture("x + s*f(norm(x)) | norm(x) where s = depth < 0.4 ? 0 : 1");
    const Model<float> model = tiny_model<float>(a, 5);
    const flyball::test::TemporaryFolder folder;
    const auto save = [&](const std::string& what) {
        Recorder recorder(a, tiny_ids.size(), parse_recorded(what, a));
        Pass<float> pass(model, Batch(tiny_ids.size()));
        pass.forward(tiny_ids, recorder.taps());
        recorder.save(folder.path() / "saved.safetensors", {});
    };
    for (const char* const what : {"attention.0", "scores.0", "query.0", "key.0", "value.0.1"}) {
        const flyball::test::Caught caught = flyball::test::error_of([&] { save(what); });
        EXPECT_NE(caught.text.find(std::string(what) + " of a block whose equation does not run"), std::string::npos)
            << what << ": " << caught.text;
    }
    save("branch.0,attention.1,stream");
    const SafeTensors saved = SafeTensors::open(folder.path() / "saved.safetensors");
    for (const char* const branch : {"branch.0.attn", "branch.0.ffn"}) {
        for (const float added : saved.read<float>(branch)) {
            EXPECT_EQ(added, 0) << branch;
        }
    }
}

// Half of the blocks lack a sub-layer: what it would add is 0 there, and the other one and other blocks have theirs.
TEST(Recorder, HasZerosOfABranchThatABlockLacks) {
    const flyball::test::TemporaryFolder folder;
    const std::string both = "x + dt*attn(norm(x)) + dt*ffn(norm(x))";
    for (const auto& [only, lacking] : {std::pair{"attn", "ffn"}, {"ffn", "attn"}}) {
        const std::string one = "x + dt*" + std::string(only) + "(norm(x))";
        const Architecture a = tiny_architecture("depth <= 0.5 ? " + one + " : " + both + " | norm(x)");
        const Model<float> model = tiny_model<float>(a, 5);
        Recorder recorder(a, tiny_ids.size(), parse_recorded("branch.0,branch.3", a));
        Pass<float>(model, tiny_ids.size()).forward(tiny_ids, recorder.taps());
        recorder.save(folder.path() / "saved.safetensors", {});
        const SafeTensors saved = SafeTensors::open(folder.path() / "saved.safetensors");
        const std::vector<float> zeros(tiny_ids.size() * a.dim, 0.0F);
        EXPECT_EQ(saved.read<float>(std::string("branch.0.") + lacking), zeros);
        EXPECT_NE(saved.read<float>(std::string("branch.0.") + only), zeros);
        EXPECT_NE(saved.read<float>(std::string("branch.3.") + lacking), zeros);
    }
}

TEST(Recorder, SavesWhatItIsGivenBesideWhatItRecorded) {
    const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 5);
    const flyball::test::TemporaryFolder folder;
    Recorder recorder(model.architecture(), tiny_ids.size(), parse_recorded("stream.1", model.architecture()));
    Pass<float>(model, tiny_ids.size()).forward(tiny_ids, recorder.taps());
    const std::vector<std::int64_t> ids(tiny_ids.begin(), tiny_ids.end());
    const std::vector<TensorToWrite> more = {tensor("ids", {ids.size()}, std::span<const std::int64_t>(ids))};
    recorder.save(folder.path() / "saved.safetensors", more);
    const SafeTensors saved = SafeTensors::open(folder.path() / "saved.safetensors");
    EXPECT_EQ(saved.names().size(), 2U);
    EXPECT_TRUE(saved.contains("stream.1"));
    EXPECT_EQ(read_ids(saved), tiny_ids);
}

TEST(Recorder, AnInfiniteScoreIsNotFiniteButTheMaskIs) {
    const Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    for (const float size : {1.0F, 1e30F}) {
        Model<float> model = tiny_model<float>(a, 3);
        const Linear& qkv = model.layout().blocks.back().qkv[0];
        std::fill_n(model.parameters()->at(qkv.weight), 2 * a.dim * a.dim, 0.0F);  // queries and keys are their biases
        std::fill_n(model.parameters()->at(qkv.bias), 2 * a.dim, size);
        Recorder recorder(a, tiny_ids.size(), parse_recorded("scores", a));
        Pass<float> pass(model, tiny_ids.size());
        pass.forward(tiny_ids, recorder.taps());
        EXPECT_EQ(recorder.is_finite(), size == 1);
    }
}

// No number at all is not the mask either: of the scores as of everything else.
TEST(Recorder, AScoreThatIsNoNumberIsNotFinite) {
    const Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    for (const char* what : {"scores", "attention", "stream.4"}) {
        for (const float wrong : {0.0F, std::numeric_limits<float>::quiet_NaN()}) {
            Model<float> model = tiny_model<float>(a, 3);
            const Linear& qkv = model.layout().blocks.back().qkv[0];
            model.parameters()->at(qkv.bias)[0] += wrong;  // of one channel of the queries
            Recorder recorder(a, tiny_ids.size(), parse_recorded(what, a));
            Pass<float> pass(model, tiny_ids.size());
            pass.forward(tiny_ids, recorder.taps());
            EXPECT_EQ(recorder.is_finite(), wrong == 0) << what;
        }
    }
}

// A pass that is edited again does what a new one with the last edits does, forward and back.
TEST(Edits, AgainReplaceThoseBefore) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 9);
    const std::vector<std::int32_t> targets = next_tokens(tiny_ids);
    const std::vector<std::vector<Edit>> edits = {{},
                                                  {{1, Edit::What::attention, 0.5}},
                                                  {{1, Edit::What::attention, 0.25}},
                                                  {{2, Edit::What::feed_forward, 0}},
                                                  {}};
    for (const Keep keep : {Keep::nothing, Keep::inputs, Keep::everything}) {
        Pass<double> same(model, tiny_ids.size(), keep);
        for (const std::vector<Edit>& now : edits) {
            Pass<double> fresh(model, tiny_ids.size(), keep);
            std::vector<std::vector<double>> results;
            for (Pass<double>* pass : {&same, &fresh}) {
                pass->edit(now);
                pass->forward(tiny_ids);
                results.push_back(pass->readout());
                if (keep != Keep::nothing) {
                    Parameters<double> gradients(model.layout());
                    pass->loss_and_backward(targets, gradients);
                    results.back().insert(results.back().end(), gradients.all().begin(), gradients.all().end());
                }
            }
            EXPECT_EQ(results[0], results[1]);
        }
    }
}

// The first block is given the same queries and keys whatever becomes of their scores.
TEST(Taps, ScoresDoNotDependOnTheKindOfAttention) {
    std::map<std::string, std::vector<double>> scores;
    for (const std::string& name : attention::kind_names()) {
        Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
        a.attention_kind = attention::kind_from_name(name);
        Taps<double> taps;
        taps.add("blocks.0.attn.scores", [&](const TapView<double>& view) {
            for (std::size_t i = 0; view.head == 1 && i < view.rows; ++i) {
                for (std::size_t k = 0; k < view.columns; ++k) {
                    scores[name].push_back(std::isfinite(view.row(i)[k]) ? view.row(i)[k] : 0);
                }
            }
        });
        const Model<double> model = tiny_model<double>(a, 8);
        Pass<double>(model, tiny_ids.size()).forward(tiny_ids, taps);
    }
    for (const auto& [name, values] : scores) {
        EXPECT_LE(distance(values, scores.at("softmax")), 1e-12) << name;
    }
}

// A vocabulary so large that logits come sixteen rows at a time.
TEST(Taps, LogitsSayWhichRowsTheyAreOf) {
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.layers = 1;
    a.vocab = (std::size_t{1} << 20U) + 1;
    a.positions = 20;
    const Model<float> model = tiny_model<float>(a, 2);
    const std::vector<std::int32_t> ids(20, 5);
    Pass<float> pass(model, ids.size());
    pass.forward(ids);
    std::vector<std::size_t> first;
    Taps<float> taps;
    taps.add("logits", [&](const TapView<float>& view) { first.push_back(view.first_row); });
    pass.loss(next_tokens(ids), taps);
    EXPECT_EQ(first, (std::vector<std::size_t>{0, 16}));
}

// A block that passes its streams on passes their gradients back.
TEST(Edits, ABlockLeftOutShowsTheGradientThatPassesIt) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 4);
    Pass<double> pass(model, tiny_ids.size(), Keep::everything);
    pass.edit({{2, Edit::What::block, 0}});
    pass.forward(tiny_ids);
    std::map<std::size_t, std::vector<double>> seen;
    Taps<double> taps;
    taps.add("blocks.*.grad", [&](const TapView<double>& view) {
        seen[view.layer].assign(view.data, view.data + view.rows * view.columns);
    });
    Parameters<double> gradients(model.layout());
    pass.loss_and_backward(next_tokens(tiny_ids), gradients, 1, taps);
    ASSERT_EQ(seen.size(), 4U);
    EXPECT_EQ(seen.at(1), seen.at(2));
    EXPECT_NE(seen.at(2), seen.at(3));
}

// Of a window's later rows only the columns that it leaves are sent; they belong where the window is.
TEST(Recorder, PutsWindowsWhereTheyBelong) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.positions = 300;
    const Model<float> model = tiny_model<float>(a, 3);
    const std::size_t n = 300;
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < n; ++i) {
        ids.push_back(static_cast<std::int32_t>(i % 11));
    }
    Recorder recorder(a, n, parse_recorded("attention", a));
    Pass<float>(model, n).forward(ids, recorder.taps());
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("flyball-windows-" + std::to_string(getpid()) + ".safetensors");
    recorder.save(file);
    const std::vector<float> weights = SafeTensors::open(file).read<float>("attention.1");
    std::filesystem::remove(file);
    for (std::size_t i = 0; i < n; ++i) {
        double inside = 0;
        for (std::size_t k = i < 2 ? 0 : i - 2; k <= i; ++k) {
            inside += static_cast<double>(weights[i * n + k]);
        }
        ASSERT_NEAR(inside, 1, 1e-5) << "row " << i << " of a window of three";
    }
}

}  // namespace
}  // namespace flyball::model::test
