// Fresh models over depth: against the theory of "Stability of Transformers under Layer Normalization" and by hand.
#include "check/beginning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "scheme/own_equation.hpp"
#include "train/initial.hpp"

namespace flyball::check {
namespace {

const train::Corpus& corpus() {
    static const train::Corpus shared = check_corpus({});
    return shared;
}

Beginning beginning_of(const std::string& block, Settings settings = {}) {
    const scheme::Scheme scheme =
        scheme::looks_like_equation(block) ? scheme::scheme_of_equation(block) : scheme::find_scheme(block);
    return beginning(scheme, settings, corpus());
}

TEST(Beginning, PeriLnGrowsLikeTheRootOfTheNumberOfSubLayers) {
    // sigma_l^2 = sigma_0^2 + 2 l for branches of unit size in random directions; FFN biases and small widths make
    // them a little alike.
    const Beginning peri = beginning_of("peri-ln");
    EXPECT_EQ(peri.stream.growth.kind, measure::GrowthClass::sqrt);
    EXPECT_EQ(peri.bound.name(), "linear");
    EXPECT_EQ(peri.own.depth, 24U);
    EXPECT_EQ(peri.own.stream.size(), 25U);
    EXPECT_NEAR(peri.own.stream.back(), std::sqrt(48.0), 0.12 * std::sqrt(48.0));
    EXPECT_EQ(peri.curves.back().depth, 96U);
    EXPECT_EQ(peri.curves.size(), 7U);
    // The embedding is no block: what a first branch makes of it is a matter of its own scale.
    EXPECT_DOUBLE_EQ(peri.stream.factor, peri.curves.back().stream.back() / peri.curves.back().stream[1]);
    EXPECT_EQ(peri.gradient.held, 96U);
    EXPECT_DOUBLE_EQ(peri.gradient.factor, peri.curves.back().gradient[1] / peri.curves.back().gradient[96]);
    // Gradients: sigma_L/sigma_1, roughly.
    EXPECT_NEAR(peri.own.gradient_ratio(), peri.own.stream.back() / peri.own.stream[1],
                0.35 * peri.own.gradient_ratio());
    EXPECT_FALSE(peri.stream.is_exponential());
}

TEST(Beginning, AFactorOnTheStreamMultipliesTwiceABlock) {
    const Beginning block = beginning_of("1.1*x + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_TRUE(block.stream.is_exponential());
    EXPECT_FALSE(block.stream.falls);
    EXPECT_NEAR(block.stream.rate, 2 * std::log(1.1), 0.02);
    EXPECT_TRUE(block.gradient.is_exponential());
    EXPECT_FALSE(block.gradient.falls);  // it grows on its way back
    EXPECT_EQ(block.bound.name(), "exponential");
}

TEST(Beginning, PostLnStaysOfUnitSize) {
    const Beginning post = beginning_of("post-ln");
    EXPECT_EQ(post.bound.name(), "bounded");
    for (std::size_t l = 1; l < post.own.stream.size(); ++l) {
        EXPECT_NEAR(post.own.stream[l], 1, 1e-3);
    }
    EXPECT_EQ(post.stream.growth.kind, measure::GrowthClass::bounded);
}

// Blocks that add a millionth leave the stream as it was: before the first of them it is measured as behind it.
TEST(Beginning, TheEmbeddingIsMeasuredAsTheStreamIs) {
    const DepthCurve curve =
        measured_depth(scheme::scheme_of_equation("x + dt*1e-6*norm(f(norm(x))) | norm(x)"), {}, corpus(), 2);
    ASSERT_EQ(curve.stream.size(), 3U);
    EXPECT_GT(curve.stream[0], 1e-3) << "otherwise a millionth is not little";
    EXPECT_NEAR(curve.stream[0] / curve.stream[1], 1, 1e-2);
}

TEST(Beginning, ALawThatFallsIsThatOfItsInverse) {
    std::vector<double> falling;
    for (int l = 0; l < 40; ++l) {
        falling.push_back(std::exp(-0.3 * l));
    }
    const DepthLaw law = law_of(falling);
    EXPECT_TRUE(law.falls);
    EXPECT_TRUE(law.is_exponential());
    EXPECT_NEAR(law.rate, 0.3, 1e-9);
    EXPECT_NEAR(law.factor, std::exp(0.3 * 39), 1e-3 * std::exp(0.3 * 39));
}

TEST(Beginning, WhatHalvesShrinksByHalfAndWhatDoublesGrowsByAll) {
    std::vector<double> doubling;
    for (int l = 0; l < 40; ++l) {
        doubling.push_back(std::ldexp(1, l));
    }
    EXPECT_NEAR(law_of(doubling).percent_a_block(), 100, 1e-9);
    EXPECT_NEAR(law_of({doubling.rbegin(), doubling.rend()}).percent_a_block(), 50, 1e-9);
}

// 4^-l is 0 as a float from l = 75 on, and 4^-63 is the first power below what floats hold with all their digits.
TEST(Beginning, WhatUnderflowsShrinksAsItDidBefore) {
    std::vector<double> falling;
    for (int l = 0; l < 96; ++l) {
        falling.push_back(static_cast<double>(static_cast<float>(std::ldexp(1, -2 * l))));
    }
    ASSERT_EQ(falling.back(), 0);
    const DepthLaw law = law_of(falling, least_held);
    EXPECT_TRUE(law.vanishes);
    EXPECT_TRUE(law.falls);
    EXPECT_TRUE(law.is_exponential());
    EXPECT_NEAR(law.rate, std::log(4.0), 1e-9);
    EXPECT_NEAR(law.percent_a_block(), 75, 1e-9);
    EXPECT_LE(law.held, 63U);
    EXPECT_GE(law.held, 58U);
    // Numbers that are no floats may be as small as they like.
    EXPECT_FALSE(law_of({1, 1e-100, 1e-200}).vanishes);
}

TEST(Beginning, WhatUnderflowsWithinAFewBlocksHasALawToo) {
    const DepthLaw quick = law_of({1, 1e-10, 1e-20, 1e-30, 0, 0, 0, 0, 0, 0}, least_held);
    EXPECT_TRUE(quick.is_exponential());
    EXPECT_NEAR(quick.rate, 10 * std::log(10.0), 1e-6);
    EXPECT_EQ(quick.held, 4U);
    // A step is none, nor is a stream that was never there, nor one that had grown before.
    const DepthLaw step = law_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, least_held);
    EXPECT_TRUE(step.vanishes);
    EXPECT_FALSE(step.is_exponential());
    const DepthLaw nothing = law_of({0, 0, 0, 0}, least_held);
    EXPECT_TRUE(nothing.vanishes);
    EXPECT_EQ(nothing.held, 0U);
    EXPECT_FALSE(nothing.is_exponential());
    std::vector<double> grown;
    for (int l = 0; l < 20; ++l) {
        grown.push_back(std::ldexp(1, l));
    }
    grown.push_back(0);
    EXPECT_FALSE(law_of(grown, least_held).is_exponential());
}

// 1, 2, 4 and then a division by zero, or a factor 0: neither is where the law leads.
TEST(Beginning, ACurveThatEndsFarFromItsLawHasNone) {
    const DepthLaw broken = law_of({1, 2, 5, std::nan(""), std::nan("")}, least_held);
    EXPECT_TRUE(broken.overflows);
    EXPECT_FALSE(broken.is_exponential());
    EXPECT_FALSE(law_of({1, 0.5, 0.2, 0, 0, 0}, least_held).is_exponential());
    const DepthLaw large = law_of({1, 1e10, 1e20, 1e30, HUGE_VAL, HUGE_VAL}, least_held);
    EXPECT_TRUE(large.is_exponential());
    EXPECT_NEAR(large.rate, 10 * std::log(10.0), 1e-6);
}

TEST(Beginning, MatricesActAsStronglyAsAtTheUsersWidth) {
    // N(0, 0.02) at 512 channels makes a vector 0.02*sqrt(512) as long; at 32 channels that takes a deviation of 0.08.
    Settings settings;
    settings.width = 512;
    const scheme::Scheme scheme = scheme::scheme_of_equation("x + dt*f(norm(x)) | norm(x)");
    train::Settings sizes;
    sizes.layers = 2;
    sizes.dim = Settings::measured_width;
    sizes.heads = 2;
    sizes.context = 4;
    const auto deviation_of_output = [&](const std::string& init) {
        sizes.init = init;
        const auto model = train::initial_model(sizes, scheme, 8).model;
        const int weight = model.layout().blocks[0].output.weight;
        const std::size_t count = model.layout().parameters[static_cast<std::size_t>(weight)].elements();
        double squares = 0;
        for (std::size_t i = 0; i < count; ++i) {
            squares += std::pow(static_cast<double>(model.parameters()->at(weight)[i]), 2);
        }
        return std::sqrt(squares / static_cast<double>(count));
    };
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 0.08, 0.004);
    settings.width = 32;
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 0.02, 0.001);
    settings.width = 512;
    settings.init = "output=0.1";
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 0.4, 0.02);
    settings.init = "output=sqrt(1/d)";  // a gain of 1 at any width
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), std::sqrt(1.0 / 32), 0.01);
    settings.init = "output=1/d";  // 1/512, which takes four times as much
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 4.0 / 512, 0.0005);
    settings.init = "output=0.1*depth";  // d is the width, and depth is not: a half in the first of two blocks
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 0.2, 0.01);
    settings.init = "gains=0.5";
    EXPECT_NEAR(deviation_of_output(init_for_width(scheme, settings)), 0.08, 0.004);
    // What reads from and writes to the vocabulary is as it was typed.
    for (const char* typed : {"head=0.1", "embedding=0.1"}) {
        settings.init = typed;
        EXPECT_NE((init_for_width(scheme, settings) + ",").find(std::string(typed) + ","), std::string::npos)
            << init_for_width(scheme, settings);
    }
}

