// What the inner numbers of an FFN are multiplied by before the activation: nGPT's s_u, s_v and sqrt(d).
//
//     y_k = s g_k h_k       h = W_up x, or gate and up one after another       s: ffn_scale      g: learned, ffn_gains
//
//     dL/dh_k = s g_k dL/dy_k          dL/dg_k = s sum over rows of dL/dy_k h_k
//
// Loshchilov et al., arXiv:2410.01131, multiply the gate alone by sqrt(d), their program both halves; a common factor
// of `up` is lost in the norm that follows the FFN there. Models without scale and gains pay nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

template <class Real>
class FfnScale {
  public:
    FfnScale(const Model<Real>& model, std::size_t layer);

    bool any() const { return !factors_.empty(); }

    // Only where there is any. out_k = in_k times the factor of channel first + k; out may be in.
    void apply(std::size_t first, std::size_t count, const Real* in, Real* out) const;

    // The row [inner_width] with its factors, in this thread's room until its next call; `in` itself without factors.
    const Real* row(const Real* in) const;

    // in: [rows, inner_width], before the factors. grad: the gradient of what the factors gave, which becomes that of
    // `in`. The gradient of the gains is added to.
    void reverse(std::size_t rows, const Real* in, Real* grad, Parameters<Real>& gradients) const;

  private:
    double scale_;
    int gain_;
    std::vector<Real> factors_;  // [inner_width], or empty
};

extern template class FfnScale<float>;
extern template class FfnScale<double>;

}  // namespace flyball::model
