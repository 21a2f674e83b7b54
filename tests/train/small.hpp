// Small runs for tests: a text whose next character follows from the last two, and models of a few hundred numbers.
#pragma once

#include <cmath>
#include <string>

#include "scheme/catalogue.hpp"
#include "train/trainer.hpp"

namespace flyball::train::test {

// Ids 0, 1, 2, .. in a pattern of period 5 over 4 letters; the last fifth is for validation.
inline Corpus small_corpus(std::size_t tokens = 400) {
    Corpus corpus;
    corpus.description = "a pattern";
    corpus.vocab = 4;
    constexpr Token pattern[] = {0, 1, 2, 1, 3};
    for (std::size_t i = 0; i < tokens; ++i) {
        (i < tokens * 4 / 5 ? corpus.train : corpus.validation).push_back(pattern[i % 5]);
    }
    corpus.checksum = "0123456789abcdef";
    return corpus;
}

inline Settings small_settings() {
    Settings s;
    s.layers = 2;
    s.dim = 8;
    s.heads = 2;
    s.context = 8;
    s.batch = 4;
    s.steps = 40;
    s.record = 4;
    return s;
}

}  // namespace flyball::train::test
