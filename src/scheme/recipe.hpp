// How a scheme is started and trained beside its equation: what its source prescribes, as data. Code reads the fields,
// people read the sentences that describe() prints from them; nobody asks for a scheme's name.
//
//     W ~ N(0, s^2),   s = (product of the gains of W) * deviation
//
// where Xavier's deviation is sqrt(2/(in + out)).
//
// A text below is an expression of the equation's language in L, d, depth and t, the number of blocks before this one;
// scalar_value() gives its number. Matrices of published models are stored either way round; `in` and `out` are what
// a matrix maps from and to.
//
// Not here: learning rates, batches and lengths of runs, which belong to an experiment.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheme/environment.hpp"

namespace flyball::scheme {

enum class Matrix { embedding, query, key, value, output, ffn_in, ffn_out, head };
inline constexpr std::array block_matrices = {Matrix::query,  Matrix::key,    Matrix::value,
                                              Matrix::output, Matrix::ffn_in, Matrix::ffn_out};

struct Draw {
    enum class Kind { normal, xavier };
    Kind kind = Kind::normal;
    std::string_view deviation = "0.02";  // of `normal`
};

struct Gain {
    std::vector<Matrix> matrices;
    std::string_view factor;
};

struct Initialisation {
    Draw draw = {};
    bool prescribed = true;                // false: the source names none, and the usual one is taken
    std::optional<Draw> alternative = {};  // drawn as often
    std::optional<Draw> embedding = {};    // of embeddings, where theirs is another
    std::vector<Gain> gains = {};
    std::string_view measured = {};  // a learned parameter whose start a pass over data measures (Admin)
    std::string_view note = {};      // what no field says
};

// Vectors along the embedding axis that have unit length, at the start and again after every step: rows of matrices
// that read the stream, columns of matrices that write to it, rows of tables.
enum class UnitVectors { none, embeddings, all };

// Learned numbers beside the matrices: of the equation, of the norms on q, k and v, inside the FFN, of the logits.
enum class Learned { equation, attention_gain, ffn_gain, logit_gain };

// Their learning rate is multiplied by a factor. A number that is stored as a fraction 1/factor of what is used (nGPT
// stores alpha = 0.05 as 1/sqrt(d)) is the same thing to an optimiser whose steps do not depend on the size of
// gradients.
struct Rate {
    Learned of = Learned::equation;
    std::string_view factor;
};

struct Training {
    enum class WarmUp { usual, needed, none };
    UnitVectors unit_vectors = UnitVectors::none;
    WarmUp warm_up = WarmUp::usual;
    bool weight_decay = true;
    bool clip = true;                         // gradients as a whole
    std::optional<double> learned_clip = {};  // of the gradients of the equation's learned parameters,
    double learned_clip_from = 0;             // in models of this many parameters and more
    std::vector<Rate> rates = {};             // where a learning rate is not everyone's
    bool learned_gains = false;               // gains of the norms must not be frozen
    std::string_view equation = {};           // what is trained, where parameters differ from the entry's
};

// A norm on the queries, keys or values of attention, between their projection and the scores.
struct AttentionNorm {
    enum class Over { head, projection };      // what is one row: the channels of one head, or of all heads together
    enum class Gains { none, head, channel };  // learned: none, one for each channel of a head, or for each channel
    std::string norm = {};                     // of normaliser.hpp; empty: there is no such norm
    bool query = false;
    bool key = false;
    bool value = false;
    Over over = Over::head;
    Gains gains = Gains::head;
    bool after_positions = false;    // q and k are normed after rotary positions, otherwise before
    bool scores_times_root = false;  // scores are multiplied by sqrt(channels of a head), otherwise divided by it

    bool any() const { return !norm.empty() && (query || key || value); }
    bool operator==(const AttentionNorm&) const = default;
};

struct Recipe {
    Initialisation initialisation = {};
    Training training = {};
    AttentionNorm attention_norm = {};
    std::string_view attention_norm_user = {};  // not part of the scheme, but of this user of it
    std::string_view ffn_scale = {};            // what the FFN's inner numbers are multiplied by, beside learned gains
    bool logit_scale = false;                   // logits have a learned scale, one for each token
};

// The value of a text in t, T, L, n, d, depth. Throws Error(usage) with a caret where it is none.
double scalar_value(std::string_view text, const Environment& env);

// "Xavier; value, output and FFN matrices times (8*L)^-0.25"
std::string describe(const Initialisation& initialisation);
// Everything else: "RMSNorm on q, k and v of each head"; empty where there is nothing to say.
std::string describe_attributes(const Recipe& recipe);

}  // namespace flyball::scheme
