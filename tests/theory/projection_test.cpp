// Streams that N0 sets from others or from t, read by f and by readouts.
//
// The curves come from the equations in the plane (a, b) by an interpreter and dual numbers of their own, integrated
// with SciPy's DOP853: x' = d/dt N0(t, S(t, N0(t, x), dt)), with what N0 does with t itself by differences of order
// eight. gamma' at t = 1.5 is the difference of order eight of gamma.
#include "support.hpp"

namespace flyball::theory::test {
namespace {

struct ProjectedCurve {
    const char* text;
    double tokens, beta;
    std::vector<double> gamma;  // at t = 0.5, 1.5, 2, 6
    double velocity;            // at t = 1.5
};

const std::vector<ProjectedCurve>& projected_curves() {
    static const std::vector<ProjectedCurve> all = {
        // A length is read that N0 sets from another stream.
        {"x = norm(x + dt*f(y)); y = x + x0 | y",
         5,
         1,
         {0.014394760740684, 0.031726712375427, 0.036817596142013, 0.048580549700455},
         0.0120271791135},
        {"x = norm(x + 3*dt*f(y)); y = 2*x - x0 | x + y",
         5,
         2,
         {0.98896889699599, -0.22724920094686, -0.069718445180853, -3.870356357627e-07},
         0.32141488698},
        {"x = norm(x + dt*f(y)*(1+t)); z = norm(z + dt*(y - z)); y = x + z | y",
         5,
         1,
         {0.022056043961231, 0.097245700096924, 0.1609374303005, 0.9989084731864},
         0.103463420168},
        {"x = norm(x + dt*f(y)); z = z + dt*(f(x)-z); y = x + z/2 | y + x0/3",
         6,
         2,
         {0.037091018791326, 0.1732873672238, 0.30102072265785, 0.95644650563883},
         0.202007009264},
        // And from t: a length, a direction, both.
        {"a*norm(x + dt*f(norm(x))) | x + x0 where a = 1+t",
         6,
         1,
         {0.075759700500178, 0.25430949627722, 0.34050468161015, 0.74916303541628},
         0.178117126273},
        {"a*norm(x + dt*f(norm(x))) | x + x0 where a = sqrt(1+t)",
         6,
         1,
         {0.078127085626818, 0.29234317831345, 0.40529653411047, 0.83931534718821},
         0.23073561774},
        {"y = y + dt*(x-y); x = norm(x + dt*f(x))*exp(-t) | y + x",
         5,
         1,
         {0.10086273209421, 0.3750022352245, 0.49223929078491, 0.86483276896216},
         0.258981446075},
        {"x = norm(x + dt*f(y)); y = norm((1+t)*x + x0) | y",
         5,
         1,
         {0.098001763582177, 0.41434697464231, 0.58986794551502, 0.97863346298761},
         0.361660143853},
        {"x = norm(x + dt*f(y)); y = norm((1+t)*x + x0) | x + y/2",
         5,
         1,
         {0.1447470238648, 0.5285145104349, 0.70907917014528, 0.99661958081098},
         0.394920535235},
        {"x = norm(x + dt*f(y))*(2+t)/(1+t); y = x - x0/3 | x + y",
         5,
         1,
         {0.085888721726156, 0.51680953673757, 0.76168645968395, 0.98091290580332},
         0.537188529045},
        {"x = x + dt*f(y); y = norm(x) + x0/(1+t) | norm(x)",
         6,
         2,
         {0.0017644419844828, 0.012756426666205, 0.020903596411369, 0.10782698855167},
         0.0149506034943},
        {"x = x + dt*(f(y) - x/3 + x0/4); y = norm(x) + x0*exp(-t)/2 | norm(x) + y",
         4,
         1.5,
         {0.043680766111627, 0.17192393401193, 0.24985729967454, 0.77434406615381},
         0.149281142098},
    };
    return all;
}

TEST(ReducedLaw, FollowsStreamsThatTheManifoldSetsAlsoInsideAStep) {
    for (const ProjectedCurve& curve : projected_curves()) {
        const Settings settings = with(curve.tokens, curve.beta);
        const std::vector<double> times = {0.5, 1.5, 2, 6};
        const std::vector<Point> together = solve(equation(curve.text), settings, times);
        for (std::size_t i = 0; i < times.size(); ++i) {
            EXPECT_NEAR(together[i].gamma, curve.gamma[i], 5e-12) << curve.text << ' ' << times[i];
        }
        // However few times are asked for.
        EXPECT_NEAR(at(equation(curve.text), settings, 6).gamma, curve.gamma.back(), 5e-12) << curve.text;
    }
}

TEST(ReducedLaw, TellsTheVelocityOfReadoutsOfStreamsThatTheManifoldSets) {
    for (const ProjectedCurve& curve : projected_curves()) {
        const Point point = at(equation(curve.text), with(curve.tokens, curve.beta), 1.5);
        EXPECT_NEAR(point.velocity, curve.velocity, 1e-9) << curve.text;
    }
}

// x = a u with u Post-LN in the clock log a/a(0): near consensus the share of a token in u is c a(0)/a, and that of the
// readout a u + x0 is 1 + c a(0), c^2 = n K(n, beta) by quadrature. So 1 - gamma ~ (1 + c a(0))^2/t^2. With
// a = sqrt(1+t) the share in u falls faster than a grows: 1 - gamma ~ 1/a^2. In the last e^t (y + x) is x0 + x e^t and
// the integral of x e^t, whose share of a token is 2.6962799 (DOP853, f reading a length of e^-t).
TEST(TerminalLaw, OfReadoutsThatMixInLengthsOfTheManifoldIsTheirPower) {
    struct Power {
        const char* text;
        double tokens, exponent, constant;
    };
    for (const Power& wanted : {
             Power{"a*norm(x + dt*f(norm(x))) | x + x0 where a = 1+t", 6, -3, 34.6254155},
             Power{"a*norm(x + dt*f(norm(x))) | x + x0 where a = 3+t", 6, -3, 219.7682382},
             Power{"a*norm(x + dt*f(norm(x))) | x + x0 where a = sqrt(1+t)", 6, -2, 1},
             Power{"y = y + dt*(x-y); x = norm(x + dt*f(x))*exp(-t) | y + x", 5, -3, 14.5398502},
         }) {
        const Law law = terminal_law(equation(wanted.text), with(wanted.tokens, 1));
        ASSERT_STREQ(name(law.kind), "power") << wanted.text << ": " << law.note;
        EXPECT_NEAR(law.exponent.value(), wanted.exponent, 1e-8) << wanted.text;
        EXPECT_NEAR(law.constant.value_or(NAN) / wanted.constant, 1, 1e-7) << wanted.text;
    }
}

// |x| ~ t and y follows: as Pre-LN. The walk ends at about t = 1e12, where corrections have long died.
TEST(TerminalLaw, IsReadAtALateEndWhereCorrectionsHaveDied) {
    const Law law =
        terminal_law(equation("x = x + dt*f(norm(y)); z = z + dt*(x - z); y = norm(x) + norm(z) | y"), with(5, 2));
    ASSERT_STREQ(name(law.kind), "power") << law.note;
    EXPECT_NEAR(law.exponent.value(), -3, 1e-7);
}

}  // namespace
}  // namespace flyball::theory::test
