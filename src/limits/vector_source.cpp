// Which vectors play x, caught from the taps of a pass. Embeddings serve all layers; streams are taken after the block
// before; values are per key-value head, and each thread keeps the Gram matrix of the head it is at.
#include "limits/vector_source.hpp"

#include <algorithm>
#include <atomic>

#include "limits/analysis.hpp"
#include "model/model_rows.hpp"

namespace flyball::limits {

namespace {

std::uint64_t next_source() {
    static std::atomic<std::uint64_t> count{0};
    return ++count;
}

}  // namespace

VectorSource::VectorSource(const model::Model<float>& model, const model::Input& input, Vectors vectors, bool all_keys)
    : architecture_(model.architecture()),
      tokens_(input.tokens()),
      vectors_(vectors),
      all_keys_(all_keys),
      source_(next_source()) {
    if (vectors_ != Vectors::embedding) {
        return;
    }
    model::check_ids(architecture_, input.ids);  // the pass looks at them later
    const std::size_t dim = architecture_.dim;
    const float* const table = model.at(model.layout().tokens);
    const auto scale = static_cast<float>(architecture_.embedding_scale);
    std::vector<float> x = input.rows;  // or, of tokens, their rows of the table, times the model's factor
    x.resize(tokens_ * dim);
    for (std::size_t t = 0; t < input.ids.size(); ++t) {
        for (std::size_t k = 0; k < dim; ++k) {
            x[t * dim + k] = scale * table[static_cast<std::size_t>(input.ids[t]) * dim + k];
        }
    }
    shared_.gram.assign(x.data(), tokens_, dim, dim);
}

void VectorSource::prepare(Prepared& prepared, std::size_t layer, const float* x, std::size_t dim,
                           std::size_t stride) const {
    if (x != nullptr) {
        prepared.gram.assign(x, tokens_, dim, stride);
    }
    std::vector<Seen> rows;
    for (std::size_t t = 0; t < tokens_; ++t) {
        rows.push_back(all_keys_ ? Seen{0, tokens_} : seen_by(architecture_, layer, t, tokens_));
    }
    prepared.least = prepared.gram.least_distances(rows);
}

void VectorSource::listen(model::Taps<float>& taps) {
    switch (vectors_) {
        case Vectors::embedding:
            // The vectors are those of all layers; which keys a row sees may differ. A block may call no attention.
            taps.add("blocks.*.attn.in", [this](const View& view) {
                const std::size_t window = architecture_.window(view.layer);
                if (prepared_window_ != window) {
                    prepare(shared_, view.layer, nullptr, 0, 0);
                    prepared_window_ = window;
                }
            });
            return;
        case Vectors::hidden:
            taps.add("embed", [this](const View& view) { prepare(shared_, 0, view.data, view.columns, view.stride); });
            taps.add("blocks.*.resid", [this](const View& view) {
                if (view.layer + 1 < architecture_.layers) {
                    prepare(shared_, view.layer + 1, view.data, view.columns, view.stride);
                }
            });
            return;
        case Vectors::value:
            taps.add("blocks.*.attn.value", [this](const View& view) {
                values_.resize(view.rows * view.columns);
                for (std::size_t t = 0; t < view.rows; ++t) {
                    std::copy_n(view.row(t), view.columns, values_.data() + t * view.columns);
                }
            });
            return;
    }
}

VectorSource::Prepared& VectorSource::of_head(std::size_t layer, std::size_t head) {
    if (vectors_ != Vectors::value) {
        return shared_;
    }
    thread_local Prepared own;
    const std::size_t group = head * architecture_.kv_heads / architecture_.heads;
    const std::uint64_t key = (source_ << 32U) + layer * architecture_.kv_heads + group;
    if (own.key != key) {
        const std::size_t dim = architecture_.head_dim;
        prepare(own, layer, values_.data() + group * dim, dim, architecture_.kv_heads * dim);
        own.key = key;
    }
    return own;
}

const Gram& VectorSource::gram(std::size_t layer, std::size_t head) {
    return of_head(layer, head).gram;
}

const std::vector<Gram::Least>& VectorSource::least(std::size_t layer, std::size_t head) {
    return of_head(layer, head).least;
}

}  // namespace flyball::limits
