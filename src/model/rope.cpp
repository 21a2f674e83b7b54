#include "model/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "core/error.hpp"
#include "model/family.hpp"

namespace flyball::model {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

// Long waves are stretched, short ones kept, those between get a mixture.
void scale_llama3(const Rope& rope, std::vector<double>& frequencies) {
    const auto context = static_cast<double>(rope.original_positions);
    for (double& frequency : frequencies) {
        const double wavelength = two_pi / frequency;
        if (wavelength > context / rope.low_frequency) {
            frequency /= rope.factor;
        } else if (wavelength >= context / rope.high_frequency) {
            const double smooth =
                (context / wavelength - rope.low_frequency) / (rope.high_frequency - rope.low_frequency);
            frequency = (1 - smooth) * frequency / rope.factor + smooth * frequency;
        }
    }
}

// Channels that turn more than beta_fast times over the context are kept, fewer than beta_slow: stretched, between: a
// ramp.
void scale_yarn(const Rope& rope, std::vector<double>& frequencies) {
    const auto dims = static_cast<double>(rope.dims);
    const auto channel_of = [&](double turns) {
        return dims * std::log(static_cast<double>(rope.original_positions) / (turns * two_pi)) /
               (2 * std::log(rope.theta));
    };
    double low = channel_of(rope.beta_fast);
    double high = channel_of(rope.beta_slow);
    if (rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, dims - 1);
    if (low == high) {
        high += 0.001;
    }
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
        frequencies[i] *= ramp / rope.factor + (1 - ramp);
    }
}

}  // namespace

std::vector<double> rope_frequencies(const Rope& rope, std::size_t tokens) {
    const auto dims = static_cast<double>(rope.dims);
    double theta = rope.theta;
    if (rope.scaling == Rope::Scaling::dynamic) {
        const auto trained = static_cast<double>(rope.original_positions);
        const double length = std::max(static_cast<double>(tokens), trained);
        theta *= std::pow(rope.factor * length / trained - (rope.factor - 1), dims / (dims - 2));
    }
    std::vector<double> frequencies(rope.dims / 2);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        frequencies[i] = std::pow(theta, -2 * static_cast<double>(i) / dims);
    }
    if (rope.scaling == Rope::Scaling::linear) {
        for (double& frequency : frequencies) {
            frequency /= rope.factor;
        }
    } else if (rope.scaling == Rope::Scaling::llama3) {
        scale_llama3(rope, frequencies);
    } else if (rope.scaling == Rope::Scaling::yarn) {
        scale_yarn(rope, frequencies);
    }
    return frequencies;
}

template <class Real>
RopeTable<Real>::RopeTable(const Rope& rope, std::size_t tokens) : half(rope.dims / 2) {
    const std::vector<double> frequencies = rope_frequencies(rope, tokens);
    cosine.resize(tokens * half);
    sine.resize(tokens * half);
    for (std::size_t p = 0; p < tokens; ++p) {
        for (std::size_t i = 0; i < half; ++i) {
            double angle = static_cast<double>(p) * frequencies[i];
            if constexpr (std::is_same_v<Real, float>) {
                angle = static_cast<double>(static_cast<float>(p) * static_cast<float>(frequencies[i]));
            }
            cosine[p * half + i] = static_cast<Real>(rope.attention_factor * std::cos(angle));
            sine[p * half + i] = static_cast<Real>(rope.attention_factor * std::sin(angle));
        }
    }
}

template <class Real>
void turn(const RopeTable<Real>& table, std::size_t begin, std::size_t end, std::size_t heads, std::size_t head_dim,
          Real* x, std::size_t stride, bool back) {
    const std::size_t half = table.half;
    for (std::size_t p = begin; p < end; ++p) {
        const Real* c = table.cosine.data() + p * half;
        const Real* s = table.sine.data() + p * half;
        for (std::size_t h = 0; h < heads; ++h) {
            Real* __restrict a = x + p * stride + h * head_dim;
            Real* __restrict b = a + half;
            for (std::size_t i = 0; i < half; ++i) {
                const Real sine = back ? -s[i] : s[i];
                const Real first = a[i] * c[i] - b[i] * sine;
                b[i] = b[i] * c[i] + a[i] * sine;
                a[i] = first;
            }
        }
    }
}

template struct RopeTable<float>;
template struct RopeTable<double>;
template void turn(const RopeTable<float>&, std::size_t, std::size_t, std::size_t, std::size_t, float*, std::size_t,
                   bool);
template void turn(const RopeTable<double>&, std::size_t, std::size_t, std::size_t, std::size_t, double*, std::size_t,
                   bool);

Rope rope_of(const ConfigReader& config, std::size_t head_dim, std::size_t positions) {
    // Newer files keep everything in rope_parameters, older ones in rope_theta and rope_scaling.
    const bool newer = config.has("rope_parameters");
    const ConfigReader scaling = config.object(newer ? "rope_parameters" : "rope_scaling");
    Rope rope;
    rope.theta = scaling.number("rope_theta", config.number("rope_theta", 10000));
    const double part = scaling.number("partial_rotary_factor", config.number("partial_rotary_factor", 1));
    if (!(part > 0 && part <= 1)) {
        config.fail("partial_rotary_factor", "a number above 0, at most 1");
    }
    rope.dims = static_cast<std::size_t>(static_cast<double>(head_dim) * part);
    rope.original_positions = scaling.size("original_max_position_embeddings", positions, 1);
    const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
    rope.factor = scaling.number("factor", 1);
    if (type == "default") {
        rope.scaling = Rope::Scaling::none;
    } else if (type == "linear") {
        rope.scaling = Rope::Scaling::linear;
    } else if (type == "dynamic") {
        rope.scaling = Rope::Scaling::dynamic;
        rope.original_positions = positions;
    } else if (type == "llama3") {
        rope.scaling = Rope::Scaling::llama3;
        rope.low_frequency = scaling.number("low_freq_factor", 1);
        rope.high_frequency = scaling.number("high_freq_factor", 4);
    } else if (type == "yarn") {
        rope.scaling = Rope::Scaling::yarn;
        rope.beta_fast = scaling.number("beta_fast", 32);
        rope.beta_slow = scaling.number("beta_slow", 1);
        rope.truncate = scaling.flag("truncate", true);
        const auto scale_of = [&](double weight) {
            return rope.factor <= 1 ? 1.0 : 0.1 * weight * std::log(rope.factor) + 1;
        };
        const double above = scaling.number("mscale", 0);
        const double below = scaling.number("mscale_all_dim", 0);
        const double factor = above != 0 && below != 0 ? scale_of(above) / scale_of(below) : scale_of(1);
        rope.attention_factor = scaling.number("attention_factor", factor);
    } else {
        scaling.fail(scaling.has("rope_type") ? "rope_type" : "type", "one of default, linear, dynamic, llama3, yarn");
    }
    const bool positive = rope.theta > 1 && rope.factor >= 1 && rope.low_frequency > 0 &&
                          rope.high_frequency > rope.low_frequency && rope.beta_fast > 0 && rope.beta_slow > 0 &&
                          (rope.scaling != Rope::Scaling::dynamic || rope.dims > 2);
    if (!positive || rope.dims < 2) {
        config.fail(newer                        ? "rope_parameters"
                    : config.has("rope_scaling") ? "rope_scaling"
                                                 : "rope_theta",
                    "rope_theta above 1, factor at least 1, and frequency factors that grow");
    }
    return rope;
}

}  // namespace flyball::model
