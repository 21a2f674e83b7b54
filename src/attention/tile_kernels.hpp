// The inner loops of the kernels, compiled twice: for the baseline and for AVX2. core/isa.hpp chooses at run time.
//
// Each works on one slot's share of one head, on memory its driver (direct.cpp, fused.cpp, general.cpp, circle.cpp)
// prepared; none allocates, and none knows threads. The sources are the .inl files of the same names.
//
// Legend:
//     n, d       tokens and coordinates of one head (w where a head has a width of its own)
//     np, dp     the same padded to whole vectors; nothing of the padding reaches a result
//     B, nb      tokens a block, and blocks
//     NR         columns of the micro-kernel: two vectors of 32 bytes
//     G          systems side by side
//     slot       a share of the work that depends on sizes alone; each has sums of its own, added in order at the end,
//                which is why results have the same bits for any number of threads
//
// Exponents are kept in powers of two: every `scale` and `shift` below includes the factor log2(e), since 2^t is
// cheaper than e^x and as exact.
//
// Arrays named `lanes` hold sums that are still spread over the lanes of a vector: the lanes are added once,
// when all terms are in, and the array has room for the widest vector these files are compiled for, 32 bytes.
#pragma once

#include <cstddef>

#include "core/isa.hpp"

namespace flyball {
void check_stop();  // core/parallel.hpp, whose inline code must not be compiled for AVX2
}

