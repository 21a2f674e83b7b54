// Attention by blocks of whole rows: scores by BLAS, weights in place, sums by BLAS.
//
// Does everything, sparsemax and entmax15 included, since a row of scores is there as a whole; the fastest for few
// tokens of large dimension. Memory O(slots n).
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/row_weights.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"
#include "core/blas.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t least_rows = 8;
constexpr std::size_t most_rows = 128;
constexpr std::size_t most_blas_slots = 16;

std::size_t block_rows(std::size_t tokens, std::size_t real_bytes) {
    const std::size_t fit = std::clamp(block_bytes / real_bytes / tokens, least_rows, most_rows);
    // At least four blocks, so that threads have something to share.
    return std::min(fit, std::max<std::size_t>((tokens + 3) / 4, 1));
}

template <class Real>
class BlasRows final : public HeadKernel<Real> {
  public:
    explicit BlasRows(const HeadProblem& problem)
        : problem_(problem),
          stride_(round_up(problem.tokens, micro_columns<Real>)),
          block_(block_rows(problem.tokens, sizeof(Real))),
          blocks_((problem.tokens + block_ - 1) / block_),
          slots_(std::min(blocks_, most_blas_slots)),
          scores_(slots_ * block_ * stride_),
          rows_(slots_) {}

    void run(double beta, const Real* query, const Real* key, const Real* value, Real* out) override {
        parallel_slots(blocks_, slots_, [&](std::size_t slot, std::size_t first, std::size_t last) {
            const BlasThreads one(1);
            for (std::size_t b = first; b < last; ++b) {
                const std::size_t begin = b * block_;
                check_stop();
                block(beta, slot, begin, std::min(begin + block_, problem_.tokens), query, key, value, out);
            }
        });
    }

    std::string_view path() const override { return "blocks of rows"; }
    std::size_t memory_bytes() const override {
        const bool whole = whole_row();
        return bytes_of(scores_) + (whole ? slots_ * 2 * problem_.tokens * sizeof(double) : 0);
    }

  private:
    struct Row {
        std::vector<double> weights, room;
    };

    bool whole_row() const { return form_.weights == Form::Weights::whole_row; }

    // Rows [begin, end): scores [rows, columns] = Q K', a row of weights at a time in their place, sums = weights V.
    // The factor that normalizes a row meets its w sums, not its n weights. Under the causal mask columns end with the
    // block.
    void block(double beta, std::size_t slot, std::size_t begin, std::size_t end, const Real* query, const Real* key,
               const Real* value, Real* out) {
        const std::size_t w = problem_.width;
        const std::size_t columns = problem_.mask == Mask::causal ? end : problem_.tokens;
        Real* scores = scores_.data() + slot * block_ * stride_;
        const auto alpha = static_cast<Real>(whole_row() ? 1.0 : beta * log2_e);
        gemm(Transpose::no, Transpose::yes, end - begin, columns, w, alpha, query + begin * w, w, key, w, Real{0},
             scores, stride_);
        Real factors[most_rows][2];
        for (std::size_t i = 0; i < end - begin; ++i) {
            const std::size_t allowed = problem_.mask == Mask::causal ? begin + i + 1 : problem_.tokens;
            Real* row = scores + i * stride_;
            if (whole_row()) {
                exact_row(beta, allowed, columns, row, rows_[slot]);
                factors[i][0] = factors[i][1] = 1;
            } else {
                exponential_row(beta, allowed, columns, row, factors[i]);
            }
        }
        gemm(Transpose::no, Transpose::no, end - begin, w, columns, Real{1}, scores, stride_, value, w, Real{0},
             out + begin * w, w);
        for (std::size_t i = 0; i < end - begin; ++i) {
            for (std::size_t c = 0; c < w; ++c) {
                Real& x = out[(begin + i) * w + c];
                x = x * factors[i][0] * factors[i][1];
            }
        }
    }

    void exact_row(double beta, std::size_t allowed, std::size_t columns, Real* row, Row& scratch) const {
        scratch.weights.assign(row, row + allowed);
        row_weights(problem_.kind, beta, problem_.tokens, allowed, scratch.weights.data(), scratch.room);
        for (std::size_t k = 0; k < allowed; ++k) {
            row[k] = static_cast<Real>(scratch.weights[k]);
        }
        std::fill(row + allowed, row + columns, Real{0});
    }

    // Weights in place; what the row's sum must still be multiplied with goes to `factor`.
    void exponential_row(double beta, std::size_t allowed, std::size_t columns, Real* row, Real (&factor)[2]) const {
        const double count = static_cast<double>(allowed);
        const std::size_t padded = round_up(columns, micro_columns<Real>);
        if (form_.by_log_count) {
            const auto log_count = static_cast<Real>(score_factor(problem_.kind, allowed));
            for (std::size_t k = 0; k < allowed; ++k) {
                row[k] *= log_count;
            }
        }
        std::fill(row + allowed, row + padded, -std::numeric_limits<Real>::infinity());
        factor[0] = factor[1] = 1;
        if (form_.weights == Form::Weights::sigmoid) {
            kernels_.sigmoid_row(padded, static_cast<Real>(std::log2(count)), row);
            return;
        }
        Real maximum = 0;
        const Real total = kernels_.exponential_row(padded, row, &maximum);
        if (form_.by_tokens) {
            const double log2_gain = -beta * log2_e - std::log2(static_cast<double>(problem_.tokens));
            factor[0] = factor[1] = static_cast<Real>(std::exp2((static_cast<double>(maximum) + log2_gain) / 2));
        } else {
            factor[0] = 1 / total;
        }
    }

    HeadProblem problem_;
    Form form_ = form_of(problem_.kind);
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    std::size_t stride_;  // n padded to NR
    std::size_t block_;
    std::size_t blocks_;
    std::size_t slots_;
    Buffer<Real> scores_;  // [slots, block, stride]
    std::vector<Row> rows_;
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_blas(const HeadProblem& problem) {
    return std::make_unique<BlasRows<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_blas(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_blas(const HeadProblem&);

}  // namespace flyball::attention
