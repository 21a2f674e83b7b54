// Attention other than softmax in models: the definition of each kind, files that say it, streams of NaN.
#include <gtest/gtest.h>

#include <cmath>

#include "../core/support.hpp"
#include "attention/row_weights.hpp"
#include "model/heads.hpp"
#include "model/native.hpp"
#include "model/save.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

// out_i = sum_j w_ij v_j over what row i sees, with the weights of each row by attention/row_weights.
std::vector<double> plain_heads(const HeadsShape& shape, const std::vector<double>& qkv) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t width = shape.head_dim;
    std::vector<double> out(shape.batch.rows() * shape.heads * width, 0.0);
    std::vector<double> room;
    for (std::size_t row = 0; row < shape.batch.rows(); ++row) {
        const std::size_t first = row / tokens * tokens;
        const std::size_t i = row - first;
        const std::size_t begin = shape.window > 0 && i + 1 > shape.window ? i + 1 - shape.window : 0;
        const std::size_t end = shape.causal ? i + 1 : tokens;
        for (std::size_t h = 0; h < shape.heads; ++h) {
            const std::size_t group = h / (shape.heads / shape.kv_heads);
            std::vector<double> weights;
            for (std::size_t j = begin; j < end; ++j) {
                double score = 0;
                for (std::size_t k = 0; k < width; ++k) {
                    score += qkv[row * shape.stride() + h * width + k] *
                             qkv[(first + j) * shape.stride() + (shape.heads + group) * width + k];
                }
                if (shape.cap > 0) {  // what the kind is given is scale times this
                    score = shape.cap * std::tanh(shape.scale * score / shape.cap) / shape.scale;
                }
                weights.push_back(score);
            }
            attention::row_weights(shape.kind, shape.scale, tokens, weights.size(), weights.data(), room);
            for (std::size_t j = begin; j < end; ++j) {
                for (std::size_t k = 0; k < width; ++k) {
                    const std::size_t value = (shape.heads + shape.kv_heads + group) * width + k;
                    out[(row * shape.heads + h) * width + k] +=
                        weights[j - begin] * qkv[(first + j) * shape.stride() + value];
                }
            }
        }
    }
    return out;
}

TEST(Kinds, HeadsComputeTheDefinitionOfEveryKind) {
    for (const std::string& name : attention::kind_names()) {
        for (const auto& [causal, cap] : {std::pair{true, 0.0}, {false, 0.0}, {true, 1.5}}) {
            HeadsShape shape;
            shape.batch = {2, 40};
            shape.heads = 4;
            shape.kv_heads = 2;
            shape.head_dim = 6;
            shape.causal = causal;
            shape.window = causal ? 9 : 0;
            shape.scale = 0.6;
            shape.cap = cap;
            shape.kind = attention::kind_from_name(name);
            std::vector<double> qkv(shape.batch.rows() * shape.stride());
            for (std::size_t k = 0; k < qkv.size(); ++k) {
                qkv[k] = Random(5).normal(k);
            }
            const std::vector<double> expected = plain_heads(shape, qkv);
            std::vector<double> out(expected.size());
            attend(shape, qkv.data(), out.data(), 0, Taps<double>());
            EXPECT_LE(distance(out, expected), 1e-13) << name;
            const std::vector<float> narrow(qkv.begin(), qkv.end());
            std::vector<float> single(expected.size());
            attend(shape, narrow.data(), single.data(), 0, Taps<float>());
            EXPECT_LE(distance(single, expected), 2e-6) << name;
        }
    }
}

TEST(Kinds, SpoiltScoresMakeTheRowNaNAndSortNothing) {
    for (const std::string& name : attention::kind_names()) {
        HeadsShape shape;
        shape.batch = 3;
        shape.head_dim = 1;
        shape.kind = attention::kind_from_name(name);
        const std::vector<double> qkv = {1, 1, 1, 1, NAN, 1, 1, 1, 1};  // the second key
        std::vector<double> out(3);
        attend(shape, qkv.data(), out.data(), 0, Taps<double>());
        EXPECT_TRUE(std::isfinite(out[0])) << name;
        EXPECT_TRUE(std::isnan(out[1]) && std::isnan(out[2])) << name;
        const std::vector<double> endless = {1, 1, 1, 1, -INFINITY, 1, 1, 1, 1};
        attend(shape, endless.data(), out.data(), 0, Taps<double>());
        EXPECT_TRUE(std::isfinite(out[0])) << name;
        EXPECT_EQ(std::isnan(out[2]), shape.kind != attention::Kind::softmax) << name;
    }
}

TEST(Kinds, AModelOfOursSaysItsKind) {
    for (const std::string& name : attention::kind_names()) {
        Architecture a = tiny_architecture("x + dt*f(norm(x))");
        a.attention_kind = attention::kind_from_name(name);
        EXPECT_EQ(architecture_json(a).at("attention"), name);
        const flyball::test::TemporaryFolder folder;
        const Model<float> model = tiny_model<float>(a, 3);
        save_model(model, folder.path());
        const Model<float> back = load_model(folder.path());
        EXPECT_EQ(back.architecture().attention_kind, a.attention_kind);
        Pass<float> one(model, tiny_ids.size());
        Pass<float> two(back, tiny_ids.size());
        one.forward(tiny_ids);
        two.forward(tiny_ids);
        EXPECT_EQ(one.readout(), two.readout()) << name;
    }
    for (const std::string& family : golden_names()) {
        EXPECT_EQ(load_model(golden_folder() / family).architecture().attention_kind, attention::Kind::softmax);
    }
}

}  // namespace
}  // namespace flyball::model::test
