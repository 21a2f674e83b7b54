// tokenizer.json: the model, the added tokens and the post-processor. The other members are in steps.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "tokenizer/json.hpp"
#include "tokenizer/parts.hpp"
#include "tokenizer/steps.hpp"

namespace flyball::tokenizer {

namespace {

constexpr JsonLimits limits{64, std::size_t{256} << 20};
constexpr std::size_t longest_added_token = 4096;

// "a b" or ["a", "b"].
Bpe::Merge merge_of(const JsonNode& node) {
    if (node.value().is_array()) {
        const std::vector<JsonNode> halves = node.items();
        if (halves.size() != 2) {
            node.fail(fmt::format("{} items", halves.size()), "two tokens");
        }
        return {halves[0].text(), halves[1].text()};
    }
    const std::string& text = node.text();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
        node.fail(flyball::quoted(text), "two tokens with a space between them");
    }
    return {text.substr(0, space), text.substr(space + 1)};
}

void read_bpe(TokenizerParts& parts, const JsonNode& node) {
    if (const auto dropout = node.find("dropout"); dropout && dropout->value() != 0) {
        dropout->fail(dump_json(dropout->value()), "no dropout, which makes ids random",
                      "save the tokenizer with dropout = None");
    }
    BpeSettings settings;
    if (const auto unknown = node.find("unk_token")) {
        settings.unknown = unknown->text();
    }
    settings.prefix = node.text("continuing_subword_prefix", "");
    settings.suffix = node.text("end_of_word_suffix", "");
    settings.fuse_unknown = node.flag("fuse_unk", false);
    settings.byte_fallback = node.flag("byte_fallback", false);
    settings.ignore_merges = node.flag("ignore_merges", false);
    settings.byte_level = !parts.pretokenize.empty() && std::holds_alternative<BytesStep>(parts.pretokenize.back());
    parts.left_out = settings.byte_level ? 1 : 0;
    read_vocabulary(parts.vocabulary, node.at("vocab"));
    std::vector<Bpe::Merge> merges;
    const std::vector<JsonNode> items = node.at("merges").items();
    merges.reserve(items.size());
    for (const JsonNode& item : items) {
        if (!item.value().is_string() || !item.text().starts_with("#version")) {
            merges.push_back(merge_of(item));
        }
    }
    parts.bpe.emplace(parts.vocabulary, merges, std::move(settings), node.what());
}

void read_wordpiece(TokenizerParts& parts, const JsonNode& node) {
    WordPieceSettings settings;
    settings.unknown = node.text("unk_token", settings.unknown);
    settings.prefix = node.text("continuing_subword_prefix", settings.prefix);
    if (const auto longest = node.find("max_input_chars_per_word")) {
        if (longest->integer() < 0) {
            longest->fail(dump_json(longest->value()), "a number that is not negative");
        }
        settings.longest_word = static_cast<std::size_t>(longest->integer());
    }
    read_vocabulary(parts.vocabulary, node.at("vocab"));
    parts.wordpiece.emplace(parts.vocabulary, std::move(settings), node.what());
}

// Files before 2020 do not say.
std::string type_of_model(const JsonNode& node) {
    if (node.find("type")) {
        return node.type();
    }
    if (node.find("merges")) {
        return "BPE";
    }
    if (node.find("max_input_chars_per_word")) {
        return "WordPiece";
    }
    return node.at("vocab").value().is_array() ? "Unigram" : "WordLevel";
}

void read_model(TokenizerParts& parts, const JsonNode& node) {
    const std::string type = type_of_model(node);
    if (type == "BPE") {
        read_bpe(parts, node);
    } else if (type == "WordPiece") {
        read_wordpiece(parts, node);
    } else {
        throw Error(ErrorKind::input, "tokenizer.read",
                    fmt::format("a tokenizer of type {} in {}", flyball::quoted(type), node.what()), "BPE or WordPiece",
                    "encode the text with Hugging Face's tokenizers and pass the ids");
    }
}

std::vector<AddedToken> read_added(const JsonNode& node) {
    std::vector<AddedToken> tokens;
    for (const JsonNode& item : node.items()) {
        AddedToken token;
        token.content = item.at("content").text();
        const std::int64_t id = item.at("id").integer();
        if (id < 0 || id > Vocabulary::largest_id) {
            item.at("id").fail(fmt::format("{}", id), fmt::format("ids from 0 to {}", Vocabulary::largest_id));
        }
        token.id = static_cast<std::int32_t>(id);
        token.left_strip = item.flag("lstrip", false);
        token.right_strip = item.flag("rstrip", false);
        token.single_word = item.flag("single_word", false);
        token.normalised = item.flag("normalized", false);
        token.special = item.flag("special", false);
        if (!token.content.empty()) {  // the library leaves those out too
            tokens.push_back(std::move(token));
        }
    }
    return tokens;
}

class PostProcessor {
  public:
    explicit PostProcessor(TokenizerParts& parts) : parts_(parts) {}

    void append(const JsonNode& node) {
        const std::string& type = node.type();
        if (type == "Sequence") {
            for (const JsonNode& item : node.at("processors").items()) {
                append(item);
            }
        } else if (type == "TemplateProcessing") {
            append_template(node);
        } else if (type == "BertProcessing" || type == "RobertaProcessing") {
            parts_.around.push_back({{named_id(node.at("cls"))}, {named_id(node.at("sep"))}});
        } else if (type != "ByteLevel") {  // which is about offsets
            node.fail(fmt::format("a post-processor of type {}", flyball::quoted(type)),
                      "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or Sequence");
        }
    }

