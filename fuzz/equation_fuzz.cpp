// Any text either parses or throws Error; what parses prints to itself, lowers, and runs without touching memory it
// should not.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "scheme/limit.hpp"
#include "scheme/plane.hpp"
#include "scheme/reverse.hpp"
#include "scheme/rows.hpp"

using namespace flyball;
using namespace flyball::scheme;

namespace {

constexpr std::size_t rows = 3;
constexpr std::size_t dim = 5;

void copy_rows(SubLayer, const double* in, double* out) {
    std::copy_n(in, rows * dim, out);
}

void run(const Program& program) {
    for (const SubLayers sub_layers : {SubLayers::attention_only, SubLayers::attention_and_ffn}) {
        RowStep<double> step(program, sub_layers, rows, dim);
        std::vector<double> start(rows * dim);
        for (std::size_t i = 0; i < start.size(); ++i) {
            start[i] = std::sin(static_cast<double>(i));
        }
        State<double> state = State<double>::start(program, rows, dim, start);
        const auto f = [](SubLayer s, const double* in, double* out) { copy_rows(s, in, out); };
        step.layer(Environment::layer(1, 2, 0.5, rows, dim), state, f);
        std::vector<double> out;
        step.readout(Environment::layer(1, 2, 0.5, rows, dim), state, out);

        ReverseStep<double> reverse(program, sub_layers, rows, dim);
        std::vector<const double*> in;
        std::vector<std::vector<double>> results(program.stream_count(), std::vector<double>(rows * dim));
        std::vector<std::vector<double>> gradients(program.stream_count(), std::vector<double>(rows * dim));
        std::vector<double*> into;
        std::vector<const double*> grad_out;
        std::vector<double*> grad_in;
        for (std::size_t s = 0; s < program.stream_count(); ++s) {
            in.push_back(state.streams[s].data());
            into.push_back(results[s].data());
            grad_out.push_back(start.data());
            grad_in.push_back(gradients[s].data());
        }
        reverse.forward(Environment::block(2, 2, 1, rows, dim), in, start.data(), into, {}, f);
        BlockGradients parameters;
        reverse.backward(
            grad_out, grad_in, nullptr, parameters,
            [](SubLayer s, std::size_t, const double*, const double* g, double* gi) { copy_rows(s, g, gi); });
    }
    (void)limit_problem(program, SubLayers::attention_and_ffn);
    (void)reduced_law_problem(program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Program program = Program::parse(text);
        const std::string canonical = program.text();
        const Program again = Program::parse(canonical);
        if (!equal(program.syntax(), again.syntax()) || again.text() != canonical) {
            std::abort();
        }
        run(program);
    } catch (const Error&) {
        // the expected answer to most inputs
    }
    try {
        (void)parse_settings(text);
    } catch (const Error&) {
    }
    return 0;
}
