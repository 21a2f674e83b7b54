// The small model that changes of an equation are tried on, written out in plain loops.
#include "check/trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "scheme/rows.hpp"
#include "scheme/typing.hpp"

namespace flyball::check {

namespace {

constexpr std::size_t trial_rows = 8;
constexpr std::size_t trial_dim = 12;

std::vector<double> drawn(std::size_t count, double deviation, std::uint64_t stream) {
    std::vector<double> values(count);
    Random(7, stream).fill_normal(values);
    for (double& value : values) {
        value *= deviation;
    }
    return values;
}

// out[i] = sum_k matrix[i, k] in[k], both of trial_dim numbers.
void multiply(const std::vector<double>& matrix, const double* in, double* out) {
    for (std::size_t i = 0; i < trial_dim; ++i) {
        out[i] = 0;
        for (std::size_t k = 0; k < trial_dim; ++k) {
            out[i] += matrix[i * trial_dim + k] * in[k];
        }
    }
}

class TrialSubLayers {
  public:
    explicit TrialSubLayers(std::uint64_t block) : first_stream_(1 + 5 * block) {}

    void run(scheme::SubLayer sub_layer, const double* in, double* out) const {
        if (sub_layer == scheme::SubLayer::attention) {
            attend(in, out);
        } else {
            feed(in, out);
        }
    }

  private:
    static constexpr double root = 0.2886751345948129;  // 1/sqrt(trial_dim)

    void attend(const double* in, double* out) const {
        std::vector<double> keys(trial_rows * trial_dim);
        std::vector<double> values(trial_rows * trial_dim);
        for (std::size_t j = 0; j < trial_rows; ++j) {
            multiply(key_, in + j * trial_dim, &keys[j * trial_dim]);
            multiply(value_, in + j * trial_dim, &values[j * trial_dim]);
        }
        for (std::size_t i = 0; i < trial_rows; ++i) {
            std::vector<double> scores(trial_rows, 0.0);
            for (std::size_t j = 0; j < trial_rows; ++j) {
                for (std::size_t k = 0; k < trial_dim; ++k) {
                    scores[j] += in[i * trial_dim + k] * keys[j * trial_dim + k];
                }
            }
            const double largest = *std::max_element(scores.begin(), scores.end());
            double sum = 0;
            for (double& score : scores) {
                score = std::exp(score - largest);
                sum += score;
            }
            for (std::size_t k = 0; k < trial_dim; ++k) {
                out[i * trial_dim + k] = 0;
                for (std::size_t j = 0; j < trial_rows; ++j) {
                    out[i * trial_dim + k] += scores[j] / sum * values[j * trial_dim + k];
                }
            }
        }
    }

    void feed(const double* in, double* out) const {
        std::vector<double> inner(trial_dim);
        for (std::size_t i = 0; i < trial_rows; ++i) {
            multiply(first_, in + i * trial_dim, inner.data());
            for (std::size_t k = 0; k < trial_dim; ++k) {
                inner[k] = std::tanh(inner[k] + bias_[k]);
            }
            multiply(second_, inner.data(), out + i * trial_dim);
        }
    }

    std::uint64_t first_stream_;
    std::vector<double> key_ = drawn(trial_dim * trial_dim, root, first_stream_);
    std::vector<double> value_ = drawn(trial_dim * trial_dim, root, first_stream_ + 1);
    std::vector<double> first_ = drawn(trial_dim * trial_dim, root, first_stream_ + 2);
    std::vector<double> second_ = drawn(trial_dim * trial_dim, root, first_stream_ + 3);
    std::vector<double> bias_ = drawn(trial_dim, 0.5, first_stream_ + 4);
};

// By instance; a number for each channel.
scheme::LearnedValues learned_values(const scheme::Program& program, const scheme::Code& code,
                                     const scheme::Environment& env, LearnedAt at, std::optional<std::size_t> moved) {
    scheme::LearnedValues values = scheme::initial_learned(program, code, env);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t parameter = i % program.learned().size();
        const bool per_channel = program.learned()[parameter].per_channel;
        std::vector<double> own(per_channel ? trial_dim : 1, values[i][0]);
        for (std::size_t k = 0; k < own.size(); ++k) {
            const auto channel = static_cast<double>(k);
            if (at == LearnedAt::generic) {
                own[k] = 0.61 + 0.07 * static_cast<double>(parameter) + 0.05 * std::sin(1 + channel);
            }
            if (moved == parameter) {
                own[k] += 0.37 + 0.11 * std::cos(2 * channel);
            }
        }
        values[i] = std::move(own);
    }
    return values;
}

}  // namespace

