// The model that a run begins with: sizes from the settings, wiring and start from the scheme, or the numbers of a
// checkpoint under the scheme's equation.
//
// `init` replaces parts of the scheme's own start: KEY=EXPR, with commas between them, where EXPR is an expression of
// the equation's language in L, d, depth and t, and KEY one of
//
//     embedding query key value output ffn-in ffn-out head    the standard deviation of that matrix
//     residual     output and ffn-out together
//     matrices     all matrices of the blocks
//     gains        what the gains of every norm start at
//     gain.K       those of the K-th norm of a block, from 1, in the order in which the block evaluates them. Peri-LN:
//                  1 is inside attention's branch and 2 outside it, 3 and 4 are the same of the FFN
//
// Where a matrix or a norm is named more than once, the last counts: matrices=0.02,output=0.01.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"
#include "scheme/catalogue.hpp"
#include "train/corpus.hpp"
#include "train/settings.hpp"

namespace flyball::train {

struct Initial {
    model::Model<float> model;
    std::vector<std::string> notes;  // what a reader of the results should know, one sentence each
};

// The norm on queries and keys that the setting `qk-norm` means.
scheme::AttentionNorm attention_norm_of(QkNorm over);

// The architecture that the settings and the scheme mean, for a vocabulary of this size.
model::Architecture architecture_of(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab);

// The same, or that of the model to start from under the scheme's equation. Then it keeps its sizes, its step unless
// the settings have one, and what is its own; what belongs to its old scheme (nGPT's norms on queries and keys, ..)
// goes when a scheme of the catalogue takes its place.
model::Architecture planned_architecture(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab);

// How many numbers such a model has.
std::size_t parameter_count(const model::Architecture& architecture);

// The settings with the sizes and the step of the model to start from, so that files tell what was trained; with dt = 1
// where there is none. Throws Error for settings that ask for another model.
Settings completed(Settings settings);

// Throws Error where the model to start from and the data number their tokens differently, as far as both say how.
void check_tokens(const Settings& settings, const Corpus& corpus);

// The parts of `init`, in order. Throws Error where one is not KEY=EXPR.
struct Override {
    std::string key;
    std::string expression;
};
std::vector<Override> overrides_of(const std::string& init);

// Throws Error where the start that `init` describes cannot be made, before anything is written.
void check_start(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab);

Initial initial_model(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab);

}  // namespace flyball::train
