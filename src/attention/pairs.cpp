// Sums and components over all pairs, by tiles in general and by sorting or Fourier sums where the dimension allows it.
#include "attention/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attention/bessel.hpp"
#include "attention/tile_kernels.hpp"
#include "core/blas.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t block = 192;  // rows and columns of a tile: 288 kB, at home in the second-level cache
constexpr std::size_t most_pair_slots = 16;
constexpr std::size_t circle_tokens = 1024;  // from here on Fourier sums beat tiles, whatever beta
constexpr std::size_t circle_chunk = 512;
constexpr double least_sum = 1e-3;  // of what it would be were all terms the largest: the smallest that is trusted

// Components by union-find; path halving, the smaller root wins.
class Components {
  public:
    explicit Components(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::uint32_t{0}); }

    std::uint32_t root(std::uint32_t i) {
        while (parent_[i] != i) {
            parent_[i] = parent_[parent_[i]];
            i = parent_[i];
        }
        return i;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }
    void join(Components& other) {
        for (std::uint32_t i = 0; i < parent_.size(); ++i) {
            join(i, other.root(i));
        }
    }
    std::size_t count() {
        std::size_t roots = 0;
        for (std::uint32_t i = 0; i < parent_.size(); ++i) {
            roots += parent_[i] == i ? 1 : 0;
        }
        return roots;
    }

  private:
    std::vector<std::uint32_t> parent_;
};

struct Tile {
    std::size_t rows_begin, rows, columns_begin, columns;
    const double* cosines;  // [rows, columns]

    // Every pair once: of a tile on the diagonal the part below it, without the tokens themselves.
    std::size_t columns_below(std::size_t row) const { return rows_begin == columns_begin ? row : columns; }
};

// How many of the numbers exceed the level. Kept apart from what is done with them: this loop has no branch, and the
// compiler makes vectors of it.
std::uint64_t count_above(const double* values, std::size_t count, double level) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < count; ++k) {
        found += values[k] > level ? 1 : 0;
    }
    return found;
}

std::uint64_t pairs_above(const Tile& tile, double level) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < tile.rows; ++i) {
        found += count_above(tile.cosines + i * tile.columns, tile.columns_below(i), level);
    }
    return found;
}

// Returns how many edges there are.
std::uint64_t join_edges(const Tile& tile, double level, Components& components) {
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < tile.rows; ++i) {
        const double* row = tile.cosines + i * tile.columns;
        const std::size_t columns = tile.columns_below(i);
        const std::uint64_t found = count_above(row, columns, level);
        if (found == 0) {
            continue;  // scattered tokens: a row without an edge is the rule
        }
        edges += found;
        for (std::size_t k = 0; k < columns; ++k) {
            if (row[k] > level) {
                components.join(static_cast<std::uint32_t>(tile.rows_begin + i),
                                static_cast<std::uint32_t>(tile.columns_begin + k));
            }
        }
    }
    return edges;
}

// Cosines become exponentials; returns their sum.
double exponential_sum(std::size_t count, double beta, double* values) {
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = beta * (values[i] - 1);
    }
    tile_kernels<double>().exp_all(count, values);
    constexpr std::size_t chains = 8;
    std::array<double, chains> sums{};
    std::size_t i = 0;
    for (; i + chains <= count; i += chains) {
        for (std::size_t c = 0; c < chains; ++c) {
            sums[c] += values[i + c];
        }
    }
    for (; i < count; ++i) {
        sums[0] += values[i];
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Tiles of the lower triangle; what stands below the diagonal counts twice. Each slot joins edges in a forest of its
// own and the forests are merged at the end: components do not depend on the order of joins.
PairStatistics by_tiles(std::size_t n, std::size_t d, const double* z, double beta, std::optional<double> level,
                        std::optional<double> above) {
    const std::size_t blocks = (n + block - 1) / block;
    const std::size_t pairs = blocks * (blocks + 1) / 2;
    const std::size_t slots = std::min(pairs, most_pair_slots);
    std::vector<Components> components(level ? slots : 0, Components(n));
    std::vector<std::uint64_t> found(slots, 0);
    PairStatistics result;
    result.exponential_sum = parallel_sum(pairs, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        std::vector<double> cosines(std::min(n, block) * std::min(n, block));
        double sum = 0;
        std::size_t row = 0;
        while ((row + 1) * (row + 2) / 2 <= begin) {
            ++row;
        }
        for (std::size_t pair = begin; pair < end; ++pair) {
            check_stop();
            if (pair >= (row + 1) * (row + 2) / 2) {
                ++row;
            }
            const std::size_t column = pair - row * (row + 1) / 2;
            const Tile tile{row * block, std::min(block, n - row * block), column * block,
                            std::min(block, n - column * block), cosines.data()};
            gemm(Transpose::no, Transpose::yes, tile.rows, tile.columns, d, 1.0, z + tile.rows_begin * d, d,
                 z + tile.columns_begin * d, d, 0.0, cosines.data(), tile.columns);
            const std::uint64_t edges = level ? join_edges(tile, *level, components[slot]) : 0;
            if (above) {
                found[slot] += above == level ? edges : pairs_above(tile, *above);
            }
            sum += (row == column ? 1 : 2) * exponential_sum(tile.rows * tile.columns, beta, cosines.data());
        }
        return sum;
    });
    if (level) {
        for (std::size_t slot = 1; slot < slots; ++slot) {
            components[0].join(components[slot]);
        }
        result.components = components[0].count();
    }
    if (above) {
        result.above = std::accumulate(found.begin(), found.end(), std::uint64_t{0});
    }
    return result;
}