bool mentions(const scheme::Expression& expression, std::initializer_list<scheme::Quantity> quantities) {
    bool found = false;
    scheme::walk(expression, [&](const scheme::Expression& e) {
        found = found || (e.kind == scheme::Expression::Kind::quantity &&
                          std::find(quantities.begin(), quantities.end(), e.quantity) != quantities.end());
    });
    return found;
}

std::vector<scheme::Environment> environments(std::size_t depth, const Settings& settings) {
    std::vector<scheme::Environment> places;
    for (std::size_t l = 1; l <= depth; ++l) {
        places.push_back(scheme::Environment::block(l, depth, settings.dt, settings.tokens, settings.width));
    }
    return places;
}

std::vector<double> trial(const scheme::Program& program, const Settings& settings, LearnedAt learned,
                          std::optional<std::size_t> moved) {
    constexpr auto both = scheme::SubLayers::attention_and_ffn;
    scheme::RowStep<double> step(program, both, trial_rows, trial_dim);
    auto state = scheme::State<double>::start(program, trial_rows, trial_dim, drawn(trial_rows * trial_dim, 1, 0));
    const std::vector<scheme::Environment> places = environments(settings.depth, settings);
    std::uint64_t block = 0;
    for (const scheme::Environment& env : places) {
        const TrialSubLayers sub_layers(block++);
        const auto call = [&](scheme::SubLayer sub_layer, const double* in, double* out) {
            sub_layers.run(sub_layer, in, out);
        };
        const scheme::Code code = lower_block(program, both, program.decide(env));
        step.layer(env, state, call, {learned_values(program, code, env, learned, moved), {}});
    }
    const scheme::Environment& last = places.back();
    std::vector<double> out(trial_rows * trial_dim);
    const scheme::Code code = lower_readout(program, program.decide(last));
    step.readout(last, state, out, {learned_values(program, code, last, learned, moved), {}});
    return out;
}

// Two starts that differ in every stream before the block, with the same embedding and the same outputs of sub-layers:
// x after the block differs if and only if there is a way around the sub-layers.
std::vector<bool> residual_blocks(const scheme::Program& program, const Settings& settings) {
    constexpr auto both = scheme::SubLayers::attention_and_ffn;
    constexpr std::size_t size = trial_rows * trial_dim;
    constexpr double unseen = 1e-12;
    const std::vector<double> embedding = drawn(size, 1, 0);
    const std::array<std::vector<double>, 2> given = {drawn(size, 1, 1), drawn(size, 1, 2)};
    const auto call = [&](scheme::SubLayer sub_layer, const double*, double* out) {
        const std::vector<double>& held = given[sub_layer == scheme::SubLayer::attention ? 0 : 1];
        std::copy(held.begin(), held.end(), out);
    };
    scheme::RowStep<double> step(program, both, trial_rows, trial_dim);
    std::vector<bool> carried;
    for (const scheme::Environment& env : environments(settings.depth, settings)) {
        const scheme::Code code = lower_block(program, both, program.decide(env));
        std::array<std::vector<double>, 2> after;
        for (std::size_t start = 0; start < after.size(); ++start) {
            auto state = scheme::State<double>::start(program, trial_rows, trial_dim, embedding);
            for (std::size_t s = 0; s < state.streams.size(); ++s) {
                state.streams[s] = drawn(size, 1, 3 + 2 * s + start);
            }
            step.layer(env, state, call, {learned_values(program, code, env, LearnedAt::generic, std::nullopt), {}});
            after[start] = state.streams[0];
        }
        carried.push_back(relative_difference(after[0], after[1]) > unseen);
    }
    return carried;
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    double apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
            return std::numeric_limits<double>::infinity();
        }
        largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
        apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return largest == 0 ? 0 : apart / largest;
}

}  // namespace flyball::check
