// Every family against PyTorch: golden/make_models.py made the checkpoints and what they compute.
#include <algorithm>

#include "model/family.hpp"
#include "model/pass.hpp"
#include "support.hpp"

namespace flyball::model::test {
namespace {

class Golden : public testing::TestWithParam<std::string> {
  protected:
    std::filesystem::path folder() const { return golden_folder() / GetParam(); }
};

double tolerance(const Model<float>& model) {
    return model.dtype() == "F32" ? 1e-5 : 1e-4;
}

TEST_P(Golden, ForwardEqualsTorch) {
    const Model<float> model = load_model(folder());
    const SafeTensors expected = SafeTensors::open(folder() / "expected.safetensors");
    const std::vector<std::int32_t> ids = read_ids(expected);
    Seen<float> seen;
    const Taps<float> taps = seen.taps(model.architecture(), ids.size());
    Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    if (model.architecture().has_head) {
        const double loss = pass.loss(next_tokens(ids), taps);
        EXPECT_NEAR(loss, expected.read<double>("loss")[0], 1e-5 * loss);
        EXPECT_NEAR(pass.loss(next_tokens(ids)), loss, 1e-6 * loss) << "without logits in memory";
    }
    std::size_t compared = 0;
    for (const std::string& name : expected.names()) {
        if (name == "logits" || name.starts_with("hidden.") || name.starts_with("attention.")) {
            EXPECT_LE(distance(seen.tensors[name], expected.read<double>(name)), tolerance(model)) << name;
            ++compared;
        }
    }
    const std::size_t layers = model.architecture().layers;
    EXPECT_EQ(compared, 2 * layers + 1 + (model.architecture().has_head ? 1 : 0));
}

std::vector<std::string_view> prefixes_of(const std::string& family) {
    const auto found =
        std::find_if(families().begin(), families().end(), [&](const Family& one) { return one.model_type == family; });
    return found == families().end() ? std::vector<std::string_view>() : found->names.prefixes;
}

template <class Real>
void expect_gradients(const Model<Real>& model, const SafeTensors& expected, Keep keep, double bound) {
    const std::vector<std::int32_t> ids = read_ids(expected);
    Pass<Real> pass(model, ids.size(), keep);
    Parameters<Real> gradients(model.layout());
    pass.forward(ids);
    if (model.architecture().has_head) {
        const double loss = pass.loss_and_backward(next_tokens(ids), gradients);
        EXPECT_NEAR(loss, expected.read<double>("loss")[0], 1e-5 * loss);
    } else {
        pass.backward(expected.read<Real>("direction").data(), gradients);
    }
    std::size_t compared = 0;
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        std::string name = "gradient." + spec.name;
        if (name == "gradient.embed_out.weight") {
            name = "gradient.lm_head.weight";  // however a file calls its head, transformers calls it so
        }
        for (const std::string_view prefix : prefixes_of(model.architecture().family)) {
            const std::string full = "gradient." + std::string(prefix) + spec.name;
            name = expected.contains(name) || !expected.contains(full) ? name : full;
        }
        ASSERT_TRUE(expected.contains(name)) << name;
        const Real* from = gradients.at(static_cast<int>(i));
        const std::vector<Real> got(from, from + spec.elements());
        // Without rotary positions a key's bias shifts all scores of a row alike: its gradient is rounding.
        if (model.architecture().rope.dims == 0 &&
            (name.ends_with("self.key.bias") || name.ends_with("self_attn.k_proj.bias"))) {
            for (const Real g : got) {
                EXPECT_LE(std::fabs(static_cast<double>(g)), 1e-4) << name;
            }
        } else {
            EXPECT_LE(distance(got, expected.read<double>(name)), bound) << name;
        }
        ++compared;
    }
    EXPECT_GE(compared, 16U);
}

TEST_P(Golden, GradientsEqualTorch) {
    const Model<float> model = load_model(folder());
    const SafeTensors expected = SafeTensors::open(folder() / "expected.safetensors");
    expect_gradients(model, expected, Keep::inputs, tolerance(model));
    expect_gradients(model, expected, Keep::everything, tolerance(model));
}

TEST_P(Golden, GradientsInDoubleEqualTorchToSinglePrecisionOfTheFile) {
    const Model<double> model = widened(load_model(folder()));
    const SafeTensors expected = SafeTensors::open(folder() / "expected.safetensors");
    expect_gradients(model, expected, Keep::inputs, 5e-6);  // published rotary angles are float
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(golden_names()), [](const auto& tested) {
    std::string name = tested.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace flyball::model::test
