// The figures of the ledger: what their axes say, and some of their points, integrated elsewhere (classical Runge-Kutta
// with 8000 steps on theta' = P A/s, r' of Table 2, in Python).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "claims/groups.hpp"
#include "claims/stability_passes.hpp"
#include "claims/style.hpp"
#include "sanitized.hpp"

namespace flyball::claims {
namespace {

Measurement drawn(const std::string& id) {
    const std::vector<Claim> claims = ledger();
    const auto claim = std::find_if(claims.begin(), claims.end(), [&](const Claim& one) { return one.id == id; });
    Context context;
    context.quick = true;
    return claim->experiment(context);
}

std::map<std::string, Picture> pictures_in(const Measurement& measurement) {
    std::map<std::string, Picture> pictures;
    for (const Picture& picture : measurement.pictures) {
        pictures.emplace(picture.name, picture);
    }
    return pictures;
}

const report::LineFigure& lines(const std::map<std::string, Picture>& pictures, const std::string& name) {
    return std::get<report::LineFigure>(pictures.at(name).figure);
}

double height(const report::LineFigure& figure, const std::string& series, double x) {
    for (const report::Series& one : figure.series) {
        for (std::size_t i = 0; one.name == series && i < one.x.size(); ++i) {
            if (std::abs(one.x[i] - x) < 1e-9 * x) {
                return one.y[i];
            }
        }
    }
    throw std::runtime_error("no point of " + series);
}

void expect_labels(const report::LineFigure& figure, const std::string& title, const std::string& x,
                   const std::string& y) {
    EXPECT_NE(figure.title.find(title), std::string::npos) << figure.title;
    EXPECT_EQ(figure.x.label, x);
    EXPECT_EQ(figure.y.label, y);
}

// Of trained and of random weights alike.
TEST(Pictures, OfCosinesHaveABandOverSystems) {
    dynamics::Sample early;
    early.t = 0.5;
    early.cosine = 0.25;
    early.cosine_lo = 0.125;
    early.cosine_hi = 0.375;
    dynamics::Sample late = early;
    late.t = 2;
    late.cosine = 0.75;
    late.cosine_lo = 0.5;
    late.cosine_hi = 0.875;
    const report::Series series = cosine_series("peri-ln", {early, late});
    EXPECT_EQ(series.name, "Peri-LN");
    EXPECT_EQ(series.x, (std::vector<double>{0.5, 2}));
    EXPECT_EQ(series.y, (std::vector<double>{0.25, 0.75}));
    EXPECT_EQ(series.lo, (std::vector<double>{0.125, 0.5}));
    EXPECT_EQ(series.hi, (std::vector<double>{0.375, 0.875}));
}

TEST(Pictures, OfTheHeadlineShowTheAnglesTurnedAtBothEnds) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: a survey of thirty places";
    }
    const Measurement headline = drawn("dynamics-headline");
    const auto pictures = pictures_in(headline);
    const report::LineFigure& early = lines(pictures, "dynamics-headline-early");
    expect_labels(early, "first tenth", "inverse temperature β", "radians");
    for (const report::Series& series : early.series) {
        EXPECT_EQ(series.x, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})) << "of 256 tokens alone";
    }
    EXPECT_NEAR(height(early, "Post-LN", 1), 0.1049832313, 1e-9);
    EXPECT_NEAR(height(early, "Peri-LN", 8), 0.003832450283, 1e-10);
    EXPECT_NEAR(height(early, "nGPT", 1), 0.8399706489, 1e-8);
    const report::LineFigure& late = lines(pictures, "dynamics-headline-late");
    expect_labels(late, "last half", "inverse temperature β", "radians");
    EXPECT_NEAR(height(late, "Pre-LN", 1), 0.2269514696, 1e-8);
    EXPECT_NEAR(height(late, "Mix-LN", 8), 0.006760129478, 1e-8);
    EXPECT_NEAR(height(late, "sqrt-scaling", 1), 0.5725837861, 1e-8);
    const auto& lead = std::get<report::HeatFigure>(pictures.at("dynamics-headline").figure);
    EXPECT_EQ(lead.x.label, "inverse temperature β");
    EXPECT_EQ(lead.y.label, "tokens");
    ASSERT_EQ(lead.values.size(), lead.x_values.size() * lead.y_values.size());
    EXPECT_EQ(lead.y_values.back(), 4096);
    EXPECT_NEAR(lead.values.at(0), 1.3065756292, 1e-6) << "n = 16, beta = 1";
    EXPECT_NEAR(lead.values.at(2 * lead.x_values.size() + 7), 1.1677930572, 1e-6) << "n = 4096, beta = 8";
    // The note: how far e^beta/n goes where Peri-LN leads, among all places. That is e^3/16 and not the e^8/4096 of the
    // last one.
    double farthest = 0;
    double last = 0;
    for (std::size_t i = 0; i < lead.values.size(); ++i) {
        if (lead.values[i] > 1) {
            last = std::exp(lead.x_values[i % lead.x_values.size()]) / lead.y_values[i / lead.x_values.size()];
            farthest = std::max(farthest, last);
        }
    }
    EXPECT_GT(farthest, 1.5 * last);
    EXPECT_NE(headline.note.find(fmt::format("and last has it at {:.2g} n;", farthest)), std::string::npos)
        << headline.note;
}

