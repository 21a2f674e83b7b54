// What is measured of a stream beside what model/block_watch.hpp measures: how long tokens are, how much they differ
// from each other, how many directions they fill, and entries that dwarf all others.
#pragma once

#include <cstddef>
#include <vector>

#include "inspect/report.hpp"
#include "model/batch.hpp"

namespace flyball::inspect {

// Fills norm_low, norm_median, norm_high, cosine, effective_rank, collapse_residual, largest and median_abs.
// x: [rows of the batch, dim].
void measure_stream(const float* x, const model::Batch& batch, std::size_t dim, LayerReport& report);

// The three largest entries of x that are massive, largest first; `median` is that of the absolute values.
std::vector<MassiveActivation> massive_activations(const float* x, const model::Batch& batch, std::size_t dim,
                                                   double median, std::size_t layer);

}  // namespace flyball::inspect
