// A batch cut into slots and groups of sequences, each group forward and back through all blocks at once.
#include "model/batch_step.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace flyball::model {

namespace {

// A slot costs a gradient to empty and to add: with eight of them a fortieth of a step of a model of 48 x 64.
constexpr std::size_t most_slots = 4;
constexpr std::size_t rows_per_slot = 512;   // fewer, and adding up the gradients costs more than sharing gains
constexpr std::size_t rows_per_group = 128;  // more, and a block's numbers leave the second-level cache

std::size_t targets_in(std::span<const std::int32_t> targets) {
    return targets.size() - static_cast<std::size_t>(std::count(targets.begin(), targets.end(), no_target));
}

}  // namespace

BatchCut::BatchCut(const Batch& batch) {
    const std::size_t tokens = std::max<std::size_t>(batch.tokens, 1);
    slots = std::clamp<std::size_t>(batch.rows() / rows_per_slot, 1, most_slots);
    slots = std::min(slots, std::max<std::size_t>(batch.sequences, 1));
    const std::size_t in_a_slot = (batch.sequences + slots - 1) / slots;
    // One slot is one Pass, which has threads of its own.
    group = slots == 1 ? batch.sequences : std::clamp<std::size_t>(rows_per_group / tokens, 1, in_a_slot);
}

template <class Real>
BatchStep<Real>::BatchStep(const Model<Real>& model, Batch batch)
    : model_(model), batch_(batch), cut_(batch), packed_(model) {
    check_length(model.architecture(), batch.tokens);
    for (std::size_t slot = 1; slot < cut_.slots; ++slot) {
        sums_.emplace_back(model.layout());
    }
}

template <class Real>
void BatchStep<Real>::dropout(const Dropout& dropout) {
    check(dropout);
    dropout_ = dropout;
}

template <class Real>
typename BatchStep<Real>::Worker BatchStep<Real>::take(std::size_t sequences) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(idle_.begin(), idle_.end(),
                                        [&](const Worker& worker) { return worker.sequences == sequences; });
        if (found != idle_.end()) {
            Worker worker = std::move(*found);
            idle_.erase(found);
            return worker;
        }
    }
    Worker fresh;
    fresh.sequences = sequences;
    fresh.pass = std::make_unique<Pass<Real>>(model_, Batch{sequences, batch_.tokens}, Keep::everything);
    fresh.pass->packed(&packed_);
    return fresh;
}

template <class Real>
void BatchStep<Real>::give_back(Worker&& worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
}

// The sum of the losses of the slot's tokens.
template <class Real>
double BatchStep<Real>::run_slot(std::size_t begin, std::size_t end, std::span<const std::int32_t> ids,
                                 std::span<const std::int32_t> targets, std::size_t count, Parameters<Real>& gradients,
                                 double weight) {
    double total = 0;
    for (std::size_t first = begin; first < end; first += cut_.group) {
        const std::size_t sequences = std::min(cut_.group, end - first);
        const auto part = [&](std::span<const std::int32_t> all) {
            return all.subspan(first * batch_.tokens, sequences * batch_.tokens);
        };
        const auto mine = static_cast<double>(targets_in(part(targets)));
        if (mine == 0) {
            continue;  // no loss, no gradient
        }
        Worker worker = take(sequences);
        worker.pass->dropout({dropout_.share, dropout_.seed, dropout_.first_sequence + first});
        worker.pass->forward(part(ids));
        total +=
            mine * worker.pass->loss_and_backward(part(targets), gradients, weight * mine / static_cast<double>(count));
        give_back(std::move(worker));
    }
    return total;
}

// Slots run side by side, the first into the caller's gradient, the others into sums of their own, which are added in
// the order of slots. Groups without a target cost nothing.
template <class Real>
double BatchStep<Real>::run(std::span<const std::int32_t> ids, std::span<const std::int32_t> targets,
                            Parameters<Real>& gradients, double weight) {
    if (ids.size() != batch_.rows() || targets.size() != batch_.rows()) {
        throw Error(ErrorKind::input, "model.batch_step",
                    std::to_string(ids.size()) + " tokens and " + std::to_string(targets.size()) + " targets",
                    std::to_string(batch_.rows()) + " of each");
    }
    packed_.update();
    const std::size_t count = targets_in(targets);
    std::vector<double> losses(cut_.slots, 0.0);
    parallel_slots(batch_.sequences, cut_.slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
        if (slot > 0) {
            sums_[slot - 1].clear();
        }
        losses[slot] = run_slot(begin, end, ids, targets, count, slot == 0 ? gradients : sums_[slot - 1], weight);
    });
    Real* const all = gradients.all().data();
    std::vector<const Real*> parts;
    for (Parameters<Real>& sums : sums_) {
        parts.push_back(sums.all().data());
    }
    constexpr std::size_t piece = std::size_t{1} << 14;
    const std::size_t size = gradients.all().size();
    parallel_slots(size, (size + piece - 1) / piece, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (const Real* const from : parts) {
            for (std::size_t i = begin; i < end; ++i) {
                all[i] += from[i];
            }
        }
    });
    double total = 0;
    for (const double loss : losses) {
        total += loss;
    }
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : total / static_cast<double>(count);
}

template class BatchStep<float>;
template class BatchStep<double>;

}  // namespace flyball::model
