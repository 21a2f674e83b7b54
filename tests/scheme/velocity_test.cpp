// The velocity is what layers converge to: two independent readings of one equation.
#include "scheme/limit.hpp"
#include "support.hpp"

namespace flyball::scheme::test::velocity_test {
namespace {

constexpr std::size_t tokens = 6;
constexpr std::size_t dim = 9;
constexpr double beta = 1.7;

// The readout after time T in L layers of dt = T/L, from a start on the manifold.
std::vector<double> run_layers(const Program& program, SubLayers sub_layers, const State<double>& start, double T,
                               std::size_t layers) {
    RowStep<double> step(program, sub_layers, tokens, dim);
    State<double> state = start;
    const double dt = T / static_cast<double>(layers);
    for (std::size_t l = 1; l <= layers; ++l) {
        Environment env = Environment::layer(l, layers, dt, tokens, dim);
        env.L = T;  // what L and depth mean in the ODE, so that both see the same coefficients
        env.depth = env.t / T;
        step.layer(env, state, plain_sub_layers<double>(tokens, dim, beta));
    }
    std::vector<double> all;
    for (const auto& stream : state.streams) {
        all.insert(all.end(), stream.begin(), stream.end());
    }
    return all;
}

// The same by classical Runge-Kutta on the velocity, projected after every step.
std::vector<double> run_ode(const Program& program, SubLayers sub_layers, const State<double>& start, double T,
                            std::size_t steps) {
    RowStep<double> step(program, sub_layers, tokens, dim);
    State<double> state = start;
    const double h = T / static_cast<double>(steps);
    const auto f = plain_sub_layers<double>(tokens, dim, beta);
    // HybridNorm* is another equation at t = 0 than just after it.
    EXPECT_EQ(step.project(Environment::ode(1e-12, T, tokens, dim), state), std::nullopt);
    for (std::size_t i = 0; i < steps; ++i) {
        const double t = h * static_cast<double>(i);
        std::vector<std::vector<double>> k[4];
        const double at[4] = {0, 0.5, 0.5, 1};
        for (int stage = 0; stage < 4; ++stage) {
            State<double> moved = state;
            for (std::size_t s = 0; stage > 0 && s < moved.streams.size(); ++s) {
                for (std::size_t c = 0; c < moved.streams[s].size(); ++c) {
                    moved.streams[s][c] += at[stage] * h * k[stage - 1][s][c];
                }
            }
            // Mix-LN switches inside a step boundary only: stages stay on this side of it.
            const double inside = std::min(t + at[stage] * h, t + h * (1 - 1e-9));
            const Environment env = Environment::ode(inside + 1e-12, T, tokens, dim);
            EXPECT_EQ(step.project(env, moved), std::nullopt);
            EXPECT_EQ(step.velocity(env, moved, f, k[stage]), std::nullopt);
        }
        for (std::size_t s = 0; s < state.streams.size(); ++s) {
            for (std::size_t c = 0; c < state.streams[s].size(); ++c) {
                state.streams[s][c] += h / 6 * (k[0][s][c] + 2 * k[1][s][c] + 2 * k[2][s][c] + k[3][s][c]);
            }
        }
        EXPECT_EQ(step.project(Environment::ode(t + h * (1 - 1e-9), T, tokens, dim), state), std::nullopt);
    }
    std::vector<double> all;
    for (const auto& stream : state.streams) {
        all.insert(all.end(), stream.begin(), stream.end());
    }
    return all;
}

void expect_first_order(const Program& program, SubLayers sub_layers) {
    const double T = 0.8;
    State<double> start = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 3));
    RowStep<double> step(program, sub_layers, tokens, dim);
    ASSERT_EQ(step.project(Environment::ode(0, T, tokens, dim), start), std::nullopt);
    const std::vector<double> exact = run_ode(program, sub_layers, start, T, 80);
    const double coarse = largest_difference(run_layers(program, sub_layers, start, T, 1600), exact);
    const double fine = largest_difference(run_layers(program, sub_layers, start, T, 3200), exact);
    // Error budget: Runge-Kutta with h = 0.01 is exact to 1e-9; layers are first order, so halving dt halves the error.
    EXPECT_LT(fine, 4e-3) << program.text();
    if (coarse > 1e-7) {
        EXPECT_NEAR(coarse / fine, 2.0, 0.1) << program.text();
    }
}

class VelocityOf : public EveryScheme {};

// A scheme without a limit has a golden that says so (golden_test.cpp).
bool has_limit(const Program& program, SubLayers sub_layers) {
    return !limit_problem(program, sub_layers).has_value();
}

TEST_P(VelocityOf, IsTheLimitOfLayers) {
    const Program program = program_for_test(GetParam());
    if (has_limit(program, SubLayers::attention_only)) {
        expect_first_order(program, SubLayers::attention_only);
    }
}

TEST_P(VelocityOf, IsTheLimitOfLayersWithAnFfn) {
    const Program program = program_for_test(GetParam());
    if (has_limit(program, SubLayers::attention_and_ffn)) {
        expect_first_order(program, SubLayers::attention_and_ffn);
    }
}

