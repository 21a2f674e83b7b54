// What attention kernels cost on one core by processor time, which other work on the machine does not enter.
//
//     flyball_bench_cost --shares [KERNEL]   shares of the multiply-add peak, which is measured between evaluations
//     flyball_bench_cost --table [KERNEL]    measures every kernel and prints the rows of src/attention/cost_table.cpp
//
// FLYBALL_ISA=plain measures the kernels that run everywhere. Every answer is checked before it is timed.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstring>
#include <initializer_list>

#include "attention/cost_table.hpp"
#include "attention/kernels.hpp"
#include "attention_problem.hpp"
#include "peak.hpp"

namespace {

using namespace flyball;
using attention::Attention;
using attention::Mask;
using attention::Settings;
using attention::Shape;

// Time this thread had a core: unlike the wall clock it does not see what else the machine does.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Real>
double nanoseconds(const std::string& kernel, const Shape& shape) {
    const std::vector<Real> z = bench::unit_tokens<Real>(shape.systems * shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    Settings settings;
    settings.beta = attention::cost_table_beta;
    Attention<Real> attention(shape, settings, {}, kernel);
    attention(z.data(), out.data());
    bench::check<Real>(shape, settings, {}, kernel, z.data(), out.data());
    double best = 1e300;
    double spent = 0;
    for (int i = 0; i < 4 || spent < 0.03; ++i) {
        const double begin = processor_seconds();
        attention(z.data(), out.data());
        const double time = processor_seconds() - begin;
        best = std::min(best, time);
        spent += time;
    }
    return best * 1e9 / static_cast<double>(shape.systems);
}

template <class Real>
void print_core_share(const std::string& kernel, const Shape& shape, Mask mask = Mask::none) {
    constexpr std::size_t rounds = 400'000;
    const std::vector<Real> z = bench::unit_tokens<Real>(shape.systems * shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    Settings settings;
    settings.mask = mask;
    settings.beta = attention::cost_table_beta;
    Attention<Real> attention(shape, settings, {}, kernel);
    attention(z.data(), out.data());
    bench::check<Real>(shape, settings, {}, kernel, z.data(), out.data());
    double peak = 0;
    double best = 1e300;
    for (int i = 0; i < 8; ++i) {
        double begin = processor_seconds();
        benchmark::DoNotOptimize(bench::multiply_add_chains<Real>(rounds));
        const double operations =
            2.0 * bench::peak_chains * static_cast<double>(bench::peak_bytes() / sizeof(Real) * rounds);
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

void print_core_shares(const std::string& only) {
    using Sizes = std::initializer_list<std::size_t>;
    const auto both = [&only](const char* kernel, std::size_t n, std::size_t d, Mask mask = Mask::none) {
        if (only.empty() || only == kernel) {
            print_core_share<double>(kernel, {1, n, d}, mask);
            print_core_share<float>(kernel, {1, n, d}, mask);
        }
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
            // Kernels that put systems side by side are measured with enough of them; a cost is that of one system.
            attention::HeadProblem problem;
            problem.systems = 64;
            problem.tokens = n;
            problem.width = d;
            for (const attention::KernelEntry& entry : attention::kernel_table()) {
                if (entry.name == kernel && *entry.obstacle(problem) == '\0' && n * n * d <= 600'000'000) {
                    const double time =
                        nanoseconds<Real>(kernel, {entry.systems_at_once > 1 ? problem.systems : 1, n, d});
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
    const bool table = count > 1 && std::strcmp(values[1], "--table") == 0;
    const bool shares = count > 1 && std::strcmp(values[1], "--shares") == 0;
    if (!table && !shares) {
        std::fprintf(stderr, "usage: flyball_bench_cost --shares|--table [KERNEL]\n");
        return 2;
    }
    const std::string only = count > 2 ? values[2] : "";
    set_threads(1);
    if (shares) {
        print_core_shares(only);
        return 0;
    }
    for (const std::string& kernel : attention::kernel_names()) {
        for (const bool many : {false, true}) {
            if (only.empty() || only == kernel) {
                print_cost<double>(kernel, many);
                print_cost<float>(kernel, many);
            }
        }
    }
    return 0;
}
