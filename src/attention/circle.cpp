// Attention on the circle in O(n K): the driver of circle_sums.inl.
//
//     e^(beta cos(a - b)) = sum_{m in Z} I_m(beta) e^{im(a - b)}          (Jacobi and Anger)
//
// With the moments M_m = sum_k e^{im b_k}, M_{-m} = conj M_m, the sum of weights and the weighted sum at angle a are
//
//     Z(a) = sum_m I_m e^{ima} conj(M_m)   = I_0 n + 2 sum_{m>0} I_m (cos(ma) Re M_m + sin(ma) Im M_m)
//     S(a) = sum_m I_m e^{ima} M_{1-m}     = I_0 M_1 + sum_{m>0} I_m (e^{ima} conj(M_{m-1}) + e^{-ima} M_{m+1})
//
// I_m falls like e^(-m^2/(2 beta)), so K ~ sqrt(80 beta) terms reach 1e-17. The error of Z is a few roundings of n, not
// of Z: a token far from all others, with Z below n/1000, gets its row by direct summation instead. (Weights that are
// not divided by Z need that where beta < 0: a token's own weight is then the least that there can be.) Everything is
// in double, also for float tokens: moments of a million tokens need it.
//
// Tokens of one length r other than 1 are unit tokens at inverse temperature beta r^2 whose sums are r times as long.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/bessel.hpp"
#include "attention/exponent.hpp"
#include "attention/head_kernel.hpp"
#include "attention/row_weights.hpp"
#include "attention/tile_kernels.hpp"
#include "attention/workspace.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t chunk = 512;  // tokens whose coordinates are unpacked at a time
constexpr std::size_t chunks_per_slot = 4;
constexpr std::size_t most_circle_slots = 32;
constexpr double least_share = 1e-3;  // of n: the smallest Z that is trusted
constexpr double most_gain = 300;     // as an exponent: what unnormalized sums may be multiplied with

template <class Real>
class Circle final : public HeadKernel<Real> {
  public:
    explicit Circle(const HeadProblem& problem)
        : problem_(problem),
          chunks_((problem.tokens + chunk - 1) / chunk),
          slots_(std::clamp<std::size_t>(chunks_ / chunks_per_slot, 1, most_circle_slots)),
          room_(slots_ * room_size),
          far_(slots_) {}

