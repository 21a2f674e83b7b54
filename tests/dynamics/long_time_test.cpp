// Runs over many decades of time: the equation's own t is the time at which it is evaluated, not one near it.
#include <gtest/gtest.h>

#include <cmath>

#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics {
namespace {

// Two tokens on the circle under Post-LN: phi' = -2 sin(phi)/(1 + exp(beta (1 - cos phi))), so that the time from phi0
// to phi1 is a quadrature; sqrt-scaling needs t = (1 + u/2)^2 - 1 for what Post-LN does in u.
double post_time(double beta, double phi0, double phi1) {
    constexpr int panels = 20000;
    const auto integrand = [&](double phi) { return (1 + std::exp(beta * (1 - std::cos(phi)))) / (2 * std::sin(phi)); };
    double sum = integrand(phi0) + integrand(phi1);
    for (int i = 1; i < panels; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * integrand(phi1 + (phi0 - phi1) * i / panels);
    }
    return sum * (phi0 - phi1) / (3 * panels);
}

double meeting_time(const char* scheme, double T, double& phi0) {
    Settings s;
    s.tokens = 2;
    s.dim = 2;
    s.beta = 4;
    s.time = T;
    s.samples = 91;
    s.log_time = true;
    s.method = Method::bdf;
    s.rtol = 1e-8;
    s.until = Until{"cosine", true, 0.999};
    const Record record = run(s, scheme::find_scheme(scheme).program);
    EXPECT_EQ(record.outcome, Outcome::until) << scheme << " " << T;
    phi0 = std::acos(record.samples.front().cosine);
    return record.samples.back().t;
}

TEST(LongTimes, ACoefficientOfTimeDoesNotDependOnHowLongTheRunWillBe) {
    for (const double T : {1e6, 1e18, 1e90}) {
        double phi0 = 0;
        const double t = meeting_time("sqrt-scaling", T, phi0);
        const double u = post_time(4, phi0, std::acos(0.999));
        EXPECT_NEAR(t / (std::pow(1 + u / 2, 2) - 1), 1, 1e-3) << T;
    }
}

TEST(LongTimes, ASwitchIsOnTheRightSideWhateverItsTimeIs) {
    // Mix-LN keeps r = 1 up to tau T and grows with r' <= 1 from there.
    for (const double T : {10.0, 1e6, 1e12}) {
        Settings s;
        s.tokens = 3;
        s.dim = 3;
        s.time = T;
        s.samples = 5;
        s.method = Method::bdf;
        s.rtol = 1e-6;
        const Record record = run(s, scheme::find_scheme("mix-ln:tau=0.5").program);
        ASSERT_EQ(record.samples.size(), 5U) << T;
        EXPECT_NEAR(record.samples[2].radius, 1, 1e-9) << T;
        EXPECT_NEAR(record.samples[4].radius, 1 + T / 2, 0.1 * T) << T;
    }
}

}  // namespace
}  // namespace flyball::dynamics
