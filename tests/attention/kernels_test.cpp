// Every kernel against the definition, over awkward sizes, lengths and temperatures.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/attention.hpp"
#include "attention/exponent.hpp"
#include "attention/kernels.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace flyball::attention::testing {

namespace {

std::vector<Kind> all_kinds() {
    std::vector<Kind> kinds;
    for (const std::string& name : kind_names()) {
        kinds.push_back(kind_from_name(name));
    }
    return kinds;
}
constexpr Tokens all_tokens[] = {Tokens::unit, Tokens::duplicated, Tokens::antipodes, Tokens::raw, Tokens::with_zeros};

bool can(const char* kernel, const Shape& shape, const Settings& settings, bool identity, std::size_t width) {
    HeadProblem problem;
    problem.tokens = shape.tokens;
    problem.width = identity ? shape.dim : width;
    problem.kind = settings.kind;
    problem.mask = settings.mask;
    problem.identity = identity;
    problem.systems = shape.systems;
    for (const KernelEntry& entry : kernel_table()) {
        if (std::string(entry.name) == kernel) {
            return *entry.obstacle(problem) == '\0';
        }
    }
    return false;
}

// One evaluation, input and output at an odd address.
template <class Real>
void compare(const std::string& kernel, const Shape& shape, const Settings& settings, const Weights<Real>& weights,
             Tokens tokens) {
    const std::size_t size = shape.systems * shape.tokens * shape.dim;
    std::vector<Real> z = draw_tokens<Real>(tokens, shape.systems * shape.tokens, shape.dim);
    z.insert(z.begin(), Real{0});
    std::vector<Real> out(size + 1, Real{-7});
    Attention<Real> attention(shape, settings, weights, kernel);
    attention(z.data() + 1, out.data() + 1);
    double largest = 0;
    const std::vector<double> right = definition(shape, settings, weights, z.data() + 1, &largest);
    double longest = tokens == Tokens::raw ? 30 : 1;
    if (!(largest < (sizeof(Real) == 8 ? 1e300 : 1e30))) {
        return;  // unnormalized with long vectors: the answer itself overflows
    }
    if (!weights.identity()) {
        longest *= 3;
    }
    const double tolerance = allowed_error<Real>(settings, shape.tokens, longest) * (largest + 1e-30);
    EXPECT_EQ(out[0], Real{-7});
    double worst = 0;
    for (std::size_t i = 0; i < size; ++i) {
        worst = worse(worst, std::fabs(static_cast<double>(out[i + 1]) - right[i]));
    }
    EXPECT_LE(worst, tolerance) << kernel << " n=" << shape.tokens << " d=" << shape.dim << " " << name(settings.kind)
                                << " " << name(settings.mask) << " beta=" << settings.beta
                                << " tokens=" << static_cast<int>(tokens) << " largest=" << largest << " "
                                << attention.path();
}

template <class Real>
void compare_all(const std::string& kernel, std::size_t systems = 1) {
    const std::size_t sizes[] = {1, 2, 3, 5, 8, 17, 31, 47, 48, 49, 64, 70};
    const std::size_t dims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33, 40};
    const double betas[] = {0, 1, -2, 9, 300, 1e4};
    std::size_t round = 0;
    for (const std::size_t n : sizes) {
        if (sanitized && n != 1 && n != 17 && n != 49) {
            continue;
        }
        for (const std::size_t d : dims) {
            for (const Kind kind : all_kinds()) {
                for (const Mask mask : {Mask::none, Mask::causal}) {
                    Settings settings;
                    settings.kind = kind;
                    settings.mask = mask;
                    const Shape shape = {systems, n, d};
                    if (!can(kernel.c_str(), shape, settings, true, d)) {
                        continue;
                    }
                    for (std::size_t i = 0; i < 3; ++i, ++round) {
                        settings.beta = betas[round % 6];
                        compare<Real>(kernel, shape, settings, {}, all_tokens[round / 2 % 5]);
                    }
                }
            }
        }
    }
}

template <class Real>
class Kernels : public ::testing::Test {};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Kernels, Precisions);