//     sum_jk e^(beta cos(a_j - a_k)) = sum_{m in Z} I_m(beta) |M_m|^2,    M_m = sum_k e^{i m a_k}
//
// (circle.cpp has the expansion). Bessel functions come times e^-|beta| and the sum is wanted times e^-beta.
double circle_sum(std::size_t n, const double* z, double beta) {
    const std::vector<double> bessel = scaled_bessel(beta);
    const std::size_t orders = bessel.size();
    const std::size_t chunks = (n + circle_chunk - 1) / circle_chunk;
    const std::size_t slots = std::min(chunks, most_pair_slots);
    std::vector<double> lanes(slots * orders * 8, 0.0);
    parallel_slots(chunks, slots, [&](std::size_t slot, std::size_t first, std::size_t last) {
        std::array<double, 2 * circle_chunk> room{};
        for (std::size_t c = first; c < last; ++c) {
            const std::size_t begin = c * circle_chunk;
            const std::size_t count = std::min(circle_chunk, n - begin);
            const std::size_t padded = (count + circle_group - 1) / circle_group * circle_group;
            room.fill(0.0);
            for (std::size_t i = 0; i < count; ++i) {
                room[i] = z[2 * (begin + i)];
                room[circle_chunk + i] = z[2 * (begin + i) + 1];
            }
            tile_kernels<double>().circle_moments(
                {room.data(), room.data() + circle_chunk, padded, orders - 1, lanes.data() + slot * orders * 8});
        }
    });
    double sum = bessel[0] * static_cast<double>(n) * static_cast<double>(n);
    for (std::size_t m = 1; m < orders; ++m) {
        double re = 0;
        double im = 0;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            for (std::size_t lane = 0; lane < 4; ++lane) {
                re += lanes[(slot * orders + m) * 8 + lane];
                im += lanes[(slot * orders + m) * 8 + 4 + lane];
            }
        }
        sum += 2 * bessel[m] * (re * re + im * im);
    }
    return sum * std::exp(std::fabs(beta) - beta);
}

// On the circle components are arcs: neighbours in angle are joined or not.
std::size_t arcs(std::size_t n, const double* z, double level) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> angle(n);
    for (std::size_t i = 0; i < n; ++i) {
        angle[i] = std::atan2(z[2 * i + 1], z[2 * i]);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return angle[a] < angle[b]; });
    std::size_t gaps = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double* a = z + 2 * order[i];
        const double* b = z + 2 * order[(i + 1) % n];
        gaps += a[0] * b[0] + a[1] * b[1] > level ? 0 : 1;
    }
    return std::max<std::size_t>(gaps, 1);
}

// On the circle a cosine above the level is an angle below acos(level): in the order of angles, the partners of a token
// that lie ahead of it are its next few, all around. The level is at least -1 and the reach at most pi: of a pair
// within reach only one lies ahead of the other, so that none counts twice. A zero row has cosine 0 with every other.
std::uint64_t circle_pairs_above(std::size_t n, const double* z, double level) {
    std::vector<double> angle;
    angle.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (z[2 * i] != 0 || z[2 * i + 1] != 0) {
            angle.push_back(std::atan2(z[2 * i + 1], z[2 * i]));
        }
    }
    std::sort(angle.begin(), angle.end());
    constexpr double turn = 6.283185307179586477;
    const double reach = std::acos(level);
    const std::size_t count = angle.size();
    std::uint64_t found = 0;
    std::size_t end = 0;  // the first that is out of reach of i, counted on past the end of the list
    for (std::size_t i = 0; i < count; ++i) {
        end = std::max(end, i + 1);
        while (end < i + count && angle[end % count] + (end < count ? 0 : turn) - angle[i] < reach) {
            ++end;
        }
        found += end - i - 1;
    }
    const std::uint64_t zeros = n - count;
    return found + (level < 0 ? zeros * count + zeros * (zeros - (zeros > 0 ? 1 : 0)) / 2 : 0);
}

