#include "model/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "model/family_keys.hpp"

namespace flyball::model {

namespace {

// The plain numbers and switches of an Architecture, once for both directions.
template <class Visitor, class A>
void visit_sizes(A& a, const Visitor& visitor) {
    visitor("layers", a.layers);
    visitor("dim", a.dim);
    visitor("heads", a.heads);
    visitor("kv_heads", a.kv_heads);
    visitor("head_dim", a.head_dim);
    visitor("ffn_dim", a.ffn_dim);
    visitor("vocab", a.vocab);
    visitor("positions", a.positions);
    visitor("token_types", a.token_types);
    visitor("rope_dims", a.rope.dims);
}

template <class Visitor, class P>
void visit_patches(P& patches, const Visitor& visitor) {
    visitor("channels", patches.channels);
    visitor("height", patches.height);
    visitor("width", patches.width);
    visitor("patch_height", patches.patch_height);
    visitor("patch_width", patches.patch_width);
}

template <class Visitor, class A>
void visit_flags(A& a, const Visitor& visitor) {
    visitor("causal", a.causal);
    visitor("learned_positions", a.learned_positions);
    visitor("embedding_norm", a.embedding_norm);
    visitor("gated", a.gated);
    visitor("qkv_bias", a.qkv_bias);
    visitor("output_bias", a.output_bias);
    visitor("ffn_bias", a.ffn_bias);
    visitor("norm_bias", a.norm_bias);
    visitor("has_head", a.has_head);
    visitor("tied", a.tied);
    visitor("scale_scores", a.scale_scores);
    visitor("scale_by_layer", a.scale_by_layer);
    visitor("ffn_gains", a.ffn_gains);
    visitor("logit_gains", a.logit_gains);
    visitor("rope_odd", a.rope.odd);
}

template <class Visitor, class A>
void visit_numbers(A& a, const Visitor& visitor) {
    visitor("dt", a.dt);
    visitor("eps", a.eps);
    visitor("rope_theta", a.rope.theta);
    visitor("ffn_scale", a.ffn_scale);
    visitor("embedding_scale", a.embedding_scale);
    visitor("score_factor", a.score_factor);
    visitor("score_cap", a.score_cap);
    visitor("logit_scale", a.logit_scale);
    visitor("logit_cap", a.logit_cap);
}

template <class Visitor, class A>
void visit_attention_norm_flags(A& norm, const Visitor& visitor) {
    visitor("query", norm.query);
    visitor("key", norm.key);
    visitor("value", norm.value);
    visitor("after_positions", norm.after_positions);
    visitor("scores_times_root", norm.scores_times_root);
}

template <class Visitor, class R>
void visit_rope_numbers(R& rope, const Visitor& visitor) {
    visitor("factor", rope.factor);
    visitor("original_positions", rope.original_positions);
    visitor("low_frequency", rope.low_frequency);
    visitor("high_frequency", rope.high_frequency);
    visitor("beta_fast", rope.beta_fast);
    visitor("beta_slow", rope.beta_slow);
    visitor("attention_factor", rope.attention_factor);
}

constexpr std::array<std::pair<const char*, Rope::Scaling>, 5> scalings = {{{"none", Rope::Scaling::none},
                                                                            {"linear", Rope::Scaling::linear},
                                                                            {"dynamic", Rope::Scaling::dynamic},
                                                                            {"llama3", Rope::Scaling::llama3},
                                                                            {"yarn", Rope::Scaling::yarn}}};

using scheme::AttentionNorm;
constexpr std::array<std::pair<const char*, AttentionNorm::Over>, 2> overs = {
    {{"head", AttentionNorm::Over::head}, {"projection", AttentionNorm::Over::projection}}};
constexpr std::array<std::pair<const char*, AttentionNorm::Gains>, 3> gains = {
    {{"none", AttentionNorm::Gains::none},
     {"head", AttentionNorm::Gains::head},
     {"channel", AttentionNorm::Gains::channel}}};

template <class Rows, class Value>
const char* name_of(const Rows& rows, Value value) {
    return std::find_if(rows.begin(), rows.end(), [value](const auto& row) { return row.second == value; })->first;
}

template <class Rows, class Value>
void read_name(const ConfigReader& config, const char* key, const Rows& rows, Value& value) {
    const std::string text = config.text(key, name_of(rows, value));
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == text; });
    if (found == rows.end()) {
        std::vector<std::string_view> names;
        for (const auto& row : rows) {
            names.emplace_back(row.first);
        }
        config.fail(key, fmt::format("one of {}", fmt::join(names, ", ")));
    }
    value = found->second;
}

Json attention_norm_json(const AttentionNorm& norm) {
    Json json = {{"norm", norm.norm}, {"over", name_of(overs, norm.over)}, {"gains", name_of(gains, norm.gains)}};
    visit_attention_norm_flags(norm, [&json](const char* key, bool value) { json[key] = value; });
    return json;
}

Json rope_scaling_json(const Rope& rope) {
    Json json = {{"scaling", name_of(scalings, rope.scaling)}, {"truncate", rope.truncate}};
    visit_rope_numbers(rope, [&json](const char* key, double value) { json[key] = value; });
    return json;
}

