// What depends on weights alone, for the real attention of GPT-2 124M that others recorded (five prompts of six or
// seven tokens): numbers from real_attention.py. Skipped unless FLYBALL_TEST_MODELS names a folder that has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/safetensors.hpp"
#include "limits/jacobian.hpp"
#include "limits/normaliser.hpp"

namespace flyball::limits {
namespace {

TEST(RealAttention, OfGpt2AgreesWithNumpy) {
    const char* const models = std::getenv("FLYBALL_TEST_MODELS");
    const std::filesystem::path folder = std::filesystem::path(models == nullptr ? "" : models) / "gpt2-124m-attention";
    if (models == nullptr || !std::filesystem::exists(folder)) {
        GTEST_SKIP() << "set FLYBALL_TEST_MODELS to a folder with gpt2-124m-attention to run this test";
    }
    double rows = 0, entropy = 0, peak = 0, first = 0, spectral = 0, infinity = 0, largest = 0;
    for (int prompt = 0; prompt < 5; ++prompt) {
        const SafeTensors file = SafeTensors::open(folder / ("prompt" + std::to_string(prompt) + ".safetensors"));
        const std::size_t tokens = file.info("attn_softmax").shape[2];
        const std::vector<float> raw = file.read<float>("attn_scores_raw_qk");
        const std::vector<float> stored = file.read<float>("attn_softmax");
        for (std::size_t head = 0; head < 144; ++head) {
            for (std::size_t t = 2; t < tokens; ++t) {
                const std::size_t at = (head * tokens + t) * tokens;
                std::vector<double> a(32), room;
                for (std::size_t j = 0; j <= t; ++j) {
                    a[j] = double{raw[at + j]} / 8;
                }
                Normaliser().weigh(t + 1, a.data(), room);
                a.resize(t + 1);
                double sum = 0;
                for (std::size_t j = 0; j <= t; ++j) {
                    EXPECT_NEAR(a[j], stored[at + j], 1e-6);
                    sum -= a[j] * std::log(a[j]);
                }
                ++rows;
                entropy += sum / std::log(static_cast<double>(t + 1));
                peak += *std::max_element(a.begin(), a.end());
                first += a[0];
                spectral += spectral_norm(a) / 8;
                infinity += infinity_norm(a) / 8;
                largest = std::max(largest, spectral_norm(a));
                EXPECT_LE(spectral_norm(a), 0.5);
            }
        }
    }
    EXPECT_EQ(rows, 3024);
    EXPECT_NEAR(entropy / rows, 0.4698600355, 1e-9);
    EXPECT_NEAR(peak / rows, 0.7469008035, 1e-9);
    EXPECT_NEAR(first / rows, 0.6791375900, 1e-9);
    EXPECT_NEAR(spectral / rows, 0.0271726580, 1e-9);
    EXPECT_NEAR(infinity / rows, 0.0365868659, 1e-9);
    EXPECT_NEAR(largest, 0.4998881661, 1e-9);  // twice the paper's bound
}

}  // namespace
}  // namespace flyball::limits
