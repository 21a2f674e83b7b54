// A configuration and its tensors, from bytes to a model that has run: an Error or a result, nothing else.
//
// Input: the text of config.json, a NUL, the bytes of model.safetensors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "model/pass.hpp"

namespace {

using namespace flyball;

void run(const model::Model<float>& model) {
    const model::Architecture& a = model.architecture();
    const std::vector<std::int32_t> ids = {0, 0, 0};
    if (a.layers * a.dim > 4096 || a.ffn_dim > 4096 || a.query_width() > 4096 || a.positions < ids.size()) {
        return;  // right, and slow under the sanitizers
    }
    model::Pass<float> pass(model, ids.size(), model::Keep::inputs);
    model::Parameters<float> gradients(model.layout());
    pass.forward(ids);
    if (pass.readout().size() != ids.size() * a.dim) {
        std::abort();
    }
    if (a.has_head) {
        pass.loss_and_backward(model::next_tokens(ids), gradients);
    } else {
        pass.backward(pass.readout().data(), gradients);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    set_threads(1);
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(all.find('\0'), all.size());
    const std::string_view rest = all.substr(std::min(end + 1, all.size()));
    // Tensors are floats in place: give them the alignment that a memory map has.
    std::vector<std::uint64_t> aligned(rest.size() / 8 + 1);
    std::copy(rest.begin(), rest.end(), reinterpret_cast<char*>(aligned.data()));
    try {
        const Json config = parse_json(all.substr(0, end), "config.json", {.max_depth = 16, .max_bytes = 1 << 20});
        const auto bytes = std::as_bytes(std::span(aligned)).first(rest.size());
        run(model::make_model(config, std::make_shared<const SafeTensors>(SafeTensors::parse(bytes, "tensors")),
                              "the model"));
    } catch (const Error&) {
        // What bad input is answered with.
    }
    return 0;
}
