// Attention in each token's own frame, row by row: squares of differences, weights, sums. Plain loops, since it runs
// where digits matter and not where time does.
#include "attention/own_frame.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/row_weights.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t work_per_slot = 1 << 17;  // pairs times dimensions
constexpr std::size_t most_frame_slots = 64;

// exp, without asking the library for the zeros that large beta is full of.
double weight_of(double exponent) {
    return exponent < -746 ? 0.0 : std::exp(exponent);
}

struct Row {
    std::vector<double> square;   // [n]: |d|^2, or -|s|^2, also -0, where the tokens look away from each other
    std::vector<double> weights;  // [n]
    std::vector<double> room;
};

// One token against those of its system that it may see.
class OneRow {
  public:
    OneRow(const Shape& shape, const Settings& settings, const double* theta, const double* scale,
           const std::size_t* group)
        : shape_(shape), settings_(settings), theta_(theta), scale_(scale), group_(group) {}

    // theta, scale and group begin at the system; j is the token in it, `to` its row in the result.
    void run(std::size_t j, Row& row, std::size_t to, const OwnFrameResult& result) const {
        const std::size_t allowed = settings_.mask == Mask::causal ? j + 1 : shape_.tokens;
        row.square.resize(shape_.tokens);
        row.weights.resize(shape_.tokens);
        squares(j, allowed, row.square.data());
        const double log_divisor = weigh(j, allowed, row);
        if (result.log_divisor != nullptr) {
            result.log_divisor[to] = log_divisor;
        }
        if (result.tie != nullptr) {
            double tie = 0;
            for (std::size_t k = 0; k < allowed; ++k) {
                tie += k != j && group_[k] == group_[j] ? row.weights[k] * scale_[k] : 0.0;
            }
            result.tie[to] = tie;
        }
        sum(j, allowed, row, result.along == nullptr ? nullptr : result.along + to,
            result.across == nullptr ? nullptr : result.across + to * shape_.dim);
    }

  private:
    // Both forms of P_j theta_k at once. The shorter of d and s is the one whose digits are all there, and the sign of
    // the number says which it was: row.square is +|d|^2 or -|s|^2, so that square/2 is the factor of theta_j in both.
    void squares(std::size_t j, std::size_t allowed, double* square) const {
        const std::size_t dim = shape_.dim;
        const double* own = theta_ + j * dim;
        for (std::size_t k = 0; k < allowed; ++k) {
            const double* other = theta_ + k * dim;
            double apart = 0;
            double together = 0;
            for (std::size_t c = 0; c < dim; ++c) {
                const double d = other[c] - own[c];
                const double s = other[c] + own[c];
                apart += d * d;
                together += s * s;
            }
            square[k] = apart <= together ? apart : -together;
        }
    }

    // 1 - <theta_j, theta_k> = |d|^2/2 = 2 - |s|^2/2.
    static double one_minus_cosine(double square) { return std::signbit(square) ? 2 + square / 2 : square / 2; }

