// Forward passes; what records for the way back, and the way back, are in pass_reverse.cpp, the head in loss.cpp.
#include "model/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "core/error.hpp"
#include "model/model_rows.hpp"
#include "model/tape.hpp"
#include "scheme/branches.hpp"
#include "scheme/row_kernels.hpp"

namespace flyball::model {

void check_length(const Architecture& architecture, const Batch& batch) {
    const std::size_t tokens = batch.tokens;
    const bool unlimited = goes_on_for_ever(architecture) || (batch.allow_long && !architecture.learned_positions);
    if (tokens > 0 && (tokens <= architecture.positions || unlimited)) {
        return;
    }
    std::string hint;
    if (tokens > 0) {
        hint = "shorten the input, for example with " + setting("length", std::to_string(architecture.positions));
        hint += architecture.learned_positions
                    ? "; positions of this model are learned, and there are no more of them"
                    : fmt::format("; {} of forward goes on beyond them", setting("allow-long"));
    }
    throw Error(
        ErrorKind::input, "model.forward", fmt::format("{} tokens", tokens),
        fmt::format("from 1 to {}, the positions of this {} model", architecture.positions, architecture.family), hint);
}

double memory_estimate(const Architecture& a, const Batch& batch, Keep keep) {
    const auto wide = static_cast<double>(a.ffn_dim * (a.gated ? 3 : 1));
    const auto qkv = static_cast<double>(a.qkv_width() * (a.attention_norm.any() ? 2 : 1));
    const double inside = qkv + static_cast<double>(a.query_width()) + wide;  // numbers a token, in a block
    const auto streams = static_cast<double>(8 * a.dim);
    double numbers = inside + streams;
    if (keep != Keep::nothing) {
        // Streams between blocks, and on the way back gradients of what is inside a block and of its registers.
        numbers += static_cast<double>((a.layers + 1) * 2 * a.dim) + 2 * inside + static_cast<double>(24 * a.dim);
    }
    if (keep == Keep::everything) {
        numbers += static_cast<double>(a.layers) * (inside + static_cast<double>(a.ffn_dim + 6 * a.dim));
    }
    return 4 * static_cast<double>(batch.rows()) * numbers + 64e6;
}

template <class Real>
Pass<Real>::Pass(const Model<Real>& model, Batch batch, Keep keep)
    : model_(model),
      architecture_(model.architecture()),
      batch_(batch),
      rows_(batch.rows()),
      keep_(keep),
      sub_layers_(model, batch),
      edits_(model.architecture().layers),
      blocks_(model.program(), scheme::SubLayers::attention_and_ffn, batch.rows(), model.architecture().dim),
      step_(model.program(), scheme::SubLayers::attention_and_ffn, batch.rows(), model.architecture().dim) {
    check_length(architecture_, batch);
    if (batch.sequences == 0) {
        throw Error(ErrorKind::input, "model.forward", "no sequences", "at least one");
    }
    if (keep == Keep::nothing) {
        return;
    }
    const std::size_t dim = architecture_.dim;
    const std::size_t tapes = keep == Keep::everything ? architecture_.layers : 1;
    const auto room = std::make_shared<scheme::ReverseRoom<Real>>();
    for (std::size_t i = 0; i < tapes; ++i) {
        tapes_.push_back(std::make_unique<Tape>(model.program(), rows_, dim, room));
    }
    readout_tape_ = std::make_unique<scheme::ReverseStep<Real>>(model.program(), scheme::SubLayers::attention_and_ffn,
                                                                rows_, dim, scheme::ReversePart::readout, room);
    kept_.assign(architecture_.layers + 1,
                 std::vector<std::vector<Real>>(model.program().stream_count(), std::vector<Real>(rows_ * dim)));
}

template <class Real>
Pass<Real>::~Pass() = default;

template <class Real>
scheme::Environment Pass<Real>::environment(std::size_t layer) const {
    return scheme::Environment::block(layer + 1, architecture_.layers, architecture_.dt, batch_.tokens,
                                      architecture_.dim);
}

template <class Real>
scheme::RowMap<Real> Pass<Real>::row_map(const NormPlace& place) const {
    return row_map_of(model_, place);
}

template <class Real>
scheme::BlockParameters<Real> Pass<Real>::block_parameters(const std::vector<NormPlace>& norms,
                                                           const std::vector<int>& learned) const {
    return block_parameters_of(model_, norms, learned);
}

template <class Real>
void Pass<Real>::embed(Real* out) const {
    for (std::size_t i = 0; i < rows_; ++i) {
        embed_token(model_, ids_[i], batch_.position(i), out + i * architecture_.dim);
    }
}

template <class Real>
void Pass<Real>::edit(const std::vector<Edit>& edits) {
    std::vector<BlockEdits> result(architecture_.layers);
    for (const Edit& edit : edits) {
        if (edit.layer >= result.size()) {
            throw Error(ErrorKind::usage, "model.edit", fmt::format("block {}", edit.layer),
                        fmt::format("a block from 0 to {}", result.size() - 1));
        }
        BlockEdits& block = result[edit.layer];
        switch (edit.what) {
            case Edit::What::block:
                if (edit.factor != 0) {
                    throw Error(ErrorKind::usage, "model.edit", fmt::format("a block times {}", edit.factor),
                                "a block that is left out", "scale its two branches");
                }
                block.dropped = true;
                break;
            case Edit::What::attention:
                block.factors.attention = edit.factor;
                break;
            case Edit::What::feed_forward:
                block.factors.feed_forward = edit.factor;
                break;
        }
    }
    for (std::size_t l = 0; l < result.size(); ++l) {
        check_branches(l, result[l].factors);
    }
    edits_ = std::move(result);
    embedding_.clear();  // what was kept is of the model before: backward wants another forward
}

template <class Real>
void Pass<Real>::dropout(const Dropout& dropout) {
    check(dropout);
    dropout_ = dropout;
    sub_layers_.dropout(dropout);
    embedding_.clear();  // masks of backward are those of forward
}

// A factor that meets nothing would look like a branch without effect.
template <class Real>
void Pass<Real>::check_branches(std::size_t layer, const scheme::BranchFactors& factors) const {
    const scheme::Program& program = model_.program();
    const scheme::SubLayers both = scheme::SubLayers::attention_and_ffn;
    for (const auto& [sub_layer, factor] : {std::pair{scheme::SubLayer::attention, factors.attention},
                                            {scheme::SubLayer::feed_forward, factors.feed_forward}}) {
        if (factor == 1) {
            continue;
        }
        const auto found = scheme::contributions(lower_block(program, both, program.decide(environment(layer))));
        if (std::none_of(found.begin(), found.end(),
                         [&, which = sub_layer](const scheme::Contribution& one) { return one.sub_layer == which; })) {
            throw Error(ErrorKind::usage, "model.edit",
                        fmt::format("a factor for {} in block {}, which adds nothing to a stream there",
                                    sub_layer == scheme::SubLayer::attention ? "attention" : "the FFN", layer),
                        "a branch that the equation adds to a stream");
        }
    }
}

template <class Real>
void Pass<Real>::show(Site site, std::size_t layer, const Real* data, const Taps<Real>& taps,
                      std::size_t stream) const {
    taps.show(site, layer, rows_, architecture_.dim, data, architecture_.dim, model_.program().stream_name(stream));
}

template <class Real>
void Pass<Real>::show_streams(Site site, std::size_t layer, const std::vector<std::vector<Real>>& streams,
                              const Taps<Real>& taps) const {
    for (std::size_t i = 0; i < streams.size(); ++i) {
        show(site, layer, streams[i].data(), taps, i);
    }
}

template <class Real>
void Pass<Real>::show_contribution(std::size_t layer, const scheme::Contribution& contribution, const Real* rows,
                                   const Taps<Real>& taps) const {
    const bool is_attention = contribution.sub_layer == scheme::SubLayer::attention;
    show(is_attention ? Site::attn_added : Site::ffn_added, layer, rows, taps, contribution.stream);
}

template <class Real>
bool Pass<Real>::wants_contributions(std::size_t layer, const Taps<Real>& taps) const {
    return taps.wants_any_stream(Site::attn_added, layer) || taps.wants_any_stream(Site::ffn_added, layer);
}

template <class Real>
void Pass<Real>::check_streams(const Taps<Real>& taps) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model_.program().stream_count(); ++i) {
        names.push_back(model_.program().stream_name(i));
    }
    taps.check_streams(names);
}

