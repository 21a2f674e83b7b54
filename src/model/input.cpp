#include "model/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/safetensors.hpp"

namespace flyball::model {

namespace {

constexpr std::string_view where_embeddings = "model.embeddings";

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

Input read_embeddings(const std::filesystem::path& file, const Architecture& architecture, std::size_t most) {
    const SafeTensors tensors = SafeTensors::open(file);
    const std::string what = flyball::quoted(file.string());
    const auto fail = [&](const std::string& got) {
        throw Error(
            ErrorKind::input, where_embeddings, fmt::format("{} in {}", got, what),
            fmt::format("a floating-point tensor 'embeddings' of shape [tokens, {}], the channels of this model",
                        architecture.dim));
    };
    if (!tensors.contains("embeddings")) {
        fail("no tensor 'embeddings'");
    }
    const TensorInfo& info = tensors.info("embeddings");
    std::vector<std::size_t> shape = info.shape;
    if (shape.size() == 3 && shape[0] == 1) {
        shape.erase(shape.begin());  // a batch of one
    }
    if (shape.size() != 2 || shape[0] == 0 || shape[1] != architecture.dim) {
        fail(fmt::format("embeddings of shape [{}]", fmt::join(info.shape, ", ")));
    }
    if (!is_floating(info.dtype)) {
        fail(fmt::format("embeddings of type {}", name(info.dtype)));
    }
    Input input;
    input.dim = architecture.dim;
    input.rows = tensors.read<float>("embeddings");
    input.rows.resize(std::min(most, shape[0]) * input.dim);
    const auto bad =
        std::find_if(input.rows.begin(), input.rows.end(), [](float value) { return !std::isfinite(value); });
    if (bad != input.rows.end()) {
        const auto at = static_cast<std::size_t>(bad - input.rows.begin());
        fail(fmt::format("{} in row {}, channel {} of the embeddings", *bad, at / input.dim, at % input.dim));
    }
    return input;
}

}  // namespace flyball::model
