// A training step in groups of sequences is the one of a pass over the whole batch, to rounding.
#include "model/batch_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../core/support.hpp"
#include "core/random.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

std::vector<std::int32_t> some_ids(std::size_t count, std::size_t vocab) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(static_cast<std::int32_t>(Random(41).bits(i) % vocab));
    }
    return ids;
}

// Thirteen sequences of 100 tokens: two slots of six and seven sequences.
const Batch batch(13, 100);

Architecture small() {
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.positions = 100;
    return a;
}

template <class Real>
void expect_the_whole(const Dropout& dropout, std::vector<std::int32_t> targets, const std::vector<std::int32_t>& ids) {
    // Of this seed float's gradients are double's to 1e-6 of the largest with any kernel. Seed 3 has a token whose stream is
    // nearly zero before its first norm: there every float is 1e-4 to 6e-4 off, and another order of a sum shows.
    const Model<Real> model = tiny_model<Real>(small(), 4);
    Pass<Real> pass(model, batch, Keep::everything);
    pass.dropout(dropout);
    Parameters<Real> whole(model.layout());
    pass.forward(ids);
    const double loss = pass.loss_and_backward(targets, whole, 0.5);

    BatchStep<Real> step(model, batch);
    step.dropout(dropout);
    Parameters<Real> parts(model.layout());
    // Double tells a mistake; float tells that it is done in float.
    constexpr double rounding = sizeof(Real) == 8 ? 1e-12 : 1e-5;
    EXPECT_NEAR(step.run(ids, targets, parts, 0.5), loss, rounding * loss);
    double largest = 0;
    for (const Real g : whole.all()) {
        largest = std::max(largest, std::fabs(static_cast<double>(g)));
    }
    for (std::size_t i = 0; i < whole.all().size(); ++i) {
        ASSERT_NEAR(static_cast<double>(parts.all()[i]), static_cast<double>(whole.all()[i]), rounding * largest) << i;
    }
    // Gradients are added to, and nothing is left from the step before.
    Parameters<Real> twice = parts;
    step.run(ids, targets, twice, 0.5);
    for (std::size_t i = 0; i < whole.all().size(); ++i) {
        ASSERT_NEAR(static_cast<double>(twice.all()[i]), 2 * static_cast<double>(parts.all()[i]), rounding * largest);
    }
}

TEST(BatchStep, IsAPassOverTheWholeBatch) {
    const std::vector<std::int32_t> ids = some_ids(batch.rows(), small().vocab);
    const std::vector<std::int32_t> targets = next_tokens(ids, batch.sequences);
    expect_the_whole<double>({}, targets, ids);
    expect_the_whole<float>({}, targets, ids);
}

TEST(BatchStep, MasksOfDropoutAreThoseOfTheWholeBatch) {
    const std::vector<std::int32_t> ids = some_ids(batch.rows(), small().vocab);
    expect_the_whole<double>({0.3, 7}, next_tokens(ids, batch.sequences), ids);
}

TEST(BatchStep, EveryTokenWeighsTheSameWhereverItStands) {
    const std::vector<std::int32_t> ids = some_ids(batch.rows(), small().vocab);
    std::vector<std::int32_t> targets = next_tokens(ids, batch.sequences);
    std::fill(targets.begin(), targets.begin() + 250, no_target);  // two sequences and a half
    std::fill(targets.begin() + 900, targets.end() - 3, no_target);
    expect_the_whole<double>({}, targets, ids);
}

TEST(BatchStep, TheCutDependsOnSizesAlone) {
    const BatchCut small_batch(Batch(4, 16));
    EXPECT_EQ(small_batch.slots, 1U);
    EXPECT_EQ(small_batch.group, 4U);
    const BatchCut deep(Batch(32, 128));
    EXPECT_EQ(deep.slots, 4U);
    EXPECT_EQ(deep.group, 1U);
    const BatchCut short_ones(Batch(64, 32));
    EXPECT_EQ(short_ones.slots, 4U);
    EXPECT_EQ(short_ones.group, 4U);
    const BatchCut one(Batch(1, 4096));
    EXPECT_EQ(one.slots, 1U);
    EXPECT_EQ(one.group, 1U);
}

