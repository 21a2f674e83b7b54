#include "scheme/branch_step.hpp"

namespace flyball::scheme {

template <class Real>
BranchStep<Real>::BranchStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim)
    : program_(program), sub_layers_(sub_layers), rows_(rows), dim_(dim) {}

template <class Real>
typename BranchStep<Real>::Variant& BranchStep<Real>::variant(const Environment& env, const Branches<Real>& branches) {
    const std::vector<bool> decisions = program_.decide(env);
    const bool shows = branches.sink != nullptr;
    for (Variant& known : variants_) {
        if (known.decisions == decisions && known.factors == branches.factors && known.shows == shows) {
            return known;
        }
    }
    constexpr std::size_t most_variants = 64;  // a sweep over factors must not fill the memory
    if (variants_.size() == most_variants) {
        variants_.pop_front();
    }
    BranchedCode lowered = lower_branches(program_, sub_layers_, decisions, branches.factors, shows);
    variants_.push_back({decisions, branches.factors, std::move(lowered.shown), shows,
                         RowMachine<Real>(std::move(lowered.code), rows_, dim_, dim_)});
    return variants_.back();
}

template <class Real>
void BranchStep<Real>::layer(const Environment& env, State<Real>& state, SubLayerFunction<Real> f,
                             const BlockParameters<Real>& parameters, const Branches<Real>& branches) {
    Variant& mine = variant(env, branches);
    std::vector<RowPart<Real>> streams;
    std::vector<RowTarget<Real>> targets;
    for (std::vector<Real>& stream : state.streams) {
        streams.push_back({stream.data(), nullptr});
        targets.push_back({stream.data(), nullptr});
    }
    contribution_rows_.add_targets(mine.shown, rows_ * dim_, targets);
    mine.machine.prepare(
        env, Run::values,
        parameters.learned.empty() ? initial_learned(program_, mine.machine.code(), env) : parameters.learned, false);
    mine.machine.run(streams, state.embedding.data(), targets, parameters.norms, f);
    contribution_rows_.send(mine.shown, branches.sink);
}

template class BranchStep<float>;
template class BranchStep<double>;

}  // namespace flyball::scheme
