// Lemma 2 and Corollary 3: how fast weights move when logits do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/comparison.hpp"
#include "claims/limits.hpp"
#include "claims/limits_rows.hpp"
#include "core/random.hpp"
#include "limits/jacobian.hpp"
#include "limits/normaliser.hpp"

namespace flyball::claims {

namespace {

struct Normalised {
    std::vector<double> F;
    std::vector<double> slope;
};

// exp, softplus and squareplus of Gaussian logits.
Normalised normalised(std::uint64_t seed) {
    const Random numbers(seed, 31);
    Normalised row;
    for (std::size_t i = 0; i < 2 + seed % 20; ++i) {
        const double l = 1.5 * numbers.normal(i);
        const double root = std::sqrt(l * l + 4);
        row.F.push_back(seed % 3 == 0 ? std::exp(l) : seed % 3 == 1 ? std::log1p(std::exp(l)) : (l + root) / 2);
        row.slope.push_back(seed % 3 == 0 ? std::exp(l) : seed % 3 == 1 ? 1 / (1 + std::exp(-l)) : (1 + l / root) / 2);
    }
    return row;
}

// F(l) = l + 1 with one logit k - 1 and all others 0: F' = 1 for all, F = k once and 1 otherwise. J = (I - alpha 1')/Z
// acts on the span of the first key and the mean of the others as a 2 x 2 matrix and as 1/Z on what is at a right angle
// to both, so that its norm is known for ten thousand million keys. With 1 << k/sqrt(L) << sqrt(L) the second term of
// the lemma is nearly all of it, and nearly |J|.
struct OneLarge {
    double norm = 0;
    double bound = 0;
};
OneLarge one_large_logit() {
    constexpr double root = 1e5;  // of L
    constexpr double k = 300 * root;
    const double others = std::sqrt(root * root - 1);
    const double Z = root * root - 1 + k;
    const double alpha[2] = {k / Z, others / Z};
    const double ones[2] = {1, others};
    double squares = 0;  // of M = I - alpha 1', and its determinant
    double M[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            M[i][j] = (i == j ? 1 : 0) - alpha[i] * ones[j];
            squares += M[i][j] * M[i][j];
        }
    }
    const double determinant = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double largest =
        std::sqrt((squares + std::sqrt(std::max(0.0, squares * squares - 4 * determinant * determinant))) / 2);
    const double length = std::hypot(alpha[0], alpha[1]);
    return {std::max(largest, 1.0) / Z, 1 / (root * root) + length / root};
}

Measurement lemma(const Context& context) {
    BoundCheck check;
    BoundCheck own;  // the bound of src/limits
    for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(300, 3000); ++seed) {
        const Normalised row = normalised(seed);
        const Lemma2 stated = lemma_2(row.F, row.slope);
        const double norm = limits::reference::spectral_norm(row.F, row.slope);
        check.see(norm, context.predict("bound", stated.first + stated.second));
        own.see_attaining(stated.first + stated.second, limits::lemma2_bound(row.F, row.slope));
    }
    const OneLarge large = one_large_logit();
    check.see_attaining(large.norm, context.predict("bound", large.bound));
    Measurement result;
    result.predicted = "|J| at most the bound";
    result.measured =
        fmt::format("never above in {} rows; {:.4f} of it with one large logit", check.count(), check.attaining());
    result.tolerance = "never above; attained within 1 %";
    result.verdict = verdict_of(check.sound() && own.sound());
    result.note =
        "F = exp, softplus, squareplus; |J| from the singular values of the matrix written out. Attained by F = l + 1 "
        "with 1e10 keys, one logit 3e7 and all others 0";
    return result;
}

// J = (I - alpha 1')diag(F')/Z, and I - P of a projection P = alpha 1' has the norm of P, sqrt(L)|alpha|.
Measurement sharper_lemma(const Context& context) {
    BoundCheck check;
    const double factor = context.predict("factor", 1);
    for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(300, 3000); ++seed) {
        const Normalised row = normalised(seed);
        check.see(limits::reference::spectral_norm(row.F, row.slope), factor * lemma_2(row.F, row.slope).second);
    }
    const std::vector<double> ones(12, 1.0);
    check.see_attaining(limits::reference::spectral_norm(ones, ones), factor * lemma_2(ones, ones).second);
    Measurement result;
    result.predicted = "|J| at most max|F'| |alpha|/(sqrt(L) min F)";
    result.measured =
        fmt::format("never above in {} rows; {:.4f} of it with equal F and F'", check.count(), check.attaining());
    result.tolerance = "never above; attained within 1 %";
    result.verdict = verdict_of(check.sound());
    return result;
}

std::vector<double> weights_of(std::uint64_t seed) {
    return gaussian_row(2 + seed % 30, 1, 0.2 * static_cast<double>(seed % 40), seed).alpha;
}

// |grad alpha|_2 <= min{1/(4T), sqrt 2} as printed, 1/(2T) as corrected.
Measurement sensitivity_corollary(const Context& context) {
    BoundCheck printed;
    BoundCheck right;
    BoundCheck own;
    Comparison line = Comparison::relative(1e-9);
    for (const double T : {0.01, 0.1, 1.0, 8.0}) {
        const double as_printed = std::min(context.predict("printed", 0.25) / T, std::sqrt(2.0));
        const double corrected = context.predict("corrected", 0.5) / T;
        for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(400, 4000); ++seed) {
            const double norm = limits::spectral_norm(weights_of(seed)) / T;
            printed.see(norm, as_printed);
            right.see(norm, corrected);
        }
        const double tied = limits::spectral_norm({0.5, 0.5}) / T;
        printed.see_attaining(tied, as_printed);
        right.see_attaining(tied, corrected);
        // What `flyball limits` draws: at a step of nearly 0, the right line; and the paper's.
        own.see_attaining(tied, limits::Normaliser().sensitivity_bound(T, 1e-9, 2));
        line.see(limits::paper_sensitivity_bound(T), std::min(0.25 / T, std::sqrt(2.0)));
    }
    Measurement result;
    result.predicted = "|J| at most min(1/(4T), sqrt 2)";
    result.measured = fmt::format("up to {:.1f} times that; {:.4f} of 1/(2T) at two tied logits", printed.largest(),
                                  right.attaining());
    result.tolerance = "never above; attained within 1 %";
    result.verdict = verdict_of(printed.sound(), right.sound() && own.sound() && line.agrees());
    result.note = "T = 0.01, 0.1, 1 and 8; the exact norm is the root of the secular equation of diag(a) - a a'";
    return result;
}