  private:
    std::int32_t known_id(const JsonNode& node) const {
        const std::int64_t id = node.integer();
        const auto narrow = static_cast<std::int32_t>(std::clamp<std::int64_t>(id, -1, Vocabulary::largest_id));
        if (narrow != id || (parts_.vocabulary.find_id(narrow) == Vocabulary::none &&
                             parts_.extra.find_id(narrow) == Vocabulary::none)) {
            node.fail(fmt::format("{}", id), "the id of a token");
        }
        return narrow;
    }

    // ["[CLS]", 101]
    std::int32_t named_id(const JsonNode& node) const {
        const std::vector<JsonNode> items = node.items();
        if (items.size() != 2) {
            node.fail(fmt::format("{} items", items.size()), "a token and its id");
        }
        return known_id(items[1]);
    }

    void append_template(const JsonNode& node) {
        TokenizerParts::Around around;
        bool seen = false;
        for (const JsonNode& item : node.at("single").items()) {
            if (const auto sequence = item.find("Sequence")) {
                if (seen || sequence->text("id", "A") != "A") {
                    item.fail(seen ? "a second sequence" : "the sequence B", "the sequence A once");
                }
                seen = true;
                continue;
            }
            const std::string& name = item.at("SpecialToken").at("id").text();
            for (const JsonNode& id : node.at("special_tokens").at(name).at("ids").items()) {
                (seen ? around.after : around.before).push_back(known_id(id));
            }
        }
        if (!seen) {
            node.at("single").fail("a template without a sequence", "the sequence A once");
        }
        parts_.around.push_back(std::move(around));
    }

    TokenizerParts& parts_;
};

}  // namespace

void read_vocabulary(Vocabulary& vocabulary, const JsonNode& node) {
    if (!node.value().is_object()) {
        node.fail(node.value().type_name(), "an object of tokens and their ids");
    }
    for (const auto& [token, id] : node.value().items()) {
        if (!id.is_number_integer() || (id.is_number_unsigned() && id.get<std::uint64_t>() > Vocabulary::largest_id)) {
            throw Error(ErrorKind::input, "tokenizer.read",
                        fmt::format("the id {} of the token {} in {}", flyball::quoted(dump_json(id)),
                                    flyball::quoted(token), node.place()),
                        fmt::format("whole numbers from 0 to {}", Vocabulary::largest_id));
        }
        vocabulary.add(token, id.get<std::int64_t>(), node.what());
    }
    vocabulary.finish(node.what());
}

// The library numbers tokens that the vocabulary lacks by itself, from the vocabulary's size on and in the order of the
// file: an id that the file gives and the library does not would make ids that no other program makes of the text.
void add_tokens(TokenizerParts& parts, const std::vector<AddedToken>& tokens, std::string_view what) {
    auto next = static_cast<std::int64_t>(parts.vocabulary.size());
    for (const AddedToken& token : tokens) {
        if (token.content.size() > longest_added_token) {
            throw Error(ErrorKind::input, "tokenizer.read",
                        fmt::format("an added token of {} bytes in {}", token.content.size(), what),
                        fmt::format("at most {} bytes", longest_added_token));
        }
        const std::uint32_t index = parts.vocabulary.find(token.content);
        const std::uint32_t same_id = parts.vocabulary.find_id(token.id);
        if (index != same_id) {
            throw Error(
                ErrorKind::input, "tokenizer.read",
                fmt::format(
                    "the added token {} with the id {} in {}, where {}", flyball::quoted(token.content), token.id, what,
                    index != Vocabulary::none
                        ? fmt::format("the vocabulary gives it {}", parts.vocabulary.id(index))
                        : fmt::format("the vocabulary has {} there", flyball::quoted(parts.vocabulary.text(same_id)))),
                "one id for one token");
        }
        if (index == Vocabulary::none) {
            const std::uint32_t before = parts.extra.find(token.content);
            const std::int64_t number = before == Vocabulary::none ? next : parts.extra.id(before);
            if (token.id != number) {
                throw Error(
                    ErrorKind::input, "tokenizer.read",
                    fmt::format("the added token {} with the id {} in {}, to which Hugging Face's library gives {}",
                                flyball::quoted(token.content), token.id, what, number),
                    "ids that go on after the vocabulary, one a token, in the order of the file");
            }
            if (before == Vocabulary::none) {
                parts.extra.add(token.content, token.id, what);
                ++next;
            }
        }
        if (token.special) {
            parts.special.insert(token.id);
        }
    }
    parts.extra.finish(what);
    // Where two have the same text, the special one comes first, as in the library.
    for (const bool special : {true, false}) {
        for (const AddedToken& token : tokens) {
            if (token.special != special) {
                continue;
            }
            if (token.normalised) {
                parts.added_normalised.add(normalised(token.content, parts.normalise), token);
            } else {
                parts.added.add(token.content, token);
            }
        }
    }
}

std::shared_ptr<const TokenizerParts> parse_tokenizer_json(std::string_view text, std::string_view what) {
    const std::string name(what);
    const Json json = parse_json(text, what, limits);
    const JsonNode root(json, name);
    auto parts = std::make_shared<TokenizerParts>();
    if (const auto node = root.find("normalizer")) {
        append_normaliser(parts->normalise, *node);
    }
    if (const auto node = root.find("pre_tokenizer")) {
        append_pretokenizer(parts->pretokenize, *node);
    }
    if (const auto node = root.find("decoder")) {
        append_decoder(parts->decode, *node);
    }
    read_model(*parts, root.at("model"));
    if (const auto node = root.find("added_tokens")) {
        add_tokens(*parts, read_added(*node), name);
    }
    if (const auto node = root.find("post_processor")) {
        PostProcessor(*parts).append(*node);
    }
    return parts;
}

}  // namespace flyball::tokenizer
