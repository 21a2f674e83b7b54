// What "Normalization in Attention Dynamics" (Karagodin, Ge, Polyanskiy, Rigollet, arXiv:2510.22026) states, typed by
// hand: attention, the rows of its Table 2, and the law of the symmetric start. The predictions of the ledger come from
// here; nothing here uses the equations of the catalogue, the attention kernels or the theory module.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace flyball::claims {

// A_j = sum_k w_jk theta_k, w_jk = exp(beta <theta_j, theta_k>) / Z_j, and Z_j.
struct PlainAttention {
    std::vector<double> value;  // [n, d]
    std::vector<double> sum;    // Z_j
};
PlainAttention plain_attention(const std::vector<double>& theta, std::size_t dim, double beta);

// What a row of Table 2 depends on.
struct TokenState {
    double r = 1;       // |x_j|
    double along = 0;   // <theta_j, A_j>
    double length = 1;  // |A_j|
    double t = 0;
};

// theta' = P A / s, r' = growth.
struct PaperRow {
    std::string scheme;   // as the catalogue names it, with parameters
    std::string formula;  // for people
    std::function<double(const TokenState&)> s;
    std::function<double(const TokenState&)> growth;
};
// For runs of length T = table_T, where Mix-LN switches at T/4; nGPT with alpha = 1/(1+t).
inline constexpr double table_T = 10;
const std::vector<PaperRow>& paper_rows();

// Symmetric start (Theorem 4.1): n tokens, every pair at cosine gamma.
//     q = exp(beta gamma), Z = e^beta + (n-1) q, gamma' = 2 q (1-gamma)(1+(n-1)gamma) / (s Z)
struct Equiangular {
    double along = 0;   // <theta, A>
    double length = 0;  // |A|
    double rate = 0;    // s gamma'
};
Equiangular equiangular(double n, double beta, double gamma);

// gamma and r of a row at increasing times from 0, by classical Runge-Kutta on the two equations.
struct GammaRadius {
    double gamma = 0;
    double r = 1;
};
std::vector<GammaRadius> solve_row(const PaperRow& row, double n, double beta, double r0,
                                   const std::vector<double>& times, double largest_step = 1e-3);

// log of K = exp(int_0^1 (e^{beta(1-g)} - 1)/((1-g)(1+(n-1)g)) dg), by Simpson's rule.
double log_K(double n, double beta);

// Post-LN, Pre-LN, Mix-LN, Peri-LN, nGPT, sqrt-scaling, as in the catalogue.
const std::vector<std::string>& paper_schemes();

}  // namespace flyball::claims
