// One block on rows whose branches may be scaled and shown (branches.hpp says what a branch is).
//
// With factors of 1 and nobody looking it computes what RowStep::layer computes, to the bit.
#pragma once

#include <deque>
#include <vector>

#include "scheme/branches.hpp"
#include "scheme/rows.hpp"

namespace flyball::scheme {

// Gets [rows, dim] of each contribution once the block is done.
template <class Real>
using ContributionSink = FunctionRef<void(const Contribution& contribution, const Real* rows)>;

// How a run treats the branches of a block.
template <class Real>
struct Branches {
    BranchFactors factors;
    const ContributionSink<Real>* sink = nullptr;
};

// Where a run writes contributions. Reuses its memory.
template <class Real>
class ContributionRows {
  public:
    // Appends one target of `size` numbers for each.
    void add_targets(const std::vector<Contribution>& shown, std::size_t size, std::vector<RowTarget<Real>>& targets) {
        rows_.resize(shown.size());
        for (std::vector<Real>& rows : rows_) {
            rows.resize(size);
            targets.push_back({rows.data(), nullptr});
        }
    }
    void send(const std::vector<Contribution>& shown, const ContributionSink<Real>* sink) const {
        for (std::size_t i = 0; sink != nullptr && i < shown.size(); ++i) {
            (*sink)(shown[i], rows_[i].data());
        }
    }

  private:
    std::vector<std::vector<Real>> rows_;
};

template <class Real>
class BranchStep {
  public:
    BranchStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim);

    void layer(const Environment& env, State<Real>& state, SubLayerFunction<Real> f,
               const BlockParameters<Real>& parameters, const Branches<Real>& branches);

  private:
    struct Variant {  // the code for one outcome of the conditions and one treatment of the branches
        std::vector<bool> decisions;
        BranchFactors factors;
        std::vector<Contribution> shown;
        bool shows = false;
        RowMachine<Real> machine;
    };
    Variant& variant(const Environment& env, const Branches<Real>& branches);

    Program program_;
    SubLayers sub_layers_;
    std::size_t rows_;
    std::size_t dim_;
    std::deque<Variant> variants_;
    ContributionRows<Real> contribution_rows_;
};

extern template class BranchStep<float>;
extern template class BranchStep<double>;

}  // namespace flyball::scheme
