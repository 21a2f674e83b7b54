// The hypotheses about what went before a window, updated token by token. Symbols as in the header.
#include "train/cold_reader.hpp"

#include <algorithm>
#include <numeric>

#include "core/unreachable.hpp"

namespace flyball::train {

ColdReader::ColdReader(const Language& language, Token first) : language_(&language) {
    if (const std::size_t distance = Language::distance(first); distance > 0) {
        hypotheses_.emplace_back().hidden = unknown_words();
        reading_ = Reading::boundary;
        read_unit(first);
        return;
    }
    for (std::size_t w = 0; w < language.words().size(); ++w) {
        const std::string& text = language.words()[w].text;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (Language::token(text[at]) == first) {
                places_.push_back({w, at});
            }
        }
    }
    if (Language::is_separator(first)) {
        begin_hypotheses();
    }
}

// The first separator has been read: the words in places_ are those that end like this.
void ColdReader::begin_hypotheses() {
    std::vector<bool> ending(language_->words().size());
    for (const Place& place : places_) {
        ending[place.word] = true;
    }
    places_.clear();
    const std::size_t distances = language_->copy() > 0 ? language_->distances() : 0;
    const double all = 1 + language_->copy();
    for (std::size_t d = 0; d <= distances; ++d) {  // 0: a new word
        Hypothesis& hypothesis = hypotheses_.emplace_back();
        hypothesis.weight = (d == 0 ? 1 : language_->copy() / static_cast<double>(distances)) / all;
        hypothesis.after_copy = d > 0;
        hypothesis.hidden = unknown_words();
        narrow(hypothesis.hidden[d == 0 ? 0 : d - 1], ending);
    }
    reading_ = Reading::boundary;
    for (Hypothesis& hypothesis : hypotheses_) {
        find_class_before(hypothesis);
    }
}

double ColdReader::of_first_word(Token token) const {
    double all = 0;
    double agreeing = 0;
    for (const Place& place : places_) {
        const Language::Word& word = language_->words()[place.word];
        all += word.marginal;
        agreeing += Language::token(word.text[place.at + 1]) == token ? word.marginal : 0;
    }
    return agreeing / all;
}

double ColdReader::probability(Token token) const {
    if (reading_ == Reading::first_word) {
        return of_first_word(token);
    }
    double sum = 0;
    for (const Hypothesis& hypothesis : hypotheses_) {
        sum += hypothesis.weight * probability(hypothesis, token);
    }
    return sum;
}

// Under one hypothesis. A ratio of weights of two nodes of the tree: of what may follow to what has been read.
double ColdReader::probability(const Hypothesis& hypothesis, Token token) const {
    // Weight of a node for a new word, the class before it being uncertain.
    const auto weight = [&](std::uint32_t node) {
        double sum = 0;
        for (std::size_t c = 0; c < language_->classes(); ++c) {
            sum += hypothesis.before[c] * language_->weight(c, node);
        }
        return sum;
    };
    const std::uint32_t below = language_->child(node_, token);
    const bool goes_on = below < language_->nodes();
    switch (reading_) {
        case Reading::boundary: {
            const double copy = hypothesis.after_copy ? 0 : language_->copy();
            if (const std::size_t distance = Language::distance(token); distance > 0) {
                return distance <= language_->distances() ? copy / static_cast<double>(language_->distances()) : 0;
            }
            return goes_on ? (1 - copy) * weight(below) / weight(node_) : 0;
        }
        case Reading::new_word:
            return goes_on ? weight(below) / weight(node_) : 0;
        case Reading::known_copy:
            return Language::token(language_->words()[source_].text[spelled_]) == token ? 1 : 0;
        case Reading::hidden_copy:
            return goes_on ? hypothesis.mass[below] / hypothesis.mass[node_] : 0;
        case Reading::first_word:
            break;
    }
    unreachable();
}

// Bayes: the weight of a hypothesis is multiplied by how well it predicted the token. Those that did not allow it go.
double ColdReader::read(Token token) {
    const double chance = probability(token);
    if (reading_ == Reading::first_word) {
        std::erase_if(places_, [&](Place& place) {
            ++place.at;
            return Language::token(language_->words()[place.word].text[place.at]) != token;
        });
        if (Language::is_separator(token)) {
            begin_hypotheses();
        }
        return chance;
    }
    for (Hypothesis& hypothesis : hypotheses_) {
        hypothesis.weight *= probability(hypothesis, token) / chance;
    }
    std::erase_if(hypotheses_, [](const Hypothesis& hypothesis) { return !(hypothesis.weight > 0); });
    read_unit(token);
    return chance;
}

