#include "tokenizer/decode.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/normalise.hpp"

namespace flyball::tokenizer {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view by) {
    for (std::size_t at = from.empty() ? std::string::npos : text.find(from); at != std::string::npos;
         at = text.find(from, at + by.size())) {
        text.replace(at, from.size(), by);
    }
}

// What the library undoes of the spaces that joining words has put before punctuation.
void clean_up(std::string& text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> rules = {{{" .", "."},
                                                                                      {" ?", "?"},
                                                                                      {" !", "!"},
                                                                                      {" ,", ","},
                                                                                      {" ' ", "'"},
                                                                                      {" n't", "n't"},
                                                                                      {" 'm", "'m"},
                                                                                      {" do not", " don't"},
                                                                                      {" 's", "'s"},
                                                                                      {" 've", "'ve"},
                                                                                      {" 're", "'re"}}};
    for (const auto& [from, by] : rules) {
        replace_all(text, from, by);
    }
}

std::string joined(const std::vector<std::string>& tokens, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        text.append(i == 0 ? "" : between).append(tokens[i]);
    }
    return text;
}

// The bytes a token of printable characters stands for; a token with any other character stands for itself.
std::string bytes_of(std::string_view token) {
    std::string bytes;
    for (std::size_t at = 0; at < token.size();) {
        const Utf8Point next = next_valid_point(token.substr(at));
        const std::optional<unsigned char> byte = byte_of_character(next.value);
        if (!byte) {
            return std::string(token);
        }
        bytes += static_cast<char>(*byte);
        at += next.length;
    }
    return bytes;
}

std::optional<char> fallback_byte(std::string_view token) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                      : -1;
    };
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>' || digit(token[3]) < 0 ||
        digit(token[4]) < 0) {
        return std::nullopt;
    }
    return static_cast<char>(16 * digit(token[3]) + digit(token[4]));
}

struct Apply {
    std::vector<std::string> tokens;

    void operator()(const DecodeBytes&) {
        std::string text;
        for (const std::string& token : tokens) {
            text += bytes_of(token);
        }
        tokens = {repaired_utf8(text)};
    }
    void operator()(const DecodeWordPiece& step) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (i > 0) {
                if (tokens[i].starts_with(step.prefix)) {
                    tokens[i].erase(0, step.prefix.size());
                } else {
                    tokens[i].insert(0, " ");
                }
            }
            if (step.clean_up) {
                clean_up(tokens[i]);
            }
        }
    }
    void operator()(const DecodeReplace& step) {
        for (std::string& token : tokens) {
            token = replaced(token, step.pattern, step.by, 64 * token.size() + 65536);
        }
    }
    void operator()(const DecodeByteFallback&) {
        std::vector<std::string> out;
        std::string bytes;
        const auto flush = [&] {
            if (bytes.empty()) {
                return;
            }
            if (!is_utf8(bytes)) {
                // One replacement character a byte, as the library has it.
                std::string marks;
                for (std::size_t i = 0; i < bytes.size(); ++i) {
                    marks += "\xEF\xBF\xBD";
                }
                bytes = marks;
            }
            out.push_back(std::exchange(bytes, ""));
        };
        for (std::string& token : tokens) {
            if (const std::optional<char> byte = fallback_byte(token)) {
                bytes += *byte;
            } else {
                flush();
                out.push_back(std::move(token));
            }
        }
        flush();
        tokens = std::move(out);
    }
    void operator()(const DecodeFuse&) { tokens = {joined(tokens, "")}; }
    void operator()(const DecodeStrip& step) {
        for (std::string& token : tokens) {
            std::string_view rest = token;
            for (std::size_t i = 0; i < step.start && rest.starts_with(step.character); ++i) {
                rest.remove_prefix(step.character.size());
            }
            for (std::size_t i = 0; i < step.stop && rest.ends_with(step.character); ++i) {
                rest.remove_suffix(step.character.size());
            }
            token = std::string(rest);
        }
    }
    void operator()(const DecodeMarks& step) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            replace_all(tokens[i], step.mark, i == 0 && step.drop_first ? "" : " ");
        }
    }
    void operator()(const DecodeSuffix& step) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            replace_all(tokens[i], step.suffix, i + 1 == tokens.size() ? "" : " ");
        }
    }
    void operator()(const DecodeUnknown& step) {
        throw Error(ErrorKind::input, "tokenizer.read", fmt::format("a decoder of type {}", flyball::quoted(step.kind)),
                    "ByteLevel, WordPiece, Replace, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder or Sequence");
    }
};

}  // namespace

std::string decoded(std::vector<std::string> tokens, const std::vector<DecodeStep>& steps) {
    if (steps.empty()) {
        return joined(tokens, " ");
    }
    Apply apply{std::move(tokens)};
    for (const DecodeStep& step : steps) {
        std::visit(apply, step);
    }
    return joined(apply.tokens, "");
}

}  // namespace flyball::tokenizer
