// How text becomes the numbers that a model is trained on, and the files that turn its output back into text.
//
//     bytes       the id of a byte is its value: 256 tokens, any file at all
//     chars       the id of a character is its rank among the characters of the text, by code point, as nanoGPT has it;
//                 the text must be UTF-8
//     tokenizer   the ids that a published model's own tokenizer gives; the text must be UTF-8
//
// Each comes with the files that make a folder a tokenizer for Flyball and for Hugging Face's library alike, as data:
// bytes and chars are a byte-pair encoding without merges (tokenizer.json), a model's tokenizer is a copy of its files.
// A character that chars has no token for vanishes when text is encoded with these files; there is no token "unknown",
// so that the vocabulary has the size that others report for the same text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::train {

using Token = std::int32_t;

enum class EncodingKind { bytes, chars, tokenizer };

std::string_view name(EncodingKind kind) noexcept;
// "bytes" or "chars"; anything else is an Error of kind usage.
EncodingKind parse_encoding(const std::string& text);

inline constexpr std::size_t most_characters = 65536;  // distinct ones in a text

struct TokenizerFile {
    std::string name;  // in the folder of a model
    std::string contents;
};

struct Encoded {
    std::vector<Token> tokens;
    std::size_t vocab = 0;             // every id is below this
    std::vector<TokenizerFile> files;  // what a model's folder needs to turn text into these ids and back
};

// `what` names the text in messages.
Encoded encode_bytes(std::string_view text);
Encoded encode_chars(std::string_view text, std::string_view what);

// A model's tokenizer: its vocabulary and files alone, or with the ids of a text. No special tokens are put around it.
Encoded read_tokenizer(const std::string& model);
Encoded encode_with(const std::string& model, std::string_view text, std::string_view what);

// Ids 0, 1, ... for these characters, each once.
std::vector<TokenizerFile> character_files(std::span<const char32_t> characters);

}  // namespace flyball::train
