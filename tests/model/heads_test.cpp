// The heads of attention and their gradients against the definition, written as plain loops in double.
#include "model/heads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "sanitized.hpp"

namespace flyball::model {
namespace {

using Numbers = std::vector<double>;

Numbers random_numbers(std::size_t count, std::uint64_t stream) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = Random(17, stream).normal(i);
    }
    return numbers;
}

struct Expected {
    Numbers out;       // [rows, heads * head_dim]
    Numbers grad_qkv;  // [rows, stride]
};

// out_i = sum_j p_ij v_j,  p = softmax over the j that i sees of s_ij = scale q_i k_j, or of c tanh(s_ij/c) under a
// cap; with g the gradient of out: dp_ij = g_i v_j,  ds_ij = p_ij (dp_ij - sum_j p_ij dp_ij), times 1 - tanh^2(s_ij/c)
// under a cap,  dq_i = scale sum_j ds_ij k_j, and so on.
Expected by_definition(const HeadsShape& shape, const Numbers& qkv, const Numbers& grad_out) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t d = shape.head_dim;
    const std::size_t stride = shape.stride();
    const std::size_t width = shape.heads * d;
    Expected expected{Numbers(shape.batch.rows() * width, 0.0), Numbers(qkv.size(), 0.0)};
    for (std::size_t s = 0; s < shape.batch.sequences; ++s) {
        for (std::size_t head = 0; head < shape.heads; ++head) {
            const std::size_t group = head * shape.kv_heads / shape.heads;
            const auto query = [&](std::size_t i) { return (s * tokens + i) * stride + head * d; };
            const auto key = [&](std::size_t j) { return (s * tokens + j) * stride + (shape.heads + group) * d; };
            const auto value = [&](std::size_t j) { return key(j) + shape.kv_heads * d; };
            for (std::size_t i = 0; i < tokens; ++i) {
                const std::size_t begin = shape.window > 0 && i + 1 > shape.window ? i + 1 - shape.window : 0;
                const std::size_t end = shape.causal ? i + 1 : tokens;
                const std::size_t out = (s * tokens + i) * width + head * d;
                Numbers p(end, 0.0);
                Numbers slope(end, 1.0);
                double total = 0;
                for (std::size_t j = begin; j < end; ++j) {
                    double score = 0;
                    for (std::size_t k = 0; k < d; ++k) {
                        score += shape.scale * qkv[query(i) + k] * qkv[key(j) + k];
                    }
                    if (shape.cap > 0) {
                        slope[j] = 1 / std::pow(std::cosh(score / shape.cap), 2);
                        score = shape.cap * std::tanh(score / shape.cap);
                    }
                    p[j] = std::exp(score);
                    total += p[j];
                }
                Numbers dp(end, 0.0);
                double along = 0;
                for (std::size_t j = begin; j < end; ++j) {
                    p[j] /= total;
                    for (std::size_t k = 0; k < d; ++k) {
                        expected.out[out + k] += p[j] * qkv[value(j) + k];
                        dp[j] += grad_out[out + k] * qkv[value(j) + k];
                    }
                    along += p[j] * dp[j];
                }
                for (std::size_t j = begin; j < end; ++j) {
                    const double ds = shape.scale * slope[j] * p[j] * (dp[j] - along);
                    for (std::size_t k = 0; k < d; ++k) {
                        expected.grad_qkv[query(i) + k] += ds * qkv[key(j) + k];
                        expected.grad_qkv[key(j) + k] += ds * qkv[query(i) + k];
                        expected.grad_qkv[value(j) + k] += p[j] * grad_out[out + k];
                    }
                }
            }
        }
    }
    return expected;
}

template <class Real>
class HeadsOf : public testing::Test {
  protected:
    static double tolerance() { return sizeof(Real) == 4 ? 3e-5 : 1e-12; }

    // With softmax's numbers kept from the way there, and without.
    static void expect_definition(const HeadsShape& shape, const std::string& what) {
        const Numbers qkv = random_numbers(shape.batch.rows() * shape.stride(), 1);
        const Numbers grad_out = random_numbers(shape.batch.rows() * shape.heads * shape.head_dim, 2);
        const Expected expected = by_definition(shape, qkv, grad_out);
        const std::vector<Real> in(qkv.begin(), qkv.end());
        const std::vector<Real> grad(grad_out.begin(), grad_out.end());
        const Real nan = std::numeric_limits<Real>::quiet_NaN();
        std::vector<Real> out(grad.size(), nan);
        std::vector<SoftmaxScale<Real>> scales(shape.batch.rows() * shape.heads);
        attend(shape, in.data(), out.data(), 0, Taps<Real>(), scales.data());
        expect_near(out, expected.out, what + ", out");
        std::vector<Real> grad_qkv(in.size(), nan);
        attend_reverse(shape, in.data(), grad.data(), grad_qkv.data(), scales.data());
        expect_near(grad_qkv, expected.grad_qkv, what + ", gradient");
        std::vector<Real> without(in.size(), nan);
        attend_reverse<Real>(shape, in.data(), grad.data(), without.data());
        EXPECT_EQ(without, grad_qkv) << what;
    }
    static void expect_near(const std::vector<Real>& found, const Numbers& expected, const std::string& what) {
        double worst = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const double difference = std::fabs(static_cast<double>(found[i]) - expected[i]);
            worst = std::isnan(worst) || difference <= worst ? worst : difference;  // NaN counts
        }
        EXPECT_LT(worst, tolerance()) << what;
    }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(HeadsOf, Reals);

