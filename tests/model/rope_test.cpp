// Rotary frequencies in float, bit by bit as published programs make them, and in double as the formulas say.
#include "model/rope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"

namespace flyball::model {
namespace {

Rope rope_of_kind(const std::string& kind, double theta) {
    Rope rope;
    rope.dims = 128;
    rope.theta = theta;
    if (kind == "linear") {
        rope.scaling = Rope::Scaling::linear;
        rope.factor = 3.5;
    } else if (kind == "dynamic") {
        rope.scaling = Rope::Scaling::dynamic;
        rope.factor = 3;
        rope.original_positions = 4096;
    } else if (kind == "llama3") {
        rope.scaling = Rope::Scaling::llama3;
        rope.factor = 8;
        rope.original_positions = 8192;
    } else if (kind == "yarn") {
        rope.scaling = Rope::Scaling::yarn;
        rope.factor = 4;
        rope.original_positions = 32768;
    }
    return rope;
}

// torch's own powers of floats are not always the nearest float: a few in a hundred differ in the last bit or two.
// Frequencies that are rounded only once differ in two of five, and angles at position 10,000 by 6e-4.
TEST(Rope, FrequenciesInFloatAreThoseOfTorch) {
    const auto path = std::filesystem::path(flyball::test::source_folder) / "tests/model/rope_numbers.json";
    const Json made = parse_json(read_text_file(path, 1 << 20), "rope_numbers.json");
    ASSERT_EQ(made.size(), 15U);
    for (const Json& one : made) {
        const std::string kind = one.at("kind").get<std::string>();
        const double theta = one.at("theta").get<double>();
        const Rope rope = rope_of_kind(kind, theta);
        const std::vector<float> frequencies = rope_frequencies<float>(rope, 6000);
        const std::vector<double> exact = rope_frequencies<double>(rope, 6000);
        ASSERT_EQ(frequencies.size(), one.at("bits").size());
        std::size_t differ = 0;
        for (std::size_t i = 0; i < frequencies.size(); ++i) {
            const auto expected = std::bit_cast<float>(one.at("bits")[i].get<std::int32_t>());
            differ += frequencies[i] == expected ? 0 : 1;
            EXPECT_NEAR(frequencies[i], expected, 4e-7 * expected) << kind << ' ' << theta << ' ' << i;
            EXPECT_NEAR(exact[i], expected, 4e-6 * expected) << kind << ' ' << theta << ' ' << i;
        }
        EXPECT_LE(differ, 6U) << kind << ' ' << theta << ", of " << frequencies.size();
    }
}

// 1/(theta ** (torch.arange(0, dims, 2).float()/dims)): the quotients of 2 i and 128 above are floats, others are
// rounded to one, and the power makes ln(theta) times as much of it. In double nothing of this is rounded.
TEST(Rope, ExponentsInFloatAreRoundedAsTorchRoundsThem) {
    for (const std::size_t dims : {80U, 96U, 24U}) {
        Rope rope;
        rope.dims = dims;
        rope.theta = 1e6;
        const std::vector<float> frequencies = rope_frequencies<float>(rope, 100);
        const std::vector<double> exact = rope_frequencies<double>(rope, 100);
        ASSERT_EQ(frequencies.size(), dims / 2);
        ASSERT_EQ(exact.size(), dims / 2);
        double rounded_away = 0;
        for (std::size_t i = 0; i < dims / 2; ++i) {
            const double exponent = static_cast<double>(2 * i) / static_cast<double>(dims);
            const float rounded = static_cast<float>(2 * i) / static_cast<float>(dims);
            const double expected = std::pow(1e6, -static_cast<double>(rounded));
            const double wide = std::pow(1e6, -exponent);
            // The power and its inverse are rounded to floats, by at most 6e-8 each.
            EXPECT_NEAR(frequencies[i] / expected, 1, 1.3e-7) << dims << ' ' << i;
            EXPECT_NEAR(exact[i] / wide, 1, 1e-14) << dims << ' ' << i;
            rounded_away = std::max(rounded_away, std::fabs(wide / expected - 1));
        }
        EXPECT_GT(rounded_away, 2.6e-7) << "nothing is tested with " << dims << " channels";
    }
}

}  // namespace
}  // namespace flyball::model
