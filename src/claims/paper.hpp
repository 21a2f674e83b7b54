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

// Post-LN, Pre-LN, Mix-LN, Peri-LN, nGPT, sqrt-scaling, as in the catalogue.
const std::vector<std::string>& paper_schemes();

}  // namespace flyball::claims
