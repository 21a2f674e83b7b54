// Equations with memory, momentum, decay, moving gains, mixed readouts and streams that end, against independent
// numbers.
//
// The curves come from the equations in the plane (a, b), written out by hand and integrated by extrapolation with 30
// digits whose exponents are not bounded (mpmath), at n = 8, beta = 1.5. The laws follow from the linear equations of
// the shares a near consensus, where attention gives a_o = 0: a_x' = a_y - |y| a_x and so on; the constants from the
// same integrations: where 1 - gamma = (c t + d)^2 e^(-2t) two times give c.
#include "core/error.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace flyball::theory::test {
namespace {

const Settings eight = with(8, 1.5);

struct Curve {
    const char* text;
    std::vector<double> log_one_minus_gamma;  // at t = 0.5, 2, 10, 40
    double radius = 1;                        // at t = 40
};

const char* const memory = "o = f(x); y = y + dt*(o - y); x = norm(x + dt*y)";
const char* const twice = "o = f(x); y = y + dt*(o - y); z = z + dt*(y - z); x = norm(x + dt*z)";
const char* const decay = "x + dt*f(x/sqrt(2)) - dt*x | norm(x)";

TEST(ReducedLaw, EqualsAnIndependentIntegrationOfEquationsOfManyKinds) {
    const std::vector<Curve> curves = {
        {memory, {-0.017069520966327527, -0.23898132187387472, -10.982868334244455, -68.43099451864255}},
        {twice, {-0.0025332616424262046, -0.07703351913455744, -6.050557733509629, -59.299492980833411}},
        {"o = f(x); y = y + 3*dt*(o - y); x = norm(x + dt*y)",
         {-0.04298078217227323, -0.63201184085347938, -15.323227772086568, -75.323226427729651}},
        {decay,
         {-0.10943646346418278, -1.0404929281542201, -11.983099567824825, -54.409500971036968},
         2.8865471631033666e-6},
        {"x - dt*x/2 + dt*f(x)",
         {-0.12793469866255715, -1.5053108212559255, -17.181003487219665, -77.180967788031063},
         171531799.83497957},
        {"o = f(norm(x)); y = y + dt*(o - y/2); x = x + dt*y | norm(x)",
         {-0.014087188193735603, -0.12692180587687518, -1.6166804765700492, -4.9699664934370966},
         69.665540530484458},
        {"norm(x + dt*f(x)*(1+0.35/(1+t)))",
         {-0.17584625327754255, -2.0475741974761496, -18.810256648184511, -79.731230396721886}},
        {"norm(x + dt*f(x) + dt*exp(-t)*x0)",
         {-0.099614905314358642, -0.89383693840490204, -14.703021486719718, -72.42561013567249}},
        {"o = f(x); y = y + dt*(3*o - x - y); x = norm(x + dt*y)",
         {-0.056403664594385517, -1.8412556131489212, -28.597720123398316, -115.2853736269271}},
        {"o = f(x); x = norm(x + dt*o); y = y + dt*(o - y/2) | x + norm(y)",
         {-0.12506282412652847, -1.4279006498613767, -11.878524896780257, -41.972555280426178}},
        {"o = f(x); x = norm(x + dt*o); y = y + dt*o | x + exp(-t)*y",
         {-0.11804237013086128, -1.2820937186285056, -16.582852380933244, -76.58198637816715}},
        {"o = f(x); y = y + dt*(o - y)/sqrt(1+t); x = norm(x + dt*y/sqrt(1+t))",
         {-0.014042004093054904, -0.12565839857477882, -2.03650417379425, -12.459818377103286}},
        {"o = f(norm(x)); y = y + dt*(o - y); x = x + dt*(y - x) | norm(x)",
         {-0.017542003191928475, -0.31695868557853059, -12.689404352847996, -69.673228684216865},
         0.99999999999999787},
    };
    for (const Curve& curve : curves) {
        const std::vector<Point> points = solve(equation(curve.text), eight, {0.5, 2, 10, 40});
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double expected = curve.log_one_minus_gamma[i];
            EXPECT_NEAR(points[i].log_one_minus_gamma, expected, 1e-11 * std::max(1.0, -expected))
                << curve.text << ' ' << points[i].t;
        }
        EXPECT_NEAR(points.back().radius / curve.radius, 1, 1e-10) << curve.text;
    }
}

