// Rotary positions as configurations publish them.
//
// Two spellings exist, an older one (rope_theta beside rope_scaling) and a newer one (all of it in rope_parameters),
// and files mix them. What counts where they disagree follows transformers 5:
//     rope_scaling, unless it is empty, before rope_parameters
//     rope_theta inside before outside, rope_type before type
//     original_max_position_embeddings outside before inside, for llama3 and yarn; dynamic does not look at it
//     partial_rotary_factor is not looked at without a scaling
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/family.hpp"

namespace flyball::model {

namespace {

constexpr const char* original_key = "original_max_position_embeddings";

ConfigReader parameters_of(const ConfigReader& config) {
    ConfigReader older = config.object("rope_scaling");
    ConfigReader parameters = older.json().empty() ? config.object("rope_parameters") : std::move(older);
    for (const auto& [key, value] : parameters.json().items()) {
        if (value.is_object()) {
            parameters.fail(key, "no objects inside", "rotary positions that differ by block are not supported");
        }
    }
    return parameters;
}

void check_positive(const ConfigReader& parameters, const char* key, double value) {
    if (!(value > 0)) {
        parameters.fail(key, "a number above 0");
    }
}

double original_positions(const ConfigReader& config, const ConfigReader& parameters, std::size_t positions) {
    const ConfigReader& from = config.has(original_key) ? config : parameters;
    const double original = from.number(original_key, static_cast<double>(positions));
    check_positive(from, original_key, original);
    return original;
}

// 0.1 m log(factor) + 1: how much hotter the scores of a stretched context should be (arXiv:2309.00071, section 3.4).
double temperature(double factor, double weight) {
    return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1;
}

void read_yarn(const ConfigReader& parameters, std::size_t positions, Rope& rope) {
    if (!parameters.has("factor")) {
        parameters.fail("factor", "a number, or null for the ratio of the two lengths");
    }
    rope.factor = parameters.number_or_null("factor", static_cast<double>(positions) / rope.original_positions);
    // 0 is no number of turns: it stands for the default too.
    const auto or_default = [&](const char* key, double fallback) {
        const double value = parameters.number_or_null(key, fallback);
        return value == 0 ? fallback : value;
    };
    rope.beta_fast = or_default("beta_fast", 32);
    rope.beta_slow = or_default("beta_slow", 1);
    check_positive(parameters, "beta_fast", rope.beta_fast);
    check_positive(parameters, "beta_slow", rope.beta_slow);
    rope.truncate = !parameters.is_null("truncate") && parameters.flag("truncate", true);
    const double above = parameters.number_or_null("mscale", 0);
    const double below = parameters.number_or_null("mscale_all_dim", 0);
    const double usual = above != 0 && below != 0 ? temperature(rope.factor, above) / temperature(rope.factor, below)
                                                  : temperature(rope.factor, 1);
    rope.attention_factor = parameters.number_or_null("attention_factor", usual);
    if (!std::isfinite(rope.attention_factor)) {
        parameters.fail("mscale_all_dim", "a number that makes a finite temperature");
    }
    if (rope.theta == 1) {
        parameters.fail("rope_theta", "a number other than 1 for yarn");
    }
}

}  // namespace

Rope rope_of(const ConfigReader& config, std::size_t head_dim, std::size_t positions) {
    const ConfigReader parameters = parameters_of(config);
    Rope rope;
    const ConfigReader& theta_from = parameters.has("rope_theta") ? parameters : config;
    rope.theta = theta_from.number("rope_theta", 10000);
    check_positive(theta_from, "rope_theta", rope.theta);
    rope.dims = head_dim;
    rope.original_positions = static_cast<double>(positions);
    if (head_dim % 2 != 0) {
        config.fail("head_dim", fmt::format("an even number of rotary channels, not {}", head_dim));
    }

    const char* const type_key = parameters.has("rope_type") ? "rope_type" : "type";
    const std::string type = parameters.text(type_key, "default");
    if (type == "default") {
        return rope;
    }
    if (type == "linear") {
        rope.scaling = Rope::Scaling::linear;
        rope.factor = parameters.number("factor");
    } else if (type == "dynamic") {
        rope.scaling = Rope::Scaling::dynamic;
        rope.factor = parameters.number("factor");
        if (head_dim < 4) {
            config.fail("head_dim", "at least 4 for dynamic rotary positions");
        }
    } else if (type == "llama3") {
        rope.scaling = Rope::Scaling::llama3;
        rope.factor = parameters.number("factor");
        rope.original_positions = original_positions(config, parameters, positions);
        rope.low_frequency = parameters.number("low_freq_factor");
        rope.high_frequency = parameters.number("high_freq_factor");
        check_positive(parameters, "low_freq_factor", rope.low_frequency);
        check_positive(parameters, "high_freq_factor", rope.high_frequency);
    } else if (type == "yarn") {
        rope.scaling = Rope::Scaling::yarn;
        rope.original_positions = original_positions(config, parameters, positions);
        read_yarn(parameters, positions, rope);
    } else {
        parameters.fail(type_key, "one of default, linear, dynamic, llama3, yarn");
    }
    check_positive(parameters, "factor", rope.factor);
    const ConfigReader& part_from = parameters.has("partial_rotary_factor") ? parameters : config;
    const double part = &part_from == &config ? config.number_or_null("partial_rotary_factor", 1)
                                              : parameters.number("partial_rotary_factor");
    if (std::floor(static_cast<double>(head_dim) * part) != static_cast<double>(head_dim)) {
        part_from.fail("partial_rotary_factor", "1", "scaled rotary positions turn whole heads");
    }
    return rope;
}

}  // namespace flyball::model
