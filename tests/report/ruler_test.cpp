#include "report/ruler.hpp"

#include "core/support.hpp"
#include "report/support.hpp"

namespace flyball::report {
namespace {

using test::infinity;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
    std::vector<std::string> out;
    for (const Tick& tick : ticks) {
        if (!tick.label.empty()) {
            out.push_back(tick.label);
        }
    }
    return out;
}

std::vector<std::string> linear(double lo, double hi, int wanted = 5) {
    return labels(Ruler{Scale::linear, lo, hi}.ticks(wanted));
}

std::vector<std::string> logarithmic(double lo, double hi, int wanted = 6) {
    return labels(Ruler{Scale::log, lo, hi}.ticks(wanted));
}

using Labels = std::vector<std::string>;

TEST(LinearTicks, StepByOneTwoOrFive) {
    EXPECT_EQ(linear(0, 1), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
    EXPECT_EQ(linear(0, 10), (Labels{"0", "2", "4", "6", "8", "10"}));
    EXPECT_EQ(linear(0, 2.5), (Labels{"0", "0.5", "1.0", "1.5", "2.0", "2.5"}));
    EXPECT_EQ(linear(-3, 3), (Labels{"−3", "−2", "−1", "0", "1", "2", "3"}));
    EXPECT_EQ(linear(0.98, 1.0), (Labels{"0.980", "0.985", "0.990", "0.995", "1.000"}));
}

TEST(LinearTicks, OfWholeNumbersHaveNoneBetween) {
    const auto whole = [](double lo, double hi) {
        return labels(Ruler{.scale = Scale::linear, .lo = lo, .hi = hi, .whole = true}.ticks(8));
    };
    EXPECT_EQ(whole(0, 4), (Labels{"0", "1", "2", "3", "4"}));
    EXPECT_EQ(whole(1, 4), (Labels{"1", "2", "3", "4"}));
    EXPECT_EQ(whole(0, 40), (Labels{"0", "5", "10", "15", "20", "25", "30", "35", "40"}));
    EXPECT_GE(whole(1, 2).size(), 3U) << "too few of them to be read: a scale as any other";
}

TEST(LinearTicks, AreExactDecimals) {
    const auto ticks = Ruler{Scale::linear, 0, 1}.ticks(10);
    ASSERT_EQ(ticks.size(), 11U);
    EXPECT_EQ(ticks[3].value, 0.3);
    EXPECT_EQ(ticks[7].value, 0.7);
}

TEST(LinearTicks, ShareOnePowerOfTenWhenNumbersAreLong) {
    EXPECT_EQ(linear(0, 2e6, 4), (Labels{"0", "0.5×10⁶", "1.0×10⁶", "1.5×10⁶", "2.0×10⁶"}));
    EXPECT_EQ(linear(0, 2e-7, 2), (Labels{"0", "1×10⁻⁷", "2×10⁻⁷"}));
    EXPECT_EQ(linear(-1e9, 0, 2), (Labels{"−1.0×10⁹", "−0.5×10⁹", "0"}));
}

TEST(LogTicks, ArePowersOfTenWithMinorTicksBetween) {
    EXPECT_EQ(logarithmic(1e-3, 10), (Labels{"10⁻³", "10⁻²", "10⁻¹", "1", "10"}));
    const auto ticks = Ruler{Scale::log, 1e-3, 10}.ticks(6);
    EXPECT_EQ(ticks.size(), 4U * 3 + 1);
    EXPECT_EQ(ticks[1].value, 2e-3);
    EXPECT_EQ(ticks[1].label, "");
    EXPECT_EQ(ticks[2].value, 5e-3);
}

TEST(LogTicks, AreNamedAtOneTwoAndFiveWhereThereIsRoom) {
    EXPECT_EQ(logarithmic(0.1, 100, 10), (Labels{"0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"}));
    EXPECT_EQ(logarithmic(0.1, 100, 9), (Labels{"10⁻¹", "1", "10", "10²"}));
}

TEST(LogTicks, NeverLessThanAThirdOfThemHaveNames) {
    for (const double hi : {10.0, 50.0, 1e2, 1e3, 3e4, 1e6, 1e9, 1e12}) {
        for (const int wanted : {4, 6, 8, 12, 16}) {
            const auto ticks = Ruler{Scale::log, 1, hi}.ticks(wanted);
            EXPECT_GE(3 * labels(ticks).size(), ticks.size()) << hi << " " << wanted;
        }
    }
}

TEST(LogTicks, SkipPowersWhenThereAreMany) {
    EXPECT_EQ(logarithmic(1e-20, 1), (Labels{"10⁻²⁰", "10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "1"}));
    EXPECT_EQ(logarithmic(1e-300, 1e300, 7).size(), 7U);
    EXPECT_EQ(Ruler({Scale::log, 1e-20, 1}).ticks(6).size(), 5U);
}

TEST(LogTicks, OfLessThanADecadeAreOneTwoFiveOrLinear) {
    EXPECT_EQ(logarithmic(0.5, 30), (Labels{"0.5", "1", "2", "5", "10", "20"}));
    EXPECT_EQ(logarithmic(1.5, 6), (Labels{"2", "3", "4", "5", "6"}));
    EXPECT_EQ(logarithmic(2e-7, 3e-6), (Labels{"2×10⁻⁷", "5×10⁻⁷", "10⁻⁶", "2×10⁻⁶"}));
    EXPECT_EQ(logarithmic(1.0, 1.1, 5), (Labels{"1.00", "1.02", "1.04", "1.06", "1.08", "1.10"}));
}

TEST(Ticks, AreFiniteInsideAndFewForEveryRange) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
        for (const double lo : {1e-300, 1e-12, 0.3, 1.0, 7e5, 1e299}) {
            for (const double factor : {1 + 1e-8, 1.01, 3.0, 1e4, 1e30}) {
                const double hi = std::min(lo * factor, 1e300);
                const Ruler ruler = make_ruler({"", scale, lo, hi}, {}, 0);
                const auto ticks = ruler.ticks(6);
                EXPECT_GE(labels(ticks).size(), 2U) << lo << " " << hi;
                EXPECT_LE(labels(ticks).size(), 12U) << lo << " " << hi;
                for (const Tick& tick : ticks) {
                    EXPECT_GE(ruler.at(tick.value), -1e-6) << lo << " " << hi;
                    EXPECT_LE(ruler.at(tick.value), 1 + 1e-6) << lo << " " << hi;
                }
            }
        }
    }
}

TEST(Extent, CountsOnlyWhatTheAxisCanShow) {
    Extent linear;
    Extent log;
    for (const double value : {test::nan, infinity, -infinity, 0.0, -2.0, 3.0}) {
        linear.add(Scale::linear, value);
        log.add(Scale::log, value);
    }
    EXPECT_EQ(linear.lo, -2);
    EXPECT_EQ(linear.hi, 3);
    EXPECT_EQ(log.lo, 3);
    EXPECT_TRUE(Extent{}.empty());
    EXPECT_FALSE(log.empty());
}

TEST(MakeRuler, TakesTheAxisBoundsBeforeTheData) {
    const Ruler ruler = make_ruler({"x", Scale::linear, -1.0, 2.0}, {5, 7}, 0.1);
    EXPECT_EQ(ruler.lo, -1);
    EXPECT_EQ(ruler.hi, 2);
}

TEST(MakeRuler, StartsAtZeroWhenTheDataNearlyDo) {
    EXPECT_EQ(make_ruler({}, {0.01, 1}, 0.04).lo, 0);
    EXPECT_NEAR(make_ruler({}, {0.5, 1}, 0.04).lo, 0.48, 1e-12);
    EXPECT_EQ(make_ruler({}, {-1, -0.01}, 0.04).hi, 0);
    EXPECT_EQ(make_ruler({}, {-1, 0}, 0.04).hi, 0);
    EXPECT_EQ(make_ruler({}, {0, 1}, 0.04).lo, 0);
    EXPECT_EQ(make_ruler({}, {0.01, 1}, 0).lo, 0.01);
}

TEST(MakeRuler, HasARangeForConstantTinyHugeAndMissingData) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
        for (const double value : {1.0, 5e-324, 1e-310, 1e308, 3e-12}) {
            const Ruler ruler = make_ruler({"", scale, {}, {}}, {value, value}, 0.04);
            EXPECT_LT(ruler.lo, ruler.hi) << value;
            EXPECT_TRUE(std::isfinite(ruler.at(value))) << value;
            EXPECT_FALSE(ruler.ticks(5).empty()) << value;
        }
        const Ruler ruler = make_ruler({"", scale, {}, {}}, {}, 0.04);
        EXPECT_LT(ruler.lo, ruler.hi);
    }
    const Ruler widest = make_ruler({}, {-1.7e308, 1.7e308}, 0.04);
    EXPECT_NEAR(widest.at(0), 0.5, 1e-9);
    EXPECT_FALSE(widest.ticks(5).empty());
    EXPECT_EQ(make_ruler({}, {0, 0}, 0.04).lo, -1);
}

TEST(MakeRuler, MovesOnlyTheFreeBoundWhenTheDataLieBeyondTheOther) {
    const Ruler above = make_ruler({"", Scale::linear, 10.0, {}}, {0, 1}, 0.04);
    EXPECT_EQ(above.lo, 10);
    EXPECT_GT(above.hi, 10);
    const Ruler below = make_ruler({"", Scale::log, {}, 0.1}, {1, 2}, 0.04);
    EXPECT_EQ(below.hi, 0.1);
    EXPECT_LT(below.lo, 0.1);
}

TEST(MakeRuler, RefusesBoundsThatAreNoRange) {
    EXPECT_ERROR(make_ruler({"time", Scale::linear, 2.0, 1.0}, {}, 0), "min 2 and max 1");
    EXPECT_ERROR(make_ruler({"time", Scale::log, 0.0, {}}, {}, 0), "positive");
    EXPECT_ERROR(make_ruler({"time", Scale::linear, {}, infinity}, {}, 0), "finite");
}

TEST(Ruler, PlacesValuesOnItsScale) {
    EXPECT_NEAR((Ruler{Scale::log, 1e-300, 1e300}.at(1)), 0.5, 1e-12);
    EXPECT_EQ((Ruler{Scale::linear, 2, 4}.at(3)), 0.5);
    EXPECT_EQ((Ruler{Scale::linear, 0, 1}.at(1e200)), 101);
}

TEST(Compact, WritesFewCharacters) {
    EXPECT_EQ(compact(0), "0");
    EXPECT_EQ(compact(0.12345), "0.123");
    EXPECT_EQ(compact(-2.5), "−2.5");
    EXPECT_EQ(compact(1234), "1234");
    EXPECT_EQ(compact(0.001), "0.001") << "fixed notation from a thousandth on";
    EXPECT_EQ(compact(-0.001), "−0.001");
    EXPECT_EQ(compact(0.0005), "5×10⁻⁴");
    EXPECT_EQ(compact(1e5), "10⁵");
    EXPECT_EQ(compact(1e6), "10⁶");
    EXPECT_EQ(compact(-1e6), "−1×10⁶");
    EXPECT_EQ(compact(1.26e-7, 2), "1.3×10⁻⁷");
    EXPECT_EQ(compact(test::nan), "undefined");
    EXPECT_EQ(compact(-infinity), "−∞");
}

}  // namespace
}  // namespace flyball::report
