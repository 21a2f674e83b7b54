// A batch of sequences through a model, forward and in reverse.
//
//     x0 = embedding -> block 1 .. block L (the equation around the two sub-layers) -> readout -> head, loss
//
// Hidden states are named as Hugging Face names them: hidden 0 is the embedding, hidden l the stream x after block l,
// and the last one is the readout (after the final norm, where the equation has one).
//
// The sequences of a batch have one length and do not see each other: positions, masks and heads know where one begins,
// everything else works on the rows of all of them. A batch gives what its sequences give one by one, to rounding and
// not to the bit: a matrix product may treat a row differently in a larger tile.
//
// Promises: the same bits at any number of threads, gradients included, in one buffer: work is cut by what it writes,
// and where sums cross rows, into a number of slots that depends on sizes alone. Nothing of size tokens x tokens is
// kept; logits exist for a block of rows at a time. NaN and infinity flow through to the result. A Pass serves one
// caller at a time; several may share a Model, and a Pass called from inside parallel_slots runs in its thread alone.
// Not here: sequences of different lengths in one batch; a text that grows token by token (generate.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/batch.hpp"
#include "model/edit.hpp"
#include "model/model.hpp"
#include "model/sub_layers.hpp"
#include "model/taps.hpp"
#include "scheme/branch_step.hpp"
#include "scheme/reverse.hpp"
#include "scheme/rows.hpp"

namespace flyball::model {

// What forward() leaves for backward().
enum class Keep {
    nothing,
    inputs,      // the streams between blocks; backward computes each block again
    everything,  // also what is inside blocks: a third less work, for short sequences and small models
};

inline constexpr std::int32_t no_target = -1;

// Throws Error(input) when the model has no positions for so many tokens: more than it was trained for, unless the
// batch allows that and the positions are rotary or none; of learned positions there are no more than the table has.
void check_length(const Architecture& architecture, const Batch& batch);

// Bytes that a pass needs beside the parameters and their gradient, in float and with the loss.
double memory_estimate(const Architecture& architecture, const Batch& batch, Keep keep);

template <class Real>
class Pass {
  public:
    // The model must outlive the pass; check_length holds for the tokens of a sequence.
    Pass(const Model<Real>& model, Batch batch, Keep keep = Keep::nothing);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // From now on; an empty list undoes them. Error(usage) for a block that is not there, or a factor on a whole block.
    void edit(const std::vector<Edit>& edits);

    // From now on, masks by this seed; a share of 0 undoes it. For training: the loss that is reported as a result of
    // training wants none. backward() uses what forward() ran with.
    void dropout(const Dropout& dropout);

    // From now on: the weights as they are, packed for the products; null undoes it.
    void packed(const PackedWeights<Real>* packed) { sub_layers_.packed(packed); }

    // ids: [sequences, tokens], each below the vocabulary's size; otherwise Error(input).
    void forward(std::span<const std::int32_t> ids, const Taps<Real>& taps = {});

    // The same from x0 itself, [rows, dim]: what the first block is given, in place of embeddings, positions, their
    // norm and their dropout. backward() then shows embed.grad, the gradient of these rows, and adds nothing to the
    // tables.
    void forward_rows(std::span<const Real> x0, const Taps<Real>& taps = {});

    const std::vector<Real>& readout() const { return readout_; }  // [rows, dim]

    // Mean of -log p(target) over the rows that have one, of all sequences alike, in nats; NaN when none has. Sends
    // `logits` to the taps.
    double loss(std::span<const std::int32_t> targets, const Taps<Real>& taps = {}) const;

    // The same of a readout of the caller's, [rows, dim].
    double loss_of(const std::vector<Real>& readout, std::span<const std::int32_t> targets,
                   const Taps<Real>& taps = {}) const;

    // The readout of the streams as they are now, as if no block came after: to be asked by a tap of blocks.L.resid (of
    // the last stream) while forward() runs, in a pass that keeps nothing. Norms use the statistics of these streams.
    void early_readout(std::vector<Real>& out);

    // -log p(target) of each row, in nats; NaN for rows without a target. Sends `logits` to the taps.
    std::vector<double> losses(std::span<const std::int32_t> targets, const Taps<Real>& taps = {}) const;

