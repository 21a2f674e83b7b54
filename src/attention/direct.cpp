// Direct sums for dimensions up to 8: the driver of direct_rows.inl and direct_tiles.inl.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

// Below this many blocks the symmetric version wastes too much on diagonals, packing and sums of slots.
constexpr std::size_t least_blocks = 3;
// Shares are functions of sizes alone. A slot of rows needs no memory; a slot of tiles has sums of its own, so fewer.
constexpr std::size_t rows_per_direct_slot = 32;
constexpr std::size_t most_direct_slots = 64;
constexpr std::size_t pairs_per_slot = 4;
constexpr std::size_t most_tile_slots = 16;

template <class Real>
class Direct final : public HeadKernel<Real> {
  public:
    explicit Direct(const HeadProblem& problem)
        : problem_(problem), blocks_((problem.tokens + block - 1) / block), pairs_(blocks_ * (blocks_ + 1) / 2) {
        if (blocks_ < least_blocks) {
            return;
        }
        slots_ = std::clamp<std::size_t>(pairs_ / pairs_per_slot, 1, most_tile_slots);
        packed_.resize(blocks_ * block_numbers());
        sums_.resize(slots_ * packed_.size());
        lanes_.resize(slots_ * block_numbers() * widest_lanes);
        strips_.resize(slots_ * direct_strip * block);
    }

    void run(double beta, const Real* z, const Real*, const Real*, Real* out) override {
        const std::size_t n = problem_.tokens;
        const Exponent exponent =
            exponent_of(problem_.kind, beta, n, n, square_range(n, problem_.width, z), sizeof(Real) == sizeof(float));
        if (slots_ > 0 && exponent.one_shift) {
            path_ = "symmetric tiles";
            tiles(exponent, z, out);
        } else {
            path_ = exponent.one_shift ? "rows" : "lengths differ or scores are large: rows with their own maxima";
            rows(exponent, z, out);
        }
    }

    std::string_view path() const override { return path_; }
    std::size_t memory_bytes() const override { return bytes_of(packed_, sums_, lanes_, strips_); }

  private:
    static constexpr std::size_t block = direct_block<Real>;
    static constexpr std::size_t widest_lanes = 8;

    std::size_t block_numbers() const { return (problem_.width + 1) * block; }

    void rows(const Exponent& exponent, const Real* z, Real* out) const {
        const std::size_t n = problem_.tokens;
        const std::size_t slots = std::clamp<std::size_t>(n / rows_per_direct_slot, 1, most_direct_slots);
        parallel_slots(n, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
            DirectRows<Real> job;
            job.z = z;
            job.tokens = n;
            job.begin = begin;
            job.end = end;
            job.scale = static_cast<Real>(exponent.scale);
            job.own_maximum = !exponent.one_shift;
            job.shift = static_cast<Real>(exponent.shift);
            job.normalize = exponent.normalize;
            job.log2_gain = static_cast<Real>(exponent.log2_gain);
            job.out = out;
            kernels_.direct_rows(problem_.width, job);
        });
    }

    // Pack, share the pairs of blocks among slots, add the slots up: three passes, each cut by sizes alone.
    void tiles(const Exponent& exponent, const Real* z, Real* out) {
        pack(exponent, z);
        parallel_slots(pairs_, slots_, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            DirectTiles<Real> job;
            job.blocks = packed_.data();
            job.sums = sums_.data() + slot * packed_.size();
            job.lanes = lanes_.data() + slot * block_numbers() * widest_lanes;
            job.weights = strips_.data() + slot * direct_strip * block;
            job.tokens = problem_.tokens;
            job.first = begin;
            job.last = end;
            job.scale = static_cast<Real>(exponent.scale);
            std::fill_n(job.sums, packed_.size(), Real{0});
            kernels_.direct_tiles(problem_.width, job);
        });
        parallel_slots(blocks_, slots_, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t b = begin; b < end; ++b) {
                finish(exponent, b, out);
            }
        });
    }

    // Coordinates of a block in arrays of their own, then the exponent offsets.
    void pack(const Exponent& exponent, const Real* z) {
        const std::size_t d = problem_.width;
        parallel_slots(blocks_, slots_, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t b = begin; b < end; ++b) {
                Real* to = packed_.data() + b * block_numbers();
                const std::size_t filled = std::min(block, problem_.tokens - b * block);
                for (std::size_t r = 0; r < filled; ++r) {
                    for (std::size_t c = 0; c < d; ++c) {
                        to[c * block + r] = z[(b * block + r) * d + c];
                    }
                    to[d * block + r] = static_cast<Real>(-exponent.shift);
                }
                for (std::size_t r = filled; r < block; ++r) {
                    for (std::size_t c = 0; c < d; ++c) {
                        to[c * block + r] = 0;
                    }
                    to[d * block + r] = -std::numeric_limits<Real>::infinity();
                }
            }
        });
    }

    // Adds the slots in order into the first, and divides.
    void finish(const Exponent& exponent, std::size_t b, Real* out) {
        const std::size_t d = problem_.width;
        Real* total = sums_.data() + b * block_numbers();
        for (std::size_t slot = 1; slot < slots_; ++slot) {
            const Real* part = total + slot * packed_.size();
            for (std::size_t i = 0; i < block_numbers(); ++i) {
                total[i] += part[i];
            }
        }
        const auto root = static_cast<Real>(std::exp2((exponent.shift + exponent.log2_gain) / 2));
        const std::size_t filled = std::min(block, problem_.tokens - b * block);
        for (std::size_t r = 0; r < filled; ++r) {
            const Real first = exponent.normalize ? 1 / total[d * block + r] : root;
            const Real second = exponent.normalize ? Real{1} : root;
            for (std::size_t c = 0; c < d; ++c) {
                out[(b * block + r) * d + c] = total[c * block + r] * first * second;
            }
        }
    }

    HeadProblem problem_;
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    std::size_t blocks_;
    std::size_t pairs_;      // of blocks
    std::size_t slots_ = 0;  // 0: rows only
    std::string_view path_;
    Buffer<Real> packed_;  // [nb, d + 1, B]
    Buffer<Real> sums_;    // [slots, nb, d + 1, B]
    Buffer<Real> lanes_;   // [slots, B, d + 1, 8]
    Buffer<Real> strips_;  // [slots, 8, B]
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_direct(const HeadProblem& problem) {
    return std::make_unique<Direct<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_direct(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_direct(const HeadProblem&);

}  // namespace flyball::attention
