// How logits become weights: softmax and what has been proposed in its place, on the logits of a model as it is.
//
// l = q.k are the raw logits of a row of m keys, z = l/T with T the model's own temperature (sqrt of the width of a
// head unless the model says otherwise).
//
//     softmax      exp(z)/sum exp(z)                    softmax:T   the same with this T in place of the model's
//     sparsemax    Euclidean projection of z on the simplex                             Martins, Astudillo 2016
//     entmax15     1.5-entmax of z                                                Peters, Niculae, Martins 2019
//     ssmax        softmax of log(m) z                                                            Nakanishi 2025
//     sigmoid      1/(1 + exp(log m - z)); the weights do not sum to 1                    Ramapuram et al. 2024
//     sa-softmax   z softmax(z), which may be negative                                        Zheng et al. 2025
//     sa-range     (z - low)/(high - low) softmax(z), low = min(min z, 0), high = max(max z, 0): its normalised form
//
// Weights that may be negative have no bounds of Theorems 1 and 2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/attention.hpp"

namespace flyball::limits {

class Normaliser {
  public:
    enum class Kind { softmax, sparsemax, entmax15, ssmax, sigmoid, sa_softmax, sa_range };

    Normaliser() = default;
    explicit Normaliser(Kind kind, std::optional<double> temperature = std::nullopt)
        : kind_(kind), temperature_(temperature) {}

    // "softmax", "softmax:0.5", "ssmax"; Error(usage) that suggests the nearest name.
    static Normaliser parse(std::string_view text);
    static Normaliser of(attention::Kind kind);  // what a model uses; Error(input) for unnormalized
    static std::vector<std::string> names();

    std::string name() const;
    Kind kind() const { return kind_; }
    double temperature(double own) const { return temperature_.value_or(own); }

    // z[0..count) = l/T become weights in place; z has room for a multiple of 32 numbers.
    void weigh(std::size_t count, double* z, std::vector<double>& room) const;

    // The most that |weights' change| / |change of l| can be: min(K/T, diameter/eps); NaN where nothing is known.
    double sensitivity_bound(double temperature, double eps, std::size_t count) const;

  private:
    Kind kind_ = Kind::softmax;
    std::optional<double> temperature_;
};

// min{1/(4T), sqrt 2}, as Corollary 3 prints it for softmax; no bound of the spectral norm.
double paper_sensitivity_bound(double temperature);

}  // namespace flyball::limits
