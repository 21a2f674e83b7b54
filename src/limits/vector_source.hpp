// The vectors x of a layer as a pass goes through it, and their Gram matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "limits/gram.hpp"
#include "limits/settings.hpp"
#include "model/input.hpp"

namespace flyball::limits {

class VectorSource {
  public:
    // `all_keys`: every key counts in every row, seen or not.
    VectorSource(const model::Model<float>& model, const model::Input& input, Vectors vectors, bool all_keys);

    // Before the pass; `taps` must not outlive this.
    void listen(model::Taps<float>& taps);

    // Of the layer that runs now. For values each thread keeps the matrix of the head it is at.
    const Gram& gram(std::size_t layer, std::size_t head);
    const std::vector<Gram::Least>& least(std::size_t layer, std::size_t head);  // by token

  private:
    using View = model::TapView<float>;
    struct Prepared {
        Gram gram;
        std::vector<Gram::Least> least;
        std::uint64_t key = 0;  // of what it holds; 0: nothing
    };
    void prepare(Prepared& prepared, std::size_t layer, const float* x, std::size_t dim, std::size_t stride) const;
    Prepared& of_head(std::size_t layer, std::size_t head);

    const model::Architecture& architecture_;
    std::size_t tokens_;
    Vectors vectors_;
    bool all_keys_;
    std::uint64_t source_;  // no two sources have the same
    Prepared shared_;
    std::optional<std::size_t> prepared_window_;  // of embeddings: whose rows shared_.least is of
    std::vector<float> values_;                   // [tokens, kv_heads*head_dim]
};

}  // namespace flyball::limits
