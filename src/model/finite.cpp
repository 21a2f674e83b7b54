#include "model/finite.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace flyball::model {

bool all_finite(std::span<const float> values) noexcept {
    // The exponent of a number that is not finite has all its bits set. Whole numbers, since a loop over them is run in
    // vectors, in pieces, so that a bad number at the front ends the search.
    constexpr std::uint32_t exponent = 0x7f800000U;
    constexpr std::size_t piece = 4096;
    for (std::size_t begin = 0; begin < values.size(); begin += piece) {
        const std::size_t end = std::min(values.size(), begin + piece);
        std::uint32_t bad = 0;
        for (std::size_t i = begin; i < end; ++i) {
            bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(values[i]) & exponent) == exponent);
        }
        if (bad != 0) {
            return false;
        }
    }
    return true;
}

std::vector<std::string> tensors_not_finite(const Model<float>& model) {
    std::vector<std::string> names;
    const std::vector<ParameterSpec>& specs = model.layout().parameters;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (!all_finite({model.at(static_cast<int>(i)), specs[i].elements()})) {
            names.push_back(specs[i].name);
        }
    }
    return names;
}

}  // namespace flyball::model
