#include "train/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <tuple>

#include "train/cold_reader.hpp"
#include "train/plain_language.hpp"

namespace flyball::train {
namespace {

std::vector<Reader::Option> some_text(const Language& language, std::uint64_t seed, std::size_t count) {
    Generator generator(language, seed);
    std::vector<Reader::Option> text(count);
    std::generate(text.begin(), text.end(), [&] { return generator.next(); });
    return text;
}

char character(Token token) {
    return Language::alphabet()[static_cast<std::size_t>(token)];
}

// Walks through all states that differ in what may come next, those inside of copies once for each word; compares with
// the definition and returns how many there are outside of copies.
std::size_t states_that_agree(const Grammar& grammar) {
    const Language language(grammar);
    const test::PlainLanguage plain(grammar);
    struct Pair {
        Reader reader;
        test::PlainState state;
    };
    std::deque<Pair> waiting = {{Reader(language), plain.start()}};
    std::set<std::tuple<std::size_t, bool, std::string>> seen, in_copies;
    while (!waiting.empty()) {
        const Pair pair = waiting.front();
        waiting.pop_front();
        const std::map<char, double> expected = plain.options(pair.state);
        double sum = 0;
        EXPECT_EQ(pair.reader.options().size(), expected.size());
        for (const Reader::Option& option : pair.reader.options()) {
            const auto found = expected.find(character(option.token));
            EXPECT_TRUE(found != expected.end() && std::abs(found->second - option.probability) < 1e-13)
                << "after " << pair.state.unit << " comes " << character(option.token);
            EXPECT_EQ(pair.reader.probability(option.token), option.probability);
            sum += option.probability;
            Pair next = pair;
            next.reader.read(option.token);
            next.state = plain.after(next.state, character(option.token));
            const auto key = std::tuple(next.reader.last_class(), next.state.after_copy, next.state.unit);
            if ((next.reader.copying() ? in_copies : seen).insert(key).second) {
                waiting.push_back(std::move(next));
            }
        }
        EXPECT_NEAR(sum, 1, 1e-13) << "after " << pair.state.unit;
    }
    return seen.size();
}

TEST(Language, GivesEveryStateTheDistributionOfItsDefinition) {
    EXPECT_GT(states_that_agree(test::small_grammar()), 20U);
    EXPECT_GT(states_that_agree(test::periodic_grammar()), 10U);
    EXPECT_GT(states_that_agree(synthetic_grammar(256)), 4000U);
}

TEST(Language, HasTheEntropyRateOfTheChainOfAllItsStates) {
    for (Grammar grammar : {test::small_grammar(), test::periodic_grammar()}) {
        for (const std::size_t distances : {std::size_t{0}, std::size_t{1}, grammar.distances}) {
            grammar.distances = distances;
            const test::PlainLanguage plain(grammar);
            double rate = 0;
            for (const auto& [state, share] : plain.stationary()) {
                for (const auto& [c, p] : plain.options(state)) {
                    rate -= share * p * std::log(p);
                }
            }
            EXPECT_NEAR(Language(grammar).entropy_rate(), rate, 1e-10);
        }
    }
}

// Computed with numpy from the words and the table: eigenvector of P for the eigenvalue 1, then H / L.
TEST(Language, HasTheEntropyRateThatNumpyFinds) {
    EXPECT_NEAR(Language(synthetic_grammar(64)).entropy_rate(), 0.777692399769311, 1e-12);
    EXPECT_NEAR(Language(synthetic_grammar(256)).entropy_rate(), 0.8324966501582269, 1e-12);
    EXPECT_NEAR(Language(synthetic_grammar(1024)).entropy_rate(), 0.8711517703592143, 1e-12);
}

TEST(Language, RefusesWordsThatCannotBeReadBack) {
    const auto refuses = [](const auto& change) {
        Grammar grammar = test::small_grammar();
        change(grammar);
        EXPECT_ANY_THROW(Language{grammar});
    };
    refuses([](Grammar& g) { g.classes[1].words[0] = "ba"; });  // stands in another class
    refuses([](Grammar& g) { g.classes[1].words[0] = "b a"; });
    refuses([](Grammar& g) { g.classes[1].words[0] = "Ba"; });
    refuses([](Grammar& g) { g.classes[1].words[0] = ""; });
    refuses([](Grammar& g) { g.classes[1].words.clear(); });
    refuses([](Grammar& g) { g.classes[1].separator = 'a'; });
    refuses([](Grammar& g) { g.next[0][0] += 0.1; });
    refuses([](Grammar& g) { g.next.pop_back(); });
    refuses([](Grammar& g) { g.distances = 27; });
    refuses([](Grammar& g) { g.copy = 1; });
}

TEST(Language, HasPrintableCharactersInTheOrderOfTheirCodes) {
    const std::string_view alphabet = Language::alphabet();
    EXPECT_EQ(alphabet.size(), 57U);
    EXPECT_TRUE(std::is_sorted(alphabet.begin(), alphabet.end()));
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        EXPECT_EQ(Language::token(alphabet[i]), static_cast<Token>(i));
        EXPECT_EQ(Language::is_separator(static_cast<Token>(i)), alphabet[i] == ' ' || alphabet[i] == '\n');
    }
    EXPECT_EQ(Language::distance(Language::token('A')), 1U);
    EXPECT_EQ(Language::distance(Language::token('Z')), 26U);
    EXPECT_EQ(Language::distance(Language::token('?')), 0U);
    EXPECT_EQ(Language::distance(Language::token('a')), 0U);
    EXPECT_EQ(Language::capital(3), Language::token('C'));
}

// What is read from a text alone.
struct Readout {
    std::size_t new_words = 0, copies = 0, wrong = 0, furthest = 0;
    std::map<std::string, std::size_t> words;
    std::map<std::size_t, std::size_t> distances;
};

Readout read_out(const std::string& text) {
    struct Unit {
        std::string word;
        std::size_t start;
    };
    Readout readout;
    std::vector<Unit> news;
    std::size_t start = text.find_first_of(" \n") + 1;  // the text may begin in a word
    if (test::PlainLanguage::is_capital(text[start])) {
        start = text.find_first_of(" \n", start) + 1;
    }
    for (std::size_t end = 0; (end = text.find_first_of(" \n", start)) != std::string::npos; start = end + 1) {
        std::string unit = text.substr(start, end + 1 - start);
        if (!test::PlainLanguage::is_capital(unit[0])) {
            ++readout.new_words;
            ++readout.words[unit];
            news.push_back({std::move(unit), start});
            continue;
        }
        const auto distance = static_cast<std::size_t>(unit[0] - 'A' + 1);
        ++readout.copies;
        ++readout.distances[distance];
        if (distance <= news.size()) {
            const Unit& source = news[news.size() - distance];
            readout.wrong += unit.substr(1) == source.word ? 0 : 1;
            readout.furthest = std::max(readout.furthest, start + 1 - source.start);
        }
    }
    return readout;
}

std::string text_of(const std::vector<Reader::Option>& options) {
    std::vector<Token> tokens;
    for (const Reader::Option& option : options) {
        tokens.push_back(option.token);
    }
    return synthetic_text(tokens);
}

TEST(Synthetic, CopiesRepeatTheWordTheyNameAndComeAsOftenAsTheyShould) {
    const Language language(synthetic_grammar(256));
    const Readout readout = read_out(text_of(some_text(language, 1, 400000)));
    EXPECT_EQ(readout.wrong, 0U);
    const auto n = static_cast<double>(readout.new_words);
    EXPECT_NEAR(static_cast<double>(readout.copies) / n, 0.2, 4 * std::sqrt(0.2 * 0.8 / n));
    ASSERT_EQ(readout.distances.size(), 9U);
    const auto copies = static_cast<double>(readout.copies);
    for (const auto& [distance, count] : readout.distances) {
        EXPECT_NEAR(static_cast<double>(count) / copies, 1.0 / 9, 4 * std::sqrt(1.0 / 9 * 8 / 9 / copies)) << distance;
    }
}

TEST(Synthetic, WordsAreZipfian) {
    const Language language(synthetic_grammar(256));
    const Readout readout = read_out(text_of(some_text(language, 2, 1000000)));
    // Words of one class are as often as 1/rank says, within four standard deviations.
    const auto expect_ratio = [&](const char* one, const char* other, double expected) {
        const auto n = static_cast<double>(readout.words.at(one));
        const auto m = static_cast<double>(readout.words.at(other));
        EXPECT_NEAR(n / m, expected, 4 * expected * std::sqrt(1 / n + 1 / m)) << one << other;
    };
    expect_ratio("man ", "king ", 2);
    expect_ratio("man ", "water ", 10);
    expect_ratio("the ", "a ", 2);
    expect_ratio("is ", "finds ", 6);
    // The stationary share of determiners, 0.19669361 by numpy, over 1 + 1/2 + .. + 1/10.
    const auto n = static_cast<double>(readout.new_words);
    EXPECT_NEAR(static_cast<double>(readout.words.at("the ")) / n, 0.0671546, 4 * std::sqrt(0.0672 / n));
}

TEST(Synthetic, CopiesReachBackAtMostHalfTheContext) {
    for (const std::size_t context : {1U, 8U, 14U, 16U, 17U, 44U, 64U, 100U, 128U, 256U, 512U, 1024U}) {
        const Language language(synthetic_grammar(context));
        EXPECT_LE(language.reach(language.distances()), context / 2);
        EXPECT_TRUE(language.distances() == 26 || language.reach(language.distances() + 1) > context / 2) << context;
        const Readout readout = read_out(text_of(some_text(language, 3, 50000)));
        EXPECT_LE(readout.furthest, context / 2);
        EXPECT_EQ(readout.copies > 0, language.distances() > 0);
    }
    // Words of one length, nearly always copied: the bound is what happens.
    Grammar grammar;
    grammar.classes = {{"one", ' ', {"abc"}}};
    grammar.next = {{1.0}};
    grammar.copy = 0.95;
    grammar.distances = 4;
    const Language language(grammar);
    EXPECT_EQ(read_out(text_of(some_text(language, 1, 20000))).furthest, language.reach(4));
}

TEST(Synthetic, MeanSurpriseIsTheEntropyRateWithinItsError) {
    const Language language(synthetic_grammar(256));
    std::vector<double> surprise;
    for (const Reader::Option& option : some_text(language, 7, 1000000)) {
        surprise.push_back(-std::log(option.probability));
    }
    const MeanAndError found = mean_and_error(surprise);
    EXPECT_NEAR(found.mean, language.entropy_rate(), 4 * found.error);
    // Less than that of independent tokens: the letters after a surprising one surprise nobody.
    EXPECT_LT(found.error, 0.001);
    EXPECT_GT(found.error, 0.0002);
}

TEST(Synthetic, StandardErrorIsThatOfTheMeansOfSixtyFourParts) {
    // 64 parts of two values: means 0.5 + part; their deviation is that of 0 .. 63.
    std::vector<double> values;
    for (int part = 0; part < 64; ++part) {
        values.push_back(part);
        values.push_back(part + 1);
    }
    const MeanAndError found = mean_and_error(values);
    EXPECT_DOUBLE_EQ(found.mean, 32);
    EXPECT_NEAR(found.error, std::sqrt((64.0 * 64 - 1) / 12 * 64 / 63 / 64), 1e-12);
}

TEST(Synthetic, TextIsAFunctionOfTheSeed) {
    const Language language(synthetic_grammar(256));
    EXPECT_EQ(text_of(some_text(language, 4, 500)), text_of(some_text(language, 4, 1000)).substr(0, 500));
    EXPECT_NE(text_of(some_text(language, 4, 500)), text_of(some_text(language, 5, 500)));
}

// As many texts begin with a separator as there are separators in a text: 1.2 for each new word and its copy, which
// have 4.4074 + 0.2 * 5.4074 characters (numpy).
TEST(Synthetic, TextBeginsAnywhere) {
    const Language language(synthetic_grammar(256));
    double separators = 0;
    constexpr std::uint64_t texts = 400;
    for (std::uint64_t seed = 0; seed < texts; ++seed) {
        separators += Language::is_separator(Generator(language, seed).next().token) ? 1 : 0;
    }
    const double share = 1.2 / 5.4889;
    EXPECT_NEAR(separators / texts, share, 4 * std::sqrt(share * (1 - share) / texts));
}

CorpusSettings small_settings() {
    CorpusSettings settings;
    settings.data = "synthetic";
    settings.context = 64;
    settings.tokens = 200000;
    return settings;
}

TEST(SyntheticCorpus, HasFloorsThatFitTogether) {
    const Corpus corpus = load_corpus(small_settings());
    EXPECT_EQ(corpus.train.size(), 180000U);
    EXPECT_EQ(corpus.validation.size(), 20000U);
    EXPECT_EQ(corpus.vocab, 57U);
    ASSERT_TRUE(corpus.floor.has_value());
    const EntropyFloor& floor = *corpus.floor;
    EXPECT_NEAR(floor.rate, 0.777692399769311, 1e-12);
    EXPECT_NEAR(floor.mean, floor.rate, 4 * floor.error);
    EXPECT_GT(floor.cold, floor.mean);
    EXPECT_LT(floor.cold, floor.mean + 0.2);
    ASSERT_EQ(floor.windows.size(), 19999U / 64);
    EXPECT_GT(floor.cold_error, 0);
    const Language language(synthetic_grammar(64));
    ColdReader reader(language, corpus.validation[640]);  // the window after ten: 64 tokens after the one that is given
    double sum = 0;
    for (std::size_t t = 641; t <= 704; ++t) {
        sum -= std::log(reader.read(corpus.validation[t]));
    }
    EXPECT_NEAR(floor.windows[10], sum / 64, 1e-12);
    const std::vector<std::size_t> some = {0, 640};
    EXPECT_DOUBLE_EQ(floor.cold_of(some), (floor.windows[0] + floor.windows[10]) / 2);
}

// 128 windows, the means of 64 pairs; a surprise that is always the same has no error of its own.
TEST(SyntheticCorpus, ErrorOfTheColdFloorIsThatOfItsWindows) {
    const Language language(synthetic_grammar(16));
    std::vector<Token> tokens;
    for (const Reader::Option& option : some_text(language, 6, 128 * 16 + 1)) {
        tokens.push_back(option.token);
    }
    const EntropyFloor floor = entropy_floor(language, tokens, std::vector<double>(tokens.size(), 0.5), 16);
    EXPECT_EQ(floor.mean, 0.5);
    EXPECT_EQ(floor.error, 0);
    ASSERT_EQ(floor.windows.size(), 128U);
    double mean = 0;
    for (const double window : floor.windows) {
        mean += window / 128;
    }
    double squares = 0;
    for (std::size_t pair = 0; pair < 64; ++pair) {
        const double off = (floor.windows[2 * pair] + floor.windows[2 * pair + 1]) / 2 - mean;
        squares += off * off;
    }
    EXPECT_NEAR(floor.cold, mean, 1e-12);
    EXPECT_NEAR(floor.cold_error, std::sqrt(squares / 63 / 64), 1e-12);
    EXPECT_GT(floor.cold_error, 1e-3);
}

// A reader that is told the right beginning is not worse: the cold floor is above what the generator itself had for the
// very same tokens, on the mean of many windows.
TEST(SyntheticCorpus, MeanIsOfTheValidationTokensGivenAllBeforeThem) {
    const Corpus corpus = load_corpus(small_settings());
    const Language language(synthetic_grammar(64));
    const std::vector<Reader::Option> text = some_text(language, 1, 200000);
    double sum = 0;
    for (std::size_t i = 0; i < corpus.train.size(); ++i) {
        ASSERT_EQ(corpus.train[i], text[i].token);
    }
    for (std::size_t i = 0; i < corpus.validation.size(); ++i) {
        ASSERT_EQ(corpus.validation[i], text[corpus.train.size() + i].token);
        sum -= std::log(text[corpus.train.size() + i].probability);
    }
    EXPECT_NEAR(corpus.floor->mean, sum / 20000, 1e-12);
}

TEST(SyntheticCorpus, WithALongerContextAColdStartCostsLess) {
    CorpusSettings settings = small_settings();
    settings.context = 256;
    const EntropyFloor floor = *load_corpus(settings).floor;
    settings.context = 16;
    const EntropyFloor shorter = *load_corpus(settings).floor;
    EXPECT_LT(floor.cold - floor.mean, (shorter.cold - shorter.mean) / 2);
}

TEST(SyntheticCorpus, DefaultsToTwoMillionTokens) {
    CorpusSettings settings;
    settings.data = "synthetic";
    const Corpus corpus = load_corpus(settings);
    EXPECT_EQ(corpus.train.size(), std::size_t{1} << 21U);
    EXPECT_EQ(corpus.validation.size(), std::size_t{1} << 17U);
    EXPECT_NEAR(corpus.floor->mean, corpus.floor->rate, 4 * corpus.floor->error);
}

}  // namespace
}  // namespace flyball::train
