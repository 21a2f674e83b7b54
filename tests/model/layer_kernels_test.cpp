// The kernels beside their definitions, for both instruction sets and awkward sizes.
#include "model/layer_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../core/support.hpp"
#include "core/random.hpp"
#include "model/rope.hpp"
#include "model/soft_cap.hpp"
#include "model/taps.hpp"

namespace flyball::model::test {
namespace {

template <class Real>
class Kernels : public testing::Test {
  protected:
    static constexpr double bound = sizeof(Real) == 8 ? 4e-15 : 4e-7;
    std::vector<Isa> isas() const {
        std::vector<Isa> found = {Isa::plain};
        for (const Isa isa : {Isa::avx2, Isa::avx512}) {
            if (detect_isa() >= isa) {
                found.push_back(isa);
            }
        }
        return found;
    }
    std::vector<Real> random(std::size_t count, double scale, std::uint64_t seed) const {
        std::vector<Real> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = static_cast<Real>(scale * Random(seed).normal(i));
        }
        return values;
    }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Reals);

double definition(Activation activation, double x) {
    switch (activation) {
        case Activation::gelu:
            return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
        case Activation::gelu_tanh:
            return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Activation::silu:
            return x / (1 + std::exp(-x));
        case Activation::relu:
            return x > 0 ? x : 0;
    }
    return NAN;
}

TYPED_TEST(Kernels, SoftmaxIsItsDefinition) {
    for (const Isa isa : this->isas()) {
        for (const std::size_t count : std::initializer_list<std::size_t>{1, 2, 7, 8, 31, 32, 33, 63, 65, 200}) {
            for (const double scale : {0.1, 3.0, 80.0}) {
                std::vector<TypeParam> row = this->random(count, scale, count);
                double total = 0;
                double most = -INFINITY;
                for (const TypeParam x : row) {
                    most = std::max(most, static_cast<double>(x));
                }
                for (const TypeParam x : row) {
                    total += std::exp2(static_cast<double>(x) - most);
                }
                std::vector<TypeParam> got = row;
                got.resize(padded(count), TypeParam{9});
                layer_kernels<TypeParam>(isa).softmax(count, got.data());
                for (std::size_t k = 0; k < count; ++k) {
                    const double expected = std::exp2(static_cast<double>(row[k]) - most) / total;
                    EXPECT_NEAR(static_cast<double>(got[k]), expected, 4 * this->bound) << count;
                }
                for (std::size_t k = count; k < got.size(); ++k) {
                    EXPECT_EQ(got[k], TypeParam{0});
                }
            }
        }
    }
}

TYPED_TEST(Kernels, SoftmaxKeepsNotANumber) {
    for (const Isa isa : this->isas()) {
        // A NaN's payload must not be taken for an exponent.
        const auto with_payload = static_cast<TypeParam>(sizeof(TypeParam) == 8 ? std::nan("1") : std::nanf("1"));
        for (const TypeParam poison : {static_cast<TypeParam>(NAN), static_cast<TypeParam>(INFINITY), with_payload}) {
            std::vector<TypeParam> row = this->random(padded(40), 1, 3);
            row[17] = poison;
            layer_kernels<TypeParam>(isa).softmax(40, row.data());
            for (std::size_t k = 0; k < 40; ++k) {
                EXPECT_TRUE(std::isnan(row[k]));
            }
        }
        std::vector<TypeParam> row = this->random(100, 1, 4);
        row[99] = static_cast<TypeParam>(NAN);
        EXPECT_TRUE(std::isnan(layer_kernels<TypeParam>(isa).log_sum_exp(100, row.data())));
        std::fill(row.begin(), row.end(), static_cast<TypeParam>(-INFINITY));
        EXPECT_EQ(layer_kernels<TypeParam>(isa).log_sum_exp(100, row.data()), -INFINITY) << "a sum of nothing";
        row[99] = static_cast<TypeParam>(NAN);
        EXPECT_TRUE(std::isnan(layer_kernels<TypeParam>(isa).log_sum_exp(100, row.data())));
        row[99] = static_cast<TypeParam>(INFINITY);
        EXPECT_TRUE(std::isnan(layer_kernels<TypeParam>(isa).log_sum_exp(100, row.data())));
    }
}

TYPED_TEST(Kernels, SoftmaxReverseIsTheTransposedJacobian) {
    for (const Isa isa : this->isas()) {
        for (const std::size_t count : std::initializer_list<std::size_t>{1, 5, 16, 33}) {
            std::vector<TypeParam> weights = this->random(padded(count), 1, 5);
            layer_kernels<TypeParam>(isa).softmax(count, weights.data());
            const std::vector<TypeParam> grad = this->random(count, 1, 6);
            std::vector<TypeParam> got = grad;
            layer_kernels<TypeParam>(isa).softmax_reverse(count, weights.data(), got.data());
            for (std::size_t i = 0; i < count; ++i) {
                double expected = 0;
                for (std::size_t j = 0; j < count; ++j) {
                    const double w =
                        static_cast<double>(weights[j]) * ((i == j ? 1.0 : 0.0) - static_cast<double>(weights[i]));
                    expected += w * static_cast<double>(grad[j]);
                }
                EXPECT_NEAR(static_cast<double>(got[i]), expected, 4 * this->bound);
            }
        }
    }
}

TYPED_TEST(Kernels, ActivationsAndTheirSlopesAreTheDefinitions) {
    for (const Isa isa : this->isas()) {
        const LayerKernels<TypeParam>& kernels = layer_kernels<TypeParam>(isa);
        for (const Activation activation :
             {Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu}) {
            for (const std::size_t count : std::initializer_list<std::size_t>{1, 3, 8, 77}) {
                std::vector<TypeParam> x = this->random(count, 4, 7);
                x[0] = static_cast<TypeParam>(-30);
                std::vector<TypeParam> value(count);
                std::vector<TypeParam> slope(count);
                std::vector<TypeParam> gated(count);
                const std::vector<TypeParam> up = this->random(count, 1, 8);
                kernels.activate(activation, count, x.data(), value.data());
                kernels.slope(activation, count, x.data(), slope.data());
                kernels.gate(activation, count, x.data(), up.data(), gated.data());
                std::vector<TypeParam> both = x;
                std::vector<TypeParam> both_value(count);
                kernels.activate_and_slope(activation, count, both.data(), both_value.data());
                for (std::size_t i = 0; i < count; ++i) {
                    const auto at = static_cast<double>(x[i]);
                    const double expected = definition(activation, at);
                    const double h = 1e-4;
                    const double slope_expected =
                        (8 * (definition(activation, at + h) - definition(activation, at - h)) -
                         (definition(activation, at + 2 * h) - definition(activation, at - 2 * h))) /
                        (12 * h);
                    const double size = 1 + std::fabs(at);
                    EXPECT_NEAR(static_cast<double>(value[i]), expected, this->bound * size) << name(activation);
                    EXPECT_NEAR(static_cast<double>(gated[i]), expected * static_cast<double>(up[i]),
                                2 * this->bound * size * (1 + std::fabs(static_cast<double>(up[i]))));
                    EXPECT_NEAR(static_cast<double>(slope[i]), slope_expected, 4 * this->bound * size + 1e-10)
                        << name(activation) << " at " << at;
                    EXPECT_EQ(both_value[i], value[i]) << name(activation) << " at " << at;
                    EXPECT_NEAR(static_cast<double>(both[i]), slope_expected, 4 * this->bound * size + 1e-10)
                        << name(activation) << " at " << at;
                }
                x[count / 2] = static_cast<TypeParam>(NAN);
                kernels.activate(activation, count, x.data(), value.data());
                EXPECT_TRUE(std::isnan(value[count / 2])) << name(activation);
            }
        }
    }
}

TYPED_TEST(Kernels, LogSumExpIsItsDefinition) {
    for (const Isa isa : this->isas()) {
        for (const std::size_t count : std::initializer_list<std::size_t>{1, 6, 8, 100, 5000}) {
            std::vector<TypeParam> row = this->random(count, 5, 11);
            double total = 0;
            for (const TypeParam x : row) {
                total += std::exp(static_cast<double>(x));
            }
            const double got = layer_kernels<TypeParam>(isa).log_sum_exp(count, row.data());
            EXPECT_NEAR(got, std::log(total), 10 * this->bound);
            for (TypeParam& x : row) {
                x += static_cast<TypeParam>(500);  // e^500 overflows a float
            }
            EXPECT_NEAR(layer_kernels<TypeParam>(isa).log_sum_exp(count, row.data()), std::log(total) + 500,
                        500 * this->bound);
            layer_kernels<TypeParam>(isa).exponentials(count, static_cast<TypeParam>(got + 500), TypeParam{2},
                                                       row.data());
            double sum = 0;
            for (const TypeParam x : row) {
                sum += static_cast<double>(x);
            }
            EXPECT_NEAR(sum, 2, 1000 * this->bound);
        }
    }
}

// By transformers' formula in Python: of 32 channels those below 22 are kept, and the ramp would end at 35.
TEST(Rope, TheRampOfYarnMayEndBeyondTheLastChannel) {
    Rope rope;
    rope.dims = 64;
    rope.scaling = Rope::Scaling::yarn;
    rope.factor = 4;
    rope.original_positions = 131072;
    const std::vector<double> frequencies = rope_frequencies<double>(rope, 10);
    ASSERT_EQ(frequencies.size(), 32U);
    EXPECT_NEAR(frequencies[21], 0.0023713737056616554, 1e-16);
    EXPECT_NEAR(frequencies[25], 0.0006201048269479923, 1e-17);
    EXPECT_NEAR(frequencies[31], 6.411160731554444e-05, 1e-18);
}

TEST(Rope, TurnsPairsByThePositionTimesTheFrequency) {
    Rope rope;
    rope.dims = 4;
    rope.theta = 100;
    const RopeTable<double> table(rope, 6);
    // Pairs are channels 0 and 2, 1 and 3; what follows is beyond the rotary channels.
    std::vector<double> x = {1, 2, 0, 0, 7, 0};
    turn(table, 5, 1, 6, x.data(), false);
    EXPECT_NEAR(x[0], std::cos(5.0), 1e-15);
    EXPECT_NEAR(x[2], std::sin(5.0), 1e-15);
    EXPECT_NEAR(x[1], 2 * std::cos(0.5), 1e-15);
    EXPECT_NEAR(x[3], 2 * std::sin(0.5), 1e-15);
    EXPECT_EQ(x[4], 7);
    turn(table, 5, 1, 6, x.data(), true);
    EXPECT_NEAR(x[0], 1, 1e-15);
    EXPECT_NEAR(x[3], 0, 1e-15);
}

// GPT-NeoX's share of a head may be odd: torch.arange(0, 3, 2) / 3 has two frequencies, of 0 and 2/3.
TEST(Rope, AnOddNumberOfChannelsIsRoundedUpAndCountedAsItIs) {
    Rope rope;
    rope.dims = 4;
    rope.odd = true;
    rope.theta = 1000;
    const std::vector<double> frequencies = rope_frequencies<double>(rope, 1);
    ASSERT_EQ(frequencies.size(), 2U);
    EXPECT_NEAR(frequencies[0], 1, 1e-15);
    EXPECT_NEAR(frequencies[1], 0.01, 1e-15);  // 1000^(-2/3)
}

TEST(Rope, BlocksWithAWindowMayTurnOtherwise) {
    Architecture a;
    a.head_dim = 2;
    a.rope.dims = 2;
    a.windows = {0, 3};
    const RopeTables<double> alike(a, 2);
    EXPECT_EQ(&alike.of(a, 0), &alike.of(a, 1));
    a.window_rope = Rope{.dims = 2, .scaling = Rope::Scaling::linear, .factor = 4};
    const RopeTables<double> tables(a, 2);
    EXPECT_NEAR(tables.of(a, 0).sine[1], std::sin(1.0), 1e-15);
    EXPECT_NEAR(tables.of(a, 1).sine[1], std::sin(0.25), 1e-15);
}

template <class Real>
void expect_soft_cap(double tolerance) {
    std::vector<Real> row;
    for (int k = -300; k <= 300; ++k) {  // more than one strip, small and large
        row.push_back(static_cast<Real>(std::pow(std::fabs(k) / 60.0, 5) * (k < 0 ? -1 : 1)));
    }
    const std::vector<Real> before = row;
    soft_cap<Real>(row.size(), 30, row.data());
    std::vector<Real> slopes(row.size());
    soft_cap_slope<Real>(row.size(), 30, row.data(), slopes.data());
    for (std::size_t k = 0; k < row.size(); ++k) {
        const double expected = 30 * std::tanh(static_cast<double>(before[k]));
        EXPECT_NEAR(static_cast<double>(row[k]), expected, tolerance * std::fabs(expected));
        EXPECT_NEAR(static_cast<double>(slopes[k]), 1 - std::pow(std::tanh(static_cast<double>(before[k])), 2),
                    3 * tolerance);
    }
    std::vector<Real> strange = {static_cast<Real>(NAN), static_cast<Real>(INFINITY), static_cast<Real>(-INFINITY)};
    soft_cap<Real>(3, 30, strange.data());
    EXPECT_TRUE(std::isnan(strange[0]));
    EXPECT_EQ(strange[1], 30);
    EXPECT_EQ(strange[2], -30);
}

TEST(SoftCap, IsTheCapTimesTanhToTheLastDigits) {
    expect_soft_cap<double>(2e-15);
    expect_soft_cap<float>(6e-7F);
}

TEST(Taps, UnknownNamesAreErrorsThatSuggest) {
    Taps<float> taps;
    const auto nothing = [](const TapView<float>&) {};
    EXPECT_ERROR(taps.add("blocks.*.attn.patern", nothing), "did you mean blocks.*.attn.pattern?");
    EXPECT_ERROR(taps.add("blocks.-1.resid", nothing), "the unknown tap");
    EXPECT_ERROR(taps.add("blocks.2", nothing), "the unknown tap");
    EXPECT_ERROR(taps.add("resid", nothing), "the unknown tap");
    taps.add("blocks.2.resid", nothing);
    EXPECT_TRUE(taps.wants(Site::resid, 2));
    EXPECT_FALSE(taps.wants(Site::resid, 1));
    EXPECT_FALSE(taps.wants(Site::pattern, 2));
}

}  // namespace
}  // namespace flyball::model::test
