// The way back through every kind of weights is the derivative of the way there: finite differences, kind by kind.
#include "attention/row_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace flyball::attention {
namespace {

std::vector<double> weights_of(Kind kind, double beta, std::vector<double> scores) {
    std::vector<double> room;
    row_weights(kind, beta, scores.size() + 3, scores.size(), scores.data(), room);
    return scores;
}

TEST(RowWeights, ReverseIsTheDerivativeForEveryKind) {
    for (const std::string& name : kind_names()) {
        const Kind kind = kind_from_name(name);
        for (const std::size_t count : {1UL, 2UL, 7UL, 30UL}) {
            for (const double beta : {0.3, 1.7}) {
                std::vector<double> scores(count);
                std::vector<double> along(count);
                for (std::size_t k = 0; k < count; ++k) {
                    scores[k] = Random(1).normal(k);
                    along[k] = Random(2).normal(k);
                }
                const std::vector<double> weights = weights_of(kind, beta, scores);
                std::vector<double> grad = along;
                row_weights_reverse(kind, beta, count, weights.data(), grad.data());
                for (std::size_t k = 0; k < count; ++k) {
                    const auto moved = [&](double by) {
                        std::vector<double> there = scores;
                        there[k] += by;
                        const std::vector<double> w = weights_of(kind, beta, there);
                        double sum = 0;
                        for (std::size_t i = 0; i < count; ++i) {
                            sum += w[i] * along[i];
                        }
                        return sum;
                    };
                    const double step = 1e-6;
                    EXPECT_NEAR(grad[k], (moved(step) - moved(-step)) / (2 * step), 1e-8)
                        << name << ", " << count << " scores, beta " << beta << ", score " << k;
                }
            }
        }
    }
}

TEST(RowWeights, NothingFlowsBackToAWeightOfZero) {
    const std::vector<double> scores = {3, 2.9, -1, -4};
    for (const Kind kind : {Kind::sparsemax, Kind::entmax15}) {
        const std::vector<double> weights = weights_of(kind, 1, scores);
        std::vector<double> grad = {1, -2, 5, 7};
        row_weights_reverse(kind, 1, 4, weights.data(), grad.data());
        EXPECT_GT(weights[1], 0);
        EXPECT_EQ(weights[2], 0);
        EXPECT_NEAR(grad[0], -grad[1], 1e-12);
        EXPECT_NE(grad[0], 0);
        EXPECT_EQ(grad[2], 0);
        EXPECT_EQ(grad[3], 0);
    }
}

}  // namespace
}  // namespace flyball::attention
