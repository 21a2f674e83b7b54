// Rotary positions as configurations publish them.
//
// Two spellings exist, an older one (rope_theta beside rope_scaling) and a newer one (all of it in rope_parameters),
// and files mix them. What counts where they disagree follows transformers 5. One for all blocks:
//     rope_scaling, unless it is empty, before rope_parameters
//     rope_theta inside before outside, rope_type before type
//     original_max_position_embeddings outside before inside, for llama3 and yarn; dynamic does not look at it
//     partial_rotary_factor is not looked at without a scaling, unless the family turns a part of each head
// One for each type of block (Gemma 3, OLMo 3):
//     rope_scaling goes into full_attention of rope_parameters, key by key, and wins there; its `type` is then not
//     looked at unless rope_parameters is there too
//     original_max_position_embeddings inside alone, truncate beside the two objects alone
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/family_keys.hpp"

namespace flyball::model {

namespace {

constexpr const char* original_key = "original_max_position_embeddings";
constexpr const char* part_key = "partial_rotary_factor";

// One set of rotary positions on its way.
class RopeReader {
  public:
    // `truncate_from`: where yarn looks for truncate. `nested`: the parameters are of one type of block.
    RopeReader(const ConfigReader& config, const ConfigReader& parameters, const ConfigReader& truncate_from,
               const RopeKeys& keys, bool nested)
        : config_(config), parameters_(parameters), truncate_from_(truncate_from), keys_(keys), nested_(nested) {}

    Rope read(std::size_t head_dim, std::size_t positions) {
        rope_.theta = keys_.standard_theta;
        const bool inside = parameters_.has("rope_theta");
        const ConfigReader& theta_from = inside ? parameters_ : config_;
        const char* const theta_key = inside ? "rope_theta" : keys_.theta;
        if (theta_key != nullptr) {
            rope_.theta = theta_from.number(theta_key, keys_.standard_theta);
            check_positive(theta_from, theta_key, rope_.theta);
        }
        rope_.original_positions = static_cast<double>(positions);
        read_scaling(positions);
        read_channels(head_dim);
        return rope_;
    }

  private:
    static void check_positive(const ConfigReader& from, const char* key, double value) {
        if (!(value > 0)) {
            from.fail(key, "a number above 0");
        }
    }

    void read_scaling(std::size_t positions) {
        const char* const type_key = parameters_.has("rope_type") ? "rope_type" : "type";
        const std::string type = parameters_.text(type_key, "default");
        if (type == "default") {
            return;
        }
        if (type == "linear" || type == "dynamic") {
            rope_.scaling = type == "linear" ? Rope::Scaling::linear : Rope::Scaling::dynamic;
            rope_.factor = parameters_.number("factor");
        } else if (type == "llama3") {
            rope_.scaling = Rope::Scaling::llama3;
            rope_.factor = parameters_.number("factor");
            rope_.original_positions = original_positions(positions);
            rope_.low_frequency = parameters_.number("low_freq_factor");
            rope_.high_frequency = parameters_.number("high_freq_factor");
            check_positive(parameters_, "low_freq_factor", rope_.low_frequency);
            check_positive(parameters_, "high_freq_factor", rope_.high_frequency);
        } else if (type == "yarn") {
            rope_.scaling = Rope::Scaling::yarn;
            rope_.original_positions = original_positions(positions);
            read_yarn(positions);
        } else {
            parameters_.fail(type_key, "one of default, linear, dynamic, llama3, yarn");
        }
        check_positive(parameters_, "factor", rope_.factor);
    }

    double original_positions(std::size_t positions) const {
        const ConfigReader& from = config_.has(original_key) && !nested_ ? config_ : parameters_;
        const double original = from.number(original_key, static_cast<double>(positions));
        check_positive(from, original_key, original);
        return original;
    }

    // 0.1 m log(factor) + 1: how much hotter the scores of a stretched context should be (arXiv:2309.00071, 3.4).
    static double temperature(double factor, double weight) {
        return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1;
    }

    void read_yarn(std::size_t positions) {
        if (!parameters_.has("factor")) {
            parameters_.fail("factor", "a number, or null for the ratio of the two lengths");
        }
        rope_.factor = parameters_.number_or_null("factor", static_cast<double>(positions) / rope_.original_positions);
        // 0 is no number of turns: it stands for the default too.
        const auto or_default = [&](const char* key, double fallback) {
            const double value = parameters_.number_or_null(key, fallback);
            return value == 0 ? fallback : value;
        };
        rope_.beta_fast = or_default("beta_fast", 32);
        rope_.beta_slow = or_default("beta_slow", 1);
        check_positive(parameters_, "beta_fast", rope_.beta_fast);
        check_positive(parameters_, "beta_slow", rope_.beta_slow);
        rope_.truncate = !truncate_from_.is_null("truncate") && truncate_from_.flag("truncate", true);
        const double above = parameters_.number_or_null("mscale", 0);
        const double below = parameters_.number_or_null("mscale_all_dim", 0);
        const double usual = above != 0 && below != 0
                                 ? temperature(rope_.factor, above) / temperature(rope_.factor, below)
                                 : temperature(rope_.factor, 1);
        rope_.attention_factor = parameters_.number_or_null("attention_factor", usual);
        if (!std::isfinite(rope_.attention_factor)) {
            parameters_.fail("mscale_all_dim", "a number that makes a finite temperature");
        }
        if (rope_.theta == 1) {
            parameters_.fail("rope_theta", "a number other than 1 for yarn");
        }
    }

