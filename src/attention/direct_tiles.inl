// Direct sums for small dimensions, each pair of tokens visited once. Included after direct_rows.inl.
//
// Legend: D dimension, known at compile time; W lanes; B tokens a block; a pair of blocks (I, J <= I): rows i from I,
// columns j from J. E_ij = 2^(scale <z_i, z_j> + offset_j) serves row i and, off the diagonal, row j as well:
//
//     S_i += sum_j E_ij (z_j, 1)        S_j += sum_i E_ij (z_i, 1)
//
// Strips of 8 rows go through three passes, with E of the strip in the first-level cache: weights, row sums, column
// sums. Fusing them would need more registers than there are, and every spill costs a load.
// The offset of padding is -inf: weight 0. Padding among the rows of a strip gets weight 0 by hand.

// Pass 1: one row of weights.
template <class Real, int D>
[[gnu::always_inline]] inline void tile_weights(const Real* row_block, const Real* column_block, std::size_t row,
                                                std::size_t columns, Real scale, Real* weights) {
    constexpr int V = 4;
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t B = direct_block<Real>;
    Lanes<Real> x[D];
    for (int c = 0; c < D; ++c) {
        x[c] = all(row_block[static_cast<std::size_t>(c) * B + row] * scale);
    }
    for (std::size_t j = 0; j < columns; j += V * W) {
        Lanes<Real> t[V];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            t[v] = load<Real>(column_block + D * B + j + v * W);
        }
#pragma GCC unroll 8
        for (int c = 0; c < D; ++c) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < V; ++v) {
                t[v] = fma(x[c], load<Real>(column_block + static_cast<std::size_t>(c) * B + j + v * W), t[v]);
            }
        }
        exp2_lanes<Real, V>(t);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            store<Real>(weights + j + v * W, t[v]);
        }
    }
}

// Pass 2: sums of R rows at a time, so that a column's coordinates are loaded once for all of them.
template <class Real, int D, int R>
[[gnu::always_inline]] inline void tile_row_sums(const Real* column_block, std::size_t columns, const Real* weights,
                                                 Real* lanes) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t B = direct_block<Real>;
    Lanes<Real> sums[R][D + 1];
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t c = 0; c <= D; ++c) {
            sums[r][c] = load<Real>(lanes + (r * (D + 1) + c) * W);
        }
    }
    for (std::size_t j = 0; j < columns; j += W) {
        Lanes<Real> e[R];
#pragma GCC unroll 4
        for (std::size_t r = 0; r < R; ++r) {
            e[r] = load<Real>(weights + r * B + j);
            sums[r][D] += e[r];
        }
#pragma GCC unroll 8
        for (std::size_t c = 0; c < D; ++c) {
            const Lanes<Real> coordinate = load<Real>(column_block + c * B + j);
#pragma GCC unroll 4
            for (std::size_t r = 0; r < R; ++r) {
                sums[r][c] = fma(e[r], coordinate, sums[r][c]);
            }
        }
    }
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t c = 0; c <= D; ++c) {
            store<Real>(lanes + (r * (D + 1) + c) * W, sums[r][c]);
        }
    }
}

// Pass 3: sums of V vectors of columns over the rows of the strip.
template <class Real, int D>
[[gnu::always_inline]] inline void tile_column_sums(const Real (&rows)[direct_strip][D], std::size_t columns,
                                                    const Real* weights, Real* sums_block) {
    constexpr std::size_t V = D <= 5 ? 2 : 1;
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t B = direct_block<Real>;
    for (std::size_t j = 0; j < columns; j += V * W) {
        Lanes<Real> sums[V][D + 1];
#pragma GCC unroll 16
        for (std::size_t c = 0; c <= D; ++c) {
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) {
                sums[v][c] = load<Real>(sums_block + c * B + j + v * W);
            }
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < direct_strip; ++r) {
            Lanes<Real> e[V];
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) {
                e[v] = load<Real>(weights + r * B + j + v * W);
                sums[v][D] += e[v];
            }
#pragma GCC unroll 8
            for (std::size_t c = 0; c < D; ++c) {
                const Lanes<Real> coordinate = all(rows[r][c]);
#pragma GCC unroll 2
                for (std::size_t v = 0; v < V; ++v) {
                    sums[v][c] = fma(e[v], coordinate, sums[v][c]);
                }
            }
        }
