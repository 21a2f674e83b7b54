#include "check/conformance_compare.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flyball::check {

namespace {

// Standard errors of a factor that rounding may make of it. The estimates are two to five times what rounding does to
// single numbers, so that these four are ten and more of the real ones.
constexpr double factor_deviations = 4;
// Roundings that all numbers of a place share, in units of u: of a factor that is itself stored, and of what it came
// from.
constexpr double shared_roundings = 3;
constexpr double output_share = 0.5;      // squares of roundings are a third of those of the largest
constexpr double arithmetic_share = 0.5;  // how far the repeated arithmetic may be from that of the run

double share_of(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

// What errors are shares of: what is added to the base, or all of it, by the equation or in the run.
double squares_to_count_against(const std::vector<double>& value, const std::vector<double>& saved,
                                const std::vector<double>* base) {
    double of_saved = 0;
    double of_value = 0;
    double of_added = 0;
    double of_added_saved = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const double start = base == nullptr ? 0 : (*base)[i];
        of_saved += saved[i] * saved[i];
        of_value += value[i] * value[i];
        of_added += (value[i] - start) * (value[i] - start);
        of_added_saved += (saved[i] - start) * (saved[i] - start);
    }
    return of_added + of_added_saved == 0 ? std::max(of_saved, of_value) : std::max(of_added, of_added_saved);
}

class Comparison {
  public:
    Comparison(const Estimate& computed, const SavedRows& saved, const PlaceParts& parts, double roundoff,
               std::size_t dim)
        : value_(computed.value),
          saved_(saved.values),
          parts_(parts),
          roundoff_(std::max(roundoff, saved.computed)),
          dim_(dim),
          size_(computed.value.size()),
          added_(computed.value),
          estimate_(size_) {
        for (std::size_t row = 0; row < size_; row += dim) {
            double sum = 0;
            for (std::size_t i = row; i < row + dim; ++i) {
                const double of_saved = saved.computed * saved_[i];
                estimate_[i] = computed.error[i] * computed.error[i] + of_saved * of_saved;
                sum += estimate_[i];
            }
            for (std::size_t i = row; i < row + dim; ++i) {
                estimate_[i] += 1e-4 * sum / static_cast<double>(dim);
            }
        }
        for (std::size_t i = 0; parts.base != nullptr && i < size_; ++i) {
            added_[i] -= (*parts.base)[i];
        }
    }

    PlaceReading read() const {
        PlaceReading reading;
        reading.checked = true;
        const double scale = std::sqrt(squares_to_count_against(value_, saved_, parts_.base));
        if (scale == 0) {
            return reading;  // zero on both sides
        }
        const Along along = project(added_, 0);
        reading.factor = 1 + along.multiple;
        reading.factor_error = along.allowed;
        const Beyond now = beyond(0);
        const Beyond with_factor = beyond(along.multiple);
        reading.error = std::sqrt(now.squares) / scale;
        reading.rest = std::sqrt(with_factor.squares) / scale;
        reading.factor_explains = with_factor.share <= 1;
        reading.misfit = now.misfit;
        for (const std::vector<double>& branch : parts_.branches) {
            reading.branches.push_back(1 + project(branch, 0).multiple);
        }
        reading.wrong_rows = now.wrong_rows;
        reading.tolerance =
            now.share > 0 ? reading.error / now.share : rounding_factor * std::sqrt(sum(estimate_)) / scale;
        return reading;
    }

  private:
    struct Along {
        double multiple = 0;  // of a direction that the difference contains
        double allowed = 0;   // what rounding can make of it
        double share = 0;     // of what is allowed
    };
    struct Beyond {
        double squares = 0;  // of the difference
        double misfit = 0;   // those over the estimates
        double share = 0;    // how far it is beyond rounding; 1 is the border
        std::size_t wrong_rows = 0;
    };

    static double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

    double difference(std::size_t i, double multiple) const { return saved_[i] - value_[i] - multiple * added_[i]; }

