// What a fresh model does with its depth, before any training: does the stream grow, do gradients survive the way back?
//
//     sigma_l     root mean square of the stream x after block l, over all rows; l = 0 is the embedding
//     g_l         length of the gradient of the loss with respect to it
//     m_l         cos(a_1) cos(a_2) .. cos(a_l), where a_k is the angle by which block k turns x (mean over rows):
//                 what is left of x_0's direction when turns have nothing to do with each other
//
// A pass forward and back through stand-ins of 4 to 96 blocks (and of the user's depth) with fresh weights. Growth is
// that of sigma_1 .. sigma_L in the deepest one, from below: sigma_0 is the scale of the embedding, which is a choice
// of its own. The gradient's ratio is g_1/g_L; along an exponential it multiplies with every block.
#pragma once

#include <limits>
#include <vector>

#include "check/bound.hpp"
#include "check/settings.hpp"
#include "measure/growth.hpp"
#include "scheme/catalogue.hpp"
#include "train/corpus.hpp"

namespace flyball::check {

struct DepthCurve {
    std::size_t depth = 0;
    std::vector<double> stream;    // [depth + 1]
    std::vector<double> gradient;  // [depth + 1]
    std::vector<double> memory;    // [depth + 1]: product of the cosines of all turns so far
    std::vector<double> turn;      // [depth]: a_l, in radians
    bool finite = true;            // every number of these, and the loss
    double loss = 0;

    double stream_factor() const { return stream.back() / stream[1]; }
    double gradient_ratio() const { return gradient[1] / gradient.back(); }
};

// The law of a curve together with how often it multiplies; `falls`: of 1/value.
struct DepthLaw {
    measure::Growth growth;  // from where the curve begins to move
    bool falls = false;
    std::size_t held = 0;    // values that the law is of: those before the first that a float does not hold
    bool vanishes = false;   // .. because it is too small
    bool overflows = false;  // .. because it is too large, or no number
    double factor = 1;       // last over first of what is held, or first over last where it falls
    double rate = 0;         // its logarithm, a block
    bool steady = false;     // every quarter of the depth has its part in it: no step, no power of depth

    // Exponential by its shape, and by more than shapes can be told apart.
    bool is_exponential() const;
    // How much a block adds, or takes away where the curve falls, in per cent of what it is given: 50 for one that halves.
    double percent_a_block() const;
};
// Values below `least` are numbers that a float no longer holds: they, and what follows the first of them, say nothing
// but that the curve vanishes. What is not finite says as little.
DepthLaw law_of(const std::vector<double>& values, double least = 0);

// Of the root mean square or the length of vectors of floats: below it their entries lose digits, and soon all of them.
constexpr double least_held = 100.0 * std::numeric_limits<float>::min();

struct Beginning {
    std::vector<DepthCurve> curves;  // from shallow to deep
    DepthCurve own;                  // of the user's depth
    DepthLaw stream;                 // of the deepest curve
    DepthLaw gradient;               // of the deepest curve, from its last block to its first
    DepthLaw memory;                 // of the deepest curve
    WorstCase bound;                 // over all weights

    bool finite() const;
    // The last stream multiplies with every block that a model has more, as exp(L) does: rate per block, or 0.
    double rate_over_models() const;
};

// One forward and one backward pass of a fresh stand-in of `depth` blocks.
DepthCurve measured_depth(const scheme::Scheme& scheme, const Settings& settings, const train::Corpus& corpus,
                          std::size_t depth);

Beginning beginning(const scheme::Scheme& scheme, const Settings& settings, const train::Corpus& corpus);

// The equation as a model is trained with it: learned parameters are learned where the source has them so.
scheme::Program trained_program(const scheme::Scheme& scheme, const Settings& settings);

// The same as a stand-in runs it: n and d are numbers, those of the user's model, and unit( ) gives the sizes that it
// would give there. Throws Error(usage) where that divides by zero.
scheme::Scheme on_stand_in(const scheme::Scheme& scheme, const Settings& settings);

// Throws Error(usage) where the start that `settings.init` describes cannot be made for one of the blocks.
void check_start(const std::vector<scheme::Scheme>& blocks, const Settings& settings);

// Text to measure on: of the built-in language.
train::Corpus check_corpus(const Settings& settings);

}  // namespace flyball::check
