#include "report/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/utf8.hpp"

namespace flyball::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::array<std::pair<std::string_view, char>, 12> superscripts = {{{"⁰", '0'},
                                                                             {"¹", '1'},
                                                                             {"²", '2'},
                                                                             {"³", '3'},
                                                                             {"⁴", '4'},
                                                                             {"⁵", '5'},
                                                                             {"⁶", '6'},
                                                                             {"⁷", '7'},
                                                                             {"⁸", '8'},
                                                                             {"⁹", '9'},
                                                                             {"⁻", '-'},
                                                                             {"⁺", '+'}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> spelled = {
    {{"−", "-"},      {"×", "*"},    {"–", "-"},     {"—", "-"},     {"…", "..."}, {"·", "*"},
     {"′", "'"},      {"⟨", "<"},    {"⟩", ">"},     {"≤", "<="},    {"≥", ">="},  {"≈", "~"},
     {"α", "alpha"},  {"β", "beta"}, {"γ", "gamma"}, {"δ", "delta"}, {"ε", "eps"}, {"θ", "theta"},
     {"λ", "lambda"}, {"μ", "mu"},   {"σ", "sigma"}, {"τ", "tau"},   {"φ", "phi"}, {"ω", "omega"}}};

// How many bytes to go on by: bytes that are no character are taken one at a time.
std::size_t step(const Utf8Point& point) {
    return point.valid ? point.length : 1;
}

// Control characters, and the marks that turn the direction of writing or break a line.
bool moves_the_cursor(char32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

bool is_combining(std::string_view character) {
    const char32_t point = next_point(character).value;
    return (point >= 0x300 && point <= 0x36F) || (point >= 0x20D0 && point <= 0x20FF) || point == 0x200B ||
           point == 0x200D || (point >= 0xFE00 && point <= 0xFE0F);
}

}  // namespace

std::string clean(std::string_view text, bool keep_newlines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Point next = next_point(text);
        if (!next.valid || next.value == 0xFFFE || next.value == 0xFFFF) {
            out += replacement;
        } else if (next.value == '\n' && keep_newlines) {
            out += '\n';
        } else if (moves_the_cursor(next.value)) {
            out += ' ';
        } else {
            out += text.substr(0, next.length);
        }
        text.remove_prefix(step(next));
    }
    return out;
}

std::vector<std::string_view> characters(std::string_view text) {
    std::vector<std::string_view> out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = step(next_point(text));
        out.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return out;
}

std::size_t columns(std::string_view text) {
    const auto all = characters(text);
    return all.size() - static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_combining));
}

std::string shortened(std::string_view text, std::size_t longest, bool ascii) {
    if (columns(text) <= longest) {
        return std::string(text);
    }
    const std::string_view dots = ascii ? "..." : "…";
    if (longest <= columns(dots)) {
        return std::string(dots.substr(0, ascii ? longest : dots.size()));
    }
    std::string out;
    std::size_t used = columns(dots);
    for (const auto character : characters(text)) {
        used += is_combining(character) ? 0 : 1;
        if (used > longest) {
            break;
        }
        out += character;
    }
    return out.append(dots);
}

char superscript_value(std::string_view character) noexcept {
    for (const auto& [text, value] : superscripts) {
        if (text == character) {
            return value;
        }
    }
    return '\0';
}

std::string with_greek(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> letters = {
        {{"alpha", "α"}, {"beta", "β"}, {"gamma", "γ"}, {"theta", "θ"}, {"tau", "τ"}, {"eps", "ε"}}};
    std::string out(text);
    for (const auto& [word, letter] : letters) {
        const std::string wanted = std::string(word) + " = ";
        for (std::size_t at = out.find(wanted); at != std::string::npos; at = out.find(wanted, at + 1)) {
            if (at == 0 || out[at - 1] == ' ' || out[at - 1] == '(') {
                out.replace(at, word.size(), letter);
            }
        }
    }
    return out;
}

std::string superscript(int number) {
    std::string out;
    for (const char digit : std::to_string(number)) {
        for (const auto& [text, value] : superscripts) {
            if (value == digit) {
                out += text;
            }
        }
    }
    return out;
}

std::string to_ascii(std::string_view text) {
    std::string out;
    bool raised = false;
    for (const auto character : characters(text)) {
        const char power = superscript_value(character);
        if (power != '\0') {
            if (!raised) {
                const bool of_ten =
                    out.size() >= 2 && out.ends_with("10") && (out.size() == 2 || out[out.size() - 3] == '*');
                if (of_ten) {
                    out.resize(out.size() - 2);
                    if (out.empty()) {
                        out = "1";
                    } else {
                        out.pop_back();
                    }
                    out += 'e';
                } else {
                    out += '^';
                }
            }
            out += power;
        } else if (character.size() == 1) {
            out += character;
        } else if (!is_combining(character)) {
            const auto* const known = std::find_if(spelled.begin(), spelled.end(),
                                                   [&](const auto& entry) { return entry.first == character; });
            out += known == spelled.end() ? std::string_view("?") : known->second;
        }
        raised = power != '\0';
    }
    return out;
}

}  // namespace flyball::report
