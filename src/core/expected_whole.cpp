#include "core/expected_whole.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/number.hpp"

namespace flyball {

std::string expected_whole(std::string_view text, std::uint64_t least) {
    constexpr double exact = 9007199254740992;            // 2^53: up to here parse_whole reads exponents
    constexpr double too_large = 18446744073709551616.0;  // 2^64
    const auto value = parse_double(text);
    if (!value || *value <= exact || *value != std::trunc(*value)) {
        return fmt::format("a whole number, {} or more", least);
    }
    return *value >= too_large
               ? fmt::format("a whole number up to {}: this one is too large",
                             std::numeric_limits<std::uint64_t>::max())
               : fmt::format("all digits of a whole number this large: exponents are read up to {:.0f}", exact);
}

}  // namespace flyball
