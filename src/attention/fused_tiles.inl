// Symmetric attention by cache tiles. Included after lanes.inl.
//
// Legend: d dimension; NR columns and 6 rows of the micro-kernel; a pair of blocks (J, I <= J): rows i from I, columns
// j from J. One tile of weights E_ij = 2^(<scale z_i, z_j> + offset_j) serves both triangles:
//
//     S_I += E z_J,   S_J += E' z_I,   and the sums of weights by row and by column.
//
// A tile of E stays in the second-level cache; scores, exponentials and both products run through it at once, so
// nothing of size n x n exists. Padding is only in the last block, which is a block of rows on the diagonal alone:
// there the offset -inf makes its columns 0, and its rows are never read.

template <class Real>
constexpr std::size_t micro_vectors = micro_columns<Real> / lane_count<Real>;
template <class Real>
using MicroTile = Lanes<Real>[micro_rows][micro_vectors<Real>];

// tile(r, .) += sum_k a[r row_step + k step] b[k][NR] for count > 0 terms. The loop tests at its end: were it allowed
// to run zero times, compilers would keep a second copy of the tile in memory.
template <class Real>
[[gnu::always_inline]] inline void multiply_add(MicroTile<Real>& tile, const Real* a, std::size_t row_step,
                                                std::size_t step, const Real* b, std::size_t count) {
    do {
        Lanes<Real> right[micro_vectors<Real>];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < micro_vectors<Real>; ++v) {
            right[v] = load<Real>(b + v * lane_count<Real>);
        }
#pragma GCC unroll 6
        for (std::size_t r = 0; r < micro_rows; ++r) {
            const Lanes<Real> left = all(a[r * row_step]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < micro_vectors<Real>; ++v) {
                tile[r][v] = fma(left, right[v], tile[r][v]);
            }
        }
        a += step;
        b += micro_columns<Real>;
    } while (--count != 0);
}

template <class Real>
[[gnu::always_inline]] inline void clear_tile(MicroTile<Real>& tile) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < micro_rows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < micro_vectors<Real>; ++v) {
            tile[r][v] = all(Real{0});
        }
    }
}
template <class Real>
[[gnu::always_inline]] inline void load_tile(MicroTile<Real>& tile, const Real* from, std::size_t row_step) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < micro_rows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < micro_vectors<Real>; ++v) {
            tile[r][v] = load<Real>(from + r * row_step + v * lane_count<Real>);
        }
    }
}
template <class Real>
[[gnu::always_inline]] inline void store_tile(const MicroTile<Real>& tile, Real* to, std::size_t row_step) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < micro_rows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < micro_vectors<Real>; ++v) {
            store<Real>(to + r * row_step + v * lane_count<Real>, tile[r][v]);
        }
    }
}

// Coordinates are taken this many at a time: a strip of them stays in the first-level cache.
constexpr std::size_t depth_step = 256;

// sums [rows, NR] += a [rows, count] b [count, NR], a with the given steps; rows is a multiple of 6.
template <class Real>
void add_products(std::size_t rows, const Real* a, std::size_t row_step, std::size_t step, const Real* b,
                  std::size_t count, Real* sums) {
    for (std::size_t i = 0; i < rows; i += micro_rows) {
        MicroTile<Real> tile;
        load_tile<Real>(tile, sums + i * micro_columns<Real>, micro_columns<Real>);
        multiply_add<Real>(tile, a + i * row_step, row_step, step, b, count);
        store_tile<Real>(tile, sums + i * micro_columns<Real>, micro_columns<Real>);
    }
}

// Scores [rows, NR] of one strip of columns, from coordinate `from` on, added to what `scores` holds unless from = 0.
template <class Real>
[[gnu::always_inline]] inline void score_tile(MicroTile<Real>& tile, const Real* rows, const Real* strip,
                                              std::size_t dim, std::size_t from, std::size_t count, const Real* scores,
                                              std::size_t score_step) {
    if (from == 0) {
        clear_tile<Real>(tile);
    } else {
        load_tile<Real>(tile, scores, score_step);
    }
    multiply_add<Real>(tile, rows + from, dim, 1, strip + from * micro_columns<Real>, count);
}

