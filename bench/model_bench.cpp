// A model forward with the statistics of all heads streamed: seconds, share of the multiply-add peak measured in the
// same run, and the memory it took.
//
//     flyball_bench_model [FOLDER] [--tokens N] [--rounds N] [--json]
//
// Without a folder: the 124M configuration of GPT-2 with random weights. share = operations / seconds / peak, where the
// operations are those of the matrix products, half of the score matrix under the causal mask. bench/compare_model.py
// runs it beside torch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "model/initialise.hpp"
#include "model/pass.hpp"
#include "peak.hpp"

namespace {

using namespace flyball;

model::Architecture gpt2_small() {
    model::Architecture a;
    a.layers = 12;
    a.dim = 768;
    a.heads = a.kv_heads = 12;
    a.head_dim = 64;
    a.ffn_dim = 3072;
    a.vocab = 50257;
    a.positions = 1024;
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return a;
}

double operations(const model::Architecture& a, std::size_t tokens, bool head) {
    const auto t = static_cast<double>(tokens);
    const auto d = static_cast<double>(a.dim);
    const double matrices = d * static_cast<double>(a.qkv_width() + a.query_width()) +
                            d * static_cast<double>(a.ffn_dim * (a.gated ? 3 : 2));
    const double scores = (a.causal ? 1 : 2) * t * static_cast<double>(a.query_width());
    return 2 * t * static_cast<double>(a.layers) * (matrices + scores) +
           (head ? 2 * t * d * static_cast<double>(a.vocab) : 0);
}

// What a depth report or a study of attention sums up: how sharp a row is, and how much goes to the first token.
struct HeadSums {
    double squares = 0;
    double largest = 0;
    double first = 0;
};

void add_block(const model::TapView<float>& view, HeadSums& sums) {
    constexpr std::size_t lanes = 8;
    for (std::size_t i = 0; i < view.rows; ++i) {
        const float* row = view.row(i);
        float squares[lanes] = {};
        float largest[lanes] = {};
        std::size_t k = 0;
        for (; k + lanes <= view.columns; k += lanes) {
            for (std::size_t j = 0; j < lanes; ++j) {
                squares[j] += row[k + j] * row[k + j];
                largest[j] = row[k + j] > largest[j] ? row[k + j] : largest[j];
            }
        }
        for (; k < view.columns; ++k) {
            squares[0] += row[k] * row[k];
            largest[0] = std::max(largest[0], row[k]);
        }
        for (std::size_t j = 0; j < lanes; ++j) {
            sums.squares += static_cast<double>(squares[j]);
        }
        sums.largest += static_cast<double>(*std::max_element(largest, largest + lanes));
        sums.first += view.first_column == 0 ? static_cast<double>(row[0]) : 0;
    }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The largest resident size since the program started; getrusage would count the process that started it too.
double peak_megabytes() {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kilobytes = 0;
    while (status >> word && word != "VmHWM:") {
    }
    status >> kilobytes;
    return kilobytes / 1024;
}

}  // namespace

int main(int count, char** values) {
    std::string folder;
    std::size_t tokens = 1024;
    int rounds = 5;
    bool json = false;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(values[i], "--tokens") == 0 && i + 1 < count) {
            tokens = std::strtoul(values[++i], nullptr, 10);
        } else if (std::strcmp(values[i], "--rounds") == 0 && i + 1 < count) {
            rounds = std::atoi(values[++i]);
        } else if (std::strcmp(values[i], "--json") == 0) {
            json = true;
        } else {
            folder = values[i];
        }
    }
    const model::Model<float> model =
        folder.empty() ? model::initialised<float>(gpt2_small(), {}, 1) : model::load_model(folder);
    const model::Architecture& a = model.architecture();
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>((i * 7919 + 13) % a.vocab);
    }
    std::vector<HeadSums> sums(a.layers * a.heads);
    model::Taps<float> taps;
    taps.add("blocks.*.attn.pattern",
             [&](const model::TapView<float>& view) { add_block(view, sums[view.layer * a.heads + view.head]); });

    double best_body = 1e300;
    double best_all = 1e300;
    double loss = 0;
    double peak = 0;
    for (int round = 0; round < rounds; ++round) {
        peak = std::max(peak, bench::measured_peak<float>());
        const auto start = std::chrono::steady_clock::now();
        model::Pass<float> pass(model, tokens);
        pass.forward(ids, taps);
        best_body = std::min(best_body, seconds_since(start));
        if (a.has_head) {
            loss = pass.loss(model::next_tokens(ids));
        }
        best_all = std::min(best_all, seconds_since(start));
    }
    const double weights = static_cast<double>(model.layout().count()) * 4 / (1 << 20);
    const double body = operations(a, tokens, false) / best_body / peak;
    const double all = operations(a, tokens, a.has_head) / best_all / peak;
    if (json) {
        std::printf(
            "{\"seconds_body\": %.4f, \"seconds\": %.4f, \"share_body\": %.3f, \"share\": %.3f, \"loss\": %.7f, "
            "\"peak_gflops\": %.1f, \"weights_mb\": %.0f, \"memory_mb\": %.0f}\n",
            best_body, best_all, body, all, loss, peak * 1e-9, weights, peak_megabytes());
        return 0;
    }
    std::printf("%zu tokens, %d threads, multiply-add peak %.0f GFLOP/s\n", tokens, threads(), peak * 1e-9);
    std::printf("without the head  %.3f s  %.0f %% of peak\n", best_body, 100 * body);
    std::printf("with the loss     %.3f s  %.0f %% of peak   (loss %.5f)\n", best_all, 100 * all, loss);
    std::printf("memory            %.0f MB, of which weights %.0f MB\n", peak_megabytes(), weights);
    std::printf("first head: mean square weight %.5f, mean largest %.5f, on the first token %.5f\n",
                sums[0].squares / (rounds * static_cast<double>(tokens)),
                sums[0].largest / (rounds * static_cast<double>(tokens)),
                sums[0].first / (rounds * static_cast<double>(tokens)));
    return 0;
}