// What a start says of d and n is the same as their numbers typed in their place.
TEST(Beginning, TheStartIsThatOfTheUsersModel) {
    Settings settings;
    settings.depth = 4;
    settings.width = 512;
    settings.tokens = 600;  // measured with 512
    const auto same = [&](const std::string& written, const std::string& typed) {
        settings.init = written;
        const DepthCurve a = measured_depth(scheme::find_scheme("pre-ln"), settings, corpus(), settings.depth);
        settings.init = typed;
        const DepthCurve b = measured_depth(scheme::find_scheme("pre-ln"), settings, corpus(), settings.depth);
        for (std::size_t l = 0; l <= settings.depth; ++l) {
            EXPECT_NEAR(a.stream[l] / b.stream[l], 1, 1e-4) << written << ", " << l;
        }
    };
    same("matrices=8/d", "matrices=0.015625");
    same("embedding=1/sqrt(d)", "embedding=0.0441941738");
    same("gains=32/d*depth", "gains=0.0625*depth");
    same("value=12/n", "value=0.02");
}

// Of a model of 512 channels, which is measured with 32: what the numbers of the text are there is typed beside it.
TEST(Beginning, TheEquationIsThatOfTheUsersModel) {
    Settings settings;
    settings.depth = 8;
    settings.width = 512;
    const auto same = [&](const std::string& written, const std::string& typed) {
        const DepthCurve a = beginning_of(written, settings).own;
        const DepthCurve b = beginning_of(typed, settings).own;
        for (std::size_t l = 0; l <= settings.depth; ++l) {
            EXPECT_NEAR(a.stream[l] / b.stream[l], 1, 1e-4) << written << ", " << l;
            EXPECT_NEAR(a.gradient[l] / b.gradient[l], 1, 1e-4) << written << ", " << l;
        }
    };
    same("x + dt*f(norm(x))/sqrt(d) | norm(x)", "x + dt*f(norm(x))/22.627416998 | norm(x)");
    same("x + g*dt*f(norm(x)) | norm(x) where ~g = 2/sqrt(d)", "x + g*dt*f(norm(x)) | norm(x) where ~g = 0.0883883476");
    same("d < 100 ? x + dt*f(norm(x)) : x + 0.1*dt*f(norm(x)) | norm(x)", "x + 0.1*dt*f(norm(x)) | norm(x)");
    // A vector of length 1 has numbers of 1/sqrt(512).
    same("x + dt*unit(f(norm(x))) | norm(x)", "x + dt*rms(f(norm(x)))/22.627416998 | norm(x)");
    same("x + dt*sqrt(d)*unit(f(norm(x))) | norm(x)", "x + dt*rms(f(norm(x))) | norm(x)");
    same("x + dt*f(g*unit(x)) | g*unit(x) where ~g = sqrt(d)", "x + dt*f(g*rms(x)) | g*rms(x) where ~g = 1");
    settings.tokens = 600;  // measured with 512
    same("x + dt*norm(f(norm(x)))*n/100 | norm(x)", "x + dt*norm(f(norm(x)))*6 | norm(x)");
}

