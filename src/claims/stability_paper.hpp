// What "Stability of Transformers under Layer Normalization" (Kan, Li, Zhang, Sahai, Osher, Kumar, Katsoulakis, arXiv
// 2510.09904) states, with explicit constants where the paper has orders of growth, typed by hand on plain vectors and
// matrices: the predictions of its part of the ledger. Nothing here uses src/model, from where the measurements come.
//
//     x_l         a token after l sub-layers, d channels
//     Dt          the residual step
//     gamma, b    gains and bias of a LayerNorm
//     s(x)        sqrt(var(x) + eps), what a LayerNorm divides by
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flyball::claims {

// [rows, columns], row after row.
struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;

    double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
    double& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
};

double length_of(std::span<const double> x);
double rms_of(std::span<const double> x);
double largest_of(std::span<const double> x);  // of absolute values
// The largest factor by which a matrix lengthens a vector, by power iteration; the last figures are from below.
double operator_norm(const Table& matrix);
double ln_divisor(std::span<const double> x, double eps);  // s(x)

// Lemma 1. Outputs z of a LayerNorm satisfy (z-b)' Gamma^-2 (z-b) = d, and so |z| <= R = |gamma|_inf sqrt d + |b|.
double lemma_1_form(std::span<const double> z, std::span<const double> gamma, std::span<const double> b);
double lemma_1_radius(std::span<const double> gamma, std::span<const double> b);

// Peri-LN, whatever the weights: |x_l| <= |x_0| + Dt (R_1 + .. + R_l), with the R of the norms on the branches.
double peri_ln_bound(double x0, double dt, std::span<const double> radii);

// Pre-LN with these weights: how long a branch can be whose input is at most R long.
// Attention: |W_O| (sqrt(sum_h |W_V^h|^2) R + |b_V|) + |b_O|, as heads may attend to different tokens.
double attention_bound(const Table& output, std::span<const Table> values, std::span<const double> value_bias,
                       std::span<const double> output_bias, double radius);
// The same with the norm of the joint value matrix in place of the root: true for one head alone.
double attention_bound_joint(const Table& output, const Table& value, std::span<const double> value_bias,
                             std::span<const double> output_bias, double radius);
// FFN with an activation of |phi(z)| <= |z|: |W_2| (|W_1| R + |b_1|) + |b_2|.
double ffn_bound(const Table& first, std::span<const double> first_bias, const Table& second,
                 std::span<const double> second_bias, double radius);

// At the start, branches as good as orthogonal: sigma_l^2 = sigma_0^2 + sum Dt^2 s_i^2, of root mean squares.
double start_rms(double sigma_0, double dt, std::span<const double> branches);

// Where the norms stand: x + Dt F(N x), x + Dt N(F(N x)), N(x + Dt F x), x + Dt N(F x).
enum class Placement { pre, peri, post, output };
inline constexpr Placement all_placements[] = {Placement::pre, Placement::peri, Placement::post, Placement::output};

// Of one sub-layer with the local Lipschitz constant `lipschitz`; smallest divisors and largest gains over tokens.
struct BlockNumbers {
    double dt = 1;
    double lipschitz = 0;
    double gain_in = 1;   // of the norm before the sub-layer, where there is one
    double gain_out = 1;  // of the norm behind it, or of Post-LN's
    double s_in = 1;      // s(x)
    double s_out = 1;     // s(a), a = F(..); of Post-LN s(u), u = x + Dt F(x)
};
double jacobian_bound(Placement placement, const BlockNumbers& block);

// |gradient of W_out| of one token: Dt |delta| |h|, and damped by gain/s where a norm follows. delta is the gradient of
// the loss with respect to the sub-layer's result x', h the last hidden activation. Of several tokens, at most the sum.
double w_out_bound(Placement placement, const BlockNumbers& block, double delta, double h);

// |dL/dx_l| / |dL/dx_L| at the start of Pre-LN and Peri-LN, from root mean squares of the stream.
double gradient_ratio(double sigma_l, double sigma_last);

// By how much sub-layer i turns a token: tan(angle) = Dt s_i/sigma_i.
double rotation(double dt, double branch, double stream);

}  // namespace flyball::claims