TEST(Pictures, OfTheTheoryShowCosinesAndTheirVelocities) {
    const Measurement curves = drawn("dynamics-theory-curves");
    // At t = 1; at t = 10 Post-LN is before Peri-LN.
    EXPECT_EQ(curves.verdict, Verdict::holds) << curves.note;
    EXPECT_EQ(text_of(curves.measured), "first ngpt and peri-ln; collapsed ngpt, post-ln, sqrt-scaling");
    const auto pictures = pictures_in(curves);
    const report::LineFigure& cosine = lines(pictures, "dynamics-theory-cosine");
    expect_labels(cosine, "Cosine", "time", "cosine");
    EXPECT_NEAR(height(cosine, "Peri-LN", 0.1), 0.00151098543984, 1e-12);
    const report::LineFigure& power = lines(pictures, "dynamics-theory-velocity-power");
    expect_labels(power, "powers are straight", "time", "velocity of the cosine");
    EXPECT_EQ(power.x.scale, report::Scale::log);
    EXPECT_EQ(power.y.scale, report::Scale::log);
    EXPECT_NEAR(height(power, "nGPT", 0.1), 0.0188825847888, 1e-11);
    const report::LineFigure& exponential = lines(pictures, "dynamics-theory-velocity-exponential");
    expect_labels(exponential, "exponentials are straight", "time", "velocity of the cosine");
    EXPECT_EQ(exponential.x.scale, report::Scale::linear);
    EXPECT_EQ(exponential.y.scale, report::Scale::log);
    EXPECT_NEAR(height(exponential, "Pre-LN", 30), 0.0012353336077, 1e-10);
    EXPECT_NEAR(height(exponential, "sqrt-scaling", 30), 8.90564216e-6, 1e-12);
}

TEST(Pictures, OfOneCurveHaveTheLengthOfTheStreamBelow) {
    const report::LineFigure figure = lines(pictures_in(drawn("dynamics-pre-peri-curve")), "dynamics-gamma-radius");
    expect_labels(figure, "trace one curve", "length r of the stream", "cosine");
    const auto one = std::find_if(figure.series.begin(), figure.series.end(),
                                  [](const report::Series& s) { return s.name == "Peri-LN, β = 4"; });
    ASSERT_NE(one, figure.series.end());
    EXPECT_NEAR(one->x.back(), 19.9418723205, 1e-8) << "r at t = 20";
    EXPECT_NEAR(one->y.back(), 0.99426228478, 1e-10) << "gamma at t = 20";
}

// |dL/dx_l| over that after the last block, which is 1 itself; the embedding belongs to no block.
TEST(Pictures, OfGradientsAtTheStartEndAtOneAfterTheLastBlock) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: seven schemes at three depths";
    }
    const auto pictures = pictures_in(drawn("stability-start-gradient-schemes"));
    const report::LineFigure& figure = lines(pictures, "stability-gradient-start");
    ASSERT_EQ(figure.series.size(), 7U);
    for (const report::Series& series : figure.series) {
        ASSERT_EQ(series.y.size(), 24U) << series.name;
        EXPECT_EQ(series.x.front(), 1) << series.name;
        EXPECT_EQ(series.x.back(), 24) << series.name;
        EXPECT_EQ(series.y.back(), 1) << series.name;
    }
    StartSizes sizes;
    sizes.layers = 24;
    const std::vector<double> gradient = start_depths("pre-ln", sizes).gradient;
    EXPECT_NEAR(height(figure, "Pre-LN", 1), gradient[1] / gradient.back(), 1e-12);
}

}  // namespace
}  // namespace flyball::claims