    // How many channels of a head turn.
    void read_channels(std::size_t head_dim) {
        const bool is_scaled = rope_.scaling != Rope::Scaling::none;
        const bool inside = parameters_.has(part_key);
        const ConfigReader& from = inside ? parameters_ : config_;
        const char* const key = inside || keys_.part == nullptr ? part_key : keys_.part;
        double part = 1;
        if (keys_.part != nullptr) {
            part = from.number(key, keys_.standard_part);
        } else if (is_scaled) {
            part = inside ? from.number(key) : from.number_or_null(key, 1);
        }
        const double channels = std::floor(static_cast<double>(head_dim) * part);
        const auto whole = static_cast<double>(head_dim);
        if (keys_.part == nullptr && channels != whole) {
            from.fail(key, "1", "scaled rotary positions turn whole heads");
        }
        if (!(channels >= 0 && channels <= whole)) {
            from.fail(key, "a share of a head, from 0 to 1");
        }
        rope_.dims = static_cast<std::size_t>(channels);
        rope_.odd = rope_.dims % 2 != 0;
        rope_.dims += rope_.odd ? 1 : 0;
        const auto fail = [&](const std::string& expected) {
            (keys_.part == nullptr ? config_ : from).fail(keys_.part == nullptr ? "head_dim" : key, expected);
        };
        if (rope_.dims > head_dim || (rope_.odd && rope_.scaling == Rope::Scaling::yarn)) {
            fail(fmt::format("an even number of rotary channels, not {}", channels));
        }
        if (rope_.scaling == Rope::Scaling::dynamic && channels == 2) {  // its exponent divides by channels - 2
            fail("another number of rotary channels than 2 for dynamic rotary positions");
        }
    }

    const ConfigReader& config_;
    const ConfigReader& parameters_;
    const ConfigReader& truncate_from_;
    const RopeKeys& keys_;
    bool nested_;
    Rope rope_;
};

bool is_there(const ConfigReader& config, const char* key) {
    return config.has(key) && !config.is_null(key);
}

// What Python takes for no: none, false, 0, and what is empty.
bool is_nothing(const ConfigReader& config, const char* key) {
    const auto found = config.json().find(key);
    return found == config.json().end() || found->empty() || *found == false || *found == 0 || *found == "";
}

}  // namespace

Rope rope_of(const ConfigReader& config, const RopeKeys& keys, std::size_t head_dim, std::size_t positions) {
    const ConfigReader parameters =
        config.object(is_nothing(config, "rope_scaling") ? "rope_parameters" : "rope_scaling");
    for (const auto& [key, value] : parameters.json().items()) {
        if (value.is_object()) {
            parameters.fail(key, "no objects inside", "this family has no rotary positions that differ by block");
        }
    }
    return RopeReader(config, parameters, parameters, keys, false).read(head_dim, positions);
}

LayerRopes layer_ropes_of(const ConfigReader& config, const RopeKeys& full, const RopeKeys& sliding,
                          std::size_t head_dim, std::size_t positions) {
    const ConfigReader parameters = config.object("rope_parameters");
    const auto type_of_block = [&](const char* key) {
        return is_there(parameters, key) ? parameters.object(key)
                                         : ConfigReader(Json{{"rope_type", "default"}}, parameters.what());
    };
    ConfigReader of_full = type_of_block("full_attention");
    if (is_there(config, "rope_scaling")) {
        if (is_there(config, "rope_parameters") && !is_there(parameters, "full_attention")) {
            parameters.fail("full_attention", "an object that rope_scaling can be added to");
        }
        Json joined = of_full.json();
        joined.update(config.object("rope_scaling").json());
        of_full = ConfigReader(std::move(joined), fmt::format("rope_scaling of {}", config.what()));
    }
    const ConfigReader of_sliding = type_of_block("sliding_attention");
    return {RopeReader(config, of_full, parameters, full, true).read(head_dim, positions),
            RopeReader(config, of_sliding, parameters, sliding, true).read(head_dim, positions)};
}

}  // namespace flyball::model
