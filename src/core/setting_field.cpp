#include "core/setting_field.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/expected_whole.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"

namespace flyball {

std::string joined(const std::vector<std::string>& words, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
        text += words[i];
    }
    return text;
}

void SettingReader::fail(std::string_view got, std::string_view expected, std::string_view hint) const {
    throw Error(ErrorKind::usage, where_, got, expected, hint);
}

bool SettingReader::same_word(std::string_view name, std::string_view text) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(name.begin(), name.end(), text.begin(), text.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

void SettingReader::fail_name(const std::string& text, std::string_view what,
                              const std::vector<std::string>& names) const {
    const std::string near = nearest(text, names);
    fail(fmt::format("the unknown {} {}", what, flyball::quoted(text)),
         fmt::format("one of {}", fmt::join(names, ", ")), near.empty() ? "" : fmt::format("did you mean {}?", near));
}

double SettingReader::number_in(std::string_view text, std::string_view shown, std::string_view expected) const {
    const auto value = parse_double(text);
    if (!value) {
        fail(shown, expected);
    }
    return *value;
}

std::uint64_t SettingReader::whole(const std::string& text, const char* key, std::uint64_t least) const {
    const auto value = parse_whole(text);
    if (!value || *value < least) {
        fail(setting(key, flyball::quoted(text)), expected_whole(text, least));
    }
    return *value;
}

double SettingReader::real(const std::string& text, const char* key) const {
    return number_in(text, setting(key, flyball::quoted(text)), "a finite number, for example 0.5 or 1e-3");
}

bool SettingReader::truth(const std::string& text, const char* key) const {
    if (text != "true" && text != "false") {
        fail(setting(key, flyball::quoted(text)), "true or false");
    }
    return text == "true";
}

}  // namespace flyball
