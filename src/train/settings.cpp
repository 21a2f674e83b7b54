#include "train/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/attention.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::train {

namespace {

using Text = std::optional<std::string>;
const SettingReader reader("train.settings");

const NamedValues<Positions> position_names = {{"learned", Positions::learned}, {"rope", Positions::rope}};
const NamedValues<Ffn> ffn_names = {{"gelu", Ffn::gelu}, {"swiglu", Ffn::swiglu}};
const NamedValues<QkNorm> qk_norm_names = {
    {"none", QkNorm::none}, {"head", QkNorm::head}, {"projection", QkNorm::projection}};
const NamedValues<Storage> storage_names = {{"f32", Storage::f32}, {"f16", Storage::f16}};
const NamedValues<std::string> encoding_names = {{"bytes", "bytes"}, {"chars", "chars"}};

Text number(std::size_t value) {
    return std::to_string(value);
}
Text unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : Text(text);
}
Text where_given(const std::optional<double>& value) {
    return value ? Text(format_double(*value)) : std::nullopt;
}
Text where_given(const std::optional<std::size_t>& value) {
    return value ? Text(std::to_string(*value)) : std::nullopt;
}
// For a setting that may be left to the scheme.
template <class Value>
std::string shown(const std::optional<Value>& value) {
    return where_given(value).value_or("");
}

Text dt_text(const Settings& s) {
    if (!s.dt) {
        return std::nullopt;
    }
    std::string text = format_double(*s.dt);
    for (std::size_t i = 1; i < s.several_dt.size(); ++i) {
        text += "," + format_double(s.several_dt[i]);
    }
    return text;
}

void parse_dt(const std::string& text, Settings& s) {
    s.several_dt.clear();
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        s.several_dt.push_back(reader.number_in(std::string_view(text).substr(begin, comma - begin),
                                                setting("dt", flyball::quoted(text)),
                                                "a number above 0, or several with commas between them"));
        begin = comma + 1;
    }
    s.dt = s.several_dt.front();
    if (s.several_dt.size() == 1) {
        s.several_dt.clear();
    }
}

[[noreturn]] void fail(std::string_view key, std::string_view value, std::string_view expected,
                       std::string_view hint = {}) {
    reader.fail(setting(key, value), expected, hint);
}

// "1 step", "2 steps"
std::string counted(std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void check_range(std::string_view key, double value, double low, double high, std::string_view expected) {
    if (!(value >= low && value <= high)) {
        fail(key, format_double(value), expected);
    }
}

void check_model(const Settings& s) {
    if (s.from.empty() && s.dim % s.heads != 0) {
        fail("heads", std::to_string(s.heads), fmt::format("a divisor of the {} channels", s.dim),
             fmt::format("choose {} as a multiple of {}", setting("dim"), setting("heads")));
    }
    if (s.from.empty() && s.positions == Positions::rope && (s.dim / s.heads) % 2 != 0) {
        fail("positions", "rope", fmt::format("heads with an even number of channels, not {}", s.dim / s.heads),
             "rotary positions turn channels in pairs");
    }
    scheme::find_normaliser(s.norm);
    attention::kind_from_name(s.attention);
    for (const double dt : s.several_dt.empty() ? std::vector<double>{s.dt.value_or(1)} : s.several_dt) {
        check_range("dt", dt, 1e-12, 1e12, "a residual step from 1e-12 to 1e12");
    }
    check_range("dropout", s.dropout, 0, 0.95, "a share from 0 to 0.95");
}

}  // namespace

double Settings::largest_rate() const {
    return rate.value_or(1e-3 * std::sqrt(128.0 / static_cast<double>(dim)));
}

std::size_t Settings::validation_interval() const {
    return validate.value_or(std::max<std::size_t>(1, steps / 10));
}

