// Vision Transformers against PyTorch: vit/make_vit.py made the checkpoints and what they compute.
#include "../core/support.hpp"
#include "core/json.hpp"
#include "model/input.hpp"
#include "model/native.hpp"
#include "model/patches.hpp"
#include "model/save.hpp"
#include "support.hpp"

namespace flyball::model::test::vit_test {
namespace {

using flyball::test::TemporaryFolder;

std::filesystem::path vit_folder(const std::string& name) {
    return std::filesystem::path(flyball::test::source_folder) / "tests" / "model" / "vit" / name;
}

const std::vector<std::string> vits = {"vit", "vit-classifier-f16"};

// Everything in the file but `direction` from the pixels in it.
void expect_like_torch(const Model<float>& model, const SafeTensors& expected, const Input& input, double bound) {
    const Architecture& a = model.architecture();
    const std::vector<float> pixels = expected.read<float>("pixel_values");
    Seen<float> seen;
    Taps<float> taps = seen.taps(a, input.tokens());
    for (const Keep keep : {Keep::inputs, Keep::everything}) {
        Pass<float> pass(model, input.tokens(), keep);
        forward(pass, input, taps);
        Parameters<float> gradients(model.layout());
        std::vector<float> of_rows;
        Taps<float> back;
        back.add("embed.grad",
                 [&](const TapView<float>& view) { of_rows.assign(view.data, view.data + view.rows * view.columns); });
        pass.backward(expected.read<float>("direction").data(), gradients, back);
        EXPECT_LE(distance(of_rows, expected.read<double>("gradient.rows")), bound);
        embed_image_reverse(model, std::span<const float>(pixels), std::span<const float>(of_rows), gradients);
        for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
            const ParameterSpec& spec = model.layout().parameters[i];
            const float* const from = gradients.at(static_cast<int>(i));
            const std::vector<float> got(from, from + spec.elements());
            if (spec.name.ends_with("key.bias")) {  // shifts all scores of a row alike
                EXPECT_LE(*std::max_element(got.begin(), got.end()), 1e-4F);
                continue;
            }
            EXPECT_LE(distance(got, expected.read<double>("gradient." + spec.name)), bound) << spec.name;
        }
    }
    std::size_t compared = 0;
    for (const std::string& name : expected.names()) {
        if (name.starts_with("hidden.") || name.starts_with("attention.")) {
            EXPECT_LE(distance(seen.tensors[name], expected.read<double>(name)), bound) << name;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 2 * a.layers + 1);
}

TEST(Vit, AnImageGivesWhatTorchComputes) {
    for (const std::string& name : vits) {
        const Model<float> model = load_model(vit_folder(name));
        const SafeTensors expected = SafeTensors::open(vit_folder(name) / "expected.safetensors");
        const Input input = read_embeddings(vit_folder(name) / "expected.safetensors", model, 1000);
        EXPECT_EQ(input.tokens(), expected.info("hidden.0").shape[0]);
        EXPECT_LE(distance(input.rows, expected.read<double>("hidden.0")), 1e-6);
        expect_like_torch(model, expected, input, name == "vit" ? 1e-5 : 1e-4);
    }
}

// The gradient of the projection, in double, by differences.
TEST(Vit, GradientOfThePatchesIsASlope) {
    Model<double> model = widened(load_model(vit_folder("vit")));
    const SafeTensors expected = SafeTensors::open(vit_folder("vit") / "expected.safetensors");
    const std::vector<double> pixels = expected.read<double>("pixel_values");
    const std::vector<double> direction = expected.read<double>("direction");
    const std::size_t tokens = expected.info("hidden.0").shape[0];
    Pass<double> pass(model, tokens, Keep::inputs);
    const auto value = [&] {
        pass.forward_rows(embed_image(model, std::span<const double>(pixels)));
        double sum = 0;
        for (std::size_t i = 0; i < direction.size(); ++i) {
            sum += pass.readout()[i] * direction[i];
        }
        return sum;
    };
    value();
    Parameters<double> gradients(model.layout());
    std::vector<double> rows;
    Taps<double> taps;
    taps.add("embed.grad",
             [&](const TapView<double>& view) { rows.assign(view.data, view.data + view.rows * view.columns); });
    pass.backward(direction.data(), gradients, taps);
    embed_image_reverse(model, std::span<const double>(pixels), std::span<const double>(rows), gradients);
    const Layout& layout = model.layout();
    for (const auto& [parameter, at] : std::vector<std::pair<int, std::size_t>>{
             {layout.patches.weight, 37}, {layout.patches.bias, 5}, {layout.class_token, 3}, {layout.positions, 100}}) {
        double& number = model.parameters()->at(parameter)[at];
        const double before = number;
        const double h = 1e-5;
        number = before + h;
        const double above = value();
        number = before - h;
        const double below = value();
        number = before;
        const double slope = (above - below) / (2 * h);
        EXPECT_GT(std::fabs(slope), 1e-4) << "nothing was tested";
        EXPECT_NEAR(gradients.at(parameter)[at], slope, 1e-6 * std::fabs(slope) + 1e-8);
    }
}

// A missing key has the default of transformers' ViTConfig.
TEST(Vit, DefaultsAreThoseOfTransformers) {
    const ConfigReader config(parse_json(R"({"model_type": "vit"})", "config"), "config.json");
    const Architecture a = family_of(config).read(config, [](std::string_view) { return false; });
    check(a, "config.json");
    EXPECT_EQ(a.layers, 12U);
    EXPECT_EQ(a.dim, 768U);
    EXPECT_EQ(a.heads, 12U);
    EXPECT_EQ(a.head_dim, 64U);
    EXPECT_EQ(a.ffn_dim, 3072U);
    EXPECT_EQ(a.positions, 197U);
    EXPECT_EQ(a.patches.channels, 3U);
    EXPECT_EQ(a.patches.height, 224U);
    EXPECT_EQ(a.patches.patch_width, 16U);
    EXPECT_EQ(a.eps, 1e-12);
    EXPECT_EQ(a.activation, Activation::gelu);
    EXPECT_TRUE(a.qkv_bias);
    EXPECT_FALSE(a.causal);
    EXPECT_FALSE(a.has_head);
}

TEST(Vit, ConfigurationsThatMakeNoSenseAreRefused) {
    const auto read = [](const char* text) {
        const ConfigReader config(parse_json(text, "config"), "config.json");
        check(family_of(config).read(config, [](std::string_view) { return false; }), "config.json");
    };
    EXPECT_NO_THROW(read(R"({"model_type": "vit", "image_size": [32, 48]})"));
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": [32]})"), "height and width in a list");
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": [32, 0]})"), "height and width in a list");
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": "32"})"), "a whole number");
    EXPECT_ERROR(read(R"({"model_type": "vit", "patch_size": 225})"), "patches that fit into the image");
    // Each side is held against its own: 24 columns fit into the height of 32, not into the width of 16.
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": [32, 16], "patch_size": [16, 24]})"),
                 "patches that fit into the image");
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": [16, 32], "patch_size": [24, 16]})"),
                 "patches that fit into the image");
    EXPECT_ERROR(read(R"({"model_type": "vit", "image_size": 100000000})"), "positions = 39062500000001");
    EXPECT_ERROR(read(R"({"model_type": "vit", "num_channels": 1000000})"), "patches that fit into the image");
    EXPECT_ERROR(read(R"({"model_type": "vit", "num_channels": 0})"), "num_channels");
    EXPECT_ERROR(read(R"({"model_type": "vit", "hidden_size": 770})"), "a multiple of the 12 heads");
    const std::string own = R"#({"model_type": "flyball", "equation": "x + dt*f(norm(x)) | norm(x)", )#";
    const std::string channels_alone = own + R"("patches": {"channels": 3}})";
    EXPECT_ERROR(read(channels_alone.c_str()), "patches that fit into the image");
    const std::string causal = own + R"("positions": 5, "learned_positions": true, "patches": {"channels": 3, )" +
                               R"("height": 4, "width": 4, "patch_height": 2, "patch_width": 2}})";
    EXPECT_ERROR(read(causal.c_str()), "an encoder of images");
}

