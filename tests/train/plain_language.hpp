// The synthetic language once more, from the sentences that define it: no tree, no classes of states, everything summed
// by hand. For small languages its states can all be listed, which gives exact answers to compare with.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "train/language.hpp"

namespace flyball::train::test {

// All that matters for what may come.
struct PlainState {
    std::vector<int> history;  // the last new words, the last first: D of them, at least one
    bool after_copy = false;
    std::string unit;  // what has been written since the last separator

    bool operator<(const PlainState& other) const {
        return std::tie(history, after_copy, unit) < std::tie(other.history, other.after_copy, other.unit);
    }
};

class PlainLanguage {
  public:
    explicit PlainLanguage(const Grammar& grammar) : grammar_(grammar) {
        for (std::size_t k = 0; k < grammar.classes.size(); ++k) {
            const auto& one = grammar.classes[k];
            double sum = 0;
            for (std::size_t r = 1; r <= one.words.size(); ++r) {
                sum += 1.0 / static_cast<double>(r);
            }
            for (std::size_t r = 1; r <= one.words.size(); ++r) {
                words_.push_back(one.words[r - 1] + one.separator);
                class_.push_back(k);
                share_.push_back(1.0 / static_cast<double>(r) / sum);
            }
        }
    }

    PlainState start() const { return {std::vector<int>(std::max<std::size_t>(1, grammar_.distances), 0), false, ""}; }

    // Characters that may come and their probabilities.
    std::map<char, double> options(const PlainState& state) const {
        std::map<char, double> result;
        if (!state.unit.empty() && is_capital(state.unit[0])) {
            const std::string& source = words_[source_of(state)];
            result[source[state.unit.size() - 1]] = 1;
            return result;
        }
        const bool may_copy = state.unit.empty() && !state.after_copy && grammar_.distances > 0;
        const double copy = may_copy ? grammar_.copy : 0;
        for (std::size_t d = 1; may_copy && copy > 0 && d <= grammar_.distances; ++d) {
            result[static_cast<char>('A' + d - 1)] = copy / static_cast<double>(grammar_.distances);
        }
        double all = 0;
        std::map<char, double> letters;
        const std::vector<double>& row = grammar_.next[class_[static_cast<std::size_t>(state.history[0])]];
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const double p = row[class_[w]] * share_[w];
            if (p > 0 && words_[w].compare(0, state.unit.size(), state.unit) == 0) {
                letters[words_[w][state.unit.size()]] += p;
                all += p;
            }
        }
        for (const auto& [letter, p] : letters) {
            result[letter] = (1 - copy) * p / all;
        }
        return result;
    }

    PlainState after(PlainState state, char c) const {
        state.unit += c;
        if (c != ' ' && c != '\n') {
            return state;
        }
        state.after_copy = is_capital(state.unit[0]);
        if (!state.after_copy) {
            std::size_t w = 0;
            while (words_[w] != state.unit) {
                ++w;
            }
            state.history.insert(state.history.begin(), static_cast<int>(w));
            state.history.pop_back();
        }
        state.unit.clear();
        return state;
    }

    // Every state that can be reached, with its share of the places of an endless text.
    std::map<PlainState, double> stationary() const {
        struct Arrow {
            std::size_t to;
            double p;
        };
        std::map<PlainState, std::size_t> index;
        std::vector<PlainState> states;
        std::vector<std::vector<Arrow>> arrows;
        const auto number = [&](const PlainState& state) {
            const auto [at, fresh] = index.emplace(state, states.size());
            if (fresh) {
                states.push_back(state);
            }
            return at->second;
        };
        number(start());
        for (std::size_t i = 0; i < states.size(); ++i) {
            const PlainState state = states[i];
            arrows.emplace_back();
            for (const auto& [c, p] : options(state)) {
                const std::size_t to = number(after(state, c));
                arrows[i].push_back({to, p});
            }
        }
        std::vector<double> share(states.size(), 1.0 / static_cast<double>(states.size()));
        for (int round = 0; round < 6000; ++round) {  // half a step at a time: no period
            std::vector<double> moved(states.size());
            for (std::size_t i = 0; i < states.size(); ++i) {
                moved[i] += share[i] / 2;
                for (const Arrow& arrow : arrows[i]) {
                    moved[arrow.to] += share[i] * arrow.p / 2;
                }
            }
            share.swap(moved);
        }
        std::map<PlainState, double> result;
        for (std::size_t i = 0; i < states.size(); ++i) {
            result[states[i]] = share[i];
        }
        return result;
    }

    static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

  private:
    std::size_t source_of(const PlainState& state) const {
        return static_cast<std::size_t>(state.history[static_cast<std::size_t>(state.unit[0] - 'A')]);
    }

    const Grammar grammar_;
    std::vector<std::string> words_;
    std::vector<std::size_t> class_;
    std::vector<double> share_;
};

// Two classes that are hard to tell apart by their endings, a third of one word; copies from two words back.
inline Grammar small_grammar() {
    Grammar grammar;
    grammar.classes = {{"x", ' ', {"a", "ba", "cab"}}, {"y", ' ', {"b", "aba"}}, {"end", '\n', {"."}}};
    grammar.next = {{0.1, 0.7, 0.2}, {0.6, 0.0, 0.4}, {0.5, 0.5, 0.0}};
    grammar.copy = 0.3;
    grammar.distances = 2;
    return grammar;
}

// Classes in turn, so that a word tells much about those before it; copies from three words back.
inline Grammar periodic_grammar() {
    Grammar grammar;
    grammar.classes = {{"x", ' ', {"a", "ab"}}, {"y", ' ', {"b"}}, {"z", ' ', {"c", "cb"}}};
    grammar.next = {{0, 1, 0}, {0, 0.2, 0.8}, {1, 0, 0}};
    grammar.copy = 0.6;
    grammar.distances = 3;
    return grammar;
}

}  // namespace flyball::train::test
