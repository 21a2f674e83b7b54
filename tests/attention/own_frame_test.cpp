// The part of attention that turns a token, against numbers of 150 digits and against the definition.
#include "attention/own_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support.hpp"

namespace flyball::attention {
namespace {

// Three unit vectors with rational coordinates: the nearest doubles turn by 1e-16, which changes no expectation below.
const std::vector<double> rational = {3.0 / 5, 4.0 / 5, 0, -5.0 / 13, 12.0 / 13, 0, 2.0 / 3, 2.0 / 3, 1.0 / 3};

struct Expected {
    Kind kind;
    double beta;
    Mask mask;
    std::array<double, 3> scale;
    std::array<double, 3> along;
    std::array<double, 9> across;
};

// By mpmath with 150 digits: A_j from the definition in attention.hpp, along = <A_j, theta_j>, across = A_j - along
// theta_j.
const std::vector<Expected>& expectations() {
    static const std::vector<Expected> table = {
        {Kind::softmax,
         60,
         Mask::none,
         {1, 1, 1},
         {0.998800919335789, 0.9999999999999269, 0.9988009193358606},
         {0.001918529062522337, -0.001438896796891753, 0.005995403320696312,   //
          1.180810702625159e-13, 4.920044594271494e-14, 6.59545597768586e-18,  //
          -0.0003996935547131578, 0.003197548437705179, -0.005595709765984042}},
        {Kind::softmax,
         60,
         Mask::none,
         {1, 1.5, 1.25},
         {1.166659100343974, 1.5, 1.24999999998465},
         {0.1333272802517824, -0.0999954601888368, 0.4166477508764781,          //
          1.310349475960218e-39, 5.459789483167576e-40, 3.379475611767858e-42,  //
          -1.077193045791855e-12, 8.617544366291787e-12, -1.508070264099986e-11}},
        {Kind::unnormalized,
         200,
         Mask::none,
         {1, 1, 1},
         {0.3333338372078909, 0.3333333333333333, 0.3333338372078909},
         {5.75856637266706e-8, -4.318924779500295e-8, 1.799551991458456e-7,    //
          4.592915716255706e-44, 1.913714881773211e-44, 2.32797203699317e-57,  //
          -1.199701327638971e-8, 9.597610621111767e-8, -1.679581858694559e-7}},
        {Kind::ssmax,
         60,
         Mask::causal,
         {1, 1, 1},
         {1, 0.9999999993686449, 0.9991869918699187},
         {0, 0, 0,                                       //
          1.0198812667433e-9, 4.249505278097085e-10, 0,  //
          -0.0002710027100271005, 0.002168021680216802, -0.003794037940379404}},
        {Kind::sigmoid,
         0,
         Mask::none,
         {1, 1, 1},
         {0.6102564102564103, 0.4666666666666667, 0.5730769230769231},
         {-0.1456410256410256, 0.1092307692307692, 0.08333333333333333,  //
          0.4, 0.1666666666666667, 0.08333333333333333,                  //
          -0.1615384615384615, 0.2153846153846154, -0.1076923076923077}},
    };
    return table;
}

TEST(OwnFrame, TheTurningPartHasAllItsDigitsHoweverSmallItIs) {
    for (const Expected& expected : expectations()) {
        Settings settings;
        settings.kind = expected.kind;
        settings.beta = expected.beta;
        settings.mask = expected.mask;
        std::array<double, 3> along{};
        std::array<double, 9> across{};
        attend_in_own_frame({1, 3, 3}, settings, rational.data(), expected.scale.data(), nullptr,
                            {along.data(), across.data(), nullptr, nullptr});
        for (std::size_t j = 0; j < 3; ++j) {
            EXPECT_NEAR(along[j], expected.along[j], 1e-13) << name(expected.kind) << " token " << j;
            double largest = 0;  // a component may be small beside the others; the vector has the digits
            for (std::size_t c = 0; c < 3; ++c) {
                largest = std::max(largest, std::fabs(expected.across[3 * j + c]));
            }
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_NEAR(across[3 * j + c], expected.across[3 * j + c], 1e-12 * largest)
                    << name(expected.kind) << " beta " << expected.beta << " token " << j << " component " << c;
            }
        }
    }
}

std::vector<double> unit_rows(std::size_t rows, std::size_t dim, std::uint64_t seed) {
    std::vector<double> theta(rows * dim);
    Random(seed, 0).fill_normal(theta);
    for (std::size_t row = 0; row < rows; ++row) {
        double squares = 0;
        for (std::size_t c = 0; c < dim; ++c) {
            squares += theta[row * dim + c] * theta[row * dim + c];
        }
        for (std::size_t c = 0; c < dim; ++c) {
            theta[row * dim + c] /= std::sqrt(squares);
        }
    }
    return theta;
}

TEST(OwnFrame, BothPartsTogetherAreAttentionForEveryKindAndMask) {
    const Shape shape{2, 7, 4};
    const std::vector<double> theta = unit_rows(14, 4, 3);
    std::vector<double> scale(14);
    std::vector<double> z(theta);
    for (std::size_t row = 0; row < 14; ++row) {
        scale[row] = 0.5 + 0.1 * static_cast<double>(row);
        for (std::size_t c = 0; c < 4; ++c) {
            z[row * 4 + c] *= scale[row];
        }
    }
    for (const std::string& kind : kind_names()) {
        for (const Mask mask : {Mask::none, Mask::causal}) {
            Settings settings;
            settings.kind = kind_from_name(kind);
            settings.mask = mask;
            settings.beta = 2.5;
            const std::vector<double> expected = testing::definition(shape, settings, Weights<double>{}, z.data());
            std::vector<double> along(14);
            std::vector<double> across(14 * 4);
            attend_in_own_frame(shape, settings, theta.data(), scale.data(), nullptr,
                                {along.data(), across.data(), nullptr, nullptr});
            for (std::size_t i = 0; i < expected.size(); ++i) {
                EXPECT_NEAR(along[i / 4] * theta[i] + across[i], expected[i], 1e-13) << kind << " " << name(mask);
            }
        }
    }
}

TEST(OwnFrame, TokensOfOneDirectionDoNotTurnEachOther) {
    const std::vector<double> theta = {0.6, 0.8, 0.6, 0.8, 0.6, 0.8, -0.6, -0.8};
    const std::vector<double> scale = {1, 2, 0.5, 1};
    const std::vector<std::size_t> group = {0, 0, 2, 3};
    Settings settings;
    std::vector<double> across(8, 1.0);
    std::vector<double> log_divisor(4);
    std::vector<double> tie(4);
    attend_in_own_frame({1, 4, 2}, settings, theta.data(), scale.data(), group.data(),
                        {nullptr, across.data(), log_divisor.data(), tie.data()});
    for (const double part : across) {
        EXPECT_EQ(part, 0);  // not even by a rounding error: the last of them looks exactly the other way
    }
    // Z_0 = e^1 + e^2 + e^0.5 + e^-1; token 0 is tied to token 1 alone, by w_01 c_1 = 2 e^2/Z_0.
    const double Z = std::exp(1) + std::exp(2) + std::exp(0.5) + std::exp(-1);
    EXPECT_NEAR(log_divisor[0], std::log(Z), 1e-14);
    EXPECT_NEAR(tie[0], 2 * std::exp(2) / Z, 1e-14);
    EXPECT_EQ(tie[2], 0);
}

// Two systems of the same tokens; only in the second are the first two one group.
TEST(OwnFrame, TiesAreThoseOfTheGroupsOfTheirOwnSystem) {
    const std::vector<double> theta = {0.6, 0.8, 0.6, 0.8, -0.6, -0.8, 0.6, 0.8, 0.6, 0.8, -0.6, -0.8};
    const std::vector<double> scale = {1, 2, 1, 1, 2, 1};
    const std::vector<std::size_t> group = {0, 1, 2, 3, 3, 5};
    std::vector<double> tie(6, -1.0);
    attend_in_own_frame({2, 3, 2}, Settings{}, theta.data(), scale.data(), group.data(),
                        {nullptr, nullptr, nullptr, tie.data()});
    // Token 0 sees tokens 0, 1 and 2 with e^1, e^2 and e^-1, token 1 with e^2, e^4 and e^-2.
    const std::vector<double> expected = {0,
                                          0,
                                          0,
                                          2 * std::exp(2) / (std::exp(1) + std::exp(2) + std::exp(-1)),
                                          std::exp(2) / (std::exp(2) + std::exp(4) + std::exp(-2)),
                                          0};
    for (std::size_t row = 0; row < 6; ++row) {
        EXPECT_NEAR(tie[row], expected[row], 1e-14) << row;
    }
}

}  // namespace
}  // namespace flyball::attention
