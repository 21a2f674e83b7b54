#include "train/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/suggest.hpp"
#include "core/unreachable.hpp"
#include "core/utf8.hpp"
#include "model/locate.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::train {

namespace {

constexpr std::size_t largest_file = std::size_t{256} << 20;
constexpr std::size_t code_points = 0x110000;

// Everything that Flyball or transformers reads of a tokenizer; a model has some of them.
constexpr std::array<const char*, 9> published_files = {"tokenizer.json",
                                                        "tokenizer_config.json",
                                                        "special_tokens_map.json",
                                                        "added_tokens.json",
                                                        "vocab.json",
                                                        "merges.txt",
                                                        "vocab.txt",
                                                        "tokenizer.model",
                                                        "chat_template.jinja"};

// Byte-pair encoding without merges: every symbol stays the token that it is.
std::vector<TokenizerFile> files_without_merges(Json vocabulary, Json pre_tokenizer, Json decoder) {
    Json file = Json::object();
    file["version"] = "1.0";
    file["truncation"] = nullptr;
    file["padding"] = nullptr;
    file["added_tokens"] = Json::array();
    file["normalizer"] = nullptr;
    file["pre_tokenizer"] = std::move(pre_tokenizer);
    file["post_processor"] = nullptr;
    file["decoder"] = std::move(decoder);
    Json& model = file["model"] = Json::object();
    model["type"] = "BPE";
    model["dropout"] = nullptr;
    model["unk_token"] = nullptr;
    model["continuing_subword_prefix"] = nullptr;
    model["end_of_word_suffix"] = nullptr;
    model["fuse_unk"] = false;
    model["byte_fallback"] = false;
    model["ignore_merges"] = false;
    model["vocab"] = std::move(vocabulary);
    model["merges"] = Json::array();
    // Without it transformers takes the class from the model's type and adds tokens of its own.
    Json config = Json::object();
    config["tokenizer_class"] = "PreTrainedTokenizerFast";
    config["clean_up_tokenization_spaces"] = false;
    return {{"tokenizer.json", dump_json(file, 2) + "\n"}, {"tokenizer_config.json", dump_json(config, 2) + "\n"}};
}

std::vector<TokenizerFile> byte_files() {
    Json vocabulary = Json::object();
    Token id = 0;
    for (const std::string& character : tokenizer::byte_characters()) {
        vocabulary[character] = id++;
    }
    Json bytes = Json::object();
    bytes["type"] = "ByteLevel";
    bytes["add_prefix_space"] = false;
    bytes["trim_offsets"] = true;
    bytes["use_regex"] = false;
    return files_without_merges(std::move(vocabulary), bytes, bytes);
}

std::vector<TokenizerFile> copied_files(const std::filesystem::path& folder) {
    std::vector<TokenizerFile> files;
    for (const char* const name : published_files) {
        std::error_code ignored;
        if (std::filesystem::exists(folder / name, ignored)) {
            files.push_back({name, read_regular_file(folder / name, largest_file)});
        }
    }
    return files;
}

[[noreturn]] void refuse_byte(std::string_view where, std::string_view text, std::size_t at, std::string_view what) {
    throw Error(ErrorKind::input, where,
                fmt::format("{}, whose byte {} (0x{:02X}, counted from 0) is not UTF-8", what, at,
                            static_cast<unsigned char>(text[at])),
                "text in UTF-8", fmt::format("{} takes any file", setting("encoding", "bytes")));
}

}  // namespace

std::string_view name(EncodingKind kind) noexcept {
    switch (kind) {
        case EncodingKind::bytes:
            return "bytes";
        case EncodingKind::chars:
            return "chars";
        case EncodingKind::tokenizer:
            return "tokenizer";
    }
    unreachable();
}

EncodingKind parse_encoding(const std::string& text) {
    const std::array<std::string, 2> names = {"bytes", "chars"};
    if (text == names[0]) {
        return EncodingKind::bytes;
    }
    if (text == names[1]) {
        return EncodingKind::chars;
    }
    const std::string near = nearest(text, names);
    throw Error(ErrorKind::usage, "train.encoding", setting("encoding", flyball::quoted(text)), "bytes or chars",
                !near.empty() ? fmt::format("did you mean {}?", near)
                              : fmt::format("the tokenizer of a model is named with {}", setting("tokenizer")));
}

Encoded encode_bytes(std::string_view text) {
    Encoded result;
    result.tokens.resize(text.size());
    std::transform(text.begin(), text.end(), result.tokens.begin(),
                   [](char c) { return static_cast<Token>(static_cast<unsigned char>(c)); });
    result.vocab = 256;
    result.files = byte_files();
    return result;
}

std::vector<TokenizerFile> character_files(std::span<const char32_t> characters) {
    Json vocabulary = Json::object();
    // ordered_json looks a key up among all before it: the characters are known to differ, so they are appended.
    auto& entries = vocabulary.get_ref<Json::object_t&>();
    entries.reserve(characters.size());
    Token id = 0;
    for (const char32_t point : characters) {
        std::string character;
        append_point(character, point);
        entries.Container::emplace_back(std::move(character), Json(id++));
    }
    return files_without_merges(std::move(vocabulary), nullptr, Json({{"type", "Fuse"}}));
}

Encoded encode_chars(std::string_view text, std::string_view what) {
    constexpr std::string_view where = "train.encode_chars";
    constexpr Token absent = -1;
    // Which characters there are; then their ranks; then the ids.
    std::vector<Token> ids(code_points, absent);
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Point point = next_point(text.substr(at));
        if (!point.valid) {
            refuse_byte(where, text, at, what);
        }
        ids[point.value] = 0;
        at += point.length;
        ++count;
    }
    std::vector<char32_t> characters;
    for (std::size_t point = 0; point < code_points; ++point) {
        if (ids[point] != absent) {
            ids[point] = static_cast<Token>(characters.size());
            characters.push_back(static_cast<char32_t>(point));
        }
    }
    if (characters.size() > most_characters) {
        throw Error(ErrorKind::input, where, fmt::format("{} with {} different characters", what, characters.size()),
                    fmt::format("at most {}", most_characters),
                    fmt::format("{} takes any file", setting("encoding", "bytes")));
    }
    Encoded result;
    result.tokens.reserve(count);
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Point point = next_valid_point(text.substr(at));
        result.tokens.push_back(ids[point.value]);
        at += point.length;
    }
    result.vocab = characters.size();
    result.files = character_files(characters);
    return result;
}

Encoded read_tokenizer(const std::string& model) {
    return encode_with(model, "", "");
}

Encoded encode_with(const std::string& model, std::string_view text, std::string_view what) {
    const std::filesystem::path folder = model::locate(model);
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Point point = next_point(text.substr(at));
        if (!point.valid) {
            refuse_byte("train.encode_with", text, at, what);
        }
        at += point.length;
    }
    return {tokenizer.encode(text, false), tokenizer.vocabulary_size(), copied_files(folder)};
}

}  // namespace flyball::train
