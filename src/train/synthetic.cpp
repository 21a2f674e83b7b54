#include "train/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "train/batches.hpp"
#include "train/cold_reader.hpp"

namespace flyball::train {

namespace {

constexpr std::uint64_t stream = std::uint64_t{0x74657874} << 32U;  // of random numbers; see batches.cpp
constexpr std::size_t unseen = 4096;                                // tokens before the first that is given
constexpr std::size_t parts = 64;                                   // for the standard error

// The option in whose part of (0, 1) the number lies; the last one takes what rounding leaves.
Reader::Option chosen(std::span<const Reader::Option> options, double uniform) {
    for (const Reader::Option& option : options.first(options.size() - 1)) {
        if (uniform < option.probability) {
            return option;
        }
        uniform -= option.probability;
    }
    return options.back();
}

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the mean of independent values.
double standard_error(std::span<const double> values) {
    if (values.size() < 2) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double mean = mean_of(values);
    double sum = 0;
    for (const double value : values) {
        sum += (value - mean) * (value - mean);
    }
    const auto count = static_cast<double>(values.size());
    return std::sqrt(sum / (count - 1) / count);
}

// Mean -log p of the tokens after the first.
double cold_mean(const Language& language, std::span<const Token> window) {
    ColdReader reader(language, window.front());
    double sum = 0;
    for (const Token token : window.subspan(1)) {
        sum -= std::log(reader.read(token));
    }
    return sum / static_cast<double>(window.size() - 1);
}

}  // namespace

Generator::Generator(const Language& language, std::uint64_t seed) : reader_(language), random_(seed, stream) {
    while (drawn_ < unseen) {
        next();
    }
}

Reader::Option Generator::next() {
    const Reader::Option option = chosen(reader_.options(), random_.uniform(drawn_++));
    reader_.read(option.token);
    return option;
}

MeanAndError mean_and_error(std::span<const double> values) {
    const std::size_t length = std::max<std::size_t>(1, values.size() / parts);
    std::vector<double> means;
    for (std::size_t at = 0; at + length <= values.size(); at += length) {
        means.push_back(mean_of(values.subspan(at, length)));
    }
    return {mean_of(values), standard_error(means)};
}

// `mean` from what the generator knew of each token, `cold` by reading every window anew without the text before it.
EntropyFloor entropy_floor(const Language& language, std::span<const Token> tokens, std::span<const double> surprise,
                           std::size_t context) {
    EntropyFloor floor;
    const MeanAndError known = mean_and_error(surprise);
    floor.mean = known.mean;
    floor.error = known.error;
    floor.rate = language.entropy_rate();
    floor.context = context;
    for (const std::size_t start : validation_windows(tokens.size(), context, tokens.size())) {
        floor.windows.push_back(cold_mean(language, tokens.subspan(start, context + 1)));
    }
    const MeanAndError cold = mean_and_error(floor.windows);
    floor.cold = cold.mean;
    floor.cold_error = cold.error;
    return floor;
}

std::string synthetic_text(std::span<const Token> tokens) {
    std::string text(tokens.size(), ' ');
    std::transform(tokens.begin(), tokens.end(), text.begin(),
                   [](Token token) { return Language::alphabet()[static_cast<std::size_t>(token)]; });
    return text;
}

}  // namespace flyball::train
