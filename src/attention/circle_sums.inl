// Fourier sums over angles. Included after lanes.inl. Always in double.
//
// Legend: m order; (c, s) = (cos m a, sin m a) of W angles at a time, turned by one angle per step:
//     (c + i s)(x + i y) = (c x - s y) + i (c y + s x)
// The error of a turn is one rounding, so after m turns it is below m roundings: 1e-13 at m = 800.

constexpr std::size_t circle_vectors = 4;  // independent chains

struct CirclePhases {
    Lanes<double> x[circle_vectors], y[circle_vectors];  // the angle
    Lanes<double> c[circle_vectors], s[circle_vectors];  // its multiple
};

[[gnu::always_inline]] inline void start_phases(CirclePhases& phases, const double* x, const double* y) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < circle_vectors; ++v) {
        phases.x[v] = load<double>(x + v * lane_count<double>);
        phases.y[v] = load<double>(y + v * lane_count<double>);
        phases.c[v] = all(1.0);
        phases.s[v] = all(0.0);
    }
}
[[gnu::always_inline]] inline void turn_phases(CirclePhases& phases) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < circle_vectors; ++v) {
        const Lanes<double> c = fma(phases.c[v], phases.x[v], -(phases.s[v] * phases.y[v]));
        phases.s[v] = fma(phases.c[v], phases.y[v], phases.s[v] * phases.x[v]);
        phases.c[v] = c;
    }
}

void circle_moments(const CircleMoments& job) {
    constexpr std::size_t W = lane_count<double>;
    for (std::size_t k = 0; k < job.count; k += circle_vectors * W) {
        CirclePhases phases;
        start_phases(phases, job.x + k, job.y + k);
        for (std::size_t m = 0; m <= job.last; ++m) {
            double* lanes = job.lanes + m * 8;
            store<double>(lanes, load<double>(lanes) + ((phases.c[0] + phases.c[1]) + (phases.c[2] + phases.c[3])));
            store<double>(lanes + 4,
                          load<double>(lanes + 4) + ((phases.s[0] + phases.s[1]) + (phases.s[2] + phases.s[3])));
            turn_phases(phases);
        }
    }
}

// All three sums share the phases: six operations an order and vector beside the four of a turn. O(count last).
void circle_sums(const CircleSums& job) {
    constexpr std::size_t W = lane_count<double>;
    // Two vectors at a time: with three sums each, that is what the registers hold.
    constexpr std::size_t V = 2;
    for (std::size_t k = 0; k < job.count; k += V * W) {
        Lanes<double> x[V];
        Lanes<double> y[V];
        Lanes<double> c[V];
        Lanes<double> s[V];
        Lanes<double> values[V][3];
        for (std::size_t v = 0; v < V; ++v) {
            x[v] = load<double>(job.x + k + v * W);
            y[v] = load<double>(job.y + k + v * W);
            c[v] = all(1.0);
            s[v] = all(0.0);
            for (std::size_t i = 0; i < 3; ++i) {
                values[v][i] = all(0.0);
            }
        }
        for (std::size_t m = 0; m <= job.last; ++m) {
            const double* factors = job.factors + m * 6;
#pragma GCC unroll 3
            for (std::size_t i = 0; i < 3; ++i) {
                const Lanes<double> cosine = all(factors[2 * i]);
                const Lanes<double> sine = all(factors[2 * i + 1]);
#pragma GCC unroll 2
                for (std::size_t v = 0; v < V; ++v) {
                    values[v][i] = fma(s[v], sine, fma(c[v], cosine, values[v][i]));
                }
            }
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) {
                const Lanes<double> turned = fma(c[v], x[v], -(s[v] * y[v]));
                s[v] = fma(c[v], y[v], s[v] * x[v]);
                c[v] = turned;
            }
        }
        for (std::size_t v = 0; v < V; ++v) {
            for (std::size_t i = 0; i < 3; ++i) {
                store<double>(job.values + i * job.count + k + v * W, values[v][i]);
            }
        }
    }
}
