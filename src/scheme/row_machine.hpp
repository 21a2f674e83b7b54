// Runs code on rows: internal machinery shared by the forward, derivative and reverse evaluations (rows.hpp,
// reverse.hpp).
//
// Legend: rows tokens of dim channels. A register that is only used inside one stage lives in a scratch block that fits
// the first-level cache; one that crosses a call is "wide" and has a [rows, dim] buffer; streams and x0 are the
// caller's.
#pragma once

#include <cstddef>
#include <vector>

#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "scheme/code.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/plan.hpp"
#include "scheme/row_kernels.hpp"

namespace flyball::scheme {

// The numbers that a block's learned parts have. Empty members mean: as the text starts them, and `norm` = unit.
template <class Real>
struct BlockParameters {
    LearnedValues learned;            // by instance
    std::vector<RowMap<Real>> norms;  // by instance
};

// Evaluates a sub-layer on all rows: out[rows, dim] = f(in[rows, dim]).
template <class Real>
using SubLayerFunction = FunctionRef<void(SubLayer sub_layer, const Real* in, Real* out)>;

enum class Placement : unsigned char { entry, wide, local };

struct RowLayout {
    explicit RowLayout(const Code& code);
    std::vector<Placement> placement;  // by register
    std::vector<int> slot;             // scratch or wide slot by register
    int local_slots = 0;
    int wide_slots = 0;
};

// How rows are cut: into slots for threads, and within a slot into blocks that stay in cache. A function of sizes
// alone.
std::size_t row_slots(std::size_t rows, std::size_t dim);
std::size_t block_rows(std::size_t dim, int registers, std::size_t bytes_of_number);

template <class Real>
struct RowPart {
    const Real* primal = nullptr;  // [rows, dim]
    const Real* slope = nullptr;   // null: zero
};
template <class Real>
struct RowTarget {
    Real* primal = nullptr;  // null: not wanted
    Real* slope = nullptr;
};

template <class Real>
class RowMachine {
  public:
    // `space` is the dimension that rms divides by, where rows are not written in dim ambient coordinates (see
    // RowStep).
    RowMachine(Code code, std::size_t rows, std::size_t dim, std::size_t space);

    const Code& code() const { return code_; }
    const RowLayout& layout() const { return layout_; }

    // Evaluates coefficients and plans; plan().problem tells why it cannot be run. `entry_slopes`: streams carry
    // slopes.
    void prepare(const Environment& env, Run run, const LearnedValues& learned, bool entry_slopes,
                 const LearnedValues& learned_slopes = {});
    bool has_finite_coefficients() const;  // with their slopes, as prepared
    const Plan& plan() const { return plan_; }

    // Runs what was prepared. Targets may be the streams themselves.
    void run(const std::vector<RowPart<Real>>& streams, const Real* embedding,
             const std::vector<RowTarget<Real>>& targets, const std::vector<RowMap<Real>>& norms,
             SubLayerFunction<Real> f);

    // For reverse mode: the pieces of a run.
    const Real* wide_primal(int reg) const { return wide_[static_cast<std::size_t>(layout_slot(reg))].data(); }
    void locate(std::size_t row, const std::vector<RowPart<Real>>& streams, const Real* embedding, Real* scratch,
                std::size_t block, std::vector<RowTarget<Real>>& at);
    // `only`: which instructions, by index; null for all.
    void run_stage(const Stage& stage, std::size_t count, const std::vector<RowTarget<Real>>& at,
                   const std::vector<RowMap<Real>>& norms, const std::vector<bool>* only = nullptr) const;
    RowMap<Real> map_of(const Instruction& instruction, const std::vector<RowMap<Real>>& norms) const;
    RowTerm<Real> term(const Term& term, const std::vector<RowTarget<Real>>& at, bool slope_of_coefficient,
                       bool slope_of_source) const;
    std::size_t rows() const { return rows_; }
    std::size_t dim() const { return dim_; }

  private:
    int layout_slot(int reg) const { return layout_.slot[static_cast<std::size_t>(reg)]; }
    void write_targets(std::size_t row, std::size_t count, const std::vector<RowTarget<Real>>& at,
                       const std::vector<RowTarget<Real>>& targets) const;
    void run_combine(const Instruction& instruction, std::size_t count, const std::vector<RowTarget<Real>>& at) const;
    void run_apply(const Instruction& instruction, std::size_t count, const std::vector<RowTarget<Real>>& at,
                   const std::vector<RowMap<Real>>& norms) const;

    Code code_;
    std::size_t rows_;
    std::size_t dim_;
    std::vector<Real> rms_gain_;  // [dim] of sqrt(space), or empty: rms by its own kernel
    RowLayout layout_;
    const RowKernels<Real>& kernels_;
    std::vector<Coefficient> coefficients_;
    std::vector<CoefficientFacts> facts_;
    std::vector<std::vector<Real>> narrow_;  // channel coefficients rounded to Real
    std::vector<std::vector<Real>> narrow_slope_;
    Plan plan_;
    std::vector<Mark> entry_;
    std::vector<LineVector<Real>> wide_;
    std::vector<LineVector<Real>> wide_slope_;
};

extern template class RowMachine<float>;
extern template class RowMachine<double>;

}  // namespace flyball::scheme
