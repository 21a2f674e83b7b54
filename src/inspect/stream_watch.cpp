#include "inspect/stream_watch.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "measure/rows.hpp"

namespace flyball::inspect {

namespace {

constexpr double massive_size = 100;
constexpr double massive_share = 1000;  // of the median
constexpr std::size_t most_massive = 3;

// What one sequence has.
struct SequenceMeasures {
    std::vector<double> lengths;
    double cosine = 0;
    double effective_rank = 0;
    double collapse_residual = 0;
};

SequenceMeasures sequence_measures(const float* x, std::size_t tokens, std::size_t dim) {
    const std::vector<double> wide(x, x + tokens * dim);
    const measure::Rows rows{wide.data(), tokens, dim};
    SequenceMeasures result;
    result.lengths = measure::lengths(rows);
    result.effective_rank = measure::effective_rank(rows);
    result.collapse_residual = measure::collapse_residual(rows);
    const std::vector<double> directions = measure::directions(rows);
    result.cosine = 1 - measure::one_minus_cosine({directions.data(), tokens, dim});
    return result;
}

// Of absolute values; of an even number of them the lower one of the middle, which for so many makes no difference.
double median_abs_of(const float* x, std::size_t count, std::vector<float>& room) {
    room.resize(count);
    std::transform(x, x + count, room.begin(), [](float value) { return std::fabs(value); });
    if (std::any_of(room.begin(), room.end(), [](float value) { return std::isnan(value); })) {
        return not_measured;
    }
    const auto middle = room.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
    std::nth_element(room.begin(), middle, room.end());
    return static_cast<double>(*middle);
}

}  // namespace

void measure_stream(const float* x, const model::Batch& batch, std::size_t dim, LayerReport& report) {
    std::vector<SequenceMeasures> of(batch.sequences);
    parallel_slots(batch.sequences, batch.sequences, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s) {
            of[s] = sequence_measures(x + s * batch.tokens * dim, batch.tokens, dim);
        }
    });
    std::vector<double> lengths;
    report.cosine = report.effective_rank = report.collapse_residual = 0;
    const auto count = static_cast<double>(batch.sequences);
    for (const SequenceMeasures& one : of) {
        lengths.insert(lengths.end(), one.lengths.begin(), one.lengths.end());
        report.cosine += one.cosine / count;
        report.effective_rank += one.effective_rank / count;
        report.collapse_residual += one.collapse_residual / count;
    }
    report.norm_low = measure::quantile(lengths, 0.05);
    report.norm_median = measure::quantile(lengths, 0.5);
    report.norm_high = measure::quantile(lengths, 0.95);
    std::vector<float> room;
    const std::size_t numbers = batch.rows() * dim;
    report.median_abs = median_abs_of(x, numbers, room);
    report.largest = 0;
    for (std::size_t i = 0; i < numbers; ++i) {
        report.largest = std::max(report.largest, static_cast<double>(std::fabs(x[i])));
    }
    if (std::isnan(report.median_abs)) {
        report.largest = not_measured;
    }
}

std::vector<MassiveActivation> massive_activations(const float* x, const model::Batch& batch, std::size_t dim,
                                                   double median, std::size_t layer) {
    std::vector<MassiveActivation> found;
    const double least = std::max(massive_size, massive_share * median);
    for (std::size_t i = 0; i < batch.rows() * dim; ++i) {
        const auto value = static_cast<double>(x[i]);
        if (!(std::fabs(value) >= least && std::fabs(value) > massive_size)) {
            continue;
        }
        const std::size_t row = i / dim;
        found.push_back({layer, row / batch.tokens, batch.position(row), i % dim, value});
    }
    const auto larger = [](const MassiveActivation& a, const MassiveActivation& b) {
        return std::fabs(a.value) > std::fabs(b.value);
    };
    std::stable_sort(found.begin(), found.end(), larger);
    found.resize(std::min(found.size(), most_massive));
    return found;
}

}  // namespace flyball::inspect
