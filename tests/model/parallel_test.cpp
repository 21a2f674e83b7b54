// The number of threads never shows in a result.
#include <gtest/gtest.h>

#include <atomic>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "model/generate.hpp"
#include "model/heads.hpp"
#include "model/pass.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

class ModelThreads : public testing::Test {
  protected:
    int before_ = threads();
    void TearDown() override { set_threads(before_); }
};

// Large enough that products, rows and heads are cut into many pieces.
Architecture wide() {
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.layers = 2;
    a.dim = 96;
    a.heads = 6;
    a.kv_heads = 3;
    a.head_dim = 16;
    a.ffn_dim = 160;
    a.vocab = 700;
    a.positions = 400;
    a.rope.dims = 16;
    a.windows = {0, 150};
    return a;
}

std::vector<std::int32_t> many_ids(std::size_t count, std::uint64_t seed) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(static_cast<std::int32_t>(Random(seed).bits(i) % 700));
    }
    return ids;
}

template <class Real>
void expect_same_bits(const Batch& batch, const Architecture& architecture = wide(), const Dropout& dropout = {}) {
    const Model<Real> model = tiny_model<Real>(architecture, 2);
    const std::vector<std::int32_t> ids = many_ids(batch.rows(), 1);
    const std::vector<std::int32_t> targets = next_tokens(ids, batch.sequences);
    const auto run = [&](int count) {
        set_threads(count);
        Pass<Real> pass(model, batch, Keep::inputs);
        Parameters<Real> gradients(model.layout());
        pass.dropout(dropout);
        pass.forward(ids);
        std::vector<Real> all = pass.readout();
        all.push_back(static_cast<Real>(pass.loss(targets)));
        pass.loss_and_backward(targets, gradients);
        all.insert(all.end(), gradients.all().begin(), gradients.all().end());
        return all;
    };
    const std::vector<Real> one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(5), one);
}

TEST_F(ModelThreads, ForwardAndBackwardHaveTheSameBits) {
    expect_same_bits<float>(333);
}

TEST_F(ModelThreads, ForwardAndBackwardOfABatchHaveTheSameBits) {
    expect_same_bits<float>({4, 90});
    expect_same_bits<double>({4, 90});
}

TEST_F(ModelThreads, DropoutHasTheSameBits) {
    expect_same_bits<float>(333, wide(), {0.1, 4});
    expect_same_bits<float>({4, 90}, wide(), {0.5, 5});
}

TEST_F(ModelThreads, GainsInsideTheFfnAndOfLogitsHaveTheSameBits) {
    Architecture a = wide();
    a.ffn_scale = 2;
    a.ffn_gains = a.logit_gains = true;
    expect_same_bits<float>({4, 90}, a);
    a.gated = false;
    expect_same_bits<float>({4, 90}, a);
}

TEST_F(ModelThreads, ATextThatGrowsHasTheSameBits) {
    Architecture a = wide();
    a.vocab = 3000;  // the head is cut into several pieces, and so are keys and values at the end
    const Model<float> model = tiny_model<float>(a, 2);
    const std::vector<std::int32_t> ids = many_ids(400, 1);
    const auto run = [&](int count) {
        set_threads(count);
        Generator<float> generator(model);
        std::vector<float> all;
        generator.take(std::span(ids).first(395));
        for (std::size_t i = 395; i < ids.size(); ++i) {
            generator.take(std::span(ids).subspan(i, 1));
            all.insert(all.end(), generator.logits().begin(), generator.logits().end());
        }
        return all;
    };
    const std::vector<float> one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(5), one);
}

TEST_F(ModelThreads, SequencesInParallelEqualOneAfterTheOther) {
    const Model<float> model = tiny_model<float>(wide(), 3);
    constexpr std::size_t sequences = 6;
    const auto run = [&](bool parallel) {
        std::vector<LineVector<float>> results(sequences);
        const auto one = [&](std::size_t i) {
            const std::vector<std::int32_t> ids = many_ids(120, i);
            Pass<float> pass(model, ids.size(), Keep::everything);
            Parameters<float> gradients(model.layout());
            pass.forward(ids);
            pass.loss_and_backward(next_tokens(ids), gradients);
            results[i] = gradients.all();
        };
        set_threads(parallel ? 3 : 1);
        if (parallel) {
            parallel_slots(sequences, sequences, [&](std::size_t slot, std::size_t, std::size_t) { one(slot); });
        } else {
            for (std::size_t i = 0; i < sequences; ++i) {
                one(i);
            }
        }
        return results;
    };
    EXPECT_EQ(run(true), run(false));
}

// A head's blocks come in order and never two at once, which is what lets a consumer keep sums per head without locks.
TEST_F(ModelThreads, ConsumersSeeOneBlockOfAHeadAtATimeInOrder) {
    set_threads(4);
    const Model<float> model = tiny_model<float>(wide(), 4);
    const std::vector<std::int32_t> ids = many_ids(400, 9);
    std::vector<std::atomic<int>> inside(6);
    std::vector<std::size_t> next_row(6 * 2, 0);
    std::atomic<bool> orderly{true};
    Taps<float> taps;
    taps.add("blocks.*.attn.pattern", [&](const TapView<float>& view) {
        if (inside[view.head].fetch_add(1) != 0 || next_row[view.layer * 6 + view.head] != view.first_row) {
            orderly = false;
        }
        for (std::size_t i = 0; i < view.rows; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < view.columns; ++k) {
                sum += static_cast<double>(view.row(i)[k]);
            }
            if (std::abs(sum - 1) > 1e-5) {
                orderly = false;
            }
        }
        next_row[view.layer * 6 + view.head] = view.first_row + view.rows;
        inside[view.head].fetch_sub(1);
    });
    Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    EXPECT_TRUE(orderly);
    for (const std::size_t rows : next_row) {
        EXPECT_EQ(rows, 400U);
    }
}

}  // namespace
}  // namespace flyball::model::test
