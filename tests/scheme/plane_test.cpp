// The plane evaluation is the full evaluation of an equiangular configuration.
#include "scheme/plane.hpp"

#include "scheme/limit.hpp"
#include "support.hpp"

namespace flyball::scheme::test::plane_test {
namespace {

constexpr std::size_t tokens = 7;
constexpr std::size_t dim = 9;  // tokens span a part of it
constexpr double beta = 2.1;

std::vector<double> rows_of(const PlaneVector& x) {
    std::vector<double> rows(tokens * dim);
    for (std::size_t j = 0; j < tokens; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            rows[j * dim + c] = c < tokens ? x.b + (j == c ? x.a : 0) : 0;
        }
    }
    return rows;
}

class PlaneOf : public EveryScheme {};

TEST_P(PlaneOf, EqualsFullVectorsOrIsRefusedWithAReason) {
    const Program program = program_for_test(GetParam());
    if (limit_problem(program, SubLayers::attention_only)) {
        return;  // a scheme without a limit has no law either
    }
    if (const auto problem = reduced_law_problem(program)) {
        const bool names_it =
            problem->find("each coordinate") != std::string::npos || problem->find("per-channel") != std::string::npos;
        EXPECT_TRUE(names_it) << *problem;
        return;
    }
    const PlaneVector embedding{0.9, 0.15};
    std::vector<PlaneVector> plane(program.stream_count());
    State<double> state = State<double>::start(program, tokens, dim, rows_of(embedding));
    for (std::size_t s = 0; s < plane.size(); ++s) {
        plane[s] = {1.3 - 0.4 * static_cast<double>(s), 0.2 + 0.1 * static_cast<double>(s)};
        state.streams[s] = rows_of(plane[s]);
    }
    const auto f = [](const PlaneVector& z) { return plane_attention(beta, tokens, z); };
    const auto f_rows = plain_sub_layers<double>(tokens, dim, beta);
    PlaneStep plane_step(program);
    RowStep<double> step(program, SubLayers::attention_only, tokens, dim);

    const Environment at = Environment::ode(4, 10, tokens, dim);
    ASSERT_EQ(plane_step.project(at, plane, embedding), std::nullopt);
    ASSERT_EQ(step.project(at, state), std::nullopt);
    std::vector<PlaneVector> slopes;
    std::vector<std::vector<double>> row_slopes;
    ASSERT_EQ(plane_step.velocity(at, plane, embedding, f, slopes), std::nullopt);
    ASSERT_EQ(step.velocity(at, state, f_rows, row_slopes), std::nullopt);
    for (std::size_t s = 0; s < plane.size(); ++s) {
        EXPECT_LT(largest_difference(rows_of(plane[s]), state.streams[s]), 1e-13);
        EXPECT_LT(largest_difference(rows_of(slopes[s]), row_slopes[s]), 1e-12) << "stream " << s;
    }

    for (std::size_t l = 1; l <= 5; ++l) {
        const Environment env = Environment::layer(l, 5, 0.3, tokens, dim);
        ASSERT_EQ(plane_step.layer(env, plane, embedding, f), std::nullopt);
        step.layer(env, state, f_rows);
    }
    PlaneVector readout;
    std::vector<double> row_readout;
    const Environment end = Environment::layer(5, 5, 0.3, tokens, dim);
    ASSERT_EQ(plane_step.readout(end, plane, embedding, readout), std::nullopt);
    step.readout(end, state, row_readout);
    EXPECT_LT(largest_difference(rows_of(readout), row_readout), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, PlaneOf, ::testing::ValuesIn(catalogue()), test_name);

TEST(Plane, RmsHasTheLengthSqrtOfTheDimension) {
    PlaneStep step(Program::parse("rms(x + dt*f(x))"));
    std::vector<PlaneVector> x = {{2, 0}};
    ASSERT_EQ(step.project(Environment::ode(0, 10, tokens, dim), x, x[0]), std::nullopt);
    EXPECT_NEAR(x[0].a, 3, 1e-14);  // sqrt 9
    // f gives the sum of all e_k; what is left of it across e_j turns a vector of length 3 by its own length.
    std::vector<PlaneVector> slopes;
    const auto f = [](const PlaneVector&) { return PlaneVector{0, 1}; };
    ASSERT_EQ(step.velocity(Environment::ode(0, 10, tokens, dim), x, x[0], f, slopes), std::nullopt);
    EXPECT_NEAR(slopes[0].a, -1, 1e-14);
    EXPECT_NEAR(slopes[0].b, 1, 1e-14);
}

// |f| and three times |x|, though they nearly cancel: f gives (3 - 1e-9) x, and x is (2, 0).
TEST(Plane, SaysHowLongThePartsOfASlopeAre) {
    PlaneStep step(Program::parse("x + dt*(f(x) - 3*x)"));
    const std::vector<PlaneVector> x = {{2, 0}};
    std::vector<PlaneVector> slopes;
    std::vector<double> parts;
    const auto f = [](const PlaneVector& z) { return PlaneVector{(3 - 1e-9) * z.a, 0}; };
    ASSERT_EQ(step.velocity(Environment::ode(0, 10, tokens, dim), x, x[0], f, slopes, &parts), std::nullopt);
    EXPECT_NEAR(slopes[0].a, -2e-9, 1e-14);
    EXPECT_NEAR(parts.at(0), 12, 1e-6);
}

// The factor 1 + t multiplies |f| = 6 and three times |x| = 2 alike, and an outer norm divides by the length.
TEST(Plane, PartsOfASlopeAreAsLongAsTheirFactorsMakeThem) {
    const std::vector<PlaneVector> x = {{2, 0}};
    const auto f = [](const PlaneVector& z) { return PlaneVector{3 * z.a, 0}; };
    const auto parts_of = [&](const char* text) {
        PlaneStep step(Program::parse(text));
        std::vector<PlaneVector> slopes;
        std::vector<double> parts;
        EXPECT_EQ(step.velocity(Environment::ode(2, 10, tokens, dim), x, x[0], f, slopes, &parts), std::nullopt);
        return parts.at(0);
    };
    EXPECT_NEAR(parts_of("x + dt*(1+t)*(f(x) - 3*x)"), 36, 1e-12);
    EXPECT_NEAR(parts_of("x - dt*f(x)/(1+t)"), 2, 1e-12) << "a length, whatever the sign";
}

// Twice the unit vector: x = (2, 0) has the length 2, and v = (0, 1) has <x/|x|, v> = 1 along it.
TEST(Plane, ReadoutMovesWithTheStreams) {
    PlaneStep step(Program::parse("x + dt*f(x) | 2*unit(x)"));
    const Environment env = Environment::ode(2, 10, tokens, dim);
    const std::vector<PlaneVector> x = {{2, 0}};
    PlaneVector out;
    ASSERT_EQ(step.readout(env, x, x[0], out), std::nullopt);
    EXPECT_NEAR(out.a, 2, 1e-14);
    EXPECT_NEAR(out.b, 0, 1e-14);
    PlaneVector slope;
    ASSERT_EQ(step.readout_slope(env, x, {{0, 1}}, x[0], slope), std::nullopt);
    EXPECT_NEAR(slope.a, -1, 1e-14);  // 2 (v - (1, 0))/2
    EXPECT_NEAR(slope.b, 1, 1e-14);
}

TEST(Plane, KeepsRelativeAccuracyNearConsensus) {
    // Post-LN near consensus: a' = -a to first order, and 1 - gamma = a^2/|x|^2 loses no digits.
    const Program program = Program::parse("norm(x + dt*f(x))");
    PlaneStep step(program);
    for (const double a : {1e-5, 1e-50, 1e-150}) {
        std::vector<PlaneVector> x = {{a, 1 / std::sqrt(7.0)}};
        const Environment env = Environment::ode(1, 10, tokens, dim);
        ASSERT_EQ(step.project(env, x, x[0]), std::nullopt);
        EXPECT_NEAR(one_minus_cosine(x[0], 7) / (a * a), 1.0, 1e-4);
        std::vector<PlaneVector> slopes;
        ASSERT_EQ(step.velocity(
                      env, x, x[0], [](const PlaneVector& z) { return plane_attention(beta, 7, z); }, slopes),
                  std::nullopt);
        EXPECT_NEAR(slopes[0].a / x[0].a, -1.0, 1e-4) << a;
    }
}

TEST(Plane, NamesTheOperationThatHasNoReducedLaw) {
    const auto reason = [](const char* text) { return reduced_law_problem(Program::parse(text)).value_or(""); };
    EXPECT_NE(reason("x + dt*f(ln(x))").find("ln(x)"), std::string::npos);
    EXPECT_NE(reason("x + dt*tanh(f(x))").find("tanh(f(x))"), std::string::npos);
    EXPECT_NE(reason("x + dt*f(x) | erf(x)").find("erf(x)"), std::string::npos);
    EXPECT_NE(reason("x + dt*f(x + g) where ~g[d] = 1").find("g"), std::string::npos);
    EXPECT_EQ(reason("x + dt*f(x + g) where ~g[d] = 1"), "the per-channel parameter g is added to a vector");
    EXPECT_EQ(reason("x + dt*f(x) | erf(x)"), "erf(x) acts on each coordinate by itself");
    EXPECT_EQ(reason("x + dt*f(x + g) where ~g[d] = 0"), "");
    EXPECT_EQ(reason("x + dt*f(rms(x))"), "");
}

}  // namespace
}  // namespace flyball::scheme::test::plane_test
