// Every table has the order it claims, off and on a manifold, at the ends of steps and inside them; steps that choose
// their size keep the tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "dynamics/method.hpp"

namespace flyball::dynamics {
namespace {

class Field : public Motion {
  public:
    using Slope = std::function<void(double t, const double* y, double* slope)>;
    Field(std::size_t numbers, Slope slope, bool on_sphere = false)
        : numbers_(numbers), slope_(std::move(slope)), on_sphere_(on_sphere) {}

    std::size_t numbers() const override { return numbers_; }
    void project(double, double* y) override {
        if (on_sphere_) {
            const double length = std::sqrt(std::inner_product(y, y + numbers_, y, 0.0));
            std::for_each(y, y + numbers_, [length](double& v) { v /= length; });
        }
    }
    void velocity(double t, const double* y, double* slope) override {
        ++evaluations;
        std::vector<double> at(y, y + numbers_);
        project(t, at.data());
        slope_(t, at.data(), slope);
    }
    std::size_t evaluations = 0;

  private:
    std::size_t numbers_;
    Slope slope_;
    bool on_sphere_;
};

struct KnownProblem {
    Field field;
    std::function<std::vector<double>(double t)> exact;
    double end;
};

// Kepler's ellipse of eccentricity e in its plane, from perihelion: x = cos E - e, y = sqrt(1 - e^2) sin E with
// E - e sin E = t.
KnownProblem kepler() {
    constexpr double e = 0.3;
    const auto slope = [](double, const double* y, double* out) {
        const double r = std::hypot(y[0], y[1]);
        out[0] = y[2];
        out[1] = y[3];
        out[2] = -y[0] / (r * r * r);
        out[3] = -y[1] / (r * r * r);
    };
    const auto exact = [](double t) -> std::vector<double> {
        double anomaly = t;
        for (int i = 0; i < 100; ++i) {
            anomaly -= (anomaly - e * std::sin(anomaly) - t) / (1 - e * std::cos(anomaly));
        }
        const double root = std::sqrt(1 - e * e);
        const double rate = 1 / (1 - e * std::cos(anomaly));
        return {std::cos(anomaly) - e, root * std::sin(anomaly), -std::sin(anomaly) * rate,
                root * std::cos(anomaly) * rate};
    };
    return {Field(4, slope), exact, 6};
}

// y' = cos(t) y: the nodes matter.
KnownProblem driven() {
    return {Field(1, [](double t, const double* y, double* out) { out[0] = std::cos(t) * y[0]; }),
            [](double t) -> std::vector<double> { return {std::exp(std::sin(t))}; }, 4};
}

// x' = M x - <x, M x> x on the sphere with M = diag(m): x(t) is exp(M t) x(0), made a unit vector.
KnownProblem oja() {
    static constexpr std::array<double, 4> m = {-1.2, -0.4, 0.3, 0.9};
    const auto slope = [](double, const double* x, double* out) {
        double turned = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            turned += m[i] * x[i] * x[i];
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out[i] = (m[i] - turned) * x[i];
        }
    };
    const auto exact = [](double t) {
        std::vector<double> x(4);
        double squares = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            x[i] = std::exp(m[i] * t) * (i == 0 ? 0.9 : 0.3);
            squares += x[i] * x[i];
        }
        for (double& v : x) {
            v /= std::sqrt(squares);
        }
        return x;
    };
    return {Field(4, slope, true), exact, 3};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(a[i] - b[i]));
    }
    return worst;
}

// The error at the end of `steps` equal steps.
double end_error(const RkTable& table, KnownProblem problem, int steps) {
    RungeKutta method(table, problem.end / steps);
    StepState state;
    std::vector<double> y = problem.exact(0);
    while (state.t < problem.end) {
        EXPECT_EQ(method.step(problem.field, state, y, problem.end), Progressed::stepped);
    }
    EXPECT_EQ(state.steps, static_cast<std::size_t>(steps));
    return distance(y, problem.exact(problem.end));
}

