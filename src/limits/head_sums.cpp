// What one row adds to its head: distances, separation, shape, sensitivity; then means.
#include "limits/head_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "limits/settings.hpp"

namespace flyball::limits {

namespace {

constexpr std::size_t fewest_keys = 3;
constexpr double active_mass = 0.9;
constexpr double slack = 1e-9;  // by how much rounding may break a bound

std::size_t whole_lanes(std::size_t count) {
    return (count + 31) / 32 * 32;
}

// Adds the rows of an analysis of separation into sums of the same shape.
void add_to(SeparationMeans& sums, const SeparationAtN& at, const SeparationAtN& distinct) {
    sums.ratio += at.ratio;
    sums.lower += at.lower;
    sums.upper += at.upper;
    sums.upper_patched += at.upper_patched;
    sums.lower_exact += at.lower_exact;
    sums.upper_exact += at.upper_exact;
    sums.lower_distinct += distinct.lower;
    sums.upper_distinct += distinct.upper;
    sums.lower_broken += at.lower > at.ratio + slack ? 1 : 0;
    sums.upper_broken += at.upper < at.ratio - slack ? 1 : 0;
    sums.patched_broken += at.upper_patched < at.ratio - slack ? 1 : 0;
    sums.exact_broken += at.lower_exact > at.ratio + slack || at.upper_exact < at.ratio - slack ? 1 : 0;
}

constexpr double SeparationMeans::*separation_members[] = {
    &SeparationMeans::ratio,          &SeparationMeans::lower,          &SeparationMeans::upper,
    &SeparationMeans::upper_patched,  &SeparationMeans::lower_exact,    &SeparationMeans::upper_exact,
    &SeparationMeans::lower_distinct, &SeparationMeans::upper_distinct, &SeparationMeans::lower_broken,
    &SeparationMeans::upper_broken,   &SeparationMeans::patched_broken, &SeparationMeans::exact_broken};

constexpr double HeadResult::*shape_members[] = {
    &HeadResult::entropy, &HeadResult::entropy_share, &HeadResult::active,  &HeadResult::active_share,
    &HeadResult::peak,    &HeadResult::spectral,      &HeadResult::infinity};

}  // namespace

std::vector<double> direction_of(std::uint64_t seed, std::size_t token, std::size_t keys) {
    std::vector<double> direction(keys);
    Random(seed, token).fill_normal(direction);
    double squares = 0;
    for (const double x : direction) {
        squares += x * x;
    }
    for (double& x : direction) {
        x /= std::sqrt(squares);
    }
    return direction;
}

HeadSums::HeadSums(const Plan& plan, const Normaliser& normaliser) : plan_(plan), normaliser_(normaliser) {
    for (const std::size_t length : plan.lengths) {
        Bucket bucket;
        bucket.distance.resize(length);
        bucket.expected.resize(length);
        bucket.rows.resize(length);
        bucket.listed.resize(plan.listed.size());
        buckets_.push_back(std::move(bucket));
    }
    if (plan.is_longest) {
        separation_.resize(plan.separation.size());
        separation_rows_.resize(plan.separation.size());
        sensitivity_.resize(plan.temperatures.size() * plan.steps.size());
        jacobian_.resize(plan.temperatures.size());
        received_.resize(plan.tokens());
        seen_by_.resize(plan.tokens());
        separated_.resize(plan.tokens());
    }
}

void HeadSums::leave_out(std::size_t token) {
    left_out_.push_back(token);
}

bool HeadSums::is_left_out(std::size_t token) const {
    return std::binary_search(left_out_.begin(), left_out_.end(), token);
}

// Algorithms 1 to 3 from the distances at every N, 4 from the separation, 5 from the sensitivity. With masked keys
// counted, distances and separation are over all keys, and what is about weights alone is over those that are seen.
void HeadSums::add(const RowOfHead& row, RowRoom& room) {
    RowInput input{row.gram, row.seen, row.weights, row.along};
    if (plan_.include_masked) {
        room.masked.assign(input, plan_.tokens());
        input = room.masked.row;
    }
    if (input.seen.count() < fewest_keys) {
        return;
    }
    room.walk.start(input);
    add_distances(row, room);
    if (plan_.is_longest) {
        room.order.clear();
        for (const std::size_t key : room.walk.order()) {
            const std::size_t at = input.seen.begin + key;
            if (at >= row.seen.begin && at < row.seen.end) {
                room.order.push_back(at - row.seen.begin);
            }
        }
        add_separation(row, input, room);
        if (row.seen.count() >= fewest_keys) {
            add_shape(row, room);
            add_sensitivity(row, room);
        }
    }
}

// Every N below the number of keys. What only the listed N need is computed up to the last of them.
void HeadSums::add_distances(const RowOfHead& row, RowRoom& room) {
    std::size_t k = 0;
    while (plan_.lengths[k] < row.token + 1) {
        ++k;
    }
    Bucket& bucket = buckets_[k];
    RowWalk& walk = room.walk;
    const std::size_t last = walk.keys() - 1;
    std::size_t listed = 0;
    for (std::size_t n = 1; n <= last; ++n) {
        walk.join(listed < plan_.listed.size());
        double expected = 0;
        if (listed < plan_.listed.size() && plan_.listed[listed] == n) {
            const DistanceAtN at = walk.at();
            expected = at.expected;
            Listed& sums = bucket.listed[listed];
            sums.rms += at.expected_rms;
            sums.bound += at.bound;
            sums.share += at.share;
            sums.uniformity += at.uniformity;
            ++listed;
        } else {
            expected = walk.expected();
        }
        bucket.distance[n - 1] += walk.distance();
        bucket.expected[n - 1] += expected;
        ++bucket.rows[n - 1];
    }
}

// With the least distance of any two vectors, as the theorem has it, and once more with that of two that differ.
void HeadSums::add_separation(const RowOfHead& row, const RowInput& input, RowRoom& room) {
    SeparationWalk& walk = room.separation;
    walk.start(*input.gram, input.seen, input.weights, room.walk.order());
    const std::size_t most = room.walk.keys() - 1;
    const double none = 2;  // where no two vectors differ, or there are no two: the largest distance there is
    const double any = std::min(row.least.any, none);
    const double distinct = std::min(row.least.distinct, none);
    saw_distinct_ = saw_distinct_ || any > 0;
    for (std::size_t k = 0; k < plan_.separation.size() && plan_.separation[k] <= most; ++k) {
        while (walk.selected() < plan_.separation[k]) {
            walk.join();
        }
        add_to(separation_[k], walk.at(any), walk.at(distinct));
        ++separation_rows_[k];
        if (plan_.separation[k] == n_of_diagnosis) {
            walk.separated(room.separated);
            for (const std::size_t key : room.separated) {
                const std::size_t at = input.seen.begin + key;
                if (at >= row.seen.begin && at < row.seen.end) {
                    separated_[row.token].push_back(static_cast<std::uint32_t>(at));
                }
            }
        }
    }
}

// Shares of the weight are over its sum, and so is the entropy, log(total) - logs/total, so that they are what they say
// also where weights do not add up to 1. Where one is negative there are none.
void HeadSums::add_shape(const RowOfHead& row, const RowRoom& room) {
    const std::size_t keys = row.seen.count();
    const std::vector<std::size_t>& order = room.order;
    const auto L = static_cast<double>(keys);
    double total = 0;
    double logs = 0;
    bool positive = true;
    for (std::size_t i = 0; i < keys; ++i) {
        const double weight = row.weights[i];
        total += weight;
        logs += weight > 0 ? weight * std::log(weight) : 0;
        positive = positive && weight >= 0;
    }
    const bool has_shares = positive && total > 0;
    for (std::size_t i = 0; i < keys; ++i) {
        received_[row.seen.begin + i] += has_shares ? row.weights[i] / total : std::nan("");
        ++seen_by_[row.seen.begin + i];
    }
    double mass = 0;
    std::size_t active = 0;
    while (active < keys && mass < active_mass * total) {
        mass += row.weights[order[active++]];
    }
    const double entropy = has_shares ? std::log(total) - logs / total : std::nan("");
    const double holding = has_shares ? static_cast<double>(active) : std::nan("");
    ++shape_.rows;
    shape_.entropy += entropy;
    shape_.entropy_share += entropy / std::log(L);
    shape_.active += holding;
    shape_.active_share += holding / L;
    shape_.peak += row.weights[order.front()];
}

namespace {

// The order of the keys is the same at every temperature. What is negligible for the norm is left off.
double ordered_spectral_norm(const std::vector<double>& weights, const std::vector<std::size_t>& order,
                             std::vector<double>& room) {
    room.resize(weights.size());
    const double least = negligible * weights[order[1]];
    std::size_t count = 0;
    while (count < order.size() && (count < 2 || weights[order[count]] > least)) {
        room[count] = weights[order[count]];
        ++count;
    }
    return sorted_spectral_norm(count, room.data());
}

}  // namespace

void HeadSums::add_jacobian(std::size_t t, const std::vector<std::size_t>& order, const std::vector<double>& weights,
                            std::vector<double>& room) {
    const double temperature = plan_.temperatures[t];
    const double spectral = ordered_spectral_norm(weights, order, room) / temperature;
    jacobian_[t].spectral += spectral;
    jacobian_[t].spectral_largest = std::max(jacobian_[t].spectral_largest, spectral);
    jacobian_[t].infinity += infinity_norm(weights[order[0]]) / temperature;
}

// g(T, eps) on the grid, by weights of l/T and of (l + eps v)/T, and for softmax the norms of the Jacobian at the same
// T: what g tends to for small eps in the worst direction.
void HeadSums::add_sensitivity(const RowOfHead& row, RowRoom& room) {
    const std::size_t keys = row.seen.count();
    const RowKernels& kernels = row_kernels();
    // Softmax, or softmax of a multiple of the logits, is what the norms are for.
    const bool is_softmax = normaliser_.kind() == Normaliser::Kind::softmax;
    const auto weigh = [&](double factor, double eps, std::vector<double>& out) {
        out.resize(whole_lanes(keys));
        kernels.shifted(keys, factor, eps, row.logits, row.direction, out.data());
        normaliser_.weigh(keys, out.data(), room.sort);
        out.resize(keys);
    };
    for (std::size_t t = 0; t < plan_.temperatures.size(); ++t) {
        const double factor = 1 / plan_.temperatures[t];
        weigh(factor, 0, room.base);
        if (is_softmax) {
            add_jacobian(t, room.order, room.base, room.sort);
        }
        for (std::size_t e = 0; e < plan_.steps.size(); ++e) {
            weigh(factor, plan_.steps[e], room.moved);
            const double squared = kernels.squared_difference(keys, room.base.data(), room.moved.data());
            sensitivity_[t * plan_.steps.size() + e] += std::sqrt(squared) / plan_.steps[e];
        }
    }
    if (is_softmax) {
        room.base.assign(row.weights, row.weights + keys);
        const Interval sets = infinity_to_one_norm(room.base);
        const std::vector<std::size_t>& order = room.order;
        shape_.spectral += ordered_spectral_norm(room.base, order, room.sort) / row.temperature;
        shape_.infinity += infinity_norm(room.base[order[0]]) / row.temperature;
        shape_.infinity_to_one.lower += sets.lower / row.temperature;
        shape_.infinity_to_one.upper += sets.upper / row.temperature;
    }
}

HeadSums::Curves HeadSums::curves(std::size_t length_index) const {
    const std::size_t most = plan_.lengths[length_index] - 1;
    Curves result{std::vector<double>(most), std::vector<double>(most)};
    for (std::size_t n = 0; n < most; ++n) {
        std::uint32_t rows = 0;
        for (std::size_t k = 0; k <= length_index; ++k) {
            if (n < buckets_[k].rows.size()) {
                result.distance[n] += buckets_[k].distance[n];
                result.expected[n] += buckets_[k].expected[n];
                rows += buckets_[k].rows[n];
            }
        }
        result.distance[n] /= rows;
        result.expected[n] /= rows;
    }
    return result;
}

// Sums over all buckets up to the length, over the rows that select so many keys.
DistanceMeans HeadSums::means(std::size_t length_index, std::size_t listed) const {
    DistanceMeans result;
    result.length = plan_.lengths[length_index];
    result.n = plan_.listed[listed];
    double rows = 0;
    for (std::size_t k = 0; k <= length_index; ++k) {
        const Bucket& bucket = buckets_[k];
        if (result.n <= bucket.rows.size()) {
            rows += bucket.rows[result.n - 1];
            result.distance += bucket.distance[result.n - 1];
            result.expected += bucket.expected[result.n - 1];
        }
        result.expected_rms += bucket.listed[listed].rms;
        result.bound += bucket.listed[listed].bound;
        result.share += bucket.listed[listed].share;
        result.uniformity += bucket.listed[listed].uniformity;
    }
    for (double* const value :
         {&result.distance, &result.expected, &result.expected_rms, &result.bound, &result.share, &result.uniformity}) {
        *value /= rows;  // NaN without a row
    }
    return result;
}

// Means over rows. A sink is a key that gets much weight from the rows that see it; keys that fewer than half of the
// rows see cannot be one. NaN where there is no such key, or one row has no shares of its weight.
HeadResult HeadSums::result() const {
    HeadResult result = shape_;
    const auto rows = static_cast<double>(shape_.rows);
    for (double HeadResult::*const member : shape_members) {
        result.*member /= rows;
    }
    result.infinity_to_one.lower /= rows;
    result.infinity_to_one.upper /= rows;
    if (normaliser_.kind() != Normaliser::Kind::softmax) {
        result.spectral = result.infinity = std::nan("");
        result.infinity_to_one = {std::nan(""), std::nan("")};
    }
    result.sink = std::nan("");
    for (std::size_t key = 0; key < received_.size(); ++key) {
        if (2 * seen_by_[key] >= shape_.rows && seen_by_[key] > 0) {
            const double mean = received_[key] / seen_by_[key];
            if (std::isnan(mean)) {
                result.sink = mean;
                break;
            }
            if (!(mean <= result.sink)) {
                result.sink = mean;
                result.sink_key = key;
            }
        }
    }
    for (std::size_t listed = 0; listed < plan_.listed.size(); ++listed) {
        for (std::size_t k = 0; plan_.listed[listed] == n_over_length && k < plan_.lengths.size(); ++k) {
            result.by_length.push_back(means(k, listed));
        }
        if (std::find(plan_.top.begin(), plan_.top.end(), plan_.listed[listed]) != plan_.top.end()) {
            result.by_n.push_back(means(plan_.lengths.size() - 1, listed));
        }
    }
    for (std::size_t k = 0; k < separation_.size(); ++k) {
        SeparationMeans means = separation_[k];
        means.n = plan_.separation[k];
        for (double SeparationMeans::*const member : separation_members) {
            means.*member /= separation_rows_[k];
        }
        result.separation.push_back(means);
    }
    for (std::size_t t = 0; t < jacobian_.size(); ++t) {
        for (std::size_t e = 0; e < plan_.steps.size(); ++e) {
            result.sensitivity.push_back(
                {plan_.temperatures[t], plan_.steps[e], sensitivity_[t * plan_.steps.size() + e] / rows});
        }
        JacobianMeans jacobian = jacobian_[t];
        jacobian.temperature = plan_.temperatures[t];
        jacobian.spectral /= rows;
        jacobian.infinity /= rows;
        result.jacobian.push_back(jacobian);
    }
    return result;
}

}  // namespace flyball::limits
