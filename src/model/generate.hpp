// A sequence that grows: logits after its last token, a few tokens at a time.
//
//     new rows x -> block 1 .. block L (the equation around the two sub-layers) -> readout of the last row -> logits
//     attention of block l:   q of the new rows;   k, v of the new rows and, from the cache, of all rows before
//
// Definition: after take() the logits are those of a Pass (pass.hpp) over all tokens so far, to rounding. Under a
// causal mask the rows of a prefix do not change when tokens follow, so that their keys and values can be kept: one
// pair of arrays for every block and every time its equation calls attention. Streams are not kept; nothing reads them
// again.
//
// Where that is not so there is no exact cache, and every take() runs the whole sequence again:
//
//     the equation reads n        the number of tokens, which is that of the whole sequence in every row
//     unnormalized attention      it divides by n (all other kinds count the tokens a row may see)
//     dynamic rotary positions    once the sequence is longer than what the model was trained for, all frequencies
//                                 depend on the length (transformers keeps keys turned by older frequencies there)
//
// Promises: the same bits at any number of threads. Tokens taken one by one give what they give at once, to rounding.
// Memory: 2 * tokens * kv_heads * head_dim numbers for each block. The model must outlive the generator and keep its
// numbers. Not here: batches of sequences, choosing tokens (sampling.hpp), what happens at the last position
// (sample.hpp), dropping keys that no window reaches any more.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/heads.hpp"
#include "model/model.hpp"
#include "model/rope.hpp"
#include "model/sub_layers.hpp"
#include "scheme/rows.hpp"

namespace flyball::model {

// Throws Error(input) for a model that is not causal or has no head.
void check_can_generate(const Architecture& architecture);

// Whether keys and values of the first `tokens` tokens stay what they are when more follow.
bool has_exact_cache(const Architecture& architecture, const scheme::Program& program, std::size_t tokens);

template <class Real>
class Generator {
  public:
    // check_can_generate holds.
    explicit Generator(const Model<Real>& model);
    ~Generator();
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    // Adds at least one token. Throws Error(input), and changes nothing, for an id that the model does not have or when
    // it has no positions for so many tokens. Work that is stopped in the middle (core/parallel.hpp) leaves it empty.
    void take(std::span<const std::int32_t> ids);

    const std::vector<Real>& logits() const {
        return logits_;
    }  // [vocab], after the last token; empty before the first
    const std::vector<std::int32_t>& ids() const { return ids_; }

    void clear();

  private:
    struct Rows;
    struct Cache {                 // of one call of attention in one block
        std::vector<Real> keys;    // [tokens, kv_heads*head_dim], normed and turned
        std::vector<Real> values;  // the same
    };

    scheme::Environment environment(std::size_t layer) const;
    void run(std::size_t first);
    void run_again();
    void attention(std::size_t layer, Cache& cache, std::size_t first, std::size_t rows, const Real* in, Real* out);
    void grow_ropes(std::size_t tokens);
    void set_logits(const Real* readout);

    const Model<Real>& model_;
    const Architecture& architecture_;
    std::vector<scheme::BlockParameters<Real>> parameters_;  // by block
    scheme::BlockParameters<Real> readout_parameters_;
    std::unique_ptr<Rows> one_;
    std::vector<std::int32_t> ids_;
    std::vector<std::vector<Cache>> caches_;  // by block and call
    RopeTables<Real> ropes_;
    std::size_t rope_tokens_ = 0;  // positions that ropes_ have
    CallRoom<Real> room_;
    std::vector<Real> readout_;
    std::vector<Real> logits_;
};

extern template class Generator<float>;
extern template class Generator<double>;

}  // namespace flyball::model
