// The same bits for any number of threads.
#include <gtest/gtest.h>

#include "attention/attention.hpp"
#include "attention/kernels.hpp"
#include "core/parallel.hpp"
#include "support.hpp"

namespace flyball::attention::testing {

namespace {

template <class Real>
std::vector<Real> evaluate(const std::string& kernel, const Shape& shape, const Settings& settings,
                           const Weights<Real>& weights, Tokens tokens, int count) {
    set_threads(count);
    const std::vector<Real> z = draw_tokens<Real>(tokens, shape.systems * shape.tokens, shape.dim);
    std::vector<Real> out(z.size());
    Attention<Real> attention(shape, settings, weights, kernel);
    attention(z.data(), out.data());
    attention(z.data(), out.data());  // nothing may remain of the first evaluation
    return out;
}

template <class Real>
void same_bits(const std::string& kernel, const Shape& shape, const Settings& settings = {},
               const Weights<Real>& weights = {}, Tokens tokens = Tokens::unit) {
    const int before = threads();
    const std::vector<Real> one = evaluate<Real>(kernel, shape, settings, weights, tokens, 1);
    for (const int count : {2, 3, 5}) {
        EXPECT_EQ(evaluate<Real>(kernel, shape, settings, weights, tokens, count), one)
            << kernel << " with " << count << " threads";
    }
    set_threads(before);
}

template <class Real>
class AttentionThreads : public ::testing::Test {};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(AttentionThreads, Precisions);

TYPED_TEST(AttentionThreads, DoNotChangeTheBitsOfAnyKernel) {
    same_bits<TypeParam>("reference", {1, 150, 3});
    same_bits<TypeParam>("direct", {1, 150, 3});
    same_bits<TypeParam>("direct", {1, 1100, 3});
    same_bits<TypeParam>("fused", {1, 700, 20});
    same_bits<TypeParam>("general", {1, 700, 20});
    same_bits<TypeParam>("blas", {1, 700, 20});
    same_bits<TypeParam>("circle", {1, 5000, 2});
}

TYPED_TEST(AttentionThreads, DoNotChangeTheBitsWhenLengthsDiffer) {
    Settings settings;
    settings.beta = 50;
    same_bits<TypeParam>("direct", {1, 800, 3}, settings, {}, Tokens::raw);
    same_bits<TypeParam>("fused", {1, 400, 12}, settings, {}, Tokens::raw);
    same_bits<TypeParam>("circle", {1, 800, 2}, settings, {}, Tokens::raw);
}

TYPED_TEST(AttentionThreads, DoNotChangeTheBitsOfManySystemsOrHeads) {
    Settings settings;
    settings.head_betas = {1, 2};
    Weights<TypeParam> identity;
    identity.heads = 2;
    same_bits<TypeParam>("auto", {37, 32, 2}, settings, identity);
    same_bits<TypeParam>("general", {5, 70, 12}, settings, draw_weights<TypeParam>(2, 6, 12));
    same_bits<TypeParam>("general", {1, 600, 12}, settings, draw_weights<TypeParam>(2, 6, 12));
}

}  // namespace

}  // namespace flyball::attention::testing
