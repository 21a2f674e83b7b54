// What a forward pass takes beyond the weights, read from the kernel's own account of this process.
#include <malloc.h>

#include <atomic>
#include <fstream>

#include "../core/support.hpp"
#include "model/initialise.hpp"
#include "model/pass.hpp"
#include "model/save.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace flyball::model::test {
namespace {

double megabytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kilobytes = NAN;
    while (status >> word) {
        if (word == key + ":") {
            status >> kilobytes;
            break;
        }
    }
    return kilobytes / 1024;
}

// VmHWM starts again from what is resident now, less what earlier tests have freed.
bool reset_peak() {
    malloc_trim(0);
    std::ofstream file("/proc/self/clear_refs");
    file << "5" << std::flush;
    return file.good();
}

// GPT-2 124M but for the number of blocks, which share their room.
Architecture gpt2_small(std::size_t layers) {
    Architecture a;
    a.layers = layers;
    a.dim = 768;
    a.heads = a.kv_heads = 12;
    a.head_dim = 64;
    a.ffn_dim = 3072;
    a.vocab = 50257;
    a.positions = 1024;
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return a;
}

TEST(Memory, AForwardOfGpt2SizeWithAllStatisticsTakesLessThan300MegabytesBeyondTheWeights) {
    if (sanitized || !reset_peak()) {
        GTEST_SKIP() << "needs a kernel that lets a process reset its peak, and no sanitizer's own memory";
    }
    const std::size_t tokens = 1024;
    std::vector<std::int32_t> ids(tokens, 11);
    double taken[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
        const Model<float> model = initialised<float>(gpt2_small(1 + 2 * i), {}, 1);
        std::atomic<std::size_t> rows = 0;
        Taps<float> taps;
        taps.add("blocks.*.attn.pattern", [&rows](const TapView<float>& view) { rows += view.rows; });
        taps.add("blocks.*.resid", [](const TapView<float>&) {});
        ASSERT_TRUE(reset_peak());
        const double before = megabytes("VmRSS");
        Pass<float> pass(model, tokens);
        pass.forward(ids, taps);
        const double loss = pass.loss(next_tokens(ids));
        taken[i] = megabytes("VmHWM") - before;
        EXPECT_TRUE(std::isfinite(loss));
        EXPECT_EQ(rows, model.architecture().layers * model.architecture().heads * tokens);
        EXPECT_LT(taken[i], 300);
        EXPECT_GT(taken[i], 10) << "the measurement sees the buffers of the pass";
        EXPECT_LT(taken[i], memory_estimate(model.architecture(), tokens, Keep::nothing) / (1 << 20) + 40);
    }
    EXPECT_LT(taken[1] - taken[0], 20) << "blocks share their room";
}

// Converted piece by piece, the file's pages let go behind: an F16 file takes what the floats take.
TEST(Memory, AHalfPrecisionFileTakesTheFloatsAlone) {
    if (sanitized || !reset_peak()) {
        GTEST_SKIP() << "needs a kernel that lets a process reset its peak, and no sanitizer's own memory";
    }
    const flyball::test::TemporaryFolder folder;
    double floats = 0;
    {
        const Model<float> model = initialised<float>(gpt2_small(3), {}, 1);
        floats = 4 * static_cast<double>(model.layout().count()) / (1 << 20);
        save_model(model, folder.path(), Storage::f16);
    }
    ASSERT_TRUE(reset_peak());
    const double before = megabytes("VmRSS");
    const Model<float> model = load_model(folder.path());
    EXPECT_EQ(model.dtype(), "F16");
    const double peak = megabytes("VmHWM") - before;
    EXPECT_GT(floats, 200) << "the test sees a file of any size";
    EXPECT_LT(peak, floats + 30) << "the file itself is " << floats / 2;
    EXPECT_GT(peak, floats - 30) << "the measurement sees the weights";
    EXPECT_LT(megabytes("VmRSS") - before, floats + 10);
}

TEST(Memory, AStepOfABatchTakesWhatIsEstimated) {
    if (sanitized || !reset_peak()) {
        GTEST_SKIP() << "needs a kernel that lets a process reset its peak, and no sanitizer's own memory";
    }
    Architecture a = gpt2_small(6);
    a.vocab = 500;
    const Model<float> model = initialised<float>(a, {}, 1);
    Parameters<float> gradients(model.layout());
    const Batch batch(4, 128);
    const std::vector<std::int32_t> ids(batch.rows(), 11);
    for (const Keep keep : {Keep::inputs, Keep::everything}) {
        ASSERT_TRUE(reset_peak());
        const double before = megabytes("VmRSS");
        Pass<float> pass(model, batch, keep);
        pass.forward(ids);
        EXPECT_TRUE(std::isfinite(pass.loss_and_backward(next_tokens(ids, batch.sequences), gradients)));
        const double taken = megabytes("VmHWM") - before;
        const double estimate = memory_estimate(a, batch, keep) / (1 << 20);
        EXPECT_LT(taken, estimate);
        EXPECT_GT(taken, (estimate - 61) / 2) << "61 MB are a constant for logits and threads";
    }
}

}  // namespace
}  // namespace flyball::model::test
