// Which windows of the data a step of training sees.
//
// A step draws its windows uniformly, with replacement, among all places where a whole one fits, as nanoGPT does. The
// start of each is a pure function of (seed, step, number of the window in the step): the same for every model and
// scheme, after a restart, and however a step is cut into micro-batches (two of 8 sequences are one of 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/encoding.hpp"

namespace flyball::train {

class Batches {
  public:
    // More tokens than the context, at least one sequence; the tokens must outlive this object.
    Batches(std::span<const Token> tokens, std::size_t context, std::size_t sequences, std::uint64_t seed);

    // ids, targets: [sequences, context]; targets are ids shifted by one. Window s of a micro-batch is window
    // micro_batch * sequences + s of the step.
    void fill(std::uint64_t step, std::size_t micro_batch, std::vector<std::int32_t>& ids,
              std::vector<std::int32_t>& targets) const;

    // Where a window starts.
    std::size_t start(std::uint64_t step, std::size_t window) const noexcept;

  private:
    std::span<const Token> tokens_;
    std::size_t context_;
    std::size_t sequences_;
    std::uint64_t seed_;
};

// Starts of windows of the validation part, in order: one window after another, each with its context + 1 tokens whole,
// neighbours sharing the one token that is target of the first and input of the second; evenly spread over all of these
// when there are more than `most`. Every start is a multiple of the context.
std::vector<std::size_t> validation_windows(std::size_t tokens, std::size_t context, std::size_t most);

}  // namespace flyball::train
