// Times that no step may cross because something changes quickly around them.
#include "scheme/moments.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scheme/catalogue.hpp"
#include "scheme/switches.hpp"
#include "support.hpp"

namespace flyball::scheme::test::moments_test {
namespace {

Moments moments(const Program& program, double T) {
    return find_moments(
        program, [T](double t) { return Environment::ode(t, T, 8, 8); }, switch_probes(T));
}
Moments moments(const char* equation, double T) {
    return moments(Program::parse(equation), T);
}

TEST(Moments, OfSlowScalarsAreNone) {
    for (const char* equation : {"x + dt*f(norm(x))", "norm(x + dt*f(x)/sqrt(t+1))", "norm(x + dt*f(x)*exp(-t/100))",
                                 "norm(x + dt*f(x)*((t-300)^2 + 1))", "norm(x + dt*f(x)*log(2+t)^2)",
                                 "norm(x + dt*f(x)*exp(-((t-300)/200)^2))"}) {
        const Moments found = moments(equation, 1000);
        EXPECT_TRUE(found.switches.empty()) << equation;
        EXPECT_TRUE(found.stops.empty()) << equation << ": " << found.stops.front();
        EXPECT_FALSE(found.unresolved) << equation;
    }
    for (const CatalogueEntry& entry : catalogue()) {
        EXPECT_TRUE(moments(find_scheme(std::string(entry.name)).program, 10).stops.empty()) << entry.name;
    }
}

// The pulse has a width of 0.01 among 4096 probes that lie 24 apart.
TEST(Moments, CloseInOnAPulse) {
    const Moments found = moments("norm(x + dt*f(x)*exp(-(t-30000.5)^2*1e4))", 1e5);
    EXPECT_TRUE(found.switches.empty());
    EXPECT_FALSE(found.unresolved);
    ASSERT_FALSE(found.stops.empty());
    EXPECT_TRUE(std::is_sorted(found.stops.begin(), found.stops.end()));
    const auto around = [&](double distance) {
        return std::count_if(found.stops.begin(), found.stops.end(),
                             [&](double t) { return std::abs(t - 30000.5) <= distance; });
    };
    EXPECT_GE(around(0.05), 2);  // one on either side of its top
    EXPECT_LT(found.stops.size(), 100U);
}

// No two terms pass each other here, and no probe is near: log(t/301.5)^2 falls before t = 301.5 and rises after it,
// which alone tells of the pulse. It is exp(-1) of its height where |log(t/301.5)| = 1e-4, at a distance of 0.03.
TEST(Moments, AreAroundAPulseThatOnlyTheTurnOfAFactorTellsOf) {
    const Moments found = moments("norm(x + dt*f(x)*exp(-1e8*log(t/301.5)^2))", 1e4);
    const auto within = [&](double begin, double end) {
        return std::any_of(found.stops.begin(), found.stops.end(), [&](double t) { return begin <= t && t <= end; });
    };
    EXPECT_TRUE(within(301.4, 301.5)) << found.stops.size() << " stops";
    EXPECT_TRUE(within(301.5, 301.6)) << found.stops.size() << " stops";
}

TEST(Moments, AreSwitchesThatFlipBackSoon) {
    const std::vector<double> window = moments("norm(x + dt*f(x)*((t-300)^2 < 1e-4 ? 1 : 0))", 1e4).switches;
    ASSERT_EQ(window.size(), 2U);
    EXPECT_NEAR(window[0], 299.99, 1e-9);
    EXPECT_NEAR(window[1], 300.01, 1e-9);
    // Two comparisons within one gap between probes.
    EXPECT_EQ(moments("norm(x + dt*f(x)*(t > 300 ? (t <= 300.5 ? 1 : 0) : 0))", 1e4).switches,
              (std::vector<double>{300, 300.5}));
    // min and max that cross twice.
    const std::vector<double> corners = moments("norm(x + dt*f(x)*max(0, 1-(t-300.3)^2*1e4))", 1e4).switches;
    ASSERT_EQ(corners.size(), 2U);
    EXPECT_NEAR(corners[0], 300.29, 1e-9);
    EXPECT_NEAR(corners[1], 300.31, 1e-9);
}

// On the side of a condition that is never taken there nothing happens.
TEST(Moments, AreNotWhereAFactorDoesNotAct) {
    EXPECT_TRUE(moments("t < 200 ? norm(x + dt*f(x)*exp(-(t-300)^2*1e4)) : norm(x + dt*f(x))", 1e3).stops.empty());
}

TEST(Moments, TellWhatIsTooNarrow) {
    EXPECT_NEAR(moments("norm(x + dt*f(x)*1e20*exp(-(t-300)^2*1e29))", 1e3).unresolved.value_or(0), 300, 1e-9);
    // A jump has no width that could matter, nor has a corner.
    EXPECT_FALSE(moments("norm(x + dt*f(x)/(1+exp((t-300)*1e17)))", 1e3).unresolved);
    EXPECT_FALSE(moments("norm(x + dt*f(x)*sqrt((t-300)^2))", 1e3).unresolved);
}

// 120 pulses of a width of 0.01 have a thousand turns, and each pulse has its stops.
TEST(Moments, CloseInOnEachOfManyPulses) {
    std::string sum = "0";
    for (int i = 0; i < 120; ++i) {
        sum += " + exp(-(t-" + std::to_string(3 * i + 1) + ")^2*1e4)";
    }
    const Moments found = moments(("norm(x + dt*f(x)*(" + sum + "))").c_str(), 361);
    EXPECT_FALSE(found.unresolved);
    for (int i = 0; i < 120; ++i) {
        EXPECT_GE(std::count_if(found.stops.begin(), found.stops.end(),
                                [&](double t) { return std::abs(t - (3 * i + 1)) <= 0.05; }),
                  2)
            << i;
    }
}

// A denominator that passes zero ends the equation, wherever it stands in the text and however it is written.
TEST(Moments, EndAtAPole) {
    struct Pole {
        const char* equation;
        double time;
    };
    for (const Pole& pole : std::vector<Pole>{
             {"norm(x - dt*f(x)/log((t+1)/4.37))", 3.37},
             {"norm(x + dt*f(x)/log(9.6-t))", 8.6},
             {"norm(x + dt*f(x)/log(t+0.3))", 0.7},
             {"norm(x + dt*f(x)*(2/log(t+0.3)))", 0.7},
             {"norm(x + dt*f(x)/(9.6-t))", 9.6},
             {"norm(x + dt*f(x)*log(t+0.3)^(-3))", 0.7},
             {"norm(x + dt*f(x)/(depth-0.1234)/(t+1))", 2.468},
             {"norm(x + dt*g*f(x)/(g-0.5)) where ~g = exp(-t/10)", 10 * std::log(2.0)},
             {"norm(x + dt*f(x)/((t < 3 ? 1 : -1)*log(t/7.5)))", 7.5},
             {"norm(x + dt*f(x)*((t-2)*log(t+1))/((t-2)*log(t/7.5)))", 7.5},
         }) {
        EXPECT_NEAR(moments(pole.equation, 20).unresolved.value_or(0), pole.time, 1e-13 * pole.time) << pole.equation;
    }
}

// 0/0 at one number t, with the same value on both sides: a step that led to this number would end there.
TEST(Moments, PassWhatIsMissingAtOneNumber) {
    for (const char* equation : {"norm(x + dt*f(x)*((t-5)/(t-5)))", "norm(x + dt*f(x)*((exp(t-5)-1)/(t-5)))",
                                 "norm(x + dt*f(x)*(log(t/5)/(t-5)))", "norm(x + dt*f(x)*((5-t)/log(t/5)))"}) {
        const Moments found = moments(equation, 20);
        EXPECT_FALSE(found.unresolved) << equation;
        EXPECT_TRUE(std::none_of(found.stops.begin(), found.stops.end(), [](double t) {
            return std::abs(t - 5) < 1e-11;
        })) << equation;
    }
}

// Rounding looks like turns without end. It is passed over where it does not matter, and otherwise ends the equation:
// 2e-16 times 1e16 moves tokens.
TEST(Moments, TellWhenRoundingIsAllThatIsSeen) {
    const Moments harmless = moments("norm(x + dt*f(x)*(exp(-(t-300)^2*4) + 1e-12*((1+1e-9*t)^2-1-2e-9*t)))", 1000);
    EXPECT_FALSE(harmless.unresolved);
    EXPECT_TRUE(
        std::any_of(harmless.stops.begin(), harmless.stops.end(), [](double t) { return std::abs(t - 300) < 2; }));
    EXPECT_TRUE(moments("norm(x + dt*f(x)*((1+1e-9*t)^2-1-2e-9*t)*1e16)", 20).unresolved);
}

// A pole at t = 7.5, and rounding that begins at t = 0 or at t = 12. Nobody comes to what is behind the first of them.
TEST(Moments, OfAPoleAndRoundingTellTheFirst) {
    const auto end = [](const std::string& u) {
        const std::string noise = "((1+1e-9*" + u + ")^2-1-2e-9*" + u + ")*1e16";
        return moments(("norm(x + dt*f(x)*(1/log(t/7.5) + " + noise + "))").c_str(), 20).unresolved.value_or(0);
    };
    EXPECT_GT(end("t"), 0);
    EXPECT_LT(end("t"), 7.4);
    EXPECT_NEAR(end("max(0,t-12)"), 7.5, 1e-12);
}

}  // namespace
}  // namespace flyball::scheme::test::moments_test
