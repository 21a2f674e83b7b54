#include "model/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::model {

double Architecture::score_scale(std::size_t layer) const {
    double scale = scale_scores ? 1 / std::sqrt(static_cast<double>(head_dim)) : 1.0;
    if (attention_norm.any() && attention_norm.scores_times_root) {
        scale = std::sqrt(static_cast<double>(head_dim));
    }
    if (score_factor > 0) {
        scale = score_factor;
    }
    if (scale_by_layer) {
        scale /= static_cast<double>(layer + 1);
    }
    return scale;
}

const char* name(Activation activation) noexcept {
    switch (activation) {
        case Activation::gelu:
            return "gelu";
        case Activation::gelu_tanh:
            return "gelu_tanh";
        case Activation::silu:
            return "silu";
        case Activation::relu:
            return "relu";
    }
    return "";
}

namespace {

template <class Fail>
void check_patches(const Architecture& a, std::size_t most, const Fail& fail) {
    const Patches& p = a.patches;
    const std::size_t longest = std::size_t{1} << 20U;
    if (p.height > longest || p.width > longest || p.channels > longest || p.patch_height < 1 || p.patch_width < 1 ||
        p.patch_height > p.height || p.patch_width > p.width || p.numbers() > most) {
        fail(fmt::format("patches of {} x {} in images of {} x {} pixels of {} numbers", p.patch_height, p.patch_width,
                         p.height, p.width, p.channels),
             "patches that fit into the image");
    }
    if (a.positions != p.count() + 1 || !a.learned_positions || a.vocab != 0 || a.token_types != 0 || a.has_head ||
        a.embedding_norm) {
        fail("patches in a model of tokens", "an encoder of images: a position for each patch and one more, no head");
    }
}

}  // namespace

void check(const Architecture& a, const std::string& what) {
    const auto fail = [&what](const std::string& got, const std::string& expected) {
        throw Error(ErrorKind::input, "model.architecture", fmt::format("{} in {}", got, what), expected);
    };
    // Small enough that a product of any three fits 64 bits, larger than any model.
    constexpr std::size_t most = std::size_t{1} << 21;
    const auto bounded = [&](const char* key, std::size_t value, std::size_t limit) {
        if (value < 1 || value > limit) {
            fail(fmt::format("{} = {}", key, value), fmt::format("a number from 1 to {}", limit));
        }
    };
    bounded("layers", a.layers, 100'000);
    bounded("dim", a.dim, most);
    bounded("heads", a.heads, most);
    bounded("kv_heads", a.kv_heads, most);
    bounded("head_dim", a.head_dim, most);
    bounded("ffn_dim", a.ffn_dim, most);
    bounded("positions", a.positions, std::size_t{1} << 40);
    if (a.patches.any()) {
        check_patches(a, most, fail);
    } else {
        bounded("vocab", a.vocab, std::size_t{1} << 30);
    }
    if (a.heads > most / a.head_dim) {
        fail(fmt::format("{} heads of {}", a.heads, a.head_dim), fmt::format("at most {} channels", most));
    }
    if (a.kv_heads > a.heads || a.heads % a.kv_heads != 0) {
        fail(fmt::format("{} heads over {} key-value heads", a.heads, a.kv_heads),
             "a number of key-value heads that divides the heads");
    }
    for (const Rope& rope : {a.rope, a.window_rope.value_or(a.rope)}) {
        if (rope.dims > a.head_dim || rope.dims % 2 != 0) {
            fail(fmt::format("{} rotary channels in heads of {}", rope.dims, a.head_dim),
                 "an even number, at most that");
        }
    }
    if (!(a.eps >= 0 && std::isfinite(a.eps))) {
        fail(fmt::format("a norm with eps = {}", a.eps), "a number from 0");
    }
    if (a.dt == 0) {  // no sub-layer would be run, and what is saved or measured of them would be zeros
        fail("dt = 0", "a number other than 0, since no block does anything in steps of 0");
    }
    for (const auto& [key, value] : {std::pair{"dt", a.dt},
                                     {"ffn_scale", a.ffn_scale},
                                     {"embedding_scale", a.embedding_scale},
                                     {"logit_scale", a.logit_scale}}) {
        if (!std::isfinite(value)) {
            fail(fmt::format("{} = {}", key, value), "a finite number");
        }
    }
    for (const auto& [key, value] :
         {std::pair{"score_factor", a.score_factor}, {"score_cap", a.score_cap}, {"logit_cap", a.logit_cap}}) {
        if (!(value >= 0 && std::isfinite(value))) {
            fail(fmt::format("{} = {}", key, value), "a number from 0, which stands for none");
        }
    }
    if (a.logit_gains && !a.has_head) {
        fail("gains of logits without a head", "a head, or no such gains");
    }
    if (!a.causal && std::any_of(a.windows.begin(), a.windows.end(), [](std::size_t window) { return window > 0; })) {
        fail("windows of attention that looks both ways", "windows where tokens see those before them alone");
    }
    const scheme::AttentionNorm& norm = a.attention_norm;
    if (norm.any() && scheme::find_normaliser(norm.norm).shape) {
        fail(fmt::format("the norm {} on q, k or v", norm.norm), "one without a learned curve, such as rmsnorm");
    }
    if (norm.any() && norm.over == scheme::AttentionNorm::Over::projection &&
        norm.gains == scheme::AttentionNorm::Gains::head) {
        fail("a norm over all heads together whose gains are those of one head", "gains for each channel, or none");
    }
}

}  // namespace flyball::model
