#include "model/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flyball::model {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

// What the exponents of the frequencies count.
double counted_channels(const Rope& rope) {
    return static_cast<double>(rope.dims) - (rope.odd ? 1 : 0);
}

// `dynamic` makes theta grow once a text is longer than what the model was trained for.
template <class Real>
Real theta_for(const Rope& rope, std::size_t tokens) {
    if (rope.scaling != Rope::Scaling::dynamic || static_cast<double>(tokens) <= rope.original_positions) {
        return static_cast<Real>(rope.theta);
    }
    const double dims = counted_channels(rope);
    const Real longer =
        static_cast<Real>(rope.factor) * static_cast<Real>(tokens) / static_cast<Real>(rope.original_positions) -
        static_cast<Real>(rope.factor - 1);
    return static_cast<Real>(rope.theta) * static_cast<Real>(std::pow(longer, static_cast<Real>(dims / (dims - 2))));
}

// With c the context that was trained for and wave = 2 pi/frequency:
//
//     wave > c/low             frequency/factor                    stretched
//     wave < c/high            frequency                           kept
//     between                  a mixture, linear in c/wave
template <class Real>
void scale_llama3(const Rope& rope, std::vector<Real>& frequencies) {
    const auto context = static_cast<Real>(rope.original_positions);
    const auto factor = static_cast<Real>(rope.factor);
    for (Real& frequency : frequencies) {
        const Real wavelength = static_cast<Real>(two_pi) / frequency;
        if (wavelength > static_cast<Real>(rope.original_positions / rope.low_frequency)) {
            frequency /= factor;
        } else if (wavelength >= static_cast<Real>(rope.original_positions / rope.high_frequency)) {
            const Real smooth = (context / wavelength - static_cast<Real>(rope.low_frequency)) /
                                static_cast<Real>(rope.high_frequency - rope.low_frequency);
            frequency = (1 - smooth) * frequency / factor + smooth * frequency;
        }
    }
}

// Channels that turn more than beta_fast times over the context are kept, fewer than beta_slow: stretched, between: a
// ramp.
template <class Real>
void scale_yarn(const Rope& rope, const std::vector<Real>& periods, std::vector<Real>& frequencies) {
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
        const Real ramp = std::clamp((static_cast<Real>(i) - static_cast<Real>(low)) / static_cast<Real>(high - low),
                                     Real{0}, Real{1});
        const Real kept = 1 - ramp;
        const Real stretched = 1 / (static_cast<Real>(rope.factor) * periods[i]);
        frequencies[i] = stretched * (1 - kept) + frequencies[i] * kept;
    }
}

}  // namespace

// period_i = theta^(2 i/dims), frequency_i = 1/period_i, then the scaling.
template <class Real>
std::vector<Real> rope_frequencies(const Rope& rope, std::size_t tokens) {
    const auto dims = static_cast<Real>(counted_channels(rope));
    const auto theta = static_cast<double>(theta_for<Real>(rope, tokens));
    std::vector<Real> periods(rope.dims / 2);
    std::vector<Real> frequencies(rope.dims / 2);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const Real exponent = static_cast<Real>(2 * i) / dims;
        periods[i] = static_cast<Real>(std::pow(theta, static_cast<double>(exponent)));
        frequencies[i] = 1 / periods[i];
    }
    if (rope.scaling == Rope::Scaling::linear) {
        for (Real& frequency : frequencies) {
            frequency /= static_cast<Real>(rope.factor);
        }
    } else if (rope.scaling == Rope::Scaling::llama3) {
        scale_llama3(rope, frequencies);
    } else if (rope.scaling == Rope::Scaling::yarn) {
        scale_yarn(rope, periods, frequencies);
    }
    return frequencies;
}

template <class Real>
RopeTable<Real>::RopeTable(const Rope& rope, std::size_t tokens) : half(rope.dims / 2) {
    const std::vector<Real> frequencies = rope_frequencies<Real>(rope, tokens);
    cosine.resize(tokens * half);
    sine.resize(tokens * half);
    for (std::size_t p = 0; p < tokens; ++p) {
        for (std::size_t i = 0; i < half; ++i) {
            const auto angle = static_cast<double>(static_cast<Real>(p) * frequencies[i]);
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

template std::vector<float> rope_frequencies(const Rope&, std::size_t);
template std::vector<double> rope_frequencies(const Rope&, std::size_t);
template struct RopeTable<float>;
template struct RopeTable<double>;
template class RopeTables<float>;
template class RopeTables<double>;
template void turn(const RopeTable<float>&, std::size_t, std::size_t, std::size_t, float*, bool);
template void turn(const RopeTable<double>&, std::size_t, std::size_t, std::size_t, double*, bool);

}  // namespace flyball::model