struct TileRange {
    std::size_t begin, size;
};

// Two rows of scores [2][NR] become weights; their sums by row and by column are added up. Two rows at a time:
// independent chains enough to hide the latency of the exponential.
template <class Real>
[[gnu::always_inline]] inline void weigh_rows(Lanes<Real> (&e)[2 * micro_vectors<Real>],
                                              const Lanes<Real> (&offset)[micro_vectors<Real>],
                                              Lanes<Real> (&column_sums)[micro_vectors<Real>], Real* row_weights) {
    constexpr std::size_t NR = micro_columns<Real>;
    constexpr std::size_t V = micro_vectors<Real>;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < V; ++v) {
        e[v] += offset[v];
        e[V + v] += offset[v];
    }
    exp2_lanes<Real, static_cast<int>(2 * V)>(e);
    Lanes<Real> row_sums[2] = {e[0], e[V]};
#pragma GCC unroll 4
    for (std::size_t v = 0; v < V; ++v) {
        column_sums[v] += e[v] + e[V + v];
        if (v > 0) {
            row_sums[0] += e[v];
            row_sums[1] += e[V + v];
        }
    }
    store<Real>(row_weights, load<Real>(row_weights) + row_sums[0]);
    store<Real>(row_weights + NR / 2, load<Real>(row_weights + NR / 2) + row_sums[1]);
}

// Weights of one strip of columns, [rows, NR], from the coordinates [from, d) and what `weights` holds of those before.
// Float scores become weights in registers; the longer exponential of double does better in a pass of its own, which
// finds them in the first-level cache.
template <class Real>
void fused_strip(const FusedTiles<Real>& job, TileRange rows, std::size_t column, std::size_t from, bool diagonal,
                 Real* weights) {
    constexpr bool in_registers = sizeof(Real) == sizeof(float);
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t NR = micro_columns<Real>;
    constexpr std::size_t V = micro_vectors<Real>;
    const std::size_t d = job.dim;
    const std::size_t step = job.block + NR;
    const Real* strip = job.packed.strips + column * d;
    Lanes<Real> offset[V];
    Lanes<Real> column_sums[V];
    for (std::size_t v = 0; v < V; ++v) {
        offset[v] = load<Real>(job.offsets + column + v * W);
        column_sums[v] = all(Real{0});
    }
    for (std::size_t i = 0; i < rows.size; i += micro_rows) {
        MicroTile<Real> tile;
        score_tile<Real>(tile, job.packed.rows + (rows.begin + i) * d, strip, d, from, d - from, weights + i * step,
                         step);
        if constexpr (in_registers) {
#pragma GCC unroll 3
            for (std::size_t r = 0; r < micro_rows; r += 2) {
                Lanes<Real> e[2 * V];
                for (std::size_t v = 0; v < V; ++v) {
                    e[v] = tile[r][v];
                    e[V + v] = tile[r + 1][v];
                }
                weigh_rows<Real>(e, offset, column_sums, job.row_weights + (rows.begin + i + r) * (NR / 2));
                for (std::size_t v = 0; v < V; ++v) {
                    tile[r][v] = e[v];
                    tile[r + 1][v] = e[V + v];
                }
            }
        }
        store_tile<Real>(tile, weights + i * step, step);
    }
    if constexpr (!in_registers) {
        for (std::size_t i = 0; i < rows.size; i += 2) {
            Real* first = weights + i * step;
            Lanes<Real> e[2 * V];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < V; ++v) {
                e[v] = load<Real>(first + v * W);
                e[V + v] = load<Real>(first + step + v * W);
            }
            weigh_rows<Real>(e, offset, column_sums, job.row_weights + (rows.begin + i) * (NR / 2));
#pragma GCC unroll 4
            for (std::size_t v = 0; v < V; ++v) {
                store<Real>(first + v * W, e[v]);
                store<Real>(first + step + v * W, e[V + v]);
            }
        }
    }
    if (!diagonal) {
        for (std::size_t v = 0; v < V; ++v) {
            Real* sum = job.column_weights + column + v * W;
            store<Real>(sum, load<Real>(sum) + column_sums[v]);
        }
    }
}