std::size_t Settings::ffn_width() const {
    if (ffn > 0) {
        return ffn;
    }
    // As Llama has it: two thirds of 4*dim, so that three matrices have the numbers of two; a multiple of 8.
    return ffn_kind == Ffn::gelu ? 4 * dim : (8 * dim / 3 + 7) / 8 * 8;
}

const std::vector<SettingField>& setting_fields() {
    using S = Settings;
    using T = const std::string&;
    static const std::string norm_help = [] {
        std::vector<std::string> names;
        for (const scheme::Normaliser& norm : scheme::normalisers()) {
            names.emplace_back(norm.name);
        }
        return "what norm means: " + joined(names, "or");
    }();
    static const std::string attention_help = "how scores become weights: " + joined(attention::kind_names(), "or");
    static const std::vector<SettingField> fields = {
        {"data", "FILE", "a text file, a .bin file of 16-bit token ids, or synthetic (docs/data.md)",
         [](const S& s) -> Text { return s.data; }, [](T text, S& s) { s.data = text; }, "data"},
        {"encoding", "NAME", "tokens of a text file: bytes or chars", [](const S& s) -> Text { return s.encoding; },
         [](T text, S& s) { s.encoding = reader.named(text, "encoding", encoding_names); }},
        {"tokenizer", "MODEL", "read the text with the tokenizer of this model instead",
         [](const S& s) { return unless_empty(s.tokenizer); }, [](T text, S& s) { s.tokenizer = text; }},
        {"validation", "SHARE", "share of a text, at its end, that is kept for validation",
         [](const S& s) -> Text { return format_double(s.validation); },
         [](T text, S& s) { s.validation = reader.real(text, "validation"); }},
        {"tokens", "N", "synthetic text: how many to generate (2^21 to train on and 2^17 to validate)",
         [](const S& s) { return s.tokens == 0 ? std::nullopt : number(s.tokens); },
         [](T text, S& s) { s.tokens = reader.whole(text, "tokens", 1); }},
        {"layers", "L", "blocks of attention and feed-forward network", [](const S& s) { return number(s.layers); },
         [](T text, S& s) { s.layers = reader.whole(text, "layers", 1); }, "model"},
        {"dim", "D", "channels of the stream", [](const S& s) { return number(s.dim); },
         [](T text, S& s) { s.dim = reader.whole(text, "dim", 1); }},
        {"heads", "H", "attention heads", [](const S& s) { return number(s.heads); },
         [](T text, S& s) { s.heads = reader.whole(text, "heads", 1); }},
        {"ffn", "WIDTH", "width of the feed-forward network (4*dim, or 8/3*dim for swiglu)",
         [](const S& s) { return s.ffn == 0 ? std::nullopt : number(s.ffn); },
         [](T text, S& s) { s.ffn = reader.whole(text, "ffn", 1); }},
        {"context", "N", "tokens that a sequence has", [](const S& s) { return number(s.context); },
         [](T text, S& s) { s.context = reader.whole(text, "context", 2); }},
        {"positions", "NAME", "learned, or rope (rotary positions)",
         [](const S& s) -> Text { return name_of(s.positions, position_names); },
         [](T text, S& s) { s.positions = reader.named(text, "kind of positions", position_names); }},
        {"norm", "NAME", norm_help.c_str(), [](const S& s) -> Text { return s.norm; },
         [](T text, S& s) { s.norm = text; }},
        {"activation", "NAME", "of the feed-forward network: gelu or swiglu",
         [](const S& s) -> Text { return name_of(s.ffn_kind, ffn_names); },
         [](T text, S& s) { s.ffn_kind = reader.named(text, "activation", ffn_names); }},
        {"qk-norm", "NAME", "RMSNorm on queries and keys: none, over each head, or over the whole projection",
         [](const S& s) -> Text { return name_of(s.qk_norm, qk_norm_names); },
         [](T text, S& s) { s.qk_norm = reader.named(text, "norm of queries and keys", qk_norm_names); }},
        {"attention", "NAME", attention_help.c_str(), [](const S& s) -> Text { return s.attention; },
         [](T text, S& s) { s.attention = text; }},
        {"untied", "", "give the head a matrix of its own instead of the token embedding",
         [](const S& s) -> Text { return s.untied ? "true" : "false"; },
         [](T text, S& s) { s.untied = reader.truth(text, "untied"); }},
        {"dt", "DT",
         "the residual step, the equation's dt (1, or that of the model to start from); a list makes one run for each",
         dt_text, parse_dt, "residual step and start"},
        {"init", "KEY=EXPR,..", "standard deviations of matrices and gains of norms in place of the scheme's own",
         [](const S& s) { return unless_empty(s.init); }, [](T text, S& s) { s.init = text; }},
        {"from", "MODEL", "start from the numbers of this model, also under another equation",
         [](const S& s) { return unless_empty(s.from); }, [](T text, S& s) { s.from = text; }},
        {"dropout", "P", "share of numbers set to 0 in training (embedding, attention, branches)",
         [](const S& s) -> Text { return format_double(s.dropout); },
         [](T text, S& s) { s.dropout = reader.real(text, "dropout"); }},
        {"batch", "N", "sequences that are computed together", [](const S& s) { return number(s.batch); },
         [](T text, S& s) { s.batch = reader.whole(text, "batch", 1); }, "optimiser"},
        {"accumulate", "N", "batches whose gradients are added up for one step",
         [](const S& s) { return number(s.accumulate); },
         [](T text, S& s) { s.accumulate = reader.whole(text, "accumulate", 1); }},
        {"steps", "N", "steps of the optimiser", [](const S& s) { return number(s.steps); },
         [](T text, S& s) { s.steps = reader.whole(text, "steps", 1); }},
        {"rate", "X", "the largest learning rate (0.001*sqrt(128/dim) unless given)",
         [](const S& s) { return where_given(s.rate); }, [](T text, S& s) { s.rate = reader.real(text, "rate"); }},
        {"final-rate", "SHARE",
         "the learning rate that a cosine leads to by the end of the last step, as a share of the largest",
         [](const S& s) -> Text { return format_double(s.final_rate); },
         [](T text, S& s) { s.final_rate = reader.real(text, "final-rate"); }},
        {"warm-up", "N", "steps in which the learning rate rises (as the scheme prescribes, or 5 % of the steps)",
         [](const S& s) { return where_given(s.warm_up); },
         [](T text, S& s) { s.warm_up = reader.whole(text, "warm-up", 0); }},
        {"weight-decay", "X", "decay of matrices (as the scheme prescribes, or 0.1)",
         [](const S& s) { return where_given(s.weight_decay); },
         [](T text, S& s) { s.weight_decay = reader.real(text, "weight-decay"); }},
        {"clip", "X", "longest gradient; longer ones are scaled down; 0 for none (as the scheme prescribes, or 1)",
         [](const S& s) { return where_given(s.clip); }, [](T text, S& s) { s.clip = reader.real(text, "clip"); }},
        {"beta1", "X", "AdamW's memory of gradients", [](const S& s) -> Text { return format_double(s.beta1); },
         [](T text, S& s) { s.beta1 = reader.real(text, "beta1"); }},
        {"beta2", "X", "AdamW's memory of squared gradients", [](const S& s) -> Text { return format_double(s.beta2); },
         [](T text, S& s) { s.beta2 = reader.real(text, "beta2"); }},
        {"epsilon", "X", "AdamW's epsilon", [](const S& s) -> Text { return format_double(s.epsilon); },
         [](T text, S& s) { s.epsilon = reader.real(text, "epsilon"); }},
        {"record", "N", "steps between two records of every layer", [](const S& s) { return number(s.record); },
         [](T text, S& s) { s.record = reader.whole(text, "record", 1); }, "records and restart points"},
        {"validate", "N", "steps between two looks at the validation part (a tenth of the steps)",
         [](const S& s) { return where_given(s.validate); },
         [](T text, S& s) { s.validate = reader.whole(text, "validate", 1); }},
        {"spike", "SHARE", "end when the loss rises by this share of log(vocabulary) above its best; 0 for never",
         [](const S& s) -> Text { return format_double(s.spike); },
         [](T text, S& s) { s.spike = reader.real(text, "spike"); }},
        {"save", "SECONDS", "time between two restart points, from which a killed run goes on",
         [](const S& s) -> Text { return format_double(s.save); },
         [](T text, S& s) { s.save = reader.real(text, "save"); }},
        {"seed", "N", "seed of everything random", [](const S& s) -> Text { return std::to_string(s.seed); },
         [](T text, S& s) { s.seed = reader.whole(text, "seed", 0); }},
        {"storage", "NAME", "numbers of the model that is saved: f32, or f16 (half the size, rounded)",
         [](const S& s) -> Text { return name_of(s.storage, storage_names); },
         [](T text, S& s) { s.storage = reader.named(text, "storage", storage_names); }},
    };
    return fields;
}

