// Numbers as text, independent of the locale.
//
// Promises: the whole text must be one number; format_double gives the shortest text that parse_double reads back to
// the same bits. Not here: units, hexadecimal, digit separators, and inf or nan as input (no option wants them).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flyball {

// "1e-4", ".5", "2.", "+3"; nullopt for anything else, and for values beyond the range of double (1e999, 1e-999).
std::optional<double> parse_double(std::string_view text);

// Whether `text`, which somebody else has read as `value`, says another number than the 0 it has become (1e-999).
bool is_lost(double value, std::string_view text) noexcept;

// Decimal digits with an optional sign; nullopt when the value does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A count or a seed: digits, all 64 bits of them, or another spelling of the same whole number up to 2^53 ("1e6",
// "32.0"); nullopt for negative and fractional values.
std::optional<std::uint64_t> parse_whole(std::string_view text);

// "0.25", "100000", "1e-4", "1e100": no padding and no plus in the exponent; whole numbers below 1e6 without one.
// Non-finite values are "inf", "-inf" and "nan".
std::string format_double(double value);

// For tables: `digits` significant digits, and more where they stand before the point: 0.0123, 1235, 1.24e7 in three.
// Whole numbers below 1e6 are written out (1024, never 1.02e+03); an exponent only below 1e-4 and from 1e6 on.
std::string format_short(double value, int digits);

}  // namespace flyball