namespace flyball::attention {

// ---- direct -------------------------------------------------------------------------------------------------------

inline constexpr std::size_t direct_most_dim = 8;

// Rows [begin, end) against all tokens, vectors across rows.
template <class Real>
struct DirectRows {
    const Real* z;  // [n, d]
    std::size_t tokens;
    std::size_t begin, end;
    Real scale;        // weights are 2^(scale <z_j, z_k> - shift)
    bool own_maximum;  // shift is each row's largest exponent, found first; otherwise it is `shift`
    Real shift;
    bool normalize;  // divide by the sum of weights; otherwise multiply by 2^(shift + log2_gain)
    Real log2_gain;
    Real* out;  // [n, d]
};

// A tile of the symmetric version: rows of block I against columns of block J <= I; see direct_tiles.inl.
// A block of B tokens is stored as d + 1 arrays of B: coordinates and exponent offset, or sums and sum of weights.
template <class Real>
struct DirectTiles {
    const Real* blocks;  // [nb, d + 1, B]
    Real* sums;          // [nb, d + 1, B], this slot's own
    Real* lanes;         // [B, d + 1, 8]: sums of the rows of one block, before their lanes are added
    Real* weights;       // [8, B]: a strip of weights that stays in the first-level cache
    std::size_t tokens;
    std::size_t first, last;  // pairs of blocks (I, J <= I), counted I (I + 1)/2 + J
    Real scale;
};
// B: one kilobyte per array. A strip of weights, 8 B, is then 8 kB: it stays in the first-level cache with its block.
template <class Real>
inline constexpr std::size_t direct_block = 1024 / sizeof(Real);
inline constexpr std::size_t direct_strip = 8;

// ---- ensemble -----------------------------------------------------------------------------------------------------

// Systems side by side, two vectors of the widest instruction set: one lane each.
template <class Real>
inline constexpr std::size_t ensemble_systems = 64 / sizeof(Real);

template <class Real>
struct EnsembleSystems {
    const Real* tokens_of;  // [n, d, G], times sqrt(scale)
    Real* sums;             // [n, d + 1, G]; the first d of them end as the result
    std::size_t tokens;
    Real shift;      // weights are 2^(<y_j, y_k> - shift)
    Real unscale;    // 1/sqrt(scale)
    bool normalize;  // divide by the sum of weights; otherwise multiply by 2^(shift + log2_gain)
    Real log2_gain;
};

// ---- fused and general --------------------------------------------------------------------------------------------

// The micro-kernel makes 6 x NR products at a time, NR = two vectors of the widest instruction set.
inline constexpr std::size_t micro_rows = 6;
template <class Real>
inline constexpr std::size_t micro_columns = 64 / sizeof(Real);
// Padding of tokens that both divide: 24 (double), 48 (float).
template <class Real>
inline constexpr std::size_t token_padding = 3 * micro_columns<Real>;

// Packed tokens, np = n padded, dp = d padded to NR.
template <class Real>
struct PackedTokens {
    Real* rows;    // [np, d]           row by row, scaled: the left factor of scores
    Real* strips;  // [np/NR, d, NR]    NR tokens side by side: the right factor of scores
    Real* panels;  // [dp/NR, np, NR]   NR coordinates side by side: the right factor of sums
};

template <class Real>
struct FusedTiles {
    PackedTokens<Real> packed;
    const Real* offsets;   // [np]: -shift, or -inf for padding
    Real* sums;            // [dp/NR, np, NR], this slot's own
    Real* row_weights;     // [np, NR/2]: sums of weights by row, before their lanes are added
    Real* column_weights;  // [np]
    Real* weights;         // [block, block + NR]: one tile of weights
    std::size_t tokens;    // n
    std::size_t padded;    // np
    std::size_t dim;
    std::size_t block;        // a multiple of token_padding
    std::size_t first, last;  // pairs of blocks (J, I <= J), counted J (J + 1)/2 + I
};

enum class TileWeights { exponential, sigmoid };

// Rows [begin, end) of queries against keys and values, tile after tile, with a running maximum per row.
template <class Real>
struct GeneralTiles {
    const Real* query;         // [n, w]
    const Real* strips;        // keys, [np/NR, w, NR]
    const Real* panels;        // values, [wp/NR, np, NR]
    const Real* scales;        // [n]: exponent of row j is scales[j] <q_j, k_k>
    const Real* log2_allowed;  // [n]: log2 of the tokens row j sees; read by sigmoid
    std::size_t tokens, padded, width;
    std::size_t begin, end;
    std::size_t block;  // rows worked on together, at most general_rows
    bool causal;
    TileWeights kind;
    bool normalize;  // divide by the sum of weights; otherwise multiply by 2^(maximum + log2_gain)
    Real log2_gain;
    Real* scaled;   // [general_rows, w]
    Real* weights;  // [general_rows, general_columns + NR]
    Real* sums;     // [wp/NR, general_rows, NR]
    Real* out;      // [n, w]
};
inline constexpr std::size_t general_rows = 96;
template <class Real>
inline constexpr std::size_t general_columns = 1536 / sizeof(Real);

// ---- circle -------------------------------------------------------------------------------------------------------

// Moments M_m = sum_k e^{i m a_k}, m = 0 .. last, of angles given as x = cos a, y = sin a.
struct CircleMoments {
    const double* x;  // [count]
    const double* y;
    std::size_t count;  // a multiple of circle_group
    std::size_t last;
    double* lanes;  // [last + 1, 2, 4], added to: real and imaginary parts, before their lanes are added
};

// Three Fourier sums at each angle: value_s(a) = sum_m cosine[m][s] cos(m a) + sine[m][s] sin(m a).
struct CircleSums {
    const double* x;
    const double* y;
    std::size_t count;
    std::size_t last;
    const double* factors;  // [last + 1, 6]: cosine and sine of sum 0, of sum 1, of sum 2
    double* values;         // [3, count]
};
inline constexpr std::size_t circle_group = 16;

// The table of one instruction set. Jobs are checked by nobody: sizes and paddings are the driver's promise.
template <class Real>
struct TileKernels {
    void (*exp_all)(std::size_t count, Real* x);  // x becomes e^x
    void (*direct_rows)(std::size_t dim, const DirectRows<Real>& job);
    void (*direct_tiles)(std::size_t dim, const DirectTiles<Real>& job);
    void (*ensemble)(std::size_t dim, const EnsembleSystems<Real>& job);
    void (*fused_tiles)(const FusedTiles<Real>& job);
    void (*general_tiles)(const GeneralTiles<Real>& job);
    // A whole row of exponents t (count a multiple of NR) becomes 2^(t - maximum); returns their sum.
    Real (*exponential_row)(std::size_t count, Real* row, Real* maximum);
    // ... becomes 1/(1 + 2^(log2_allowed - t)).
    void (*sigmoid_row)(std::size_t count, Real log2_allowed, Real* row);
    void (*circle_moments)(const CircleMoments& job);
    void (*circle_sums)(const CircleSums& job);
};

template <class Real>
const TileKernels<Real>& tile_kernels(Isa isa);
template <class Real>
const TileKernels<Real>& tile_kernels() {
    return tile_kernels<Real>(active_isa());
}

}  // namespace flyball::attention
