// What the equation gives beside what was saved: one place of a block.
#pragma once

#include "check/conformance_reading.hpp"

namespace flyball::check {

// `base`: what the equation gives when the sub-layers add nothing, or null where errors count against what was saved.
PlaceReading compare_rows(const Estimate& computed, const SavedRows& saved, const std::vector<double>* base,
                          double roundoff, std::size_t dim);

// Replaces the rows by gain*rows + bias with the gain and bias per channel that fit the saved ones best.
void fit_gains(Estimate& computed, const SavedRows& saved, std::size_t dim);

}  // namespace flyball::check