// Three dimensions: an edge needs |z_j - z_k|^2 < 2 (1 - level), so only neighbours in a sorted coordinate are looked
// at. Flooding takes what it reaches out of the list: consensus costs O(n), scattered points a twentieth of all pairs.
std::size_t flooded(std::size_t n, const double* z, double level) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return z[3 * a] < z[3 * b]; });
    std::vector<std::array<double, 3>> point(n);
    for (std::size_t i = 0; i < n; ++i) {
        point[i] = {z[3 * order[i]], z[3 * order[i] + 1], z[3 * order[i] + 2]};
    }
    const double reach = std::sqrt(2 * (1 - level)) * (1 + 1e-9);
    // Sorted places 1 .. n. A place that waits points to itself, one that was reached to its neighbour; 0 and n + 1 are
    // the ends.
    std::vector<std::size_t> right(n + 2);
    std::iota(right.begin(), right.end(), std::size_t{0});
    std::vector<std::size_t> left = right;
    const auto waiting = [](std::vector<std::size_t>& to, std::size_t i) {
        while (to[i] != i) {
            to[i] = to[to[i]];
            i = to[i];
        }
        return i;
    };
    const auto take = [&](std::size_t i) {
        right[i] = i + 1;
        left[i] = i - 1;
    };
    std::size_t components = 0;
    std::vector<std::size_t> front;
    for (std::size_t seed = 1; seed <= n; seed = waiting(right, seed)) {
        ++components;
        front = {seed};
        take(seed);
        check_stop();
        while (!front.empty()) {
            const std::size_t from = front.back();
            front.pop_back();
            const std::array<double, 3>& p = point[from - 1];
            const auto look = [&](std::size_t i) {  // false: too far, and so is all that follows
                const std::array<double, 3>& q = point[i - 1];
                if (std::fabs(q[0] - p[0]) > reach) {
                    return false;
                }
                if (p[0] * q[0] + p[1] * q[1] + p[2] * q[2] > level) {
                    take(i);
                    front.push_back(i);
                }
                return true;
            };
            for (std::size_t i = waiting(right, from); i <= n && look(i); i = waiting(right, i + 1)) {
            }
            for (std::size_t i = waiting(left, from); i >= 1 && look(i); i = waiting(left, i - 1)) {
            }
        }
    }
    return components;
}

// A zero row has no angle, and cosine 0 with every row: it is counted apart from the others.
std::vector<double> with_angle(std::size_t n, const double* z) {
    std::vector<double> rows;
    rows.reserve(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        if (z[2 * i] != 0 || z[2 * i + 1] != 0) {
            rows.insert(rows.end(), {z[2 * i], z[2 * i + 1]});
        }
    }
    return rows;
}

double circle_sum_with_zeros(std::size_t n, const double* z, double beta) {
    const std::vector<double> rows = with_angle(n, z);
    const std::size_t count = rows.size() / 2;
    const auto pairs_with_zeros = static_cast<double>(n - count) * static_cast<double>(n + count);  // n^2 - count^2
    const double others = count > 0 ? circle_sum(count, rows.data(), beta) : 0;
    return others + (count < n ? pairs_with_zeros * std::exp(-beta) : 0);
}

std::size_t arcs_with_zeros(std::size_t n, const double* z, double level) {
    const std::vector<double> rows = with_angle(n, z);
    const std::size_t count = rows.size() / 2;
    if (count < n && level < 0) {
        return 1;  // a zero row joins all others
    }
    return (count > 0 ? arcs(count, rows.data(), level) : 0) + n - count;
}

}  // namespace

PairStatistics pair_statistics(std::size_t n, std::size_t d, const double* z, double beta, std::optional<double> level,
                               std::optional<double> above) {
    PairStatistics result;
    const bool sorted = d == 2 || d == 3;
    if (d == 2 && n >= circle_tokens) {
        result.exponential_sum = circle_sum_with_zeros(n, z, beta);
        // The sum over m is right to rounding of its largest possible value, which is that of opposite tokens here.
        const double pairs = static_cast<double>(n) * static_cast<double>(n);
        if (beta < 0 && !(result.exponential_sum >= least_sum * pairs * std::exp(-2 * beta))) {
            result.exponential_sum = by_tiles(n, d, z, beta, std::nullopt, std::nullopt).exponential_sum;
        }
        if (above) {
            result.above = circle_pairs_above(n, z, *above);
        }
    } else {
        result = by_tiles(n, d, z, beta, sorted ? std::nullopt : level, above);
    }
    if (level && sorted) {
        result.components = d == 2 ? arcs_with_zeros(n, z, *level) : flooded(n, z, *level);
    }
    return result;
}

}  // namespace flyball::attention
