// The heads of attention and their gradients against the definition, written as plain loops in double.
#include "model/heads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/random.hpp"

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

// out_i = sum_j p_ij v_j,  p = softmax over the j that i sees of scale q_i k_j;  with g the gradient of out:
// dp_ij = g_i v_j,  ds_ij = p_ij (dp_ij - sum_j p_ij dp_ij),  dq_i = scale sum_j ds_ij k_j, and so on.
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
                double total = 0;
                for (std::size_t j = begin; j < end; ++j) {
                    double score = 0;
                    for (std::size_t k = 0; k < d; ++k) {
                        score += shape.scale * qkv[query(i) + k] * qkv[key(j) + k];
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
                    const double ds = shape.scale * p[j] * (dp[j] - along);
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
            worst = difference <= worst ? worst : difference;  // NaN counts
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

}  // namespace
}  // namespace flyball::model