struct WantedLaw {
    const char* text;
    LawKind kind;
    double rate, p, power;
    std::optional<double> log_constant = {};
};

TEST(TerminalLaw, HasAPowerOfTimeWhereRatesCoincideOrGainsMove) {
    const std::vector<WantedLaw> table = {
        // Critical: two or three equal rates.
        {memory, LawKind::exponential, 2, 1, 2, 4.80391876556077},
        {twice, LawKind::exponential, 2, 1, 4, 7.16850300145774},
        {"o = f(norm(x)); y = y + dt*(o - y); x = x + dt*(y - x) | norm(x)", LawKind::exponential, 2, 1, 2,
         3.71964261334546},
        {"o = f(norm(x)); y = y + dt*(o - x - 2*y); x = x + dt*y | norm(x)", LawKind::exponential, 2, 1, 2},
        // a' = -a + e^-t: a = t e^-t, and C = 2 exactly.
        {"norm(x + dt*f(x) + dt*exp(-t)*x0)", LawKind::exponential, 2, 1, 2, std::log(2.0)},
        {"y = y - dt*y; x = norm(x + dt*f(x) + dt*y)", LawKind::exponential, 2, 1, 2, std::log(2.0)},
        // Apart from each other: the slower rate alone.
        {"o = f(x); y = y + 3*dt*(o - y); x = norm(x + dt*y)", LawKind::exponential, 2, 1, 0, 5.36992075283029},
        {"o = f(x); y = y + 0.25*dt*(o - y); x = norm(x + dt*y)", LawKind::exponential, 0.5, 1, 0, 1.40037620333},
        {"o = f(norm(x)); y = y + dt*(o - x - 2.5*y); x = x + dt*y | norm(x)", LawKind::exponential, 1, 1, 0},
        // Lengths that shrink or grow without bound.
        {decay, LawKind::exponential, std::sqrt(2.0), 1, 0, 2.50561511416681},
        {"x*(1-dt) + dt*f(x)/2 | norm(x)", LawKind::exponential, 1, 1, 0, 2.21190500054},
        {"x - dt*x/2 + dt*f(x)", LawKind::exponential, 2, 1, 0, 3.51217939253},
        // lambda = 2 + 0.7/t: gamma' ~ t^-0.7 e^-2t. In Post-LN's clock u = t + 0.35 log(1+t), C is that of Post-LN.
        {"norm(x + dt*f(x)*(1+0.35/(1+t)))", LawKind::exponential, 2, 1, -0.7, 3.5614172},
        {"norm(x + dt*f(x)*(1-0.35/(1+t)))", LawKind::exponential, 2, 1, 0.7, 3.5614172},
        // A stream that relaxes to a target which is a power g of t: the tokens' own parts fall like e^-t and r follows g, so
        // that 1-gamma ~ e^-2t/g^2. In the clock ds = g/r dt the way to consensus is the same for every g, and so is C (by
        // Runge-Kutta's method in Python, to t = 60).
        {"x + dt*f(norm(x))/(1+t) - dt*x | norm(x)", LawKind::exponential, 2, 1, 2, 1.48197568887},
        {"x + dt*f(norm(x))/(1+t)^2 - dt*x | norm(x)", LawKind::exponential, 2, 1, 4, 1.48197568887},
        {"x + dt*f(norm(x))*(1+t) - dt*x | norm(x)", LawKind::exponential, 2, 1, -2, 1.48197568887},
        {"x + dt*f(norm(x))/sqrt(1+t) - dt*x | norm(x)", LawKind::exponential, 2, 1, 1, 1.48197568887},
        {"x + dt*f(norm(x))/sqrt(1+t) - 0.2*dt*x | norm(x)", LawKind::exponential, 0.4, 1, 1, -3.34633805},
        // lambda = 2/sqrt t + 6/t.
        {"norm(x + dt*f(x)*((1+t)^(-0.5)+3/(1+t)))", LawKind::stretched, 4, 0.5, -6.5},
        // Memory in the clock u = 2(sqrt(1+t) - 1): C u^2 e^-2u/sqrt t = 4 C e^4 t^0.5 e^(-4 sqrt t).
        {"o = f(x); y = y + dt*(o - y)/sqrt(1+t); x = norm(x + dt*y/sqrt(1+t))", LawKind::stretched, 4, 0.5, 0.5,
         4.80391876556077 + std::log(4.0) + 4},
        // r' = 1 - r/sqrt(1+t): r = sqrt t - 1/2, lambda = 2/sqrt t + 1/t.
        {"x + dt*(f(norm(x)) - x/sqrt(1+t)) | norm(x)", LawKind::stretched, 4, 0.5, -1.5},
    };
    for (std::size_t i = 0; i < table.size(); i += sanitized_stride) {
        const WantedLaw& wanted = table[i];
        const Law law = terminal_law(equation(wanted.text), eight);
        ASSERT_STREQ(name(law.kind), name(wanted.kind)) << wanted.text << ": " << law.note;
        EXPECT_NEAR(law.rate.value() / wanted.rate, 1, 1e-6) << wanted.text;
        EXPECT_NEAR(law.p.value(), wanted.p, 1e-6) << wanted.text;
        EXPECT_NEAR(law.power.value(), wanted.power, 1e-4) << wanted.text;
        if (wanted.log_constant) {
            EXPECT_NEAR(law.log_constant.value_or(NAN), *wanted.log_constant, 2e-5) << wanted.text;
            EXPECT_LT(std::abs(law.log_constant.value_or(NAN) - *wanted.log_constant), 10 * law.error.value() + 1e-7)
                << wanted.text;
        }
        EXPECT_FALSE(law.exponent || law.limit || law.time) << wanted.text;
    }
}

