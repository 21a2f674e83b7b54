// The inner products of a layer's vectors, once for all heads and rows that use them.
//
//     G_ij = <x_i, x_j>      [count, count], in double
//
// O(count^2 dim) once; then nothing in this module looks at a vector again, except where two of them are so close that
// |x_i|^2 + |x_j|^2 - 2 G_ij has no digits left.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::limits {

// Which keys a query sees: [begin, end), by its position.
struct Seen {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t count() const { return end - begin; }
};

class Gram {
  public:
    // x: rows of dim numbers, `stride` apart. Same bits at any number of threads.
    template <class Real>
    void assign(const Real* x, std::size_t count, std::size_t dim, std::size_t stride);

    std::size_t count() const { return count_; }
    std::size_t dim() const { return dim_; }
    const double* vector(std::size_t i) const { return x_.data() + i * dim_; }
    const double* row(std::size_t i) const { return products_.data() + i * count_; }
    const double* data() const { return products_.data(); }
    const double* diagonal() const { return diagonal_.data(); }        // |x_i|^2
    const double* inverse_lengths() const { return inverse_.data(); }  // 1/|x_i|, 0 for a zero vector
    bool is_finite() const { return finite_; }

    // |x_i/|x_i| - x_j/|x_j||^2 without cancellation.
    double unit_distance_squared(std::size_t i, std::size_t j) const;

    // The least distance of two unit vectors among the keys that each row sees, and of two that differ; infinite where
    // there are no two. [rows], O(count^2).
    struct Least {
        double any = 0;
        double distinct = 0;
    };
    std::vector<Least> least_distances(const std::vector<Seen>& rows) const;

    static double memory_bytes(std::size_t count, std::size_t dim);

  private:
    std::size_t count_ = 0;
    std::size_t dim_ = 0;
    bool finite_ = true;
    std::vector<double> x_;         // [count, dim]
    std::vector<double> products_;  // [count, count]
    std::vector<double> diagonal_;
    std::vector<double> inverse_;
};

}  // namespace flyball::limits
