// Fourier sums on the circle against direct summation.
#include <gtest/gtest.h>

#include <cmath>

#include "attention/attention.hpp"
#include "support.hpp"

namespace flyball::attention::testing {

namespace {

std::vector<double> at_angles(const std::vector<double>& angles) {
    std::vector<double> z;
    for (const double a : angles) {
        z.push_back(std::cos(a));
        z.push_back(std::sin(a));
    }
    return z;
}

// Largest difference to `direct`, relative to the largest component.
double difference(const Settings& settings, const std::vector<double>& z, std::string_view expected_path) {
    const Shape shape = {1, z.size() / 2, 2};
    std::vector<double> direct(z.size());
    std::vector<double> fourier(z.size());
    Attention<double>(shape, settings, {}, "direct")(z.data(), direct.data());
    Attention<double> circle(shape, settings, {}, "circle");
    circle(z.data(), fourier.data());
    EXPECT_EQ(circle.path(), expected_path);
    double largest = 0;
    double worst = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        largest = std::max(largest, std::fabs(direct[i]));
        worst = worse(worst, std::fabs(direct[i] - fourier[i]));
    }
    return worst / largest;
}

TEST(Circle, AgreesWithDirectSumsTo1e12) {
    for (const double beta : {0.0, 1e-8, 0.3, 1.0, 4.0, 9.0, 40.0, 200.0, -3.0}) {
        for (const std::size_t n : std::initializer_list<std::size_t>{1, 2, 15, 16, 17, 511, 513, 3000}) {
            for (const Kind kind : {Kind::softmax, Kind::unnormalized, Kind::ssmax}) {
                Settings settings;
                settings.kind = kind;
                settings.beta = kind == Kind::ssmax ? beta / 8 : beta;
                const std::vector<double> z = draw_tokens<double>(Tokens::unit, n, 2);
                std::vector<double> out(z.size());
                Attention<double> circle({1, n, 2}, settings, {}, "circle");
                circle(z.data(), out.data());
                EXPECT_LT(difference(settings, z, circle.path()), 1e-12) << n << " " << beta << " " << name(kind);
            }
        }
    }
}

TEST(Circle, UsesFourierSumsForSpreadTokensAtEveryBeta) {
    const std::vector<double> z = draw_tokens<double>(Tokens::unit, 2000, 2);
    Settings settings;
    for (const double beta : {0.5, 9.0, 100.0, 1000.0, 4000.0}) {
        settings.beta = beta;
        EXPECT_LT(difference(settings, z, "Fourier sums"), 1e-12 + 2e-15 * beta) << beta;
    }
}

TEST(Circle, GivesALonelyTokenItsRowByDirectSums) {
    std::vector<double> angles(5000, 0.5);
    for (std::size_t i = 0; i < angles.size(); ++i) {
        angles[i] += 1e-3 * static_cast<double>(i % 100);
    }
    angles[1234] = 0.5 + 3.0;
    angles[2345] = 0.5 + 3.1;  // near each other, and far from the rest
    Settings settings;
    settings.beta = 100;
    const std::string path = "Fourier sums, tokens far from the others by direct sums";
    EXPECT_LT(difference(settings, at_angles(angles), path), 1e-12);
    settings.kind = Kind::ssmax;
    settings.beta = 100 / std::log(5000.0);
    EXPECT_LT(difference(settings, at_angles(angles), path), 1e-12);
}

TEST(Circle, LeavesVectorsOfDifferentLengthsToDirectSums) {
    std::vector<double> z = draw_tokens<double>(Tokens::unit, 300, 2);
    z[17] *= 1 + 1e-13;
    z[16] *= 1 + 1e-13;
    EXPECT_EQ(difference({}, z, "lengths differ: direct sums"), 0.0);
    std::vector<double> out(z.size());
    Attention<double> circle({1, 300, 2}, {}, {}, "circle");
    circle(z.data(), out.data());
    EXPECT_TRUE(circle.fell_back());
    const std::vector<double> unit = draw_tokens<double>(Tokens::unit, 300, 2);
    circle(unit.data(), out.data());
    EXPECT_FALSE(circle.fell_back());
}

// A Runge-Kutta stage may be longer than the one before it.
TEST(Circle, AgreesWithDirectSumsWhereLengthsChangeFromCallToCall) {
    const std::size_t n = 300;
    Settings settings;
    settings.beta = 3;
    std::vector<double> z = draw_tokens<double>(Tokens::unit, n, 2);
    std::vector<double> fourier(z.size());
    std::vector<double> direct(z.size());
    Attention<double> circle({1, n, 2}, settings, {}, "circle");
    for (const double factor : {1.0, 2.0, 0.25}) {  // exact: all lengths stay equal
        for (double& value : z) {
            value *= factor;
        }
        circle(z.data(), fourier.data());
        EXPECT_EQ(circle.path(), "Fourier sums");
        Attention<double>({1, n, 2}, settings, {}, "direct")(z.data(), direct.data());
        for (std::size_t i = 0; i < z.size(); ++i) {
            EXPECT_NEAR(fourier[i], direct[i], 1e-12) << factor << " " << i;
        }
    }
}

TEST(Circle, SaysThatItFellBackWhicheverSystemItWas) {
    const std::size_t n = 40;
    const std::size_t systems = 64;  // several to a worker
    const std::vector<double> unit = draw_tokens<double>(Tokens::unit, systems * n, 2);
    std::vector<double> out(unit.size());
    Attention<double> circle({systems, n, 2}, {}, {}, "circle");
    for (const std::size_t system : {std::size_t{0}, systems / 2, systems - 1}) {
        std::vector<double> z = unit;
        z[system * n * 2] *= 1.5;
        z[system * n * 2 + 1] *= 1.5;
        circle(z.data(), out.data());
        EXPECT_TRUE(circle.fell_back()) << system;
        circle(unit.data(), out.data());
        EXPECT_FALSE(circle.fell_back());
    }
}

TEST(Circle, TakesVectorsOfOneLengthWhateverItIs) {
    for (const double length : {0.01, 0.3, 1.7, 4.0}) {
        for (const double beta : {0.5, 3.0, -2.0}) {
            for (const Kind kind : {Kind::softmax, Kind::unnormalized, Kind::ssmax}) {
                Settings settings;
                settings.kind = kind;
                settings.beta = beta;
                std::vector<double> z = draw_tokens<double>(Tokens::unit, 700, 2);
                for (double& v : z) {
                    v *= length;
                }
                EXPECT_LT(difference(settings, z, "Fourier sums"), 1e-12) << length << " " << beta << " " << name(kind);
            }
        }
    }
    // Two tokens far from all others and close to each other, by direct sums of what they really score.
    std::vector<double> angles(5000, 0.5);
    angles[1234] = 0.5 + 3.0;
    angles[1235] = 0.5 + 3.1;
    std::vector<double> z = at_angles(angles);
    for (double& v : z) {
        v *= 2;
    }
    Settings settings;
    settings.beta = 25;
    EXPECT_LT(difference(settings, z, "Fourier sums, tokens far from the others by direct sums"), 1e-12);
}

TEST(Circle, LeavesVeryLongVectorsToDirectSums) {
    std::vector<double> z = draw_tokens<double>(Tokens::unit, 50, 2);
    for (double& v : z) {
        v *= 1e3;
    }
    EXPECT_EQ(difference({}, z, "long vectors: direct sums"), 0.0);
}

// A negative beta prefers what lies opposite, and the weight e^0 of a near token is the least: Fourier sums are right
// to digits of the e^(2 |beta|) that an opposite token would have. Each row is compared with its own length.
TEST(Circle, SmallUnnormalizedRowsOfANegativeBetaAreSummedDirectly) {
    std::vector<double> close(600);
    std::vector<double> groups(1000, 0.0);
    for (std::size_t i = 0; i < close.size(); ++i) {
        close[i] = 0.0001 * static_cast<double>(i);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i] = i % 100 == 7 ? 1.5 : i % 2 == 0 ? 0 : 3.0;  // ten tokens between two groups
    }
    Settings settings;
    settings.kind = Kind::unnormalized;
    settings.beta = -20;
    for (const auto& [angles, path] : {std::pair{close, "many tokens far from the others: direct sums"},
                                       std::pair{groups, "Fourier sums, tokens far from the others by direct sums"}}) {
        const std::vector<double> z = at_angles(angles);
        const Shape shape = {1, angles.size(), 2};
        const std::vector<double> right = definition(shape, settings, Weights<double>{}, z.data());
        std::vector<double> out(z.size());
        Attention<double> circle(shape, settings, {}, "circle");
        circle(z.data(), out.data());
        EXPECT_EQ(circle.path(), path);
        for (std::size_t i = 0; i < z.size(); i += 2) {
            const double error = std::hypot(out[i] - right[i], out[i + 1] - right[i + 1]);
            EXPECT_LE(error, 1e-11 * std::hypot(right[i], right[i + 1])) << path << " " << i / 2;
        }
    }
}

TEST(Circle, OneTokenSeesItself) {
    const std::vector<double> z = at_angles({1.0});
    std::vector<double> out(2);
    Settings settings;
    settings.beta = 1e4;
    Attention<double>({1, 1, 2}, settings, {}, "circle")(z.data(), out.data());
    EXPECT_NEAR(out[0], z[0], 1e-14);
    EXPECT_NEAR(out[1], z[1], 1e-14);
}

}  // namespace

}  // namespace flyball::attention::testing
