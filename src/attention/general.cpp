// Attention of any queries, keys and values by cache tiles: the driver of general_tiles.inl.
#include <algorithm>
#include <cmath>

#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/packing.hpp"
#include "attention/row_weights.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t most_general_slots = 32;
constexpr std::size_t many_tokens = 1500;

template <class Real>
class General final : public HeadKernel<Real> {
  public:
    explicit General(const HeadProblem& problem)
        : problem_(problem),
          padded_(round_up(problem.tokens, NR)),
          // Fewer rows at a time when there are few, so that every thread gets a share.
          block_(problem.tokens < many_tokens ? general_rows / 2 : general_rows),
          blocks_((problem.tokens + block_ - 1) / block_),
          slots_(std::min(blocks_, most_general_slots)) {
        const std::size_t deep = round_up(problem.width, NR);
        strips_.resize(padded_ * problem.width);
        panels_.resize(padded_ * deep);
        scales_.resize(problem.tokens);
        log2_allowed_.resize(problem.tokens);
        for (std::size_t j = 0; j < problem.tokens; ++j) {
            log2_allowed_[j] = static_cast<Real>(std::log2(static_cast<double>(allowed(j))));
        }
        scaled_.resize(slots_ * general_rows * problem.width);
        weights_.resize(slots_ * general_rows * (general_columns<Real> + NR));
        sums_.resize(slots_ * general_rows * deep);
    }

    // Keys and values are packed once for all rows; queries are scaled row by row, since ssmax has log m in every row's
    // scale and m differs under a mask. The exponent's shift is not used: rows find their own maxima.
    void run(double beta, const Real* query, const Real* key, const Real* value, Real* out) override {
        const std::size_t n = problem_.tokens;
        for (std::size_t j = 0; j < n; ++j) {
            scales_[j] = static_cast<Real>(beta * log2_e * score_factor(problem_.kind, allowed(j)));
        }
        parallel_slots(padded_ / NR, slots_, [&](std::size_t, std::size_t begin, std::size_t end) {
            pack_strips(key, n, problem_.width, begin * NR, end * NR, strips_.data());
            pack_panels(value, n, problem_.width, padded_, begin * NR, end * NR, panels_.data());
        });
        const Exponent exponent = exponent_of(problem_.kind, beta, n, n, {}, sizeof(Real) == sizeof(float));
        parallel_slots(blocks_, slots_, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            const std::size_t deep = round_up(problem_.width, NR);
            GeneralTiles<Real> job;
            job.query = query;
            job.strips = strips_.data();
            job.panels = panels_.data();
            job.scales = scales_.data();
            job.log2_allowed = log2_allowed_.data();
            job.tokens = n;
            job.padded = padded_;
            job.width = problem_.width;
            job.begin = begin * block_;
            job.end = std::min(end * block_, n);
            job.block = block_;
            job.causal = problem_.mask == Mask::causal;
            job.kind = form_of(problem_.kind).weights == Form::Weights::sigmoid ? TileWeights::sigmoid
                                                                                : TileWeights::exponential;
            job.normalize = exponent.normalize;
            job.log2_gain = static_cast<Real>(exponent.log2_gain);
            job.scaled = scaled_.data() + slot * general_rows * problem_.width;
            job.weights = weights_.data() + slot * general_rows * (general_columns<Real> + NR);
            job.sums = sums_.data() + slot * general_rows * deep;
            job.out = out;
            kernels_.general_tiles(job);
        });
    }

    std::string_view path() const override { return "tiles with running maxima"; }
    std::size_t memory_bytes() const override {
        return bytes_of(strips_, panels_, scales_, log2_allowed_, scaled_, weights_, sums_);
    }

  private:
    static constexpr std::size_t NR = micro_columns<Real>;

    std::size_t allowed(std::size_t j) const { return problem_.mask == Mask::causal ? j + 1 : problem_.tokens; }

    HeadProblem problem_;
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    std::size_t padded_;  // to NR
    std::size_t block_;
    std::size_t blocks_;
    std::size_t slots_;
    Buffer<Real> strips_;        // [np/NR, w, NR]: keys
    Buffer<Real> panels_;        // [wp/NR, np, NR]: values
    Buffer<Real> scales_;        // [n]
    Buffer<Real> log2_allowed_;  // [n]
    Buffer<Real> scaled_;        // [slots, rows, w]
    Buffer<Real> weights_;       // [slots, rows, columns + NR]
    Buffer<Real> sums_;          // [slots, wp/NR, rows, NR]
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_general(const HeadProblem& problem) {
    return std::make_unique<General<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_general(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_general(const HeadProblem&);

}  // namespace flyball::attention
