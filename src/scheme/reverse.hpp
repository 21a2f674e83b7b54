// A scheme in reverse mode on rows: gradients of streams, x0, gains and learned parameters through one block or the
// readout.
//
// forward() runs one layer and keeps what crosses calls of a sub-layer; of what is inside a stage, backward() computes
// again what it reads, in cache. backward() walks the stages from the last to the first and asks the caller for the
// vector-Jacobian product of each call. Sums over rows go through a fixed number of slots: the same bits on any number
// of threads. detach( ) stops here and nowhere else.
#pragma once

#include <memory>
#include <vector>

#include "scheme/branch_step.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::scheme {

// grad_in = J(in)' grad_out for one call of a sub-layer; call counts the calls of a block from 0.
template <class Real>
using SubLayerReverse =
    FunctionRef<void(SubLayer sub_layer, std::size_t call, const Real* in, const Real* grad_out, Real* grad_in)>;

struct NormGradient {
    std::vector<double> gain;  // [d]
    std::vector<double> bias;  // [d]
    double alpha = 0;
    double shift = 0;
};

struct BlockGradients {
    LearnedValues learned;            // shaped like BlockParameters::learned
    std::vector<NormGradient> norms;  // by instance
};

// What to go back through: a whole block, or the readout after the last one (which has one output).
enum class ReversePart { block, readout };

// The gradients that backward() works with. Steps that go back one after the other may share them: a deep model that
// keeps every block would otherwise hold them as often as it has blocks.
template <class Real>
struct ReverseRoom {
    std::vector<LineVector<Real>> wide;   // by wide slot
    std::vector<LineVector<Real>> entry;  // by stream, then x0
    LineVector<Real> call;                // what a call's reverse gave
};

template <class Real>
class ReverseStep {
  public:
    // Without a room the step has one of its own.
    ReverseStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim,
                ReversePart part = ReversePart::block, std::shared_ptr<ReverseRoom<Real>> room = nullptr);

    // streams, embedding: [rows, dim] each; they must stay as they are until backward() is done. out may not alias
    // them.
    void forward(const Environment& env, const std::vector<const Real*>& streams, const Real* embedding,
                 const std::vector<Real*>& out, const BlockParameters<Real>& parameters, SubLayerFunction<Real> f,
                 const Branches<Real>& branches = {});

    // From the gradients of the outputs to those of the inputs. grad_streams are overwritten; grad_embedding (may be
    // null) and `gradients` are added to. An empty `gradients` is given its shape.
    void backward(const std::vector<const Real*>& grad_out, const std::vector<Real*>& grad_streams,
                  Real* grad_embedding, BlockGradients& gradients, SubLayerReverse<Real> reverse);

    // What the learned parameters were in the last forward().
    const LearnedValues& learned() const { return learned_; }

  private:
    struct SlotSums {  // what one slot of rows adds up
        std::vector<std::vector<double>> coefficients;
        std::vector<NormGradient> norms;
    };

    struct Gradients {  // by register; memory is not cleared: the first to write a gradient overwrites
        std::vector<Real*> at;
        std::vector<bool> written;
    };

    void plan_backward();
    void reverse_stage(const Stage& stage, std::size_t count, const std::vector<RowTarget<Real>>& at, Gradients& grad,
                       SlotSums& sums) const;
    void reverse_combine(const Instruction& instruction, std::size_t count, const std::vector<RowTarget<Real>>& at,
                         Gradients& grad, SlotSums& sums) const;
    void locate_gradients(std::size_t row, Real* scratch, std::size_t block, Gradients& grad);
    SlotSums empty_sums() const;
    void add(const SlotSums& sums, SlotSums& total) const;

    Program program_;
    SubLayers sub_layers_;
    std::size_t rows_;
    std::size_t dim_;
    ReversePart part_;
    std::vector<bool> decisions_;
    BranchFactors factors_;
    std::vector<Contribution> shown_;
    bool shows_ = false;
    std::vector<RowMachine<Real>> machine_;  // empty or one: rebuilt when a condition or the branches change
    ContributionRows<Real> contribution_rows_;
    std::vector<bool> coefficient_learned_;
    std::vector<bool> again_;                 // instructions whose result backward() reads and forward() did not keep
    std::vector<std::vector<bool>> written_;  // by stage: registers that later stages have a gradient for
    std::vector<bool> written_at_entry_;      // and all stages
    Environment env_;
    std::vector<RowPart<Real>> streams_;
    const Real* embedding_ = nullptr;
    LearnedValues learned_;
    std::vector<RowMap<Real>> norms_;
    std::shared_ptr<ReverseRoom<Real>> room_;
};

extern template class ReverseStep<float>;
extern template class ReverseStep<double>;

}  // namespace flyball::scheme