template <class Real>
void Pass<Real>::forward(std::span<const std::int32_t> ids, const Taps<Real>& taps) {
    if (ids.size() != rows_) {
        throw Error(ErrorKind::input, "model.forward", fmt::format("{} tokens", ids.size()),
                    fmt::format("{}, {} for each of {} sequences", rows_, batch_.tokens, batch_.sequences));
    }
    check_ids(architecture_, ids);
    check_streams(taps);
    ids_.assign(ids.begin(), ids.end());
    const std::size_t dim = architecture_.dim;
    std::vector<Real> x0 = std::move(embedding_);  // fresh memory of this size costs page faults
    x0.resize(rows_ * dim);
    embed(x0.data());
    if (architecture_.embedding_norm) {
        const std::vector<Real> before = x0;
        scheme::row_kernels<Real>().apply(row_map(model_.layout().embedding_norm), rows_, dim, before.data(),
                                          x0.data());
    }
    if (dropout_.share > 0) {
        embedding_mask().apply_all(x0.size(), x0.data(), x0.data());
    }
    run(std::move(x0), taps);
}

template <class Real>
void Pass<Real>::forward_rows(std::span<const Real> x0, const Taps<Real>& taps) {
    if (x0.size() != rows_ * architecture_.dim) {
        throw Error(ErrorKind::input, "model.forward", fmt::format("{} numbers in rows", x0.size()),
                    fmt::format("{}, {} rows of {} channels", rows_ * architecture_.dim, rows_, architecture_.dim));
    }
    check_streams(taps);
    ids_.clear();
    run({x0.begin(), x0.end()}, taps);
}