TYPED_TEST(Kernels, ReferenceIsTheDefinition) {
    compare_all<TypeParam>("reference");
}
TYPED_TEST(Kernels, DirectIsTheDefinition) {
    compare_all<TypeParam>("direct");
}
TYPED_TEST(Kernels, EnsembleIsTheDefinitionAlsoForAnIncompleteGroupOfSystems) {
    compare_all<TypeParam>("ensemble", 21);
}
TYPED_TEST(Kernels, FusedIsTheDefinition) {
    compare_all<TypeParam>("fused");
}
TYPED_TEST(Kernels, GeneralIsTheDefinition) {
    compare_all<TypeParam>("general");
}
TYPED_TEST(Kernels, BlasIsTheDefinition) {
    compare_all<TypeParam>("blas");
}
TYPED_TEST(Kernels, CircleIsTheDefinition) {
    compare_all<TypeParam>("circle");
}

TYPED_TEST(Kernels, AreTheDefinitionOverSeveralBlocksAndTiles) {
    for (const char* kernel : {"direct", "fused", "general", "blas", "circle"}) {
        for (const std::size_t n : std::initializer_list<std::size_t>{385, 500, 777}) {
            if (sanitized && n > 385) {
                continue;
            }
            for (const std::size_t d : std::initializer_list<std::size_t>{1, 2, 3, 4, 6, 8, 11, 24}) {
                for (const Kind kind : {Kind::softmax, Kind::unnormalized}) {
                    Settings settings;
                    settings.kind = kind;
                    settings.beta = 4;
                    for (const Tokens tokens : {Tokens::unit, Tokens::raw}) {
                        if (can(kernel, {1, n, d}, settings, true, d)) {
                            compare<TypeParam>(kernel, {1, n, d}, settings, {}, tokens);
                        }
                    }
                }
            }
        }
    }
}

TYPED_TEST(Kernels, AreTheDefinitionBeyondOneStepOfDepth) {
    for (const char* kernel : {"fused", "general", "blas"}) {
        compare<TypeParam>(kernel, {1, 100, 530}, {}, {}, Tokens::unit);
    }
}

// One long token among eight of length 1 that are nearly orthogonal to it. With one shift for all rows, that of the
// long one, the largest weight of the others is 2^-depth: a float has none below 2^-149, a double none below 2^-1074.
TYPED_TEST(Kernels, AreTheDefinitionHoweverMuchLongerOneTokenIs) {
    const bool single = sizeof(TypeParam) == sizeof(float);
    const Shape shape = {16, 9, 2};
    for (int step = 0; step <= 30; ++step) {
        const double depth = single ? 40 + 4 * step : 700 + 14 * step;
        const double square = 1 + depth * std::log(2.0);  // beta = 1: a score of ln 2 is a factor of two
        std::vector<TypeParam> z;
        for (std::size_t system = 0; system < shape.systems; ++system) {
            z.insert(z.end(), {static_cast<TypeParam>(std::sqrt(square)), TypeParam{0}});
            for (int j = 1; j < 9; ++j) {
                z.insert(z.end(),
                         {static_cast<TypeParam>(std::sin(0.01 * j)), static_cast<TypeParam>(std::cos(0.01 * j))});
            }
        }
        const std::vector<double> right = definition(shape, {}, Weights<TypeParam>{}, z.data());
        for (const char* kernel : {"reference", "direct", "ensemble", "fused", "general", "blas", "auto"}) {
            std::vector<TypeParam> out(z.size());
            Attention<TypeParam> attention(shape, {}, {}, kernel);
            attention(z.data(), out.data());
            double worst = 0;
            for (std::size_t i = 0; i < out.size(); ++i) {
                worst = worse(worst, std::fabs(static_cast<double>(out[i]) - right[i]));
            }
            // Scores of the size of the depth are rounded, and so are weights.
            EXPECT_LE(worst, depth * (single ? 1.2e-6 : 2.3e-15)) << kernel << " " << depth << " " << attention.path();
        }
    }
}

