// The readout of a stream that has not passed all blocks, against a model that really ends there.
#include <gtest/gtest.h>

#include "model/tiny.hpp"

namespace flyball::model {
namespace {

// The same numbers in a model of fewer blocks.
Model<double> shortened(const Model<double>& model, std::size_t layers) {
    Architecture a = model.architecture();
    a.layers = layers;
    Model<double> result(a, native_names());
    for (std::size_t i = 0; i < result.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = result.layout().parameters[i];
        for (std::size_t k = 0; k < model.layout().parameters.size(); ++k) {
            if (model.layout().parameters[k].name == spec.name) {
                std::copy_n(model.parameters()->at(static_cast<int>(k)), spec.elements(),
                            result.parameters()->at(static_cast<int>(i)));
            }
        }
    }
    return result;
}

TEST(EarlyReadout, IsTheReadoutOfAModelThatEndsThere) {
    for (const char* const equation :
         {"x + dt*f(norm(x)) | norm(x)", "x + dt*norm(f(norm(x))) | norm(x)", "norm(x + dt*f(x))",
          "o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)"}) {
        const Model<double> model = test::tiny_model<double>(test::tiny_architecture(equation), 5);
        const std::vector<std::int32_t> targets = next_tokens(test::tiny_ids);
        Pass<double> pass(model, test::tiny_ids.size());
        const std::string last = model.program().stream_name(model.program().stream_count() - 1);
        std::vector<double> losses;
        Taps<double> taps;
        taps.add("blocks.*.resid." + last, [&](const TapView<double>&) {
            std::vector<double> readout;
            pass.early_readout(readout);
            losses.push_back(pass.loss_of(readout, targets));
        });
        pass.forward(test::tiny_ids, taps);
        ASSERT_EQ(losses.size(), 4U);
        for (std::size_t layers = 1; layers <= 4; ++layers) {
            const Model<double> shorter = shortened(model, layers);
            Pass<double> whole(shorter, test::tiny_ids.size());
            whole.forward(test::tiny_ids);
            EXPECT_NEAR(losses[layers - 1], whole.loss(targets), 1e-12) << equation << " " << layers;
        }
        EXPECT_EQ(losses.back(), pass.loss(targets));
    }
}

}  // namespace
}  // namespace flyball::model
