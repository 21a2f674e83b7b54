// Where NaN and infinities are. Weights are looked at only after a result was not finite: a good model pays nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

bool all_finite(std::span<const float> values) noexcept;

// The names of the parameters that hold a NaN or an infinity, in the order of the layout.
std::vector<std::string> tensors_not_finite(const Model<float>& model);

}  // namespace flyball::model
