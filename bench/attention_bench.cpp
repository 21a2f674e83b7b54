// Attention kernels: GFLOP/s and share of the multiply-add peak measured in this run.
//
// share = 4 n^2 d / time / peak, the operations of the plain algorithm: a kernel that uses the symmetry of the scores
// can pass 100 %, one that needs fewer than n^2 operations by far. Before anything is timed, some rows of the answer
// are compared with the definition. flyball_bench_cost measures one core on a machine that does other things as well.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "attention_problem.hpp"
#include "peak.hpp"

namespace {

using namespace flyball;
using attention::Attention;
using attention::Mask;
using attention::Settings;
using attention::Shape;
using attention::Weights;

struct Case {
    std::string kernel;
    Shape shape;
    Mask mask = Mask::none;
    bool weights = false;
};

template <class Real>
void run(benchmark::State& timing, const Case& test, double peak) {
    Settings settings;
    settings.mask = test.mask;
    settings.beta = 9;
    const std::vector<Real> z = bench::unit_tokens<Real>(test.shape.systems * test.shape.tokens, test.shape.dim);
    std::vector<Real> out(z.size());
    const Weights<Real> weights = test.weights ? bench::drawn_weights<Real>(test.shape.dim) : Weights<Real>{};
    Attention<Real> attention(test.shape, settings, weights, test.kernel);
    attention(z.data(), out.data());
    bench::check(test.shape, settings, weights, test.kernel, z.data(), out.data());
    double best = 1e300;
    for (auto _ : timing) {
        const auto begin = std::chrono::steady_clock::now();
        attention(z.data(), out.data());
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    const double n = static_cast<double>(test.shape.tokens);
    const double d = static_cast<double>(test.shape.dim);
    double work = 4 * n * n * d * static_cast<double>(test.shape.systems);
    if (test.mask == Mask::causal) {
        work /= 2;
    }
    if (test.weights) {
        work += 8 * n * d * d;
    }
    timing.counters["best_ms"] = best * 1e3;
    timing.counters["GFLOP/s"] = work / best * 1e-9;
    timing.counters["share_%"] = 100 * work / best / peak;
    timing.SetLabel(attention.kernel());
}

void add(const Case& test, const double (&peak)[2]) {
    const std::string name = test.kernel + (test.weights ? "/weights" : "") +
                             (test.mask == Mask::causal ? "/causal" : "") +
                             "/systems:" + std::to_string(test.shape.systems) +
                             "/n:" + std::to_string(test.shape.tokens) + "/d:" + std::to_string(test.shape.dim);
    benchmark::RegisterBenchmark(("double/" + name).c_str(), run<double>, test, peak[0])
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.2);
    benchmark::RegisterBenchmark(("float/" + name).c_str(), run<float>, test, peak[1])
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.2);
}

}  // namespace

int main(int count, char** values) {
    const double peak[2] = {bench::measured_peak<double>(), bench::measured_peak<float>()};
    std::printf("multiply-add peak on %d threads: %.1f GFLOP/s double, %.1f float\n", threads(), peak[0] * 1e-9,
                peak[1] * 1e-9);
    for (const std::size_t n : std::initializer_list<std::size_t>{256, 1024, 4096, 16384}) {
        for (const std::size_t d : std::initializer_list<std::size_t>{2, 3, 8}) {
            add({"direct", {1, n, d}}, peak);
        }
    }
    for (const std::size_t n : std::initializer_list<std::size_t>{256, 1024, 4096}) {
        for (const std::size_t d : std::initializer_list<std::size_t>{16, 64, 128, 512}) {
            add({"fused", {1, n, d}}, peak);
        }
    }
    for (const std::size_t n : std::initializer_list<std::size_t>{256, 1024, 4096}) {
        for (const std::size_t d : std::initializer_list<std::size_t>{64, 128, 512}) {
            add({"general", {1, n, d}, Mask::none, true}, peak);
            add({"general", {1, n, d}, Mask::causal, false}, peak);
            add({"blas", {1, n, d}}, peak);
        }
    }
    for (const std::size_t n : std::initializer_list<std::size_t>{4096, 65536, 1000000}) {
        add({"circle", {1, n, 2}}, peak);
    }
    add({"auto", {2048, 32, 2}}, peak);
    add({"auto", {64, 64, 3}}, peak);
    benchmark::Initialize(&count, values);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
