#include "model/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "model/patches.hpp"

namespace flyball::model {

namespace {

// A tensor of rows or of pixels, checked before it is read.
class NumbersFile {
  public:
    explicit NumbersFile(const std::filesystem::path& file)
        : tensors_(SafeTensors::open(file)), what_(flyball::quoted(file.string())) {}

    bool has(const char* name) const { return tensors_.contains(name); }

    [[noreturn]] void fail(const std::string& got, const std::string& expected) const {
        throw Error(ErrorKind::input, "model.embeddings", fmt::format("{} in {}", got, what_), expected);
    }

    // Without the 1 of a batch.
    std::vector<std::size_t> shape(const std::string& name, std::size_t dimensions) const {
        std::vector<std::size_t> shape = tensors_.info(name).shape;
        if (shape.size() == dimensions + 1 && shape[0] == 1) {
            shape.erase(shape.begin());
        }
        return shape;
    }

    std::string shape_text(const std::string& name) const {
        return fmt::format("{} of shape [{}]", name, fmt::join(tensors_.info(name).shape, ", "));
    }

    // The first `count` numbers, all of them finite. `width`: of a row, for the message.
    std::vector<float> read(const std::string& name, std::size_t count, std::size_t width) const {
        const TensorInfo& info = tensors_.info(name);
        if (!is_floating(info.dtype)) {
            fail(fmt::format("{} of type {}", name, flyball::name(info.dtype)), "F32, F16, BF16 or F64");
        }
        std::vector<float> values = tensors_.read<float>(name);
        values.resize(count);
        const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
        if (bad != values.end()) {
            const auto at = static_cast<std::size_t>(bad - values.begin());
            fail(fmt::format("{} in row {}, column {} of {}", *bad, at / width, at % width, name), "finite numbers");
        }
        return values;
    }

  private:
    SafeTensors tensors_;
    std::string what_;
};

std::vector<float> image_rows(const NumbersFile& file, const Model<float>& model) {
    const Architecture& a = model.architecture();
    const Patches& p = a.patches;
    if (!p.any()) {
        file.fail("pixel_values", fmt::format("embeddings: a {} model does not read images", a.family));
    }
    if (file.shape("pixel_values", 3) != std::vector{p.channels, p.height, p.width}) {
        file.fail(file.shape_text("pixel_values"),
                  fmt::format("[{}, {}, {}]: channels, height and width of this model's images", p.channels, p.height,
                              p.width));
    }
    const std::vector<float> pixels = file.read("pixel_values", p.channels * p.height * p.width, p.width);
    return embed_image(model, std::span<const float>(pixels));
}

}  // namespace

Input Input::first(std::size_t count) const {
    Input part;
    part.dim = dim;
    if (has_rows()) {
        part.rows.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count * dim));
    } else {
        part.ids.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return part;
}

void forward(Pass<float>& pass, const Input& input, const Taps<float>& taps) {
    if (input.has_rows()) {
        pass.forward_rows(input.rows, taps);
    } else {
        pass.forward(input.ids, taps);
    }
}

std::vector<std::int32_t> targets_of(const Input& input) {
    return input.has_rows() ? std::vector<std::int32_t>(input.tokens(), no_target) : next_tokens(input.ids);
}

Input read_embeddings(const std::filesystem::path& path, const Model<float>& model, std::size_t most) {
    const NumbersFile file(path);
    const std::size_t dim = model.architecture().dim;
    Input input;
    input.dim = dim;
    const bool has_rows = file.has("embeddings");
    const bool has_pixels = file.has("pixel_values");
    if (has_rows == has_pixels) {
        file.fail(has_rows ? "both embeddings and pixel_values" : "no tensor 'embeddings'",
                  fmt::format("{}a tensor 'embeddings' of shape [tokens, {}], the channels of this model{}",
                              has_rows ? "one of them: " : "", dim,
                              model.architecture().patches.any() ? ", or 'pixel_values' of an image" : ""));
    }
    if (has_pixels) {
        input.rows = image_rows(file, model);
        input.rows.resize(std::min(most, input.tokens()) * dim);
        return input;
    }
    const std::vector<std::size_t> shape = file.shape("embeddings", 2);
    if (shape.size() != 2 || shape[0] == 0 || shape[1] != dim) {
        file.fail(file.shape_text("embeddings"), fmt::format("[tokens, {}], the channels of this model", dim));
    }
    input.rows = file.read("embeddings", std::min(most, shape[0]) * dim, dim);
    return input;
}

}  // namespace flyball::model
