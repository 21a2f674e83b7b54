#include "scheme/own_equation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace flyball::scheme {

namespace {

constexpr std::size_t longest_label = 32;
constexpr std::string_view dots = "...";

// As far as possible, as they look, from the ten colours of the catalogue and from each other (0.16 and more in Oklab,
// where the catalogue's nearest two are 0.11 apart), and visible on white and on black.
constexpr std::array<std::string_view, 6> colours = {"#e10f96", "#005a00", "#0000ff", "#960f00", "#870078", "#3c4b69"};
constexpr std::array<std::string_view, 4> dashes = {"", "6 2", "2 2", "8 2 2 2"};
static_assert(own_looks == colours.size() * dashes.size());

// The text from `begin` to `end`, with dots where something is left out.
std::string shortened(std::string_view text, std::size_t begin, std::size_t end) {
    return fmt::format("{}{}{}", begin > 0 ? dots : "", text.substr(begin, end - begin), end < text.size() ? dots : "");
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_word(char c) {
    return begins_name(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Of one equation among others: where it differs from them. The window begins at the first word in which any differs;
// where that leaves out the place that tells this one from its nearest, it begins there.
std::string difference(const std::string& text, const std::vector<std::string>& others) {
    if (text.size() <= longest_label) {
        return text;
    }
    std::size_t first = text.size();
    std::size_t last = 0;
    for (const std::string& other : others) {
        if (other != text) {
            first = std::min(first, common_prefix(text, other));
            last = std::max(last, common_prefix(text, other));
        }
    }
    const std::size_t room = longest_label - 2 * dots.size();
    std::size_t begin = last < first ? 0 : last - first < room - 4 ? first : last;  // none differs, near, far
    while (begin > 0 && begin < text.size() && is_word(text[begin]) && is_word(text[begin - 1])) {
        --begin;
    }
    constexpr std::size_t before = 8;  // a little of what leads there
    begin -= std::min(begin, before);
    begin = std::min(begin, text.size() - room);
    begin = begin <= dots.size() ? 0 : begin;
    return shortened(text, begin, std::min(begin + room, text.size()));
}

}  // namespace

std::pair<std::string, std::string> split_name(std::string_view text) {
    std::pair<std::string, std::string> none = {"", std::string(text)};
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        return none;
    }
    const std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view rest = text.substr(equals + 1);
    const bool is_name = !name.empty() && begins_name(name.front()) &&
                         std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '-'; });
    const bool compares = rest.substr(0, 1) == "=";  // depth == 1 ? .. : ..
    if (!is_name || name == "x" || compares) {
        return none;
    }
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view more = trimmed(rest.substr(std::min(end + 1, rest.size())));
    if (!more.empty() && more.front() != '|' && !more.starts_with("where ")) {
        // The name stands before a statement (o = f(x); ..) or a section (attn: ..), or it is itself a statement's.
        const std::string_view first = rest.substr(0, end);
        const std::string_view section = trimmed(first.substr(0, first.find(':')));
        const std::size_t sign = first.find('=');
        const std::string_view assigned = trimmed(first.substr(0, sign));
        const bool assigns = sign != std::string_view::npos && first.substr(sign, 2) != "==" &&
                             std::all_of(assigned.begin(), assigned.end(), [](char c) { return is_word(c); });
        if (section != "attn" && section != "ffn" && !assigns) {
            return none;
        }
    }
    return {std::string(name), std::string(rest)};
}

bool looks_like_equation(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view before = text.substr(0, colon);
    if (find_entry(before) != nullptr) {
        return false;  // "HybridNorm*", "Dynamic Tanh"
    }
    // Words alone are a name that somebody else gives it ("Gemma 2"); between blanks a sign makes an equation of them.
    const bool has_sign = before.find(' ') != std::string_view::npos && before.find_first_of("-^?<>") < before.size();
    return text.find_first_of("()+*/=|;") < colon || has_sign ||
           (colon != std::string_view::npos && (before == "attn" || before == "ffn"));
}

