// The recording forward pass and the way back.
#include <cassert>

#include "core/error.hpp"
#include "model/pass.hpp"
#include "model/tape.hpp"
#include "scheme/row_kernels.hpp"

namespace flyball::model {

template <class Real>
std::vector<const Real*> Pass<Real>::inputs(std::size_t layer) const {
    std::vector<const Real*> streams;
    for (const std::vector<Real>& stream : kept_[layer]) {
        streams.push_back(stream.data());
    }
    return streams;
}

template <class Real>
void Pass<Real>::record(Tape& tape, std::size_t layer, const std::vector<Real*>& out, const Taps<Real>& taps) {
    const BlockLayout& block = model_.layout().blocks[layer];
    const auto send = [&](const scheme::Contribution& contribution, const Real* rows) {
        show_contribution(layer, contribution, rows, taps);
    };
    const scheme::ContributionSink<Real> sink(send);
    std::size_t call = 0;
    tape.step.forward(environment(layer), inputs(layer), embedding_.data(), out,
                      block_parameters(block.norms, block.learned),
                      [&](scheme::SubLayer sub_layer, const Real* in, Real* to) {
                          if (call == tape.calls.size()) {
                              tape.calls.emplace_back().call = call;
                          }
                          sub_layers_.forward(layer, sub_layer, in, to, tape.calls[call++], true, taps);
                      },
                      {edits_[layer].factors, wants_contributions(layer, taps) ? &sink : nullptr});
}

// With recording: the streams between blocks are kept (kept_[l] goes into block l); with Keep::everything every block
// has a tape of its own, otherwise all share one that backward() fills again.
template <class Real>
void Pass<Real>::record_blocks(const Taps<Real>& taps) {
    const Layout& layout = model_.layout();
    for (std::vector<Real>& stream : kept_[0]) {
        stream = embedding_;
    }
    for (std::size_t l = 0; l < architecture_.layers; ++l) {
        std::vector<Real*> out;
        for (std::vector<Real>& stream : kept_[l + 1]) {
            out.push_back(stream.data());
        }
        if (edits_[l].dropped) {
            kept_[l + 1] = kept_[l];
        } else {
            record(*tapes_[keep_ == Keep::everything ? l : 0], l, out, taps);
        }
        show_streams(Site::resid, l, kept_[l + 1], taps);
    }
    readout_.resize(rows_ * architecture_.dim);
    readout_tape_->forward(environment(architecture_.layers - 1), inputs(architecture_.layers), embedding_.data(),
                           {readout_.data()}, block_parameters(layout.readout_norms, layout.readout_learned),
                           [](scheme::SubLayer, const Real*, Real*) { assert(false && "a readout has no sub-layer"); });
}

template <class Real>
void Pass<Real>::add_norms(const std::vector<NormPlace>& places, const std::vector<int>& learned,
                           const scheme::BlockGradients& from, Parameters<Real>& gradients) const {
    const auto add = [&](int parameter, const double* values, std::size_t count) {
        if (parameter != absent) {
            Real* const to = gradients.at(parameter);
            for (std::size_t k = 0; k < count; ++k) {
                to[k] += static_cast<Real>(values[k]);
            }
        }
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const scheme::NormGradient& norm = from.norms[i];
        add(places[i].gain, norm.gain.data(), norm.gain.size());
        add(places[i].bias, norm.bias.data(), norm.bias.size());
        add(places[i].alpha, &norm.alpha, 1);
        add(places[i].shift, &norm.shift, 1);
    }
    for (std::size_t i = 0; i < learned.size(); ++i) {
        add(learned[i], from.learned[i].data(), from.learned[i].size());
    }
}

// From the readout through blocks L .. 1 to x0. `above` are the gradients of the streams after a block, `below` those
// before it. With Keep::inputs each block runs forward once more from the streams it was given, into the one tape there
// is. Every stream starts at x0, and equations may mention x0: both add to its gradient, which ends in the tables.
template <class Real>
void Pass<Real>::backward(const Real* grad_readout, Parameters<Real>& gradients, const Taps<Real>& taps) {
    if (keep_ == Keep::nothing || embedding_.empty()) {
        throw Error(ErrorKind::usage, "model.backward", "no forward pass that was kept, or an edit or dropout since",
                    "forward() of a pass that keeps its blocks before backward()");
    }
    check_streams(taps);
    const Layout& layout = model_.layout();
    const std::size_t numbers = rows_ * architecture_.dim;
    const std::size_t streams = kept_[0].size();
    std::vector<Real>& grad_embedding = back_.embedding;
    std::vector<std::vector<Real>>& above = back_.above;
    std::vector<std::vector<Real>>& below = back_.below;
    grad_embedding.assign(numbers, Real{0});
    above.resize(streams, std::vector<Real>(numbers));
    below.resize(streams, std::vector<Real>(numbers));
    std::vector<std::vector<Real>> unused;  // where a block that is computed again writes its result
    if (keep_ == Keep::inputs) {
        unused = above;
    }
    const auto pointers = [](std::vector<std::vector<Real>>& from) {
        std::vector<Real*> result;
        for (std::vector<Real>& stream : from) {
            result.push_back(stream.data());
        }
        return result;
    };
    scheme::BlockGradients readout_gradients;
    readout_tape_->backward({grad_readout}, pointers(above), grad_embedding.data(), readout_gradients,
                            [](scheme::SubLayer, std::size_t, const Real*, const Real*, Real*) {
                                assert(false && "a readout has no sub-layer");
                            });
    add_norms(layout.readout_norms, layout.readout_learned, readout_gradients, gradients);
    for (std::size_t l = architecture_.layers; l-- > 0;) {
        show_streams(Site::grad, l, above, taps);
        if (edits_[l].dropped) {
            continue;
        }
        Tape& tape = *tapes_[keep_ == Keep::everything ? l : 0];
        if (keep_ == Keep::inputs) {
            record(tape, l, pointers(unused), {});
        }
        scheme::BlockGradients block_gradients;
        const std::vector<Real*> from = pointers(above);
        tape.step.backward(
            {from.begin(), from.end()}, pointers(below), grad_embedding.data(), block_gradients,
            [&](scheme::SubLayer sub_layer, std::size_t call, const Real* in, const Real* grad_out, Real* grad_in) {
                sub_layers_.reverse(l, sub_layer, in, grad_out, grad_in, tape.calls[call], gradients);
            });
        add_norms(layout.blocks[l].norms, layout.blocks[l].learned, block_gradients, gradients);
        std::swap(above, below);
    }
    for (const std::vector<Real>& stream : above) {
        for (std::size_t k = 0; k < numbers; ++k) {
            grad_embedding[k] += stream[k];
        }
    }
    show(Site::embed_grad, 0, grad_embedding.data(), taps);
    if (ids_.empty()) {
        return;  // x0 was given as it is: no table made it
    }
    if (dropout_.share > 0) {
        embedding_mask().apply_all(numbers, grad_embedding.data(), grad_embedding.data());
    }
    embed_reverse(grad_embedding, gradients);
}

// x0_i = scale tokens[id_i] + positions[i] + types[0]: rows of gradients are added to the rows of the tables that made
// them, a token that occurs twice getting both.
template <class Real>
void Pass<Real>::embed_reverse(std::vector<Real>& grad, Parameters<Real>& gradients) const {
    const std::size_t dim = architecture_.dim;
    const Layout& layout = model_.layout();
    if (architecture_.embedding_norm) {
        std::vector<Real> before(rows_ * dim);
        embed(before.data());
        std::vector<Real> grad_in(rows_ * dim, Real{0});
        scheme::BlockGradients sums;
        sums.norms.resize(1);
        sums.norms[0].gain.assign(dim, 0);
        sums.norms[0].bias.assign(dim, 0);
        scheme::NormGradient& sum = sums.norms[0];
        scheme::row_kernels<Real>().apply_reverse(row_map(layout.embedding_norm), rows_, dim, before.data(),
                                                  grad.data(), grad_in.data(),
                                                  {sum.gain.data(), sum.bias.data(), &sum.alpha, &sum.shift});
        add_norms({layout.embedding_norm}, {}, sums, gradients);
        grad.swap(grad_in);
    }
    const auto add_row = [&](int parameter, std::size_t row, const Real* from, Real factor = 1) {
        Real* const to = gradients.at(parameter) + row * dim;
        for (std::size_t k = 0; k < dim; ++k) {
            to[k] += factor * from[k];
        }
    };
    const auto scale = static_cast<Real>(architecture_.embedding_scale);
    for (std::size_t i = 0; i < rows_; ++i) {
        const Real* const row = grad.data() + i * dim;
        add_row(layout.tokens, static_cast<std::size_t>(ids_[i]), row, scale);
        if (layout.positions != absent) {
            add_row(layout.positions, batch_.position(i), row);
        }
        if (layout.types != absent) {
            add_row(layout.types, 0, row);
        }
    }
}

template std::vector<const float*> Pass<float>::inputs(std::size_t) const;
template void Pass<float>::record(Tape&, std::size_t, const std::vector<float*>&, const Taps<float>&);
template void Pass<float>::record_blocks(const Taps<float>&);
template void Pass<float>::add_norms(const std::vector<NormPlace>&, const std::vector<int>&,
                                     const scheme::BlockGradients&, Parameters<float>&) const;
template void Pass<float>::embed_reverse(std::vector<float>&, Parameters<float>&) const;
template void Pass<float>::backward(const float*, Parameters<float>&, const Taps<float>&);
template std::vector<const double*> Pass<double>::inputs(std::size_t) const;
template void Pass<double>::record(Tape&, std::size_t, const std::vector<double*>&, const Taps<double>&);
template void Pass<double>::record_blocks(const Taps<double>&);
template void Pass<double>::add_norms(const std::vector<NormPlace>&, const std::vector<int>&,
                                      const scheme::BlockGradients&, Parameters<double>&) const;
template void Pass<double>::embed_reverse(std::vector<double>&, Parameters<double>&) const;
template void Pass<double>::backward(const double*, Parameters<double>&, const Taps<double>&);

}  // namespace flyball::model
