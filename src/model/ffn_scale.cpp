#include "model/ffn_scale.hpp"

#include "core/parallel.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::model {

template <class Real>
FfnScale<Real>::FfnScale(const Model<Real>& model, std::size_t layer)
    : scale_(model.architecture().ffn_scale), gain_(model.layout().blocks[layer].ffn_gain) {
    if (gain_ == absent && scale_ == 1) {
        return;
    }
    factors_.assign(model.architecture().inner_width(), static_cast<Real>(scale_));
    const Real* const gains = model.at(gain_);
    for (std::size_t k = 0; gains != nullptr && k < factors_.size(); ++k) {
        factors_[k] = static_cast<Real>(scale_ * static_cast<double>(gains[k]));
    }
}

template <class Real>
void FfnScale<Real>::apply(std::size_t first, std::size_t count, const Real* in, Real* out) const {
    const Real* const factors = factors_.data() + first;
    for (std::size_t k = 0; k < count; ++k) {
        out[k] = in[k] * factors[k];
    }
}

template <class Real>
const Real* FfnScale<Real>::row(const Real* in) const {
    if (!any()) {
        return in;
    }
    thread_local std::vector<Real> room;
    room.resize(factors_.size());
    apply(0, factors_.size(), in, room.data());
    return room.data();
}

template <class Real>
void FfnScale<Real>::reverse(std::size_t rows, const Real* in, Real* grad, Parameters<Real>& gradients) const {
    if (!any()) {
        return;
    }
    const std::size_t width = factors_.size();
    const std::size_t slots = scheme::row_slots(rows, width);
    std::vector<double> sums(gain_ == absent ? 0 : slots * width);  // by slot, so bits are the same
    parallel_slots(rows, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Real* const g = grad + i * width;
            for (std::size_t k = 0; !sums.empty() && k < width; ++k) {
                sums[slot * width + k] += static_cast<double>(g[k]) * static_cast<double>(in[i * width + k]);
            }
            apply(0, width, g, g);
        }
    });
    for (std::size_t k = 0; k < sums.size(); ++k) {
        gradients.at(gain_)[k % width] += static_cast<Real>(scale_ * sums[k]);
    }
}

template class FfnScale<float>;
template class FfnScale<double>;

}  // namespace flyball::model
