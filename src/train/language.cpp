// The language as a tree of words with weights, its entropy, and a reader that knows everything before.
#include "train/language.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "core/error.hpp"

namespace flyball::train {

namespace {

constexpr std::string_view characters = "\n !.?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t capitals = 26;
constexpr std::size_t first_capital = 5;

// -p log p, 0 at 0.
double entropy_term(double p) {
    return p > 0 ? -p * std::log(p) : 0;
}

[[noreturn]] void refuse(const std::string& got, std::string_view expected) {
    throw Error(ErrorKind::input, "train.language", got, expected);
}

}  // namespace

std::string_view Language::alphabet() noexcept {
    return characters;
}

Token Language::token(char character) noexcept {
    const std::size_t at = characters.find(character);
    return at == std::string_view::npos ? -1 : static_cast<Token>(at);
}

bool Language::is_separator(Token token) noexcept {
    return token == 0 || token == 1;  // new line, space
}

std::size_t Language::distance(Token token) noexcept {
    const auto at = static_cast<std::size_t>(token);
    return at >= first_capital && at < first_capital + capitals ? at - first_capital + 1 : 0;
}

Token Language::capital(std::size_t distance) noexcept {
    return static_cast<Token>(first_capital + distance - 1);
}

// weights_[node][c]: probability that a word after one of class c begins like the node, by adding each word's
// P[c][class of the word] p(word) to every node on its way down the tree.
Language::Language(Grammar grammar) : grammar_(std::move(grammar)) {
    check();
    find_stationary();
    add_words();
    weights_.assign(nodes_.size() * classes(), 0.0);
    for (const Word& word : words_) {
        std::uint32_t at = root;
        for (std::size_t length = 0; length <= word.text.size(); ++length) {
            for (std::size_t from = 0; from < classes(); ++from) {
                weights_[at * classes() + from] += next(from, word.word_class) * word.share;
            }
            if (length < word.text.size()) {
                at = child(at, token(word.text[length]));
            }
        }
    }
}

void Language::check() const {
    constexpr double tolerance = 1e-12;
    if (grammar_.classes.empty() || grammar_.next.size() != classes()) {
        refuse(fmt::format("{} classes and {} rows", classes(), grammar_.next.size()), "a row for each class");
    }
    for (const std::vector<double>& row : grammar_.next) {
        const bool probabilities = std::all_of(row.begin(), row.end(), [](double p) { return p >= 0; });
        if (row.size() != classes() || !probabilities ||
            !(std::abs(std::accumulate(row.begin(), row.end(), 0.0) - 1) < tolerance)) {
            refuse("a row that is no distribution over the classes", "probabilities with the sum 1");
        }
    }
    if (!(grammar_.copy >= 0 && grammar_.copy < 1) || grammar_.distances > capitals) {
        refuse(fmt::format("copies with probability {} at {} distances", grammar_.copy, grammar_.distances),
               "a probability below 1 and at most 26 distances, one for each capital letter");
    }
    std::unordered_set<std::string> seen;
    for (const Grammar::WordClass& one : grammar_.classes) {
        if (one.words.empty() || (one.separator != ' ' && one.separator != '\n')) {
            refuse(fmt::format("the class {}", flyball::quoted(one.name)),
                   "words, and a space or new line to end them");
        }
        for (const std::string& word : one.words) {
            const bool spelled =
                std::all_of(word.begin(), word.end(), [](char c) { return token(c) > 1 && distance(token(c)) == 0; });
            if (word.empty() || !spelled || !seen.insert(word).second) {
                refuse(fmt::format("the word {}", flyball::quoted(word)), "letters a-z, no word twice");
            }
        }
    }
}

// pi (I + P)/2 again and again: the same fixed point as P's, and no period.
void Language::find_stationary() {
    stationary_.assign(classes(), 1.0 / static_cast<double>(classes()));
    constexpr int rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> moved(classes());
        double sum = 0;
        for (std::size_t to = 0; to < classes(); ++to) {
            double arriving = 0;
            for (std::size_t from = 0; from < classes(); ++from) {
                arriving += stationary_[from] * next(from, to);
            }
            moved[to] = (stationary_[to] + arriving) / 2;
            sum += moved[to];
        }
        for (double& share : moved) {
            share /= sum;
        }
        stationary_.swap(moved);
    }
}