// The largest error inside one step of length h from the exact start.
double inside_error(const RkTable& table, KnownProblem problem, double h) {
    RungeKutta method(table, h);
    StepState state;
    std::vector<double> y = problem.exact(0);
    EXPECT_EQ(method.step(problem.field, state, y, h), Progressed::stepped);
    double worst = 0;
    std::vector<double> out;
    for (int i = 1; i < 16; ++i) {
        method.inside(problem.field, h * i / 16, y, out);
        worst = std::max(worst, distance(out, problem.exact(h * i / 16)));
    }
    return worst;
}

TEST(RkTables, HaveNodesAndWeightsThatFitTogether) {
    for (const RkTable* table : rk_tables()) {
        const std::size_t s = table->stages();
        ASSERT_EQ(table->c.size(), s) << table->name;
        ASSERT_EQ(table->a.size(), s) << table->name;
        const auto check_row = [&](const std::vector<double>& row, double node, std::size_t size) {
            EXPECT_EQ(row.size(), size) << table->name;
            EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), node, 2e-14) << table->name << " node " << node;
        };
        for (std::size_t i = 0; i < s; ++i) {
            check_row(table->a[i], table->c[i], i);
        }
        for (std::size_t i = 0; i < table->dense_c.size(); ++i) {
            check_row(table->dense_a[i], table->dense_c[i], s + 1 + i);
        }
        // Quadrature: sum b c^(q-1) = 1/q up to the order, and no further.
        for (int q = 1; q <= table->order; ++q) {
            double sum = 0;
            for (std::size_t i = 0; i < s; ++i) {
                sum += table->b[i] * std::pow(table->c[i], q - 1);
            }
            EXPECT_NEAR(sum, 1.0 / q, 1e-14) << table->name << " q " << q;
        }
        // Estimates of the error vanish where both methods that they compare are right.
        const auto check_estimate = [&](const std::vector<double>& e, int order) {
            for (int q = 1; q <= order; ++q) {
                double sum = 0;
                for (std::size_t i = 0; i < e.size(); ++i) {
                    sum += e[i] * std::pow(table->c[i], q - 1);
                }
                EXPECT_NEAR(sum, 0, 1e-14) << table->name << " q " << q;
            }
        };
        check_estimate(table->error, table->error_order);
        check_estimate(table->error_low, table->error_low_order);
    }
}

TEST(RkTables, HaveTheirOrder) {
    for (const RkTable* table : rk_tables()) {
        const int steps = table->order > 4 ? 20 : table->order > 1 ? 160 : 16000;
        const auto order = [&](const std::function<KnownProblem()>& make, int count) {
            return std::log2(end_error(*table, make(), count) / end_error(*table, make(), 2 * count));
        };
        const double tolerance = table->order > 4 ? 0.6 : 0.15;
        EXPECT_NEAR(order(kepler, 2 * steps), table->order, tolerance) << table->name << " kepler";
        EXPECT_NEAR(order(driven, steps / 2), table->order, tolerance) << table->name << " driven";
        // Stages are evaluated at their projections, and steps are projected: the order stays.
        EXPECT_NEAR(order(oja, steps / 2), table->order, tolerance) << table->name << " on the sphere";
    }
}

TEST(RkTables, KnowTheSolutionInsideAStepToTheirOrder) {
    for (const RkTable* table : rk_tables()) {
        const double h = table->order > 4 ? 0.25 : 0.05;
        for (const auto& make : {kepler, driven, oja}) {
            const double order = std::log2(inside_error(*table, make(), h) / inside_error(*table, make(), h / 2));
            EXPECT_GT(order, table->dense_order + 1 - 0.6) << table->name;
        }
        EXPECT_LT(std::log2(inside_error(*table, kepler(), h) / inside_error(*table, kepler(), h / 2)),
                  table->dense_order + 1 + 0.8)
            << table->name << " claims too little";
    }
}

