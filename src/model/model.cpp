#include "model/model.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/random.hpp"

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

template <class Real>
Model<Real> Model<Real>::random(Architecture architecture, std::uint64_t seed, double deviation) {
    check(architecture, "the architecture");
    Model model(std::move(architecture), native_names());
    const double residual = deviation / std::sqrt(2 * static_cast<double>(model.architecture_.layers));
    for (std::size_t i = 0; i < model.values_.size(); ++i) {
        const ParameterSpec& spec = model.layout_.parameters[i];
        const bool drawn = spec.role == Role::embedding || spec.role == Role::head || spec.role == Role::weight ||
                           spec.role == Role::residual_weight;
        if (!drawn) {
            continue;
        }
        const double scale = spec.role == Role::residual_weight ? residual : deviation;
        const Random stream(seed, i);
        Real* const out = model.own_->at(static_cast<int>(i));
        constexpr std::size_t piece = 4096;
        const std::size_t pieces = (spec.elements() + piece - 1) / piece;
        parallel_slots(pieces, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            std::vector<double> normals(piece);
            for (std::size_t p = begin; p < end; ++p) {
                const std::size_t count = std::min(piece, spec.elements() - p * piece);
                stream.fill_normal({normals.data(), count}, p * piece);
                for (std::size_t k = 0; k < count; ++k) {
                    out[p * piece + k] = static_cast<Real>(scale * normals[k]);
                }
            }
        });
    }
    return model;
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
