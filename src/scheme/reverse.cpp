// Reverse mode of a block. What forward() keeps are the vectors that cross a call; everything inside a stage is
// computed again on the way back, block of rows by block of rows, while it is in cache.
#include "scheme/reverse.hpp"

#include <algorithm>
#include <cassert>

namespace flyball::scheme {

template <class Real>
ReverseStep<Real>::ReverseStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim,
                               ReversePart part, std::shared_ptr<ReverseRoom<Real>> room)
    : program_(program),
      sub_layers_(sub_layers),
      rows_(rows),
      dim_(dim),
      part_(part),
      room_(room != nullptr ? std::move(room) : std::make_shared<ReverseRoom<Real>>()) {}

// Lowers the block when a condition, a factor or the wish to see branches has changed, runs it with every coefficient
// kept, and remembers where its inputs are: backward() reads them again.
template <class Real>
void ReverseStep<Real>::forward(const Environment& env, const std::vector<const Real*>& streams, const Real* embedding,
                                const std::vector<Real*>& out, const BlockParameters<Real>& parameters,
                                SubLayerFunction<Real> f, const Branches<Real>& branches) {
    const std::vector<bool> decisions = program_.decide(env);
    const bool shows = branches.sink != nullptr;
    if (machine_.empty() || decisions != decisions_ || branches.factors != factors_ || shows != shows_) {
        decisions_ = decisions;
        factors_ = branches.factors;
        shows_ = shows;
        BranchedCode lowered;
        if (part_ == ReversePart::block) {
            lowered = lower_branches(program_, sub_layers_, decisions, factors_, shows);
        } else {
            lowered.code = lower_readout(program_, decisions);
        }
        shown_ = std::move(lowered.shown);
        machine_.clear();
        machine_.emplace_back(std::move(lowered.code), rows_, dim_, dim_);
        coefficient_learned_.clear();
        for (const ExpressionPtr& coefficient : machine_[0].code().coefficients) {
            coefficient_learned_.push_back(has_learned(*coefficient));
        }
        plan_backward();
    }
    RowMachine<Real>& machine = machine_[0];
    env_ = env;
    embedding_ = embedding;
    norms_ = parameters.norms;
    learned_ = parameters.learned.empty() ? initial_learned(program_, machine.code(), env) : parameters.learned;
    streams_.clear();
    for (const Real* stream : streams) {
        streams_.push_back({stream, nullptr});
    }
    std::vector<RowTarget<Real>> targets;
    for (Real* target : out) {
        targets.push_back({target, nullptr});
    }
    contribution_rows_.add_targets(shown_, rows_ * dim_, targets);
    machine.prepare(env, Run::record, learned_, false);
    machine.run(streams_, embedding, targets, norms_, f);
    contribution_rows_.send(shown_, branches.sink);
}

// Walks the code as backward() will, from the end to the beginning, and notes
//
//     again_     instructions to compute once more: someone going back reads the result (the input of an apply, the
//                source of a learned coefficient, or what such a value is made of), and it lived in scratch
//     written_   by stage, registers whose gradient has a value already when backward() comes to the stage from behind;
//                all others are overwritten by the first gradient that arrives, so nothing has to be cleared
template <class Real>
void ReverseStep<Real>::plan_backward() {
    const Code& code = machine_[0].code();
    const RowLayout& layout = machine_[0].layout();
    std::vector<bool> wanted(index(code.registers), false);
    std::vector<bool> written(index(code.registers), false);
    again_.assign(code.instructions.size(), false);
    // What is shown of the branches comes after the streams, and has no gradient.
    const std::size_t outputs = part_ == ReversePart::block ? code.streams_in.size() : 1;
    written_.assign(code.stages.size(), {});
    for (std::size_t s = code.stages.size(); s-- > 0;) {
        const Stage& stage = code.stages[s];
        written_[s] = written;
        if (stage.call >= 0) {
            written[index(code.instructions[index(stage.call)].in)] = true;
        }
        for (std::size_t i = 0; s + 1 == code.stages.size() && i < outputs; ++i) {
            written[index(code.streams_out[i])] = true;
        }
        for (std::size_t i = stage.end; i-- > stage.begin;) {
            const Instruction& instruction = code.instructions[i];
            again_[i] = wanted[index(instruction.out)] && layout.placement[index(instruction.out)] == Placement::local;
            if (instruction.kind == Instruction::Kind::apply) {
                wanted[index(instruction.in)] = true;
                written[index(instruction.in)] = written[index(instruction.in)] || written[index(instruction.out)];
                continue;
            }
            for (const Term& term : instruction.terms) {
                if (term.source == ones_register) {
                    continue;
                }
                const std::size_t source = index(term.source);
                wanted[source] = wanted[source] || again_[i] || coefficient_learned_[index(term.coefficient)];
                written[source] = written[source] || (!term.detached && written[index(instruction.out)]);
            }
        }
    }
    written_at_entry_ = written;
}

