// A small language whose probabilities are known: words by class, a Markov chain over the classes, copies of earlier
// words. synthetic.hpp explains what it is for and how its text reads; this is the mathematics.
//
//     C          classes of words
//     P[c][k]    probability that a word of class k follows one of class c;  pi = pi P its stationary distribution
//     p(w)       probability of the word w in its class c(w), 1/rank over its sum (Zipf)
//     |w|        its letters and its separator
//     q, D       probability of a copy after a new word, largest distance of a copy
//
//     text       = (new word, and with probability q a copy after it), for ever
//     new word   = class k ~ P[class of the last new word], word w ~ p in class k, spelled, then its separator
//     copy       = a capital letter that names d, uniform in 1 .. D (A is 1), then the d-th last new word again, its
//                  separator too
//
// Copies are asides: they neither change the class that the next word follows nor count as words to be copied. So
//
//     entropy of a new word and its copy   H = h(q) + q log D + sum_c pi_c (entropy of P[c] + entropy of p in class c)
//     their length                         L = E|w| + q (1 + E|w|),   E|w| = sum_w pi_c(w) p(w) |w|
//     entropy rate                         H / L nats a token,        h(q) = -q log q - (1 - q) log(1 - q)
//
// because new words are a stationary chain whose every member has the distribution pi_c(w) p(w), a copied word too. The
// text can be read in one way only: no word stands in two classes, a separator ends every word, capitals only begin
// copies. The probability of a character is therefore that of all words that begin as the text does, divided by the
// same without that character: a tree of the words' beginnings, with the weight of everything below a node for each
// class that may stand before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/encoding.hpp"

namespace flyball::train {

struct Grammar {
    struct WordClass {
        std::string name;
        char separator = ' ';            // ends each of its words: a space or a new line
        std::vector<std::string> words;  // the most frequent first; letters a-z and . ! ?
    };
    std::vector<WordClass> classes;
    std::vector<std::vector<double>> next;  // P: a row for each class, with sum 1
    double copy = 0;                        // q
    std::size_t distances = 0;              // D, at most 26; 0: no copies, whatever q
};

class Language {
  public:
    struct Word {
        std::string text;  // with its separator
        std::size_t word_class = 0;
        double share = 0;     // p(w)
        double marginal = 0;  // pi_c(w) p(w)
    };
    // A beginning of words; the root is node 0, a whole word is a leaf.
    struct Node {
        std::vector<std::pair<Token, std::uint32_t>> children;
        std::size_t word = none;
    };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    static constexpr std::uint32_t root = 0;

    // Throws Error for a grammar that does not fit together. One class must lead to every other.
    explicit Language(Grammar grammar);

    // All characters there may be, by code point; a token is a place in it. The same for every grammar.
    static std::string_view alphabet() noexcept;
    static Token token(char character) noexcept;  // -1: not in the alphabet
    static bool is_separator(Token token) noexcept;
    // Of the capital letter, 1 .. 26; 0 for other tokens.
    static std::size_t distance(Token token) noexcept;
    static Token capital(std::size_t distance) noexcept;

    std::size_t classes() const noexcept { return grammar_.classes.size(); }
    const Grammar& grammar() const noexcept { return grammar_; }
    double next(std::size_t from, std::size_t to) const noexcept { return grammar_.next[from][to]; }
    // q, and 0 without distances.
    double copy() const noexcept { return grammar_.distances == 0 ? 0 : grammar_.copy; }
    std::size_t distances() const noexcept { return grammar_.distances; }
    std::span<const Word> words() const noexcept { return words_; }
    std::span<const double> stationary() const noexcept { return stationary_; }  // pi

    const Node& node(std::uint32_t at) const noexcept { return nodes_[at]; }
    std::size_t nodes() const noexcept { return nodes_.size(); }
    // The node after one more character; nodes() where no word goes on like that.
    std::uint32_t child(std::uint32_t at, Token token) const noexcept;
    // Probability that a word after one of class `from` begins like this; the root has 1.
    double weight(std::size_t from, std::uint32_t at) const noexcept { return weights_[at * classes() + from]; }

    double entropy_of_word() const noexcept;  // H
    double tokens_of_word() const noexcept;   // L
    double entropy_rate() const noexcept { return entropy_of_word() / tokens_of_word(); }

    // How far back a copy of distance d may look: places between a character and the one that it repeats, when all
    // words between are of the longest kind and each has its copy.
    std::size_t reach(std::size_t distance) const noexcept;

  private:
    void check() const;
    void add_words();
    void add_to_tree(std::size_t word);
    void find_stationary();

    Grammar grammar_;
    std::vector<double> stationary_;
    std::vector<Word> words_;
    std::vector<Node> nodes_ = std::vector<Node>(1);
    std::vector<double> weights_;  // [node][class before]
};

// The largest D with which no copy looks back further than `places`, for words (with separator) of this length at most.
std::size_t distances_within(std::size_t places, std::size_t longest_word) noexcept;

// Follows a text of the language from its beginning and knows all that the generator knows.
class Reader {
  public:
    struct Option {
        Token token = 0;
        double probability = 0;
    };

    // At the beginning, as though only first words of the first class had gone before. The language must outlive this
    // object.
    explicit Reader(const Language& language);

    // What may come next, each token once; the probabilities, all positive, sum to 1. Valid until the next read().
    std::span<const Option> options() const noexcept { return options_; }
    double probability(Token token) const noexcept;  // 0 for what may not come
    // A token that may come next.
    void read(Token token);

    std::size_t last_class() const noexcept { return class_; }
    bool copying() const noexcept { return source_ != Language::none; }

  private:
    void find_options();
    void end_word(std::size_t word);

    const Language* language_;
    std::vector<std::size_t> history_;     // the last D new words, as a ring
    std::size_t newest_ = 0;               // where the last one stands in it
    std::size_t class_ = 0;                // of the last new word
    std::uint32_t node_ = Language::root;  // in a new word
    std::size_t source_ = Language::none;  // in a copy: the word, and how much of it has been spelled
    std::size_t spelled_ = 0;
    bool after_copy_ = false;
    std::vector<Option> options_;
};

}  // namespace flyball::train
