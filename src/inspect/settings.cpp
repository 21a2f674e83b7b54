#include "inspect/settings.hpp"

#include <algorithm>

#include "model/pass.hpp"

namespace flyball::inspect {

namespace {

using Text = std::optional<std::string>;
const SettingReader reader("inspect.settings");

constexpr std::size_t usual_length = 256;
constexpr std::size_t usual_tokens = 1024;

Text whole_text(const std::optional<std::size_t>& value) {
    return value ? Text(std::to_string(*value)) : std::nullopt;
}

Text truth_text(bool value) {
    return value ? "true" : "false";
}

}  // namespace

const std::vector<SettingField>& setting_fields() {
    using S = Settings;
    using T = const std::string&;
    static const std::vector<SettingField> fields = {
        {"length", "L", "tokens of a window of the text (default: 256, or as many as the model has positions for)",
         [](const S& s) -> Text { return whole_text(s.length); },
         [](T text, S& s) { s.length = reader.whole(text, "length", 2); }, "what is measured"},
        {"sequences", "S",
         "how many windows to look at, one after another in the text (default: as many as make 1024 tokens); data-wise "
         "variance needs at least two",
         [](const S& s) -> Text { return whole_text(s.sequences); },
         [](T text, S& s) { s.sequences = reader.whole(text, "sequences", 1); }},
        {"drop", "", "also measure the loss with each block left out, which takes one more pass a block",
         [](const S& s) -> Text { return truth_text(s.drop); },
         [](T text, S& s) { s.drop = reader.truth(text, "drop"); }},
        {"lens", "",
         "also show what each block would predict if the model ended there: its stream goes through the final norm and "
         "the head",
         [](const S& s) -> Text { return truth_text(s.lens); },
         [](T text, S& s) { s.lens = reader.truth(text, "lens"); }},
        {"no-gradient", "", "leave out the gradient after each block, which takes three quarters of the time",
         [](const S& s) -> Text { return truth_text(!s.gradient); },
         [](T text, S& s) { s.gradient = !reader.truth(text, "no-gradient"); }},
    };
    return fields;
}

Windows windows_for(const Settings& settings, const model::Architecture& architecture) {
    Windows windows;
    windows.length = settings.length.value_or(std::min(usual_length, architecture.positions));
    model::check_length(architecture, windows.length);
    windows.most = settings.sequences.value_or(std::max<std::size_t>(1, usual_tokens / windows.length));
    return windows;
}

}  // namespace flyball::inspect
