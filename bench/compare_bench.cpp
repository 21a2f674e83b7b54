// The Flyball side of bench/compare.py: evaluates attention on rows from a file, once per line on standard input.
//
//     flyball_bench_compare ROWS OUT n d f32|f64 beta threads
//
// Each line "run COUNT" evaluates COUNT times and prints the fastest in seconds; the answer is in OUT after the first
// line, so that the script can check it before it believes a time. "peak" prints the multiply-add peak in FLOP/s.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "core/parallel.hpp"
#include "peak.hpp"

namespace {

template <class Real>
int serve(char** values) {
    const std::size_t n = std::strtoul(values[3], nullptr, 10);
    const std::size_t d = std::strtoul(values[4], nullptr, 10);
    std::vector<Real> rows(n * d);
    std::ifstream(values[1], std::ios::binary)
        .read(reinterpret_cast<char*>(rows.data()), static_cast<std::streamsize>(rows.size() * sizeof(Real)));
    flyball::attention::Settings settings;
    settings.beta = std::strtod(values[6], nullptr);
    flyball::attention::Attention<Real> attention({1, n, d}, settings, {});
    std::vector<Real> out(n * d);
    attention(rows.data(), out.data());
    std::ofstream(values[2], std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(Real)));
    std::printf("%s\n", attention.kernel().c_str());
    std::fflush(stdout);
    for (std::string word; std::cin >> word;) {
        if (word == "peak") {
            std::printf("%.6e\n", flyball::bench::measured_peak<Real>());
        } else {
            int count = 1;
            std::cin >> count;
            double best = 1e300;
            for (int i = 0; i < count; ++i) {
                const auto begin = std::chrono::steady_clock::now();
                attention(rows.data(), out.data());
                best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
            }
            std::printf("%.9e\n", best);
        }
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int count, char** values) {
    if (count != 8) {
        std::fprintf(stderr,
                     "usage: flyball_bench_compare ROWS OUT n d f32|f64 beta threads; bench/compare.py calls it\n");
        return 2;
    }
    flyball::set_threads(std::atoi(values[7]));
    return std::string(values[5]) == "f32" ? serve<float>(values) : serve<double>(values);
}
