// The number of threads never shows in an update.
#include <gtest/gtest.h>

#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "train/adamw_kernels.hpp"

namespace flyball::train::test {
namespace {

TEST(AdamwThreads, TheirNumberDoesNotShow) {
    const int before = threads();
    constexpr std::size_t count = 300'007;
    std::vector<float> gradients(count);
    for (std::size_t i = 0; i < count; ++i) {
        gradients[i] = static_cast<float>(Random(3).uniform(i)) - 0.4F;
    }
    const auto run = [&](int thread_count) {
        set_threads(thread_count);
        std::vector<float> all(3 * count, 0.5F);
        adamw_update(count, all.data(), all.data() + count, all.data() + 2 * count, gradients.data(), {});
        const double norm = squared_norm(count, gradients.data());
        return std::pair(all, norm);
    };
    const auto one = run(1);
    for (const int thread_count : {2, 3, 7}) {
        EXPECT_EQ(run(thread_count), one) << thread_count;
    }
    set_threads(before);
}

}  // namespace
}  // namespace flyball::train::test