#pragma GCC unroll 16
        for (std::size_t c = 0; c <= D; ++c) {
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) {
                store<Real>(sums_block + c * B + j + v * W, sums[v][c]);
            }
        }
    }
}

// One pair of blocks. Columns are rounded up to whole vectors of pass 1, which the padding's offset makes harmless.
// R rows share each load of a column: as many as leave their D + 1 sums each in registers.
template <class Real, int D>
void direct_tile(const DirectTiles<Real>& job, std::size_t row_index, std::size_t column_index) {
    constexpr int R = D == 1 ? 4 : (D <= 3 ? 2 : 1);
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t B = direct_block<Real>;
    const Real* row_block = job.blocks + row_index * (D + 1) * B;
    const Real* column_block = job.blocks + column_index * (D + 1) * B;
    const std::size_t rows = job.tokens - row_index * B < B ? job.tokens - row_index * B : B;
    const std::size_t real_columns = job.tokens - column_index * B < B ? job.tokens - column_index * B : B;
    const std::size_t columns = (real_columns + 4 * W - 1) / (4 * W) * (4 * W);
    for (std::size_t first = 0; first < rows; first += direct_strip) {
        Real strip[direct_strip][D];
        for (std::size_t r = 0; r < direct_strip; ++r) {
            Real* weights = job.weights + r * B;
            if (first + r < rows) {
                tile_weights<Real, D>(row_block, column_block, first + r, columns, job.scale, weights);
            } else {
                __builtin_memset(weights, 0, columns * sizeof(Real));
            }
            for (std::size_t c = 0; c < D; ++c) {
                strip[r][c] = row_block[c * B + first + r];
            }
        }
        for (std::size_t r = 0; r < direct_strip; r += R) {
            tile_row_sums<Real, D, R>(column_block, columns, job.weights + r * B,
                                      job.lanes + (first + r) * (D + 1) * W);
        }
        if (row_index != column_index) {
            tile_column_sums<Real, D>(strip, columns, job.weights, job.sums + column_index * (D + 1) * B);
        }
    }
}

// Pairs [first, last) in the order (0,0) (1,0) (1,1) (2,0) ..: all J of one I in a row, so that the sums of block I's
// rows stay spread over lanes until I is done, and are folded once.
template <class Real, int D>
void direct_tiles_of(const DirectTiles<Real>& job) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t B = direct_block<Real>;
    std::size_t row_index = 0;
    while ((row_index + 1) * (row_index + 2) / 2 <= job.first) {
        ++row_index;
    }
    std::size_t pair = job.first;
    for (; pair < job.last; ++row_index) {
        const std::size_t start = row_index * (row_index + 1) / 2;
        __builtin_memset(job.lanes, 0, B * (D + 1) * W * sizeof(Real));
        for (; pair < job.last && pair - start <= row_index; ++pair) {
            check_stop();
            direct_tile<Real, D>(job, row_index, pair - start);
        }
        Real* sums = job.sums + row_index * (D + 1) * B;
        for (std::size_t r = 0; r < B; ++r) {
            for (std::size_t c = 0; c <= D; ++c) {
                sums[c * B + r] += sum_of<Real>(load<Real>(job.lanes + (r * (D + 1) + c) * W));
            }
        }
    }
}

// ---- dimensions known at run time ---------------------------------------------------------------------------------

template <class Real>
void direct_rows(std::size_t dim, const DirectRows<Real>& job) {
    using Function = void (*)(const DirectRows<Real>&);
    constexpr Function functions[direct_most_dim] = {
        direct_rows_of<Real, 1>, direct_rows_of<Real, 2>, direct_rows_of<Real, 3>, direct_rows_of<Real, 4>,
        direct_rows_of<Real, 5>, direct_rows_of<Real, 6>, direct_rows_of<Real, 7>, direct_rows_of<Real, 8>};
    functions[dim - 1](job);
}

template <class Real>
void direct_tiles(std::size_t dim, const DirectTiles<Real>& job) {
    using Function = void (*)(const DirectTiles<Real>&);
    constexpr Function functions[direct_most_dim] = {
        direct_tiles_of<Real, 1>, direct_tiles_of<Real, 2>, direct_tiles_of<Real, 3>, direct_tiles_of<Real, 4>,
        direct_tiles_of<Real, 5>, direct_tiles_of<Real, 6>, direct_tiles_of<Real, 7>, direct_tiles_of<Real, 8>};
    functions[dim - 1](job);
}
