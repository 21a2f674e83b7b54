#include "train/cold_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/plain_language.hpp"
#include "train/synthetic.hpp"

namespace flyball::train {
namespace {

// Filters over every state of the language, each weighted with its share of an endless text.
class Filter {
  public:
    Filter(const test::PlainLanguage& language, std::map<test::PlainState, double> states)
        : language_(language), states_(std::move(states)) {}

    std::map<char, double> options() const {
        double all = 0;
        std::map<char, double> result;
        for (const auto& [state, weight] : states_) {
            all += weight;
            for (const auto& [c, p] : language_.options(state)) {
                result[c] += weight * p;
            }
        }
        for (auto& [c, p] : result) {
            p /= all;
        }
        return result;
    }

    void read(char c) {
        std::map<test::PlainState, double> moved;
        for (const auto& [state, weight] : states_) {
            const auto options = language_.options(state);
            if (const auto at = options.find(c); at != options.end()) {
                moved[language_.after(state, c)] += weight * at->second;
            }
        }
        states_.swap(moved);
    }

  private:
    const test::PlainLanguage& language_;
    std::map<test::PlainState, double> states_;
};

// One window of text: each token's distribution against the sum over all states.
void compare_window(const Language& language, const test::PlainLanguage& plain,
                    const std::map<test::PlainState, double>& stationary, const std::string& text) {
    Filter filter(plain, stationary);
    filter.read(text[0]);
    ColdReader reader(language, Language::token(text[0]));
    double worst = 0;
    for (const char c : text.substr(1)) {
        std::map<char, double> expected = filter.options();
        for (const char other : Language::alphabet()) {
            const double p = reader.probability(Language::token(other));
            worst = std::max(worst, std::abs(p - expected[other]));
        }
        ASSERT_NEAR(reader.read(Language::token(c)), expected[c], 1e-9);
        filter.read(c);
    }
    EXPECT_LT(worst, 1e-9);
}

// Windows of generated text, at every place.
void compare(const Grammar& grammar, std::size_t windows, std::size_t length) {
    const Language language(grammar);
    const test::PlainLanguage plain(grammar);
    const std::map<test::PlainState, double> stationary = plain.stationary();
    Generator generator(language, 5);
    std::string text;
    for (std::size_t i = 0; i < windows + length; ++i) {
        text += Language::alphabet()[static_cast<std::size_t>(generator.next().token)];
    }
    for (std::size_t start = 0; start < windows; ++start) {
        compare_window(language, plain, stationary, text.substr(start, length));
    }
}

TEST(ColdReader, GivesTheProbabilitiesOfASumOverAllHistories) {
    compare(test::small_grammar(), 150, 30);
}

TEST(ColdReader, GivesThemWhenWordsTellMuchAboutThoseBefore) {
    compare(test::periodic_grammar(), 150, 30);
}

TEST(ColdReader, GivesThemWithoutCopies) {
    Grammar grammar = test::small_grammar();
    grammar.distances = 0;
    compare(grammar, 60, 20);
    grammar.distances = 2;
    grammar.copy = 0;
    compare(grammar, 60, 20);
}

// A first copy tells what one of the words before the window was, and so something of those beside it. One new word
// later a second copy spells such a neighbour: of x, y and z, the class of b is y, and before it stands x or y.
TEST(ColdReader, LearnsOfAHiddenWordFromOneThatWasCopied) {
    const Grammar grammar = test::periodic_grammar();
    const Language language(grammar);
    const test::PlainLanguage plain(grammar);
    const std::map<test::PlainState, double> stationary = plain.stationary();
    for (const char* const text : {" Ab c Ca ", " Ab b Cb ", " Bb c Bb ", " Ca b Bb ", " Ac a Cb "}) {
        compare_window(language, plain, stationary, text);
    }
}

TEST(ColdReader, KnowsWhatTheGeneratorKnowsOnceTheWindowHasEnoughWords) {
    const Language language(synthetic_grammar(256));
    Generator generator(language, 3);
    std::vector<Reader::Option> text;
    for (std::size_t i = 0; i < 4000; ++i) {
        text.push_back(generator.next());
    }
    for (std::size_t start = 0; start + 256 < text.size(); start += 97) {
        ColdReader reader(language, text[start].token);
        std::size_t new_words = 0;
        bool copy = true;  // the first word may be one
        for (std::size_t t = start + 1; t < start + 256; ++t) {
            const bool all_known = new_words >= language.distances();
            const double p = reader.read(text[t].token);
            if (all_known) {
                ASSERT_NEAR(p, text[t].probability, 1e-12);
            }
            if (Language::is_separator(text[t].token)) {
                new_words += copy ? 0 : 1;
                copy = false;
            } else if (Language::distance(text[t].token) > 0) {
                copy = true;
            }
        }
        EXPECT_GE(new_words, language.distances());
    }
}

}  // namespace
}  // namespace flyball::train