TEST(TerminalLaw, OfStreamsThatFollowOthersIsAPower) {
    struct Power {
        const char* text;
        double exponent;
    };
    for (const Power& wanted : {
             Power{"o = f(x); y = y + dt*(o - y)/(1+t); x = norm(x + dt*y)", -3},  // a_y ~ 1/t, and x follows
             Power{"x + dt*(f(norm(x)) - x/(1+t)) | norm(x)", -5},                 // r = t/2
             Power{"x + dt*f(norm(x))*(1+t)^0.3 | norm(x)", -3.6},                 // 1 - gamma ~ t^-2.6
             Power{"o = f(x); x = norm(x + dt*o); y = y + dt*o | x + y/(1+t)", -3},
         }) {
        const Law law = terminal_law(equation(wanted.text), eight);
        ASSERT_EQ(law.kind, LawKind::power) << wanted.text << ": " << law.note;
        EXPECT_NEAR(law.exponent.value(), wanted.exponent, 1e-6) << wanted.text;
        EXPECT_FALSE(law.power || law.rate) << wanted.text;
    }
}

TEST(TerminalLaw, DoesNotTakeALogarithmForAPower) {
    for (const char* text : {
             "x + dt*f(norm(x))*log(t+2) | norm(x)",                            // gamma' ~ t^-3/log^2 t
             "norm(x + dt*f(x)*(1+1/log(t+2)))",                                // exp(-2t - 2t/log t)
             "norm(x + dt*f(x)/log(t+2))",                                      // exp(-2t/log t)
             "o = f(x); y = y + dt*(o - y)/(1+t); x = norm(x + dt*y/(1+t))",    // t^-3 log^2 t
             "o = f(x); x = norm(x + dt*o); y = y + dt*o/(1+t) | x + norm(y)",  // y ~ log t
         }) {
        const Law law = terminal_law(equation(text), eight);
        EXPECT_EQ(law.kind, LawKind::other) << text << ": " << name(law.kind);
        EXPECT_NE(law.note.find("d log"), std::string::npos) << text;
    }
}

