// Problems that settings cannot say, watches at times of one's own, and velocities at given states.
#include "dynamics/problem.hpp"
#include "dynamics/method.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "dynamics/document.hpp"
#include "dynamics/run.hpp"
#include "dynamics/start.hpp"
#include "dynamics/velocities.hpp"
#include "scheme/catalogue.hpp"
#include "setting_fields.hpp"

namespace flyball::dynamics::problem_test {
namespace {

scheme::Program program_of(const char* scheme) {
    return scheme::find_scheme(scheme).program;
}

Problem problem_at(const char* scheme, std::vector<double> rows, std::size_t dim, double time, double beta = 1) {
    Problem problem{program_of(scheme), 1, rows.size() / dim, dim, std::move(rows)};
    problem.attention.settings.beta = beta;
    problem.time = time;
    return problem;
}

const std::vector<double> four = {1, 0, 0, 0.6, 0.8, 0, 0, 0.6, -0.8, -0.48, 0.6, 0.64};

// A_j = sum_k w_jk z_k with scores beta <Q z_j, K z_k>, by the definition.
std::vector<double> plain_softmax(const double* z, std::size_t n, std::size_t d, double beta, const double* Q,
                                  const double* K) {
    const auto times = [&](const double* matrix, const double* row) {
        std::vector<double> out(d, 0.0);
        for (std::size_t i = 0; i < d; ++i) {
            for (std::size_t c = 0; c < d; ++c) {
                out[i] += matrix[i * d + c] * row[c];
            }
        }
        return out;
    };
    std::vector<double> A(n * d, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        double Z = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::vector<double> query = times(Q, z + j * d);
            const std::vector<double> key = times(K, z + k * d);
            double score = 0;
            for (std::size_t c = 0; c < d; ++c) {
                score += query[c] * key[c];
            }
            const double weight = std::exp(beta * score);
            Z += weight;
            for (std::size_t c = 0; c < d; ++c) {
                A[j * d + c] += weight * z[k * d + c];
            }
        }
        for (std::size_t c = 0; c < d; ++c) {
            A[j * d + c] /= Z;
        }
    }
    return A;
}

const std::vector<double> unit_matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1};
const std::vector<double> queries = {0.3, -1.1, 0.2, 0.7, 0.4, -0.5, 0.1, 0.9, 1.3};
const std::vector<double> keys = {-0.2, 0.5, 0.8, 1.2, 0.1, 0.3, -0.6, 0.4, 0.9};

// Post-LN: theta' = A - <theta, A> theta.
std::vector<double> across(const std::vector<double>& A, const std::vector<double>& theta, std::size_t d) {
    std::vector<double> out = A;
    for (std::size_t j = 0; j < A.size() / d; ++j) {
        double along = 0;
        for (std::size_t c = 0; c < d; ++c) {
            along += A[j * d + c] * theta[j * d + c];
        }
        for (std::size_t c = 0; c < d; ++c) {
            out[j * d + c] -= along * theta[j * d + c];
        }
    }
    return out;
}

TEST(Problem, OfSettingsIsWhatTheSettingsSay) {
    Settings s;
    s.tokens = 5;
    s.dim = 4;
    s.beta = 2;
    s.causal = true;
    s.attention = "sparsemax";
    s.r0 = 3;
    s.systems = 2;
    s.fresh = true;
    s.weights = WeightKind::gaussian;
    s.heads = 2;
    s.ffn_width = 7;
    s.layers = 6;
    s.dt = 0.25;
    const Problem problem = problem_of(s, program_of("pre-ln"));
    EXPECT_EQ(problem.start, start_rows(s));
    EXPECT_EQ(problem.rows(), 10U);
    EXPECT_EQ(problem.dim, 4U);
    EXPECT_EQ(problem.r0, 3);
    EXPECT_EQ(problem.attention.settings.kind, attention::Kind::sparsemax);
    EXPECT_TRUE(problem.attention.causal());
    EXPECT_EQ(problem.attention.settings.beta, 2);
    EXPECT_TRUE(problem.attention.per_system && problem.fresh);
    EXPECT_EQ(problem.attention.weights(1, 3).head[1].key, draw_weights(s, 1, 3).head[1].key);
    EXPECT_EQ(problem.ffn.weights(1, 3).second, draw_feed_forward(s, 1, 3).second);
    EXPECT_EQ(problem.final_time(), 1.5);
    s.method = Method::rk4;
    s.rtol = 1e-5;
    s.atol = 1e-6;
    s.precision = Precision::f32;
    s.kernel = "general";
    const Control control = control_of(s);
    EXPECT_EQ(control.method, Method::rk4);
    EXPECT_EQ(control.rtol, 1e-5);
    EXPECT_EQ(control.atol, 1e-6);
    EXPECT_EQ(control.step, 0.25);
    EXPECT_EQ(control.precision, Precision::f32);
    EXPECT_EQ(control.kernel, "general");
    s.fresh = false;
    s.weights = WeightKind::identity;
    EXPECT_TRUE(problem_of(s, program_of("pre-ln")).attention.identity());
    s.tokens = 0;
    EXPECT_THROW(problem_of(s, program_of("pre-ln")), Error);
}

