#include "model/native.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/file.hpp"

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
}

template <class Visitor, class A>
void visit_numbers(A& a, const Visitor& visitor) {
    visitor("dt", a.dt);
    visitor("eps", a.eps);
    visitor("rope_theta", a.rope.theta);
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
    return json;
}

Architecture read_native(const ConfigReader& config, const HasTensor&) {
    Architecture a;
    a.equation = config.text("equation", "");
    if (a.equation.empty()) {
        config.fail("equation", "the equation that wires the blocks");
    }
    visit_sizes(a, [&config](const char* key, std::size_t& value) { value = config.size(key, value); });
    visit_flags(a, [&config](const char* key, bool& value) { value = config.flag(key, value); });
    visit_numbers(a, [&config](const char* key, double& value) { value = config.number(key, value); });
    a.norm = config.text("norm", a.norm);
    const std::string kind = config.text("attention", attention::name(a.attention_kind));
    const std::vector<std::string> kinds = attention::kind_names();
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        config.fail("attention", fmt::format("one of {}", fmt::join(kinds, ", ")));
    }
    a.attention_kind = attention::kind_from_name(kind);
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
    if (a.rope.dims > 0 && !(a.rope.theta > 1)) {
        config.fail("rope_theta", "a number above 1");
    }
    a.rope.original_positions = static_cast<double>(a.positions);
    return a;
}

void save_model(const Model<float>& model, const std::filesystem::path& folder) {
    if (model.architecture().family != "flyball" || model.architecture().rope.scaling != Rope::Scaling::none) {
        throw Error(ErrorKind::usage, "model.save", fmt::format("a {} model", model.architecture().family),
                    "a model of our own, without scaled rotary positions");
    }
    std::vector<TensorToWrite> tensors;
    const std::vector<ParameterSpec>& specs = model.layout().parameters;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        tensors.push_back(tensor(specs[i].name, specs[i].shape,
                                 std::span<const float>(model.at(static_cast<int>(i)), specs[i].elements())));
    }
    write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
    write_file_atomically(folder / "config.json", dump_json(architecture_json(model.architecture()), 1) + "\n");
}

}  // namespace flyball::model
