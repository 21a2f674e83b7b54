// The number of threads never shows in a result, and a run may be stopped from another thread.
#include <gtest/gtest.h>

#include <thread>

#include "core/parallel.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics {
namespace {

class DynamicsThreads : public testing::TestWithParam<const char*> {
  protected:
    int before_ = threads();
    void TearDown() override { set_threads(before_); }
};

bool same(const Record& a, const Record& b) {
    return a.outcome == b.outcome && a.steps == b.steps && a.evaluations == b.evaluations && a.samples == b.samples;
}

// Each kernel, layers and steps, with an FFN and two systems; small enough for ThreadSanitizer.
TEST_P(DynamicsThreads, DoNotShowInARun) {
    Settings s;
    const std::string kernel = GetParam();
    s.tokens = 130;
    s.dim = kernel == "circle" ? 2 : 6;
    s.kernel = kernel == "layers" ? "auto" : kernel;
    s.systems = 2;
    s.time = 0.5;
    s.samples = 3;
    s.rtol = 1e-6;
    s.atol = 1e-8;
    if (kernel == "layers") {
        s.layers = 5;
        s.ffn_width = 16;
        s.weights = WeightKind::gaussian;
        s.fresh = true;
    }
    const scheme::Program program = scheme::find_scheme("peri-ln").program;
    set_threads(1);
    const Record one = run(s, program);
    ASSERT_EQ(one.samples.size(), 3U);
    for (const int count : {2, 4}) {
        set_threads(count);
        EXPECT_TRUE(same(one, run(s, program))) << count << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DynamicsThreads, testing::Values("direct", "fused", "general", "circle", "layers"),
                         [](const testing::TestParamInfo<const char*>& one) { return std::string(one.param); });

TEST(Stopping, FromAnotherThreadIsSeenInTheMiddleOfARun) {
    Settings s;
    s.tokens = 40;
    s.dim = 4;
    s.time = 1e4;
    s.method = Method::euler;
    s.dt = 1e-3;
    s.samples = 2;
    std::atomic<bool> stop{false};
    Control control = control_of(s);
    control.stop = &stop;
    std::thread other([&] { stop = true; });
    const Record record = run(problem_of(s, scheme::find_scheme("post-ln").program), control, watch_of(s));
    other.join();
    EXPECT_EQ(record.outcome, Outcome::interrupted);
}

}  // namespace
}  // namespace flyball::dynamics
