#include "model/logit_scale.hpp"

#include "core/parallel.hpp"
#include "model/soft_cap.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::model {

template <class Real>
LogitCurve<Real>::LogitCurve(const Architecture& a)
    : scale_(static_cast<Real>(a.logit_scale)),
      cap_(static_cast<Real>(a.logit_cap)),
      factor_(static_cast<Real>(a.logit_cap > 0 ? a.logit_scale / a.logit_cap : a.logit_scale)) {}

template <class Real>
void LogitCurve<Real>::apply(std::size_t count, Real* row) const {
    if (capped()) {
        soft_cap(count, cap_, row);
    }
}

template <class Real>
void LogitCurve<Real>::slopes(std::size_t count, const Real* logits, Real* out) const {
    soft_cap_slope(count, cap_, logits, out);
}

template <class Real>
ScaledHead<Real>::ScaledHead(const Model<Real>& model) : rows_(model.at(model.layout().head)) {
    const Real* const gains = model.at(model.layout().logit_gain);
    if (gains == nullptr) {
        return;
    }
    const std::size_t vocab = model.architecture().vocab;
    const std::size_t dim = model.architecture().dim;
    scaled_.resize(vocab * dim);
    parallel_slots(vocab, scheme::row_slots(vocab, dim), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * dim; i < end * dim; ++i) {
            scaled_[i] = gains[i / dim] * rows_[i];
        }
    });
    rows_ = scaled_.data();
}

template <class Real>
ScaledHeadGradient<Real>::ScaledHeadGradient(const Model<Real>& model, Parameters<Real>& gradients)
    : model_(model), gradients_(gradients), rows_(gradients.at(model.layout().head)) {
    if (model.layout().logit_gain != absent) {
        collected_.assign(model.architecture().vocab * model.architecture().dim, Real{0});
        rows_ = collected_.data();
    }
}

// dL/dhead_v = z_v dL/dE_v and dL/dz_v = <head_v, dL/dE_v>, row by row of the vocabulary.
template <class Real>
void ScaledHeadGradient<Real>::finish() {
    if (collected_.empty()) {
        return;
    }
    const Layout& layout = model_.layout();
    const Real* const head = model_.at(layout.head);
    const Real* const gains = model_.at(layout.logit_gain);
    Real* const grad_head = gradients_.at(layout.head);
    Real* const grad_gains = gradients_.at(layout.logit_gain);
    const std::size_t vocab = model_.architecture().vocab;
    const std::size_t dim = model_.architecture().dim;
    parallel_slots(vocab, scheme::row_slots(vocab, dim), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t v = begin; v < end; ++v) {
            double sum = 0;
            for (std::size_t k = v * dim; k < (v + 1) * dim; ++k) {
                sum += static_cast<double>(head[k]) * static_cast<double>(collected_[k]);
                grad_head[k] += gains[v] * collected_[k];
            }
            grad_gains[v] += static_cast<Real>(sum);
        }
    });
}

template class LogitCurve<float>;
template class LogitCurve<double>;
template class ScaledHead<float>;
template class ScaledHead<double>;
template class ScaledHeadGradient<float>;
template class ScaledHeadGradient<double>;

}  // namespace flyball::model
