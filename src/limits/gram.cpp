// Inner products of a layer's vectors, and least distances among the keys of every row.
#include "limits/gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.hpp"
#include "core/parallel.hpp"

namespace flyball::limits {

namespace {

constexpr std::size_t rows_per_slot = 64;

}  // namespace

// Rows of the product in slots of 64: each is one single-threaded product, so bits do not depend on threads.
template <class Real>
void Gram::assign(const Real* x, std::size_t count, std::size_t dim, std::size_t stride) {
    count_ = count;
    dim_ = dim;
    x_.resize(count * dim);
    products_.resize(count * count);
    diagonal_.resize(count);
    inverse_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(x + i * stride, dim, x_.data() + i * dim);
    }
    const std::size_t slots = (count + rows_per_slot - 1) / rows_per_slot;
    parallel_slots(count, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        gemm(Transpose::no, Transpose::yes, end - begin, count, dim, 1.0, x_.data() + begin * dim, dim, x_.data(), dim,
             0.0, products_.data() + begin * count, count);
    });
    finite_ = true;
    for (std::size_t i = 0; i < count; ++i) {
        diagonal_[i] = products_[i * count + i];
        inverse_[i] = diagonal_[i] > 0 ? 1 / std::sqrt(diagonal_[i]) : 0;
        finite_ = finite_ && std::isfinite(diagonal_[i]);
    }
}

double Gram::unit_distance_squared(std::size_t i, std::size_t j) const {
    constexpr double close = 1e-3;  // below this the difference of products has lost three digits or more
    const double inverse_i = inverse_[i];
    const double inverse_j = inverse_[j];
    const double lengths = (inverse_i > 0 ? 1 : 0) + (inverse_j > 0 ? 1 : 0);
    const double found = lengths - 2 * row(i)[j] * inverse_i * inverse_j;
    if (!(found < close)) {
        return found;
    }
    double sum = 0;
    for (std::size_t c = 0; c < dim_; ++c) {
        const double difference = vector(i)[c] * inverse_i - vector(j)[c] * inverse_j;
        sum += difference * difference;
    }
    return sum;
}

// Rows begin and end in rising order. D[b] is the least distance among the keys [b, e) so far; a new key e lowers D[b]
// to the least of its own distances to b..e-1.
std::vector<Gram::Least> Gram::least_distances(const std::vector<Seen>& rows) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<Least> least(count_, {infinite, infinite});
    std::vector<Least> result;
    std::size_t end = 0;
    for (const Seen& seen : rows) {
        for (; end < seen.end; ++end) {
            Least own{infinite, infinite};
            for (std::size_t b = end; b-- > 0;) {
                const double squared = unit_distance_squared(b, end);
                own.any = std::min(own.any, squared);
                own.distinct = squared > 0 ? std::min(own.distinct, squared) : own.distinct;
                least[b].any = std::min(least[b].any, own.any);
                least[b].distinct = std::min(least[b].distinct, own.distinct);
            }
        }
        const Least squared = seen.count() > 1 ? least[seen.begin] : Least{infinite, infinite};
        result.push_back({std::sqrt(squared.any), std::sqrt(squared.distinct)});
    }
    return result;
}

double Gram::memory_bytes(std::size_t count, std::size_t dim) {
    const auto n = static_cast<double>(count);
    return 8 * n * (n + static_cast<double>(dim) + 2);
}

template void Gram::assign(const float*, std::size_t, std::size_t, std::size_t);
template void Gram::assign(const double*, std::size_t, std::size_t, std::size_t);

}  // namespace flyball::limits