    // Both questions of a difference from which a multiple of what is added was taken.
    Beyond beyond(double multiple) const {
        Beyond result;
        for (std::size_t row = 0; row < size_; row += dim_) {
            double row_sum = 0;
            for (std::size_t i = row; i < row + dim_; ++i) {
                const double squared = difference(i, multiple) * difference(i, multiple);
                result.squares += squared;
                row_sum += squared == 0 ? 0 : squared / estimate_[i];
            }
            result.misfit += row_sum;
            const double row_size = std::sqrt(row_sum / static_cast<double>(dim_));
            if (!(row_size / rounding_factor <= result.share)) {  // also where it is no number
                result.share = row_size / rounding_factor;
            }
            result.wrong_rows += row_size > rounding_factor ? 1 : 0;
        }
        result.share = std::max(result.share, project(added_, multiple).share);
        for (const std::vector<double>& branch : parts_.branches) {
            result.share = std::max(result.share, project(branch, multiple).share);
        }
        return result;
    }

    // The multiple of a direction V that is in the difference D, by least squares with the weights w = 1/estimate: its
    // standard error is 1/sqrt(sum w V^2). Beside that what does not average out: a rounding that the whole place, a
    // channel (a gain) or a row (the scale of a norm) has in common; and what the type makes of a small V in a large
    // stream: a V of less than half the distance of neighbouring numbers is lost altogether, and all of it is D then.
    // `rounded` shows that part, where the run's arithmetic is that of the equation; otherwise errors are independent.
    // And V itself is known from rounded outputs, whose errors are in D with the opposite sign (`of_outputs`).
    Along project(const std::vector<double>& direction, double multiple) const {
        double squares = 0;
        double along = 0;
        double lost = 0;
        double doubted = 0;
        double together = 0;
        double rows = 0;
        std::vector<double> channels(dim_, 0);
        for (std::size_t row = 0; row < size_; row += dim_) {
            double of_row = 0;
            for (std::size_t i = row; i < row + dim_; ++i) {
                if (direction[i] == 0 || !(estimate_[i] > 0)) {
                    continue;
                }
                const double weighted = direction[i] / estimate_[i];
                squares += direction[i] * weighted;
                along += difference(i, multiple) * weighted;
                lost += parts_.rounded.empty() ? 0 : (parts_.rounded[i] - value_[i]) * weighted;
                doubted += parts_.of_outputs.empty() ? 0 : parts_.of_outputs[i] * parts_.of_outputs[i] / estimate_[i];
                of_row += value_[i] * weighted;
                channels[i - row] += value_[i] * weighted;
            }
            together += of_row;
            rows += of_row * of_row;
        }
        if (!(squares > 0)) {
            return {};
        }
        double by_channel = 0;
        for (const double channel : channels) {
            by_channel += channel * channel;
        }
        Along result;
        result.multiple = along / squares;
        result.allowed =
            factor_deviations / std::sqrt(squares) +
            (arithmetic_share * std::fabs(lost) + output_share * doubted) / squares +
            roundoff_ * (shared_roundings + (std::fabs(together) + std::sqrt(rows + by_channel)) / squares);
        result.share = share_of(std::min(std::fabs(along), std::fabs(along - lost)) / squares, result.allowed);
        return result;
    }

    const std::vector<double>& value_;
    const std::vector<double>& saved_;
    const PlaceParts& parts_;
    double roundoff_;
    std::size_t dim_;
    std::size_t size_;
    std::vector<double> added_;     // by the sub-layers, or all of it
    std::vector<double> estimate_;  // squares of what rounding may have done to a difference
};

}  // namespace

PlaceReading compare_rows(const Estimate& computed, const SavedRows& saved, const PlaceParts& parts, double roundoff,
                          std::size_t dim) {
    return Comparison(computed, saved, parts, roundoff, dim).read();
}

double error_of_rows(const std::vector<double>& computed, const SavedRows& saved, const std::vector<double>* base) {
    double squares = 0;
    for (std::size_t i = 0; i < computed.size(); ++i) {
        squares += (saved.values[i] - computed[i]) * (saved.values[i] - computed[i]);
    }
    const double against = squares_to_count_against(computed, saved.values, base);
    return against == 0 ? 0 : std::sqrt(squares / against);
}

void fit_gains(Estimate& computed, const SavedRows& saved, std::size_t dim) {
    const std::size_t count = computed.value.size() / dim;
    const auto rows = static_cast<double>(count);
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
