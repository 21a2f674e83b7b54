// The code on rows: where registers live, which kernels run on which block of rows, and who runs them.
#include "scheme/row_machine.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

namespace flyball::scheme {

namespace {

constexpr std::size_t cache_bytes = 24 * 1024;     // of the first-level cache, for scratch registers
constexpr std::size_t numbers_per_slot = 1 << 14;  // below this, handing rows to a thread costs more than the work
constexpr std::size_t most_slots = 64;

}  // namespace

std::size_t row_slots(std::size_t rows, std::size_t dim) {
    return std::clamp<std::size_t>(rows * dim / numbers_per_slot, 1, most_slots);
}

std::size_t block_rows(std::size_t dim, int registers, std::size_t bytes_of_number) {
    const std::size_t bytes = bytes_of_number * dim * static_cast<std::size_t>(std::max(1, registers));
    return std::clamp<std::size_t>(cache_bytes / std::max<std::size_t>(1, bytes), 1, 256);
}

// A register is local unless a stage after the one that writes it reads it, or a call reads or writes it: calls see all
// rows at once. Streams and x0 are read where the caller has them.
RowLayout::RowLayout(const Code& code)
    : placement(index(code.registers), Placement::local), slot(index(code.registers), -1) {
    std::vector<int> defined(index(code.registers), -1);  // stage that writes the register
    for (const int r : code.streams_in) {
        placement[index(r)] = Placement::entry;
    }
    if (code.embedding >= 0) {
        placement[index(code.embedding)] = Placement::entry;
    }
    const auto widen = [this](int r) {
        if (r != ones_register && placement[index(r)] == Placement::local) {
            placement[index(r)] = Placement::wide;
        }
    };
    for (std::size_t s = 0; s < code.stages.size(); ++s) {
        const Stage& stage = code.stages[s];
        const auto read = [&](int r) {
            if (r != ones_register && defined[index(r)] >= 0 && defined[index(r)] != static_cast<int>(s)) {
                widen(r);
            }
        };
        for (std::size_t i = stage.begin; i < stage.end; ++i) {
            const Instruction& instruction = code.instructions[i];
            if (instruction.kind == Instruction::Kind::combine) {
                for (const Term& term : instruction.terms) {
                    read(term.source);
                }
            } else {
                read(instruction.in);
            }
            defined[index(instruction.out)] = static_cast<int>(s);
        }
        if (stage.call >= 0) {
            widen(code.instructions[index(stage.call)].in);
            widen(code.instructions[index(stage.call)].out);
            defined[index(code.instructions[index(stage.call)].out)] = static_cast<int>(s);
        }
        if (s + 1 == code.stages.size()) {
            for (const int r : code.streams_out) {
                read(r);
            }
        }
    }
    for (std::size_t r = 0; r < placement.size(); ++r) {
        if (placement[r] == Placement::local) {
            slot[r] = local_slots++;
        } else if (placement[r] == Placement::wide) {
            slot[r] = wide_slots++;
        }
    }
}

template <class Real>
RowMachine<Real>::RowMachine(Code code, std::size_t rows, std::size_t dim, std::size_t space)
    : code_(std::move(code)),
      rows_(rows),
      dim_(dim),
      rms_gain_(space == dim ? 0 : dim, static_cast<Real>(std::sqrt(static_cast<double>(space)))),
      layout_(code_),
      kernels_(row_kernels<Real>()),
      wide_(index(layout_.wide_slots)),
      wide_slope_(index(layout_.wide_slots)) {}

template <class Real>
bool RowMachine<Real>::has_finite_coefficients() const {
    return std::all_of(facts_.begin(), facts_.end(), [](const CoefficientFacts& facts) { return facts.finite; });
}

template <class Real>
void RowMachine<Real>::prepare(const Environment& env, Run run, const LearnedValues& learned, bool entry_slopes,
                               const LearnedValues& learned_slopes) {
    evaluate_coefficients(code_, env, run, learned, dim_, coefficients_, facts_, learned_slopes);
    Mark entry;
    entry.primal = Mark::Part::known;
    entry.slope = entry_slopes ? Mark::Part::known : Mark::Part::zero;
    entry_.assign(code_.streams_in.size(), entry);
    make_plan(code_, run, facts_, entry_, plan_);
    narrow_.resize(coefficients_.size());
    narrow_slope_.resize(coefficients_.size());
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
        const auto narrow = [](const std::vector<double>& from, std::vector<Real>& to) {
            to.resize(from.size());
            std::transform(from.begin(), from.end(), to.begin(), [](double c) { return static_cast<Real>(c); });
        };
        narrow(coefficients_[i].value, narrow_[i]);
        narrow(coefficients_[i].slope, narrow_slope_[i]);
    }
}