// Unnormalized weights of a long token, e^(2 |z|^2 - 2) to itself, beside those of short ones: their rows differ by
// seventeen powers of ten in float and by more than two hundred in double, so each is compared with its own length.
TYPED_TEST(Kernels, EveryUnnormalizedRowIsTheDefinitionHoweverMuchSmallerThanAnother) {
    const bool single = sizeof(TypeParam) == sizeof(float);
    const Shape shape = {16, 21, 2};
    Settings settings;
    settings.kind = Kind::unnormalized;
    settings.beta = 2;
    std::vector<TypeParam> z;
    for (std::size_t token = 0; token < shape.systems * shape.tokens; ++token) {
        const double angle = 0.05 * static_cast<double>(token % shape.tokens);
        const double length = token % shape.tokens != 10 ? 1 : single ? 5 : 17;
        z.push_back(static_cast<TypeParam>(length * std::cos(angle)));
        z.push_back(static_cast<TypeParam>(length * std::sin(angle)));
    }
    const std::vector<double> right = definition(shape, settings, Weights<TypeParam>{}, z.data());
    for (const char* kernel : {"reference", "direct", "ensemble", "fused", "general", "blas", "circle", "auto"}) {
        std::vector<TypeParam> out(z.size());
        Attention<TypeParam> attention(shape, settings, {}, kernel);
        attention(z.data(), out.data());
        for (std::size_t i = 0; i < out.size(); i += 2) {
            const double error = worse(std::fabs(static_cast<double>(out[i]) - right[i]),
                                       std::fabs(static_cast<double>(out[i + 1]) - right[i + 1]));
            // Exponents as large as 70 or 800 are rounded, and so are weights.
            EXPECT_LE(error, (single ? 1e-4 : 1e-11) * std::hypot(right[i], right[i + 1]))
                << kernel << " row " << i / 2 << " " << attention.path();
        }
    }
}

// What is not known of one system says nothing about the others, whose tokens may be long. 16 systems of double are two
// groups side by side, of float one.
TYPED_TEST(Kernels, ANanInOneSystemLeavesTheOthersAsTheyAre) {
    const Shape shape = {16, 3, 2};
    for (const std::size_t broken : {std::size_t{0}, std::size_t{7}, std::size_t{15}}) {
        std::vector<TypeParam> z = draw_tokens<TypeParam>(Tokens::unit, shape.systems * shape.tokens, shape.dim);
        for (std::size_t i = 0; i < z.size(); ++i) {
            z[i] *= i % (shape.tokens * shape.dim) < shape.dim ? TypeParam{30} : TypeParam{1};
        }
        const std::vector<double> right = definition(shape, {}, Weights<TypeParam>{}, z.data());
        const std::size_t first = broken * shape.tokens * shape.dim;
        const std::size_t end = first + shape.tokens * shape.dim;
        z[first + shape.dim] = std::numeric_limits<TypeParam>::quiet_NaN();
        for (const char* kernel : {"reference", "direct", "ensemble", "fused", "general", "blas", "circle"}) {
            std::vector<TypeParam> out(z.size());
            Attention<TypeParam>(shape, {}, {}, kernel)(z.data(), out.data());
            double worst = 0;
            for (std::size_t i = 0; i < out.size(); ++i) {
                if (i < first || i >= end) {
                    worst = worse(worst, std::fabs(static_cast<double>(out[i]) - right[i]));
                } else {
                    EXPECT_TRUE(i % shape.dim != 0 || std::isnan(out[i])) << kernel << " " << broken << " " << i;
                }
            }
            // Scores of up to 30 are rounded, beside tokens of length 30.
            EXPECT_LE(worst, sizeof(TypeParam) == sizeof(float) ? 1e-2 : 1e-10) << kernel << " " << broken;
        }
    }
}

