#include "scheme/scheme_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/setting_field.hpp"
#include "core/suggest.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/typing.hpp"

namespace flyball::scheme {

namespace {

bool is_version(std::string_view rest) {
    const bool after_v = rest.size() > 1 && rest[0] == 'v';
    const char first = rest.empty() ? ' ' : rest[after_v ? 1 : 0];
    return first >= '0' && first <= '9';
}

// How well a name fits that of a model, both folded: 2 the same, 1 one of them has a version more, 0 not at all.
int fit(std::string_view name, std::string_view model) {
    if (name == model) {
        return 2;
    }
    const std::string_view longer = name.size() > model.size() ? name : model;
    const std::string_view shorter = name.size() > model.size() ? model : name;
    return !shorter.empty() && longer.starts_with(shorter) && is_version(longer.substr(shorter.size())) ? 1 : 0;
}

// "Gemma 2 and Gemma 3 are wired as peri-ln, Gemma 1 as pre-ln"; empty for what is no model of the catalogue.
std::string models_hint(const std::string& name) {
    int best = 1;
    for (const CatalogueEntry& entry : catalogue()) {
        for (const std::string_view model : entry.models) {
            best = std::max(best, fit(name, folded(model)));
        }
    }
    std::string text;
    for (const CatalogueEntry& entry : catalogue()) {
        std::vector<std::string> models;
        for (const std::string_view model : entry.models) {
            if (fit(name, folded(model)) == best) {
                models.emplace_back(model);
            }
        }
        if (!models.empty()) {
            const char* const verb = !text.empty() ? "" : models.size() == 1 ? " is wired" : " are wired";
            text += fmt::format("{}{}{} as {}", text.empty() ? "" : ", ", joined(models, "and"), verb, entry.name);
        }
    }
    return text;
}

// A proposal that is not a residual block's equation, under any of the names that stand in its row.
std::string proposal_hint(const std::string& name) {
    for (const NotExpressible& row : not_expressible()) {
        for (std::size_t begin = 0; begin < row.name.size();) {
            const std::size_t end = std::min(row.name.find_first_of(",/", begin), row.name.size());
            std::string_view one = row.name.substr(begin, end - begin);
            one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
            one = one.substr(0, one.find_last_not_of(' ') + 1);
            if (folded(one) == name) {
                return fmt::format("{} is no scheme: {}", one, row.reason);
            }
            begin = end + 1;
        }
    }
    return "";
}

std::string norm_hint(const std::string& name) {
    for (const Normaliser& row : normalisers()) {
        if (folded(row.name) == name || folded(row.title) == name) {
            return fmt::format("{} is a norm, and a scheme says where norms stand, for example pre-ln or peri-ln",
                               row.title);
        }
    }
    return "";
}

std::string nearest_hint(std::string_view name) {
    std::vector<std::string> names;
    for (const CatalogueEntry& row : catalogue()) {
        names.emplace_back(row.name);
        names.insert(names.end(), row.aliases.begin(), row.aliases.end());
    }
    // Without dashes and blanks, which are nobody's misspelling: "prenrom" is two letters exchanged.
    const auto bare = [](std::string_view text) {
        std::string letters(text);
        std::erase_if(letters, [](char c) { return c == '-' || c == '_' || c == ' '; });
        return letters;
    };
    for (std::size_t i = 0, count = names.size(); i < count; ++i) {  // "-ln" may be called "-norm"
        if (names[i].ends_with("-ln")) {
            names.push_back(names[i].substr(0, names[i].size() - 2) + "norm");
        }
    }
    std::vector<std::string> letters;
    for (const std::string& candidate : names) {
        letters.push_back(bare(candidate));
    }
    const auto found = std::find(letters.begin(), letters.end(), nearest(bare(name), letters));
    std::string near = found == letters.end() ? "" : names[static_cast<std::size_t>(found - letters.begin())];
    for (const std::string& candidate : names) {  // "peri" means peri-ln
        if (near.empty() && name.size() >= 3 && folded(candidate).find(folded(name)) != std::string::npos) {
            near = candidate;
        }
    }
    return near.empty() ? "" : fmt::format("did you mean {}?", near);
}

// Words for what a function does, folded, as papers and other programs have them.
struct OtherWord {
    std::string_view word;
    std::string_view hint;
};
constexpr auto other_words = std::to_array<OtherWord>({
    {"layernorm", "did you mean ln, or norm for the norm that the model has?"},
    {"layernormalization", "did you mean ln, or norm for the norm that the model has?"},
    {"rmsnorm", "did you mean rms, or norm for the norm that the model has?"},
    {"normalize", "did you mean norm?"},
    {"normalise", "did you mean norm?"},
    {"l2ln", "did you mean unit?"},
    {"scaleln", "did you mean unit?"},
    {"attention", "did you mean attn?"},
    {"selfattention", "did you mean attn?"},
    {"selfattn", "did you mean attn?"},
    {"mha", "did you mean attn?"},
    {"msa", "did you mean attn?"},
    {"mlp", "did you mean ffn?"},
    {"feedforward", "did you mean ffn?"},
    {"ff", "did you mean ffn?"},
    {"moe", "did you mean ffn?"},
    {"sublayer", "did you mean f, the sub-layer?"},
    {"layer", "did you mean f, the sub-layer?"},
    {"block", "did you mean f, the sub-layer?"},
    {"branch", "did you mean f, the sub-layer?"},
    {"sg", "did you mean detach?"},
    {"stopgrad", "did you mean detach?"},
    {"stopgradient", "did you mean detach?"},
    {"pow", "powers are written with ^, as in x^2"},
    {"power", "powers are written with ^, as in x^2"},
    {"softmax", "attention is attn(x), or f(x) where the sub-layer may be either"},
});

// The first parameter whose constant value lies outside what the catalogue allows.
void check_values(const CatalogueEntry& entry, const Program& program) {
    const auto& syntax = program.syntax().parameters;
    for (const ParameterHelp& help : entry.parameters) {
        const auto found = std::find_if(syntax.begin(), syntax.end(),
                                        [&](const ParameterSyntax& one) { return one.name == help.name; });
        bool is_constant = found != syntax.end();
        if (is_constant) {
            walk(*found->value, [&](const Expression& e) {
                is_constant = is_constant && e.kind != Expression::Kind::name && e.kind != Expression::Kind::quantity;
            });
        }
        if (!is_constant) {
            continue;
        }
        const double value = scalar_value(print(*found->value), Environment{});
        if (value < help.least || value > help.most) {
            throw Error(ErrorKind::usage, "scheme.find_scheme",
                        fmt::format("{} = {} for {}", help.name, format_double(value), entry.name),
                        fmt::format("{} {} ({})", format_double(help.least),
                                    help.most < std::numeric_limits<double>::infinity()
                                        ? fmt::format("to {}", format_double(help.most))
                                        : "or more",
                                    help.help));
        }
    }
}

}  // namespace

std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (std::string_view(" -_.\t").find(c) == std::string_view::npos) {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    for (const std::string_view ending : {"layernorm", "rmsnorm", "norm"}) {
        if (text == ending) {
            return text;
        }
        if (text.ends_with(ending)) {
            return text.substr(0, text.size() - ending.size()) + "ln";
        }
    }
    return text;
}

std::string scheme_hint(std::string_view name) {
    const std::string folded_name = folded(name);
    for (const auto& hint : {models_hint(folded_name), proposal_hint(folded_name), norm_hint(folded_name)}) {
        if (!hint.empty()) {
            return hint;
        }
    }
    const std::string near = nearest_hint(name);
    return near.empty() ? fmt::format("give an equation of your own as {}", setting("equation")) : near;
}

std::string function_hint(std::string_view name) {
    const std::string folded_name = folded(name);
    for (const OtherWord& row : other_words) {
        if (row.word == folded_name) {
            return std::string(row.hint);
        }
    }
    std::vector<std::string> known;
    for (const FunctionName& row : function_names()) {
        known.emplace_back(row.name);
    }
    const std::string near = nearest(name, known);
    return near.empty() ? "" : fmt::format("did you mean {}?", near);
}

const CatalogueEntry* find_entry(std::string_view name) {
    const std::string wanted = folded(name);
    for (const CatalogueEntry& entry : catalogue()) {
        const auto is_it = [&](std::string_view known) { return folded(known) == wanted; };
        if (is_it(entry.name) || is_it(entry.title) || std::any_of(entry.aliases.begin(), entry.aliases.end(), is_it)) {
            return &entry;
        }
    }
    return nullptr;
}

Scheme find_scheme(std::string_view name_and_settings) {
    const std::size_t colon = std::min(name_and_settings.find(':'), name_and_settings.size());
    const std::string_view name = name_and_settings.substr(0, colon);
    const CatalogueEntry* entry = find_entry(name);
    if (entry == nullptr) {
        throw Error(ErrorKind::usage, "scheme.find_scheme", fmt::format("the unknown scheme {}", flyball::quoted(name)),
                    "a name that `flyball schemes` lists", scheme_hint(name));
    }
    Program program = Program::parse(entry->equation);
    if (colon < name_and_settings.size()) {
        program = program.with_settings(name_and_settings.substr(colon + 1));
        check_values(*entry, program);
    }
    return {std::string(entry->name) + std::string(name_and_settings.substr(colon)), std::move(program), entry};
}

}  // namespace flyball::scheme
