#include "model/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/half.hpp"
#include "core/unreachable.hpp"
#include "model/convert.hpp"
#include "model/family_keys.hpp"
#include "model/native.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/evaluate.hpp"
#include "scheme/quantity_use.hpp"

namespace flyball::model {

namespace {

using scheme::Instruction;

// Whether two codes compute the same, where that can be read off: the same instructions on the same registers, and
// coefficients without learned parameters that have the same values. Two numbers of tokens, since a coefficient may
// depend on them.
bool same_code(const scheme::Code& a, const scheme::Environment& at_a, const scheme::Code& b,
               const scheme::Environment& at_b) {
    if (a.streams_in != b.streams_in || a.streams_out != b.streams_out || a.embedding != b.embedding ||
        a.instructions.size() != b.instructions.size()) {
        return false;
    }
    const auto value = [](const scheme::Code& code, scheme::Environment env, int coefficient, double tokens) {
        const scheme::Expression& expression = *code.coefficients[static_cast<std::size_t>(coefficient)];
        env.n = tokens;
        return scheme::has_learned(expression) ? std::nan("")
                                               : scheme::evaluate(expression, scheme::Scope<double>{env.values(), {}});
    };
    const auto same_term = [&](const scheme::Term& s, const scheme::Term& t) {
        return s.source == t.source && s.detached == t.detached &&
               value(a, at_a, s.coefficient, 3) == value(b, at_b, t.coefficient, 3) &&
               value(a, at_a, s.coefficient, 1000) == value(b, at_b, t.coefficient, 1000);
    };
    return std::equal(a.instructions.begin(), a.instructions.end(), b.instructions.begin(),
                      [&](const Instruction& i, const Instruction& j) {
                          if (i.kind != j.kind || i.out != j.out) {
                              return false;
                          }
                          switch (i.kind) {
                              case Instruction::Kind::combine:
                                  return std::is_permutation(i.terms.begin(), i.terms.end(), j.terms.begin(),
                                                             j.terms.end(), same_term);
                              case Instruction::Kind::apply:
                                  return i.in == j.in && i.function == j.function;
                              case Instruction::Kind::call:
                                  return i.in == j.in && i.sub_layer == j.sub_layer;
                          }
                          unreachable();
                      });
}

bool is_pre_ln(const Architecture& a) {
    const scheme::Program program = scheme::Program::parse(a.equation);
    const scheme::Program reference = scheme::Program::parse(pre_ln);
    if (scheme::asks_for(program, scheme::Quantity::n)) {  // no published family looks at the length of its text
        return false;
    }
    const auto both = scheme::SubLayers::attention_and_ffn;
    for (std::size_t l = 1; l <= a.layers; ++l) {
        const scheme::Environment env = scheme::Environment::block(l, a.layers, a.dt, 1, a.dim);
        const std::vector<bool> decisions = program.decide(env);
        const scheme::Code code = lower_block(program, both, decisions);
        const scheme::Code readout = lower_readout(program, decisions);
        const scheme::Environment unit = scheme::Environment::block(l, a.layers, 1, 1, a.dim);
        if (!same_code(code, env, lower_block(reference, both, {}), unit) ||
            (l == a.layers && !same_code(readout, env, lower_readout(reference, {}), unit))) {
            return false;
        }
    }
    return true;
}

// What no published family here has.
bool is_plain(const Architecture& a) {
    const bool all_tokens =
        std::all_of(a.windows.begin(), a.windows.end(), [](std::size_t window) { return window == 0; });
    return a.causal && a.has_head && a.attention_kind == attention::Kind::softmax && !a.attention_norm.any() &&
           !a.embedding_norm && a.token_types == 0 && a.ffn_scale == 1 && !a.ffn_gains && !a.logit_gains &&
           a.embedding_scale == 1 && a.score_factor == 0 && a.score_cap == 0 && a.logit_scale == 1 &&
           a.logit_cap == 0 && all_tokens;
}

bool is_gpt2(const Architecture& a) {
    return a.norm == "layernorm" && a.norm_bias && a.qkv_bias && a.output_bias && a.ffn_bias && a.learned_positions &&
           a.rope.dims == 0 && !a.gated && a.kv_heads == a.heads && a.heads * a.head_dim == a.dim;
}

bool is_llama(const Architecture& a) {
    return a.norm == "rmsnorm" && !a.norm_bias && !a.qkv_bias && !a.output_bias && !a.ffn_bias &&
           !a.learned_positions && a.rope.dims == a.head_dim && !a.rope.odd && a.rope.scaling == Rope::Scaling::none &&
           a.gated && a.activation == Activation::silu && a.scale_scores && !a.scale_by_layer && a.dim % a.heads == 0;
}

const char* hugging_face_name(Activation activation) {
    return activation == Activation::gelu_tanh ? "gelu_new" : name(activation);
}

Json gpt2_config(const Architecture& a) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"n_layer", a.layers},
            {"n_embd", a.dim},
            {"n_head", a.heads},
            {"n_inner", a.ffn_dim},
            {"n_positions", a.positions},
            {"vocab_size", a.vocab},
            {"activation_function", hugging_face_name(a.activation)},
            {"layer_norm_epsilon", a.eps},
            {"scale_attn_weights", a.scale_scores},
            {"scale_attn_by_inverse_layer_idx", a.scale_by_layer},
            {"attn_pdrop", 0.0},
            {"embd_pdrop", 0.0},
            {"resid_pdrop", 0.0}};
}

