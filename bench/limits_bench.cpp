// The five analyses of `flyball limits` on every head of a model: seconds, share of the multiply-add peak measured in
// the same run, and the memory it took.
//
//     flyball_bench_limits [FOLDER] [--tokens N] [--layers N] [--json]
//
// Without a folder: 12 heads a layer of 64 channels, GPT-2's shape, with random weights. share = operations / seconds /
// peak, where the operations are those of the walks over N alone: for every row, every N and every key 9 for the
// distance and 6 for the expectation, a root counted as one. Every N up to L is walked for the critical N, and
// peak and seconds are both the clock's: on a busy machine neither says much, and processor time is shown beside them.
// bench/compare_limits.py runs a slice of it in numpy and torch.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/blas_core.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "limits/analysis.hpp"
#include "model/initialise.hpp"
#include "peak.hpp"

namespace {

using namespace flyball;

model::Architecture shape(std::size_t layers, std::size_t tokens) {
    model::Architecture a;
    a.layers = layers;
    a.dim = 768;
    a.heads = a.kv_heads = 12;
    a.head_dim = 64;
    a.ffn_dim = 3072;
    a.vocab = 5000;
    a.positions = tokens;
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return a;
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0) {
            return std::atof(line.c_str() + 6) / 1024;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    choose_blas_core();
    std::size_t tokens = 1024;
    std::size_t layers = 12;
    std::string folder;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--tokens") == 0 && i + 1 < argc) {
            tokens = static_cast<std::size_t>(std::atoi(argv[++i]));
        } else if (std::strcmp(argv[i], "--layers") == 0 && i + 1 < argc) {
            layers = static_cast<std::size_t>(std::atoi(argv[++i]));
        } else if (std::strcmp(argv[i], "--json") == 0) {
            json = true;
        } else {
            folder = argv[i];
        }
    }
    const scheme::Recipe recipe = {.initialisation = {.draw = {.deviation = "0.05"}}};
    const model::Model<float> model =
        folder.empty() ? model::initialised<float>(shape(layers, tokens), recipe, 1) : model::load_model(folder);
    const model::Architecture& a = model.architecture();
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>((i * 7919 + 13) % a.vocab);
    }
    const double before = resident_megabytes();
    const double peak = bench::measured_peak<double>();
    const double busy = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::size_t> lengths;
    for (std::size_t length = 32; length <= tokens; length *= 2) {
        lengths.push_back(length);
    }
    limits::analyse(model, ids, {}, lengths);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double processor = processor_seconds() - busy;
    const auto t = static_cast<double>(tokens);
    const double operations = 15 * t * t * t / 3 * static_cast<double>(a.layers * a.heads);
    const double share = operations / seconds / peak;
    std::printf(json ? "{\"seconds\": %.3f, \"processor\": %.3f, \"heads\": %zu, \"tokens\": %zu, \"share\": %.3f, "
                       "\"megabytes\": %.0f}\n"
                     : "%.2f s by the clock, %.2f s of processor time, for %zu heads at %zu tokens; %.2f of the "
                       "multiply-add peak; %.0f MB beside the weights\n",
                seconds, processor, a.layers * a.heads, tokens, share, resident_megabytes() - before);
    return 0;
}
