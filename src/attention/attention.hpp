// Attention of tokens among themselves: the hot loop of every simulation.
//
//     A_j = sum_h O_h sum_k w_jk V_h z_k,      w_j = weights of the scores beta_h <Q_h z_j, K_h z_k>
//
// for each of `systems` independent systems of n tokens. Queries, keys and values may be normed before scores are taken
// (ProjectionNorm). How scores become weights is the Kind, with m the number of tokens row j may see (n, or j + 1 under
// the causal mask, where row j sees k <= j):
//
//     softmax        exp(s_k) / sum_l exp(s_l),             s = beta <Q z_j, K z_k>
//     unnormalized   exp(s_k - beta) / n                    (n, not m, also under the mask)
//     sparsemax      Euclidean projection of s on the simplex             Martins, Astudillo 2016
//     entmax15       1.5-entmax of s                                      Peters, Niculae, Martins 2019
//     ssmax          softmax of log(m) s                                  Nakanishi 2025
//     sigmoid        1 / (1 + exp(log m - s_k)), not normalized           Ramapuram et al. 2024
//
// Several kernels compute it, from `reference` (the definition, plain double loops) to `circle` (O(n) on the circle);
// each is tested against `reference`. Which one runs is a pure function of sizes, settings and precision through
// cost_table.hpp, never of timing or threads, and the result has the same bits for any number of threads.
//
// Promises: right for every finite z, of any length; no overflow unless the answer itself overflows (unnormalized with
// long vectors). Memory O(slots n d), never n x n.
// Not here: gradients (model), dropout, positions, keys from elsewhere (cross attention).
// Rejected: gather-based neighbour lists (beta is seldom large enough), FFT on the circle (needs a grid).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::attention {

enum class Kind { softmax, unnormalized, sparsemax, entmax15, ssmax, sigmoid };
enum class Mask { none, causal };

struct Shape {
    std::size_t systems = 1;
    std::size_t tokens = 1;
    std::size_t dim = 1;
};

struct Settings {
    Kind kind = Kind::softmax;
    Mask mask = Mask::none;
    double beta = 1;
    std::vector<double> head_betas;  // one per head, or empty: all beta
};

// What trained models do to queries, keys or values (QK-norm): row / sqrt(sum of its squares / count + eps).
struct ProjectionNorm {
    bool on = false;
    bool all_heads = false;  // the sum is over the channels of all heads together, otherwise of each head
    double count = 1;        // channels for a root mean square, 1 for a length
    double eps = 0;
};

template <class Real>
struct HeadWeights {
    std::vector<Real> query;          // [width, dim]
    std::vector<Real> key;            // [width, dim]
    std::vector<Real> value;          // [width, dim]
    std::vector<Real> output;         // [dim, width]
    std::vector<Real> channels = {};  // [width]: factors of the queries behind their norm; none: 1
};

template <class Real>
struct Weights {
    std::size_t heads = 1;
    std::size_t width = 0;
    // Empty means identity: `heads` heads of full width and weight 1/heads, which is one head unless head_betas differ.
    std::vector<HeadWeights<Real>> head;
    std::array<ProjectionNorm, 3> norms = {};  // of queries, keys, values; not of identity weights

    bool identity() const { return head.empty(); }
};

template <class Real>
class Attention {
  public:
    // `kernel` is "auto" or one of kernel_names(). Throws Error(usage) for a name that is unknown or a kernel that
    // cannot do this problem, and for sizes, weights or betas that do not fit together.
    Attention(Shape shape, Settings settings, Weights<Real> weights, std::string_view kernel = "auto");
    ~Attention();
    Attention(Attention&&) noexcept;
    Attention& operator=(Attention&&) noexcept;

    // z, out: [systems, tokens, dim], not overlapping, of any alignment. Uses the pool of core/parallel.hpp; one object
    // serves one caller at a time.
    void operator()(const Real* z, Real* out);

    // Weights of the same heads, width and kind (identity or not) as before.
    void set_weights(Weights<Real> weights);

    const std::string& kernel() const;  // the name of the kernel that was chosen

    // What the last evaluation did, such as "symmetric tiles" or "not unit vectors: rows"; "" before the first.
    std::string_view path() const;

    // The last evaluation, or a part of it, fell back to a kernel that is slower for many tokens.
    bool fell_back() const;

    std::size_t memory_bytes() const;

  private:
    struct Body;
    std::unique_ptr<Body> body_;
};

extern template class Attention<double>;
extern template class Attention<float>;

// Simplest first.
std::vector<std::string> kernel_names();

std::vector<std::string> kind_names();
const char* name(Kind kind) noexcept;
Kind kind_from_name(std::string_view name);  // Error(usage) that suggests the nearest name

std::vector<std::string> mask_names();
const char* name(Mask mask) noexcept;
Mask mask_from_name(std::string_view name);

}  // namespace flyball::attention
