// Direct sums for small dimensions, vectors across rows. Included after lanes.inl.
//
// Legend: D dimension, known at compile time; W lanes; rows j whose sums are wanted, tokens k they see.
// A group of V vectors, V W rows, walks over all tokens: each coordinate z_kc is broadcast and meets all rows of the
// group. No packing, no padding of tokens, any z: the choice for small n, and the fallback when lengths differ so much
// that one shift for all rows would underflow.

template <class Real>
struct RowFactor {
    Real first, second;  // multiplied one after the other: their product may overflow where the answer does not
};

// What turns a row's sums into its result. Weights were taken relative to 2^shift: softmax divides by their sum, where
// the shift cancels; unnormalized ones get it back, half of the exponent at a time.
template <class Real>
inline RowFactor<Real> row_factor(bool normalize, Real sum, Real shift, Real log2_gain) {
    if (normalize) {
        return {1 / sum, 1};
    }
    const Real root = static_cast<Real>(__builtin_exp2(static_cast<double>(shift + log2_gain) / 2));
    return {root, root};
}

// t += exponents of one token in V vectors of rows: x holds the rows times `scale`, so no product is left to be scaled.
template <class Real, int D, int V>
[[gnu::always_inline]] inline void scaled_scores(const Lanes<Real> (&x)[V][D], const Real* token, Lanes<Real> (&t)[V]) {
#pragma GCC unroll 8
    for (int c = 0; c < D; ++c) {
        const Lanes<Real> coordinate = all(token[c]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
            t[v] = fma(x[v][c], coordinate, t[v]);
        }
    }
}

// One walk over the tokens with a given shift, two with each row's own maximum. O((end - begin) n D). V is
// chosen so that rows, sums, weights and shifts, V (2 D + 2) vectors, about fit the registers.
template <class Real, int D>
void direct_rows_of(const DirectRows<Real>& job) {
    constexpr int V = D <= 4 ? 2 : 1;
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t group = V * W;
    for (std::size_t first = job.begin; first < job.end; first += group) {
        check_stop();
        // Rows past the end repeat the last one; their results are not written.
        Real rows[D + 1][group];
        for (std::size_t r = 0; r < group; ++r) {
            const std::size_t j = first + r < job.end ? first + r : job.end - 1;
            for (int c = 0; c < D; ++c) {
                rows[c][r] = job.z[j * D + static_cast<std::size_t>(c)] * job.scale;
            }
        }
        Lanes<Real> x[V][D];
        Lanes<Real> sums[V][D];
        Lanes<Real> weights[V];
        Lanes<Real> shift[V];
        for (int v = 0; v < V; ++v) {
            for (int c = 0; c < D; ++c) {
                x[v][c] = load<Real>(rows[c] + static_cast<std::size_t>(v) * W);
                sums[v][c] = all(Real{0});
            }
            weights[v] = all(Real{0});
            shift[v] = all(job.own_maximum ? static_cast<Real>(-__builtin_inf()) : job.shift);
        }
        if (job.own_maximum) {
            for (std::size_t k = 0; k < job.tokens; ++k) {
                Lanes<Real> t[V];
                for (int v = 0; v < V; ++v) {
                    t[v] = all(Real{0});
                }
                scaled_scores<Real, D, V>(x, job.z + k * D, t);
                for (int v = 0; v < V; ++v) {
                    shift[v] = larger(shift[v], t[v]);
                }
            }
        }
        for (std::size_t k = 0; k < job.tokens; ++k) {
            const Real* token = job.z + k * D;
            Lanes<Real> t[V];
            // Starting at 0 as above gives the largest score the exponent 0 exactly.
            for (int v = 0; v < V; ++v) {
                t[v] = all(Real{0});
            }
            scaled_scores<Real, D, V>(x, token, t);
            for (int v = 0; v < V; ++v) {
                t[v] -= shift[v];
            }
            exp2_lanes<Real, V>(t);
            for (int v = 0; v < V; ++v) {
                weights[v] += t[v];
            }
#pragma GCC unroll 8
            for (int c = 0; c < D; ++c) {
                const Lanes<Real> coordinate = all(token[c]);
#pragma GCC unroll 4
                for (int v = 0; v < V; ++v) {
                    sums[v][c] = fma(t[v], coordinate, sums[v][c]);
                }
            }
        }
        Real shifts[group];
        for (int v = 0; v < V; ++v) {
            for (int c = 0; c < D; ++c) {
                store<Real>(rows[c] + static_cast<std::size_t>(v) * W, sums[v][c]);
            }
            store<Real>(rows[D] + static_cast<std::size_t>(v) * W, weights[v]);
            store<Real>(shifts + static_cast<std::size_t>(v) * W, shift[v]);
        }
        RowFactor<Real> factor = row_factor(job.normalize, rows[D][0], shifts[0], job.log2_gain);
        for (std::size_t r = 0; r < group && first + r < job.end; ++r) {
            if (job.normalize || job.own_maximum) {
                factor = row_factor(job.normalize, rows[D][r], shifts[r], job.log2_gain);
            }
            for (int c = 0; c < D; ++c) {
                job.out[(first + r) * D + static_cast<std::size_t>(c)] = rows[c][r] * factor.first * factor.second;
            }
        }
    }
}
