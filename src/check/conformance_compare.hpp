// What the equation gives beside what was saved: one place of a block.
#pragma once

#include "check/conformance_reading.hpp"

namespace flyball::check {

// What is known of a place beside what the equation gives there.
struct PlaceParts {
    // What the equation gives when the sub-layers add nothing; null where errors count against what was saved.
    const std::vector<double>* base = nullptr;
    // What single sub-layers make of the place: a factor on one of them alone shows most clearly along it.
    std::vector<std::vector<double>> branches = {};
    // What the equation gives in the run's own arithmetic, every step rounded; empty: not known.
    std::vector<double> rounded = {};
    // What the rounding of the saved outputs of sub-layers makes of the place; empty: nothing.
    std::vector<double> of_outputs = {};
};

// The error alone, PlaceReading::error: for searches.
double error_of_rows(const std::vector<double>& computed, const SavedRows& saved, const std::vector<double>* base);

// `roundoff`: of the arithmetic.
PlaceReading compare_rows(const Estimate& computed, const SavedRows& saved, const PlaceParts& parts, double roundoff,
                          std::size_t dim);

// Replaces the rows by gain*rows + bias with the gain and bias per channel that fit the saved ones best.
void fit_gains(Estimate& computed, const SavedRows& saved, std::size_t dim);

}  // namespace flyball::check