TEST_P(VelocityOf, NeedsAnIdempotentProjection) {
    const Program program = program_for_test(GetParam());
    if (!has_limit(program, SubLayers::attention_and_ffn)) {
        return;
    }
    for (const double t : {0.0, 1.0, 6.0}) {
        RowStep<double> step(program, SubLayers::attention_and_ffn, tokens, dim);
        State<double> once = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 4));
        const Environment env = Environment::ode(t, 10, tokens, dim);
        ASSERT_EQ(step.project(env, once), std::nullopt);
        State<double> twice = once;
        ASSERT_EQ(step.project(env, twice), std::nullopt);
        for (std::size_t s = 0; s < once.streams.size(); ++s) {
            EXPECT_LT(largest_difference(once.streams[s], twice.streams[s]), 1e-14) << program.text();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, VelocityOf, ::testing::ValuesIn(catalogue()), test_name);

// Equations outside the catalogue whose limit the derivative of S alone gets wrong, or that exercise the grammar.
TEST(Velocity, OfANormInsideTheStreamNeedsTheProjection) {
    expect_first_order(Program::parse("norm(x) + dt*f(norm(x))"), SubLayers::attention_only);
}

// Where N0 depends on t, x follows it: layers tell how fast.
TEST(Velocity, FollowsAProjectionThatTimeMoves) {
    for (const char* text : {"norm(x + dt*f(x))/sqrt(t+1)", "(1+depth)*norm(x + dt*f(norm(x)))",
                             "norm(x)*exp(-t) + dt*f(norm(x))", "a*norm(x + dt*f(norm(x))) where ~a = 1+t",
                             "y = norm(y + dt*f(x))*(1+t); x = norm(x + dt*f(norm(y))) | x + y",
                             "y = y + dt*f(norm(y)); x = norm(y + t*x0) + 0*x"}) {
        expect_first_order(Program::parse(text), SubLayers::attention_only);
    }
}

// At t = 0 sqrt(t) has no slope: it is a factor of f, or of what the norm takes away again.
TEST(Velocity, IsThereWhereAFactorOfFHasNoSlopeInTime) {
    for (const char* text :
         {"norm(x + dt*sqrt(t)*f(x))", "norm(x + dt*t^t*f(x))", "norm(x + sqrt(t)*dt/(1+sqrt(t))*f(x))",
          "x + dt^(1+t)*f(norm(x))", "norm((1+sqrt(t))*x + dt*f(x))"}) {
        const Program program = Program::parse(text);
        RowStep<double> step(program, SubLayers::attention_only, tokens, dim);
        State<double> state = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 4));
        const Environment env = Environment::ode(0, 10, tokens, dim);
        ASSERT_EQ(step.project(env, state), std::nullopt) << text;
        std::vector<std::vector<double>> slopes;
        EXPECT_EQ(step.velocity(env, state, plain_sub_layers<double>(tokens, dim, beta), slopes), std::nullopt) << text;
        for (const double slope : slopes[0]) {
            EXPECT_TRUE(std::isfinite(slope)) << text;
        }
        EXPECT_EQ(limit_problem(program, SubLayers::attention_only), std::nullopt) << text;
    }
}

// x at rest: what is left is the change of (1+t)^2.
TEST(Velocity, WithoutABlockIsTheDrift) {
    const Program program = Program::parse("norm(x + dt*f(x))*(1+t)^2");
    RowStep<double> step(program, SubLayers::attention_only, tokens, dim);
    State<double> state = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 4));
    const Environment env = Environment::ode(3, 10, tokens, dim);
    ASSERT_EQ(step.project(env, state), std::nullopt);
    std::vector<std::vector<double>> slopes;
    ASSERT_EQ(step.drift(env, state, slopes), std::nullopt);
    for (std::size_t i = 0; i < slopes[0].size(); ++i) {
        EXPECT_NEAR(slopes[0][i], state.streams[0][i] / 2, 1e-13);  // 2 (1+t) of (1+t)^2
    }
}

TEST(Velocity, OfNormInsideTheStreamReachesTheConsensusThatLayersReach) {
    // Published check value: n = d = 12, beta = 1, symmetric start, t = 6 gives cosine 0.9999; without the projection
    // 0.949.
    const std::size_t n = 12;
    const Program program = Program::parse("norm(x) + dt*f(norm(x))");
    RowStep<double> step(program, SubLayers::attention_only, n, n);
    std::vector<double> eye(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        eye[j * n + j] = 1;
    }
    State<double> state = State<double>::start(program, n, n, eye);
    std::vector<std::vector<double>> slopes;
    const int steps = 6000;
    for (int i = 0; i < steps; ++i) {
        const Environment env = Environment::ode(6.0 * i / steps, 6, n, n);
        ASSERT_EQ(step.velocity(env, state, plain_sub_layers<double>(n, n, 1.0), slopes), std::nullopt);
        for (std::size_t c = 0; c < n * n; ++c) {
            state.streams[0][c] += 6.0 / steps * slopes[0][c];
        }
        ASSERT_EQ(step.project(env, state), std::nullopt);
    }
    double cosine = 0;
    for (std::size_t c = 0; c < n; ++c) {
        cosine += state.streams[0][c] * state.streams[0][n + c];
    }
    EXPECT_NEAR(cosine, 0.9999, 5e-5);
}

