// Runs on rows where one call follows another, or where there are more rows than one block holds.
#include "scheme/rows.hpp"

#include <algorithm>

#include "support.hpp"

namespace flyball::scheme::test::rows_test {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> times(double factor, std::vector<double> numbers) {
    for (double& x : numbers) {
        x *= factor;
    }
    return numbers;
}

// One step reads out many states: each at its own depth, also back to an earlier one.
TEST(Rows, ReadoutIsDecidedAnewAtEveryDepth) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("x + dt*f(x) | depth < 0.5 ? x : 2*x");
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    const State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 1));
    const Rows slopes = {random_rows(rows, dim, 2)};
    for (const std::size_t layer : {std::size_t{1}, std::size_t{4}, std::size_t{1}}) {
        const Environment env = Environment::layer(layer, 4, 0.5, rows, dim);
        const double factor = layer == 1 ? 1 : 2;
        std::vector<double> out;
        step.readout(env, state, out);
        EXPECT_EQ(out, times(factor, state.streams[0])) << layer;
        std::vector<double> slope;
        EXPECT_TRUE(step.readout(env, state, slopes, out, slope));
        EXPECT_EQ(out, times(factor, state.streams[0])) << layer;
        EXPECT_EQ(slope, times(factor, slopes[0])) << layer;
    }
}

// sqrt(t) x moves with x and with t: sqrt(t) v + x/(2 sqrt(t)). At t = 0 it changes infinitely fast.
TEST(Rows, ReadoutMovesWithTimeToo) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("x + dt*f(x) | sqrt(t)*x");
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    const State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 1));
    const Rows slopes = {random_rows(rows, dim, 2)};
    std::vector<double> out, slope;
    EXPECT_TRUE(step.readout(Environment::ode(4, 10, rows, dim), state, slopes, out, slope));
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_NEAR(out[i], 2 * state.streams[0][i], 1e-14);
        EXPECT_NEAR(slope[i], 2 * slopes[0][i] + state.streams[0][i] / 4, 1e-14);
    }
    EXPECT_FALSE(step.readout(Environment::ode(0, 10, rows, dim), state, slopes, out, slope));
}

TEST(Rows, VelocityThatIsRefusedLeavesNoOlderOne) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("x + f(x)");
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    const State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 1));
    Rows slopes = {std::vector<double>(rows * dim, 7.0)};
    ASSERT_TRUE(step.velocity(Environment::ode(1, 10, rows, dim), state, plain_sub_layers<double>(rows, dim, 1), slopes)
                    .has_value());
    ASSERT_EQ(slopes.size(), 1U);
    ASSERT_EQ(slopes[0].size(), rows * dim);
    for (const double slope : slopes[0]) {
        EXPECT_TRUE(std::isnan(slope));
    }
}

// Two calls, so that h with its slope waits for the second: x' = P(P f + f) = 2 P f, P = 1 - x x' on unit vectors. A
// block holds at most 256 rows. f takes every number from the channel beside, each row for itself.
TEST(Rows, SlopesThatWaitForACallAreThoseOfTheirOwnRow) {
    const std::size_t rows = 600;
    const std::size_t dim = 8;
    const Program program = Program::parse("h = unit(x + dt*f(x)); x = unit(h + dt*f(h))");
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 3));
    const Environment env = Environment::ode(1, 10, rows, dim);
    ASSERT_EQ(step.project(env, state), std::nullopt);
    const auto f = [&](SubLayer, const double* in, double* out) {
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t c = 0; c < dim; ++c) {
                out[row * dim + c] = in[row * dim + (c + 1) % dim];
            }
        }
    };
    Rows slopes;
    ASSERT_EQ(step.velocity(env, state, f, slopes), std::nullopt);
    std::vector<double> wanted(rows * dim);
    std::vector<double> beside(rows * dim);
    const std::vector<double>& x = state.streams[0];
    f(SubLayer::attention, x.data(), beside.data());
    for (std::size_t row = 0; row < rows; ++row) {
        double along = 0;
        for (std::size_t c = row * dim; c < (row + 1) * dim; ++c) {
            along += x[c] * beside[c];
        }
        for (std::size_t c = row * dim; c < (row + 1) * dim; ++c) {
            wanted[c] = 2 * (beside[c] - along * x[c]);
        }
    }
    EXPECT_LT(largest_difference(slopes[0], wanted), 1e-13);
}

// Results overwrite the streams in place: what one stream hands to another must be what it was before.
TEST(Rows, AStreamMayEndAsWhatAnotherWasBefore) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("old = x; x = y + dt*f(x); y = old");
    ASSERT_EQ(program.stream_count(), 2U);
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 1));
    const std::vector<double> x = state.streams[0];
    const std::vector<double> y = random_rows(rows, dim, 2);
    state.streams[1] = y;
    step.layer(Environment::layer(1, 4, 0.5, rows, dim), state,
               [&](SubLayer, const double* in, double* out) { std::copy_n(in, rows * dim, out); });
    EXPECT_EQ(state.streams[1], x);
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(state.streams[0][i], y[i] + x[i] / 2, 1e-15);
    }
}

// As a gated branch at its start: norm(0) is 0, but a model's norm adds its bias.
TEST(Rows, ANormOfNothingIsItsBias) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("x + dt*norm(a*f(x)) where ~a = 0");
    RowStep<double> step(program, SubLayers::attention_only, rows, dim);
    const std::vector<double> start = random_rows(rows, dim, 1);
    const std::vector<double> bias = {3, -1, 0.5};
    for (const bool biased : {false, true}) {
        State<double> state = State<double>::start(program, rows, dim, start);
        BlockParameters<double> parameters;
        parameters.norms.resize(1);
        parameters.norms[0].bias = biased ? bias.data() : nullptr;
        step.layer(Environment::layer(1, 4, 0.5, rows, dim), state, plain_sub_layers<double>(rows, dim, 1), parameters);
        for (std::size_t i = 0; i < start.size(); ++i) {
            EXPECT_NEAR(state.streams[0][i], start[i] + (biased ? bias[i % dim] / 2 : 0), 1e-15) << biased;
        }
    }
}

// Three coordinates of vectors of R^12: rms(x) has the length sqrt(12), and turns with x/|x| as unit(x) does.
TEST(Rows, RmsInCoordinatesHasTheLengthOfTheSpace) {
    const std::size_t rows = 2;
    const std::size_t dim = 3;
    const Program program = Program::parse("x + dt*f(x) | rms(x)");
    const State<double> state = State<double>::start(program, rows, dim, random_rows(rows, dim, 1));
    for (const std::size_t space : {std::size_t{12}, dim}) {
        RowStep<double> step(program, SubLayers::attention_only, rows, dim, space);
        std::vector<double> out;
        step.readout(Environment::ode(1, 10, rows, space), state, out);
        for (std::size_t row = 0; row < rows; ++row) {
            const double* const x = state.streams[0].data() + row * dim;
            for (std::size_t c = 0; c < dim; ++c) {
                EXPECT_NEAR(out[row * dim + c], std::sqrt(static_cast<double>(space)) * x[c] / length_of(x, dim), 1e-14)
                    << space;
            }
        }
    }
}

}  // namespace
}  // namespace flyball::scheme::test::rows_test
