// The likeliest next tokens at every place of a text, and how likely they are.
//
// Listens to the logits of a pass, which exist for a block of rows at a time: memory is [rows, count], not
// [rows, vocab]. Equal logits are ordered by id, the lower first; NaN comes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/architecture.hpp"
#include "model/taps.hpp"

namespace flyball::model {

class TopTokens {
  public:
    // Error(usage) for more tokens than the vocabulary has, and for a model without a head.
    TopTokens(const Architecture& architecture, std::size_t rows, std::size_t count);

    // `taps` must not outlive this; they are for loss() or losses() of the pass.
    void listen(Taps<float>& taps);

    std::size_t count() const { return count_; }
    // [rows, count], the likeliest first: the tokens that may follow row's token, and log p of each in nats.
    const std::vector<std::int64_t>& ids() const { return ids_; }
    const std::vector<float>& log_probabilities() const { return log_probabilities_; }

  private:
    void take(const TapView<float>& view);

    std::size_t count_;
    std::vector<std::int64_t> ids_;
    std::vector<float> log_probabilities_;
};

}  // namespace flyball::model