HeadsShape shape_of(Batch batch, std::size_t heads, std::size_t kv_heads, std::size_t head_dim) {
    HeadsShape shape;
    shape.batch = batch;
    shape.heads = heads;
    shape.kv_heads = kv_heads;
    shape.head_dim = head_dim;
    shape.scale = 1 / std::sqrt(static_cast<double>(head_dim));
    return shape;
}

// 256 is the longest that keeps all weights of a head on the way back; blocks have 32 rows up to 512 tokens.
TYPED_TEST(HeadsOf, EqualTheDefinitionAtEveryKindOfLength) {
    for (const std::size_t tokens : {1U, 2U, 31U, 32U, 33U, 100U, 256U, 257U, 300U, 530U}) {
        if (sanitized && tokens > 257) {
            continue;
        }
        for (const bool causal : {true, false}) {
            HeadsShape shape = shape_of({tokens > 200 ? 1U : 3U, tokens}, 2, 2, 32);
            shape.causal = causal;
            this->expect_definition(shape, std::to_string(tokens) + (causal ? " causal" : " both ways"));
        }
    }
}

TYPED_TEST(HeadsOf, EqualTheDefinitionWhereHeadsShareKeysAndAtOddWidths) {
    for (const std::size_t tokens : {50U, 270U}) {
        this->expect_definition(shape_of({2, tokens}, 4, 2, 32), "two heads a key");
        this->expect_definition(shape_of({1, tokens}, 6, 1, 8), "six heads a key");
        this->expect_definition(shape_of({1, tokens}, 3, 3, 7), "width 7");
        this->expect_definition(shape_of({1, tokens}, 1, 1, 64), "width 64");
    }
}

TYPED_TEST(HeadsOf, EqualTheDefinitionThroughAWindow) {
    for (const std::size_t tokens : {40U, 270U}) {
        for (const std::size_t window : {1U, 5U, 33U, 64U, 1000U}) {
            HeadsShape shape = shape_of({1, tokens}, 2, 2, 32);
            shape.window = window;
            this->expect_definition(shape, std::to_string(tokens) + " through " + std::to_string(window));
        }
    }
}

// Scores reach three deviations: a cap of 0.8 bends nearly all, one of 40 hardly any, and small scores keep their
// digits.
TYPED_TEST(HeadsOf, EqualTheDefinitionUnderASoftCap) {
    for (const std::size_t tokens : {1U, 33U, 256U, 270U}) {
        for (const double cap : {0.8, 4.0, 40.0}) {
            if (sanitized && tokens > 200 && cap > 1) {
                continue;
            }
            for (const std::size_t window : {0U, 5U}) {
                HeadsShape shape = shape_of({2, tokens}, 4, 2, 8);
                shape.cap = cap;
                shape.window = window;
                this->expect_definition(shape, std::to_string(tokens) + " capped at " + std::to_string(cap));
            }
        }
    }
    HeadsShape both_ways = shape_of({1, 50}, 2, 2, 8);
    both_ways.cap = 1;
    both_ways.causal = false;
    this->expect_definition(both_ways, "both ways");
}

// The last token of a growing text, and what taps are shown: scores after the cap.
TYPED_TEST(HeadsOf, CapTheLastTokenAndTheScoresThatAreShown) {
    using Real = TypeParam;
    const std::size_t tokens = 21;
    HeadsShape shape = shape_of({1, tokens}, 2, 1, 8);
    shape.cap = 1.5;
    const Numbers qkv = random_numbers(shape.batch.rows() * shape.stride(), 3);
    const Numbers none(tokens * 16, 0.0);
    const Numbers expected = by_definition(shape, qkv, none).out;
    const std::vector<Real> in(qkv.begin(), qkv.end());
    std::vector<Real> keys;
    std::vector<Real> values;
    for (std::size_t i = 0; i < tokens; ++i) {
        keys.insert(keys.end(), in.begin() + static_cast<std::ptrdiff_t>(i * 32 + 16),
                    in.begin() + static_cast<std::ptrdiff_t>(i * 32 + 24));
        values.insert(values.end(), in.begin() + static_cast<std::ptrdiff_t>(i * 32 + 24),
                      in.begin() + static_cast<std::ptrdiff_t>(i * 32 + 32));
    }
    std::vector<Real> last(16);
    attend_last(shape, in.data() + (tokens - 1) * 32, keys.data(), values.data(), last.data());
    for (std::size_t k = 0; k < 16; ++k) {
        EXPECT_NEAR(static_cast<double>(last[k]), expected[(tokens - 1) * 16 + k], this->tolerance());
    }
    double largest = 0;
    Taps<Real> taps;
    taps.add("blocks.0.attn.scores", [&](const TapView<Real>& view) {
        for (std::size_t i = 0; view.head == 1 && i < view.rows; ++i) {
            double score = 0;  // of the first key
            for (std::size_t k = 0; k < 8; ++k) {
                score += shape.scale * qkv[(view.first_row + i) * 32 + 8 + k] * qkv[16 + k];
            }
            EXPECT_NEAR(static_cast<double>(view.row(i)[0]), 1.5 * std::tanh(score / 1.5), 1e-5);
            largest = std::max(largest, std::fabs(score));
        }
    });
    std::vector<Real> out(tokens * 16);
    attend(shape, in.data(), out.data(), 0, taps);
    EXPECT_GT(largest, 1) << "a score that the cap bends was seen";
}

}  // namespace
}  // namespace flyball::model
