// What a model to start from (`from`) asks of the other settings and of the data.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "model/locate.hpp"
#include "train/initial.hpp"

namespace flyball::train {

namespace {

std::string words_of(const scheme::AttentionNorm& norm) {
    if (!norm.any()) {
        return "no norm there";
    }
    return fmt::format("{} over {}", norm.norm,
                       norm.over == scheme::AttentionNorm::Over::head ? "each head" : "the whole projection");
}

// A model has its sizes and parts already: a setting that asks for others would be ignored.
void check_sizes(const Settings& s, const model::Architecture& loaded) {
    const Settings standard;
    const auto expect = [&](const char* key, bool differs, const std::string& of_the_model) {
        if (!differs) {
            return;
        }
        for (const SettingField& field : setting_fields()) {
            if (std::string_view(field.key) == key) {
                throw Error(ErrorKind::usage, "train.from", setting(key, field.text(s).value_or("")),
                            fmt::format("{}, as {} has it", of_the_model, s.from),
                            fmt::format("leave it out beside {}", setting("from")));
            }
        }
    };
    const auto size = [&](const char* key, std::size_t value, std::size_t usual, std::size_t own) {
        expect(key, value != usual && value != own, std::to_string(own));
    };
    size("layers", s.layers, standard.layers, loaded.layers);
    size("dim", s.dim, standard.dim, loaded.dim);
    size("heads", s.heads, standard.heads, loaded.heads);
    size("ffn", s.ffn, standard.ffn, loaded.ffn_dim);
    expect("positions", s.positions == Positions::rope && loaded.rope.dims == 0, "learned positions");
    expect("norm", s.norm != standard.norm && s.norm != loaded.norm, loaded.norm);
    expect("activation", s.ffn_kind == Ffn::swiglu && !(loaded.gated && loaded.activation == model::Activation::silu),
           fmt::format("an FFN {} {}", loaded.gated ? "whose gate is" : "without a gate, with",
                       model::name(loaded.activation)));
    expect("qk-norm", s.qk_norm != QkNorm::none && attention_norm_of(s.qk_norm) != loaded.attention_norm,
           words_of(loaded.attention_norm));
    expect("attention", s.attention != standard.attention && s.attention != attention::name(loaded.attention_kind),
           attention::name(loaded.attention_kind));
    expect("untied", s.untied && loaded.tied, "the token embedding for a head");
    expect("init", !s.init.empty(), "the numbers");
}

}  // namespace

Settings completed(Settings settings) {
    if (settings.from.empty()) {
        settings.dt = settings.dt.value_or(1);
        return settings;
    }
    const model::Architecture loaded = model::load_model(model::locate(settings.from)).architecture();
    check_sizes(settings, loaded);
    settings.layers = loaded.layers;
    settings.dim = loaded.dim;
    settings.heads = loaded.heads;
    settings.dt = settings.dt.value_or(loaded.dt);
    return settings;
}

void check_tokens(const Settings& settings, const Corpus& corpus) {
    const auto file = std::find_if(corpus.tokenizer.begin(), corpus.tokenizer.end(),
                                   [](const TokenizerFile& one) { return one.name == "tokenizer.json"; });
    if (settings.from.empty() || file == corpus.tokenizer.end()) {
        return;
    }
    const std::filesystem::path path = model::locate(settings.from) / "tokenizer.json";
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        return;
    }
    const auto vocabulary = [](const std::string& text, const std::string& what) {
        const Json json = parse_json(text, what);
        const Json model = json.is_object() ? json.value("model", Json::object()) : Json::object();
        return model.is_object() ? model.value("vocab", Json()) : Json();
    };
    constexpr std::size_t largest = std::size_t{1} << 28U;
    const Json known = vocabulary(read_text_file(path, largest), path.string());
    const Json wanted = vocabulary(file->contents, "the tokenizer of the data");
    if (!known.is_object() || !wanted.is_object()) {
        return;
    }
    std::unordered_map<std::string, Json> ids;
    for (const auto& [token, id] : known.items()) {
        ids[token] = id;
    }
    for (const auto& [token, id] : wanted.items()) {
        const auto found = ids.find(token);
        const Json theirs = found == ids.end() ? Json() : found->second;
        if (theirs != id) {
            throw Error(ErrorKind::input, "train.from",
                        fmt::format("data whose token {} is {}", flyball::quoted(token), id.dump()),
                        theirs.is_null() ? fmt::format("tokens that {} knows", settings.from)
                                         : fmt::format("{}, as in {}", theirs.dump(), settings.from),
                        fmt::format("{} reads the text as the model does", setting("tokenizer", settings.from)));
        }
    }
}

}  // namespace flyball::train
