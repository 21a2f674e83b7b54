// The two sub-layers of a block on a batch: what the equation's f, attn and ffn compute.
#pragma once

#include <cstddef>
#include <vector>

#include "model/batch.hpp"
#include "model/dropout.hpp"
#include "model/heads.hpp"
#include "model/model.hpp"
#include "model/packed_weights.hpp"
#include "model/rope.hpp"
#include "model/taps.hpp"
#include "scheme/syntax.hpp"

namespace flyball::model {

// What one call leaves behind for reverse mode; a forward pass alone reuses one for all calls.
template <class Real>
struct CallRoom {
    std::size_t call = 0;                    // which of the block's calls this is
    std::vector<Real> qkv;                   // [rows, qkv_width], after rotary positions and norms
    std::vector<Real> unnormed;              // qkv before norms inside attention, where there are any
    std::vector<Real> mixed;                 // [rows, heads*head_dim]
    std::vector<SoftmaxScale<Real>> scales;  // [rows, heads] of attend()
    std::vector<Real> hidden;                // [rows, inner_width], before the FFN's scale and activation; where the
                                             // FFN has neither scale nor gate, the activation's slope there instead
    std::vector<Real> activated;             // [rows, ffn_dim]
};

// What attention reads: room.qkv gets queries, keys and values of the rows, normed and turned. Row i of a sequence
// stands at position first + i.
template <class Real>
void queries_keys_values(const Model<Real>& model, std::size_t layer, const RopeTables<Real>& ropes, const Batch& batch,
                         std::size_t first, const Real* in, CallRoom<Real>& room,
                         const PackedWeights<Real>* packed = nullptr);

// The heads of a block of the model, without dropout.
HeadsShape heads_of(const Architecture& architecture, const Batch& batch, std::size_t layer);

template <class Real>
class SubLayerRunner {
  public:
    SubLayerRunner(const Model<Real>& model, Batch batch);

    // From now on.
    void dropout(const Dropout& dropout) { dropout_ = dropout; }

    // From now on: the model's weights as they are, packed; null undoes it.
    void packed(const PackedWeights<Real>* packed) { packed_ = packed; }

    // in, out: [rows, dim]. `keep`: room will be needed by reverse().
    void forward(std::size_t layer, scheme::SubLayer sub_layer, const Real* in, Real* out, CallRoom<Real>& room,
                 bool keep, const Taps<Real>& taps) const;

    // grad_in is overwritten, gradients of parameters are added to.
    void reverse(std::size_t layer, scheme::SubLayer sub_layer, const Real* in, const Real* grad_out, Real* grad_in,
                 const CallRoom<Real>& room, Parameters<Real>& gradients);

  private:
    HeadsShape heads(std::size_t layer, std::size_t call) const;
    DropoutMask branch_mask(std::size_t layer, std::size_t call) const;
    void attention(std::size_t layer, const Real* in, Real* out, CallRoom<Real>& room, const Taps<Real>& taps) const;
    void feed_forward(std::size_t layer, const Real* in, Real* out, CallRoom<Real>& room, bool keep) const;
    void attention_reverse(std::size_t layer, const Real* in, const Real* grad_out, Real* grad_in,
                           const CallRoom<Real>& room, Parameters<Real>& gradients);
    void feed_forward_reverse(std::size_t layer, const Real* in, const Real* grad_out, Real* grad_in,
                              const CallRoom<Real>& room, Parameters<Real>& gradients);

    const Model<Real>& model_;
    Batch batch_;
    std::size_t rows_;
    RopeTables<Real> ropes_;
    Dropout dropout_;
    const PackedWeights<Real>* packed_ = nullptr;
    std::vector<Real> grad_branch_;  // of the output of a sub-layer before dropout
    std::vector<Real> grad_wide_;    // of qkv or hidden
    std::vector<Real> grad_narrow_;  // of mixed or activated
};

extern template class SubLayerRunner<float>;
extern template class SubLayerRunner<double>;

}  // namespace flyball::model
