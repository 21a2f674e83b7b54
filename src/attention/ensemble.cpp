// Many small systems, one lane each: the driver of ensemble.inl.
#include <algorithm>
#include <cmath>

#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"

namespace flyball::attention {

namespace {

template <class Real>
class Ensemble final : public HeadKernel<Real> {
  public:
    explicit Ensemble(const HeadProblem& problem)
        : problem_(problem),
          tokens_(problem.tokens * problem.width * group),
          sums_(problem.tokens * (problem.width + 1) * group),
          fallback_(make_direct<Real>(problem)) {}

    void run(double beta, const Real* z, const Real*, const Real*, Real* out) override { run_systems(1, beta, z, out); }

    void run_systems(std::size_t count, double beta, const Real* z, Real* out) override {
        const std::size_t size = problem_.tokens * problem_.width;
        for (std::size_t s = 0; s < count; s += group) {
            run_group(std::min(group, count - s), beta, z + s * size, out + s * size);
        }
    }

    std::string_view path() const override { return path_; }
    std::size_t memory_bytes() const override { return bytes_of(tokens_, sums_) + fallback_->memory_bytes(); }

  private:
    static constexpr std::size_t group = ensemble_systems<Real>;

    // Up to G systems, transposed so that a coordinate of all of them is one vector; missing systems are zeros. Scores
    // are products of sqrt(scale) z, so beta has to be positive, and one shift has to serve all systems together.
    void run_group(std::size_t count, double beta, const Real* z, Real* out) {
        const std::size_t n = problem_.tokens;
        const std::size_t d = problem_.width;
        const Exponent exponent =
            exponent_of(problem_.kind, beta, n, n, square_range(count * n, d, z), sizeof(Real) == sizeof(float));
        if (!exponent.one_shift || !(exponent.scale > 0)) {
            path_ = "lengths differ, scores are large or beta is not positive: rows of each system";
            for (std::size_t s = 0; s < count; ++s) {
                const Real* system = z + s * n * d;
                fallback_->run(beta, system, system, system, out + s * n * d);
            }
            return;
        }
        path_ = "systems side by side";
        check_stop();
        const Real root = static_cast<Real>(std::sqrt(exponent.scale));
        for (std::size_t i = 0; i < n * d; ++i) {
            Real* to = tokens_.data() + i * group;
            for (std::size_t s = 0; s < count; ++s) {
                to[s] = root * z[s * n * d + i];
            }
            std::fill(to + count, to + group, Real{0});
        }
        EnsembleSystems<Real> job;
        job.tokens_of = tokens_.data();
        job.sums = sums_.data();
        job.tokens = n;
        job.shift = static_cast<Real>(exponent.shift);
        job.unscale = 1 / root;
        job.normalize = exponent.normalize;
        job.log2_gain = static_cast<Real>(exponent.log2_gain);
        kernels_.ensemble(d, job);
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t c = 0; c < d; ++c) {
                const Real* from = sums_.data() + (j * (d + 1) + c) * group;
                for (std::size_t s = 0; s < count; ++s) {
                    out[(s * n + j) * d + c] = from[s];
                }
            }
        }
    }

    HeadProblem problem_;
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    Buffer<Real> tokens_;  // [n, d, G]
    Buffer<Real> sums_;    // [n, d + 1, G]
    std::unique_ptr<HeadKernel<Real>> fallback_;
    std::string_view path_;
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_ensemble(const HeadProblem& problem) {
    return std::make_unique<Ensemble<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_ensemble(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_ensemble(const HeadProblem&);

}  // namespace flyball::attention
