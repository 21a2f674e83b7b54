// What a tokenizer is made of, as its file says it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tokenizer/added.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/decode.hpp"
#include "tokenizer/json.hpp"
#include "tokenizer/normalise.hpp"
#include "tokenizer/pretokenize.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/wordpiece.hpp"

namespace flyball::tokenizer {

// Neither copied nor moved: the models point at the vocabulary.
struct TokenizerParts {
    TokenizerParts() = default;
    TokenizerParts(const TokenizerParts&) = delete;
    TokenizerParts& operator=(const TokenizerParts&) = delete;

    Vocabulary vocabulary;   // of the model
    Vocabulary extra;        // added tokens that the model does not have
    std::optional<Bpe> bpe;  // one of the two
    std::optional<WordPiece> wordpiece;
    std::vector<NormaliseStep> normalise;
    std::vector<PretokenizeStep> pretokenize;
    std::size_t left_out = 0;      // last steps of pretokenize that the model does itself
    AddedTokens added;             // looked for in the text as it is
    AddedTokens added_normalised;  // looked for in the normalised text
    std::unordered_set<std::int32_t> special;
    struct Around {
        std::vector<std::int32_t> before, after;
    };
    std::vector<Around> around;  // special tokens, one pair for each post-processor, innermost first
    std::vector<DecodeStep> decode;
};

// `what` names the text in messages.
std::shared_ptr<const TokenizerParts> parse_tokenizer_json(std::string_view text, std::string_view what);

// The folder has no tokenizer.json: its older files, or an Error that says what was looked for.
std::shared_ptr<const TokenizerParts> load_older_tokenizer(const std::filesystem::path& folder);

// An object of tokens and their ids.
void read_vocabulary(Vocabulary& vocabulary, const JsonNode& node);

// Registers added tokens; the vocabulary and the normaliser must be there. A token that the model has must have its id.
void add_tokens(TokenizerParts& parts, const std::vector<AddedToken>& tokens, std::string_view what);

}  // namespace flyball::tokenizer
