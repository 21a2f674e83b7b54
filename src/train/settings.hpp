// What a training run is: everything that decides its result. Two runs with equal settings, data and scheme end with
// the same bits, at any number of threads.
//
// `setting_fields()` is the one list of what a user can set: flags, configuration files, the identity of restart files
// and captions walk it. A new setting is a member, a row of the list and, where it can be wrong, a line in `check`.
//
// What a scheme's source prescribes (scheme/recipe.hpp: initialisation, warm-up, decay, clipping) holds wherever the
// setting was not given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/setting_field.hpp"
#include "model/save.hpp"

namespace flyball::train {

enum class Positions { learned, rope };
enum class Ffn { gelu, swiglu };
enum class QkNorm { none, head, projection };
using model::Storage;

struct Settings {
    std::string data = "synthetic";  // a text file, a .bin file of 16-bit token ids, or "synthetic"
    std::string encoding = "bytes";  // of a text file: bytes or chars
    std::string tokenizer;           // a MODEL whose tokenizer reads the text instead
    double validation = 0.1;         // the last share of a text, which is not trained on
    std::size_t tokens = 0;          // of synthetic text, both parts together; 0: 2^21 and 2^17

    std::size_t layers = 6;
    std::size_t dim = 64;
    std::size_t heads = 4;
    std::size_t ffn = 0;  // width of the feed-forward network; 0: 4*dim, or 8/3*dim for swiglu
    std::size_t context = 64;
    Positions positions = Positions::learned;
    std::string norm = "layernorm";  // of scheme/normaliser.hpp
    Ffn ffn_kind = Ffn::gelu;
    QkNorm qk_norm = QkNorm::none;
    std::string attention = "softmax";
    bool untied = false;             // the head has a matrix of its own
    std::optional<double> dt;        // the residual step; 1, or that of the model to start from, unless given
    std::vector<double> several_dt;  // one run for each, where a list was given; dt is then the first
    std::string init;                // KEY=EXPR,..: deviations and gains in place of the scheme's (initial.hpp)
    std::string from;                // a MODEL to start from
    double dropout = 0;

    std::size_t batch = 16;      // sequences in a pass
    std::size_t accumulate = 1;  // passes in a step
    std::size_t steps = 500;
    std::optional<double> rate;          // the largest learning rate; see learning_rate()
    double final_rate = 0.1;             // the last learning rate, as a share of the largest
    std::optional<std::size_t> warm_up;  // steps
    std::optional<double> weight_decay;  // of matrices
    std::optional<double> clip;          // of the gradient's length; 0: none
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;

    std::size_t record = 20;              // steps between two records of every layer
    std::optional<std::size_t> validate;  // steps between two looks at the validation part; steps/10 unless given
    double spike = 0.5;                   // a loss that rises by this share of log(vocabulary) ends the run; 0: never
    double save = 10;                     // seconds between two restart points; 0: one after every step
    std::uint64_t seed = 1;
    Storage storage = Storage::f32;  // of the trained model in its folder

    // Narrow models take larger steps: 1e-3 at 128 channels, as 1/sqrt(dim).
    double largest_rate() const;
    std::size_t validation_interval() const;
    std::size_t ffn_width() const;
    std::size_t tokens_per_step() const { return batch * accumulate * context; }
};

using SettingField = flyball::SettingField<Settings>;
const std::vector<SettingField>& setting_fields();

// Throws Error(usage) with a sentence where a setting makes no sense, alone or beside the others.
void check(const Settings& settings);

// "6 layers x 64, 4 heads, context 64, 16 sequences a step": for captions and summaries.
std::string describe(const Settings& settings);

}  // namespace flyball::train