void Language::add_words() {
    for (std::size_t k = 0; k < classes(); ++k) {
        const Grammar::WordClass& one = grammar_.classes[k];
        double sum = 0;
        for (std::size_t rank = one.words.size(); rank >= 1; --rank) {
            sum += 1.0 / static_cast<double>(rank);
        }
        for (std::size_t i = 0; i < one.words.size(); ++i) {
            const double share = 1.0 / (static_cast<double>(i + 1) * sum);
            words_.push_back({one.words[i] + one.separator, k, share, stationary_[k] * share});
            add_to_tree(words_.size() - 1);
        }
    }
}

void Language::add_to_tree(std::size_t word) {
    std::uint32_t at = root;
    for (const char c : words_[word].text) {
        std::uint32_t below = child(at, token(c));
        if (below == nodes_.size()) {
            nodes_[at].children.emplace_back(token(c), below);
            nodes_.emplace_back();
        }
        at = below;
    }
    nodes_[at].word = word;
}

std::uint32_t Language::child(std::uint32_t at, Token token) const noexcept {
    for (const auto& [character, below] : nodes_[at].children) {
        if (character == token) {
            return below;
        }
    }
    return static_cast<std::uint32_t>(nodes_.size());
}

// H of the header.
double Language::entropy_of_word() const noexcept {
    double entropy = entropy_term(copy()) + entropy_term(1 - copy());
    if (distances() > 0) {
        entropy += copy() * std::log(static_cast<double>(distances()));
    }
    for (std::size_t from = 0; from < classes(); ++from) {
        for (std::size_t to = 0; to < classes(); ++to) {
            entropy += stationary_[from] * entropy_term(next(from, to));
        }
    }
    for (const Word& word : words_) {
        entropy += stationary_[word.word_class] * entropy_term(word.share);
    }
    return entropy;
}

// L of the header.
double Language::tokens_of_word() const noexcept {
    double length = 0;
    for (const Word& word : words_) {
        length += word.marginal * static_cast<double>(word.text.size());
    }
    return length + copy() * (1 + length);
}

std::size_t Language::reach(std::size_t distance) const noexcept {
    std::size_t longest = 0;
    for (const Word& word : words_) {
        longest = std::max(longest, word.text.size());
    }
    // From the capital back to the source: `distance` words and the copies after all but the last of them; and the
    // capital itself pushes the copy one place further.
    return distance == 0 ? 0 : distance * longest + (distance - 1) * (longest + 1) + 1;
}

std::size_t distances_within(std::size_t places, std::size_t longest_word) noexcept {
    return std::min(capitals, (places + longest_word) / (2 * longest_word + 1));
}

Reader::Reader(const Language& language) : language_(&language), history_(language.distances(), 0) {
    find_options();
}

double Reader::probability(Token token) const noexcept {
    for (const Option& option : options_) {
        if (option.token == token) {
            return option.probability;
        }
    }
    return 0;
}

// Inside a copy one token may come. Otherwise the children of the node, each with its weight over the node's; at the
// start of a word, unless a copy has just ended, also the capitals, which share q among them and leave 1 - q to new
// words.
void Reader::find_options() {
    options_.clear();
    if (copying()) {
        options_.push_back({Language::token(language_->words()[source_].text[spelled_]), 1.0});
        return;
    }
    double share = 1 / language_->weight(class_, node_);
    if (node_ == Language::root && !after_copy_ && language_->copy() > 0) {
        const double each = language_->copy() / static_cast<double>(language_->distances());
        for (std::size_t d = 1; d <= language_->distances(); ++d) {
            options_.push_back({Language::capital(d), each});
        }
        share *= 1 - language_->copy();
    }
    for (const auto& [token, below] : language_->node(node_).children) {
        if (const double weight = language_->weight(class_, below); weight > 0) {
            options_.push_back({token, share * weight});
        }
    }
}

void Reader::read(Token token) {
    assert(probability(token) > 0);
    if (copying()) {
        if (++spelled_ == language_->words()[source_].text.size()) {
            source_ = Language::none;
            after_copy_ = true;
        }
    } else if (const std::size_t distance = Language::distance(token); distance > 0) {
        const std::size_t ring = history_.size();
        source_ = history_[(newest_ + ring - (distance - 1)) % ring];
        spelled_ = 0;
    } else {
        node_ = language_->child(node_, token);
        if (const std::size_t word = language_->node(node_).word; word != Language::none) {
            end_word(word);
        }
    }
    find_options();
}

void Reader::end_word(std::size_t word) {
    class_ = language_->words()[word].word_class;
    node_ = Language::root;
    after_copy_ = false;
    if (!history_.empty()) {
        newest_ = (newest_ + 1) % history_.size();
        history_[newest_] = word;
    }
}

}  // namespace flyball::train
