// Forward and backward of a batch, what a training step does before its optimiser: tokens a second and the share of the
// multiply-add peak measured in the same run.
//
//     flyball_bench_step [--layers N] [--dim N] [--heads N] [--vocab N] [--tokens T] [--sequences B] [--rounds N]
//                        [--keep inputs|everything]
//
// Defaults: a character model of 6 blocks and 384 channels, 8 sequences of 256 tokens. Operations are those of the
// matrix products, six for each weight and token, half of the score matrix; what Keep::inputs computes again is not
// counted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "model/initialise.hpp"
#include "model/pass.hpp"
#include "peak.hpp"

using namespace flyball;

int main(int count, char** values) {
    std::map<std::string, std::string> given = {{"--layers", "6"},  {"--dim", "384"},        {"--heads", "6"},
                                                {"--vocab", "128"}, {"--tokens", "256"},     {"--sequences", "8"},
                                                {"--rounds", "5"},  {"--keep", "everything"}};
    for (int i = 1; i + 1 < count; i += 2) {
        given.at(values[i]) = values[i + 1];
    }
    const auto number = [&given](const char* key) {
        return static_cast<std::size_t>(std::strtoull(given.at(key).c_str(), nullptr, 10));
    };
    model::Architecture a;
    a.layers = number("--layers");
    a.dim = number("--dim");
    a.heads = a.kv_heads = number("--heads");
    a.head_dim = a.dim / a.heads;
    a.ffn_dim = 4 * a.dim;
    a.vocab = number("--vocab");
    a.positions = number("--tokens");
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    const model::Batch batch(number("--sequences"), number("--tokens"));
    const model::Model<float> model = model::initialised<float>(a, {}, 1);
    std::vector<std::int32_t> ids(batch.rows());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<std::int32_t>((i * 7919 + i / 7 + 13) % a.vocab);
    }
    const std::vector<std::int32_t> targets = model::next_tokens(ids, batch.sequences);
    model::Pass<float> pass(model, batch,
                            given.at("--keep") == "inputs" ? model::Keep::inputs : model::Keep::everything);
    model::Parameters<float> gradients(model.layout());

    double best = 1e300;
    double best_forward = 1e300;
    double peak = 0;
    double loss = 0;
    for (std::size_t round = 0; round < number("--rounds"); ++round) {
        peak = std::max(peak, bench::measured_peak<float>());
        std::fill(gradients.all().begin(), gradients.all().end(), 0.0F);
        const auto start = std::chrono::steady_clock::now();
        const auto since = [&start] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        pass.forward(ids);
        best_forward = std::min(best_forward, since());
        loss = pass.loss_and_backward(targets, gradients);
        best = std::min(best, since());
    }
    const auto rows = static_cast<double>(batch.rows());
    const auto d = static_cast<double>(a.dim);
    const auto blocks = static_cast<double>(a.layers);
    const double operations = rows * (6 * (12 * blocks * d * d + static_cast<double>(a.vocab) * d) +
                                      6 * blocks * static_cast<double>(batch.tokens) * d);
    std::printf("%zu x %zu tokens, %d threads, multiply-add peak %.0f GFLOP/s, loss %.6f\n", batch.sequences,
                batch.tokens, threads(), peak * 1e-9, loss);
    std::printf("forward %.3f s, forward and backward %.3f s, %.0f tokens a second, %.0f %% of peak\n", best_forward,
                best, rows / best, 100 * operations / best / peak);
    return 0;
}