// What a run is given of a setting, in a run that can have it.
struct Arrival {
    const char* key;
    const char* value;  // not the default
    std::string (*given)(const Settings&);
    const char* beside = "";  // another setting that it needs, as KEY=VALUE
};

std::string text_of(double value) {
    return std::to_string(value);
}
std::string text_of(const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
        text += std::to_string(value) + " ";
    }
    return text;
}
Problem pre_ln_of(const Settings& s) {
    return problem_of(s, program_of("pre-ln"));
}

const std::vector<Arrival>& arrivals() {
    using S = const Settings&;
    static const std::vector<Arrival> table = {
        {"tokens", "7", [](S s) { return std::to_string(pre_ln_of(s).tokens); }},
        {"dim", "9", [](S s) { return std::to_string(pre_ln_of(s).dim); }},
        {"beta", "2.5", [](S s) { return text_of(pre_ln_of(s).attention.settings.beta); }},
        {"heads", "2", [](S s) { return std::to_string(pre_ln_of(s).attention.heads); }},
        {"mask", "causal", [](S s) { return std::to_string(pre_ln_of(s).attention.causal()); }},
        {"weights", "gaussian", [](S s) { return std::to_string(pre_ln_of(s).attention.identity()); }},
        // To src/bridge, which reads the model with it.
        {"gains", "true", [](S s) { return std::to_string(s.norm_gains); }},
        {"fresh", "true", [](S s) { return std::to_string(pre_ln_of(s).fresh); }, "weights=gaussian"},
        {"ffn", "5", [](S s) { return std::to_string(pre_ln_of(s).ffn.width); }},
        {"attention", "ssmax", [](S s) -> std::string { return name(pre_ln_of(s).attention.settings.kind); }},
        {"start", "gaussian", [](S s) { return text_of(pre_ln_of(s).start); }},
        // To open_start_file, which reads that sample; start_file_test.cpp has it.
        {"start-frame", "2", [](S s) { return std::to_string(s.start_frame.value_or(99)); }},
        {"r0", "2", [](S s) { return text_of(pre_ln_of(s).start); }},
        {"time", "3", [](S s) { return text_of(pre_ln_of(s).final_time()); }},
        {"layers", "12", [](S s) { return text_of(pre_ln_of(s).final_time()); }},
        {"dt", "0.5", [](S s) { return text_of(control_of(s).step); }, "method=rk4"},
        {"method", "rk4", [](S s) -> std::string { return name(control_of(s).method); }},
        {"rtol", "0.1", [](S s) { return text_of(control_of(s).rtol); }},
        {"atol", "0.1", [](S s) { return text_of(control_of(s).atol); }},
        {"systems", "2", [](S s) { return std::to_string(pre_ln_of(s).systems); }},
        {"samples", "3", [](S s) { return text_of(watch_of(s).times); }},
        {"log-time", "true", [](S s) { return text_of(watch_of(s).times); }},
        {"until", "cosine>0.9", [](S s) { return watch_of(s).until ? watch_of(s).until->observable : ""; }},
        {"pair-cosine", "0.5", [](S s) { return text_of(watch_of(s).pair_cosine); }},
        {"per-system", "true",
         [](S s) {
             const scheme::Scheme scheme = scheme::find_scheme("pre-ln");
             const Json row = document(s, {{scheme, run(s, scheme.program)}})["runs"][0];
             return std::to_string(row.contains("systems"));
         },
         "systems=2"},
        {"precision", "f32", [](S s) { return std::to_string(static_cast<int>(control_of(s).precision)); }},
        {"kernel", "blas", [](S s) { return control_of(s).kernel; }},
        {"seed", "5", [](S s) { return text_of(pre_ln_of(s).start); }},
    };
    return table;
}