// The state after a token that agrees with some hypothesis: a letter of a known copy, a capital that begins a copy (of
// a word of the window, or of an f_j from before it), or a letter of a word that is found down the tree.
void ColdReader::read_unit(Token token) {
    if (reading_ == Reading::known_copy) {
        if (++spelled_ == language_->words()[source_].text.size()) {
            end_unit(true);
        }
        return;
    }
    if (const std::size_t distance = Language::distance(token); distance > 0) {
        spelled_ = 0;
        if (distance <= seen_.size()) {
            source_ = seen_[seen_.size() - distance];
            reading_ = Reading::known_copy;
            return;
        }
        copied_ = distance - seen_.size();
        reading_ = Reading::hidden_copy;
        for (Hypothesis& hypothesis : hypotheses_) {
            find_source(hypothesis, copied_);
        }
        return;
    }
    if (reading_ == Reading::boundary) {
        reading_ = Reading::new_word;
    }
    node_ = language_->child(node_, token);
    const std::size_t word = language_->node(node_).word;
    if (word == Language::none) {
        return;
    }
    if (reading_ == Reading::new_word) {
        seen_.push_back(word);
        end_unit(false);
        return;
    }
    for (Hypothesis& hypothesis : hypotheses_) {
        std::vector<bool> only(language_->words().size());
        only[word] = true;
        narrow(hypothesis.hidden[copied_ - 1], std::move(only));
    }
    end_unit(true);
}

void ColdReader::end_unit(bool copy) {
    reading_ = Reading::boundary;
    node_ = Language::root;
    if (seen_.size() >= language_->distances() && !seen_.empty()) {  // the hypotheses agree about all that is to come
        hypotheses_.resize(1);
        hypotheses_.front().weight = 1;
    }
    for (Hypothesis& hypothesis : hypotheses_) {
        hypothesis.after_copy = copy;
        find_class_before(hypothesis);
    }
}

// The class that the next new word follows: known from the window, or that of f_1, with chances ~ a_1(c) E_1(c).
void ColdReader::find_class_before(Hypothesis& hypothesis) const {
    std::vector<double>& before = hypothesis.before;
    if (!seen_.empty()) {
        before.assign(language_->classes(), 0.0);
        before[language_->words()[seen_.back()].word_class] = 1;
        return;
    }
    before = from_before(hypothesis, 1);
    for (std::size_t c = 0; c < before.size(); ++c) {
        before[c] *= hypothesis.hidden[0].chance[c];
    }
    const double sum = std::accumulate(before.begin(), before.end(), 0.0);
    for (double& share : before) {
        share /= sum;
    }
}

// mass of a node: probability that f_place begins like this, up to a factor; a copy of it spells its way down the tree.
void ColdReader::find_source(Hypothesis& hypothesis, std::size_t place) const {
    const std::vector<double> earlier = from_before(hypothesis, place);
    const std::vector<double> later = from_after(hypothesis, place);
    const std::vector<bool>& may_be = hypothesis.hidden[place - 1].may_be;
    hypothesis.mass.assign(language_->nodes(), 0.0);
    for (std::size_t w = 0; w < language_->words().size(); ++w) {
        if (!may_be.empty() && !may_be[w]) {
            continue;
        }
        const Language::Word& word = language_->words()[w];
        const double mass = earlier[word.word_class] * later[word.word_class] * word.share;
        std::uint32_t at = Language::root;
        hypothesis.mass[at] += mass;
        for (const char c : word.text) {
            at = language_->child(at, Language::token(c));
            hypothesis.mass[at] += mass;
        }
    }
}

std::vector<ColdReader::Hidden> ColdReader::unknown_words() const {
    const Hidden any{{}, std::vector<double>(language_->classes(), 1.0)};
    return std::vector<Hidden>(std::max<std::size_t>(language_->distances(), 1), any);
}

// What is known now includes what was known before: it was predicted from that.
void ColdReader::narrow(Hidden& hidden, std::vector<bool> may_be) const {
    hidden.may_be = std::move(may_be);
    hidden.chance.assign(language_->classes(), 0.0);
    for (std::size_t w = 0; w < hidden.may_be.size(); ++w) {
        const Language::Word& word = language_->words()[w];
        hidden.chance[word.word_class] += hidden.may_be[w] ? word.share : 0;
    }
}

// a_j of the header: from a_D, the farthest word, forward in time to f_j.
std::vector<double> ColdReader::from_before(const Hypothesis& hypothesis, std::size_t place) const {
    const std::size_t classes = language_->classes();
    std::vector<double> a(language_->stationary().begin(), language_->stationary().end());
    for (std::size_t j = hypothesis.hidden.size(); j > place; --j) {
        std::vector<double> moved(classes);
        for (std::size_t from = 0; from < classes; ++from) {
            const double leaving = a[from] * hypothesis.hidden[j - 1].chance[from];
            for (std::size_t to = 0; to < classes; ++to) {
                moved[to] += leaving * language_->next(from, to);
            }
        }
        a.swap(moved);
    }
    return a;
}

// b_j of the header: from the first whole new word of the window, if there is one, back to f_j.
std::vector<double> ColdReader::from_after(const Hypothesis& hypothesis, std::size_t place) const {
    const std::size_t classes = language_->classes();
    std::vector<double> b(classes, 1.0);
    if (!seen_.empty()) {
        for (std::size_t c = 0; c < classes; ++c) {
            b[c] = language_->next(c, language_->words()[seen_.front()].word_class);
        }
    }
    for (std::size_t j = 1; j < place; ++j) {
        std::vector<double> moved(classes);
        for (std::size_t c = 0; c < classes; ++c) {
            for (std::size_t to = 0; to < classes; ++to) {
                moved[c] += language_->next(c, to) * hypothesis.hidden[j - 1].chance[to] * b[to];
            }
        }
        b.swap(moved);
    }
    return b;
}

}  // namespace flyball::train
