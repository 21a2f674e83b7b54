// Symmetric attention by cache tiles: the driver of fused_tiles.inl.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/packing.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

// A slot has sums of its own, [np, d] numbers: more slots share work better and cost memory and a longer finish.
constexpr std::size_t pairs_per_fused_slot = 10;
constexpr std::size_t most_fused_slots = 8;

// Tokens a tile has on a side: a tile of weights fills a third of a second-level cache of 512 KB, yet there are pairs
// enough to share among slots.
template <class Real>
std::size_t block_size(std::size_t tokens, std::size_t dim) {
    constexpr std::size_t step = token_padding<Real>;
    const std::size_t largest = sizeof(Real) == sizeof(double) ? 96 : (dim > 256 ? 144 : 192);
    return std::clamp(tokens / 12 / step * step, step, largest);
}

template <class Real>
class Fused final : public HeadKernel<Real> {
  public:
    explicit Fused(const HeadProblem& problem)
        : problem_(problem),
          block_(block_size<Real>(problem.tokens, problem.width)),
          padded_(round_up(problem.tokens, token_padding<Real>)),
          blocks_((padded_ + block_ - 1) / block_),
          pairs_(blocks_ * (blocks_ + 1) / 2),
          slots_(std::clamp<std::size_t>(pairs_ / pairs_per_fused_slot, 1, most_fused_slots)),
          shares_(make_shares()) {
        const std::size_t deep = round_up(problem.width, NR);
        rows_.resize(padded_ * problem.width);
        strips_.resize(padded_ * problem.width);
        panels_.resize(padded_ * deep);
        offsets_.resize(padded_);
        sums_.reserve(slots_ * padded_ * deep);
        for (std::size_t slot = 0; slot < slots_; ++slot) {  // gigabytes where rows are long
            check_stop();
            sums_.resize((slot + 1) * padded_ * deep);
        }
        check_stop();
        row_weights_.resize(slots_ * padded_ * (NR / 2));
        column_weights_.resize(slots_ * padded_);
        weights_.resize(slots_ * block_ * (block_ + NR));
    }

    void run(double beta, const Real* z, const Real* key, const Real* value, Real* out) override {
        const std::size_t n = problem_.tokens;
        const Exponent exponent =
            exponent_of(problem_.kind, beta, n, n, square_range(n, problem_.width, z), sizeof(Real) == sizeof(float));
        if (!exponent.one_shift) {
            path_ = "lengths differ or scores are large: rows with running maxima";
            if (!fallback_) {
                fallback_ = make_general<Real>(problem_);
            }
            fallback_->run(beta, z, key, value, out);
            return;
        }
        path_ = "symmetric tiles";
        pack(exponent, z);
        parallel_slots(slots_, slots_, [&](std::size_t slot, std::size_t, std::size_t) { tiles(slot); });
        parallel_slots(blocks_, blocks_, [&](std::size_t b, std::size_t, std::size_t) { finish(exponent, b, out); });
    }

    std::string_view path() const override { return path_; }
    std::size_t memory_bytes() const override {
        return bytes_of(rows_, strips_, panels_, offsets_, sums_, row_weights_, column_weights_, weights_) +
               (fallback_ ? fallback_->memory_bytes() : 0);
    }

  private:
    static constexpr std::size_t NR = micro_columns<Real>;

    void pack(const Exponent& exponent, const Real* z) {
        const std::size_t n = problem_.tokens;
        const std::size_t d = problem_.width;
        parallel_slots(blocks_, blocks_, [&](std::size_t b, std::size_t, std::size_t) {
            const std::size_t begin = b * block_;
            const std::size_t end = std::min(begin + block_, padded_);
            const std::size_t filled = std::min(end, n);
            const auto scale = static_cast<Real>(exponent.scale);
            std::transform(z + begin * d, z + filled * d, rows_.data() + begin * d,
                           [scale](Real x) { return scale * x; });
            std::fill(rows_.data() + filled * d, rows_.data() + end * d, Real{0});
            std::fill(offsets_.data() + begin, offsets_.data() + filled, static_cast<Real>(-exponent.shift));
            std::fill(offsets_.data() + filled, offsets_.data() + end, -std::numeric_limits<Real>::infinity());
            pack_strips(z, n, d, begin, end, strips_.data());
            pack_panels(z, n, d, padded_, begin, end, panels_.data());
        });
    }

    // Pairs [first, last) of blocks, which touch no token beyond block `last_block`.
    struct Share {
        std::size_t first;
        std::size_t last;
        std::size_t last_block;
    };