// x0: [rows, dim], what the first block is given.
template <class Real>
void Pass<Real>::run(std::vector<Real> x0, const Taps<Real>& taps) {
    show(Site::embed, 0, x0.data(), taps);
    if (keep_ == Keep::nothing) {
        state_ = scheme::State<Real>::start(model_.program(), rows_, architecture_.dim, std::move(x0));
        run_blocks(taps);
    } else {
        embedding_ = std::move(x0);
        record_blocks(taps);
    }
    show(Site::readout, 0, readout_.data(), taps);
}

// Without recording: one state that every block overwrites, one room for what is inside a block.
template <class Real>
void Pass<Real>::run_blocks(const Taps<Real>& taps) {
    const Layout& layout = model_.layout();
    for (std::size_t l = 0; l < architecture_.layers; ++l) {
        const BlockLayout& block = layout.blocks[l];
        const auto send = [&](const scheme::Contribution& contribution, const Real* rows) {
            show_contribution(l, contribution, rows, taps);
        };
        const scheme::ContributionSink<Real> sink(send);
        std::size_t call = 0;
        if (!edits_[l].dropped) {
            blocks_.layer(environment(l), state_,
                          [&](scheme::SubLayer sub_layer, const Real* in, Real* out) {
                              room_.call = call++;
                              sub_layers_.forward(l, sub_layer, in, out, room_, false, taps);
                          },
                          block_parameters(block.norms, block.learned),
                          {edits_[l].factors, wants_contributions(l, taps) ? &sink : nullptr});
        }
        show_streams(Site::resid, l, state_.streams, taps);
    }
    early_readout(readout_);
}

template <class Real>
void Pass<Real>::early_readout(std::vector<Real>& out) {
    assert(keep_ == Keep::nothing && "a recording pass keeps its streams elsewhere");
    const Layout& layout = model_.layout();
    step_.readout(environment(architecture_.layers - 1), state_, out,
                  block_parameters(layout.readout_norms, layout.readout_learned));
}

std::vector<std::int32_t> next_tokens(std::span<const std::int32_t> ids, std::size_t sequences) {
    std::vector<std::int32_t> targets(ids.size(), no_target);
    const std::size_t tokens = ids.size() / sequences;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i % tokens + 1 < tokens) {
            targets[i] = ids[i + 1];
        }
    }
    return targets;
}

template class Pass<float>;
template class Pass<double>;

}  // namespace flyball::model