template <class Real>
typename ReverseStep<Real>::SlotSums ReverseStep<Real>::empty_sums() const {
    const Code& code = machine_[0].code();
    SlotSums sums;
    sums.coefficients.resize(code.coefficients.size());
    for (std::size_t i = 0; i < sums.coefficients.size(); ++i) {
        if (coefficient_learned_[i]) {
            const bool channel = code.coefficients[i]->type == Type::channel;
            sums.coefficients[i].assign(channel ? dim_ : 1, 0.0);
        }
    }
    sums.norms.resize(code.norm_count);
    for (const Instruction& instruction : code.instructions) {
        if (instruction.norm >= 0 && !norms_.empty()) {
            NormGradient& norm = sums.norms[index(instruction.norm)];
            norm.gain.assign(dim_, 0.0);
            norm.bias.assign(dim_, 0.0);
        }
    }
    return sums;
}

template <class Real>
void ReverseStep<Real>::add(const SlotSums& sums, SlotSums& total) const {
    const auto add_vector = [](const std::vector<double>& from, std::vector<double>& to) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            to[i] += from[i];
        }
    };
    for (std::size_t i = 0; i < sums.coefficients.size(); ++i) {
        add_vector(sums.coefficients[i], total.coefficients[i]);
    }
    for (std::size_t i = 0; i < sums.norms.size(); ++i) {
        add_vector(sums.norms[i].gain, total.norms[i].gain);
        add_vector(sums.norms[i].bias, total.norms[i].bias);
        total.norms[i].alpha += sums.norms[i].alpha;
        total.norms[i].shift += sums.norms[i].shift;
    }
}

// Where the gradient of each register lives for the rows from `row` on: as its value does, in scratch for local ones,
// in the room for those that cross a call. Gradients of the streams and x0 are gathered in the room too and copied out
// when all stages are done, so what backward() writes may be the memory of what it was given.
template <class Real>
void ReverseStep<Real>::locate_gradients(std::size_t row, Real* scratch, std::size_t block, Gradients& grad) {
    const Code& code = machine_[0].code();
    const RowLayout& layout = machine_[0].layout();
    const std::size_t offset = row * dim_;
    grad.at.assign(index(code.registers), nullptr);
    for (std::size_t r = 0; r < grad.at.size(); ++r) {
        const auto slot = static_cast<std::size_t>(layout.slot[r]);
        if (layout.placement[r] == Placement::local) {
            grad.at[r] = scratch + slot * block * dim_;
        } else if (layout.placement[r] == Placement::wide) {
            grad.at[r] = room_->wide[slot].data() + offset;
        }
    }
    for (std::size_t i = 0; i < code.streams_in.size(); ++i) {
        grad.at[index(code.streams_in[i])] = room_->entry[i].data() + offset;
    }
    if (code.embedding >= 0) {
        grad.at[index(code.embedding)] = room_->entry[code.streams_in.size()].data() + offset;
    }
}