Json llama_config(const Architecture& a) {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"num_hidden_layers", a.layers},
            {"hidden_size", a.dim},
            {"num_attention_heads", a.heads},
            {"num_key_value_heads", a.kv_heads},
            {"head_dim", a.head_dim},
            {"intermediate_size", a.ffn_dim},
            {"max_position_embeddings", a.positions},
            {"vocab_size", a.vocab},
            {"hidden_act", hugging_face_name(a.activation)},
            {"rms_norm_eps", a.eps},
            {"rope_theta", a.rope.theta},
            {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", a.rope.theta}}},
            {"attention_bias", false},
            {"mlp_bias", false}};
}

Json published_config(const Architecture& a, const std::string& family, Storage storage) {
    Json config = family == "gpt2" ? gpt2_config(a) : llama_config(a);
    config["model_type"] = family;
    config["tie_word_embeddings"] = a.tied;
    config["dtype"] = storage == Storage::f16 ? "float16" : "float32";
    config["bos_token_id"] = nullptr;  // the defaults of a family may lie outside this vocabulary
    config["eos_token_id"] = nullptr;
    return config;
}

const Names& names_of(const std::string& family) {
    return std::find_if(families().begin(), families().end(), [&](const Family& f) { return f.model_type == family; })
        ->names;
}

std::vector<std::uint16_t> halves(const ParameterSpec& spec, const float* from) {
    std::vector<std::uint16_t> result(spec.elements());
    for (std::size_t k = 0; k < result.size(); ++k) {
        result[k] = float_to_f16(from[k]);
        if (std::isfinite(from[k]) && !std::isfinite(f16_to_float(result[k]))) {
            throw Error(ErrorKind::input, "model.save", fmt::format("{} in {}", from[k], spec.name),
                        "numbers up to 65504, the largest in 16 bits", "store it as F32");
        }
    }
    return result;
}

// `prefix` stands in front of every name but the head's.
void write_tensors(const Model<float>& model, std::string_view prefix, const std::filesystem::path& file,
                   Storage storage) {
    const std::vector<ParameterSpec>& specs = model.layout().parameters;
    std::vector<TensorToWrite> tensors;
    std::vector<std::vector<std::uint16_t>> rounded(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const ParameterSpec& spec = specs[i];
        const float* const values = model.at(static_cast<int>(i));
        tensors.push_back(tensor(fmt::format("{}{}", spec.role == Role::head ? "" : prefix, spec.name), spec.shape,
                                 std::span<const float>(values, spec.elements())));
        if (storage == Storage::f16) {
            rounded[i] = halves(spec, values);
            tensors.back().dtype = Dtype::f16;
            tensors.back().bytes = std::as_bytes(std::span<const std::uint16_t>(rounded[i]));
        }
    }
    write_safetensors(file, tensors, {{"format", "pt"}});
}

}  // namespace

std::optional<std::string> published_family(const Architecture& a) {
    if (!is_plain(a) || !(is_gpt2(a) || is_llama(a)) || !is_pre_ln(a)) {
        return std::nullopt;
    }
    return is_gpt2(a) ? "gpt2" : "llama";
}

void save_model(const Model<float>& model, const std::filesystem::path& folder, Storage storage) {
    const std::optional<std::string> published = published_family(model.architecture());
    Architecture a = model.architecture();
    a.family = published.value_or("flyball");
    if (published) {
        a.equation = pre_ln;
        a.dt = 1;
    }
    const Names& names = published ? names_of(*published) : native_names();
    const Json config = published ? published_config(a, *published, storage) : architecture_json(a);
    write_tensors(converted(model, a, names), names.prefixes.empty() ? "" : names.prefixes.front(),
                  folder / "model.safetensors", storage);
    write_file_atomically(folder / "config.json", dump_json(config, 1) + "\n");
}

}  // namespace flyball::model
