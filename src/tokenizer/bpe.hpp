// Byte-pair encoding: a word becomes characters (or bytes), then the neighbouring pair of lowest rank is joined, the
// leftmost first, until no pair of the list is left. Sennrich, Haddow, Birch 2016.
//
// Cost: n symbols take O(n log n) by a queue of candidates; up to 48 symbols the plain search above is faster and is
// what runs (merge_plain is the definition, merge_queue is compared with it). Not here: dropout, which is for training.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary.hpp"

namespace flyball::tokenizer {

// The 256 printable characters that stand for bytes in byte-level vocabularies, in UTF-8.
const std::array<std::string, 256>& byte_characters();
// The byte a character stands for, or nothing.
std::optional<unsigned char> byte_of_character(char32_t point) noexcept;

struct BpeSettings {
    std::optional<std::string> unknown;  // the token for characters without one; they vanish if it is not set
    std::string prefix;                  // of every symbol but the first of a word
    std::string suffix;                  // of the last symbol of a word
    bool fuse_unknown = false;
    bool byte_fallback = false;  // characters without a token become <0x..> tokens
    bool ignore_merges = false;  // a word that is a token is that token, whatever the merges would give
    bool byte_level = false;     // words are raw bytes, each to be read as its printable character
};

class Bpe {
  public:
    // In the order of their ranks; both halves and the whole must be tokens. `vocabulary` must outlive this object.
    struct Merge {
        std::string left, right;
    };
    Bpe(const Vocabulary& vocabulary, const std::vector<Merge>& merges, BpeSettings settings, std::string_view what);

    // Appends the ids of one word, valid UTF-8 unless byte_level.
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

    // Whether no merge joins a character with a U+2581 after it: then a text may be cut before every U+2581 that
    // follows another character, and the ids are the same.
    bool cuts_before_marks() const noexcept { return cuts_before_marks_; }

    // The two ways to merge, on symbols that are indices of the vocabulary.
    void merge_plain(std::vector<std::uint32_t>& symbols) const;
    void merge_queue(std::vector<std::uint32_t>& symbols) const;

  private:
    static constexpr std::uint32_t no_rank = 0xFFFFFFFFU;
    struct Rule {
        std::uint64_t pair = ~std::uint64_t{0};
        std::uint32_t rank = no_rank;
        std::uint32_t whole = 0;
    };
    const Rule& rule(std::uint32_t left, std::uint32_t right) const noexcept;
    void build_rules(const std::vector<Merge>& merges, std::string_view what);
    void find_bytes();
    void find_cuts(const std::vector<Merge>& merges);
    void append_symbols(std::string_view word, std::vector<std::uint32_t>& symbols) const;
    bool append_bytes(std::string_view text, std::vector<std::uint32_t>& symbols) const;

    const Vocabulary* vocabulary_;
    BpeSettings settings_;
    std::vector<Rule> rules_;  // open addressing; a pair of no rank ends a search
    std::uint32_t unknown_ = Vocabulary::none;
    std::array<std::uint32_t, 256> fallback_{};  // <0x00> .. <0xFF>
    std::array<std::uint32_t, 256> bytes_{};     // byte level: the token of each byte
    bool all_bytes_ = false;                     // every one of them is there
    bool cuts_before_marks_ = false;
};

}  // namespace flyball::tokenizer
