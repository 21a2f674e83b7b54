// Steps far longer than what relaxes, and none where something grows or swings within them.
#include "theory/extrapolation.hpp"

#include "support.hpp"

namespace flyball::theory::test {
namespace {

// One step of y' = v(t, y) from t with the implicit table, which may leap.
struct Leap {
    double h;
    Numbers y;
};
Leap leap_from(double t, Numbers y, double leap, std::function<void(double, const Numbers&, Numbers&)> v) {
    Extrapolation integrator({[&](double at, const Numbers& here, Numbers& slope) {
                                  v(at, here, slope);
                                  return true;
                              },
                              [](const Numbers& before, const Numbers& after, Numbers& size) {
                                  for (std::size_t i = 0; i < size.size(); ++i) {
                                      size[i] = std::max(std::abs(before[i]), std::abs(after[i]));
                                  }
                              }},
                             1e-12);
    integrator.implicit = true;
    integrator.next_step = 0.5;
    integrator.leap = leap;
    EXPECT_EQ(integrator.step(t, y, 1e30), Extrapolation::Outcome::done);
    return {integrator.last_step, y};
}

// y = 1/t + 1/t^2 + 2/t^3 + .. follows y' = -(y - 1/t).
TEST(Extrapolation, LeapsOverWhatHasRelaxed) {
    const double t = 1e7;
    const auto follows = [](double at) { return 1 / at + 1 / at / at + 2 / at / at / at; };
    const Leap leap = leap_from(t, {follows(t)}, 0.1 * t,
                                [](double at, const Numbers& y, Numbers& slope) { slope = {-(y[0] - 1 / at)}; });
    EXPECT_GT(leap.h, 1e4);
    EXPECT_NEAR(leap.y[0] / follows(t + leap.h), 1, 1e-12);
}

TEST(Extrapolation, DoesNotLeapWhereSomethingGrowsOrSwings) {
    const Leap growing = leap_from(0, {1e-3, 1e-10}, 1e12, [](double, const Numbers& y, Numbers& slope) {
        slope = {-y[0], y[1]};
    });
    EXPECT_NEAR(growing.y[1] / (1e-10 * std::exp(growing.h)), 1, 1e-10);
    const Leap swinging = leap_from(0, {1, 0.5}, 1e14, [](double, const Numbers& y, Numbers& slope) {
        slope = {y[1], -y[0]};
    });
    EXPECT_NEAR(std::hypot(swinging.y[0], swinging.y[1]), std::hypot(1, 0.5), 1e-10);
}

// x follows where attention and the pull towards x0 balance, up to how fast that place moves. gamma from the balance
// with three orders of its motion, with 50 digits (mpmath).
TEST(ReducedLaw, IsFollowedByStreamsThatRelaxWithinNoTime) {
    const std::vector<Point> points =
        solve(equation("norm(x + dt*f(x)/(1+t) + dt*(x0 - x))"), with(5, 1), {31622.776601683793, 1e7, 1e12});
    const double expected[] = {9.4141828928198404e-6, 2.9769518592995174e-8, 2.9769516240439043e-13};
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(points[i].gamma / expected[i], 1, 1e-11) << points[i].t;
    }
    // 2/((e + 4) t) and 2/((e + 4) t^2).
    const double weight = 1 / (std::exp(1.0) + 4);
    EXPECT_NEAR(at(equation("x + dt*(f(norm(x))/(1+t) + x0 - x) | norm(x)"), with(5, 1), 1e12).gamma * 1e12, 2 * weight,
                1e-11);
    EXPECT_NEAR(at(equation("x + dt*(f(norm(x))/(1+t)^2 + x0 - x) | norm(x)"), with(5, 1), 1e12).gamma * 1e24,
                2 * weight, 1e-11);
}

}  // namespace
}  // namespace flyball::theory::test