template <class Real>
RowTerm<Real> RowMachine<Real>::term(const Term& term, const std::vector<RowTarget<Real>>& at,
                                     bool slope_of_coefficient, bool slope_of_source) const {
    const auto& values = (slope_of_coefficient ? narrow_slope_ : narrow_)[index(term.coefficient)];
    RowTerm<Real> result;
    if (term.source != ones_register) {
        result.source = slope_of_source ? at[index(term.source)].slope : at[index(term.source)].primal;
    }
    result.scale = values[0];
    result.channel = values.size() > 1 ? values.data() : nullptr;
    return result;
}

// primal = sum c0 source.primal,   slope = sum c0 source.slope + sum c1 source.primal, each over the terms that are not
// known to be 0. A primal that is zero but needed is written as zeros (a sum without terms): kernels read no marks.
template <class Real>
void RowMachine<Real>::run_combine(const Instruction& instruction, std::size_t count,
                                   const std::vector<RowTarget<Real>>& at) const {
    const Mark& mark = plan_.marks[index(instruction.out)];
    const RowTarget<Real>& out = at[index(instruction.out)];
    thread_local std::vector<RowTerm<Real>> terms;
    const auto source = [&](const Term& t) {
        if (t.source != ones_register) {
            return plan_.marks[index(t.source)];
        }
        Mark ones;
        ones.primal = Mark::Part::known;
        return ones;
    };
    if (mark.primal_needed && mark.primal != Mark::Part::unknown) {
        terms.clear();
        for (const Term& t : instruction.terms) {
            if (!facts_[index(t.coefficient)].zero && source(t).primal == Mark::Part::known) {
                terms.push_back(term(t, at, false, false));
            }
        }
        kernels_.combine(count, dim_, terms.data(), terms.size(), out.primal);
    }
    if (mark.computes_slope()) {
        terms.clear();
        for (const Term& t : instruction.terms) {
            const CoefficientFacts& c = facts_[index(t.coefficient)];
            if (!c.zero && source(t).slope == Mark::Part::known) {
                terms.push_back(term(t, at, false, true));
            }
            if (!c.slope_zero && source(t).primal == Mark::Part::known) {
                terms.push_back(term(t, at, true, false));
            }
        }
        kernels_.combine(count, dim_, terms.data(), terms.size(), out.slope);
    }
}

template <class Real>
RowMap<Real> RowMachine<Real>::map_of(const Instruction& instruction, const std::vector<RowMap<Real>>& norms) const {
    if (instruction.norm >= 0 && !norms.empty()) {
        return norms[index(instruction.norm)];
    }
    RowMap<Real> map;
    map.function = row_function(instruction.function);
    if (map.function == RowFunction::rms && !rms_gain_.empty()) {  // rms(x) = sqrt(space) x/|x|
        map.function = RowFunction::sphere;
        map.gain = rms_gain_.data();
    }
    return map;
}

template <class Real>
void RowMachine<Real>::run_apply(const Instruction& instruction, std::size_t count,
                                 const std::vector<RowTarget<Real>>& at, const std::vector<RowMap<Real>>& norms) const {
    const Mark& mark = plan_.marks[index(instruction.out)];
    const RowTarget<Real>& in = at[index(instruction.in)];
    const RowTarget<Real>& out = at[index(instruction.out)];
    if (mark.computes_slope()) {
        kernels_.apply_dual(map_of(instruction, norms), count, dim_, in.primal, in.slope, out.primal, out.slope);
    } else if (mark.computes_primal()) {
        kernels_.apply(map_of(instruction, norms), count, dim_, in.primal, out.primal);
    }
}

template <class Real>
void RowMachine<Real>::run_stage(const Stage& stage, std::size_t count, const std::vector<RowTarget<Real>>& at,
                                 const std::vector<RowMap<Real>>& norms, const std::vector<bool>* only) const {
    for (std::size_t i = stage.begin; i < stage.end; ++i) {
        const Instruction& instruction = code_.instructions[i];
        if (only != nullptr && !(*only)[i]) {
            continue;
        }
        if (instruction.kind == Instruction::Kind::combine) {
            run_combine(instruction, count, at);
        } else {
            run_apply(instruction, count, at, norms);
        }
    }
}

