// Comparisons keep what agrees least, and predictions go through the context.
#include "claims/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "claims/claim.hpp"

namespace flyball::claims {
namespace {

TEST(Comparison, ShowsThePairThatAgreesLeast) {
    Comparison relative = Comparison::relative(0.1);
    relative.see(10.5, 10);
    relative.see(-1.96, -2);
    relative.see(100.1, 100);
    EXPECT_DOUBLE_EQ(relative.measured(), 10.5);
    EXPECT_DOUBLE_EQ(relative.predicted(), 10);
    EXPECT_NEAR(relative.off(), 0.05, 1e-15);
    EXPECT_TRUE(relative.agrees());
    relative.see(2.3, 2);
    EXPECT_FALSE(relative.agrees());
    Comparison absolute = Comparison::absolute(0.1);
    absolute.see(10.05, 10);
    EXPECT_TRUE(absolute.agrees());
    absolute.see(10.5, 10);
    EXPECT_FALSE(absolute.agrees());
    EXPECT_EQ(absolute.count(), 2U);
}

TEST(Comparison, NothingSeenAndNotANumberDoNotAgree) {
    EXPECT_FALSE(Comparison::absolute(1).agrees());
    for (const auto& [measured, predicted] : {std::pair{std::nan(""), 1.0}, {1.0, std::nan("")}, {HUGE_VAL, 1.0}}) {
        Comparison comparison = Comparison::absolute(1e9);
        comparison.see(measured, predicted);
        comparison.see(1, 1);
        EXPECT_FALSE(comparison.agrees());
        EXPECT_EQ(comparison.off(), HUGE_VAL);
    }
}

TEST(Context, APredictionIsWhatIsStatedUnlessItIsReplaced) {
    Context context;
    EXPECT_DOUBLE_EQ(context.predict("slope", -2, {3}), -2);
    context.replaced = [](std::string_view quantity, double stated, const std::vector<double>& place) {
        return quantity == "slope" ? stated * place.at(0) : stated;
    };
    EXPECT_DOUBLE_EQ(context.predict("slope", -2, {3}), -6);
    EXPECT_DOUBLE_EQ(context.part(0, 0.5).predict("slope", -2, {3}), -6) << "a part has the same predictions";
    EXPECT_DOUBLE_EQ(context.predict("share", 1), 1);
}

TEST(ClaimValue, IsWrittenWithSixDigits) {
    EXPECT_EQ(text_of(Value{3.14159265}), "3.14159");
    EXPECT_EQ(text_of(Value{1234567.0}), "1.23457e+06");
    EXPECT_EQ(text_of(Value{-0.5}), "-0.5");
    EXPECT_EQ(text_of(Value{std::string{"at least 2"}}), "at least 2");
}

}  // namespace
}  // namespace flyball::claims
