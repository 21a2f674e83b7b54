// Generation with keys and values kept; and the test of whether they may be.
#include "model/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/row_weights.hpp"
#include "core/error.hpp"
#include "model/linear.hpp"
#include "model/logit_scale.hpp"
#include "model/model_rows.hpp"
#include "model/pass.hpp"
#include "scheme/row_kernels.hpp"
#include "scheme/typing.hpp"

namespace flyball::model {

namespace {

bool is_dynamic(const Rope& rope) {
    return rope.dims > 0 && rope.scaling == Rope::Scaling::dynamic;
}

// From how many tokens on frequencies depend on the length.
double longest_with_fixed_frequencies(const Architecture& a) {
    double longest = std::numeric_limits<double>::infinity();
    for (const Rope& rope : {a.rope, a.window_rope.value_or(a.rope)}) {
        longest = is_dynamic(rope) ? std::min(longest, rope.original_positions) : longest;
    }
    return longest;
}

// Whether any statement or the readout reads n.
bool reads_tokens(const scheme::Program& program) {
    bool found = false;
    const auto look = [&](const scheme::Expression& e) {
        found = found || (e.kind == scheme::Expression::Kind::quantity && e.quantity == scheme::Quantity::n);
    };
    for (const scheme::SubLayer sub_layer : {scheme::SubLayer::attention, scheme::SubLayer::feed_forward}) {
        for (const scheme::Statement& statement : program.statements(sub_layer)) {
            scheme::walk(*statement.value, look);
        }
    }
    scheme::walk(*program.readout(), look);
    return found;
}

}  // namespace

void check_can_generate(const Architecture& architecture) {
    if (!architecture.causal || !architecture.has_head) {
        throw Error(ErrorKind::input, "model.generate",
                    fmt::format("a {} model, {}", architecture.family,
                                architecture.causal ? "which has no head for the next token"
                                                    : "an encoder, whose tokens see those that follow them"),
                    "a causal model with a head, which predicts the next token from those before it");
    }
}

bool has_exact_cache(const Architecture& architecture, const scheme::Program& program, std::size_t tokens) {
    return architecture.causal && !reads_tokens(program) &&
           !attention::form_of(architecture.attention_kind).by_tokens &&
           static_cast<double>(tokens) <= longest_with_fixed_frequencies(architecture);
}

// What runs a number of rows through the blocks.
template <class Real>
struct Generator<Real>::Rows {
    Rows(const Model<Real>& model, std::size_t rows)
        : step(model.program(), scheme::SubLayers::attention_and_ffn, rows, model.architecture().dim),
          runner(model, rows) {}
    scheme::RowStep<Real> step;
    SubLayerRunner<Real> runner;  // of the FFN; attention is here
};

template <class Real>
Generator<Real>::Generator(const Model<Real>& model)
    : model_(model),
      architecture_(model.architecture()),
      readout_parameters_(block_parameters_of(model, model.layout().readout_norms, model.layout().readout_learned)),
      one_(std::make_unique<Rows>(model, 1)),
      caches_(model.architecture().layers) {
    check_can_generate(architecture_);
    for (const BlockLayout& block : model.layout().blocks) {
        parameters_.push_back(block_parameters_of(model, block.norms, block.learned));
    }
}

template <class Real>
Generator<Real>::~Generator() = default;

template <class Real>
scheme::Environment Generator<Real>::environment(std::size_t layer) const {
    return scheme::Environment::block(layer + 1, architecture_.layers, architecture_.dt, ids_.size(),
                                      architecture_.dim);
}

template <class Real>
void Generator<Real>::clear() {
    ids_.clear();
    logits_.clear();
    for (std::vector<Cache>& calls : caches_) {
        for (Cache& cache : calls) {
            cache.keys.clear();
            cache.values.clear();
        }
    }
}

template <class Real>
void Generator<Real>::take(std::span<const std::int32_t> ids) {
    if (ids.empty()) {
        throw Error(ErrorKind::input, "model.generate", "no tokens", "at least one");
    }
    check_ids(architecture_, ids);
    const std::size_t first = ids_.size();
    check_length(architecture_, first + ids.size());
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    try {
        if (has_exact_cache(architecture_, model_.program(), ids_.size())) {
            run(first);
        } else {
            run_again();
        }
    } catch (...) {
        clear();
        throw;
    }
}

template <class Real>
void Generator<Real>::run_again() {
    Pass<Real> pass(model_, ids_.size());
    pass.forward(ids_);
    set_logits(pass.readout().data() + (ids_.size() - 1) * architecture_.dim);
}

// Frequencies of what is cached do not depend on the table's length: dynamic scaling ends at the trained length here.
template <class Real>
void Generator<Real>::grow_ropes(std::size_t tokens) {
    if (tokens <= rope_tokens_) {
        return;
    }
    const double fixed = longest_with_fixed_frequencies(architecture_);
    const double most = std::isfinite(fixed) ? fixed : static_cast<double>(architecture_.positions);
    constexpr std::size_t least = 64;
    const auto more = static_cast<double>(std::max(2 * rope_tokens_, least));
    rope_tokens_ = std::max(tokens, static_cast<std::size_t>(std::min(most, more)));  // most may fit no size_t
    ropes_ = RopeTables<Real>(architecture_, rope_tokens_);
}

// The new rows alone go through the blocks. Everything but attention works row by row, so nothing of the rows before is
// needed; attention finds their keys and values in the cache. Only the last row is read out.
template <class Real>
void Generator<Real>::run(std::size_t first) {
    const std::size_t rows = ids_.size() - first;
    const std::size_t dim = architecture_.dim;
    grow_ropes(ids_.size());
    std::vector<Real> x0(rows * dim);
    for (std::size_t i = 0; i < rows; ++i) {
        embed_token(model_, ids_[first + i], first + i, x0.data() + i * dim);
    }
    if (architecture_.embedding_norm) {
        const std::vector<Real> before = x0;
        scheme::row_kernels<Real>().apply(row_map_of(model_, model_.layout().embedding_norm), rows, dim, before.data(),
                                          x0.data());
    }
    auto state = scheme::State<Real>::start(model_.program(), rows, dim, std::move(x0));
    std::unique_ptr<Rows> several;
    if (rows > 1) {
        several = std::make_unique<Rows>(model_, rows);
    }
    Rows& machines = several ? *several : *one_;
    for (std::size_t l = 0; l < architecture_.layers; ++l) {
        std::size_t calls = 0;  // of attention, in the order of the equation
        machines.step.layer(
            environment(l), state,
            [&](scheme::SubLayer sub_layer, const Real* in, Real* out) {
                if (sub_layer == scheme::SubLayer::feed_forward) {
                    machines.runner.forward(l, sub_layer, in, out, room_, false, Taps<Real>());
                    return;
                }
                caches_[l].resize(std::max(caches_[l].size(), calls + 1));
                attention(l, caches_[l][calls++], first, rows, in, out);
            },
            parameters_[l]);
    }
    scheme::State<Real> last{
        1, dim, {}, {state.embedding.end() - static_cast<std::ptrdiff_t>(dim), state.embedding.end()}};
    for (const std::vector<Real>& stream : state.streams) {
        last.streams.emplace_back(stream.end() - static_cast<std::ptrdiff_t>(dim), stream.end());
    }
    one_->step.readout(environment(architecture_.layers - 1), last, readout_, readout_parameters_);
    set_logits(readout_.data());
}

// Appends keys and values of the new rows, then attends: all rows at once when they are the whole sequence, else row by
// row against the cache, each seeing as many tokens as come up to it.
template <class Real>
void Generator<Real>::attention(std::size_t layer, Cache& cache, std::size_t first, std::size_t rows, const Real* in,
                                Real* out) {
    const std::size_t width = architecture_.qkv_width();
    const std::size_t query = architecture_.query_width();
    const std::size_t key = architecture_.key_width();
    queries_keys_values(model_, layer, ropes_, Batch(rows), first, in, room_);
    for (std::size_t i = 0; i < rows; ++i) {
        const Real* const row = room_.qkv.data() + i * width;
        cache.keys.insert(cache.keys.end(), row + query, row + query + key);
        cache.values.insert(cache.values.end(), row + query + key, row + width);
    }
    room_.mixed.resize(rows * query);
    if (first == 0 && rows > 1) {
        attend(heads_of(architecture_, rows, layer), room_.qkv.data(), room_.mixed.data(), layer, Taps<Real>());
    } else {
        for (std::size_t i = 0; i < rows; ++i) {
            attend_last(heads_of(architecture_, first + i + 1, layer), room_.qkv.data() + i * width, cache.keys.data(),
                        cache.values.data(), room_.mixed.data() + i * query);
        }
    }
    linear(model_, model_.layout().blocks[layer].output, rows, room_.mixed.data(), out, architecture_.dim);
}

template <class Real>
void Generator<Real>::set_logits(const Real* readout) {
    logits_.resize(architecture_.vocab);
    const Real* const gains = model_.at(model_.layout().logit_gain);
    const LogitCurve<Real> curve(architecture_);
    row_product<Real>(false, architecture_.vocab, architecture_.dim, model_.at(model_.layout().head), readout, nullptr,
                      logits_.data(), [&](const Tile& tile) {
                          for (std::size_t k = tile.column; gains != nullptr && k < tile.column + tile.columns; ++k) {
                              logits_[k] *= gains[k];
                          }
                          for (std::size_t k = tile.column; k < tile.column + tile.columns; ++k) {
                              logits_[k] *= curve.factor();
                          }
                          curve.apply(tile.columns, logits_.data() + tile.column);
                      });
}

template class Generator<float>;
template class Generator<double>;

}  // namespace flyball::model
