#include "core/number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace flyball {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// std::from_chars reads no leading plus; "+-1" must not slip through once the plus is gone.
std::optional<std::string_view> without_plus(std::string_view text) {
    if (text.empty() || text.front() != '+') {
        return text;
    }
    text.remove_prefix(1);
    if (text.empty() || text.front() == '-') {
        return std::nullopt;
    }
    return text;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
    const auto unsigned_text = without_plus(text);
    if (!unsigned_text) {
        return std::nullopt;
    }
    text = *unsigned_text;
    // from_chars would accept "inf" and "nan": after the sign there must be a digit or a point.
    const std::size_t first = !text.empty() && text.front() == '-' ? 1 : 0;
    if (first >= text.size() || !(is_digit(text[first]) || text[first] == '.')) {
        return std::nullopt;
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
}

bool is_lost(double value, std::string_view text) noexcept {
    return value == 0 && text.substr(0, text.find_first_of("eE")).find_first_of("123456789") != std::string_view::npos;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    const auto unsigned_text = without_plus(text);
    if (!unsigned_text) {
        return std::nullopt;
    }
    text = *unsigned_text;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
    const auto digits = without_plus(text);
    if (!digits) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (error == std::errc{} && end == digits->data() + digits->size()) {
        return value;
    }
    const auto real = parse_double(text);
    constexpr double exact = 9007199254740992;  // 2^53: above, a double no longer says which whole number was meant
    if (!real || *real < 0 || *real > exact || *real != std::trunc(*real)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(*real);
}

namespace {

// "1.5e+07" as people write it: 1.5e7.
std::string with_plain_exponent(std::string_view shortest) {
    const std::size_t e = shortest.find('e');
    std::string text(shortest.substr(0, e));
    if (e != std::string_view::npos) {
        std::size_t digits = e + 2;  // to_chars always writes a sign and at least two digits
        while (digits + 1 < shortest.size() && shortest[digits] == '0') {
            ++digits;
        }
        text += shortest[e + 1] == '-' ? "e-" : "e";
        text += shortest.substr(digits);
    }
    return text;
}

constexpr double written_out = 1e6;  // the shortest text of 100000 is "1e+05"; people write such numbers out

}  // namespace

std::string format_double(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    std::array<char, 64> buffer{};
    char* const first = buffer.data();
    char* const last = first + buffer.size();
    if (std::fabs(value) < written_out && value == std::trunc(value)) {
        return {first, std::to_chars(first, last, value, std::chars_format::fixed).ptr};
    }
    return with_plain_exponent({first, static_cast<std::size_t>(std::to_chars(first, last, value).ptr - first)});
}

std::string format_short(double value, int digits) {
    const double size = std::fabs(value);
    if (!std::isfinite(value) || (size < written_out && value == std::trunc(value))) {
        return format_double(value);
    }
    std::array<char, 64> buffer{};
    char* const first = buffer.data();
    char* const last = first + buffer.size();
    const auto text = [&](std::chars_format format, int precision) {
        const char* const end = std::to_chars(first, last, value, format, precision).ptr;
        return std::string(first, static_cast<std::size_t>(end - first));
    };
    const std::string general = text(std::chars_format::general, digits);  // as printf's %g
    const bool has_exponent = general.find('e') != std::string::npos;
    return has_exponent && size >= 1 && size < written_out - 0.5 ? text(std::chars_format::fixed, 0)
                                                                 : with_plain_exponent(general);
}

}  // namespace flyball
