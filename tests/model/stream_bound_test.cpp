// What an equation promises about the length of its stream, said by hand for each kind of wiring.
#include "model/stream_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny.hpp"

namespace flyball::model {
namespace {

StreamBound bound_of(const std::string& equation, double dt = 1, const std::string& norm = "rmsnorm") {
    Architecture a = test::tiny_architecture(equation);
    a.dt = dt;
    a.norm = norm;
    a.norm_bias = false;
    return stream_bound(test::tiny_model<float>(a, 3, false), 7);
}

TEST(StreamBound, OfABlockThatEndsInANormIsItsGains) {
    EXPECT_EQ(bound_of("norm(x + dt*f(x))"), StreamBound::bounded);
    EXPECT_EQ(bound_of("unit(x + dt*(unit(f(x)) - x))"), StreamBound::bounded);
    EXPECT_EQ(bound_of("norm(3*x + dt*f(x))"), StreamBound::bounded);
    EXPECT_EQ(bound_of("norm(x + dt*f(x))", 1, "dyt"), StreamBound::bounded);
}

TEST(StreamBound, OfBranchesThatPassANormIsLinear) {
    EXPECT_EQ(bound_of("x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::linear);
    EXPECT_EQ(bound_of("x + dt*norm(f(x)) | norm(x)"), StreamBound::linear);
    EXPECT_EQ(bound_of("x + dt*tanh(f(norm(x))) | norm(x)"), StreamBound::linear);
    EXPECT_EQ(bound_of("x + dt*norm(attn(norm(x))) + dt*norm(ffn(norm(x))) | norm(x)"), StreamBound::linear);
}

TEST(StreamBound, OfASkipBelowOneIsAGeometricSumAndAboveOneAPower) {
    EXPECT_EQ(bound_of("0.9*x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::bounded);
    EXPECT_EQ(bound_of("1.1*x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::exponential);
    EXPECT_EQ(bound_of("0.999*x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::bounded);
    EXPECT_EQ(bound_of("1.001*x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::exponential);
    EXPECT_EQ(bound_of("-1.1*x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::exponential);
}

// One channel above 1 is enough, however small the others are.
TEST(StreamBound, GoesByTheLargestChannelOfACoefficient) {
    const Architecture a = test::tiny_architecture("a*x + dt*norm(f(norm(x))) | norm(x) where ~a[d] = 0.1");
    Model<float> model = test::tiny_model<float>(a, 3, false);
    EXPECT_EQ(stream_bound(model, 7), StreamBound::bounded);
    for (const int parameter : model.layout().blocks[2].learned) {  // of attention and of the FFN
        model.parameters()->at(parameter)[5] = -1.5F;
    }
    EXPECT_EQ(stream_bound(model, 7), StreamBound::exponential);
}

TEST(StreamBound, OfACoefficientThatIsNoNumberIsUnknown) {
    for (const char* const equation : {"a*x + dt*norm(f(norm(x))) | norm(x) where ~a[d] = 0.1",
                                       "0.5*x + a*norm(f(norm(x))) | norm(x) where ~a[d] = 0.1",
                                       "0.5*x + dt*norm(f(norm(x))) + a | norm(x) where ~a[d] = 0.1"}) {
        Model<float> model = test::tiny_model<float>(test::tiny_architecture(equation), 3, false);
        EXPECT_EQ(stream_bound(model, 7), StreamBound::bounded);
        for (const int parameter : model.layout().blocks[2].learned) {
            model.parameters()->at(parameter)[5] = NAN;
        }
        EXPECT_EQ(stream_bound(model, 7), StreamBound::none) << equation;
    }
}

// ReZero begins so: a branch that may be of any length, times 0, is 0, and what is left is the skip.
TEST(StreamBound, OfABranchTimesZeroIsThatOfTheRest) {
    EXPECT_EQ(bound_of("0.5*x + 0*f(norm(x)) | norm(x)"), StreamBound::bounded);
    EXPECT_EQ(bound_of("0.5*x + a*f(norm(x)) | norm(x) where a = 0"), StreamBound::bounded);
    for (const auto& [skip, bound] :
         {std::pair{"0.5", StreamBound::bounded}, {"1", StreamBound::linear}, {"1.5", StreamBound::exponential}}) {
        const std::string equation = std::string(skip) + "*x + a*f(norm(x)) | norm(x) where ~a[d] = 0";
        Model<float> model = test::tiny_model<float>(test::tiny_architecture(equation), 3, false);
        EXPECT_EQ(stream_bound(model, 7), bound) << equation;
        for (const int parameter : model.layout().blocks[2].learned) {
            model.parameters()->at(parameter)[5] = 1e-6F;  // one channel of one block is enough
        }
        EXPECT_EQ(stream_bound(model, 7), StreamBound::none) << equation;
    }
}

// y grows by a bounded piece a block, and x by y: faster than linearly, and nothing here says how fast.
TEST(StreamBound, OfAStreamThatAnotherFeedsIsUnknown) {
    const std::string pieces = "a = norm(attn(norm(x))); x = x + dt*a + dt*norm(ffn(norm(x))) + dt*";
    EXPECT_EQ(bound_of(pieces + "y; y = y + dt*a | norm(x)"), StreamBound::none);
    EXPECT_EQ(bound_of(pieces + "norm(y); y = y + dt*a | norm(x)"), StreamBound::linear);
}

TEST(StreamBound, OfABranchWithoutANormDoesNotExist) {
    EXPECT_EQ(bound_of("x + dt*f(norm(x)) | norm(x)"), StreamBound::none);
    EXPECT_EQ(bound_of("x + dt*attn(norm(x)) + dt*norm(ffn(norm(x))) | norm(x)"), StreamBound::none);
}

TEST(StreamBound, IsThatOfTheWeakestBlock) {
    EXPECT_EQ(bound_of("depth <= 0.25 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)"), StreamBound::none);
    EXPECT_EQ(bound_of("depth <= 0.25 ? norm(x + dt*f(x)) : x + dt*norm(f(norm(x))) | norm(x)"), StreamBound::linear);
    // The weakest block need not be the last.
    EXPECT_EQ(bound_of("depth <= 0.25 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)"), StreamBound::none);
    EXPECT_EQ(bound_of("depth <= 1 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)"), StreamBound::bounded);
}

// Attention and the FFN add twice a norm each, which is 2, and a bias: 0.25 and, in its largest channel, 0.75.
TEST(StreamReach, CountsABiasByItsLargestChannel) {
    Model<float> model =
        test::tiny_model<float>(test::tiny_architecture("x + 2*norm(f(x)) + bias where ~bias[d] = 0.25"), 3, false);
    const std::vector<int>& learned = model.layout().blocks[1].learned;
    ASSERT_EQ(learned.size(), 2U);
    model.parameters()->at(learned[1])[5] = -0.75F;
    const StreamReach reach = stream_reach(block_code(model, 1, 7));
    EXPECT_EQ(reach.shares, (std::vector<std::vector<double>>{{1}}));
    EXPECT_EQ(reach.constants, (std::vector<double>{2 + 0.25 + 2 + 0.75}));
}

TEST(StreamBound, HasANameForEveryAnswer) {
    EXPECT_STREQ(name(StreamBound::bounded), "bounded");
    EXPECT_STREQ(name(StreamBound::linear), "linear");
    EXPECT_STREQ(name(StreamBound::exponential), "exponential");
    EXPECT_STREQ(name(StreamBound::none), "none");
}

}  // namespace
}  // namespace flyball::model
