#include "train/batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/random.hpp"

namespace flyball::train {

namespace {

// Streams of the random numbers of data order: far from those of parameters, which are counted from 0.
constexpr std::uint64_t streams = std::uint64_t{0x64617461} << 32U;

// floor(bits * count / 2^64) for count <= 2^32.
std::uint64_t scaled(std::uint64_t bits, std::uint64_t count) noexcept {
    const std::uint64_t high = bits >> 32U;
    const std::uint64_t low = bits & 0xFFFFFFFFU;
    return (high * count + (low * count >> 32U)) >> 32U;
}

}  // namespace

Batches::Batches(std::span<const Token> tokens, std::size_t context, std::size_t sequences, std::uint64_t seed)
    : tokens_(tokens), context_(context), sequences_(sequences), seed_(seed) {
    if (context == 0 || sequences == 0 || tokens.size() <= context) {
        throw Error(ErrorKind::input, "train.batches",
                    fmt::format("{} tokens for {} windows of {}", tokens.size(), sequences, context),
                    "at least one window of at least one token, and one token more than a window has");
    }
}

std::size_t Batches::start(std::uint64_t step, std::size_t window) const noexcept {
    // Starts 0 .. size - context - 1: the last target of the last one is the last token.
    return scaled(Random(seed_, streams + window).bits(step), tokens_.size() - context_);
}

void Batches::fill(std::uint64_t step, std::size_t micro_batch, std::vector<std::int32_t>& ids,
                   std::vector<std::int32_t>& targets) const {
    ids.resize(sequences_ * context_);
    targets.resize(sequences_ * context_);
    for (std::size_t s = 0; s < sequences_; ++s) {
        const Token* const window = tokens_.data() + start(step, micro_batch * sequences_ + s);
        std::copy(window, window + context_, ids.data() + s * context_);
        std::copy(window + 1, window + 1 + context_, targets.data() + s * context_);
    }
}

std::vector<std::size_t> validation_windows(std::size_t tokens, std::size_t context, std::size_t most) {
    const std::size_t all = context == 0 || tokens == 0 ? 0 : (tokens - 1) / context;
    const std::size_t count = std::min(all, most);
    std::vector<std::size_t> starts(count);
    for (std::size_t i = 0; i < count; ++i) {
        starts[i] = i * all / count * context;
    }
    return starts;
}

}  // namespace flyball::train
