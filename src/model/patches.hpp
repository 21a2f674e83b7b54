// An image as the rows that a transformer's first block is given, forward and in reverse.
//
//     x0_0     = class token + positions_0
//     x0_(1+p) = W patch_p + b + positions_(1+p)        patch_p: [channels, patch height, patch width], patches by rows
//
// This is the embedding of Vision Transformers (arXiv:2010.11929). Pixels come as the model wants them: resized to its
// image, scaled and normalised; nothing here does that. Positions are not interpolated to other sizes of an image.
#pragma once

#include <span>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

// pixels: [channels, height, width] of the architecture's patches. Result: [patches + 1, dim].
template <class Real>
std::vector<Real> embed_image(const Model<Real>& model, std::span<const Real> pixels);

// grad: [patches + 1, dim], what embed.grad shows of a pass over these rows. Gradients of class token, positions and
// projection are added to.
template <class Real>
void embed_image_reverse(const Model<Real>& model, std::span<const Real> pixels, std::span<const Real> grad,
                         Parameters<Real>& gradients);

}  // namespace flyball::model
