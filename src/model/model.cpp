#include "model/model.hpp"

#include <algorithm>

namespace flyball::model {

template <class Real>
Model<Real>::Model(Architecture architecture, const Names& names, Bare)
    : architecture_(std::move(architecture)),
      program_(scheme::Program::parse(architecture_.equation)),
      layout_(make_layout(architecture_, program_, names)),
      values_(layout_.parameters.size(), nullptr) {}

template <class Real>
Model<Real>::Model(Architecture architecture, const Names& names) : Model(std::move(architecture), names, Bare{}) {
    own_ = std::make_shared<Parameters<Real>>(layout_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
        values_[i] = own_->at(static_cast<int>(i));
        const ParameterSpec& spec = layout_.parameters[i];
        std::fill_n(own_->at(static_cast<int>(i)), spec.elements(), static_cast<Real>(spec.start));
    }
}

Model<double> widened(const Model<float>& model) {
    Model<double> result(model.architecture(), native_names(), Model<double>::Bare{});
    result.layout_ = model.layout();  // with the names and orientations of the original
    result.dtype_ = model.dtype();
    result.own_ = std::make_shared<Parameters<double>>(result.layout_);
    result.values_.resize(result.layout_.parameters.size());
    for (std::size_t i = 0; i < result.values_.size(); ++i) {
        const int parameter = static_cast<int>(i);
        double* const out = result.own_->at(parameter);
        std::copy_n(model.at(parameter), result.layout_.parameters[i].elements(), out);
        result.values_[i] = out;
    }
    return result;
}

template class Model<float>;
template class Model<double>;

}  // namespace flyball::model