// A setting that is read, written and forgotten on its way to the run would change nothing.
TEST(Problem, EverySettingArrivesInTheRun) {
    for (const SettingField& field : setting_fields()) {
        const auto arrival = std::find_if(arrivals().begin(), arrivals().end(),
                                          [&](const Arrival& row) { return std::string(row.key) == field.key; });
        ASSERT_NE(arrival, arrivals().end()) << "say in arrivals() where " << field.key << " arrives";
        Settings s;
        s.tokens = 4;
        s.dim = 6;
        const std::string beside = arrival->beside;
        if (!beside.empty()) {
            const std::size_t equals = beside.find('=');
            flyball::test::field_named(setting_fields(), beside.substr(0, equals)).parse(beside.substr(equals + 1), s);
        }
        const std::string before = arrival->given(s);
        field.parse(arrival->value, s);
        EXPECT_NE(arrival->given(s), before) << field.key << " changes nothing";
    }
}

TEST(Problem, WithAStartOfAnotherSizeIsRefused) {
    Problem problem = problem_at("post-ln", four, 3, 1);
    problem.tokens = 5;
    EXPECT_THROW(run(problem, {}), Error);
}

TEST(Problem, HasQueriesAndKeysOfItsOwnBesideValuesThatAreTheTokens) {
    Problem problem = problem_at("post-ln", four, 3, 5, 1.5);
    problem.attention.weights = [](std::size_t, std::size_t) {
        return attention::Weights<double>{1, 3, {{queries, keys, unit_matrix, unit_matrix}}};
    };
    const std::vector<double> expected =
        across(plain_softmax(four.data(), 4, 3, 1.5, queries.data(), keys.data()), four, 3);
    const Velocities found = velocities(problem);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(found.turn[i], expected[i], 1e-14) << i;
    }
}

TEST(Problem, HasHeadsOfDifferentTemperature) {
    Problem problem = problem_at("post-ln", four, 3, 5);
    problem.attention.settings.head_betas = {0.5, 6};
    problem.attention.heads = 2;
    const Velocities both = velocities(problem);
    const Velocities hot = velocities(problem_at("post-ln", four, 3, 5, 0.5));
    const Velocities cold = velocities(problem_at("post-ln", four, 3, 5, 6));
    double speed = 0;
    for (std::size_t j = 0; j < 4; ++j) {
        double squares = 0;
        for (std::size_t c = 3 * j; c < 3 * j + 3; ++c) {
            EXPECT_NEAR(both.turn[c], (hot.turn[c] + cold.turn[c]) / 2, 1e-15);
            squares += both.turn[c] * both.turn[c];
        }
        speed += std::sqrt(squares) / 4;
    }
    // What a run measures is the same motion, and in a long run too: no shortcut takes the heads for one.
    EXPECT_NEAR(run(problem, {}).samples.front().speed, speed, 1e-14);
    problem.time = 2e4;
    EXPECT_NEAR(run(problem, {}).samples.front().speed, speed, 1e-14);
}

TEST(Problem, TakesASubLayerOfTheCallers) {
    // f(x) = (0, 1): Pre-LN turns e_1 at speed 1/r towards it and does not grow; e_2 grows and does not turn.
    Problem problem = problem_at("pre-ln", {2, 0, 0, 2}, 2, 1);
    problem.attention.instead = [](const double*, double* out) {
        out[0] = out[2] = 0;
        out[1] = out[3] = 1;
    };
    const Velocities found = velocities(problem);
    EXPECT_NEAR(found.turn[1], 0.5, 1e-15);
    EXPECT_NEAR(found.growth[0], 0, 1e-15);
    EXPECT_NEAR(found.turn[2], 0, 1e-15);
    EXPECT_NEAR(found.growth[1], 1, 1e-15);
    // x' = f, so x = (2, t) for the first and (0, 2 + t) for the second.
    std::vector<double> x;
    Watch watch;
    watch.sampled = [&](const Sample&, const Particles& particles) { x = particles.x(); };
    const Record record = run(problem, {}, watch);
    EXPECT_EQ(record.kernel, "caller's");
    EXPECT_NEAR(x[0], 2, 1e-12);
    EXPECT_NEAR(x[1], 1, 1e-12);
    EXPECT_NEAR(x[3], 3, 1e-12);
}