TEST(Vit, ImagesThatDoNotFitAreRefused) {
    const TemporaryFolder folder;
    const Model<float> model = load_model(vit_folder("vit"));
    const auto path = folder.path() / "image.safetensors";
    const auto read = [&](const std::string& name, const std::vector<std::size_t>& shape, float value = 0) {
        std::size_t count = 1;
        for (const std::size_t size : shape) {
            count *= size;
        }
        std::vector<float> values(count);
        values[count - 1] = value;
        write_safetensors(path, std::vector{tensor(name, shape, values)});
        return read_embeddings(path, model, 1000);
    };
    EXPECT_EQ(read("pixel_values", {2, 13, 10}).tokens(), 16U);
    EXPECT_EQ(read("pixel_values", {1, 2, 13, 10}).tokens(), 16U);
    EXPECT_EQ(read("embeddings", {5, 24}).tokens(), 5U);
    EXPECT_ERROR(read("pixel_values", {2, 10, 13}), "[2, 13, 10]: channels, height and width");
    EXPECT_ERROR(read("pixel_values", {2, 2, 13, 10}), "pixel_values of shape [2, 2, 13, 10]");
    EXPECT_ERROR(read("pixel_values", {2, 13, 10}, NAN), "nan in row 25, column 9 of pixel_values");
    EXPECT_ERROR(read("pixels", {2, 13, 10}), "or 'pixel_values' of an image");
    const std::vector<float> some(260);
    const std::vector<float> rows(240);
    write_safetensors(path,
                      std::vector{tensor("pixel_values", {2, 13, 10}, some), tensor("embeddings", {10, 24}, rows)});
    EXPECT_ERROR(read_embeddings(path, model, 1000), "both embeddings and pixel_values");
    write_safetensors(path, std::vector{tensor("pixel_values", {2, 13, 10}, some)});
    EXPECT_ERROR(read_embeddings(path, load_model(golden_folder() / "gpt2"), 1000), "does not read images");
    Pass<float> pass(model, 3);
    EXPECT_ERROR(pass.forward(std::vector<std::int32_t>{1, 2, 3}), "whose tokens are patches of an image");
}