// Of the blocks with a window: all of a Rope in one object.
Json window_rope_json(const Rope& rope) {
    Json json = rope_scaling_json(rope);
    json["dims"] = rope.dims;
    json["odd"] = rope.odd;
    json["theta"] = rope.theta;
    return json;
}

void read_rope_scaling(const ConfigReader& config, Rope& rope) {
    read_name(config, "scaling", scalings, rope.scaling);
    rope.truncate = config.flag("truncate", rope.truncate);
    visit_rope_numbers(rope, [&config](const char* key, double& value) { value = config.number(key, value); });
    if (rope.scaling != Rope::Scaling::yarn) {
        rope.attention_factor = 1;  // no other has one
    }
    if (rope.scaling != Rope::Scaling::none && !(rope.factor > 0 && rope.original_positions > 0)) {
        config.fail(rope.factor > 0 ? "original_positions" : "factor", "a number above 0");
    }
}

// What published configurations may say (rope_config.cpp): a model that was read can be saved and read again.
void check_theta(const ConfigReader& config, const char* key, const Rope& rope) {
    const bool yarn = rope.scaling == Rope::Scaling::yarn;  // divides by log theta
    if (rope.dims > 0 && (!(rope.theta > 0) || (yarn && rope.theta == 1))) {
        config.fail(key, yarn ? "a number above 0 other than 1" : "a number above 0");
    }
}

AttentionNorm read_attention_norm(const ConfigReader& config) {
    AttentionNorm norm;
    norm.norm = config.text("norm", norm.norm);
    read_name(config, "over", overs, norm.over);
    read_name(config, "gains", gains, norm.gains);
    visit_attention_norm_flags(norm, [&config](const char* key, bool& value) { value = config.flag(key, value); });
    return norm;
}

}  // namespace

Json architecture_json(const Architecture& a) {
    Json json = {{"model_type", "flyball"}, {"equation", a.equation}};
    const auto put = [&json](const char* key, const auto& value) { json[key] = value; };
    visit_sizes(a, put);
    visit_flags(a, put);
    visit_numbers(a, put);
    json["norm"] = a.norm;
    json["attention"] = attention::name(a.attention_kind);
    json["activation"] = a.activation == Activation::gelu_tanh ? "gelu_new" : name(a.activation);
    json["windows"] = a.windows;
    if (a.attention_norm.any()) {
        json["attention_norm"] = attention_norm_json(a.attention_norm);
    }
    if (a.patches.any()) {
        Json& patches = json["patches"] = Json::object();
        visit_patches(a.patches, [&patches](const char* key, std::size_t value) { patches[key] = value; });
    }
    if (a.rope.scaling != Rope::Scaling::none) {
        json["rope_scaling"] = rope_scaling_json(a.rope);
    }
    if (a.window_rope) {
        json["window_rope"] = window_rope_json(*a.window_rope);
    }
    return json;
}

Architecture read_native(const ConfigReader& config, const HasTensor&) {
    Architecture a;
    a.equation = config.text("equation", "");
    if (a.equation.empty()) {
        config.fail("equation", "the equation that wires the blocks");
    }
    visit_sizes(a, [&config](const char* key, std::size_t& value) { value = config.size(key, value); });
    visit_patches(a.patches, [patches = config.object("patches")](const char* key, std::size_t& value) {
        value = patches.size(key, value);
    });
    visit_flags(a, [&config](const char* key, bool& value) { value = config.flag(key, value); });
    visit_numbers(a, [&config](const char* key, double& value) { value = config.number(key, value); });
    a.norm = config.text("norm", a.norm);
    const std::string kind = config.text("attention", attention::name(a.attention_kind));
    const std::vector<std::string> kinds = attention::kind_names();
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        config.fail("attention", fmt::format("one of {}", fmt::join(kinds, ", ")));
    }
    a.attention_kind = attention::kind_from_name(kind);
    a.attention_norm = read_attention_norm(config.object("attention_norm"));
    a.activation = activation_of(config, "activation", "gelu_new");
    const auto windows = config.json().find("windows");
    if (windows != config.json().end()) {
        const bool whole = windows->is_array() && windows->size() <= 100'000 &&
                           std::all_of(windows->begin(), windows->end(),
                                       [](const Json& window) { return window.is_number_unsigned(); });
        if (!whole) {
            config.fail("windows", "a list of whole numbers");
        }
        a.windows = windows->get<std::vector<std::size_t>>();
    }
    a.rope.original_positions = static_cast<double>(a.positions);
    if (const ConfigReader of_windows = config.object("window_rope"); !of_windows.json().empty()) {
        Rope rope = a.rope;
        rope.dims = of_windows.size("dims", rope.dims);
        rope.odd = of_windows.flag("odd", rope.odd);
        rope.theta = of_windows.number("theta", rope.theta);
        read_rope_scaling(of_windows, rope);
        check_theta(of_windows, "theta", rope);
        a.window_rope = rope;
    }
    read_rope_scaling(config.object("rope_scaling"), a.rope);
    check_theta(config, "rope_theta", a.rope);
    return a;
}

}  // namespace flyball::model