TEST(BatchStep, FollowsTheWeightsWhenTheyChange) {
    Model<float> model = tiny_model<float>(small(), 3);
    const std::vector<std::int32_t> ids = some_ids(batch.rows(), small().vocab);
    const std::vector<std::int32_t> targets = next_tokens(ids, batch.sequences);
    BatchStep<float> step(model, batch);
    Parameters<float> gradients(model.layout());
    const double before = step.run(ids, targets, gradients);
    for (const BlockLayout& block :
         model.layout().blocks) {  // the output of every FFN, turned round and three times as large
        const std::size_t count = block.ffn_out.in * block.ffn_out.out;
        float* const weight = model.parameters()->at(block.ffn_out.weight);
        for (std::size_t i = 0; i < count; ++i) {
            weight[i] *= -3;
        }
    }
    Pass<float> pass(model, batch);
    pass.forward(ids);
    const double expected = pass.loss(targets);
    ASSERT_GT(std::fabs(expected - before), 1e-3);
    EXPECT_NEAR(step.run(ids, targets, gradients), expected, 1e-5 * expected);
}

// Every matrix of a model lies somewhere else, and each has two packed forms: a pass that reads them gives the bits of
// one that does not, forward and in reverse.
TEST(PackedWeights, GiveTheSameBits) {
    for (const bool llama : {false, true}) {
        const Architecture a = llama ? small() : tiny_architecture("x + dt*f(norm(x)) | norm(x)");
        const Model<float> model = tiny_model<float>(a, 5);
        const Batch few(2, std::min<std::size_t>(a.positions, 12));
        const std::vector<std::int32_t> ids = some_ids(few.rows(), a.vocab);
        const std::vector<std::int32_t> targets = next_tokens(ids, few.sequences);
        PackedWeights<float> packed(model);
        packed.update();
        LineVector<float> gradients[2];
        double losses[2];
        for (const bool with : {false, true}) {
            Pass<float> pass(model, few, Keep::everything);
            pass.packed(with ? &packed : nullptr);
            pass.forward(ids);
            Parameters<float> sums(model.layout());
            losses[with ? 1 : 0] = pass.loss_and_backward(targets, sums);
            gradients[with ? 1 : 0] = sums.all();
        }
        EXPECT_EQ(losses[0], losses[1]);
        EXPECT_EQ(gradients[0], gradients[1]);
    }
}

// clear() leaves the memory as it is: what was there must show in no gradient.
TEST(Parameters, ClearedOnesAreZeroWhateverTheyHeld) {
    const Model<float> model = tiny_model<float>(small(), 5);
    Parameters<float> values(model.layout());
    std::fill(values.all().begin(), values.all().end(), 7.0F);
    values.clear();
    EXPECT_TRUE(values.overwrites(1));
    EXPECT_FALSE(values.overwrites(1));
    EXPECT_EQ(values.at(1)[0], 7.0F) << "the caller's to overwrite";
    EXPECT_EQ(values.at(0)[0], 0.0F);
    values.at(0)[0] = 3.0F;
    EXPECT_FALSE(values.overwrites(0));
    EXPECT_EQ(values.all()[0], 3.0F) << "cleared once";
    const std::size_t end = model.layout().parameters[1].offset + model.layout().parameters[1].elements();
    EXPECT_TRUE(std::all_of(values.all().begin() + static_cast<std::ptrdiff_t>(end), values.all().end(),
                            [](float x) { return x == 0; }));
}

TEST(BatchStep, GradientsOfClearedParametersHaveTheBitsOfFreshOnes) {
    const Model<float> model = tiny_model<float>(small(), 5);
    const Batch many(40, std::min<std::size_t>(model.architecture().positions, 32));  // several slots and groups
    const std::vector<std::int32_t> ids = some_ids(many.rows(), model.architecture().vocab);
    const std::vector<std::int32_t> targets = next_tokens(ids, many.sequences);
    BatchStep<float> step(model, many);
    Parameters<float> fresh(model.layout());
    step.run(ids, targets, fresh);
    Parameters<float> used(model.layout());
    std::fill(used.all().begin(), used.all().end(), std::numeric_limits<float>::quiet_NaN());
    used.clear();
    step.run(ids, targets, used);
    EXPECT_EQ(used.all(), fresh.all());
}

TEST(BatchStep, RefusesAnotherNumberOfTokens) {
    const Model<float> model = tiny_model<float>(small(), 3);
    BatchStep<float> step(model, batch);
    Parameters<float> gradients(model.layout());
    const std::vector<std::int32_t> few(5, 1);
    EXPECT_ERROR(step.run(few, few, gradients), "5 tokens and 5 targets, expected 1300 of each");
}

}  // namespace
}  // namespace flyball::model::test
