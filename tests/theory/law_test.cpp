// The terminal law against closed forms, over the catalogue, and for equations nobody thought of.
#include <cstdio>

#include "core/error.hpp"
#include "sanitized.hpp"
#include "scheme/limit.hpp"
#include "support.hpp"

namespace flyball::theory::test {
namespace {

TEST(TerminalLaw, HasTheExponentsAndConstantsOfTheClosedForms) {
    unsigned compared = 0;
    for (const Json& entry : golden()) {
        const Settings settings = with(entry["tokens"], entry["beta"], entry["r0"]);
        for (const auto& [name, laws] : entry["laws"].items()) {
            if (compared++ % sanitized_stride != 0) {
                continue;
            }
            const Json& expected = laws;  // clang 14 cannot capture a structured binding
            const Law law = terminal_law(named(name), settings);
            const std::string what = name + " n " + std::to_string(settings.tokens);
            ASSERT_EQ(theory::name(law.kind), expected["law"].get<std::string>()) << what << ' ' << law.note;
            EXPECT_TRUE(law.speed_agrees) << what;
            const auto near = [&](const std::optional<double>& value, const char* key, double tolerance) {
                ASSERT_EQ(value.has_value(), expected.contains(key)) << what << ' ' << key;
                if (value) {
                    const double wanted = expected[key];
                    EXPECT_NEAR(*value, wanted, tolerance * std::max(1.0, std::abs(wanted))) << what << ' ' << key;
                }
            };
            near(law.rate, "rate", 1e-9);
            near(law.p, "p", 1e-9);
            near(law.power, "power", 1e-9);
            near(law.exponent, "exponent", 1e-9);
            near(law.log_constant, "log_constant", 1e-7);
            if (law.log_constant && law.error && std::abs(*law.log_constant) < 700) {
                EXPECT_NEAR(*law.constant, std::exp(*law.log_constant), 1e-9 * *law.constant) << what;
                // The estimated error is honest.
                EXPECT_LT(std::abs(*law.log_constant - expected["log_constant"].get<double>()), 10 * *law.error + 1e-10)
                    << what;
                EXPECT_LT(*law.error, 1e-4) << what;
            }
        }
    }
    EXPECT_EQ(compared, 10U * 7);
}

class TerminalLawOf : public ::testing::TestWithParam<scheme::CatalogueEntry> {};

TEST_P(TerminalLawOf, IsFoundAndAgreesWithTheSpeedFactor) {
    const scheme::Program program = scheme::Program::parse(GetParam().equation);
    if (scheme::reduced_law_problem(program)) {
        EXPECT_THROW(terminal_law(program, {}), Error);
        return;
    }
    for (const Settings& settings : {with(32, 1), with(2, 0.5, 2), with(1e6, 3)}) {
        for (const Point& point : solve(program, settings, {0, 0.3, 2, 10, 500})) {
            EXPECT_GE(point.gamma, 0) << point.t;
            EXPECT_LE(point.gamma, 1) << point.t;
            EXPECT_GT(point.radius, 0) << point.t;
            EXPECT_LE(point.log_one_minus_gamma, 0) << point.t;
        }
        const Law law = terminal_law(program, settings);
        EXPECT_NE(law.kind, LawKind::other) << law.note;
        EXPECT_TRUE(law.speed_agrees) << law.note;
        if (law.kind == LawKind::frozen) {
            EXPECT_GE(law.limit.value(), 0);
            EXPECT_LT(law.limit.value(), 1);
        } else {
            EXPECT_TRUE(law.log_constant.has_value()) << law.note;
            EXPECT_LT(law.error.value_or(1), 1e-4);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, TerminalLawOf, ::testing::ValuesIn(scheme::catalogue()), [](const auto& entry) {
    std::string name(entry.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

struct Wanted {
    const char* text;
    LawKind kind;
    std::optional<double> rate = {}, p = {}, power = {}, exponent = {};
};

TEST(TerminalLaw, IsFoundForEquationsOfTheUser) {
    const std::vector<Wanted> table = {
        {.text = "norm(x + dt*unit(f(x))*exp(-t))", .kind = LawKind::frozen},
        {.text = "x + dt*f(unit(x))*(1+t)", .kind = LawKind::power, .exponent = -5},  // r = t^2/2, s = r/t
        {.text = "norm(x + dt*f(x)/(1+t)^0.25)",
         .kind = LawKind::stretched,
         .rate = 2 / 0.75,
         .p = 0.75,
         .power = -0.25},
        {.text = "norm(x + dt*f(x)*(1+t))", .kind = LawKind::stretched, .rate = 1, .p = 2, .power = 1},
        {.text = "norm(x + dt*f(x)*t)", .kind = LawKind::stretched, .rate = 1, .p = 2, .power = 1},
        {.text = "norm(x + dt*f(x)/(1+t)^0.999)",
         .kind = LawKind::stretched,
         .rate = 2000,
         .p = 0.001,
         .power = -0.999},
        {.text = "norm(x + dt*f(x)/(1+t))", .kind = LawKind::power, .exponent = -3},
        {.text = "norm(x + dt*f(x)*0.2/(1+t))", .kind = LawKind::power, .exponent = -1.4},
        {.text = "norm(x + dt*f(x)/(1+t)^2)", .kind = LawKind::frozen},
        {.text = "norm(x + dt*f(x)*log(1+t))", .kind = LawKind::other},
        {.text = "norm(x + dt*f(x)/(1+t)/log(2+t))", .kind = LawKind::other},
        {.text = "norm(x + dt*f(x)*exp(t))", .kind = LawKind::other},
        {.text = "norm(3*x + dt*f(x))", .kind = LawKind::exponential, .rate = 2.0 / 3, .p = 1, .power = 0},
        {.text = "x + dt*(f(norm(x)) - x/4) | norm(x)",
         .kind = LawKind::exponential,
         .rate = 0.5,
         .p = 1,
         .power = 0},  // r -> 4
        {.text = "norm(x + dt*f(x)*(t < 5 ? 1 : 0))", .kind = LawKind::frozen},
        {.text = "norm(x + dt*f(x)*(t < 500 ? 1/(1+t) : 1))",
         .kind = LawKind::exponential,
         .rate = 2,
         .p = 1,
         .power = 0},
        {.text = "norm(x + dt*f(x)*(t < 500 ? 1 : 1/t))", .kind = LawKind::power, .exponent = -3},
        {.text = "o = f(x); x = norm(x + dt*o); y = y + dt*o | x",
         .kind = LawKind::exponential,
         .rate = 2,
         .p = 1,
         .power = 0},
        {.text = "norm(x + dt*f(x)*(t < 500 ? 1 : 0))", .kind = LawKind::frozen},  // at 1 - gamma = e^-996
        {.text = "norm(x - dt*f(x))", .kind = LawKind::frozen},
        {.text = "norm(x + dt*(f(x) - x0))", .kind = LawKind::frozen},
        {.text = "x + dt*f(x)", .kind = LawKind::frozen},
    };
    for (const Wanted& wanted : table) {
        const Law law = terminal_law(equation(wanted.text), with(32, 1));
        EXPECT_STREQ(name(law.kind), name(wanted.kind)) << wanted.text << ": " << law.note;
        EXPECT_TRUE(law.speed_agrees) << wanted.text;
        EXPECT_EQ(law.rate.has_value(), wanted.rate.has_value()) << wanted.text;
        EXPECT_EQ(law.p.has_value(), wanted.p.has_value()) << wanted.text;
        EXPECT_EQ(law.power.has_value(), wanted.power.has_value()) << wanted.text;
        EXPECT_EQ(law.exponent.has_value(), wanted.exponent.has_value()) << wanted.text;
        EXPECT_NEAR(law.rate.value_or(0) / wanted.rate.value_or(1), wanted.rate ? 1 : 0, 1e-8) << wanted.text;
        EXPECT_NEAR(law.p.value_or(0), wanted.p.value_or(0), 1e-8) << wanted.text;
        EXPECT_NEAR(law.power.value_or(0), wanted.power.value_or(0), 1e-8) << wanted.text;
        EXPECT_NEAR(law.exponent.value_or(0), wanted.exponent.value_or(0), 1e-8) << wanted.text;
        EXPECT_EQ(law.note.empty(), law.kind != LawKind::other && wanted.text != std::string("x + dt*f(x)") &&
                                        wanted.text != std::string("norm(x + dt*f(x)*(1+t))"))
            << wanted.text << ": " << law.note;
    }
}

TEST(TerminalLaw, OfNormScalingFollowsFromItsClock) {
    // norm(x + dt f(x) (1+t)^(p-1)) is Post-LN at u = ((1+t)^p - 1)/p, so for p < 1 log C = log C_post + 2/p + ...
    const double post = terminal_law(named("post-ln"), with(32, 1)).log_constant.value();
    const Law quarter = terminal_law(equation("norm(x + dt*f(x)/(1+t)^0.25)"), with(32, 1));
    EXPECT_NEAR(quarter.log_constant.value(), post + 2 / 0.75, 1e-6);
    // With p = 2, u = t + t^2/2: the linear term has no place in C t^(p-1) exp(-rate t^p).
    const Law square = terminal_law(equation("norm(x + dt*f(x)*(1+t))"), with(32, 1));
    EXPECT_FALSE(square.log_constant);
    EXPECT_NE(square.note.find("another term that grows"), std::string::npos);
    EXPECT_NEAR(terminal_law(equation("norm(x + dt*f(x)*t)"), with(32, 1)).log_constant.value(), post, 1e-6);
}

TEST(TerminalLaw, FrozenTellsWhere) {
    // nGPT with alpha = e^{-t} stops where alpha = 1 is at t = 1.
    const Law law = terminal_law(named("ngpt:alpha=exp(-t)"), with(32, 1));
    EXPECT_NEAR(law.limit.value(), at(named("ngpt"), with(32, 1), 1).gamma, 1e-12);
    // alpha = 1/(1+t)^1.5: int alpha = 2, approached as slowly as t^-1/2.
    const Law slow = terminal_law(named("ngpt:alpha=1/(1+t)^1.5"), with(32, 1));
    EXPECT_NEAR(slow.limit.value(), at(named("ngpt"), with(32, 1), 2).gamma, 1e-10);
    EXPECT_LT(slow.error.value(), 1e-9);
    // Towards int alpha = 2 as t^-0.01: at t = 1e100 a tenth of the way is left.
    const Law slower = terminal_law(named("ngpt:alpha=0.02/(1+t)^1.01"), with(32, 1));
    EXPECT_EQ(slower.kind, LawKind::frozen);
    EXPECT_NEAR(slower.limit.value(), at(named("ngpt"), with(32, 1), 2 * (1 - std::pow(10.0, -1))).gamma, 1e-9);
    EXPECT_NE(slower.note.find("not reached"), std::string::npos);
    // Output-LN at n = 32, beta = 1 stops at 1 - gamma = 0.0033.
    EXPECT_NEAR(1 - terminal_law(named("output-ln"), with(32, 1)).limit.value(), 0.0033, 5e-5);
    // Not reached by t = 1e100.
    for (const Settings& settings : {with(2, 20), with(1e6, 700)}) {
        const Law unreached = terminal_law(named("pre-ln"), settings);
        EXPECT_EQ(unreached.kind, LawKind::frozen);
        EXPECT_LT(unreached.limit.value(), 1e-5);
    }
    EXPECT_NE(terminal_law(named("pre-ln"), with(2, 20)).note.find("not reached"), std::string::npos);
}

// Attention of the stream itself: tokens approach like 1/t until beta p^2, p being what a token has of its own, makes
// each see itself alone, and then all grow alike. By scipy (DOP853 in log p and log q over log t, rtol 1e-12).
TEST(TerminalLaw, FrozenCloserToOneThanANumberCanSayHasALogarithm) {
    const Law law = terminal_law(equation("x + dt*f(x)/(1+t) - dt*x/(1+t)^2 | norm(x)"), with(10, 1));
    EXPECT_EQ(law.kind, LawKind::frozen);
    EXPECT_EQ(law.limit.value(), 1);
    EXPECT_NEAR(law.log_one_minus_limit.value(), -46.06090018521183, 1e-9);
    const Law far = terminal_law(named("ngpt:alpha=exp(-t)"), with(32, 1));
    EXPECT_NEAR(-std::expm1(far.log_one_minus_limit.value()), far.limit.value(), 1e-14);
}

TEST(TerminalLaw, OfNoKnownKindTellsHowFarItCame) {
    // Post-LN at the time int dt/((1+t) log(2+t)), which grows like log log t: 1 - gamma falls, ever more slowly.
    const Law law = terminal_law(equation("norm(x + dt*f(x)/(1+t)/log(2+t))"), with(32, 1));
    EXPECT_EQ(law.kind, LawKind::other);
    EXPECT_NE(law.note.find("at t = 1e+100: "), std::string::npos) << law.note;
    EXPECT_NE(law.note.find("1-gamma = exp(-"), std::string::npos) << law.note;
    // Near consensus lambda = 2/((1+t) log(2+t)), at the end and at the root of it.
    double last = 0;
    double middle = 0;
    double when = 0;
    const std::string begin = "; log(t gamma'/(1-gamma)) = ";
    const std::size_t place = law.note.find(begin);
    ASSERT_NE(place, std::string::npos) << law.note;
    ASSERT_EQ(std::sscanf(law.note.c_str() + place + begin.size(), "%lf, and %lf at t = %lf", &last, &middle, &when), 3)
        << law.note;
    EXPECT_NEAR(std::log10(when), 50, 0.3);
    EXPECT_NEAR(last, std::log(2 / std::log(1e100)), 1e-3);
    EXPECT_NEAR(middle, std::log(2 / std::log(when)), 1e-3);
}

TEST(TerminalLaw, GivesTheLogarithmOfAConstantThatOverflows) {
    const Law huge = terminal_law(named("post-ln"), with(2, 20));
    EXPECT_EQ(huge.kind, LawKind::exponential);
    EXPECT_FALSE(huge.constant);
    EXPECT_GT(huge.log_constant.value(), 1e7);
}

TEST(TerminalLaw, OfPreAndPeriAgreesWithTheQuadrature) {
    for (const double beta : {0.0, 2.0, 8.0}) {
        for (const char* name : {"pre-ln", "peri-ln"}) {
            const Law law = terminal_law(named(name), with(32, beta, 1.5));
            EXPECT_NEAR(law.log_constant.value(), std::log(2.0) + log_consensus_constant(32, beta) + 2 * std::log(1.5),
                        1e-8)
                << name << beta;
        }
    }
}

// Tokens that follow x0, and attention that dies like a power of t: gamma follows it to zero, from above or below. The
// first three are walked to t = 1e100, the others only as far as steps allow.
TEST(TerminalLaw, OfAGammaThatDiesLikeAPowerIsFrozenAtZero) {
    for (const char* text :
         {"x + dt*f(norm(x)) | x + (t+1)^2*x0", "norm(x + dt*f(x)) | x + t*x0", "norm(x + 0*dt*f(x))",
          "norm(x + dt*x0 + dt*f(x)/(t+1))", "norm(x + dt*x0 - dt*f(x)/(t+1)^2)",
          "x + dt*x0 - dt*x + dt*f(norm(x))/(t+1)^2 | norm(x)", "x + dt*x0 - dt*x + dt*f(norm(x))*exp(-t) | norm(x)",
          "o = f(norm(x)); y = y + dt*(x0 - y) + dt*o/(t+1); x = norm(x + dt*y)"}) {
        const Law law = terminal_law(equation(text), with(32, 1));
        EXPECT_EQ(law.kind, LawKind::frozen) << text << ": " << law.note;
        EXPECT_EQ(law.limit.value_or(1), 0) << text;
        EXPECT_EQ(law.log_one_minus_limit.value_or(1), 0) << text;
        EXPECT_FALSE(law.error) << text << ": a relative error of zero, " << *law.error;
    }
}

// Post-LN backwards in the clock 1 - (1+t)^-0.1, of which 1e-10 is left at t = 1e100. The limit is gamma at 1 of
// gamma' = -2 q (1-gamma)(1+(n-1)gamma)/Z, by mpmath with 30 digits.
TEST(TerminalLaw, OfAGammaThatFallsIsExtrapolatedAsOneThatGrows) {
    const Law law = terminal_law(equation("norm(x - dt*f(x)/(1+t)^1.1/10)"), with(6, 1));
    ASSERT_EQ(law.kind, LawKind::frozen) << law.note;
    EXPECT_EQ(law.note, "");
    EXPECT_NEAR(law.limit.value(), -0.148968838443570316, 1e-11);
    EXPECT_LT(law.error.value(), 1e-7);
}

// Near consensus deviations follow u'' + u' + k u = 0, so 1-gamma = u^2 C exp(-t) turns at the zeros of u and of u',
// two in every pi/w with w^2 = k - 1/4. Few of them at small w, and unevenly spaced.
TEST(TerminalLaw, SaysWhetherALengthIsTooLargeOrTooSmallForNumbers) {
    const Law grows = terminal_law(equation("x + dt*t*(f(x) + x)"), with(4, 1));
    EXPECT_NE(grows.note.find("the length grows beyond 1e280"), std::string::npos) << grows.note;
    const Law shrinks = terminal_law(equation("x + dt*f(x) - 3*dt*x | norm(x)"), with(4, 1));
    EXPECT_NE(shrinks.note.find("the length shrinks below 1e-240"), std::string::npos) << shrinks.note;
}

TEST(TerminalLaw, TellsHowOftenTokensSwing) {
    for (const auto& [k, digits] : {std::pair{4.0, 2e-3}, {0.251, 2e-2}, {0.2502, 2e-2}}) {
        const Law law = terminal_law(
            equation("y = y + dt*(" + std::to_string(k) + "*(f(x) - x) - y); x = norm(x + dt*y)"), with(8, 1.5));
        EXPECT_EQ(law.kind, LawKind::other);
        const std::string before = "twice in about every ";
        const std::size_t place = law.note.find(before);
        ASSERT_NE(place, std::string::npos) << law.note;
        const double period = std::stod(law.note.substr(place + before.size()));
        EXPECT_NEAR(period * std::sqrt(k - 0.25) / std::acos(-1.0), 1, digits) << law.note;
        EXPECT_EQ(law.note.find("unequal"), std::string::npos) << law.note;
        const std::string fall = "1-gamma falls like exp(-";
        const std::size_t rate = law.note.find(fall);
        ASSERT_NE(rate, std::string::npos) << law.note;
        EXPECT_NEAR(std::stod(law.note.substr(rate + fall.size())), 1, 0.01) << law.note;
    }
}

// u'' + u' + 4 (1+t) u = 0 swings faster and faster: two turns in pi/w at w^2 = 4 (1+t) - 1/4, which no single number
// tells.
TEST(TerminalLaw, DoesNotCallAMeanOfUnequalGapsAPeriod) {
    const Law law = terminal_law(equation("y = y + dt*(4*(1+t)*(f(x) - x) - y); x = norm(x + dt*y)"), with(8, 1.5));
    EXPECT_EQ(law.kind, LawKind::other);
    EXPECT_EQ(law.note.find("about every"), std::string::npos) << law.note;
    const auto number_after = [&](const std::string& words) {
        const std::size_t place = law.note.find(words);
        return place == std::string::npos ? NAN : std::stod(law.note.substr(place + words.size()));
    };
    const double last = number_after("near t = ");
    const double shortest = number_after("unequal gaps, twice within ");
    const double longest = number_after("at the least and ");
    EXPECT_NEAR(shortest * std::sqrt(4 * (1 + last) - 0.25) / std::acos(-1.0), 1, 0.03) << law.note;
    EXPECT_GT(longest, 1.2 * shortest) << law.note;
}

}  // namespace
}  // namespace flyball::theory::test
