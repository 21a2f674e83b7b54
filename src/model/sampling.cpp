#include "model/sampling.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/random.hpp"

namespace flyball::model {

namespace {

constexpr std::uint64_t stream = 0x73616d706c65;  // "sample": no other quantity draws from it

// Whether the logits are a distribution: no NaN, no plus infinity, and one that is finite.
template <class Real>
bool is_distribution(std::span<const Real> logits) {
    bool found = false;
    for (const Real logit : logits) {
        if (std::isnan(logit) || logit == std::numeric_limits<Real>::infinity()) {
            return false;
        }
        found = found || std::isfinite(logit);
    }
    return found;
}

// The ids of the `count` largest logits, in no order.
template <class Real>
std::vector<std::int32_t> largest(std::span<const Real> logits, std::size_t count) {
    std::vector<std::int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    if (count < ids.size()) {
        const auto is_larger = [&](std::int32_t a, std::int32_t b) {
            const Real left = logits[static_cast<std::size_t>(a)];
            const Real right = logits[static_cast<std::size_t>(b)];
            return left > right || (left == right && a < b);
        };
        std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(), is_larger);
        ids.resize(count);
    }
    return ids;
}

}  // namespace

void check(const Sampling& sampling) {
    if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature)) {
        throw Error(ErrorKind::usage, "model.sampling", setting("temperature", format_double(sampling.temperature)),
                    "0 for the likeliest token, or a positive number");
    }
}

template <class Real>
std::vector<double> probabilities(std::span<const Real> logits, const Sampling& sampling) {
    check(sampling);
    if (!is_distribution(logits)) {
        return {};
    }
    std::vector<double> result(logits.size(), 0.0);
    const auto most = std::max_element(logits.begin(), logits.end());  // the first of equals
    if (sampling.temperature == 0) {
        result[static_cast<std::size_t>(most - logits.begin())] = 1;
        return result;
    }
    std::vector<std::int32_t> kept = largest(logits, sampling.top == 0 ? logits.size() : sampling.top);
    std::sort(kept.begin(), kept.end());  // one order of the sum
    double sum = 0;
    for (const std::int32_t id : kept) {
        const auto i = static_cast<std::size_t>(id);
        const double below = static_cast<double>(logits[i]) - static_cast<double>(*most);
        result[i] = std::exp(below / sampling.temperature);
        sum += result[i];
    }
    for (double& probability : result) {
        probability /= sum;
    }
    return result;
}

std::int32_t token_at(std::span<const double> probabilities, double u) {
    assert(u > 0 && u < 1);
    double sum = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        if (probabilities[i] > 0) {
            sum += probabilities[i];
            last = i;
            if (sum > u) {
                break;
            }
        }
    }
    return static_cast<std::int32_t>(last);  // rounding may leave the sum of all a little below u
}

template <class Real>
std::optional<std::int32_t> choose_token(std::span<const Real> logits, const Sampling& sampling, std::uint64_t seed,
                                         std::uint64_t index) {
    const std::vector<double> weights = probabilities(logits, sampling);
    if (weights.empty()) {
        return std::nullopt;
    }
    return token_at(weights, Random(seed, stream).uniform(index));
}

template std::vector<double> probabilities(std::span<const float>, const Sampling&);
template std::vector<double> probabilities(std::span<const double>, const Sampling&);
template std::optional<std::int32_t> choose_token(std::span<const float>, const Sampling&, std::uint64_t,
                                                  std::uint64_t);
template std::optional<std::int32_t> choose_token(std::span<const double>, const Sampling&, std::uint64_t,
                                                  std::uint64_t);

}  // namespace flyball::model
