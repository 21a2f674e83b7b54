#include "check/conformance_compare.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::check {

namespace {

// What several sums over a place are taken of: D the difference, e its estimate, B what the sub-layers add.
struct PlaceSums {
    double difference = 0;   // sum D^2
    double estimate = 0;     // sum e^2
    double saved = 0;        // sum saved^2
    double added = 0;        // sum B^2
    double added_saved = 0;  // sum (saved - base)^2
    double along = 0;        // sum D*B
    double value_along = 0;  // sum computed*B
    double computed = 0;     // sum computed^2
    double worst_row = 0;    // root mean square of D/e in the worst row
    std::size_t wrong_rows = 0;
    double noise = 0;  // what rounding can make of `along`
};

PlaceSums sums_of(const Estimate& computed, const SavedRows& saved, const std::vector<double>* base, std::size_t dim) {
    PlaceSums sums;
    std::vector<double> noise(dim,
                              0);  // by channel: gains and biases are the same in every row, so rows may not cancel
    std::vector<double> estimates(dim);
    const std::size_t size = computed.value.size();
    for (std::size_t row = 0; row < size; row += dim) {
        double row_estimate = 0;
        for (std::size_t i = 0; i < dim; ++i) {
            const double of_saved = saved.computed * saved.values[row + i];
            estimates[i] = computed.error[row + i] * computed.error[row + i] + of_saved * of_saved;
            row_estimate += estimates[i];
        }
        const double floor = 1e-4 * row_estimate / static_cast<double>(dim);
        double row_sum = 0;
        for (std::size_t i = 0; i < dim; ++i) {
            const double value = computed.value[row + i];
            const double target = saved.values[row + i];
            const double start = base == nullptr ? 0 : (*base)[row + i];
            const double difference = target - value;
            const double added = value - start;
            const double estimate = estimates[i] + floor;
            sums.difference += difference * difference;
            sums.estimate += estimate;
            sums.saved += target * target;
            sums.added += added * added;
            sums.added_saved += (target - start) * (target - start);
            sums.along += difference * added;
            sums.value_along += value * added;
            sums.computed += value * value;
            noise[i] += std::sqrt(estimate) * std::fabs(added);
            row_sum += difference == 0 ? 0 : difference * difference / estimate;
        }
        const double row_size = std::sqrt(row_sum / static_cast<double>(dim));
        sums.worst_row = std::max(sums.worst_row, row_size);
        sums.wrong_rows += row_size > rounding_factor ? 1 : 0;
    }
    for (const double channel : noise) {
        sums.noise += channel * channel;
    }
    sums.noise = std::sqrt(sums.noise);
    return sums;
}

}  // namespace

PlaceReading compare_rows(const Estimate& computed, const SavedRows& saved, const std::vector<double>* base,
                          double roundoff, std::size_t dim) {
    const PlaceSums sums = sums_of(computed, saved, base, dim);
    PlaceReading reading;
    reading.checked = true;
    const double against = base == nullptr || sums.added_saved + sums.added == 0
                               ? std::max(sums.saved, sums.computed)
                               : std::max(sums.added, sums.added_saved);
    const double scale = std::sqrt(against);
    if (scale == 0) {
        return reading;  // zero on both sides
    }
    reading.error = std::sqrt(sums.difference) / scale;
    // How far the difference is beyond rounding, by both questions; 1 is the border.
    double beyond = sums.worst_row / rounding_factor;
    if (sums.added > 0) {
        const double multiple = std::fabs(sums.along) / sums.added;
        const double allowed =
            rounding_factor * sums.noise / sums.added + roundoff * (8 + 4 * std::fabs(sums.value_along) / sums.added);
        beyond = std::max(beyond, multiple / allowed);
    }
    reading.tolerance = beyond > 0 ? reading.error / beyond : rounding_factor * std::sqrt(sums.estimate) / scale;
    reading.wrong_rows = sums.wrong_rows;
    if (sums.added > 0) {
        reading.factor = 1 + sums.along / sums.added;
        reading.rest = std::sqrt(std::max(0.0, sums.difference - sums.along * sums.along / sums.added)) / scale;
    }
    return reading;
}

void fit_gains(Estimate& computed, const SavedRows& saved, std::size_t dim) {
    const auto rows = static_cast<double>(computed.value.size() / dim);
    for (std::size_t i = 0; i < dim; ++i) {
        double x = 0;
        double y = 0;
        for (std::size_t at = i; at < computed.value.size(); at += dim) {
            x += computed.value[at] / rows;
            y += saved.values[at] / rows;
        }
        double xx = 0;
        double xy = 0;
        for (std::size_t at = i; at < computed.value.size(); at += dim) {
            xx += (computed.value[at] - x) * (computed.value[at] - x);
            xy += (computed.value[at] - x) * (saved.values[at] - y);
        }
        const double gain = xx > 0 ? xy / xx : 1;
        for (std::size_t at = i; at < computed.value.size(); at += dim) {
            computed.value[at] = y + gain * (computed.value[at] - x);
            computed.error[at] *= std::fabs(gain);
        }
    }
}

}  // namespace flyball::check