// Post-LN with another norm is that norm around the sum.
TEST(Beginning, TheNormIsTheOneThatWasAskedFor) {
    Settings settings;
    settings.depth = 4;
    const DepthCurve layernorm = beginning_of("x + dt*norm(f(x)) | norm(x)", settings).own;
    settings.norm = "rmsnorm";
    const DepthCurve asked = beginning_of("x + dt*norm(f(x)) | norm(x)", settings).own;
    EXPECT_NE(asked.stream, layernorm.stream);
}

// Post-LN rests at size 1 for 24 blocks, and Peri-LN then grows like a root from there.
TEST(Beginning, ALawBeginsWhereTheCurveBeginsToMove) {
    std::vector<double> values;
    for (int l = 1; l <= 96; ++l) {
        values.push_back(l <= 24 ? 1 : std::sqrt(1 + 2.0 * (l - 24)));
    }
    EXPECT_NEAR(law_of(values).growth.exponent, 0.5, 0.06);
    EXPECT_NEAR(law_of(values).factor, std::sqrt(145.0), 1e-9);
}

TEST(Beginning, ADivisionByZeroAtTheUsersSizesIsRefused) {
    Settings settings;
    settings.width = 64;
    const scheme::Scheme block = scheme::scheme_of_equation("x + dt*f(norm(x))/(d-64) | norm(x)");
    EXPECT_THROW(check_start({block}, settings), Error);
    settings.width = 65;
    EXPECT_NO_THROW(check_start({block}, settings));
}

TEST(Beginning, AStartThatCannotBeMadeIsRefused) {
    Settings settings;
    settings.init = "outputs=0.1";
    EXPECT_THROW(check_start({scheme::find_scheme("pre-ln")}, settings), Error);
    settings.init = "gain.9=1";
    EXPECT_THROW(check_start({scheme::find_scheme("pre-ln")}, settings), Error);
    settings.init = "output=0.1";
    EXPECT_NO_THROW(check_start({scheme::find_scheme("pre-ln")}, settings));
}

}  // namespace
}  // namespace flyball::check
