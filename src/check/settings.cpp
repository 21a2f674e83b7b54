#include "check/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <regex>

#include "core/error.hpp"
#include "core/number.hpp"
#include "scheme/normaliser.hpp"
#include "train/initial.hpp"

namespace flyball::check {

namespace {

using SettingText = std::optional<std::string>;
const SettingReader check_reader("check.settings");

constexpr std::size_t most_blocks = 256;
constexpr std::size_t most_channels = 65536;
constexpr std::size_t most_tokens = 1048576;
constexpr std::size_t most_steps = 100000;

struct BlockMatrix {
    scheme::Matrix matrix;
    const char* key;  // of train's init
};
constexpr std::array<BlockMatrix, 6> block_matrix_keys = {{{scheme::Matrix::query, "query"},
                                                           {scheme::Matrix::key, "key"},
                                                           {scheme::Matrix::value, "value"},
                                                           {scheme::Matrix::output, "output"},
                                                           {scheme::Matrix::ffn_in, "ffn-in"},
                                                           {scheme::Matrix::ffn_out, "ffn-out"}}};

// With the d and n of the user's model: those of a stand-in are others.
std::string of_the_model(std::string expression, const Settings& settings) {
    static const std::regex width("\\bd\\b");
    static const std::regex tokens("\\bn\\b");
    expression = std::regex_replace(expression, width, std::to_string(settings.width));
    return std::regex_replace(expression, tokens, std::to_string(settings.tokens));
}

// The scheme's own deviation as an expression; empty where it is Xavier's, which knows the width.
std::string deviation_text(const scheme::Initialisation& start, scheme::Matrix matrix) {
    if (start.draw.kind != scheme::Draw::Kind::normal) {
        return "";
    }
    std::string text = fmt::format("({})", start.draw.deviation);
    for (const scheme::Gain& gain : start.gains) {
        for (const scheme::Matrix of : gain.matrices) {
            if (of == matrix) {
                text += fmt::format("*({})", gain.factor);
            }
        }
    }
    return text;
}

std::string scaled(const std::string& expression, const Settings& settings) {
    if (expression.empty()) {
        return "";
    }
    const double factor =
        std::sqrt(static_cast<double>(settings.width) / static_cast<double>(Settings::measured_width));
    return fmt::format("({})*{}", of_the_model(expression, settings), format_double(factor));
}

bool is_of_a_block(const std::string& key) {
    return key != "embedding" && key != "head" && key.rfind("gain", 0) != 0;
}

}  // namespace

const std::vector<SettingField>& setting_fields() {
    using S = Settings;
    using T = const std::string&;
    static const std::vector<SettingField> fields = {
        {"depth", "L", "blocks of the model that the block is meant for; branches and factors are judged there",
         [](const S& s) -> SettingText { return std::to_string(s.depth); },
         [](T text, S& s) { s.depth = check_reader.whole(text, "depth", 2); }, "the model that the block is for"},
        {"width", "D", "channels of that model: matrices act as strongly as they would there",
         [](const S& s) -> SettingText { return std::to_string(s.width); },
         [](T text, S& s) { s.width = check_reader.whole(text, "width", 8); }},
        {"tokens", "N", "tokens that its attention sees",
         [](const S& s) -> SettingText { return std::to_string(s.tokens); },
         [](T text, S& s) { s.tokens = check_reader.whole(text, "tokens", 2); }},
        {"init", "KEY=EXPR,..",
         "how it is started where that is not what the scheme's source prescribes: deviations of embedding, query, "
         "key, "
         "value, output, ffn-in, ffn-out, head, residual or matrices, and gains or gain.K of norms",
         [](const S& s) -> SettingText { return s.init.empty() ? std::nullopt : SettingText(s.init); },
         [](T text, S& s) { s.init = text; }},
        {"norm", "NAME", "what norm( ) is in the model: layernorm, rmsnorm, ..",
         [](const S& s) -> SettingText { return s.norm; }, [](T text, S& s) { s.norm = text; }},
        {"dt", "DT", "the residual step of the model", [](const S& s) -> SettingText { return format_double(s.dt); },
         [](T text, S& s) { s.dt = check_reader.real(text, "dt"); }},
        {"steps", "K", "steps of the short training runs",
         [](const S& s) -> SettingText { return std::to_string(s.steps); },
         [](T text, S& s) { s.steps = check_reader.whole(text, "steps", 10); }, "short training runs"},
        {"seed", "S", "of the random weights and of the text that is learned",
         [](const S& s) -> SettingText { return std::to_string(s.seed); },
         [](T text, S& s) { s.seed = check_reader.whole(text, "seed", 0); }},
    };
    return fields;
}

void check(const Settings& settings) {
    const auto within = [](const char* key, std::size_t value, std::size_t most) {
        if (value > most) {
            throw Error(ErrorKind::usage, "check.settings", setting(key, std::to_string(value)),
                        fmt::format("at most {}", most));
        }
    };
    within("depth", settings.depth, most_blocks);
    within("width", settings.width, most_channels);
    within("tokens", settings.tokens, most_tokens);
    within("steps", settings.steps, most_steps);
    if (!(settings.dt > 0) || !std::isfinite(settings.dt)) {
        throw Error(ErrorKind::usage, "check.settings", setting("dt", format_double(settings.dt)), "a number above 0");
    }
    scheme::find_normaliser(settings.norm);
}

std::string init_for_width(const scheme::Scheme& scheme, const Settings& settings) {
    std::string init;
    const auto add = [&](const std::string& key, const std::string& expression) {
        init += fmt::format("{}{}={}", init.empty() ? "" : ",", key, expression);
    };
    const scheme::Recipe& recipe = scheme::recipe_of(scheme);
    for (const auto& [matrix, key] : block_matrix_keys) {
        const std::string own = scaled(deviation_text(recipe.initialisation, matrix), settings);
        if (!own.empty()) {
            add(key, own);
        }
    }
    // What the user gave comes later and wins.
    for (const train::Override& given : train::overrides_of(settings.init)) {
        add(given.key,
            is_of_a_block(given.key) ? scaled(given.expression, settings) : of_the_model(given.expression, settings));
    }
    return init;
}

}  // namespace flyball::check
