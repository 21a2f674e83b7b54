// The best predictor of a text of the language that sees nothing before a window: exactly what a model can hope for.
//
// p(x_t | x_0 .. x_t-1) for a window that begins at a place of the endless text chosen with equal chances. x_0 is
// given, as it is to a model. What is not known is how the window begins and which words went before it; both are
// summed over, exactly.
//
// Until the first separator the window is in the middle of a word. Every place of the text is as likely as another, and
// every word has the distribution mu(w) = pi_c(w) p(w), whether new or copied: so the letters so far leave the pairs
// (word, place in it) that agree with them, each of weight mu(w). (A capital as x_0 shows where the window begins.)
//
// With the first separator D + 1 hypotheses are left: the word was new (weight 1), or a copy from distance d (weight
// q/D each). From then on everything in the window is read in one way. Let f_1, f_2, ... f_D be the new words before
// the first whole new word of the window, the last first. They are a Markov chain, and a hypothesis knows of each which
// words it may be: those that end like the window began, for f_1 or f_d, and the one that was spelled, once a copy in
// the window has reached back to it. The class k of the first whole new word gives the factor P[c(f_1)][k]. Then
//
//     a_D(c) = pi_c              a_j(c) = sum_b a_{j+1}(b) E_{j+1}(b) P[b][c]        from the words before f_j
//     b_1(c) = P[c][k], or 1     b_j(c) = sum_b P[c][b] E_{j-1}(b) b_{j-1}(b)        from the words after it
//                                E_j(c) = sum of p(w) of the words w of class c that f_j may be
//
//     probability of f_j = w, if it may be,  ~  a_j(c(w)) b_j(c(w)) p(w)
//
// give what a copy from before the window spells, and the class that the first new word follows. When the window has D
// new words of its own, nothing is unknown any more. tests/train/cold_reader_test.cpp compares with a sum over all
// histories of small languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/language.hpp"

namespace flyball::train {

class ColdReader {
  public:
    // Begins a window. The language must outlive this object; `first` must occur in it.
    ColdReader(const Language& language, Token first);

    // Of being the next token, given those read.
    double probability(Token token) const;
    // Reads it; returns the probability it had. One of probability 0 ends all use of this object.
    double read(Token token);

  private:
    struct Place {
        std::size_t word = 0, at = 0;  // the last character read
    };
    // One of f_1 .. f_D.
    struct Hidden {
        std::vector<bool> may_be;    // which words; empty: any
        std::vector<double> chance;  // E: of each class
    };
    struct Hypothesis {
        double weight = 1;
        bool after_copy = false;
        std::vector<Hidden> hidden;  // f_1 first
        std::vector<double> before;  // probability of each class before the word that is being read
        std::vector<double> mass;    // of each node: that the source which is being copied begins like this
    };
    enum class Reading { first_word, boundary, new_word, known_copy, hidden_copy };

    void begin_hypotheses();
    void end_unit(bool copy);
    void read_unit(Token token);
    double probability(const Hypothesis& hypothesis, Token token) const;
    double of_first_word(Token token) const;
    void find_class_before(Hypothesis& hypothesis) const;
    void find_source(Hypothesis& hypothesis, std::size_t place) const;
    std::vector<Hidden> unknown_words() const;
    void narrow(Hidden& hidden, std::vector<bool> may_be) const;
    std::vector<double> from_before(const Hypothesis& hypothesis, std::size_t place) const;
    std::vector<double> from_after(const Hypothesis& hypothesis, std::size_t place) const;

    const Language* language_;
    Reading reading_ = Reading::first_word;
    std::vector<Place> places_;             // in the first word
    std::vector<Hypothesis> hypotheses_;    // after it
    std::vector<std::size_t> seen_;         // whole new words of the window
    std::uint32_t node_ = Language::root;   // of the word that is being read, new or hidden
    std::size_t source_ = 0, spelled_ = 0;  // of a known copy
    std::size_t copied_ = 0;                // j of f_j in a hidden copy
};

}  // namespace flyball::train
