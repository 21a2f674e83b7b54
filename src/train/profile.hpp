// Starts that a pass over data measures: Admin's weights of the skip (Liu et al. 2020, arXiv:2004.08249).
//
//     omega_1 = 1,      omega_{i+1}^2 = Var(omega_i x_i) + Var(F_i)          i counts sub-layers
//
// x_i is the stream that sub-layer i is given, F_i what it gives, and the variance is over all entries of a batch.
// After a norm Var(x_i) is near 1, so that omega_{i+1}^2 is about 1 + the summed variances of the branches so far. Each
// omega is set before the next is measured, as in the authors' code: one forward pass a sub-layer.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/batch.hpp"
#include "model/model.hpp"

namespace flyball::train {

// Sets the learned parameter `name` of the equation in every sub-layer, all channels alike. Error(usage) where the
// equation has none of that name for each sub-layer.
void measure_skips(model::Model<float>& model, std::string_view name, model::Batch batch,
                   const std::vector<std::int32_t>& ids);

}  // namespace flyball::train
