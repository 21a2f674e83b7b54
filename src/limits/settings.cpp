#include "limits/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"

namespace flyball::limits {

namespace {

using Text = std::optional<std::string>;
const SettingReader reader("limits.settings");

const NamedValues<Vectors> vector_names = {
    {"embedding", Vectors::embedding}, {"hidden", Vectors::hidden}, {"value", Vectors::value}};
const std::vector<std::size_t> usual_lengths = {32, 64, 128, 256, 512, 1024};
constexpr std::size_t shortest = 3;  // rows with two keys or fewer are left out

std::vector<std::string_view> words_of(std::string_view text, char between) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(between, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

// "1,5,10": sorted, each once.
std::vector<std::size_t> counts_of(const std::string& text, const char* key, std::size_t least) {
    std::vector<std::size_t> counts;
    for (const std::string_view word : words_of(text, ',')) {
        const auto value = parse_whole(word);
        if (!value || *value < least) {
            reader.fail(setting(key, flyball::quoted(text)),
                        fmt::format("whole numbers, {} or more, with commas between them", least));
        }
        counts.push_back(*value);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

Text joined(const std::vector<std::size_t>& counts) {
    return counts.empty() ? std::nullopt : Text(fmt::format("{}", fmt::join(counts, ",")));
}

void parse_head(const std::string& text, Settings& s) {
    const auto words = words_of(text, '.');
    const auto layer = parse_whole(words.front());
    const auto head = words.size() == 2 ? parse_whole(words.back()) : std::nullopt;
    if (!layer || !head) {
        reader.fail(setting("head", flyball::quoted(text)),
                    "the numbers of a block and of a head in it, both from 0, with a dot between them", "3.5");
    }
    s.head = {static_cast<std::size_t>(*layer), static_cast<std::size_t>(*head)};
}

Text attention_text(const Settings& s) {
    std::string text;
    for (const Normaliser& normaliser : s.attention) {
        text += (text.empty() ? "" : ",") + normaliser.name();
    }
    return text.empty() ? std::nullopt : Text(text);
}

}  // namespace

const char* name(Vectors vectors) noexcept {
    return name_of(vectors, vector_names);
}

std::vector<double> temperature_grid() {
    std::vector<double> grid;
    for (int i = -9; i <= 3; ++i) {
        grid.push_back(std::pow(10.0, i / 3.0));
    }
    return grid;
}

const std::vector<double>& step_sizes() {
    static const std::vector<double> sizes = {1e-3, 1e-1, 10};
    return sizes;
}

const std::vector<SettingField>& setting_fields() {
    using S = Settings;
    using T = const std::string&;
    static const std::vector<SettingField> fields = {
        {"lengths", "LIST", "lengths of text to compare (default: 32,64,..,1024, up to the model's limit)",
         [](const S& s) -> Text { return joined(s.lengths); },
         [](T text, S& s) { s.lengths = counts_of(text, "lengths", shortest); }, "what is measured"},
        {"top", "LIST", "how many keys are selected, N", [](const S& s) -> Text { return joined(s.top); },
         [](T text, S& s) { s.top = counts_of(text, "top", 1); }},
        {"vectors", "KIND",
         "the vectors of the tokens: embedding (rows of the token embedding), hidden (the stream that enters the "
         "block) or value (the head's own values)",
         [](const S& s) -> Text { return name(s.vectors); },
         [](T text, S& s) { s.vectors = reader.named<Vectors>(text, "kind of vectors", vector_names); }},
        {"attention", "LIST",
         "how the model's logits become weights, one or several to compare: softmax, softmax:T, sparsemax, entmax15, "
         "ssmax, sigmoid, sa-softmax, sa-range (default: as the model does)",
         attention_text,
         [](T text, S& s) {
             s.attention.clear();
             for (const std::string_view word : words_of(text, ',')) {
                 s.attention.push_back(Normaliser::parse(word));
             }
         }},
        {"alpha", "A", "level of the Kolmogorov-Smirnov test that finds the critical N",
         [](const S& s) -> Text { return format_double(s.alpha); },
         [](T text, S& s) { s.alpha = reader.real(text, "alpha"); }},
        {"masked", "HOW", "keys that the causal mask hides: exclude, or include them as keys of weight 0",
         [](const S& s) -> Text { return s.include_masked ? "include" : "exclude"; },
         [](T text, S& s) {
             s.include_masked =
                 reader.named<bool>(text, "treatment of masked keys", {{"exclude", false}, {"include", true}});
         }},
        {"seed", "N", "of the random directions in which logits are moved",
         [](const S& s) -> Text { return std::to_string(s.seed); },
         [](T text, S& s) { s.seed = reader.whole(text, "seed", 0); }},
        {"head", "L.H", "look at one head alone: block L, head H, both counted from 0",
         [](const S& s) -> Text {
             return s.head ? Text(fmt::format("{}.{}", s.head->first, s.head->second)) : std::nullopt;
         },
         parse_head, "one head alone"},
        {"row", "T", "with a head: everything about the row of token T, counted from 0",
         [](const S& s) -> Text { return s.row ? Text(std::to_string(*s.row)) : std::nullopt; },
         [](T text, S& s) { s.row = reader.whole(text, "row", 0); }},
    };
    return fields;
}

void check(const Settings& s) {
    if (!(s.alpha > 0 && s.alpha < 1)) {
        reader.fail(setting("alpha", format_double(s.alpha)), "a level between 0 and 1");
    }
    if (s.head.has_value() != s.row.has_value()) {
        reader.fail(
            s.head ? setting("head") + " without " + setting("row") : setting("row") + " without " + setting("head"),
            "both, for one row of one head");
    }
    for (std::size_t i = 0; i < s.attention.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (s.attention[i].name() == s.attention[k].name()) {
                reader.fail(setting("attention", *attention_text(s)), "kinds that differ");
            }
        }
    }
}

std::size_t tokens_wanted(const Settings& settings, const model::Architecture& architecture) {
    const std::vector<std::size_t>& lengths = settings.lengths.empty() ? usual_lengths : settings.lengths;
    std::size_t most = shortest;
    for (const std::size_t length : lengths) {
        most = length <= architecture.positions ? std::max(most, length) : most;
    }
    most = settings.row ? std::max(most, std::min(*settings.row + 1, architecture.positions)) : most;
    return std::min(most, architecture.positions);
}

Lengths lengths_for(const Settings& settings, const model::Architecture& architecture, std::size_t tokens) {
    if (tokens < shortest) {
        throw Error(ErrorKind::input, "limits.lengths", fmt::format("a text of {} tokens", tokens),
                    fmt::format("at least {}", shortest), "a query that sees two keys has nothing to select");
    }
    Lengths result;
    std::vector<std::size_t> left_out;
    for (const std::size_t length : settings.lengths.empty() ? usual_lengths : settings.lengths) {
        if (length > architecture.positions) {
            if (!settings.lengths.empty()) {
                throw Error(
                    ErrorKind::usage, "limits.lengths", setting("lengths", std::to_string(length)),
                    fmt::format("at most the {} tokens that the model has positions for", architecture.positions));
            }
            continue;
        }
        (length <= tokens ? result.lengths : left_out).push_back(length);
    }
    if (!left_out.empty()) {
        result.notes.push_back(
            fmt::format("the text has {} tokens: lengths {} are left out", tokens, fmt::join(left_out, ", ")));
    }
    if (result.lengths.empty()) {
        result.lengths.push_back(std::min(tokens, architecture.positions));
    }
    return result;
}

}  // namespace flyball::limits