TEST(TerminalLaw, TellsWhenTheExponentHasAnotherTermThatGrows) {
    // exp(-2t - 4 sqrt t)
    const Law law = terminal_law(equation("norm(x + dt*f(x)*(1+1/sqrt(1+t)))"), eight);
    EXPECT_EQ(law.kind, LawKind::exponential);
    EXPECT_NEAR(law.rate.value(), 2, 1e-9);
    EXPECT_FALSE(law.log_constant);
    EXPECT_NE(law.note.find("another term that grows"), std::string::npos) << law.note;
}

TEST(TerminalLaw, OfSwingingTokensIsOtherWithEnvelopeAndPeriod) {
    // a_x' = a_y - 2 a_x, a_y' = -a_x - a_y near consensus (|y| = 2): the roots are -1.5 +- 0.866 i.
    const Law law = terminal_law(equation("o = f(x); y = y + dt*(3*o - x - y); x = norm(x + dt*y)"), eight);
    EXPECT_EQ(law.kind, LawKind::other);
    EXPECT_NE(law.note.find("changes its sign"), std::string::npos) << law.note;
    EXPECT_NE(law.note.find("exp(-3"), std::string::npos) << law.note;  // or 2.99..
}

// Six tokens cannot be farther apart than at the cosine -1/5.
TEST(TerminalLaw, OfTokensThatSwingForEverTellsBetweenWhat) {
    const Law law =
        terminal_law(equation("o = f(norm(x)); y = y + dt*(o - x); x = x + dt*(y - x0) | x0*2 + x"), with(6, 1));
    EXPECT_EQ(law.kind, LawKind::other);
    EXPECT_NE(law.note.find("gamma swings between -0.2 and 0."), std::string::npos) << law.note;
}

TEST(TerminalLaw, OfASolutionThatWasNotFollowedToTheEndSaysSo) {
    // x relaxes ever faster: no steps are long beside that.
    const Law law = terminal_law(equation("x + dt*(1+t)*(norm(f(x))/(1+t)^2 + x0/(1+t)^3 - x) | norm(x)"), with(6, 1));
    EXPECT_EQ(law.kind, LawKind::power);
    EXPECT_EQ(law.note.rfind("seen as far as numbers go: still moving after ", 0), 0U) << law.note;
    EXPECT_EQ(terminal_law(equation("x + dt*f(norm(x)) | norm(x)"), with(6, 2)).note, "");
    const Law heavy =
        terminal_law(equation("o = f(norm(x)); y = y + dt*(o - 2*y); x = x + dt*y | norm(x)"), with(6, 2));
    EXPECT_NEAR(heavy.exponent.value_or(NAN), -3, 1e-8);
    EXPECT_EQ(heavy.note, "");
}

// Post-LN in the clock int (1+t)^-1.05 dt, which ends at 20 and at t = 1e100 has 2e-4 to go: the rest is extrapolated.
TEST(TerminalLaw, OfAGammaThatIsExtrapolatedHasAnErrorThatIsNeitherNothingNorTooSmall) {
    const Law law = terminal_law(equation("norm(x + dt*f(x)/(1+t)^1.05)"), with(6, 1));
    ASSERT_EQ(law.kind, LawKind::frozen);
    const double right = at(equation("norm(x + dt*f(x))"), with(6, 1), 20).log_one_minus_gamma;
    EXPECT_NEAR(law.log_one_minus_limit.value(), right, 1e-9);
    EXPECT_GT(law.error.value(), std::abs(std::exp(law.log_one_minus_limit.value()) - std::exp(right)));
    EXPECT_GT(law.error.value(), 0);
    EXPECT_LT(law.error.value(), 1e-4 * std::exp(right));
}

