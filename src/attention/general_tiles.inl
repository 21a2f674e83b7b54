// Attention with separate queries, keys and values by cache tiles. Included after fused_tiles.inl.
//
// Legend: w width; NR columns and 6 rows of the micro-kernel; rows i of queries, columns k of keys and values.
// For each block of rows, tiles of columns in turn (online softmax, Milakov and Gimelshein 2018):
//
//     t_ik = scale_i <q_i, k_k>, -inf where masked or padding
//     m' = max(m, max_k t_ik);   sums and total are multiplied by 2^(m - m');   e_ik = 2^(t_ik - m')
//     sums_i += sum_k e_ik v_k;  total_i += sum_k e_ik
//
// Sigmoid needs no maximum: e_ik = 1/(1 + 2^(log2 m_i - t_ik)).

// Scores [rows, columns] of one tile, already times scale_i since the rows are.
template <class Real>
void general_scores(const GeneralTiles<Real>& job, std::size_t rows, TileRange columns) {
    constexpr std::size_t NR = micro_columns<Real>;
    const std::size_t w = job.width;
    const std::size_t step = general_columns<Real> + NR;
    for (std::size_t from = 0; from < w; from += depth_step) {
        const std::size_t count = w - from < depth_step ? w - from : depth_step;
        for (std::size_t j = 0; j < columns.size; j += NR) {
            const Real* strip = job.strips + (columns.begin + j) * w;
            for (std::size_t i = 0; i < rows; i += micro_rows) {
                MicroTile<Real> tile;
                Real* scores = job.weights + i * step + j;
                score_tile<Real>(tile, job.scaled + i * w, strip, w, from, count, scores, step);
                store_tile<Real>(tile, scores, step);
            }
        }
    }
}

// 1/(1 + 2^-x), by the exponential of -|x| so that it cannot overflow.
template <class Real>
void sigmoid_row(std::size_t count, Real log2_allowed, Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    using Bits = typename LanesOf<Real>::Bits;
    const Lanes<Real> one = all(Real{1});
    for (std::size_t k = 0; k < count; k += W) {
        const Lanes<Real> x = load<Real>(row + k) - all(log2_allowed);
        const Bits positive = (Bits)(x >= all(Real{0}));
        Lanes<Real> e[1] = {-larger(x, -x)};
        exp2_lanes<Real, 1>(e);
        const Lanes<Real> numerator = (Lanes<Real>)(((Bits)one & positive) | ((Bits)e[0] & ~positive));
        store<Real>(row + k, numerator / (one + e[0]));
    }
}

template <class Real>
inline Real largest_in_row(std::size_t count, const Real* row, Real least) {
    constexpr std::size_t W = lane_count<Real>;
    Lanes<Real> most[2] = {all(least), all(least)};
    for (std::size_t k = 0; k < count; k += 2 * W) {
        most[0] = larger(most[0], load<Real>(row + k));
        most[1] = larger(most[1], load<Real>(row + k + W));
    }
    return largest_of<Real>(larger(most[0], most[1]));
}

// t becomes 2^(t - maximum); returns the sum.
template <class Real>
inline Real exponentials(std::size_t count, Real maximum, Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr int V = static_cast<int>(micro_vectors<Real>);
    const Lanes<Real> shift = all(maximum);
    Lanes<Real> total = all(Real{0});
    for (std::size_t k = 0; k < count; k += micro_columns<Real>) {
        Lanes<Real> e[V];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            e[v] = load<Real>(row + k + v * W) - shift;
        }
        exp2_lanes<Real, V>(e);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            store<Real>(row + k + v * W, e[v]);
            total += e[v];
        }
    }
    return sum_of<Real>(total);
}

// Finite, so that the difference of two maxima is never NaN; far below any score.
template <class Real>
constexpr Real no_maximum = sizeof(Real) == 8 ? static_cast<Real>(-1e300) : static_cast<Real>(-1e37F);

template <class Real>
Real exponential_row(std::size_t count, Real* row, Real* maximum) {
    *maximum = largest_in_row<Real>(count, row, no_maximum<Real>);
    return exponentials<Real>(count, *maximum, row);
}