void check(const Settings& s) {
    check_model(s);
    if (s.tokens > 0 && s.data != "synthetic") {
        fail("tokens", std::to_string(s.tokens), "a number of synthetic tokens",
             fmt::format("leave it out beside {}: all of a file is used", setting("data", s.data)));
    }
    check_range("validation", s.validation, 1e-6, 0.9, "a share from 1e-6 to 0.9");
    if (s.rate) {
        check_range("rate", *s.rate, 1e-12, 1e3, "a learning rate from 1e-12 to 1000");
    }
    check_range("final-rate", s.final_rate, 0, 1, "a share from 0 to 1");
    check_range("beta1", s.beta1, 0, 0.999999, "a number from 0 to 0.999999");
    check_range("beta2", s.beta2, 0, 0.9999999, "a number from 0 to 0.9999999");
    check_range("epsilon", s.epsilon, 1e-30, 1, "a number from 1e-30 to 1");
    check_range("save", s.save, 0, 1e9, "a number of seconds from 0 to 1e9");
    check_range("spike", s.spike, 0, 1e6, "a share from 0 to 1e6");
    if (s.weight_decay) {
        check_range("weight-decay", *s.weight_decay, 0, 1e3, "a number from 0 to 1000");
    }
    if (s.clip) {
        check_range("clip", *s.clip, 0, 1e12, "a number from 0 to 1e12");
    }
    if (s.warm_up && *s.warm_up > s.steps) {
        fail("warm-up", shown(s.warm_up), fmt::format("at most the {} steps of the run", s.steps));
    }
}

std::string describe(const Settings& s) {
    const std::string run =
        fmt::format("context {}, {} tokens a step, {}", s.context, s.tokens_per_step(), counted(s.steps, "step"));
    const std::string dropout = s.dropout > 0 ? fmt::format(", dropout {}", format_double(s.dropout)) : "";
    if (!s.from.empty()) {  // whose sizes and parts are its own
        return fmt::format("from {}, {}{}", s.from, run, dropout);
    }
    std::string text = fmt::format("{} x {}, {}, {}", counted(s.layers, "layer"), s.dim, counted(s.heads, "head"), run);
    if (s.norm != "layernorm") {
        text += ", " + s.norm;
    }
    if (s.positions == Positions::rope) {
        text += ", rotary positions";
    }
    if (s.ffn_kind == Ffn::swiglu) {
        text += ", SwiGLU";
    }
    if (s.qk_norm != QkNorm::none) {
        text += ", normed queries and keys";
    }
    if (s.attention != "softmax") {
        text += fmt::format(", {} attention", s.attention);
    }
    text += dropout;
    if (!s.init.empty()) {
        text += fmt::format(", start {}", s.init);
    }
    return text;
}

}  // namespace flyball::train
