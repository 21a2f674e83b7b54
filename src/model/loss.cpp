// The head of a language model: logits and the loss, in tiles and in blocks of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "model/layer_kernels.hpp"
#include "model/linear.hpp"
#include "model/logit_scale.hpp"
#include "model/pass.hpp"

namespace flyball::model {

namespace {

constexpr std::size_t logit_rows = 256;
constexpr std::size_t logit_columns = 768;
constexpr std::size_t logits_at_once = std::size_t{1} << 24;  // numbers: 64 MB of floats

std::size_t rows_at_once(std::size_t vocab) {
    return std::clamp<std::size_t>(logits_at_once / vocab / 16 * 16, 16, 4096);
}

std::size_t check_targets(std::span<const std::int32_t> targets, std::size_t rows, std::size_t vocab) {
    std::size_t count = 0;
    for (const std::int32_t target : targets) {
        if (target != no_target && (target < 0 || static_cast<std::size_t>(target) >= vocab)) {
            throw Error(ErrorKind::input, "model.loss", fmt::format("the target {}", target),
                        fmt::format("a token id below {}", vocab));
        }
        count += target != no_target ? 1 : 0;
    }
    if (targets.size() != rows) {
        throw Error(ErrorKind::input, "model.loss", fmt::format("{} targets", targets.size()), fmt::format("{}", rows));
    }
    return count;
}

void check_head(const Architecture& architecture) {
    if (!architecture.has_head) {
        throw Error(ErrorKind::input, "model.loss",
                    fmt::format("a {} model without a language-model head", architecture.family), "a model with a head",
                    "its hidden states and attention can be saved");
    }
}

// Adds log-sum-exps without leaving the range: log(e^a + e^b).
double log_add(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double high = std::max(a, b);
    return high == -std::numeric_limits<double>::infinity() ? high : high + std::log1p(std::exp(-std::fabs(a - b)));
}

// Caps the logits of a tile of [rows, vocab] while they are in cache.
template <class Real>
auto capping(const LogitCurve<Real>& curve, Real* logits, std::size_t vocab) {
    return [&curve, logits, vocab](const Tile& tile) {
        for (std::size_t i = tile.row; curve.capped() && i < tile.row + tile.rows; ++i) {
            curve.apply(tile.columns, logits + i * vocab + tile.column);
        }
    };
}

double mean_of_targets(std::span<const std::int32_t> targets, const std::vector<double>& losses) {
    double total = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        if (targets[i] != no_target) {
            total += losses[i];
            ++count;
        }
    }
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : total / static_cast<double>(count);
}

// Losses alone: a tile of logits lives in one thread's cache until its part of each row's sum is known. Rows without a
// target cost nothing where a whole tile has none.
template <class Real>
std::vector<double> tiled_losses(const Model<Real>& model, std::size_t tokens, const std::vector<Real>& readout,
                                 std::span<const std::int32_t> targets) {
    const std::size_t dim = model.architecture().dim;
    const std::size_t vocab = model.architecture().vocab;
    const ScaledHead<Real> scaled(model);
    const Real* const head = scaled.rows();
    const LogitCurve<Real> curve(model.architecture());
    const std::size_t row_tiles = (tokens + logit_rows - 1) / logit_rows;
    const std::size_t column_tiles = (vocab + logit_columns - 1) / logit_columns;
    std::vector<double> partial(tokens * column_tiles);
    std::vector<double> at_target(tokens, 0.0);
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const std::size_t tiles = row_tiles * column_tiles;
    parallel_slots(tiles, tiles, [&](std::size_t slot, std::size_t, std::size_t) {
        const std::size_t row = slot % row_tiles * logit_rows;
        const std::size_t column = slot / row_tiles * logit_columns;
        const std::size_t rows = std::min(logit_rows, tokens - row);
        const auto of_rows = targets.subspan(row, rows);
        if (std::all_of(of_rows.begin(), of_rows.end(), [](std::int32_t target) { return target == no_target; })) {
            return;
        }
        thread_local std::vector<Real> logits;
        logits.resize(std::max(logits.size(), logit_rows * logit_columns));
        const std::size_t columns = std::min(logit_columns, vocab - column);
        product<Real>(Transpose::no, Transpose::yes, rows, columns, dim, curve.factor(), readout.data() + row * dim,
                      dim, head + column * dim, dim, {}, logits.data(), columns);
        for (std::size_t i = 0; i < rows; ++i) {
            Real* const values = logits.data() + i * columns;
            curve.apply(columns, values);
            partial[(row + i) * column_tiles + column / logit_columns] = kernels.log_sum_exp(columns, values);
            const std::int32_t target = targets[row + i];
            if (target != no_target && static_cast<std::size_t>(target) / logit_columns == column / logit_columns) {
                at_target[row + i] = static_cast<double>(values[static_cast<std::size_t>(target) - column]);
            }
        }
    });
    std::vector<double> losses(tokens, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < tokens; ++i) {
        if (targets[i] == no_target) {
            continue;
        }
        double sum = partial[i * column_tiles];
        for (std::size_t j = 1; j < column_tiles; ++j) {
            sum = log_add(sum, partial[i * column_tiles + j]);
        }
        losses[i] = sum - at_target[i];
    }
    return losses;
}

}  // namespace

