// Hot paths at small sizes, for counting instructions: tests/counts/counts.py runs this program under valgrind, which
// counts what happens inside counted_region() and nothing else.
//
// Each path is set up and run once outside, so that pools, plans and lazily made tables are not counted. The names are
// printed in the order in which the regions ran.
//
// usage: flyball_counted            every path
//        flyball_counted --compiler what this program was built with
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "attention/own_frame.hpp"
#include "attention/pairs.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "dynamics/run.hpp"
#include "limits/analysis.hpp"
#include "model/initialise.hpp"
#include "model/pass.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/reverse.hpp"
#include "scheme/rows.hpp"
#include "theory/theory.hpp"
#include "tokenizer/tokenizer.hpp"

// The name that valgrind is told; a C name, since C++ ones are spelled in more than one way.
extern "C" __attribute__((noinline)) void counted_region(const std::function<void()>& work) {
    work();
    asm volatile("");  // no tail call: the region ends where this function does
}

namespace {

using namespace flyball;

void count(const char* name, const std::function<void()>& work) {
    work();
    counted_region(work);
    std::puts(name);
}

// Unit rows, the same in every run.
template <class Real>
std::vector<Real> unit_rows(std::size_t rows, std::size_t dim) {
    std::vector<double> x(rows * dim);
    Random(3, 1).fill_normal(x);
    for (std::size_t j = 0; j < rows; ++j) {
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
void count_attention(const char* name, const char* kernel, attention::Shape shape, attention::Mask mask) {
    attention::Settings settings;
    settings.beta = 3;
    settings.mask = mask;
    const std::vector<Real> z = unit_rows<Real>(shape.systems * shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    attention::Attention<Real> attend(shape, settings, {}, kernel);
    count(name, [&] { attend(z.data(), out.data()); });
}

void attention_paths() {
    using attention::Mask;
    count_attention<double>("attention: fused tiles, double", "fused", {1, 160, 64}, Mask::none);
    count_attention<float>("attention: fused tiles, float", "fused", {1, 160, 64}, Mask::none);
    count_attention<double>("attention: direct sums in three dimensions", "direct", {1, 256, 3}, Mask::none);
    count_attention<double>("attention: general, causal", "general", {1, 128, 32}, Mask::causal);
    count_attention<double>("attention: circle", "circle", {1, 2048, 2}, Mask::none);

    const std::size_t n = 96;
    const std::size_t d = 16;
    const std::vector<double> theta = unit_rows<double>(n, d);
    const std::vector<double> scale(n, 1.0);
    std::vector<double> along(n);
    std::vector<double> across(n * d);
    std::vector<double> divisor(n);
    count("attention: every token in its own frame", [&] {
        attention::attend_in_own_frame({1, n, d}, {}, theta.data(), scale.data(), nullptr,
                                       {along.data(), across.data(), divisor.data(), nullptr});
    });
    const std::vector<double> many = unit_rows<double>(256, 32);
    count("attention: statistics of pairs", [&] { attention::pair_statistics(256, 32, many.data(), 2, 0.999, 0.999); });
}

void scheme_paths() {
    constexpr std::size_t rows = 64;
    constexpr std::size_t dim = 64;
    const scheme::Program program = scheme::find_scheme("peri-ln").program;
    const std::vector<double> start = unit_rows<double>(rows, dim);
    const auto copy = [&](scheme::SubLayer, const double* in, double* out) { std::copy_n(in, rows * dim, out); };
    const scheme::Environment layer = scheme::Environment::layer(2, 4, 0.1, rows, dim);
    scheme::RowStep<double> step(program, scheme::SubLayers::attention_only, rows, dim);
    scheme::State<double> state = scheme::State<double>::start(program, rows, dim, start);
    count("scheme: a layer of Peri-LN", [&] { step.layer(layer, state, copy); });
    std::vector<std::vector<double>> slopes;
    count("scheme: the velocity of Peri-LN",
          [&] { step.velocity(scheme::Environment::ode(1, 4, rows, dim), state, copy, slopes); });

    scheme::ReverseStep<double> reverse(program, scheme::SubLayers::attention_only, rows, dim);
    std::vector<double> out(rows * dim);
    std::vector<double> grad(rows * dim);
    scheme::BlockGradients gradients;
    count("scheme: a layer of Peri-LN and back", [&] {
        reverse.forward(layer, {start.data()}, start.data(), {out.data()}, {}, copy);
        reverse.backward({start.data()}, {grad.data()}, nullptr, gradients,
                         [&](scheme::SubLayer, std::size_t, const double*, const double* from, double* to) {
                             std::copy_n(from, rows * dim, to);
                         });
    });
}

void dynamics_path() {
    dynamics::Settings settings;
    settings.tokens = 32;
    settings.dim = 16;
    settings.time = 2;
    settings.samples = 21;
    const scheme::Program program = scheme::find_scheme("pre-ln").program;
    count("dynamics: 32 tokens with the default method", [&] { dynamics::run(settings, program, {}); });
}

void theory_path() {
    const scheme::Program program = scheme::find_scheme("peri-ln").program;
    theory::Settings settings;
    count("theory: Peri-LN at three times", [&] { theory::solve(program, settings, {0.1, 1, 10}); });
}

void model_paths() {
    model::Architecture a;
    a.equation = scheme::find_scheme("pre-ln").program.text();
    a.layers = 2;
    a.dim = 64;
    a.heads = a.kv_heads = 4;
    a.head_dim = 16;
    a.ffn_dim = 256;
    a.vocab = 300;
    a.positions = 64;
    a.learned_positions = true;
    const model::Model<float> model = model::initialised<float>(a, {}, 1);
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < 64; ++i) {
        ids.push_back(i * 37 % 300);
    }
    const std::vector<std::int32_t> targets = model::next_tokens(ids);
    model::Pass<float> forward(model, ids.size());
    count("model: forward and loss", [&] {
        forward.forward(ids);
        forward.loss(targets);
    });
    limits::Settings all;
    count("limits: all five analyses of eight heads at 64 tokens", [&] { limits::analyse(model, ids, all, {32, 64}); });
    model::Pass<float> training(model, ids.size(), model::Keep::everything);
    model::Parameters<float> gradients(model.layout());
    count("model: forward, loss and backward", [&] {
        training.forward(ids);
        training.loss_and_backward(targets, gradients);
    });
}

void text_paths() {
    const std::string folder = std::string(test::source_folder) + "/tests/tokenizer/data/gpt2";
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text += "The quick brown fox jumps over " + std::to_string(i * i) + " lazy dogs.\n";
    }
    count("tokenizer: 9 kB of English by a tokenizer of GPT-2's kind", [&] { tokenizer.encode(text); });
    std::string json = "[";
    for (int i = 0; i < 2000; ++i) {
        json += std::to_string(i * 0.37) + ", ";
    }
    json += "0]";
    count("core: a list of numbers in JSON", [&] { parse_json(json, "numbers"); });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--compiler") == 0) {
        std::puts("g++ " __VERSION__);
        return 0;
    }
    set_threads(1);
    attention_paths();
    scheme_paths();
    dynamics_path();
    theory_path();
    model_paths();
    text_paths();
    return 0;
}
