// WordPiece: the longest token at the start of a word, then again from there with tokens that continue a word
// ("##ing"). Devlin et al. 2019.
//
// Cost: the hashes of all beginnings come from one pass, so a word of n bytes takes O(n times the longest token).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary.hpp"

namespace flyball::tokenizer {

struct WordPieceSettings {
    std::string unknown = "[UNK]";   // for a word with a part that is no token
    std::string prefix = "##";       // of tokens that continue a word
    std::size_t longest_word = 100;  // in characters; longer ones are unknown
};

class WordPiece {
  public:
    // `vocabulary` must outlive this object.
    WordPiece(const Vocabulary& vocabulary, WordPieceSettings settings, std::string_view what);

    // Appends the ids of one word, valid UTF-8.
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

  private:
    // Bytes of the longest beginning of the text that is a token after `prefix`, and the token; 0 if there is none.
    struct Found {
        std::size_t length = 0;
        std::uint32_t index = Vocabulary::none;
    };
    Found longest(std::string_view text, std::string_view prefix) const;

    const Vocabulary* vocabulary_;
    WordPieceSettings settings_;
    std::uint32_t unknown_;
};

}  // namespace flyball::tokenizer
