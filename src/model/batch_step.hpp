// Forward, loss and backward of a batch, fast: what a training step does before its optimiser.
//
// A Pass shares the work of one operation among threads, and each operation's numbers travel through memory. Here each
// thread takes a few whole sequences at a time forward and backward through all blocks, with a Pass of its own whose
// numbers stay near its core, and only sums of gradients meet.
//
//     batch = slots of whole sequences, each with a gradient; slot = groups, one Pass after the other
//     gradient += sum over slots in order         loss = sum over groups in order of (tokens of the group) * loss
//
// Promises: slots and groups depend on sizes alone, so the bits do not depend on the number of threads; they are not
// those of one Pass over the batch, but equal to rounding. Dropout masks are those of one Pass over the batch. Memory:
// a gradient for each slot but one, two numbers for each weight (packed_weights.hpp), and the activations of a group
// for each thread: less than those of a batch.
// Not here: taps and edits. Who wants to look uses a Pass.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "model/pass.hpp"

namespace flyball::model {

// How a batch is cut.
struct BatchCut {
    explicit BatchCut(const Batch& batch);
    std::size_t slots = 1;
    std::size_t group = 1;  // sequences, at most; the last of a slot may have fewer
};

template <class Real>
class BatchStep {
  public:
    // As for Pass.
    BatchStep(const Model<Real>& model, Batch batch);

    // From now on, as Pass::dropout.
    void dropout(const Dropout& dropout);

    // ids, targets: [sequences, tokens]. Returns the loss, as Pass::loss_and_backward does, and adds the gradient of
    // weight * loss to `gradients`.
    double run(std::span<const std::int32_t> ids, std::span<const std::int32_t> targets, Parameters<Real>& gradients,
               double weight = 1);

  private:
    struct Worker {  // one for each thread that runs at the same time, at most
        std::size_t sequences = 0;
        std::unique_ptr<Pass<Real>> pass;
    };
    Worker take(std::size_t sequences);
    void give_back(Worker&& worker);
    double run_slot(std::size_t begin, std::size_t end, std::span<const std::int32_t> ids,
                    std::span<const std::int32_t> targets, std::size_t count, Parameters<Real>& gradients,
                    double weight);

    const Model<Real>& model_;
    Batch batch_;
    BatchCut cut_;
    Dropout dropout_;
    PackedWeights<Real> packed_;
    std::mutex mutex_;
    std::vector<Worker> idle_;
    std::vector<Parameters<Real>> sums_;  // of every slot but the first
};

extern template class BatchStep<float>;
extern template class BatchStep<double>;

}  // namespace flyball::model
