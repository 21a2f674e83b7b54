#include "measure/moments.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "measure/extremes.hpp"

namespace flyball::measure {

namespace {

constexpr std::size_t slots = 16;
constexpr std::size_t lanes = 8;  // sums of neighbours go side by side, so that a compiler can use vectors

struct RowSums {
    double sum = 0;
    double absolute = 0;
    double squares = 0;
};

template <class Real>
RowSums sums_of(const Real* row, std::size_t count) {
    std::array<double, lanes> sum{};
    std::array<double, lanes> absolute{};
    std::array<double, lanes> squares{};
    const std::size_t whole = count / lanes * lanes;
    for (std::size_t k = 0; k < whole; k += lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const auto x = static_cast<double>(row[k + i]);
            sum[i] += x;
            absolute[i] += std::fabs(x);
            squares[i] += x * x;
        }
    }
    RowSums total;
    for (std::size_t i = 0; i < lanes; ++i) {
        total.sum += sum[i];
        total.absolute += absolute[i];
        total.squares += squares[i];
    }
    for (std::size_t k = whole; k < count; ++k) {
        const auto x = static_cast<double>(row[k]);
        total.sum += x;
        total.absolute += std::fabs(x);
        total.squares += x * x;
    }
    return total;
}

template <class Real>
double mean_square_around(double mean, const Real* x, std::size_t numbers) {
    constexpr std::size_t piece = 1024;
    const double squares =
        parallel_sum((numbers + piece - 1) / piece, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t k = begin * piece; k < std::min(end * piece, numbers); ++k) {
                const double away = static_cast<double>(x[k]) - mean;
                sum += away * away;
            }
            return sum;
        });
    return squares / static_cast<double>(numbers);
}

// Mean over (j, k) of the variance over sequences, of which there have to be two.
template <class Real>
double data_variance(const Real* x, std::size_t sequences, std::size_t entries) {
    if (sequences < 2) {
        return std::nan("");
    }
    constexpr std::size_t piece = 256;  // entries at a time
    const auto count = static_cast<double>(sequences);
    const double total =
        parallel_sum((entries + piece - 1) / piece, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
            double sum = 0;
            std::array<double, piece> mean{};
            std::array<double, piece> squares{};
            for (std::size_t p = begin; p < end; ++p) {
                const std::size_t first = p * piece;
                const std::size_t here = std::min(piece, entries - first);
                mean.fill(0);
                squares.fill(0);
                for (std::size_t s = 0; s < sequences; ++s) {
                    const Real* const row = x + s * entries + first;
                    for (std::size_t k = 0; k < here; ++k) {
                        mean[k] += static_cast<double>(row[k]);
                    }
                }
                for (std::size_t k = 0; k < here; ++k) {
                    mean[k] /= count;
                }
                for (std::size_t s = 0; s < sequences; ++s) {
                    const Real* const row = x + s * entries + first;
                    for (std::size_t k = 0; k < here; ++k) {
                        const double away = static_cast<double>(row[k]) - mean[k];
                        squares[k] += away * away;
                    }
                }
                for (std::size_t k = 0; k < here; ++k) {
                    sum += squares[k];
                }
            }
            return sum;
        });
    return total / count / static_cast<double>(entries);
}

}  // namespace

template <class Real>
Moments moments(const Real* x, std::size_t sequences, std::size_t tokens, std::size_t dim) {
    const std::size_t rows = sequences * tokens;
    std::vector<RowSums> sums(rows);
    parallel_slots(rows, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            sums[i] = sums_of(x + i * dim, dim);
        }
    });
    Moments result;
    const auto entries = static_cast<double>(tokens * dim);
    for (std::size_t s = 0; s < sequences; ++s) {
        RowSums all;
        for (std::size_t i = s * tokens; i < (s + 1) * tokens; ++i) {
            all.sum += sums[i].sum;
            all.squares += sums[i].squares;
            result.mean_abs += sums[i].absolute;
            result.norm += std::sqrt(sums[i].squares);
        }
        const double mean = all.sum / entries;
        const double variance = larger(all.squares / entries - mean * mean, 0);
        const bool cancels = variance < 1e-4 * mean * mean;  // then little of the difference is left
        result.entry_variance += cancels ? mean_square_around(mean, x + s * tokens * dim, tokens * dim) : variance;
    }
    result.mean_abs /= static_cast<double>(rows * dim);
    result.norm /= static_cast<double>(rows);
    result.entry_variance /= static_cast<double>(sequences);
    result.data_variance = data_variance(x, sequences, tokens * dim);
    return result;
}

template <class Real>
double mean_length(const Real* x, std::size_t rows, std::size_t dim) {
    return parallel_sum(rows, slots,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            double sum = 0;
                            for (std::size_t i = begin; i < end; ++i) {
                                sum += std::sqrt(sums_of(x + i * dim, dim).squares);
                            }
                            return sum;
                        }) /
           static_cast<double>(rows);
}

template <class Real>
double frobenius(const Real* x, std::size_t count) {
    constexpr std::size_t piece = 1024;
    return std::sqrt(
        parallel_sum((count + piece - 1) / piece, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t p = begin; p < end; ++p) {
                sum += sums_of(x + p * piece, std::min(piece, count - p * piece)).squares;
            }
            return sum;
        }));
}

// The angle of u and v is 2 atan2(|u - v|, |u + v|): right for small angles, where the arc cosine of a number near 1
// has lost half its digits, and for opposite ones.
template <class Real>
Turn mean_turn(const Real* a, const Real* b, std::size_t rows, std::size_t dim) {
    std::vector<Turn> turns(rows);
    parallel_slots(rows, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Real* const x = a + i * dim;
            const Real* const y = b + i * dim;
            const double length_x = std::sqrt(sums_of(x, dim).squares);
            const double length_y = std::sqrt(sums_of(y, dim).squares);
            if (length_x == 0 || length_y == 0) {
                turns[i].one_minus_cosine = 1;
                continue;
            }
            double apart = 0;
            double together = 0;
            for (std::size_t k = 0; k < dim; ++k) {
                const double u = static_cast<double>(x[k]) / length_x;
                const double v = static_cast<double>(y[k]) / length_y;
                apart += (u - v) * (u - v);
                together += (u + v) * (u + v);
            }
            turns[i] = {2 * std::atan2(std::sqrt(apart), std::sqrt(together)), apart / 2};
        }
    });
    Turn mean;
    for (const Turn& turn : turns) {
        mean.angle += turn.angle;
        mean.one_minus_cosine += turn.one_minus_cosine;
    }
    mean.angle /= static_cast<double>(rows);
    mean.one_minus_cosine /= static_cast<double>(rows);
    return mean;
}

template Moments moments(const float*, std::size_t, std::size_t, std::size_t);
template Moments moments(const double*, std::size_t, std::size_t, std::size_t);
template double mean_length(const float*, std::size_t, std::size_t);
template double mean_length(const double*, std::size_t, std::size_t);
template double frobenius(const float*, std::size_t);
template double frobenius(const double*, std::size_t);
template Turn mean_turn(const float*, const float*, std::size_t, std::size_t);
template Turn mean_turn(const double*, const double*, std::size_t, std::size_t);

}  // namespace flyball::measure
