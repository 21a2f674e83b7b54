// From the product of readout and head to logits: a learned gain of each token, a scale and a soft cap for all.
//
//     logit = cap(s <readout, E_v>)        cap(z) = c tanh(z/c), or z without a cap
//
// and the head E with nGPT's s_z:
//
//     logit_v = z_v <readout, head_v> = <readout, E_v>        E_v = z_v head_v
//
//     dL/dhead_v = z_v dL/dE_v        dL/dz_v = <head_v, dL/dE_v>
//
// The scaled head E is made once for a pass over the logits, so every product with the head stays what it is. Costs a
// copy of the head, and one of its gradient on the way back; models without such gains pay nothing.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace flyball::model {

// Scale and soft cap of an architecture; those without either have a factor of 1 and an apply() that does nothing.
template <class Real>
class LogitCurve {
  public:
    explicit LogitCurve(const Architecture& architecture);
    Real factor() const { return factor_; }  // of the product, before apply(): s, or s/c
    bool capped() const { return cap_ > 0; }
    void apply(std::size_t count, Real* row) const;

    // From the gradient of logits to that of the product, but for backward_factor(). `slopes`: what slopes() gave.
    void slopes(std::size_t count, const Real* logits, Real* out) const;  // of the cap; only where capped()
    Real backward_factor() const { return scale_; }

  private:
    Real scale_;
    Real cap_;
    Real factor_;
};

template <class Real>
class ScaledHead {
  public:
    explicit ScaledHead(const Model<Real>& model);
    const Real* rows() const { return rows_; }  // [vocab, dim]

  private:
    std::vector<Real> scaled_;
    const Real* rows_;
};

template <class Real>
class ScaledHeadGradient {
  public:
    // Both must outlive this.
    ScaledHeadGradient(const Model<Real>& model, Parameters<Real>& gradients);
    Real* rows() { return rows_; }  // [vocab, dim]: where the gradient of ScaledHead's rows is added to
    void finish();                  // adds what was collected to the gradients of head and gains

  private:
    const Model<Real>& model_;
    Parameters<Real>& gradients_;
    std::vector<Real> collected_;
    Real* rows_;
};

extern template class LogitCurve<float>;
extern template class LogitCurve<double>;
extern template class ScaledHead<float>;
extern template class ScaledHead<double>;
extern template class ScaledHeadGradient<float>;
extern template class ScaledHeadGradient<double>;

}  // namespace flyball::model
