// What each block would predict if the model ended there.
//
// The streams after block l go through the equation's readout (norms compute their statistics from these streams, and
// use the gains of the final norm) and through the head. After the last block that is the model itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inspect/report.hpp"
#include "model/model.hpp"

namespace flyball::inspect {

// Fills lens_loss and lens_agreement of every layer, lens_top and final_top.
void look_through_lens(const model::Model<float>& model, model::Batch batch, std::span<const std::int32_t> ids,
                       const std::vector<std::int32_t>& targets, Report& report);

}  // namespace flyball::inspect
