#include "model/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace flyball::model {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

// What the exponents of the frequencies count.
double counted_channels(const Rope& rope) {
    return static_cast<double>(rope.dims) - (rope.odd ? 1 : 0);
}

// With c the context that was trained for and wave = 2 pi/frequency:
//
//     wave > c/low             frequency/factor                    stretched
//     wave < c/high            frequency                           kept
//     between                  a mixture, linear in c/wave
void scale_llama3(const Rope& rope, std::vector<double>& frequencies) {
    const double context = rope.original_positions;
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
    const double dims = counted_channels(rope);
    const auto channel_of = [&](double turns) {
        return dims * std::log(rope.original_positions / (turns * two_pi)) / (2 * std::log(rope.theta));
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

// frequency_i = theta^(-2 i/dims), then the scaling. `dynamic` makes theta grow once a text is longer than what the
// model was trained for, so that frequencies depend on the number of tokens.
std::vector<double> rope_frequencies(const Rope& rope, std::size_t tokens) {
    const double dims = counted_channels(rope);
    double theta = rope.theta;
    if (rope.scaling == Rope::Scaling::dynamic) {
        const double trained = rope.original_positions;
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
RopeTables<Real>::RopeTables(const Architecture& architecture, std::size_t tokens)
    : everywhere_(architecture.rope, tokens) {
    if (architecture.window_rope) {
        in_windows_ = RopeTable<Real>(*architecture.window_rope, tokens);
    }
}

template <class Real>
void turn(const RopeTable<Real>& table, std::size_t position, std::size_t heads, std::size_t head_dim, Real* row,
          bool back) {
    const std::size_t half = table.half;
    const Real* c = table.cosine.data() + position * half;
    const Real* s = table.sine.data() + position * half;
    for (std::size_t h = 0; h < heads; ++h) {
        Real* __restrict a = row + h * head_dim;
        Real* __restrict b = a + half;
        for (std::size_t i = 0; i < half; ++i) {
            const Real sine = back ? -s[i] : s[i];
            const Real first = a[i] * c[i] - b[i] * sine;
            b[i] = b[i] * c[i] + a[i] * sine;
            a[i] = first;
        }
    }
}

template struct RopeTable<float>;
template struct RopeTable<double>;
template class RopeTables<float>;
template class RopeTables<double>;
template void turn(const RopeTable<float>&, std::size_t, std::size_t, std::size_t, float*, bool);
template void turn(const RopeTable<double>&, std::size_t, std::size_t, std::size_t, double*, bool);

}  // namespace flyball::model