// The class token and the first patches, as --length asks for.
TEST(Vit, AnImageIsCutToTheTokensThatAreWanted) {
    const Model<float> model = load_model(vit_folder("vit"));
    const auto file = vit_folder("vit") / "expected.safetensors";
    const std::vector<double> all = SafeTensors::open(file).read<double>("hidden.0");
    const Input input = read_embeddings(file, model, 5);
    EXPECT_EQ(input.tokens(), 5U);
    EXPECT_LE(distance(input.rows, std::vector<double>(all.begin(), all.begin() + 5 * 24)), 1e-6);
}

TEST(Vit, IsSavedAndReadAgain) {
    const TemporaryFolder folder;
    const Model<float> model = load_model(vit_folder("vit"));
    save_model(model, folder.path());
    const Model<float> again = load_model(folder.path());
    EXPECT_EQ(again.architecture().family, "flyball");
    const SafeTensors expected = SafeTensors::open(vit_folder("vit") / "expected.safetensors");
    const std::vector<float> pixels = expected.read<float>("pixel_values");
    const std::vector<float> x0 = embed_image(again, std::span<const float>(pixels));
    EXPECT_EQ(x0, embed_image(model, std::span<const float>(pixels)));
    Pass<float> one(model, 16);
    Pass<float> two(again, 16);
    one.forward_rows(x0);
    two.forward_rows(x0);
    EXPECT_LE(distance(two.readout(), one.readout()), 1e-6);
}

}  // namespace
}  // namespace flyball::model::test::vit_test
