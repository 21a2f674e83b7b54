// The same bits at any number of threads.
#include <gtest/gtest.h>

#include "core/parallel.hpp"
#include "limits/analysis.hpp"
#include "limits/document.hpp"
#include "model/tiny.hpp"

namespace flyball::limits {
namespace {

TEST(Analysis, HasTheSameBitsAtAnyNumberOfThreads) {
    model::Architecture a = model::test::tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.positions = 70;
    const model::Model<float> model = model::test::tiny_model<float>(a, 3);
    std::vector<std::int32_t> ids(70);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<std::int32_t>(i * 7 % 11);
    }
    const int before = threads();
    for (const Vectors vectors : {Vectors::hidden, Vectors::value}) {
        Settings settings;
        settings.vectors = vectors;
        std::string first;
        for (const int count : {1, 2, 5}) {
            set_threads(count);
            const std::string text =
                dump_json(document({}, 70, settings, analyse(model, ids, settings, {16, 70}), {}), 0);
            first = first.empty() ? text : first;
            EXPECT_EQ(text, first) << count;
        }
    }
    set_threads(before);
}

}  // namespace
}  // namespace flyball::limits
