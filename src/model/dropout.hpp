// Dropout (Srivastava et al. 2014): a share of the numbers becomes 0, the others are divided by 1 - share.
//
//     y_i = m_i x_i / (1 - share)        m_i = 0 with probability share, otherwise 1
//
// Where: the embedding x0 (after its norm, where there is one), the weights of attention, and the output of each
// sub-layer, which is what the equation calls f. GPT-2 and nanoGPT have it in the same three places.
//
// Masks are never stored: m_i is a function of the seed, the place, the block, the call within the block and i alone
// (32 bits of Philox for each number), so reverse mode, a block that is computed again and any number of threads see
// the same mask. A share of 0 costs nothing. Every forward pass in training wants a seed of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flyball::model {

struct Dropout {
    double share = 0;  // from 0 to below 1
    std::uint64_t seed = 0;
    std::size_t first_sequence = 0;  // of a pass over a part of a batch: masks are those of the whole
};

// Throws Error(usage) for a share that is none.
void check(const Dropout& dropout);

// The numbers of one place. Copyable, stateless, for any thread.
class DropoutMask {
  public:
    enum class Place : std::uint8_t { embedding, weights, branch };

    DropoutMask() = default;  // keeps everything
    DropoutMask(const Dropout& dropout, Place place, std::size_t layer = 0, std::size_t call = 0);

    bool any() const { return share_ > 0; }

    // The same with numbers counted from `first`.
    DropoutMask from(std::uint64_t first) const {
        DropoutMask mask = *this;
        mask.first_ += first;
        return mask;
    }

    // out_k = in_k times the mask of number first + k; out may be in. Adds nothing to the time when there is no mask,
    // but copies.
    template <class Real>
    void apply(std::uint64_t first, std::size_t count, const Real* in, Real* out) const;

    // The same for a whole array, shared among threads.
    template <class Real>
    void apply_all(std::size_t count, const Real* in, Real* out) const;

  private:
    double share_ = 0;
    std::uint64_t seed_ = 0;
    std::uint64_t stream_ = 0;
    std::uint64_t first_ = 0;
};

}  // namespace flyball::model