    // Adds the gradient of sum(readout * grad_readout) to `gradients`. After forward(), with Keep other than nothing.
    // Taps: blocks.L.grad and embed.grad.
    void backward(const Real* grad_readout, Parameters<Real>& gradients, const Taps<Real>& taps = {});

    // The loss, and the gradient of weight * loss.
    double loss_and_backward(std::span<const std::int32_t> targets, Parameters<Real>& gradients, double weight = 1,
                             const Taps<Real>& taps = {});

  private:
    std::vector<double> losses_of(const std::vector<Real>& readout, std::span<const std::int32_t> targets,
                                  const Taps<Real>& taps) const;
    struct Tape;         // one block in reverse mode
    struct BlockEdits {  // of one block
        bool dropped = false;
        scheme::BranchFactors factors;
    };

    scheme::Environment environment(std::size_t layer) const;
    void check_branches(std::size_t layer, const scheme::BranchFactors& factors) const;
    scheme::BlockParameters<Real> block_parameters(const std::vector<NormPlace>& norms,
                                                   const std::vector<int>& learned) const;
    scheme::RowMap<Real> row_map(const NormPlace& place) const;
    void embed(Real* out) const;  // before the embedding's norm
    DropoutMask embedding_mask() const {
        return DropoutMask(dropout_, DropoutMask::Place::embedding)
            .from(std::uint64_t{dropout_.first_sequence} * batch_.tokens * architecture_.dim);
    }
    void embed_reverse(std::vector<Real>& grad, Parameters<Real>& gradients) const;
    void run(std::vector<Real> x0, const Taps<Real>& taps);
    void run_blocks(const Taps<Real>& taps);
    void record_blocks(const Taps<Real>& taps);
    void record(Tape& tape, std::size_t layer, const std::vector<Real*>& out, const Taps<Real>& taps);
    void add_norms(const std::vector<NormPlace>& places, const std::vector<int>& learned,
                   const scheme::BlockGradients& from, Parameters<Real>& gradients) const;
    std::vector<const Real*> inputs(std::size_t layer) const;
    void show(Site site, std::size_t layer, const Real* data, const Taps<Real>& taps, std::size_t stream = 0) const;
    void show_streams(Site site, std::size_t layer, const std::vector<std::vector<Real>>& streams,
                      const Taps<Real>& taps) const;
    void show_contribution(std::size_t layer, const scheme::Contribution& contribution, const Real* rows,
                           const Taps<Real>& taps) const;
    bool wants_contributions(std::size_t layer, const Taps<Real>& taps) const;
    void check_streams(const Taps<Real>& taps) const;

    const Model<Real>& model_;
    const Architecture& architecture_;
    Batch batch_;
    std::size_t rows_;
    Keep keep_;
    std::vector<std::int32_t> ids_;  // none after forward_rows
    SubLayerRunner<Real> sub_layers_;
    Dropout dropout_;
    std::vector<BlockEdits> edits_;  // by block
    scheme::BranchStep<Real> blocks_;
    scheme::RowStep<Real> step_;                        // for the readout
    scheme::State<Real> state_;                         // Keep::nothing
    CallRoom<Real> room_;                               // Keep::nothing
    std::vector<Real> embedding_;                       // Keep other than nothing
    std::vector<std::vector<std::vector<Real>>> kept_;  // [layers + 1][streams][rows, dim]
    std::vector<std::unique_ptr<Tape>> tapes_;
    std::unique_ptr<scheme::ReverseStep<Real>> readout_tape_;
    std::vector<Real> readout_;
    struct Back {  // memory of the way back, kept for the next one
        LineVector<Real> logits;
        LineVector<Real> readout;
        std::vector<Real> embedding;
        std::vector<std::vector<Real>> above;  // by stream
        std::vector<std::vector<Real>> below;
    };
    Back back_;
};

// Targets of a language model: the id that follows, none for the last of each sequence. ids: [sequences, tokens].
std::vector<std::int32_t> next_tokens(std::span<const std::int32_t> ids, std::size_t sequences = 1);

extern template class Pass<float>;
extern template class Pass<double>;

}  // namespace flyball::model
