// Rows in place of tokens: x0 given as it is, forward and in reverse, and where it is read from.
#include "../core/support.hpp"
#include "core/file.hpp"
#include "model/input.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

// Everything a pass shows from the published hidden.0 is what torch computed from the tokens behind it.
TEST(Rows, OfAGoldenGiveItsHiddenStatesAndGradients) {
    for (const std::string& name : golden_names()) {
        const Model<float> model = load_model(golden_folder() / name);
        const SafeTensors expected = SafeTensors::open(golden_folder() / name / "expected.safetensors");
        const Architecture& a = model.architecture();
        const std::vector<float> x0 = expected.read<float>("hidden.0");
        const std::size_t tokens = x0.size() / a.dim;
        Seen<float> seen;
        const Taps<float> taps = seen.taps(a, tokens);
        Pass<float> pass(model, tokens);
        pass.forward_rows(x0, taps);
        const double bound = model.dtype() == "F32" ? 1e-5 : 1e-4;
        for (std::size_t l = 0; l <= a.layers; ++l) {
            const std::string hidden = "hidden." + std::to_string(l);
            EXPECT_LE(distance(seen.tensors[hidden], expected.read<double>(hidden)), bound) << name << " " << hidden;
        }
        for (std::size_t l = 0; l < a.layers; ++l) {
            const std::string attention = "attention." + std::to_string(l);
            EXPECT_LE(distance(seen.tensors[attention], expected.read<double>(attention)), bound) << name;
        }
    }
}

// The gradient of the rows is that of the embedding, block parameters get theirs, and tables get nothing.
TEST(Rows, HaveTheGradientOfTheEmbedding) {
    for (const auto& architecture : {tiny_architecture("x + dt*f(norm(x)) | norm(x)"),
                                     tiny_llama("o = f(norm(x)); x = norm(x + dt*o); y = y + dt*o | x + norm(y)")}) {
        Architecture a = architecture;
        a.tied = false;
        const Model<double> model = tiny_model<double>(a, 7);
        const std::vector<std::int32_t> targets = next_tokens(tiny_ids);
        for (const Keep keep : {Keep::inputs, Keep::everything}) {
            std::vector<double> x0;
            std::vector<double> expected;
            std::vector<double> got;
            Taps<double> see_x0;
            see_x0.add("embed", [&](const TapView<double>& view) {
                x0.assign(view.data, view.data + view.rows * view.columns);
            });
            const auto watch = [](std::vector<double>& to) {
                Taps<double> taps;
                taps.add("embed.grad", [&to](const TapView<double>& view) {
                    to.assign(view.data, view.data + view.rows * view.columns);
                });
                return taps;
            };
            Parameters<double> of_ids(model.layout());
            Parameters<double> of_rows(model.layout());
            Pass<double> pass(model, tiny_ids.size(), keep);
            pass.forward(tiny_ids, see_x0);
            const double loss = pass.loss_and_backward(targets, of_ids, 1, watch(expected));
            pass.forward_rows(x0);
            EXPECT_EQ(pass.loss_and_backward(targets, of_rows, 1, watch(got)), loss);
            EXPECT_EQ(got, expected);
            for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
                const int parameter = static_cast<int>(i);
                const std::size_t count = model.layout().parameters[i].elements();
                const std::vector<double> one(of_rows.at(parameter), of_rows.at(parameter) + count);
                const bool is_table = parameter == model.layout().tokens || parameter == model.layout().positions;
                const std::vector<double> two(of_ids.at(parameter), of_ids.at(parameter) + count);
                EXPECT_EQ(one, is_table ? std::vector<double>(count, 0.0) : two) << model.layout().parameters[i].name;
            }
            pass.forward(tiny_ids);  // and ids again after rows
            Parameters<double> again(model.layout());
            pass.loss_and_backward(targets, again);
            EXPECT_EQ(again.all(), of_ids.all());
        }
    }
}