template <class Real>
double Pass<Real>::loss(std::span<const std::int32_t> targets, const Taps<Real>& taps) const {
    return loss_of(readout_, targets, taps);
}

template <class Real>
double Pass<Real>::loss_of(const std::vector<Real>& readout, std::span<const std::int32_t> targets,
                           const Taps<Real>& taps) const {
    return mean_of_targets(targets, losses_of(readout, targets, taps));
}

template <class Real>
std::vector<double> Pass<Real>::losses(std::span<const std::int32_t> targets, const Taps<Real>& taps) const {
    return losses_of(readout_, targets, taps);
}

// Losses by tiles where nobody looks; with a tap on logits whole rows of them are made, a block of rows at a time.
template <class Real>
std::vector<double> Pass<Real>::losses_of(const std::vector<Real>& readout, std::span<const std::int32_t> targets,
                                          const Taps<Real>& taps) const {
    check_head(architecture_);
    const std::size_t vocab = architecture_.vocab;
    const std::size_t dim = architecture_.dim;
    check_targets(targets, rows_, vocab);
    if (!taps.wants(Site::logits)) {
        return tiled_losses(model_, rows_, readout, targets);
    }
    std::vector<double> losses(rows_, std::numeric_limits<double>::quiet_NaN());
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const std::size_t block = std::min(rows_, rows_at_once(vocab));
    std::vector<Real> logits(block * vocab);
    const ScaledHead<Real> head(model_);
    const LogitCurve<Real> curve(architecture_);
    for (std::size_t row = 0; row < rows_; row += block) {
        const std::size_t rows = std::min(block, rows_ - row);
        tiled_gemm(Transpose::no, Transpose::yes, rows, vocab, dim, curve.factor(), readout.data() + row * dim, dim,
                   head.rows(), dim, Start<Real>{}, logits.data(), vocab, capping(curve, logits.data(), vocab));
        taps.send({.site = Site::logits,
                   .first_row = row,
                   .rows = rows,
                   .columns = vocab,
                   .data = logits.data(),
                   .stride = vocab});
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t target = targets[row + i];
            if (target != no_target) {
                const Real* const values = logits.data() + i * vocab;
                losses[row + i] = kernels.log_sum_exp(vocab, values) - static_cast<double>(values[target]);
            }
        }
    }
    return losses;
}