// out = sum_i c_i * source_i, with g the gradient of out:
//
//     grad source_i += c_i g                          not where the term is detached
//     grad c_i      += sum over rows of <g, source_i>     per channel: without the sum over channels; ones: source = 1
//
// c_i * g needs the number that the forward run used, which is why coefficients are kept by `prepare` between the two.
template <class Real>
void ReverseStep<Real>::reverse_combine(const Instruction& instruction, std::size_t count,
                                        const std::vector<RowTarget<Real>>& at, Gradients& grad, SlotSums& sums) const {
    const RowKernels<Real>& kernels = row_kernels<Real>();
    const Real* g = grad.at[index(instruction.out)];
    for (const Term& term : instruction.terms) {
        const bool ones = term.source == ones_register;
        const auto c = static_cast<std::size_t>(term.coefficient);
        const Real* source = ones ? nullptr : at[index(term.source)].primal;
        if (coefficient_learned_[c]) {
            std::vector<double>& sum = sums.coefficients[c];
            if (machine_[0].code().coefficients[c]->type == Type::channel) {
                kernels.dot_channels(count, dim_, g, source, sum.data());
            } else {
                sum[0] += kernels.dot(count * dim_, g, source);
            }
        }
        if (!ones && !term.detached) {
            RowTerm<Real> back = machine_[0].term(term, at, false, false);
            back.source = g;
            if (grad.written[index(term.source)]) {
                kernels.accumulate(count, dim_, back, grad.at[index(term.source)]);
            } else {
                kernels.combine(count, dim_, &back, 1, grad.at[index(term.source)]);
                grad.written[index(term.source)] = true;
            }
        }
    }
}

// One stage on one block of rows: first the values that the way back reads and the way there did not keep (again_), in
// scratch memory, then the instructions from the last to the first.
template <class Real>
void ReverseStep<Real>::reverse_stage(const Stage& stage, std::size_t count, const std::vector<RowTarget<Real>>& at,
                                      Gradients& grad, SlotSums& sums) const {
    const RowMachine<Real>& machine = machine_[0];
    machine.run_stage(stage, count, at, norms_, &again_);
    const RowKernels<Real>& kernels = row_kernels<Real>();
    for (std::size_t i = stage.end; i-- > stage.begin;) {
        const Instruction& instruction = machine.code().instructions[i];
        if (!grad.written[index(instruction.out)]) {
            continue;  // nothing depends on it
        }
        if (instruction.kind == Instruction::Kind::combine) {
            reverse_combine(instruction, count, at, grad, sums);
            continue;
        }
        RowMapGradient gradient;
        if (instruction.norm >= 0 && !norms_.empty()) {
            NormGradient& norm = sums.norms[index(instruction.norm)];
            gradient = {norm.gain.data(), norm.bias.data(), &norm.alpha, &norm.shift};
        }
        Real* const into = grad.at[index(instruction.in)];
        if (!grad.written[index(instruction.in)]) {
            std::fill_n(into, count * dim_, Real{0});
            grad.written[index(instruction.in)] = true;
        }
        kernels.apply_reverse(machine.map_of(instruction, norms_), count, dim_, at[index(instruction.in)].primal,
                              grad.at[index(instruction.out)], into, gradient);
    }
}

