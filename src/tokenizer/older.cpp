// Tokenizers without a tokenizer.json: GPT-2's vocab.json + merges.txt, BERT's vocab.txt. tokenizer_config.json, if
// there is one, names the special tokens and switches.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "tokenizer/json.hpp"
#include "tokenizer/parts.hpp"
#include "tokenizer/steps.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::size_t largest_file = std::size_t{256} << 20;

std::string name_of(const std::filesystem::path& file) {
    return flyball::quoted(file.string());
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// tokenizer_config.json, or nothing.
class Config {
  public:
    explicit Config(const std::filesystem::path& folder) {
        const std::filesystem::path file = folder / "tokenizer_config.json";
        if (is_named(file)) {
            name_ = name_of(file);
            json_ = parse_json(read_regular_file(file, largest_file), name_);
        }
    }

    JsonNode root() const { return {json_, name_}; }

    // A token is a string or an object with its text and switches.
    AddedToken token(std::string_view key, std::string_view otherwise) const {
        AddedToken token;
        token.content = std::string(otherwise);
        token.special = true;
        if (const auto node = root().find(key)) {
            if (node->value().is_object()) {
                token.content = node->at("content").text();
                token.left_strip = node->flag("lstrip", false);
                token.right_strip = node->flag("rstrip", false);
                token.single_word = node->flag("single_word", false);
                token.normalised = node->flag("normalized", false);
            } else {
                token.content = node->text();
            }
        }
        return token;
    }

    void expect_class(std::string_view family) const {
        const std::string name = root().text("tokenizer_class", family);
        if (!name.starts_with(family)) {
            root()
                .at("tokenizer_class")
                .fail(flyball::quoted(name), fmt::format("{}Tokenizer", family),
                      "save the tokenizer with tokenizer.save_pretrained(FOLDER), which writes "
                      "tokenizer.json");
        }
    }

  private:
    Json json_ = Json::object();
    std::string name_ = "'tokenizer_config.json'";
};

// Those that the vocabulary has.
void add_known(TokenizerParts& parts, std::vector<AddedToken> tokens, std::string_view what) {
    for (AddedToken& token : tokens) {
        if (const std::uint32_t index = parts.vocabulary.find(token.content); index != Vocabulary::none) {
            token.id = parts.vocabulary.id(index);
        } else {
            token.content.clear();
        }
    }
    std::erase_if(tokens, [](const AddedToken& token) { return token.content.empty(); });
    add_tokens(parts, tokens, what);
}

void load_gpt2(TokenizerParts& parts, const std::filesystem::path& folder) {
    const Config config(folder);
    config.expect_class("GPT2");
    const std::filesystem::path vocabulary_file = folder / "vocab.json";
    const std::string what = name_of(vocabulary_file);
    const Json vocabulary = parse_json(read_regular_file(vocabulary_file, largest_file), what, {8, largest_file});
    read_vocabulary(parts.vocabulary, JsonNode(vocabulary, what));

    const std::filesystem::path merges_file = folder / "merges.txt";
    const std::string merges_text = read_regular_file(merges_file, largest_file);
    std::vector<Bpe::Merge> merges;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(merges_text)) {
        ++number;
        if (line.empty() || line.starts_with("#version")) {
            continue;
        }
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
            throw Error(ErrorKind::input, "tokenizer.read",
                        fmt::format("{} as line {} of {}", flyball::quoted(line), number, name_of(merges_file)),
                        "two tokens with a space between them");
        }
        merges.push_back({std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
    }
    append_byte_level(parts.pretokenize, config.root().flag("add_prefix_space", false), true);
    parts.left_out = 1;
    BpeSettings settings;
    settings.byte_level = true;
    parts.bpe.emplace(parts.vocabulary, merges, settings, name_of(merges_file));
    parts.decode.emplace_back(DecodeBytes{});
    const std::string_view end = "<|endoftext|>";
    add_known(parts, {config.token("bos_token", end), config.token("eos_token", end), config.token("unk_token", end)},
              what);
}

void load_bert(TokenizerParts& parts, const std::filesystem::path& folder) {
    const Config config(folder);
    config.expect_class("Bert");
    const std::filesystem::path file = folder / "vocab.txt";
    const std::string what = name_of(file);
    const std::string text = read_regular_file(file, largest_file);
    std::int64_t id = 0;
    for (const std::string_view line : lines_of(text)) {
        parts.vocabulary.add(line, id++, what);
    }
    parts.vocabulary.finish(what);
    const JsonNode switches = config.root();
    const bool lower = switches.flag("do_lower_case", true);
    parts.normalise.emplace_back(
        BertStep{true, switches.flag("tokenize_chinese_chars", true), switches.flag("strip_accents", lower), lower});
    append_bert(parts.pretokenize);
    const AddedToken unknown = config.token("unk_token", "[UNK]");
    const AddedToken start = config.token("cls_token", "[CLS]");
    const AddedToken end = config.token("sep_token", "[SEP]");
    WordPieceSettings settings;
    settings.unknown = unknown.content;
    parts.wordpiece.emplace(parts.vocabulary, std::move(settings), what);
    parts.decode.emplace_back(DecodeWordPiece{});
    add_known(parts, {config.token("pad_token", "[PAD]"), unknown, start, end, config.token("mask_token", "[MASK]")},
              what);
    const auto id_of = [&](const AddedToken& token) {
        const std::uint32_t index = parts.vocabulary.find(token.content);
        if (index == Vocabulary::none) {
            throw Error(ErrorKind::input, "tokenizer.read",
                        fmt::format("no token {} in {}", flyball::quoted(token.content), what),
                        "a vocabulary with the special tokens of BERT");
        }
        return parts.vocabulary.id(index);
    };
    parts.around.push_back({{id_of(start)}, {id_of(end)}});
}

}  // namespace

std::shared_ptr<const TokenizerParts> load_older_tokenizer(const std::filesystem::path& folder) {
    const auto has = [&](const char* name) { return is_named(folder / name); };
    auto parts = std::make_shared<TokenizerParts>();
    if (has("vocab.json") && has("merges.txt")) {
        load_gpt2(*parts, folder);
    } else if (has("vocab.txt")) {
        load_bert(*parts, folder);
    } else {
        throw Error(ErrorKind::input, "tokenizer.read", fmt::format("no tokenizer in {}", name_of(folder)),
                    "tokenizer.json, vocab.json with merges.txt, or vocab.txt",
                    has("tokenizer.model") ? "tokenizer.model alone is not read; tokenizer.save_pretrained(FOLDER) of "
                                             "transformers writes tokenizer.json from it"
                                           : "pass the ids instead of text");
    }
    return parts;
}

}  // namespace flyball::tokenizer