// With N targets, p the softmax of a row's logits and e its target:
//
//     loss        = 1/N sum over rows of (log sum exp(logits) - logit_e)
//     dL/dlogit_k = weight/N (p_k - [k = e])      p_k = exp(logit_k - log sum exp); times the slope of a soft cap
//     dL/dreadout = dL/dlogit head
//     dL/dhead   += dL/dlogit' readout
//
// Logits of a block of rows become their gradient in place, and both products follow before the next block.
template <class Real>
double Pass<Real>::loss_and_backward(std::span<const std::int32_t> targets, Parameters<Real>& gradients, double weight,
                                     const Taps<Real>& taps) {
    check_head(architecture_);
    const std::size_t vocab = architecture_.vocab;
    const std::size_t dim = architecture_.dim;
    const std::size_t count = check_targets(targets, rows_, vocab);
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const ScaledHead<Real> scaled(model_);
    ScaledHeadGradient<Real> sums(model_, gradients);
    const Real* const head = scaled.rows();
    Real* const grad_head = sums.rows();
    const LogitCurve<Real> curve(architecture_);
    const std::size_t block = std::min(rows_, rows_at_once(vocab));
    LineVector<Real>& logits = back_.logits;
    LineVector<Real>& grad_readout = back_.readout;
    logits.resize(block * vocab);
    grad_readout.resize(rows_ * dim);
    std::vector<double> losses(rows_, 0.0);
    const double scale = count == 0 ? 0 : weight / static_cast<double>(count);
    const auto nothing = [](const Tile&) {};
    for (std::size_t row = 0; row < rows_; row += block) {
        const std::size_t rows = std::min(block, rows_ - row);
        tiled_gemm(Transpose::no, Transpose::yes, rows, vocab, dim, curve.factor(), readout_.data() + row * dim, dim,
                   head, dim, Start<Real>{}, logits.data(), vocab, capping(curve, logits.data(), vocab));
        parallel_slots(rows, rows, [&](std::size_t, std::size_t begin, std::size_t end) {
            thread_local std::vector<Real> slopes;
            for (std::size_t i = begin; i < end; ++i) {
                Real* const values = logits.data() + i * vocab;
                const std::int32_t target = targets[row + i];
                if (target == no_target) {
                    std::fill_n(values, vocab, Real{0});
                    continue;
                }
                const double sum = kernels.log_sum_exp(vocab, values);
                losses[row + i] = sum - static_cast<double>(values[target]);
                if (std::isfinite(sum)) {
                    if (curve.capped()) {
                        slopes.resize(std::max(slopes.size(), vocab));
                        curve.slopes(vocab, values, slopes.data());
                    }
                    kernels.exponentials(vocab, static_cast<Real>(sum), static_cast<Real>(scale), values);
                    values[target] -= static_cast<Real>(scale);
                    if (curve.capped()) {
                        kernels.multiply(vocab, slopes.data(), values);
                    }
                } else {
                    std::fill_n(values, vocab, std::numeric_limits<Real>::quiet_NaN());
                }
            }
        });
        tiled_gemm(Transpose::no, Transpose::no, rows, dim, vocab, curve.backward_factor(), logits.data(), vocab, head,
                   dim, Start<Real>{}, grad_readout.data() + row * dim, dim, nothing);
        tiled_gemm(Transpose::yes, Transpose::no, vocab, dim, rows, curve.backward_factor(), logits.data(), vocab,
                   readout_.data() + row * dim, dim, Start<Real>{nullptr, true}, grad_head, dim, nothing);
    }
    sums.finish();
    backward(grad_readout.data(), gradients, taps);
    return mean_of_targets(targets, losses);
}

template double Pass<float>::loss(std::span<const std::int32_t>, const Taps<float>&) const;
template double Pass<float>::loss_of(const std::vector<float>&, std::span<const std::int32_t>,
                                     const Taps<float>&) const;
template double Pass<double>::loss_of(const std::vector<double>&, std::span<const std::int32_t>,
                                      const Taps<double>&) const;
template std::vector<double> Pass<float>::losses(std::span<const std::int32_t>, const Taps<float>&) const;
template std::vector<double> Pass<float>::losses_of(const std::vector<float>&, std::span<const std::int32_t>,
                                                    const Taps<float>&) const;
template std::vector<double> Pass<double>::losses_of(const std::vector<double>&, std::span<const std::int32_t>,
                                                     const Taps<double>&) const;
template double Pass<float>::loss_and_backward(std::span<const std::int32_t>, Parameters<float>&, double,
                                               const Taps<float>&);
template double Pass<double>::loss(std::span<const std::int32_t>, const Taps<double>&) const;
template std::vector<double> Pass<double>::losses(std::span<const std::int32_t>, const Taps<double>&) const;
template double Pass<double>::loss_and_backward(std::span<const std::int32_t>, Parameters<double>&, double,
                                                const Taps<double>&);

}  // namespace flyball::model