TEST(Problem, ASubLayerOfTheCallersGoesWhereTheSameAttentionGoes) {
    for (const double time : {4.0, 2e4}) {  // the longer one would be followed in the tokens' own frames
        Problem problem = problem_at("peri-ln", four, 3, time, 2);
        std::vector<double> kernel;
        std::vector<double> caller;
        Watch watch;
        watch.sampled = [&](const Sample&, const Particles& particles) { kernel = particles.theta(); };
        run(problem, {}, watch);
        problem.attention.instead = [](const double* in, double* out) {
            const std::vector<double> A = plain_softmax(in, 4, 3, 2, unit_matrix.data(), unit_matrix.data());
            std::copy(A.begin(), A.end(), out);
        };
        watch.sampled = [&](const Sample&, const Particles& particles) { caller = particles.theta(); };
        const Record record = run(problem, {}, watch);
        EXPECT_EQ(record.outcome, Outcome::done);
        EXPECT_EQ(record.kernel, "caller's");
        for (std::size_t i = 0; i < kernel.size(); ++i) {
            EXPECT_NEAR(caller[i], kernel[i], 1e-7) << i;
        }
    }
}

TEST(Velocities, ArePolarAndOfTheProjectedState) {
    // beta = 0: A is the mean of the directions, (0.8, 0.4) here. Pre-LN: theta' = (A - <theta, A> theta)/r, r' =
    // <theta, A>.
    const Velocities found = velocities(problem_at("pre-ln", {3, 0, 1.2, 1.6}, 2, 10, 0));
    EXPECT_EQ(found.r, (std::vector<double>{3, 2}));
    EXPECT_NEAR(found.theta[3], 0.8, 1e-15);
    EXPECT_NEAR(found.turn[0], 0, 1e-15);
    EXPECT_NEAR(found.turn[1], 0.4 / 3, 1e-15);
    EXPECT_NEAR(found.growth[0], 0.8, 1e-15);
    EXPECT_NEAR(found.growth[1], 0.8, 1e-15);  // 0.6 * 0.8 + 0.8 * 0.4
    EXPECT_NEAR(found.turn[2], (0.8 - 0.48) / 2, 1e-15);
    EXPECT_NEAR(found.turn[3], (0.4 - 0.64) / 2, 1e-15);
    const Velocities post = velocities(problem_at("post-ln", {3, 0, 1.2, 1.6}, 2, 10, 0));
    EXPECT_NEAR(post.x[0], 1, 1e-15) << "Post-LN lives on the sphere";
    EXPECT_NEAR(post.growth[0], 0, 1e-15);
}

TEST(Velocities, AreThoseOfTheirTime) {
    // Mix-LN switches at T/4; sqrt-scaling divides by sqrt(t + 1), also where T is far away.
    const std::vector<double> rows = {2, 0, 0, 2};
    EXPECT_NEAR(velocities(problem_at("mix-ln", rows, 2, 10), 2.4).r[0], 1, 1e-15);
    EXPECT_NEAR(velocities(problem_at("mix-ln", rows, 2, 10), 2.6).r[0], 2, 1e-15);
    const double post = velocities(problem_at("post-ln", rows, 2, 10)).turn[1];
    EXPECT_NEAR(velocities(problem_at("sqrt-scaling", rows, 2, 10), 3).turn[1], post / 2, 1e-15);
    EXPECT_NEAR(velocities(problem_at("sqrt-scaling", rows, 2, 1e30)).turn[1], post, 1e-15);
}

TEST(Watches, LookAtTimesOfOnesOwn) {
    for (const MethodRow& row : method_rows()) {
        const Problem problem = problem_at("post-ln", four, 3, 2);
        Control control;
        control.method = row.method;
        control.step = 0.01;
        const auto times_of = [&](std::vector<double> times) {
            Watch watch;
            watch.times = std::move(times);
            std::vector<double> seen;
            for (const Sample& sample : run(problem, control, watch).samples) {
                seen.push_back(sample.t);
            }
            return seen;
        };
        EXPECT_EQ(times_of({}), (std::vector<double>{0, 2})) << row.name;
        EXPECT_EQ(times_of({0.3, 0.31, 1.7}), (std::vector<double>{0.3, 0.31, 1.7})) << row.name;
        EXPECT_EQ(times_of({2}), std::vector<double>{2}) << row.name;
        EXPECT_EQ(times_of({0}), std::vector<double>{0}) << row.name;
    }
    Problem layers = problem_at("post-ln", four, 3, 2);
    layers.layers = 8;
    layers.dt = 0.5;
    Watch watch;
    watch.times = {1, 2.5};
    const Record record = run(layers, {}, watch);
    ASSERT_EQ(record.samples.size(), 2U);
    EXPECT_EQ(record.samples[0].t, 1);
    EXPECT_EQ(record.samples[1].t, 2.5);
    EXPECT_EQ(record.steps, 8U);
}

}  // namespace
}  // namespace flyball::dynamics::problem_test
