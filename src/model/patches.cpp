#include "model/patches.hpp"

#include <algorithm>
#include <cassert>

#include "model/linear.hpp"

namespace flyball::model {

namespace {

// [patches, channels * patch height * patch width]: each patch as the projection reads it.
template <class Real>
std::vector<Real> patch_rows(const Patches& p, std::span<const Real> pixels) {
    assert(pixels.size() == p.channels * p.height * p.width);
    std::vector<Real> rows(p.count() * p.numbers());
    Real* to = rows.data();
    for (std::size_t patch = 0; patch < p.count(); ++patch) {
        const std::size_t top = patch / p.columns() * p.patch_height;
        const std::size_t left = patch % p.columns() * p.patch_width;
        for (std::size_t c = 0; c < p.channels; ++c) {
            for (std::size_t y = 0; y < p.patch_height; ++y) {
                const Real* const from = pixels.data() + (c * p.height + top + y) * p.width + left;
                to = std::copy_n(from, p.patch_width, to);
            }
        }
    }
    return rows;
}

template <class Real>
void add_to(std::size_t count, const Real* from, Real* to) {
    for (std::size_t k = 0; k < count; ++k) {
        to[k] += from[k];
    }
}

}  // namespace

template <class Real>
std::vector<Real> embed_image(const Model<Real>& model, std::span<const Real> pixels) {
    const Patches& p = model.architecture().patches;
    const Layout& layout = model.layout();
    const std::size_t dim = model.architecture().dim;
    const std::vector<Real> patches = patch_rows(p, pixels);
    std::vector<Real> x0((p.count() + 1) * dim);
    std::copy_n(model.at(layout.class_token), dim, x0.data());
    linear(model, layout.patches, p.count(), patches.data(), x0.data() + dim, dim);
    add_to(x0.size(), model.at(layout.positions), x0.data());
    return x0;
}

template <class Real>
void embed_image_reverse(const Model<Real>& model, std::span<const Real> pixels, std::span<const Real> grad,
                         Parameters<Real>& gradients) {
    const Patches& p = model.architecture().patches;
    const Layout& layout = model.layout();
    const std::size_t dim = model.architecture().dim;
    assert(grad.size() == (p.count() + 1) * dim);
    add_to(grad.size(), grad.data(), gradients.at(layout.positions));
    add_to(dim, grad.data(), gradients.at(layout.class_token));
    const std::vector<Real> patches = patch_rows(p, pixels);
    std::vector<Real> unused(patches.size());  // the gradient of the pixels
    linear_reverse(model, layout.patches, p.count(), patches.data(), grad.data() + dim, dim, unused.data(), false,
                   gradients);
}

template std::vector<float> embed_image(const Model<float>&, std::span<const float>);
template std::vector<double> embed_image(const Model<double>&, std::span<const double>);
template void embed_image_reverse(const Model<float>&, std::span<const float>, std::span<const float>,
                                  Parameters<float>&);
template void embed_image_reverse(const Model<double>&, std::span<const double>, std::span<const double>,
                                  Parameters<double>&);

}  // namespace flyball::model