// Where each register's numbers are for the rows from `row` on. Scratch has two blocks a local register, primal and
// slope.
template <class Real>
void RowMachine<Real>::locate(std::size_t row, const std::vector<RowPart<Real>>& streams, const Real* embedding,
                              Real* scratch, std::size_t block, std::vector<RowTarget<Real>>& at) {
    at.resize(index(code_.registers));
    const std::size_t offset = row * dim_;
    for (std::size_t r = 0; r < at.size(); ++r) {
        const auto slot = static_cast<std::size_t>(layout_.slot[r]);
        if (layout_.placement[r] == Placement::local) {
            Real* primal = scratch + 2 * slot * block * dim_;
            at[r] = {primal, primal + block * dim_};
        } else if (layout_.placement[r] == Placement::wide) {
            at[r] = {wide_[slot].data() + offset,
                     wide_slope_[slot].empty() ? nullptr : wide_slope_[slot].data() + offset};
        }
    }
    // Entry registers are only ever read; RowTarget is used for them to keep one table.
    const auto entry = [&](int reg, const Real* primal, const Real* slope) {
        at[index(reg)] = {const_cast<Real*>(primal) + offset,
                          slope == nullptr ? nullptr : const_cast<Real*>(slope) + offset};
    };
    for (std::size_t i = 0; i < streams.size(); ++i) {
        entry(code_.streams_in[i], streams[i].primal, streams[i].slope);
    }
    if (code_.embedding >= 0) {
        assert(embedding != nullptr);
        entry(code_.embedding, embedding, nullptr);
    }
}

template <class Real>
void RowMachine<Real>::write_targets(std::size_t row, std::size_t count, const std::vector<RowTarget<Real>>& at,
                                     const std::vector<RowTarget<Real>>& targets) const {
    const auto write = [&](Mark::Part part, const Real* from, Real* to) {
        if (to == nullptr) {
            return;
        }
        to += row * dim_;
        if (part == Mark::Part::zero) {
            std::fill_n(to, count * dim_, Real{0});
        } else if (to != from) {
            std::memcpy(to, from, count * dim_ * sizeof(Real));
        }
    };
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const int r = code_.streams_out[i];
        write(plan_.marks[index(r)].primal, at[index(r)].primal, targets[i].primal);
        write(plan_.marks[index(r)].slope, at[index(r)].slope, targets[i].slope);
    }
}

// Stage after stage; within a stage rows are cut into slots for threads and into blocks that stay in the first-level
// cache while all instructions of the stage run over them. Between stages the sub-layer is called once for all rows.
// The targets are written in the last stage, block by block, when no row of the block is read any more: that is why
// they may be the streams themselves.
template <class Real>
void RowMachine<Real>::run(const std::vector<RowPart<Real>>& streams, const Real* embedding,
                           const std::vector<RowTarget<Real>>& targets, const std::vector<RowMap<Real>>& norms,
                           SubLayerFunction<Real> f) {
    assert(!plan_.problem);
    for (std::size_t r = 0; r < layout_.placement.size(); ++r) {
        if (layout_.placement[r] != Placement::wide) {
            continue;
        }
        const auto slot = static_cast<std::size_t>(layout_.slot[r]);
        wide_[slot].resize(rows_ * dim_);
        if (plan_.marks[r].computes_slope()) {
            wide_slope_[slot].resize(rows_ * dim_);
        }
    }
    const std::size_t block = block_rows(dim_, 2 * layout_.local_slots, sizeof(Real));
    const std::size_t scratch_size = 2 * static_cast<std::size_t>(layout_.local_slots) * block * dim_;
    for (std::size_t s = 0; s < code_.stages.size(); ++s) {
        const Stage& stage = code_.stages[s];
        const bool last = s + 1 == code_.stages.size();
        if (stage.begin < stage.end || last) {
            parallel_slots(rows_, row_slots(rows_, dim_), [&](std::size_t, std::size_t begin, std::size_t end) {
                thread_local LineVector<Real> scratch;
                thread_local std::vector<RowTarget<Real>> at;
                if (scratch.size() < scratch_size) {
                    scratch.resize(scratch_size);
                }
                for (std::size_t row = begin; row < end; row += block) {
                    const std::size_t count = std::min(block, end - row);
                    locate(row, streams, embedding, scratch.data(), block, at);
                    run_stage(stage, count, at, norms);
                    if (last) {
                        write_targets(row, count, at, targets);
                    }
                }
            });
        }
        if (stage.call >= 0) {
            const Instruction& call = code_.instructions[index(stage.call)];
            if (plan_.marks[index(call.out)].computes_primal()) {
                std::vector<RowTarget<Real>> at;
                locate(0, streams, embedding, nullptr, 0, at);
                f(call.sub_layer, at[index(call.in)].primal, at[index(call.out)].primal);
            }
        }
    }
}

template class RowMachine<float>;
template class RowMachine<double>;

}  // namespace flyball::scheme