    // Fourier sums where all tokens have one length r; their length is a matter of beta r^2. Direct sums where lengths
    // differ, and for tokens so long that K ~ sqrt(80 beta r^2) orders are more than n tokens or a gain would overflow.
    void run(double beta, const Real* z, const Real* key, const Real* value, Real* out) override {
        const std::size_t n = problem_.tokens;
        const SquareRange range = square_range(n, 2, z);
        // One length, rounded: farther apart the lengths would change the scores by more than rounding does.
        const double tolerance = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon());
        const bool unit = range.least >= 1 - tolerance && range.most <= 1 + tolerance;
        const double square = unit ? 1.0 : range.least + (range.most - range.least) / 2;
        const bool one_length = unit || (range.least > 0 && range.most - range.least <= 2 * tolerance * range.most);
        beta_ = beta * score_factor(problem_.kind, n);
        // The terms of the sums grow with the scores, and so does the gain of unnormalized ones.
        const double scores = std::fabs(beta_) * square;
        const bool too_long = !unit && (80 * scores > static_cast<double>(n) * static_cast<double>(n) ||
                                        (form_of(problem_.kind).by_tokens && scores - beta_ > most_gain));
        if (!one_length || too_long) {
            this->fell_back = true;
            path_ = one_length ? "long vectors: direct sums" : "lengths differ: direct sums";
            fallback().run(beta, z, key, value, out);
            return;
        }
        path_ = "Fourier sums";
        length_ = std::sqrt(square);
        if (bessel_.empty() || beta_ * square != bessel_beta_) {
            bessel_ = scaled_bessel(beta_ * square);
            bessel_beta_ = beta_ * square;
        }
        take_moments(z);
        make_factors();
        evaluate(z, out);
        direct_rows(beta, z, key, value, out);
    }

    std::string_view path() const override { return path_; }
    std::size_t memory_bytes() const override {
        return bytes_of(room_, lanes_, moments_, factors_) + (fallback_ ? fallback_->memory_bytes() : 0);
    }

  private:
    static constexpr std::size_t room_size = 5 * chunk;  // x, y and three values

    HeadKernel<Real>& fallback() {
        if (!fallback_) {
            fallback_ = make_direct<Real>(problem_);
        }
        return *fallback_;
    }

    // Coordinates of a chunk into x, y of length `padded`, zero beyond its end. Returns `padded`.
    std::size_t unpack(const Real* z, std::size_t begin, std::size_t count, double* x, double* y) const {
        const std::size_t padded = round_up(count, circle_group);
        for (std::size_t i = 0; i < count; ++i) {
            x[i] = static_cast<double>(z[2 * (begin + i)]) / length_;
            y[i] = static_cast<double>(z[2 * (begin + i) + 1]) / length_;
        }
        std::fill(x + count, x + padded, 0.0);
        std::fill(y + count, y + padded, 0.0);
        return padded;
    }

    // M_0 .. M_{K+1}. Padding has x = y = 0: its phase is 1 at m = 0 and 0 from the first turn on, so only M_0 counts
    // it.
    void take_moments(const Real* z) {
        const std::size_t orders = bessel_.size() + 1;
        lanes_.assign(slots_ * orders * 8, 0.0);
        parallel_slots(chunks_, slots_, [&](std::size_t slot, std::size_t first, std::size_t last) {
            double* x = room_.data() + slot * room_size;
            double* y = x + chunk;
            for (std::size_t c = first; c < last; ++c) {
                const std::size_t begin = c * chunk;
                const std::size_t padded = unpack(z, begin, std::min(chunk, problem_.tokens - begin), x, y);
                kernels_.circle_moments({x, y, padded, orders - 1, lanes_.data() + slot * orders * 8});
            }
        });
        moments_.assign(orders * 2, 0.0);
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            for (std::size_t i = 0; i < orders * 2; ++i) {
                for (std::size_t lane = 0; lane < 4; ++lane) {
                    moments_[i] += lanes_[(slot * orders * 2 + i) * 4 + lane];
                }
            }
        }
        moments_[0] = static_cast<double>(problem_.tokens);  // padding counted there
        moments_[1] = 0;
    }

    // The sums above in the form of CircleSums, cosine and sine of each order, with M_m = R_m + i J_m:
    //
    //     Z       2 I_m (                 R_m cos(ma) +                 J_m sin(ma) )
    //     Re S      I_m ( (R_{m-1} + R_{m+1}) cos(ma) + (J_{m-1} + J_{m+1}) sin(ma) )
    //     Im S      I_m ( (J_{m+1} - J_{m-1}) cos(ma) + (R_{m-1} - R_{m+1}) sin(ma) )
    //
    // and at m = 0 I_0 n, I_0 R_1, I_0 J_1. S needs one moment more than there are Bessel functions.
    void make_factors() {
        const auto re = [this](std::size_t m) { return moments_[2 * m]; };
        const auto im = [this](std::size_t m) { return moments_[2 * m + 1]; };
        factors_.assign(bessel_.size() * 6, 0.0);
        factors_[0] = bessel_[0] * re(0);
        factors_[2] = bessel_[0] * re(1);
        factors_[4] = bessel_[0] * im(1);
        for (std::size_t m = 1; m < bessel_.size(); ++m) {
            const double bessel = bessel_[m];
            double* f = factors_.data() + 6 * m;
            f[0] = 2 * bessel * re(m);
            f[1] = 2 * bessel * im(m);
            f[2] = bessel * (re(m - 1) + re(m + 1));
            f[3] = bessel * (im(m - 1) + im(m + 1));
            f[4] = bessel * (im(m + 1) - im(m - 1));
            f[5] = bessel * (re(m - 1) - re(m + 1));
        }
    }

    // Bessel functions come without e^|beta r^2|. Softmax divides it out; unnormalized weights e^(s - beta)/n need it
    // back, as `gain`. A row with a small Z is noted for direct_rows below, also one whose Z is NaN or negative.
    void evaluate(const Real* z, Real* out) {
        const double n = static_cast<double>(problem_.tokens);
        const bool normalize = !form_of(problem_.kind).by_tokens;
        const double least = normalize || beta_ < 0 ? least_share * n : -std::numeric_limits<double>::infinity();
        const double gain = std::exp(std::fabs(bessel_beta_) - beta_) / n;
        parallel_slots(chunks_, slots_, [&](std::size_t slot, std::size_t first, std::size_t last) {
            double* x = room_.data() + slot * room_size;
            double* y = x + chunk;
            double* values = y + chunk;
            far_[slot].clear();
            for (std::size_t c = first; c < last; ++c) {
                const std::size_t begin = c * chunk;
                const std::size_t count = std::min(chunk, problem_.tokens - begin);
                const std::size_t padded = unpack(z, begin, count, x, y);
                kernels_.circle_sums({x, y, padded, bessel_.size() - 1, factors_.data(), values});
                for (std::size_t i = 0; i < count; ++i) {
                    const double factor = length_ * (normalize ? 1 / values[i] : gain);
                    out[2 * (begin + i)] = static_cast<Real>(values[padded + i] * factor);
                    out[2 * (begin + i) + 1] = static_cast<Real>(values[2 * padded + i] * factor);
                    if (!(values[i] >= least)) {
                        far_[slot].push_back(begin + i);
                    }
                }
            }
        });
    }

    // Rows whose sum of weights is too small a part of n; all of them when they are many.
    void direct_rows(double beta, const Real* z, const Real* key, const Real* value, Real* out) {
        const std::size_t n = problem_.tokens;
        std::size_t count = 0;
        for (const std::vector<std::size_t>& rows : far_) {
            count += rows.size();
        }
        if (count == 0) {
            return;
        }
        if (count > 16 + n / 32) {
            path_ = "many tokens far from the others: direct sums";
            this->fell_back = true;
            fallback().run(beta, z, key, value, out);
            return;
        }
        path_ = "Fourier sums, tokens far from the others by direct sums";
        parallel_slots(slots_, slots_, [&](std::size_t slot, std::size_t, std::size_t) {
            DirectRows<Real> job;
            job.z = z;
            job.tokens = n;
            job.scale = static_cast<Real>(beta_ * log2_e);
            job.own_maximum = true;
            job.shift = 0;
            job.normalize = !form_of(problem_.kind).by_tokens;
            job.log2_gain = static_cast<Real>(-beta * log2_e - std::log2(static_cast<double>(n)));
            job.out = out;
            for (const std::size_t row : far_[slot]) {
                job.begin = row;
                job.end = row + 1;
                kernels_.direct_rows(2, job);
            }
        });
    }

    HeadProblem problem_;
    const TileKernels<Real>& kernels_ = tile_kernels<Real>();
    std::size_t chunks_;
    std::size_t slots_;
    std::string_view path_;
    std::unique_ptr<HeadKernel<Real>> fallback_;
    double beta_ = 0;                            // of the scores
    double length_ = 1;                          // of all tokens
    double bessel_beta_ = 0;                     // of cosines: beta_ length_^2
    std::vector<double> bessel_;                 // [K + 1]
    Buffer<double> room_;                        // [slots, 5, chunk]
    Buffer<double> lanes_;                       // [slots, K + 2, 2, 4]
    Buffer<double> moments_;                     // [K + 2, 2]
    Buffer<double> factors_;                     // [K + 1, 6]
    std::vector<std::vector<std::size_t>> far_;  // by slot: rows for direct summation
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_circle(const HeadProblem& problem) {
    return std::make_unique<Circle<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_circle(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_circle(const HeadProblem&);

}  // namespace flyball::attention
