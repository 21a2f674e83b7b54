// What a scheme costs beside attention: one layer and one velocity of every built-in at n = 4096, d = 64.
//
// of_attention is the time over that of an attention evaluation of the same size at 97 % of the multiply-add peak
// measured in this run (4 n^2 d operations); the promise is below 0.1. bytes_per_second counts each stream once in and
// once out.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/random.hpp"
#include "peak.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/rows.hpp"

namespace {

using namespace flyball;
using namespace flyball::scheme;

constexpr std::size_t tokens = 4096;
constexpr std::size_t dim = 64;

std::vector<double> start_rows() {
    std::vector<double> rows(tokens * dim);
    Random(1, 1).fill_normal(rows);
    return rows;
}

// Rows do not mix outside the sub-layer, so the first rows alone must give the same bits.
void check(const Program& program, const State<double>& whole) {
    constexpr std::size_t few = 3;
    const auto rows = start_rows();
    State<double> part = State<double>::start(program, few, dim, {rows.begin(), rows.begin() + few * dim});
    RowStep<double> step(program, SubLayers::attention_only, few, dim);
    step.layer(Environment::layer(2, 4, 0.1, tokens, dim), part,
               [](SubLayer, const double* in, double* out) { std::copy_n(in, few * dim, out); });
    for (std::size_t s = 0; s < part.streams.size(); ++s) {
        for (std::size_t i = 0; i < few * dim; ++i) {
            if (part.streams[s][i] != whole.streams[s][i] || !std::isfinite(part.streams[s][i])) {
                std::fprintf(stderr, "wrong answer: %s\n", program.text().c_str());
                std::exit(3);
            }
        }
    }
}

void run(benchmark::State& timing, const CatalogueEntry& entry, bool velocity, double attention_seconds) {
    const Program program = Program::parse(entry.equation);
    RowStep<double> step(program, SubLayers::attention_only, tokens, dim);
    State<double> state = State<double>::start(program, tokens, dim, start_rows());
    const auto copy = [](SubLayer, const double* in, double* out) { std::copy_n(in, tokens * dim, out); };
    const auto nothing = [](SubLayer, const double*, double*) {};  // leaves what `copy` put there: only rows are timed
    step.layer(Environment::layer(2, 4, 0.1, tokens, dim), state, copy);
    check(program, state);
    std::vector<std::vector<double>> slopes;
    const Environment env = velocity ? Environment::ode(1, 4, tokens, dim) : Environment::layer(2, 4, 0.1, tokens, dim);
    const auto begin = std::chrono::steady_clock::now();
    for (auto _ : timing) {
        if (velocity) {
            benchmark::DoNotOptimize(step.velocity(env, state, nothing, slopes));
        } else {
            step.layer(env, state, nothing);
        }
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    timing.counters["percent_of_attention"] =
        100 * time.count() / static_cast<double>(timing.iterations()) / attention_seconds;
    timing.SetBytesProcessed(timing.iterations() *
                             static_cast<std::int64_t>(2 * program.stream_count() * tokens * dim * sizeof(double)));
}

}  // namespace

int main(int count, char** values) {
    const double peak = bench::measured_peak<double>();
    const double attention = 4.0 * tokens * tokens * dim / (0.97 * peak);
    std::printf("multiply-add peak %.1f GFLOP/s on %d threads; attention at 97 %% of it: %.2f ms\n", peak * 1e-9,
                threads(), attention * 1e3);
    for (const CatalogueEntry& entry : catalogue()) {
        for (const bool velocity : {false, true}) {
            benchmark::RegisterBenchmark((std::string(entry.name) + (velocity ? "/velocity" : "/layer")).c_str(), run,
                                         entry, velocity, attention)
                ->UseRealTime()
                ->Unit(benchmark::kMicrosecond)
                ->MinTime(0.1);
        }
    }
    benchmark::Initialize(&count, values);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