template <class Real>
struct RowState {
    Real maximum, total;  // m and total of the legend, over the tiles met so far
};

// One row of one tile. A tile in which everything is masked leaves the maximum as it is and adds 0.
template <class Real>
inline void online_row(const GeneralTiles<Real>& job, std::size_t i, std::size_t count, RowState<Real>& state,
                       Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t NR = micro_columns<Real>;
    const Real maximum = largest_in_row<Real>(count, row, state.maximum);
    const Real total = exponentials<Real>(count, maximum, row);
    if (maximum != state.maximum) {
        const Real factor = static_cast<Real>(__builtin_exp2(static_cast<double>(state.maximum - maximum)));
        state.total *= factor;
        for (std::size_t p = 0; p < (job.width + NR - 1) / NR; ++p) {
            Real* sums = job.sums + (p * general_rows + i) * NR;
            for (std::size_t c = 0; c < NR; c += W) {
                store<Real>(sums + c, load<Real>(sums + c) * all(factor));
            }
        }
        state.maximum = maximum;
    }
    state.total += total;
}

// Rows [begin, end), at most general_rows of them, against every column one of them may see: under the causal mask the
// tiles behind row end - 1 are never met. Rows up to the next multiple of 6 are computed with zero queries and dropped.
template <class Real>
void general_block(const GeneralTiles<Real>& job, std::size_t begin, std::size_t end) {
    constexpr std::size_t NR = micro_columns<Real>;
    const std::size_t w = job.width;
    const std::size_t panels = (w + NR - 1) / NR;
    const std::size_t step = general_columns<Real> + NR;
    const std::size_t rows = (end - begin + micro_rows - 1) / micro_rows * micro_rows;
    const Real masked = static_cast<Real>(-__builtin_inf());
    RowState<Real> state[general_rows];
    for (std::size_t i = 0; i < rows; ++i) {
        state[i] = {no_maximum<Real>, 0};
        for (std::size_t c = 0; c < w; ++c) {
            job.scaled[i * w + c] = begin + i < end ? job.query[(begin + i) * w + c] * job.scales[begin + i] : Real{0};
        }
    }
    __builtin_memset(job.sums, 0, panels * general_rows * NR * sizeof(Real));
    const std::size_t seen = job.causal ? (end + NR - 1) / NR * NR : job.padded;
    for (std::size_t first = 0; first < seen; first += general_columns<Real>) {
        check_stop();
        const TileRange columns = {first, seen - first < general_columns<Real> ? seen - first : general_columns<Real>};
        general_scores<Real>(job, rows, columns);
        for (std::size_t i = 0; i < rows; ++i) {
            Real* row = job.weights + i * step;
            const std::size_t allowed = job.causal && begin + i + 1 < job.tokens ? begin + i + 1 : job.tokens;
            for (std::size_t k = allowed > first ? allowed - first : 0; k < columns.size; ++k) {
                row[k] = masked;
            }
            if (job.kind == TileWeights::sigmoid) {
                const std::size_t j = begin + i < end ? begin + i : end - 1;
                sigmoid_row<Real>(columns.size, job.log2_allowed[j], row);
            } else {
                online_row<Real>(job, i, columns.size, state[i], row);
            }
        }
        for (std::size_t p = 0; p < panels; ++p) {
            add_products<Real>(rows, job.weights, step, 1, job.panels + (p * job.padded + first) * NR, columns.size,
                               job.sums + p * general_rows * NR);
        }
    }
    for (std::size_t i = 0; begin + i < end; ++i) {
        RowFactor<Real> factor = {1, 1};
        if (job.kind == TileWeights::exponential) {
            factor = row_factor<Real>(job.normalize, state[i].total, state[i].maximum, job.log2_gain);
        }
        for (std::size_t c = 0; c < w; ++c) {
            job.out[(begin + i) * w + c] =
                job.sums[(c / NR * general_rows + i) * NR + c % NR] * factor.first * factor.second;
        }
    }
}

template <class Real>
void general_tiles(const GeneralTiles<Real>& job) {
    for (std::size_t begin = job.begin; begin < job.end; begin += job.block) {
        general_block<Real>(job, begin, job.end - begin < job.block ? job.end : begin + job.block);
    }
}