TEST(TerminalLaw, OfAStreamThatReachesZeroIsExtinctWithItsTime) {
    // |y| = 1 - t/2.
    const Law side = terminal_law(equation("y = y - dt*unit(y)/2; x = norm(x + dt*f(x)) | x + y"), eight);
    EXPECT_EQ(side.kind, LawKind::extinct);
    EXPECT_NEAR(side.time.value(), 2, 1e-11);
    EXPECT_NE(side.note.find("y reaches zero"), std::string::npos);
    // beta = 0: attention is the mean, and in the clock ds = dt/r, with z = e^-s, a = z^2 and b = (z - z^2)/n, so that
    // t = int r ds ends at int_0^1 sqrt(z^2 + (1-z^2)/n) dz.
    const Law own = terminal_law(equation("x + dt*f(norm(x)) - 2*dt*norm(x) | norm(x)"), with(8, 0));
    EXPECT_EQ(own.kind, LawKind::extinct);
    EXPECT_FALSE(own.rate || own.exponent || own.log_constant);
    EXPECT_NEAR(own.time.value(), (1 + std::asinh(std::sqrt(7.0)) / 8 / std::sqrt(7.0 / 8)) / 2, 1e-11);
    EXPECT_NEAR(own.limit.value(), 1, 1e-12);
    // There is no solution afterwards.
    const std::vector<Point> points =
        solve(equation("x + dt*f(norm(x)) - 2*dt*norm(x) | norm(x)"), with(8, 0), {0.4, 2});
    EXPECT_TRUE(std::isfinite(points[0].gamma));
    EXPECT_TRUE(std::isnan(points[1].gamma));
    EXPECT_EQ(points[1].t, 2) << "a point is of the time that was asked for";
}

TEST(ReducedLaw, KeepsItsDigitsWhereSeveralStreamsShrinkTogether) {
    // 1 - gamma = (c t + d)^2 e^(-2t) far below the smallest double: the square root times e^t is a straight line.
    const std::vector<Point> points = solve(equation(memory), eight, {100, 1000, 1900});
    const auto line = [&](std::size_t i) { return std::exp(points[i].log_one_minus_gamma / 2 + points[i].t); };
    EXPECT_NEAR((line(2) - line(1)) / 900, (line(1) - line(0)) / 900, 1e-8 * line(1) / 900);
    EXPECT_NEAR(std::log(2 * std::pow((line(1) - line(0)) / 900, 2)), 4.80391876556077, 1e-8);
}

TEST(ReducedLaw, DoesNotTurnBackWhereTheLengthShrinks) {
    // log(1-gamma) = log(C/sqrt 2) - sqrt 2 t as long as it is reported.
    double reported = 0;
    for (const Point& point : solve(equation(decay), eight, {60, 500, 1500, 1800, 2000, 3000})) {
        if (std::isnan(point.log_one_minus_gamma)) {
            continue;
        }
        EXPECT_NEAR(point.log_one_minus_gamma, 2.50561511416681 - std::log(2.0) / 2 - std::sqrt(2.0) * point.t,
                    1e-12 * point.t)
            << point.t;
        reported = point.t;
    }
    EXPECT_GE(reported, 1800);
}

TEST(ReducedLaw, DoesNotReportDigitsThatAreLost) {
    // x follows y at rate 1 while y moves like 1/t: gamma' is what two parts of size 1 leave of each other.
    const scheme::Program follower = equation("o = f(x); y = y + dt*(o - y)/(1+t); x = norm(x + dt*y)");
    EXPECT_NEAR(at(follower, eight, 1e5).velocity / (9.9506264889 * std::pow(1e5, -3)), 1, 1e-3);
    EXPECT_TRUE(std::isnan(at(follower, eight, 1e30).velocity));
    EXPECT_TRUE(std::isfinite(at(follower, eight, 1e30).log_one_minus_gamma));
    // x - norm(y) is zero at the start: it has no direction.
    EXPECT_TRUE(std::isnan(at(equation("o = f(x); x = norm(x + dt*o); y = y + dt*o | x - norm(y)"), eight, 0).gamma));
}

}  // namespace
}  // namespace flyball::theory::test