TEST(RkTables, EstimatesShrinkWithTheirOrder) {
    const RkTable& table = dop853_table();
    const auto estimates = [&](double h) {  // by the definition of the method
        KnownProblem problem = kepler();
        const std::vector<double> y = problem.exact(0);
        std::vector<std::vector<double>> k;
        for (std::size_t i = 0; i < table.stages(); ++i) {
            std::vector<double> at = y;
            for (std::size_t j = 0; j < i; ++j) {
                for (std::size_t c = 0; c < at.size(); ++c) {
                    at[c] += h * table.a[i][j] * k[j][c];
                }
            }
            k.emplace_back(at.size());
            problem.field.velocity(table.c[i] * h, at.data(), k.back().data());
        }
        std::array<double, 2> worst{};
        for (std::size_t c = 0; c < y.size(); ++c) {
            double high = 0;
            double low = 0;
            for (std::size_t i = 0; i < k.size(); ++i) {
                high += h * table.error[i] * k[i][c];
                low += h * table.error_low[i] * k[i][c];
            }
            worst = {std::max(worst[0], std::abs(high)), std::max(worst[1], std::abs(low))};
        }
        return worst;
    };
    const auto coarse = estimates(0.1);
    const auto fine = estimates(0.05);
    EXPECT_NEAR(std::log2(coarse[0] / fine[0]), table.error_order + 1, 0.5);
    EXPECT_NEAR(std::log2(coarse[1] / fine[1]), table.error_low_order + 1, 0.5);
}

TEST(ChosenSteps, KeepTheTolerance) {
    for (const double rtol : {1e-5, 1e-8, 1e-11}) {
        for (const auto& make : {driven, oja}) {
            KnownProblem problem = make();
            RungeKutta method(dop853_table(), Tolerances{rtol, rtol / 100});
            StepState state;
            std::vector<double> y = problem.exact(0);
            std::vector<double> out;
            double worst = 0;
            while (state.t < problem.end) {
                const double before = state.t;
                ASSERT_EQ(method.step(problem.field, state, y, problem.end), Progressed::stepped);
                worst = std::max(worst, distance(y, problem.exact(state.t)));
                const double middle = before + 0.4 * (state.t - before);
                method.inside(problem.field, middle, y, out);
                worst = std::max(worst, distance(out, problem.exact(middle)));
            }
            EXPECT_LT(worst, 10 * rtol);
            EXPECT_GT(worst, 1e-6 * rtol) << "steps far shorter than the tolerance asks for";
            EXPECT_EQ(state.t, problem.end);
        }
    }
}

TEST(ChosenSteps, TakeTwelveEvaluationsAndThreeMoreToLookInside) {
    KnownProblem problem = oja();
    const auto evaluations = [&](bool look) {
        RungeKutta method(dop853_table(), Tolerances{1e-10, 1e-12});
        StepState state{0, 0.02, 0};
        std::vector<double> y = problem.exact(0);
        std::vector<double> out;
        problem.field.evaluations = 0;
        for (int i = 0; i < 5; ++i) {
            method.step(problem.field, state, y, 100);
            for (int j = 1; look && j < 10; ++j) {  // often: the further slopes are taken once a step
                method.inside(problem.field, state.t - 1e-4 * j, y, out);
            }
        }
        return problem.field.evaluations;
    };
    EXPECT_EQ(evaluations(false), 60U);
    EXPECT_EQ(evaluations(true), 76U);  // the slope at an end is the next step's first
}

TEST(ChosenSteps, SayWhenTheyCannotGoOn) {
    const auto end_of = [](const Field::Slope& slope, double end) {
        Field field(1, slope);
        RungeKutta method(dop853_table(), Tolerances{});
        StepState state;
        std::vector<double> y = {1};
        Progressed progressed = Progressed::stepped;
        while (progressed == Progressed::stepped && state.t < end) {
            progressed = method.step(field, state, y, end);
        }
        return std::pair{progressed, state.t};
    };
    const auto blow_up = end_of([](double, const double* y, double* out) { out[0] = y[0] * y[0]; }, 2);
    EXPECT_NE(blow_up.first, Progressed::stepped);
    EXPECT_NEAR(blow_up.second, 1, 1e-6);
    const auto not_a_number = [](double t, const double*, double* out) {
        out[0] = t > 0.5 ? std::numeric_limits<double>::quiet_NaN() : 1;
    };
    const auto nan = end_of(not_a_number, 2);
    EXPECT_EQ(nan.first, Progressed::not_finite);
    EXPECT_NEAR(nan.second, 0.5, 1e-6);
    const auto still = end_of([](double, const double*, double* out) { out[0] = 0; }, 1e100);
    EXPECT_EQ(still.first, Progressed::stepped);
}

}  // namespace
}  // namespace flyball::dynamics
