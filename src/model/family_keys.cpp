#include "model/family_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace flyball::model {

void refuse(const ConfigReader& config, const char* key) {
    if (config.flag(key, false)) {
        config.fail(key, "false", "this part of the family is not supported");
    }
}

void refuse_general(const ConfigReader& config) {
    for (const char* const key : {"per_layer_config", "quantization_config"}) {
        if (config.has(key) && !config.is_null(key) && !config.object(key).json().empty()) {
            config.fail(key, "none", "this is not supported");
        }
    }
}

void refuse_bidirectional(const ConfigReader& config) {
    if (!config.flag("is_causal", true)) {
        config.fail("is_causal", "true", "a decoder without its causal mask is not supported");
    }
    constexpr const char* both_ways = "use_bidirectional_attention";
    if (!config.is_null(both_ways) && config.flag(both_ways, false)) {
        config.fail(both_ways, "false", "a decoder without its causal mask is not supported");
    }
}

std::size_t divided(const ConfigReader& config, const char* dim_key, std::size_t dim, std::size_t heads) {
    if (dim % heads != 0) {
        config.fail(dim_key, fmt::format("a multiple of the {} heads", heads));
    }
    return dim / heads;
}

bool needs_head(const ConfigReader& config) {
    const auto found = config.json().find("architectures");
    if (found == config.json().end() || !found->is_array() || found->empty() || !found->front().is_string()) {
        return false;
    }
    const auto& first = found->front().get_ref<const std::string&>();
    return first.find("LMHead") != std::string::npos || first.find("CausalLM") != std::string::npos ||
           first.find("ConditionalGeneration") != std::string::npos;
}

Activation activation_of(const ConfigReader& config, const char* key, const std::string& fallback) {
    static constexpr std::array<std::pair<std::string_view, Activation>, 10> known = {{
        {"gelu", Activation::gelu},
        {"gelu_python", Activation::gelu},
        {"gelu_new", Activation::gelu_tanh},
        {"gelu_fast", Activation::gelu_tanh},
        {"gelu_accurate", Activation::gelu_tanh},
        {"gelu_pytorch_tanh", Activation::gelu_tanh},
        {"gelu_python_tanh", Activation::gelu_tanh},
        {"silu", Activation::silu},
        {"swish", Activation::silu},
        {"relu", Activation::relu},
    }};
    const std::string text = config.text(key, fallback);
    std::vector<std::string_view> names;
    for (const auto& row : known) {
        if (row.first == text) {
            return row.second;
        }
        names.push_back(row.first);
    }
    config.fail(key, fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace flyball::model
