// The number of threads never shows in a result.
#include <gtest/gtest.h>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/reverse.hpp"
#include "scheme/rows.hpp"

namespace flyball::scheme {
namespace {

std::vector<double> random_rows(std::size_t rows, std::size_t dim, std::uint64_t seed) {
    std::vector<double> x(rows * dim);
    Random(seed).fill_normal(x);
    return x;
}

// A layer and a velocity of every scheme, with rows enough for many slots.
TEST(SchemeThreads, DoNotShowInLayersAndVelocities) {
    const std::size_t rows = 2000;
    const std::size_t dim = 12;
    const int before = threads();
    for (const CatalogueEntry& entry : catalogue()) {
        std::vector<std::vector<double>> results;
        for (const int count : {1, 3}) {
            set_threads(count);
            const Program program = find_scheme(entry.name).program;
            RowStep<double> step(program, SubLayers::attention_only, rows, dim);
            State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 3));
            const auto square = [&](SubLayer, const double* in, double* out) {
                for (std::size_t i = 0; i < rows * dim; ++i) {
                    out[i] = in[i] * in[i];
                }
            };
            step.layer(Environment::layer(2, 4, 0.1, rows, dim), state, square);
            std::vector<std::vector<double>> slopes;
            const Environment ode = Environment::ode(1, 4, rows, dim);
            if (!step.project(ode, state)) {
                step.velocity(ode, state, square, slopes);
            }
            std::vector<double> all = state.streams[0];
            for (const std::vector<double>& slope : slopes) {
                all.insert(all.end(), slope.begin(), slope.end());
            }
            results.push_back(std::move(all));
        }
        EXPECT_EQ(results[0], results[1]) << entry.name;
    }
    set_threads(before);
}

TEST(SchemeThreads, DoNotShowInTheWayBack) {
    const std::size_t rows = 3000;
    const std::size_t wide = 24;
    const Program program = Program::parse("x + dt*lambda*norm(f(norm(x))) where ~lambda[d] = 0.5");
    const std::vector<double> x = random_rows(rows, wide, 9);
    const std::vector<double> g = random_rows(rows, wide, 10);
    const std::vector<double> gain(wide, 1.2);
    std::vector<std::vector<double>> results;
    const int before = threads();
    for (const int count : {1, 2, 3}) {
        set_threads(count);
        ReverseStep<double> step(program, SubLayers::attention_only, rows, wide);
        BlockParameters<double> parameters;
        parameters.norms.assign(2, RowMap<double>{RowFunction::centred, 1e-5, 1, 0, gain.data(), nullptr});
        std::vector<double> out(rows * wide);
        std::vector<double> grad(rows * wide);
        BlockGradients gradients;
        const auto square = [&](SubLayer, const double* in, double* to) {
            for (std::size_t i = 0; i < rows * wide; ++i) {
                to[i] = in[i] * in[i];
            }
        };
        step.forward(Environment::block(1, 2, 1, rows, wide), {x.data()}, nullptr, {out.data()}, parameters, square);
        step.backward({g.data()}, {grad.data()}, nullptr, gradients,
                      [&](SubLayer, std::size_t, const double* in, const double* go, double* gi) {
                          for (std::size_t i = 0; i < rows * wide; ++i) {
                              gi[i] = 2 * in[i] * go[i];
                          }
                      });
        std::vector<double> all = grad;
        all.insert(all.end(), gradients.learned[0].begin(), gradients.learned[0].end());
        all.insert(all.end(), gradients.norms[0].gain.begin(), gradients.norms[0].gain.end());
        results.push_back(std::move(all));
    }
    set_threads(before);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace flyball::scheme