// From the last stage to the first: the reverse of the call behind the stage, on all rows, then the stage itself on
// blocks of rows in cache. Sums over rows (coefficients, gains) are gathered per slot in double and added in the order
// of slots; coefficients are then chained to the learned parameters in them.
template <class Real>
void ReverseStep<Real>::backward(const std::vector<const Real*>& grad_out, const std::vector<Real*>& grad_streams,
                                 Real* grad_embedding, BlockGradients& gradients, SubLayerReverse<Real> reverse) {
    assert(!machine_.empty() && "backward without forward");
    RowMachine<Real>& machine = machine_[0];
    const Code& code = machine.code();
    const RowLayout& layout = machine.layout();
    // Work on all numbers alike, shared among threads. Buffers are kept: fresh memory of this size costs page faults.
    const auto for_numbers = [this](const auto& body) {
        parallel_slots(rows_, row_slots(rows_, dim_), [&](std::size_t, std::size_t begin, std::size_t end) {
            body(begin * dim_, (end - begin) * dim_);
        });
    };
    const auto make_room = [&](std::vector<LineVector<Real>>& buffers, std::size_t count) {
        buffers.resize(std::max(buffers.size(), count));
        for (std::size_t i = 0; i < count; ++i) {
            buffers[i].resize(rows_ * dim_);
        }
    };
    const auto clear = [&](Real* all) {
        for_numbers([&](std::size_t at, std::size_t size) { std::fill_n(all + at, size, Real{0}); });
    };
    const auto add_to = [&](const Real* from, Real* to) {
        for_numbers([&](std::size_t at, std::size_t size) {
            for (std::size_t i = at; i < at + size; ++i) {
                to[i] += from[i];
            }
        });
    };
    make_room(room_->wide, index(layout.wide_slots));
    make_room(room_->entry, code.streams_in.size() + 1);

    // Three scratch blocks a local register: primal and slope as the machine lays them out, and the gradient.
    const std::size_t block = block_rows(dim_, 3 * layout.local_slots, sizeof(Real));
    const auto local_size = static_cast<std::size_t>(layout.local_slots) * block * dim_;
    const std::size_t slots = row_slots(rows_, dim_);
    std::vector<SlotSums> sums(slots, empty_sums());

    // The caller counts calls from 0 at the front; going back, the number runs down.
    std::size_t calls = 0;
    for (const Stage& stage : code.stages) {
        calls += stage.call >= 0 ? 1 : 0;
    }
    for (std::size_t s = code.stages.size(); s-- > 0;) {
        const Stage& stage = code.stages[s];
        const bool last = s + 1 == code.stages.size();
        std::vector<bool> before = written_[s];
        if (stage.call >= 0) {
            const Instruction& call = code.instructions[index(stage.call)];
            --calls;
            std::vector<RowTarget<Real>> at;
            Gradients grad;
            machine.locate(0, streams_, embedding_, nullptr, 0, at);
            locate_gradients(0, nullptr, 0, grad);
            if (!before[index(call.out)]) {
                clear(grad.at[index(call.out)]);
            }
            Real* const into = grad.at[index(call.in)];
            if (before[index(call.in)]) {
                room_->call.resize(rows_ * dim_);
                reverse(call.sub_layer, calls, at[index(call.in)].primal, grad.at[index(call.out)], room_->call.data());
                add_to(room_->call.data(), into);
            } else {
                reverse(call.sub_layer, calls, at[index(call.in)].primal, grad.at[index(call.out)], into);
                before[index(call.in)] = true;
            }
        }
        parallel_slots(rows_, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            thread_local LineVector<Real> scratch;
            thread_local std::vector<RowTarget<Real>> at;
            thread_local Gradients grad;
            scratch.resize(std::max(scratch.size(), 3 * local_size));
            for (std::size_t row = begin; row < end; row += block) {
                const std::size_t count = std::min(block, end - row);
                machine.locate(row, streams_, embedding_, scratch.data(), block, at);
                locate_gradients(row, scratch.data() + 2 * local_size, block, grad);
                grad.written = before;
                for (std::size_t i = 0; last && i < grad_out.size(); ++i) {
                    const std::size_t out = index(code.streams_out[i]);
                    const Real* const from = grad_out[i] + row * dim_;
                    if (!grad.written[out]) {
                        std::copy_n(from, count * dim_, grad.at[out]);
                        grad.written[out] = true;
                        continue;
                    }
                    for (std::size_t k = 0; k < count * dim_; ++k) {
                        grad.at[out][k] += from[k];
                    }
                }
                reverse_stage(stage, count, at, grad, sums[slot]);
            }
        });
    }

    SlotSums total = empty_sums();
    for (const SlotSums& part : sums) {
        add(part, total);
    }
    if (gradients.learned.empty()) {
        for (const std::vector<double>& values : learned_) {
            gradients.learned.emplace_back(values.size(), 0.0);
        }
    }
    chain_to_learned(code, env_, learned_, total.coefficients, gradients.learned);
    if (gradients.norms.empty()) {
        gradients.norms = std::move(total.norms);
    } else {
        SlotSums into;
        into.norms = std::move(gradients.norms);
        total.coefficients.clear();
        add(total, into);
        gradients.norms = std::move(into.norms);
    }
    for (std::size_t i = 0; i < grad_streams.size(); ++i) {
        if (!written_at_entry_[index(code.streams_in[i])]) {
            clear(grad_streams[i]);
            continue;
        }
        for_numbers([&](std::size_t at, std::size_t size) {
            std::copy_n(room_->entry[i].data() + at, size, grad_streams[i] + at);
        });
    }
    if (grad_embedding != nullptr && code.embedding >= 0 && written_at_entry_[index(code.embedding)]) {
        add_to(room_->entry[code.streams_in.size()].data(), grad_embedding);
    }
}

template class ReverseStep<float>;
template class ReverseStep<double>;

}  // namespace flyball::scheme
