// The list of settings: how each is written, and how it is read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "attention/attention.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/setting_field.hpp"
#include "dynamics/method.hpp"
#include "dynamics/sample.hpp"
#include "dynamics/settings.hpp"
#include "dynamics/start_file.hpp"

namespace flyball::dynamics {

namespace {

using Text = std::optional<std::string>;

const SettingReader reader("dynamics.settings");

[[noreturn]] void fail_field(std::string_view got, std::string_view expected, std::string_view hint = {}) {
    reader.fail(got, expected, hint);
}
std::uint64_t whole(const std::string& text, const char* key, std::uint64_t least) {
    return reader.whole(text, key, least);
}
double real(const std::string& text, const char* key) {
    return reader.real(text, key);
}
bool truth(const std::string& text, const char* key) {
    return reader.truth(text, key);
}

template <class Value>
using Names = NamedValues<Value>;

const Names<StartKind> starts = {
    {"symmetric", StartKind::symmetric},         {"uniform", StartKind::uniform},
    {"gaussian", StartKind::gaussian},           {"cone:DELTA", StartKind::cone},
    {"equiangular:RHO", StartKind::equiangular}, {"FILE.safetensors, FILE.h5, FILE.csv", StartKind::file}};
const Names<WeightKind> weight_kinds = {{"identity", WeightKind::identity},
                                        {"gaussian", WeightKind::gaussian},
                                        {"kaiming", WeightKind::kaiming},
                                        {"orthogonal", WeightKind::orthogonal}};
const Names<Precision> precisions = {{"f64", Precision::f64}, {"f32", Precision::f32}};
const Names<bool> masks = {{"none", false}, {"causal", true}};

// ---- weights: KIND, KIND:GAIN, KIND:q=GAIN,o=identity, or a file

Gain parse_gain(const std::string& text, const std::string& all) {
    if (text == "identity") {
        return {Gain::Kind::identity, 0};
    }
    const auto value = parse_double(text);
    if (!value || !(*value > 0)) {
        fail_field(setting("weights", flyball::quoted(all)),
                   "gains that are finite numbers above 0 or the word identity, for example kaiming:q=1,o=identity");
    }
    return {Gain::Kind::number, *value};
}

void parse_gains(const std::string& text, const std::string& all, Gains& gains) {
    if (text.find('=') == std::string::npos) {
        gains.fill(parse_gain(text, all));
        return;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t equals = part.find('=');
        const auto role = std::find(gain_names.begin(), gain_names.end(), part.substr(0, equals));
        if (equals == std::string::npos || role == gain_names.end()) {
            fail_field(setting("weights", flyball::quoted(all)),
                       "gains of q, k, v and o, for example kaiming:q=1,o=identity");
        }
        gains[static_cast<std::size_t>(role - gain_names.begin())] = parse_gain(part.substr(equals + 1), all);
        at = end + 1;
    }
}

// A folder, builtin:NAME, or what may be ORGANISATION/NAME in a cache: with a slash, and neither a file nor called like
// one. A word without any of that is a kind of weights, perhaps misspelt.
bool is_model_name(const std::string& text) {
    std::error_code ignored;
    const bool is_kind =
        std::any_of(weight_kinds.begin(), weight_kinds.end(), [&](const auto& kind) { return text == kind.first; });
    if (text.rfind("builtin:", 0) == 0 || (!is_kind && std::filesystem::is_directory(text, ignored))) {
        return true;
    }
    return text.find('/') != std::string::npos && !text.ends_with(".safetensors") &&
           !std::filesystem::exists(text, ignored);
}

Text start_text(const Settings& s) {
    switch (s.start) {
        case StartKind::cone:
            return "cone:" + format_double(s.cone_delta);
        case StartKind::equiangular:
            return "equiangular:" + format_double(s.start_cosine);
        case StartKind::file:
            return s.start_file;
        case StartKind::symmetric:
        case StartKind::uniform:
        case StartKind::gaussian:
            break;
    }
    return name_of(s.start, starts);
}

Text until_text(const Settings& s) {
    return s.until ? Text(fmt::format("{}{}{}{}", s.until->observable, s.until->above ? ">" : "<",
                                      s.until->or_equal ? "=" : "", format_double(s.until->level)))
                   : std::nullopt;
}

Text on(bool value) {
    return value ? "true" : "false";
}

}  // namespace

void parse_start(const std::string& text, Settings& settings) {
    settings.started = nullptr;
    const std::string_view all = text;
    if (all.starts_with("cone:")) {
        settings.start = StartKind::cone;
        settings.cone_delta =
            reader.number_in(all.substr(5), flyball::quoted(text), "cone: followed by a number, for example cone:0.01");
        return;
    }
    if (all.starts_with("equiangular:")) {
        settings.start = StartKind::equiangular;
        settings.start_cosine = reader.number_in(all.substr(12), flyball::quoted(text),
                                                 "equiangular: followed by a cosine, for example equiangular:0.5");
        return;
    }
    if (start_format(text)) {
        settings.start = StartKind::file;
        settings.start_file = text;
        return;
    }
    if (text == "cone") {
        fail_field("a cone without its size", "cone:DELTA, for example cone:0.01");
    }
    if (text == "equiangular") {
        fail_field("an equiangular start without its cosine", "equiangular:RHO, for example equiangular:0.5");
    }
    settings.start = reader.named(text, "start", starts);
    if (settings.start == StartKind::file) {  // the words that stand for files in a message
        fail_field(setting("start", flyball::quoted(text)), "the name of one file");
    }
}

void parse_weights(const std::string& text, Settings& settings) {
    const std::size_t colon = text.find(':');
    const bool random =
        text.rfind("kaiming", 0) == 0 || text.rfind("gaussian", 0) == 0 || text.rfind("orthogonal", 0) == 0;
    settings.gains = {};
    settings.trained = nullptr;
    if (colon != std::string::npos && random) {
        settings.weights = reader.named(text.substr(0, colon), "weights", weight_kinds);
        parse_gains(text.substr(colon + 1), text, settings.gains);
    } else if (is_model_name(text)) {
        settings.weights = WeightKind::model;
        settings.weight_file = text;
    } else if (text.find('.') != std::string::npos || text.find('/') != std::string::npos) {
        settings.weights = WeightKind::file;
        settings.weight_file = text;
    } else {
        settings.weights = reader.named(text, "weights", weight_kinds);
    }
}

std::string weights_text(const Settings& s) {
    if (s.weights == WeightKind::file || s.weights == WeightKind::model) {
        return s.weight_file;
    }
    std::string text = name_of(s.weights, weight_kinds);
    for (std::size_t role = 0; role < gain_names.size(); ++role) {
        const Gain& gain = s.gains[role];
        if (gain.kind != Gain::Kind::standard) {
            text += fmt::format("{}{}={}", text.find(':') == std::string::npos ? ":" : ",", gain_names[role],
                                gain.kind == Gain::Kind::identity ? "identity" : format_double(gain.number));
        }
    }
    return text;
}

Until parse_until(const std::string& given) {
    std::string text = given;
    std::erase(text, ' ');
    const std::size_t at = text.find_first_of("<>");
    const std::string got = setting("until", flyball::quoted(given));
    const std::string expected = "an observable, one of < > <= >=, and a number, for example cosine>0.999";
    if (at == std::string::npos) {
        fail_field(got, expected, "put it in quotes, because a shell takes < and > for itself: 'cosine>0.999'");
    }
    Until until;
    const SampleField& field = event_field(text.substr(0, at));
    until.observable = field.name;
    until.above = text[at] == '>';
    until.or_equal = text.substr(at + 1, 1) == "=";
    until.level = reader.number_in(std::string_view(text).substr(at + (until.or_equal ? 2 : 1)), got, expected);
    // The level must lie in the range; at the end that is waited for, only "or equal" can be met, and at the other end
    // "or equal" always is.
    const double far = until.above ? field.most : field.least;
    const double near = until.above ? field.least : field.most;
    const bool is_outside = until.level < field.least || until.level > field.most;
    if (is_outside || (until.level == far && !until.or_equal) || (until.level == near && until.or_equal)) {
        const bool never = until.above ? until.level >= far : until.level <= far;
        fail_field(fmt::format("{}, which {}", got, never ? "can never hold" : "always holds"),
                   std::isfinite(field.most)
                       ? fmt::format("a level between {} and {}", format_double(field.least), format_double(field.most))
                       : fmt::format("a level above {}", format_double(field.least)));
    }
    return until;
}

Method parse_method(const std::string& text) {
    Names<Method> methods;
    for (const MethodRow& row : method_rows()) {
        methods.emplace_back(row.name, row.method);
    }
    return reader.named(text, "method", methods);
}

const char* name(Method method) {
    return row_of(method).name;
}

const std::vector<SettingField>& setting_fields() {
    using S = Settings;
    using T = const std::string&;
    static const std::string attention_help = joined(attention::kind_names(), "or");
    static const std::string methods_help = method_help();
    static const std::string dt_help =
        "step of layers (1, a whole block, unless given), " + methods_with_equal_steps() + " (0.1 unless given)";
    static const std::string rtol_help = "relative tolerance of " + methods_with_chosen_steps();
    static const std::string atol_help = "absolute tolerance of " + methods_with_chosen_steps();
    static const std::vector<SettingField> fields = {
        {"tokens", "N", "number of particles", [](const S& s) -> Text { return std::to_string(s.tokens); },
         [](T text, S& s) { s.tokens = whole(text, "tokens", 1); }, "problem"},
        {"dim", "D", "dimensions (32, or the number of tokens for a start of equal angles)",
         [](const S& s) { return s.dim == 0 ? std::nullopt : Text(std::to_string(s.dim)); },
         [](T text, S& s) { s.dim = whole(text, "dim", 1); }},
        {"beta", "B", "inverse temperature of attention", [](const S& s) -> Text { return format_double(s.beta); },
         [](T text, S& s) { s.beta = real(text, "beta"); }},
        {"heads", "H", "attention heads", [](const S& s) -> Text { return std::to_string(s.heads); },
         [](T text, S& s) { s.heads = whole(text, "heads", 1); }, "attention and weights"},
        {"mask", "NAME", "none or causal", [](const S& s) -> Text { return name_of(s.causal, masks); },
         [](T text, S& s) { s.causal = reader.named(text, "mask", masks); }},
        {"weights", "TEXT",
         "identity, gaussian, kaiming[:G], orthogonal, a safetensors FILE or a MODEL, block after block; gains one by "
         "one as kaiming:q=G,k=G,v=G,o=identity",
         [](const S& s) -> Text { return weights_text(s); }, parse_weights},
        {"gains", "", "with a MODEL: queries, keys and values take the gains of the norm in front of them",
         [](const S& s) { return on(s.norm_gains); }, [](T text, S& s) { s.norm_gains = truth(text, "gains"); }},
        {"fresh", "", "new random weights at every integer t", [](const S& s) { return on(s.fresh); },
         [](T text, S& s) { s.fresh = truth(text, "fresh"); }},
        {"ffn", "WIDTH", "add a random FFN sub-layer of this width",
         [](const S& s) { return s.ffn_width == 0 ? std::nullopt : Text(std::to_string(s.ffn_width)); },
         [](T text, S& s) { s.ffn_width = whole(text, "ffn", 0); }},
        {"attention", "NAME", attention_help.c_str(), [](const S& s) -> Text { return s.attention; },
         [](T text, S& s) { s.attention = text; }},
        {"start", "TEXT",
         "symmetric, uniform, gaussian, cone:DELTA, equiangular:RHO (every pair has this cosine), or the rows of a "
         "FILE (.safetensors, .h5 of a trajectory, .csv), which says tokens, dimensions and systems",
         start_text, parse_start, "start"},
        {"start-frame", "K", "with a .h5 FILE: start from its sample K, counted from 0 (default: the last)",
         [](const S& s) { return s.start_frame ? Text(std::to_string(*s.start_frame)) : std::nullopt; },
         [](T text, S& s) { s.start_frame = whole(text, "start-frame", 0); }},
        {"r0", "R", "length of the particles at the start; those of a FILE have lengths of their own",
         [](const S& s) { return s.start == StartKind::file ? std::nullopt : Text(format_double(s.r0)); },
         [](T text, S& s) { s.r0 = real(text, "r0"); }},
        {"time", "T", "run the ODE limit up to this time",
         [](const S& s) { return s.layers ? std::nullopt : Text(format_double(s.time)); },
         [](T text, S& s) { s.time = real(text, "time"); }, "integration"},
        {"layers", "L", "run this many discrete layers instead",
         [](const S& s) { return s.layers ? Text(std::to_string(*s.layers)) : std::nullopt; },
         [](T text, S& s) { s.layers = whole(text, "layers", 1); }},
        {"dt", "DT", dt_help.c_str(),
         [](const S& s) { return s.dt || s.layers ? Text(format_double(s.step())) : std::nullopt; },
         [](T text, S& s) { s.dt = real(text, "dt"); }},
        {"method", "NAME", methods_help.c_str(), [](const S& s) -> Text { return name(s.method); },
         [](T text, S& s) { s.method = parse_method(text); }},
        {"rtol", "X", rtol_help.c_str(),
         [](const S& s) { return s.layers ? std::nullopt : Text(format_double(s.rtol)); },
         [](T text, S& s) { s.rtol = real(text, "rtol"); }},
        {"atol", "X", atol_help.c_str(),
         [](const S& s) { return s.layers ? std::nullopt : Text(format_double(s.atol)); },
         [](T text, S& s) { s.atol = real(text, "atol"); }},
        {"systems", "M", "independent systems; quantiles are over them",
         [](const S& s) -> Text { return std::to_string(s.systems); },
         [](T text, S& s) { s.systems = whole(text, "systems", 1); }, "systems and samples"},
        {"samples", "K", "times looked at, the start and the end included",
         [](const S& s) -> Text { return std::to_string(s.samples); },
         [](T text, S& s) { s.samples = whole(text, "samples", 2); }},
        {"log-time", "", "space the samples evenly in log t", [](const S& s) { return on(s.log_time); },
         [](T text, S& s) { s.log_time = truth(text, "log-time"); }},
        {"until", "EVENT", "stop at an event, for example cosine>0.999", until_text,
         [](T text, S& s) { s.until = parse_until(text); }},
        {"pair-cosine", "C", "pair_fraction is the share of pairs whose cosine is above this",
         [](const S& s) -> Text { return format_double(s.pair_cosine); },
         [](T text, S& s) { s.pair_cosine = real(text, "pair-cosine"); }},
        {"per-system", "", "put the values of every system into the JSON too; the arrays of a folder always have them",
         [](const S& s) { return on(s.per_system); }, [](T text, S& s) { s.per_system = truth(text, "per-system"); }},
        {"precision", "NAME", "f64 or f32 (attention in float)",
         [](const S& s) -> Text { return name_of(s.precision, precisions); },
         [](T text, S& s) { s.precision = reader.named(text, "precision", precisions); }, "computing"},
        {"kernel", "NAME", "force an attention kernel", [](const S& s) -> Text { return s.kernel; },
         [](T text, S& s) { s.kernel = text; }},
        {"seed", "N", "seed of everything random", [](const S& s) -> Text { return std::to_string(s.seed); },
         [](T text, S& s) { s.seed = whole(text, "seed", 0); }},
    };
    return fields;
}

}  // namespace flyball::dynamics
