// Lines and means on data whose answer is known.
#include "claims/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace flyball::claims {
namespace {

TEST(FitLine, IsExactOnALine) {
    const Line line = fit_line({0, 1, 2, 5}, {3, 1, -1, -7});
    EXPECT_NEAR(line.slope, -2, 1e-14);
    EXPECT_NEAR(line.intercept, 3, 1e-14);
    EXPECT_LT(line.slope_error, 1e-12);
    EXPECT_LT(line.residual, 1e-13);
}

TEST(FitLine, AgreesWithAWorkedExample) {
    // By hand: x = 1..5, y = 2, 4, 5, 4, 5: slope 0.6, intercept 2.2, residual squares 2.4, standard error
    // sqrt(2.4/3/10) = 0.28284, t(3) = 3.18245.
    const Line line = fit_line({1, 2, 3, 4, 5}, {2, 4, 5, 4, 5});
    EXPECT_NEAR(line.slope, 0.6, 1e-14);
    EXPECT_NEAR(line.intercept, 2.2, 1e-14);
    EXPECT_NEAR(line.residual, std::sqrt(2.4 / 5), 1e-14);
    EXPECT_NEAR(line.slope_error, 3.18245 * 0.282843, 0.004);
}

TEST(FitLine, IntervalCoversTheTruthAsOftenAsItSays) {
    // 2000 lines with unit noise: the 95 % interval misses 5 % of them, 100 +- 3 * sqrt(95).
    int missed = 0;
    for (int k = 0; k < 2000; ++k) {
        const Random random(7, static_cast<std::uint64_t>(k));
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i < 8; ++i) {
            x.push_back(i);
            y.push_back(0.3 * i + random.normal(static_cast<std::uint64_t>(i)));
        }
        const Line line = fit_line(x, y);
        missed += std::abs(line.slope - 0.3) > line.slope_error ? 1 : 0;
    }
    EXPECT_GT(missed, 70);
    EXPECT_LT(missed, 130);
}

TEST(FitLine, WithoutALineIsNaN) {
    EXPECT_TRUE(std::isnan(fit_line({1, 2}, {1, 2}).slope));
    EXPECT_TRUE(std::isnan(fit_line({1, 1, 1}, {1, 2, 3}).slope));
    EXPECT_TRUE(std::isnan(fit_line({}, {}).slope_error));
}

TEST(StudentQuantile, AgreesWithTheTables) {
    const std::vector<std::pair<std::size_t, double>> table = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                                               {5, 2.571},  {10, 2.228}, {30, 2.042}, {1000, 1.962}};
    for (const auto& [degrees, value] : table) {
        EXPECT_NEAR(student_quantile(degrees), value, 0.005 * value) << degrees;
    }
}

TEST(MeanOf, HasStudentsInterval) {
    const Mean mean = mean_of({1, 2, 3, 4});
    EXPECT_DOUBLE_EQ(mean.value, 2.5);
    // standard deviation sqrt(5/3), over sqrt 4, times t(3)
    EXPECT_NEAR(mean.error, 3.18245 * std::sqrt(5.0 / 3) / 2, 0.01);
    EXPECT_TRUE(std::isinf(mean_of({1}).error));
}

TEST(AllSucceededBound, IsTheRuleOfThreeForMany) {
    EXPECT_NEAR(all_succeeded_bound(1), 0.05, 1e-12);
    EXPECT_NEAR(all_succeeded_bound(1000), 1 - 3.0 / 1000, 1e-4);
}

}  // namespace
}  // namespace flyball::claims
