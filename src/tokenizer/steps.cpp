#include "tokenizer/steps.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "tokenizer/unicode.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::size_t longest_replacement = 1024;
constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Pattern white_space() {
    return Pattern::pcre(fmt::format("[{}]+", white_space_class), "the pattern of white space");
}

// By our own table and not PCRE2's, because the library's is older than either.
Pattern bert_punctuation() {
    return Pattern::pcre(fmt::format("[{}]", punctuation_class()), "the pattern of punctuation");
}

Pattern pattern_of(const JsonNode& node) {
    if (const auto text = node.find("String")) {
        return Pattern::literal(text->text());
    }
    const JsonNode regex = node.at("Regex");
    return Pattern::ruby(regex.text(), regex.place());
}

std::string short_text(const JsonNode& node) {
    if (node.text().size() > longest_replacement) {
        node.fail(fmt::format("a text of {} bytes", node.text().size()),
                  fmt::format("at most {} bytes", longest_replacement));
    }
    return node.text();
}

std::string one_character(const JsonNode& node) {
    const std::string& text = node.text();
    if (text.empty() || point_length(text.front()) != text.size()) {
        node.fail(flyball::quoted(text), "one character");
    }
    return text;
}

SplitBehaviour behaviour_of(const JsonNode& node) {
    const std::string& name = node.text();
    if (name == "Removed") {
        return SplitBehaviour::removed;
    }
    if (name == "Isolated") {
        return SplitBehaviour::isolated;
    }
    if (name == "MergedWithPrevious") {
        return SplitBehaviour::merged_with_previous;
    }
    if (name == "MergedWithNext") {
        return SplitBehaviour::merged_with_next;
    }
    if (name == "Contiguous") {
        return SplitBehaviour::contiguous;
    }
    node.fail(flyball::quoted(name), "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

// Metaspace, in a pre-tokenizer or a decoder.
MarkStep marks_of(const JsonNode& node) {
    MarkStep step;
    step.mark = one_character(node.at("replacement"));
    const bool older = node.flag("add_prefix_space", true);
    const std::string scheme = node.text("prepend_scheme", older ? "always" : "never");
    if (scheme == "always") {
        step.prepend = MarkStep::Prepend::always;
    } else if (scheme == "first") {
        step.prepend = MarkStep::Prepend::first;
    } else if (scheme == "never") {
        step.prepend = MarkStep::Prepend::never;
    } else {
        node.at("prepend_scheme").fail(flyball::quoted(scheme), "always, first or never");
    }
    return step;
}

}  // namespace

void append_byte_level(std::vector<PretokenizeStep>& steps, bool prefix_space, bool use_regex) {
    if (prefix_space) {
        steps.emplace_back(PrefixSpaceStep{});
    }
    if (use_regex) {
        steps.emplace_back(SplitStep{Pattern::ruby(gpt2_pattern, "GPT-2's pattern"), SplitBehaviour::isolated, false});
    }
    steps.emplace_back(BytesStep{});
}

void append_bert(std::vector<PretokenizeStep>& steps) {
    steps.emplace_back(SplitStep{white_space(), SplitBehaviour::removed, false});
    steps.emplace_back(SplitStep{bert_punctuation(), SplitBehaviour::isolated, false});
}

void append_pretokenizer(std::vector<PretokenizeStep>& steps, const JsonNode& node) {
    const std::string& type = node.type();
    if (type == "Sequence") {
        for (const JsonNode& item : node.at("pretokenizers").items()) {
            append_pretokenizer(steps, item);
        }
    } else if (type == "ByteLevel") {
        append_byte_level(steps, node.flag("add_prefix_space", true), node.flag("use_regex", true));
    } else if (type == "Split") {
        steps.emplace_back(
            SplitStep{pattern_of(node.at("pattern")), behaviour_of(node.at("behavior")), node.flag("invert", false)});
    } else if (type == "Digits") {
        const bool single = node.flag("individual_digits", false);
        steps.emplace_back(SplitStep{Pattern::pcre("\\p{N}", "the pattern of digits"),
                                     single ? SplitBehaviour::isolated : SplitBehaviour::contiguous, false});
    } else if (type == "Punctuation") {
        const auto behaviour = node.find("behavior");
        steps.emplace_back(
            SplitStep{bert_punctuation(), behaviour ? behaviour_of(*behaviour) : SplitBehaviour::isolated, false});
    } else if (type == "BertPreTokenizer") {
        append_bert(steps);
    } else if (type == "Whitespace") {
        const std::string word = std::string(word_class).append(rust_word_extra);
        steps.emplace_back(
            SplitStep{Pattern::pcre(fmt::format("[{0}]+|[^{0}{1}]+", word, white_space_class), "the pattern of words"),
                      SplitBehaviour::removed, true});
    } else if (type == "WhitespaceSplit") {
        steps.emplace_back(SplitStep{white_space(), SplitBehaviour::removed, false});
    } else if (type == "CharDelimiterSplit") {
        steps.emplace_back(
            SplitStep{Pattern::literal(one_character(node.at("delimiter"))), SplitBehaviour::removed, false});
    } else if (type == "Metaspace") {
        const MarkStep marks = marks_of(node);
        steps.emplace_back(marks);
        if (node.flag("split", true)) {
            steps.emplace_back(SplitStep{Pattern::literal(marks.mark), SplitBehaviour::merged_with_next, false});
        }
    } else {
        node.fail(fmt::format("a pre-tokenizer of type {}", flyball::quoted(type)),
                  "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, Metaspace, "
                  "BertPreTokenizer or Sequence");
    }
}

void append_normaliser(std::vector<NormaliseStep>& steps, const JsonNode& node) {
    const std::string& type = node.type();
    if (type == "Sequence") {
        for (const JsonNode& item : node.at("normalizers").items()) {
            append_normaliser(steps, item);
        }
    } else if (type == "BertNormalizer") {
        const bool lower = node.flag("lowercase", true);
        steps.emplace_back(BertStep{node.flag("clean_text", true), node.flag("handle_chinese_chars", true),
                                    node.flag("strip_accents", lower), lower});
    } else if (type == "Lowercase") {
        steps.emplace_back(LowerStep{});
    } else if (type == "NFC") {
        steps.emplace_back(NfcStep{});
    } else if (type == "NFD") {
        steps.emplace_back(NfdStep{});
    } else if (type == "Prepend") {
        steps.emplace_back(PrependStep{short_text(node.at("prepend"))});
    } else if (type == "Replace") {
        steps.emplace_back(ReplaceStep{pattern_of(node.at("pattern")), short_text(node.at("content"))});
    } else if (type == "Strip") {
        steps.emplace_back(TrimStep{node.flag("strip_left", true), node.flag("strip_right", true)});
    } else {
        node.fail(fmt::format("a normalizer of type {}", flyball::quoted(type)),
                  "BertNormalizer, Lowercase, NFC, NFD, Prepend, Replace, Strip or Sequence");
    }
}

void append_decoder(std::vector<DecodeStep>& steps, const JsonNode& node) {
    const std::string& type = node.type();
    const auto count = [&](std::string_view key) {
        const std::int64_t value = node.at(key).integer();
        if (value < 0) {
            node.at(key).fail(fmt::format("{}", value), "a number that is not negative");
        }
        return static_cast<std::size_t>(value);
    };
    if (type == "Sequence") {
        for (const JsonNode& item : node.at("decoders").items()) {
            append_decoder(steps, item);
        }
    } else if (type == "ByteLevel") {
        steps.emplace_back(DecodeBytes{});
    } else if (type == "WordPiece") {
        steps.emplace_back(DecodeWordPiece{node.text("prefix", "##"), node.flag("cleanup", true)});
    } else if (type == "Replace") {
        steps.emplace_back(DecodeReplace{pattern_of(node.at("pattern")), short_text(node.at("content"))});
    } else if (type == "ByteFallback") {
        steps.emplace_back(DecodeByteFallback{});
    } else if (type == "Fuse") {
        steps.emplace_back(DecodeFuse{});
    } else if (type == "Strip") {
        steps.emplace_back(DecodeStrip{one_character(node.at("content")), count("start"), count("stop")});
    } else if (type == "Metaspace") {
        const MarkStep marks = marks_of(node);
        steps.emplace_back(DecodeMarks{marks.mark, marks.prepend != MarkStep::Prepend::never});
    } else if (type == "BPEDecoder") {
        steps.emplace_back(DecodeSuffix{node.text("suffix", "</w>")});
    } else {
        steps.emplace_back(DecodeUnknown{type});
    }
}

}  // namespace flyball::tokenizer