// Also over more tokens than one slot looks at.
TEST(SquareRange, IsThatOfAllTokensAndIsNotKnownWhereOneIsNot) {
    for (const std::size_t n : {std::size_t{3}, std::size_t{40'000}}) {
        std::vector<double> z(2 * n, 1.0);
        z[0] = 3;
        z[2 * n - 1] = 2;
        const SquareRange range = square_range(n, 2, z.data());
        EXPECT_EQ(range.least, 2) << n;
        EXPECT_EQ(range.most, 10) << n;
        for (const std::size_t place : {std::size_t{1}, n, 2 * n - 2}) {
            std::vector<double> broken = z;
            broken[place] = std::nan("");
            const SquareRange unknown = square_range(n, 2, broken.data());
            EXPECT_TRUE(std::isnan(unknown.least)) << n << " " << place;
            EXPECT_TRUE(std::isnan(unknown.most)) << n << " " << place;
        }
    }
}

// Orthogonal tokens of one length, so long that the rounding of a score is many powers of two: each sees itself alone.
TYPED_TEST(Kernels, TheRoundingOfLargeScoresDoesNotMakeWeightsOfNothing) {
    constexpr std::size_t n = 8;
    Settings settings;
    for (const double length : {1.1, 1.37, 1.7, 3.3, 1e6 / 3}) {
        for (const double beta : {1e8, 1e12, 1e17, 1e19, 1e21}) {
            settings.beta = beta;
            for (const char* kernel : {"direct", "ensemble", "fused", "general", "blas", "auto"}) {
                const std::size_t systems = std::string(kernel) == "ensemble" ? 16 : 1;
                std::vector<TypeParam> z(systems * n * n, TypeParam{0});
                for (std::size_t j = 0; j < systems * n; ++j) {
                    z[j * n + j % n] = static_cast<TypeParam>(length);
                }
                std::vector<TypeParam> out(z.size());
                Attention<TypeParam> attention({systems, n, n}, settings, {}, kernel);
                attention(z.data(), out.data());
                for (std::size_t i = 0; i < z.size(); ++i) {
                    const double rounding = 4 * length * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
                    ASSERT_NEAR(out[i], z[i], rounding) << kernel << " " << length << " " << beta;
                }
            }
        }
    }
}

TYPED_TEST(Kernels, ManyTokensUnderTheCausalMask) {
    Settings settings;
    settings.mask = Mask::causal;
    for (const Kind kind : all_kinds()) {
        settings.kind = kind;
        for (const char* kernel : {"general", "blas"}) {
            if (can(kernel, {1, 450, 20}, settings, true, 20)) {
                compare<TypeParam>(kernel, {1, 450, 20}, settings, {}, Tokens::unit);
            }
        }
    }
}

TYPED_TEST(Kernels, WeightsOfSeveralHeads) {
    for (const Kind kind : all_kinds()) {
        for (const Mask mask : {Mask::none, Mask::causal}) {
            Settings settings;
            settings.kind = kind;
            settings.mask = mask;
            settings.head_betas = {1, 2.5, 0.5};
            for (const char* kernel : {"reference", "general", "blas", "auto"}) {
                for (const std::size_t n : std::initializer_list<std::size_t>{1, 13, 120}) {
                    const Shape shape = {2, n, 12};
                    if (std::string(kernel) == "auto" || can(kernel, shape, settings, false, 4)) {
                        compare<TypeParam>(kernel, shape, settings, draw_weights<TypeParam>(3, 4, 12), Tokens::unit);
                    }
                }
            }
        }
    }
}

TYPED_TEST(Kernels, AutoIsTheDefinitionForEverySetting) {
    for (const Kind kind : all_kinds()) {
        for (const Mask mask : {Mask::none, Mask::causal}) {
            for (const std::size_t d : std::initializer_list<std::size_t>{1, 2, 3, 9, 40}) {
                Settings settings;
                settings.kind = kind;
                settings.mask = mask;
                settings.beta = 3;
                compare<TypeParam>("auto", {3, 50, d}, settings, {}, Tokens::unit);
                compare<TypeParam>("auto", {3, 50, d}, settings, {}, Tokens::with_zeros);
                if (!sanitized) {
                    compare<TypeParam>("auto", {1, 400, d}, settings, {}, Tokens::unit);
                }
            }
        }
    }
}

}  // namespace

}  // namespace flyball::attention::testing
