// Attention kernels: GFLOP/s and share of the multiply-add peak measured in this run.
//
// share = 4 n^2 d / time / peak, the operations of the plain algorithm: a kernel that uses the symmetry of the scores
// can pass 100 %, one that needs fewer than n^2 operations by far. Before anything is timed, some rows of the answer
// are compared with the definition. Besides the usual flags of Google Benchmark:
//
//     --core-shares   shares of one core by processor time, the peak measured between the evaluations: for a machine
//     that
//                     does other things as well
//     --cost-table    measures every kernel on one thread and prints the rows of src/attention/cost_table.cpp
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "attention/cost_table.hpp"
#include "attention/kernels.hpp"
#include "core/random.hpp"
#include "peak.hpp"

namespace {

using namespace flyball;
using attention::Attention;
using attention::Kind;
using attention::Mask;
using attention::Settings;
using attention::Shape;
using attention::Weights;

template <class Real>
std::vector<Real> unit_tokens(std::size_t count, std::size_t dim) {
    std::vector<double> x(count * dim);
    Random(3, 1).fill_normal(x);
    for (std::size_t j = 0; j < count; ++j) {
        double square = 0;
        for (std::size_t c = 0; c < dim; ++c) {
            square += x[j * dim + c] * x[j * dim + c];
        }
        for (std::size_t c = 0; c < dim; ++c) {
            x[j * dim + c] /= std::sqrt(square);
        }
    }
    return {x.begin(), x.end()};
}

template <class Real>
Weights<Real> drawn_weights(std::size_t dim) {
    Weights<Real> weights;
    weights.width = dim;
    attention::HeadWeights<Real> head;
    std::uint64_t stream = 5;
    for (std::vector<Real>* matrix : {&head.query, &head.key, &head.value, &head.output}) {
        std::vector<double> numbers(dim * dim);
        Random(3, stream++).fill_normal(numbers);
        for (const double x : numbers) {
            matrix->push_back(static_cast<Real>(x / std::sqrt(static_cast<double>(dim))));
        }
    }
    weights.head.push_back(head);
    return weights;
}

// Softmax with identity weights: row j of the first system by the definition.
template <class Real>
std::vector<double> definition_row(const Shape& shape, const Settings& settings, const Real* z, std::size_t j) {
    const std::size_t seen = settings.mask == Mask::causal ? j + 1 : shape.tokens;
    std::vector<double> weights(seen, 0.0);
    double total = 0;
    for (std::size_t k = 0; k < seen; ++k) {
        for (std::size_t c = 0; c < shape.dim; ++c) {
            weights[k] += static_cast<double>(z[j * shape.dim + c]) * static_cast<double>(z[k * shape.dim + c]);
        }
        weights[k] = std::exp(settings.beta * (weights[k] - 1));
        total += weights[k];
    }
    std::vector<double> row(shape.dim, 0.0);
    for (std::size_t k = 0; k < seen; ++k) {
        for (std::size_t c = 0; c < shape.dim; ++c) {
            row[c] += weights[k] / total * static_cast<double>(z[k * shape.dim + c]);
        }
    }
    return row;
}

template <class Real>
void check(const Shape& shape, const Settings& settings, const std::string& kernel, const Real* z, const Real* out) {
    const double tolerance = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-4;
    for (std::size_t j = 0; j < shape.tokens; j += shape.tokens / 7 + 1) {
        const std::vector<double> row = definition_row(shape, settings, z, j);
        for (std::size_t c = 0; c < shape.dim; ++c) {
            if (!(std::fabs(static_cast<double>(out[j * shape.dim + c]) - row[c]) < tolerance)) {
                std::fprintf(stderr, "wrong answer: %s, %zu tokens in dimension %zu\n", kernel.c_str(), shape.tokens,
                             shape.dim);
                std::exit(3);
            }
        }
    }
}

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
    const std::vector<Real> z = unit_tokens<Real>(test.shape.systems * test.shape.tokens, test.shape.dim);
    std::vector<Real> out(z.size());
    Attention<Real>(test.shape, settings, {}, test.kernel == "fused" || !test.weights ? test.kernel : "general")(
        z.data(), out.data());
    check(test.shape, settings, test.kernel, z.data(), out.data());
    Attention<Real> attention(test.shape, settings,
                              test.weights ? drawn_weights<Real>(test.shape.dim) : Weights<Real>{}, test.kernel);
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

// ---- the cost table
// --------------------------------------------------------------------------------------------------

// Time this thread had a core: unlike the wall clock it does not see what else the machine does.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Real>
double nanoseconds(const std::string& kernel, const Shape& shape) {
    const std::vector<Real> z = unit_tokens<Real>(shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    Settings settings;
    settings.beta = attention::cost_table_beta;
    Attention<Real> attention(shape, settings, {}, kernel);
    double best = 1e300;
    double spent = 0;
    for (int i = 0; i < 4 || spent < 0.03; ++i) {
        const double begin = processor_seconds();
        attention(z.data(), out.data());
        const double time = processor_seconds() - begin;
        best = std::min(best, time);
        spent += time;
    }
    return best * 1e9;
}

template <class Real>
void print_core_share(const std::string& kernel, const Shape& shape, Mask mask = Mask::none) {
    constexpr std::size_t rounds = 400'000;
    const std::vector<Real> z = unit_tokens<Real>(shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    Settings settings;
    settings.mask = mask;
    settings.beta = attention::cost_table_beta;
    Attention<Real> attention(shape, settings, {}, kernel);
    attention(z.data(), out.data());
    check(shape, settings, kernel, z.data(), out.data());
    double peak = 0;
    double best = 1e300;
    for (int i = 0; i < 8; ++i) {
        double begin = processor_seconds();
        benchmark::DoNotOptimize(bench::multiply_add_chains<Real>(rounds));
        const double operations = 2.0 * bench::peak_chains * (bench::peak_bytes / sizeof(Real)) * double{rounds};
        peak = std::max(peak, operations / (processor_seconds() - begin));
        begin = processor_seconds();
        attention(z.data(), out.data());
        best = std::min(best, processor_seconds() - begin);
    }
    const double n = static_cast<double>(shape.tokens);
    const double work = (mask == Mask::causal ? 2 : 4) * n * n * static_cast<double>(shape.dim);
    std::printf("%-6s %-8s%-7s n %6zu  d %4zu  %9.3f ms  %6.1f GFLOP/s  %6.1f %% of %.1f\n",
                sizeof(Real) == sizeof(float) ? "float" : "double", kernel.c_str(),
                mask == Mask::causal ? " causal" : "", shape.tokens, shape.dim, best * 1e3, work / best * 1e-9,
                100 * work / best / peak, peak * 1e-9);
    std::fflush(stdout);
}

void print_core_shares() {
    using Sizes = std::initializer_list<std::size_t>;
    const auto both = [](const char* kernel, std::size_t n, std::size_t d, Mask mask = Mask::none) {
        print_core_share<double>(kernel, {1, n, d}, mask);
        print_core_share<float>(kernel, {1, n, d}, mask);
    };
    for (const std::size_t n : Sizes{256, 1024, 4096}) {
        for (const std::size_t d : Sizes{2, 3, 8}) {
            both("direct", n, d);
        }
        for (const std::size_t d : Sizes{16, 64, 128}) {
            both("fused", n, d);
        }
        for (const std::size_t d : Sizes{64, 128}) {
            both("general", n, d);
            both("general", n, d, Mask::causal);
            both("blas", n, d);
        }
    }
    both("circle", 1000000, 2);
}

// Least squares of relative errors with factors that are not negative, by coordinate descent.
template <class Real>
void print_cost(const std::string& kernel, bool many) {
    struct Point {
        double terms[4];
    };
    std::vector<Point> points;
    const std::vector<std::size_t> sizes =
        many ? std::vector<std::size_t>{512, 768, 1024, 2048} : std::vector<std::size_t>{8, 32, 64, 128, 256};
    for (const std::size_t n : sizes) {
        for (const std::size_t d : std::initializer_list<std::size_t>{1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 512}) {
            attention::HeadProblem problem;
            problem.tokens = n;
            problem.width = d;
            for (const attention::KernelEntry& entry : attention::kernel_table()) {
                if (entry.name == kernel && *entry.obstacle(problem) == '\0' && n * n * d <= 600'000'000) {
                    const double time = nanoseconds<Real>(kernel, {1, n, d});
                    const double tokens = static_cast<double>(n);
                    const double dim = static_cast<double>(d);
                    points.push_back(
                        {{1 / time, tokens * dim / time, tokens * tokens / time, tokens * tokens * dim / time}});
                }
            }
        }
    }
    double factor[4] = {0, 0, 0, 0};
    for (int round = 0; round < 20000; ++round) {
        for (int i = 0; i < 4; ++i) {
            double along = 0;
            double square = 0;
            for (const Point& point : points) {
                double rest = 1;
                for (int k = 0; k < 4; ++k) {
                    rest -= k == i ? 0 : factor[k] * point.terms[k];
                }
                along += rest * point.terms[i];
                square += point.terms[i] * point.terms[i];
            }
            factor[i] = std::max(0.0, along / square);
        }
    }
    std::printf("        {\"%s\", %s, %s, %.0f, %.3g, %.3g, %.3g},\n", kernel.c_str(),
                sizeof(Real) == sizeof(float) ? "true" : "false", many ? "true" : "false", factor[0], factor[1],
                factor[2], factor[3]);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) {
    if (count > 1 && std::strcmp(values[1], "--cost-table") == 0) {
        set_threads(1);
        for (const std::string& kernel : attention::kernel_names()) {
            for (const bool many : {false, true}) {
                print_cost<double>(kernel, many);
                print_cost<float>(kernel, many);
            }
        }
        return 0;
    }
    if (count > 1 && std::strcmp(values[1], "--core-shares") == 0) {
        set_threads(1);
        print_core_shares();
        return 0;
    }
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