// By differences: the gradient of the loss by one number of the rows.
TEST(Rows, GradientIsTheSlopeOfTheLoss) {
    const Model<double> model = tiny_model<double>(tiny_architecture("norm(x + dt*f(x))"), 3);
    const std::size_t n = 5;
    std::vector<double> x0(n * model.architecture().dim);
    const Random noise(4, 0);
    for (std::size_t i = 0; i < x0.size(); ++i) {
        x0[i] = noise.normal(i);
    }
    const std::vector<std::int32_t> targets = {1, 2, no_target, 4, 5};
    Pass<double> pass(model, n, Keep::inputs);
    Parameters<double> gradients(model.layout());
    std::vector<double> grad;
    Taps<double> taps;
    taps.add("embed.grad",
             [&](const TapView<double>& view) { grad.assign(view.data, view.data + view.rows * view.columns); });
    pass.forward_rows(x0);
    pass.loss_and_backward(targets, gradients, 1, taps);
    for (const std::size_t at : {0U, 9U, 22U, 39U}) {
        const double h = 1e-5;
        const auto loss_at = [&](double step) {
            std::vector<double> moved = x0;
            moved[at] += step;
            pass.forward_rows(moved);
            return pass.loss(targets);
        };
        const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
        EXPECT_GT(std::fabs(slope), 1e-6) << "nothing was tested";
        EXPECT_NEAR(grad[at], slope, 1e-6 * std::fabs(slope) + 1e-9) << at;
    }
}

TEST(Rows, OfAnotherSizeAreRefused) {
    const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    Pass<float> pass(model, 4);
    EXPECT_ERROR(pass.forward_rows(std::vector<float>(31)),
                 "got 31 numbers in rows, expected 32, 4 rows of 8 channels");
}

class EmbeddingsFile : public testing::Test {
  protected:
    ~EmbeddingsFile() override { std::filesystem::remove(file_); }
    Input read(std::size_t most = 100) const {
        static const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 1);
        return read_embeddings(file_, model, most);
    }
    void write(const std::string& name, const std::vector<std::size_t>& shape, const std::vector<float>& values) const {
        write_safetensors(file_, std::vector{tensor(name, shape, values)});
    }
    std::filesystem::path file_ =
        std::filesystem::temp_directory_path() / ("flyball-rows-" + std::to_string(getpid()) + ".safetensors");
};

TEST_F(EmbeddingsFile, IsReadAsRowsAndCut) {
    std::vector<float> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{3, 8}, {1, 3, 8}}) {
        write("embeddings", shape, values);
        const Input all = read();
        EXPECT_TRUE(all.has_rows());
        EXPECT_EQ(all.tokens(), 3U);
        EXPECT_EQ(all.rows, values);
        EXPECT_EQ(targets_of(all), std::vector<std::int32_t>(3, no_target));
        const Input two = read(2);
        EXPECT_EQ(two.rows, std::vector<float>(values.begin(), values.begin() + 16));
        EXPECT_EQ(all.first(2).rows, two.rows);
    }
}

TEST_F(EmbeddingsFile, ThatMakesNoSenseIsRefused) {
    write("embedding", {3, 8}, std::vector<float>(24));
    EXPECT_ERROR(read(), "no tensor 'embeddings'");
    write("embeddings", {4, 6}, std::vector<float>(24));
    EXPECT_ERROR(read(), "embeddings of shape [4, 6]");
    EXPECT_ERROR(read(), "[tokens, 8], the channels of this model");
    write("embeddings", {3, 1, 8}, std::vector<float>(24));
    EXPECT_ERROR(read(), "embeddings of shape [3, 1, 8]");
    write("embeddings", {0, 8}, {});
    EXPECT_ERROR(read(), "embeddings of shape [0, 8]");
    std::vector<float> values(24);
    values[17] = NAN;
    write("embeddings", {3, 8}, values);
    EXPECT_ERROR(read(), "nan in row 2, column 1 of embeddings");
    EXPECT_NO_THROW(read(2)) << "what is cut off is not looked at";
    values[17] = -INFINITY;
    write("embeddings", {3, 8}, values);
    EXPECT_ERROR(read(), "-inf in row 2, column 1");
    const std::vector<std::int64_t> whole(24);
    write_safetensors(file_, std::vector{tensor("embeddings", {3, 8}, whole)});
    EXPECT_ERROR(read(), "embeddings of type I64");
    write_file_atomically(file_, "this is a text, not a safetensors file");
    EXPECT_ERROR(read(), "this is not a safetensors file");
}

}  // namespace
}  // namespace flyball::model::test