Scheme scheme_of_equation(std::string_view equation) {
    const auto [name, text] = split_name(equation);
    if (find_entry(name) != nullptr) {
        throw Error(ErrorKind::usage, "scheme.scheme_of_equation",
                    fmt::format("the name {} for an equation of your own", flyball::quoted(name)),
                    "a name that no scheme of the catalogue has");
    }
    return {name.empty() ? "equation" : name, Program::parse(text), nullptr, !name.empty(), 1};
}

const CatalogueEntry* entry_of_equation(std::string_view equation) {
    const std::string text = Program::parse(equation).text();
    for (const CatalogueEntry& entry : catalogue()) {
        const std::string_view trained = entry.recipe.training.equation;
        if (text == Program::parse(entry.equation).text() ||
            (!trained.empty() && text == Program::parse(trained).text())) {
            return &entry;
        }
    }
    return nullptr;
}

std::vector<Scheme> find_schemes(const std::vector<std::string>& schemes, const std::vector<std::string>& equations) {
    std::vector<Scheme> found;
    for (const std::string& text : schemes) {
        found.push_back(looks_like_equation(text) ? scheme_of_equation(text) : find_scheme(text));
    }
    for (const std::string& text : equations) {
        found.push_back(scheme_of_equation(text));
    }
    const auto own = std::count_if(found.begin(), found.end(), [](const Scheme& s) { return s.entry == nullptr; });
    std::size_t number = 0;
    for (Scheme& scheme : found) {
        if (scheme.entry != nullptr) {
            continue;
        }
        scheme.own = ++number;
        if (!scheme.named && own > 1) {
            scheme.name = fmt::format("equation-{}", number);
        }
    }
    for (auto scheme = found.begin(); scheme != found.end(); ++scheme) {
        const bool taken = scheme->entry == nullptr && std::any_of(found.begin(), scheme, [&](const Scheme& other) {
                               return other.entry == nullptr && other.name == scheme->name;
                           });
        if (taken) {
            throw Error(ErrorKind::usage, "scheme.find_schemes",
                        fmt::format("two equations with the name {}", flyball::quoted(scheme->name)),
                        "a name of its own for each");
        }
    }
    return found;
}

std::vector<std::pair<std::string, std::vector<std::string>>> scheme_flags(const std::vector<Scheme>& schemes) {
    std::vector<std::string> names;
    std::vector<std::string> equations;
    for (const Scheme& scheme : schemes) {
        if (scheme.entry != nullptr) {
            // Schemes are read before equations; an equation that came first has to stand among them to stay there.
            names.insert(names.end(), equations.begin(), equations.end());
            equations.clear();
            names.push_back(scheme.name);
        } else {
            equations.push_back((scheme.named ? scheme.name + "=" : "") + scheme.program.text());
        }
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> flags;
    if (!names.empty()) {
        flags.emplace_back("scheme", std::move(names));
    }
    if (!equations.empty()) {
        flags.emplace_back("equation", std::move(equations));
    }
    return flags;
}

std::vector<std::string> labels_of(const std::vector<Scheme>& schemes) {
    std::vector<std::string> unnamed;
    for (const Scheme& scheme : schemes) {
        if (!scheme.named) {
            unnamed.push_back(scheme.program.text());
        }
    }
    std::vector<std::string> labels;
    for (const Scheme& scheme : schemes) {
        if (scheme.named) {
            labels.push_back(scheme.name);
            continue;
        }
        const std::string text = scheme.program.body_text();
        const std::string part = unnamed.size() > 1             ? difference(scheme.program.text(), unnamed)
                                 : text.size() <= longest_label ? text
                                                                : shortened(text, 0, longest_label - dots.size());
        labels.push_back(scheme.name == "equation" ? part : fmt::format("{}: {}", scheme.name, part));
    }
    return labels;
}

Look own_look(std::size_t number) {
    const std::size_t k = (number == 0 ? 0 : number - 1) % own_looks;
    return {colours[k % colours.size()], dashes[k / colours.size()]};
}

Look look_of(const Scheme& scheme) {
    return scheme.entry == nullptr ? own_look(scheme.own) : Look{scheme.entry->colour, scheme.entry->dash};
}

}  // namespace flyball::scheme