    // Shares of equal work: a pair on the diagonal takes two products, any other three, and the last block is short.
    std::vector<Share> make_shares() const {
        const auto size = [this](std::size_t b) { return std::min(block_, problem_.tokens - b * block_); };
        const auto work = [&](std::size_t column, std::size_t row) {
            return static_cast<double>(size(column) * size(row) * (column == row ? 2 : 3));
        };
        double total = 0;
        for (std::size_t column = 0; column < blocks_; ++column) {
            for (std::size_t row = 0; row <= column; ++row) {
                total += work(column, row);
            }
        }
        std::vector<Share> shares;
        double done = 0;
        std::size_t pair = 0;
        std::size_t first = 0;
        for (std::size_t column = 0; column < blocks_; ++column) {
            for (std::size_t row = 0; row <= column; ++row) {
                done += work(column, row);
                ++pair;
                const bool full = done >= total * static_cast<double>(shares.size() + 1) / static_cast<double>(slots_);
                if (pair == pairs_ || (full && shares.size() + 1 < slots_)) {
                    shares.push_back({first, pair, column});
                    first = pair;
                }
            }
        }
        return shares;
    }

    // Clears as much of the slot's sums as its share will touch: the others are never read (finish).
    void tiles(std::size_t slot) {
        const std::size_t deep = round_up(problem_.width, NR);
        FusedTiles<Real> job;
        job.packed = {rows_.data(), strips_.data(), panels_.data()};
        job.offsets = offsets_.data();
        job.sums = sums_.data() + slot * padded_ * deep;
        job.row_weights = row_weights_.data() + slot * padded_ * (NR / 2);
        job.column_weights = column_weights_.data() + slot * padded_;
        job.weights = weights_.data() + slot * block_ * (block_ + NR);
        job.tokens = problem_.tokens;
        job.padded = padded_;
        job.dim = problem_.width;
        job.block = block_;
        job.first = shares_[slot].first;
        job.last = shares_[slot].last;
        const std::size_t touched = std::min((shares_[slot].last_block + 1) * block_, padded_);
        for (std::size_t p = 0; p < deep / NR; ++p) {
            std::fill_n(job.sums + p * padded_ * NR, touched * NR, Real{0});
        }
        std::fill_n(job.row_weights, touched * (NR / 2), Real{0});
        std::fill_n(job.column_weights, touched, Real{0});
        kernels_.fused_tiles(job);
    }

    // Adds the slots that touched block b, in order, and divides.
    void finish(const Exponent& exponent, std::size_t b, Real* out) {
        const std::size_t d = problem_.width;
        const std::size_t deep = round_up(d, NR);
        const std::size_t begin = b * block_;
        const std::size_t end = std::min(begin + block_, problem_.tokens);
        std::size_t first_slot = 0;
        while (shares_[first_slot].last_block < b) {
            ++first_slot;
        }
        const auto root = static_cast<Real>(std::exp2((exponent.shift + exponent.log2_gain) / 2));
        for (std::size_t j = begin; j < end; ++j) {
            Real weight = 0;
            Real lanes[NR / 2] = {};  // added up side by side: one chain of all of them would take a visible time
            for (std::size_t slot = first_slot; slot < slots_; ++slot) {
                const Real* part = row_weights_.data() + (slot * padded_ + j) * (NR / 2);
                for (std::size_t lane = 0; lane < NR / 2; ++lane) {
                    lanes[lane] += part[lane];
                }
                weight += column_weights_[slot * padded_ + j];
            }
            for (const Real lane : lanes) {
                weight += lane;
            }
            const Real first = exponent.normalize ? 1 / weight : root;
            const Real second = exponent.normalize ? Real{1} : root;
            for (std::size_t p = 0; p < deep / NR; ++p) {
                const std::size_t used = std::min(NR, d - p * NR);
                Real total[NR] = {};
                for (std::size_t slot = first_slot; slot < slots_; ++slot) {
                    const Real* part = sums_.data() + slot * padded_ * deep + (p * padded_ + j) * NR;
                    for (std::size_t c = 0; c < NR; ++c) {
                        total[c] += part[c];
                    }
                }
                for (std::size_t c = 0; c < used; ++c) {
                    out[j * d + p * NR + c] = total[c] * first * second;
                }
            }
        }
    }

    HeadProblem problem_;
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    std::size_t block_;
    std::size_t padded_;
    std::size_t blocks_;
    std::size_t pairs_;  // of blocks
    std::size_t slots_;
    std::vector<Share> shares_;  // [slots]
    std::string_view path_;
    std::unique_ptr<HeadKernel<Real>> fallback_;
    Buffer<Real> rows_;            // [np, d]
    Buffer<Real> strips_;          // [np/NR, d, NR]
    Buffer<Real> panels_;          // [dp/NR, np, NR]
    Buffer<Real> offsets_;         // [np]
    Buffer<Real> sums_;            // [slots, dp/NR, np, NR]
    Buffer<Real> row_weights_;     // [slots, np, NR/2]
    Buffer<Real> column_weights_;  // [slots, np]
    Buffer<Real> weights_;         // [slots, block, block + NR]
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_fused(const HeadProblem& problem) {
    return std::make_unique<Fused<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_fused(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_fused(const HeadProblem&);

}  // namespace flyball::attention