    // Weights of row j in row.weights; returns log D_j. Exponents are relative to the token's own score beta c_j^2,
    //
    //     beta c_j (c_k <theta_j, theta_k> - c_j) = beta c_j ((c_k - c_j) - c_k (1 - <theta_j, theta_k>))
    //
    // a sum of two small numbers where the tokens are close, instead of the difference of two large ones.
    double weigh(std::size_t j, std::size_t allowed, Row& row) const {
        const double n = static_cast<double>(shape_.tokens);
        const double m = static_cast<double>(allowed);
        const double own = scale_[j];
        double* w = row.weights.data();
        switch (settings_.kind) {
            case Kind::softmax:
            case Kind::ssmax: {
                const double beta = score_factor(settings_.kind, allowed) * settings_.beta;
                double largest = 0;  // the token's own
                for (std::size_t k = 0; k < allowed; ++k) {
                    w[k] = beta * own * ((scale_[k] - own) - scale_[k] * one_minus_cosine(row.square[k]));
                    largest = std::max(largest, w[k]);
                }
                double total = 0;
                for (std::size_t k = 0; k < allowed; ++k) {
                    w[k] = weight_of(w[k] - largest);
                    total += w[k];
                }
                for (std::size_t k = 0; k < allowed; ++k) {
                    w[k] /= total;
                }
                return beta * own * own + largest + std::log(total);
            }
            case Kind::unnormalized:
                for (std::size_t k = 0; k < allowed; ++k) {
                    const double product = own * scale_[k];
                    w[k] = weight_of(settings_.beta * ((product - 1) - product * one_minus_cosine(row.square[k]))) / n;
                }
                return 0;
            case Kind::sigmoid:
                for (std::size_t k = 0; k < allowed; ++k) {
                    const double score = own * scale_[k] * (1 - one_minus_cosine(row.square[k]));
                    w[k] = 1 / (1 + std::exp(std::log(m) - settings_.beta * score));
                }
                return 0;
            case Kind::sparsemax:
            case Kind::entmax15:
                break;
        }
        // Projections do not change when a constant is added to all scores: relative to the token's own.
        for (std::size_t k = 0; k < allowed; ++k) {
            w[k] = own * ((scale_[k] - own) - scale_[k] * one_minus_cosine(row.square[k]));
        }
        row_weights(settings_.kind, settings_.beta, shape_.tokens, allowed, w, row.room);
        return 0;
    }

    // along and across of the header: sum of w c (d or s) first, and the multiple of theta_j that belongs to all of
    // them once at the end. Equal or exactly opposite tokens (square 0) do not turn each other and are left out.
    void sum(std::size_t j, std::size_t allowed, const Row& row, double* along, double* across) const {
        const std::size_t dim = shape_.dim;
        const double* own = theta_ + j * dim;
        double length = 0;
        double back = 0;  // of theta_j: what makes the sum of the d and s orthogonal to it
        if (across != nullptr) {
            std::fill_n(across, dim, 0.0);
        }
        for (std::size_t k = 0; k < allowed; ++k) {
            const double weight = row.weights[k] * scale_[k];
            if (weight == 0) {
                continue;
            }
            const double square = row.square[k];
            length += weight * (1 - one_minus_cosine(square));
            if (across == nullptr || square == 0) {
                continue;
            }
            const double* other = theta_ + k * dim;
            back += weight * square / 2;
            const double sign = std::signbit(square) ? 1 : -1;
            for (std::size_t c = 0; c < dim; ++c) {
                across[c] += weight * (other[c] + sign * own[c]);
            }
        }
        for (std::size_t c = 0; across != nullptr && c < dim; ++c) {
            across[c] += back * own[c];
        }
        if (along != nullptr) {
            *along = length;
        }
    }

    const Shape& shape_;
    const Settings& settings_;
    const double* theta_;
    const double* scale_;
    const std::size_t* group_;
};

}  // namespace

void attend_in_own_frame(const Shape& shape, const Settings& settings, const double* theta, const double* scale,
                         const std::size_t* group, const OwnFrameResult& result) {
    const std::size_t n = shape.tokens;
    const std::size_t rows = shape.systems * n;
    const double work = static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(shape.dim + 8);
    const double wanted =
        std::clamp(work / static_cast<double>(work_per_slot), 1.0, static_cast<double>(most_frame_slots));
    parallel_slots(rows, static_cast<std::size_t>(wanted), [&](std::size_t, std::size_t begin, std::size_t end) {
        thread_local Row row;
        for (std::size_t at = begin; at < end; ++at) {
            check_stop();
            const std::size_t first = at - at % n;  // of its system
            const OneRow one(shape, settings, theta + first * shape.dim, scale + first,
                             group == nullptr ? nullptr : group + first);
            one.run(at - first, row, at, result);
        }
    });
}

}  // namespace flyball::attention