Measurement single_entries(const Context& context) {
    BoundCheck check;
    const double bound = context.predict("bound", 0.25);
    for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(400, 4000); ++seed) {
        check.see(limits::infinity_norm(weights_of(seed)) / 2, bound);
    }
    check.see_attaining(limits::infinity_norm({0.5, 0.3, 0.2}) / 2, bound);
    Measurement result;
    result.predicted = "entries of T J at most 1/4";
    result.measured =
        fmt::format("never above in {} rows; {:.4f} of it with a weight of 1/2", check.count(), check.attaining());
    result.tolerance = "never above; attained within 1 %";
    result.verdict = verdict_of(check.sound());
    result.note = "the largest entry is max a_i(1 - a_i), half the infinity norm";
    return result;
}

// g = |softmax((l + eps v)/T) - softmax(l/T)|/eps for a given direction.
double moved(const std::vector<double>& logits, const std::vector<double>& direction, double T, double eps) {
    const std::size_t room = (logits.size() + 31) / 32 * 32;
    std::vector<double> base(room);
    std::vector<double> after(room);
    std::vector<double> scratch;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        base[i] = logits[i] / T;
        after[i] = (logits[i] + eps * direction[i]) / T;
    }
    limits::Normaliser().weigh(logits.size(), base.data(), scratch);
    limits::Normaliser().weigh(logits.size(), after.data(), scratch);
    double squares = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        squares += (base[i] - after[i]) * (base[i] - after[i]);
    }
    return std::sqrt(squares) / eps;
}

// Both ends of the minimum are attained: small steps at two tied logits, and a step across a tie at a temperature near
// 0.
Measurement finite_steps(const Context& context) {
    BoundCheck slow;
    BoundCheck fast;
    const double slope = context.predict("slope", 0.5);
    const double diameter = context.predict("diameter", std::sqrt(2.0));
    for (const double T : {1e-3, 0.1, 1.0, 10.0}) {
        for (const double eps : {1e-3, 0.1, 10.0}) {
            const double bound = std::min(slope / T, diameter / eps);
            for (std::uint64_t seed = 1; seed <= context.size<std::uint64_t>(50, 500); ++seed) {
                const std::size_t keys = 2 + seed % 20;
                std::vector<double> logits(keys);
                std::vector<double> direction(keys);
                Random(seed, 41).fill_normal(logits);
                Random(seed, 42).fill_normal(direction);
                double squares = 0;
                for (const double x : direction) {
                    squares += x * x;
                }
                for (double& x : direction) {
                    x /= std::sqrt(squares);
                }
                slow.see(moved(logits, direction, T, eps), bound);
            }
        }
    }
    const double half = std::sqrt(0.5);
    slow.see_attaining(moved({0, 0}, {half, -half}, 1, 1e-3), std::min(slope, diameter / 1e-3));
    // At T -> 0 a step across a tie moves all weight from one key to the other.
    const double jump = moved({0.01, -0.01}, {-half, half}, 1e-4, 0.1);
    fast.see_attaining(jump, std::min(slope / 1e-4, diameter / 0.1));
    fast.see_attaining(jump, limits::Normaliser().sensitivity_bound(1e-4, 0.1, 2));
    Measurement result;
    result.predicted = "g at most min(1/(2T), sqrt(2)/eps)";
    result.measured = fmt::format("never above in {} steps; {:.4f} and {:.4f} of its two parts", slow.count(),
                                  slow.attaining(), fast.attaining());
    result.tolerance = "never above; attained within 1 %";
    result.verdict = verdict_of(slow.sound() && fast.sound());
    return result;
}

}  // namespace

std::vector<Claim> limits_sensitivity_claims() {
    return {
        {"limits-lemma-2", "For any normaliser |J| is at most max|F'| (1/(L min F) + |alpha|/(sqrt(L) min F)).",
         "Lemma 2", Verdict::holds, "Its first term can be dropped", lemma},
        {"limits-corollary-3", "The Jacobian of softmax has a spectral norm of at most min(1/(4T), sqrt 2).",
         "Corollary 3", Verdict::holds_corrected,
         "1/(4T) bounds single entries. The spectral norm is at most 1/(2T), attained by two tied logits",
         sensitivity_corollary},
        {"limits-lemma-2-sharper",
         "The second term of Lemma 2 alone, max|F'| |alpha|/(sqrt(L) min F), bounds |J|, and is attained.", "finding",
         Verdict::holds, "J is a projection times diag(F')/Z", sharper_lemma},
        {"limits-jacobian-entries", "Single entries of the Jacobian of softmax are at most 1/(4T).", "finding",
         Verdict::holds, "", single_entries},
        {"limits-sensitivity-bound", "Finite steps move the weights by at most min(1/(2T), sqrt(2)/eps) times eps.",
         "finding", Verdict::holds, "", finite_steps},
    };
}

}  // namespace flyball::claims