TEST(Velocity, OfEquationsWithEveryFeature) {
    for (const char* text : {
             "o = f(x); x = norm(x + dt*o); y = y + dt*(x - y)",   // a stream that follows another
             "x + dt*f(x0)*exp(-t) | norm(x)",                     // the embedding
             "a = sqrt(t+1); c = min(a, 2); x = x + dt*f(x/a)*c",  // scalar locals
             "norm(b + dt*f(norm(x)) + dt^2*f(x))",                // two calls, one of second order
             "x + dt*f(x + f(x))",                                 // a call inside a call
             "depth < 0.25 ? norm(x + dt*f(x)) : depth < 0.5 ? norm(x + 2*dt*f(x)) : norm(x)", "rms(x + dt*f(ln(x)))",
             "x + dt*erf(f(tanh(x)))",
             "attn: o = f(norm(x)); x = x + 0*o; ffn: x = x + dt*o + dt*f(norm(x))",  // a local crosses sections
         }) {
        expect_first_order(Program::parse(text), SubLayers::attention_and_ffn);
    }
}

TEST(Velocity, IsRefusedWithAReasonWhereThereIsNoLimit) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"x + f(x)", "f(x) is not multiplied by anything that vanishes with dt"},
        {"norm(x + f(x))", "f(x) is not multiplied"},
        {"x + dt*f(x)/dt", "not finite at dt = 0"},
        {"x + sqrt(dt)*f(x)", "not finite at dt = 0"},
        {"x + norm(dt*f(x))", "vanishes with dt, where it has no derivative"},
        {"x + dt*norm(dt*f(x))", "vanishes with dt, where it has no derivative"},
    };
    for (const auto& [text, reason] : cases) {
        const Program program = Program::parse(text);
        RowStep<double> step(program, SubLayers::attention_only, tokens, dim);
        const State<double> state = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 5));
        std::vector<std::vector<double>> slopes;
        const auto problem = step.velocity(Environment::ode(1, 10, tokens, dim), state,
                                           plain_sub_layers<double>(tokens, dim, beta), slopes);
        ASSERT_TRUE(problem.has_value()) << text;
        EXPECT_NE(problem->find(reason), std::string::npos) << text << ": " << *problem;
    }
}

TEST(Velocity, CallsTheSubLayerOncePerCallInTheText) {
    const Program program = Program::parse("x + dt*norm(f(norm(x))) | norm(x)");
    RowStep<double> step(program, SubLayers::attention_and_ffn, tokens, dim);
    const State<double> state = State<double>::start(program, tokens, dim, random_rows(tokens, dim, 6));
    std::vector<std::vector<double>> slopes;
    int attention = 0;
    int ffn = 0;
    ASSERT_EQ(step.velocity(
                  Environment::ode(1, 10, tokens, dim), state,
                  [&](SubLayer sub_layer, const double* in, double* out) {
                      (sub_layer == SubLayer::attention ? attention : ffn) += 1;
                      plain_sub_layers<double>(tokens, dim, beta)(sub_layer, in, out);
                  },
                  slopes),
              std::nullopt);
    EXPECT_EQ(attention, 1);
    EXPECT_EQ(ffn, 1);
}

// Beside dt = 0, where all of these are equal.
TEST(Velocity, OfMinAndMaxIsThatOfTheOneThatTheyAreForASmallStep) {
    const auto slopes_of = [](const std::string& factor, double t) {
        RowStep<double> step(Program::parse("x + " + factor + "*f(norm(x)) | norm(x)"), SubLayers::attention_only,
                             tokens, dim);
        const State<double> state =
            State<double>::start(Program::parse("x + dt*f(x)"), tokens, dim, random_rows(tokens, dim, 6));
        std::vector<std::vector<double>> slopes;
        EXPECT_EQ(step.velocity(Environment::ode(t, 10, tokens, dim), state,
                                plain_sub_layers<double>(tokens, dim, beta), slopes),
                  std::nullopt);
        return slopes.at(0);
    };
    for (const auto& [factor, same] :
         {std::pair("max(dt, 3*dt)", "3*dt"), std::pair("max(3*dt, dt)", "3*dt"), std::pair("min(dt, 3*dt)", "dt"),
          std::pair("min(3*dt, dt)", "dt"), std::pair("max(0, dt)", "dt"), std::pair("max(dt, dt*t)", "2*dt"),
          std::pair("min(dt^2, dt)", "0*dt"), std::pair("min(dt, 0.1)", "dt")}) {
        EXPECT_EQ(slopes_of(factor, 2), slopes_of(same, 2)) << factor;
    }
    // Which of them it is changes at t = 1.
    const Program program = Program::parse("x + max(dt, dt*t)*f(norm(x)) | norm(x)");
    EXPECT_NE(program.comparisons(Environment::ode(0.5, 10, tokens, dim)),
              program.comparisons(Environment::ode(1.5, 10, tokens, dim)));
}

}  // namespace
}  // namespace flyball::scheme::test::velocity_test