// The tile of weights of one pair of blocks. Scores are gathered over the coordinates, depth_step at a time, in the
// place of the weights; the last piece of coordinates finishes them and goes on to exponentials at once.
template <class Real>
void fused_weights(const FusedTiles<Real>& job, TileRange rows, TileRange columns, bool diagonal) {
    constexpr std::size_t NR = micro_columns<Real>;
    const std::size_t d = job.dim;
    const std::size_t step = job.block + NR;
    std::size_t from = 0;
    for (; from + depth_step < d; from += depth_step) {
        for (std::size_t j = 0; j < columns.size; j += NR) {
            const Real* strip = job.packed.strips + (columns.begin + j) * d;
            for (std::size_t i = 0; i < rows.size; i += micro_rows) {
                MicroTile<Real> tile;
                Real* scores = job.weights + i * step + j;
                score_tile<Real>(tile, job.packed.rows + (rows.begin + i) * d, strip, d, from, depth_step, scores,
                                 step);
                store_tile<Real>(tile, scores, step);
            }
        }
    }
    for (std::size_t j = 0; j < columns.size; j += NR) {
        fused_strip<Real>(job, rows, columns.begin + j, from, diagonal, job.weights + j);
    }
}

// Pairs [first, last) in the order (0,0) (1,0) (1,1) (2,0) .. of (J, I). Per pair: scores and exponentials, then E
// times the panels of J for the rows of I and, off the diagonal, E' times the panels of I for the rows of J. E' is E
// read with its two steps exchanged; nothing is transposed.
template <class Real>
void fused_tiles(const FusedTiles<Real>& job) {
    constexpr std::size_t NR = micro_columns<Real>;
    const std::size_t step = job.block + NR;
    const std::size_t panels = (job.dim + NR - 1) / NR;
    std::size_t column_index = 0;
    while ((column_index + 1) * (column_index + 2) / 2 <= job.first) {
        ++column_index;
    }
    for (std::size_t pair = job.first; pair < job.last; ++pair) {
        check_stop();
        if (pair - column_index * (column_index + 1) / 2 > column_index) {
            ++column_index;
        }
        const std::size_t row_index = pair - column_index * (column_index + 1) / 2;
        // The last block ends where the tokens end, in whole rows or columns of the micro-kernel.
        const auto range = [&job](std::size_t index, std::size_t unit) {
            const std::size_t begin = index * job.block;
            const std::size_t left = (job.tokens - begin + unit - 1) / unit * unit;
            return TileRange{begin, left < job.block ? left : job.block};
        };
        const TileRange rows = range(row_index, micro_rows);
        const TileRange columns = range(column_index, NR);
        fused_weights<Real>(job, rows, columns, row_index == column_index);
        for (std::size_t p = 0; p < panels; ++p) {
            const Real* z = job.packed.panels + p * job.padded * NR;
            Real* sums = job.sums + p * job.padded * NR;
            add_products<Real>(rows.size, job.weights, step, 1, z + columns.begin * NR, columns.size,
                               sums + rows.begin * NR);
            if (row_index != column_index) {
                // Up to 5 columns beyond the last: whatever is there goes to sums of padding, which nobody reads.
                const std::size_t whole = (columns.size + micro_rows - 1) / micro_rows * micro_rows;
                add_products<Real>(whole, job.weights, 1, step, z + rows.begin * NR, rows.size,
                                   sums + columns.begin * NR);
            }
        }
    }
}
