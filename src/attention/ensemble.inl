// Many small systems at once: one lane is one system. Included after direct_rows.inl.
//
// Legend: D dimension, known at compile time; G = V W systems side by side; tokens j < k of the same system.
// Tokens come scaled by sqrt(scale), y = sqrt(scale) z, so that <y_j, y_k> is the exponent itself. A pair is met once:
//
//     e = 2^(<y_j, y_k> - shift);   sums_j += e y_k,  total_j += e;   sums_k += e y_j,  total_k += e
//
// When j is done with all k > j its sums are complete: those with k < j were added when k had its turn. Nothing is
// wasted on remainders of n, which is what costs most when n is small.

template <class Real, int D>
void ensemble_of(const EnsembleSystems<Real>& job) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t G = ensemble_systems<Real>;
    constexpr int V = static_cast<int>(G / W);
    constexpr std::size_t row = (D + 1) * G;
    const Lanes<Real> start = all(-job.shift);
    const RowFactor<Real> gain = row_factor<Real>(job.normalize, 1, job.shift, job.log2_gain);
    __builtin_memset(job.sums, 0, job.tokens * row * sizeof(Real));
    for (std::size_t j = 0; j < job.tokens; ++j) {
        const Real* y = job.tokens_of + j * D * G;
        Real* own = job.sums + j * row;
        Lanes<Real> x[D][V];
        Lanes<Real> sums[D + 1][V];
        Lanes<Real> t[V];
        for (int v = 0; v < V; ++v) {
            t[v] = start;
            for (int c = 0; c < D; ++c) {
                x[c][v] = load<Real>(y + static_cast<std::size_t>(c) * G + static_cast<std::size_t>(v) * W);
                t[v] = fma(x[c][v], x[c][v], t[v]);
            }
        }
        exp2_lanes<Real, V>(t);
        for (int v = 0; v < V; ++v) {
            for (int c = 0; c <= D; ++c) {
                sums[c][v] = load<Real>(own + static_cast<std::size_t>(c) * G + static_cast<std::size_t>(v) * W);
            }
            for (int c = 0; c < D; ++c) {
                sums[c][v] = fma(t[v], x[c][v], sums[c][v]);
            }
            sums[D][v] += t[v];
        }
        for (std::size_t k = j + 1; k < job.tokens; ++k) {
            const Real* other = job.tokens_of + k * D * G;
            Real* theirs = job.sums + k * row;
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) {
                t[v] = start;
#pragma GCC unroll 8
                for (int c = 0; c < D; ++c) {
                    t[v] = fma(x[c][v],
                               load<Real>(other + static_cast<std::size_t>(c) * G + static_cast<std::size_t>(v) * W),
                               t[v]);
                }
            }
            exp2_lanes<Real, V>(t);
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
                for (int c = 0; c < D; ++c) {
                    const std::size_t at = static_cast<std::size_t>(c) * G + static_cast<std::size_t>(v) * W;
                    sums[c][v] = fma(t[v], load<Real>(other + at), sums[c][v]);
                    store<Real>(theirs + at, fma(t[v], x[c][v], load<Real>(theirs + at)));
                }
                const std::size_t at = D * G + static_cast<std::size_t>(v) * W;
                sums[D][v] += t[v];
                store<Real>(theirs + at, load<Real>(theirs + at) + t[v]);
            }
        }
        for (int v = 0; v < V; ++v) {
            const Lanes<Real> first = job.normalize ? all(Real{1}) / sums[D][v] : all(gain.first);
            const Lanes<Real> second = all(gain.second * job.unscale);
            for (int c = 0; c < D; ++c) {
                store<Real>(own + static_cast<std::size_t>(c) * G + static_cast<std::size_t>(v) * W,
                            sums[c][v] * first * second);
            }
        }
    }
}

template <class Real>
void ensemble(std::size_t dim, const EnsembleSystems<Real>& job) {
    using Body = void (*)(const EnsembleSystems<Real>&);
    constexpr Body bodies[direct_most_dim] = {ensemble_of<Real, 1>, ensemble_of<Real, 2>, ensemble_of<Real, 3>,
                                              ensemble_of<Real, 4>, ensemble_of<Real, 5>, ensemble_of<Real, 6>,
                                              ensemble_of<Real, 7>, ensemble_of<Real, 8>};
    bodies[dim - 1](job);
}
