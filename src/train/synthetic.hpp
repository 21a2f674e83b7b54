// Text of a made-up language to train on, with the least loss that any model can have on it.
//
// On real text nobody knows how good a loss is. Here the text is drawn from probabilities that are known, so the
// distance of a model's loss to the optimum is a number. It reads like this:
//
//     the young sister keeps his Asister old lamp .
//     they never saw the king Cnever behind a wall !
//
// Nouns follow adjectives, verbs follow nouns (a Markov grammar over nine classes of words); in each class the r-th
// word has a share proportional to 1/r (Zipf); and after one new word in five comes a copy: a capital letter that names
// a distance, A for 1, and then the new word that stands so many new words back, again. language.hpp has the
// probabilities and the closed form of the entropy rate.
//
// A model can reach the optimum in principle, because all that the generator knows can be read from the text: words end
// with a separator, their class follows from the word, a copy names its distance and no copy looks back further than
// half the context. With a longer context there are more distances, up to 26, so the language (its entropy rate too)
// depends on the context.
//
// Three floors are given, in nats a token (EntropyFloor):
//
//     rate   closed form of the entropy rate
//     mean   -log p of the validation tokens, each given everything before it: tends to the rate with more tokens
//     cold   the same for the best predictor of windows: for the windows 0, 1, 2, ... of the validation part, each of
//            context + 1 tokens, the mean over windows and over their last `context` tokens of
//            -log p(token | tokens before it in the window). p is exact (cold_reader.hpp). No model whose windows start
//            cold can be better on average; `cold` is above `mean` because the first words of a window have to be
//            guessed without those before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "train/corpus.hpp"
#include "train/language.hpp"

namespace flyball::train {

// The grammar and its words; `distances` as the context allows.
Grammar synthetic_grammar(std::size_t context);

// The text number `seed` of the language, token by token, each drawn with exactly the probability that it comes with.
// The text has begun long before the first token, so that every place of it is like every other.
class Generator {
  public:
    // The language must outlive this object.
    Generator(const Language& language, std::uint64_t seed);
    Reader::Option next();

  private:
    Reader reader_;
    Random random_;
    std::uint64_t drawn_ = 0;
};

// Mean and standard error of numbers in the order of a text, whose neighbours depend on each other: from the means of
// 64 parts.
struct MeanAndError {
    double mean = 0, error = 0;
};
MeanAndError mean_and_error(std::span<const double> values);

// `tokens` is text of the language, at least one window, and `surprise` the -log p of each.
EntropyFloor entropy_floor(const Language& language, std::span<const Token> tokens, std::span<const double> surprise,
                           std::size_t context);

// Tokens as text.
std::string synthetic_text(std::span<const Token> tokens);

}  // namespace flyball::train
