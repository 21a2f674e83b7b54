// The number of threads never shows in a training step.
#include <gtest/gtest.h>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "model/batch_step.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

TEST(BatchStepThreads, TheirNumberDoesNotShow) {
    const int before = threads();
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.positions = 128;
    const Model<float> model = tiny_model<float>(a, 2);
    const Batch batch(19, 128);
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < batch.rows(); ++i) {
        ids.push_back(static_cast<std::int32_t>(Random(5).bits(i) % a.vocab));
    }
    const auto run = [&](int count) {
        set_threads(count);
        BatchStep<float> step(model, batch);
        Parameters<float> gradients(model.layout());
        step.run(ids, next_tokens(ids, batch.sequences), gradients);
        const double loss = step.run(ids, next_tokens(ids, batch.sequences), gradients);  // with passes used before
        LineVector<float> all = gradients.all();
        all.push_back(static_cast<float>(loss));
        return all;
    };
    const LineVector<float> one = run(1);
    for (const int count : {2, 3, 7}) {
        EXPECT_EQ(run(count), one) << count;
    }
    set_threads(before);
}

}  // namespace
}  // namespace flyball::model::test
