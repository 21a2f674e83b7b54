// What the scheme tests share: a plain attention and FFN, states, and the catalogue as test parameters.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/plane.hpp"
#include "scheme/rows.hpp"

namespace flyball::scheme::test {

// Softmax attention with identity weights, written out from the definition: [rows, dim] -> [rows, dim].
template <class Real>
void plain_attention(std::size_t rows, std::size_t dim, double beta, const Real* in, Real* out) {
    std::vector<double> weight(rows);
    for (std::size_t j = 0; j < rows; ++j) {
        double largest = -HUGE_VAL;
        for (std::size_t k = 0; k < rows; ++k) {
            weight[k] = 0;
            for (std::size_t c = 0; c < dim; ++c) {
                weight[k] += beta * static_cast<double>(in[j * dim + c]) * static_cast<double>(in[k * dim + c]);
            }
            largest = std::max(largest, weight[k]);
        }
        double sum = 0;
        for (double& w : weight) {
            w = std::exp(w - largest);
            sum += w;
        }
        for (std::size_t c = 0; c < dim; ++c) {
            double value = 0;
            for (std::size_t k = 0; k < rows; ++k) {
                value += weight[k] / sum * static_cast<double>(in[k * dim + c]);
            }
            out[j * dim + c] = static_cast<Real>(value);
        }
    }
}

// The same attention in the plane: A = (a (w_s - w_o)) e_j + (b + a w_o) sum e, w_s/w_o = exp(beta a^2).
inline PlaneVector plane_attention(double beta, double n, const PlaneVector& z) {
    const double q = std::exp(-beta * z.a * z.a);  // weight of another token over the own
    const double other = q / (1 + (n - 1) * q);
    return {z.a * -std::expm1(-beta * z.a * z.a) / (1 + (n - 1) * q), z.b + z.a * other};
}

// A smooth FFN that mixes channels: out_c = sum_k tanh(in_k) cos(1 + c + 2k)/sqrt(dim).
template <class Real>
void plain_ffn(std::size_t rows, std::size_t dim, const Real* in, Real* out) {
    for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t c = 0; c < dim; ++c) {
            double value = 0;
            for (std::size_t k = 0; k < dim; ++k) {
                value +=
                    std::tanh(static_cast<double>(in[j * dim + k])) * std::cos(1.0 + static_cast<double>(c + 2 * k));
            }
            out[j * dim + c] = static_cast<Real>(value / std::sqrt(static_cast<double>(dim)));
        }
    }
}

template <class Real>
auto plain_sub_layers(std::size_t rows, std::size_t dim, double beta) {
    return [=](SubLayer sub_layer, const Real* in, Real* out) {
        if (sub_layer == SubLayer::attention) {
            plain_attention(rows, dim, beta, in, out);
        } else {
            plain_ffn(rows, dim, in, out);
        }
    };
}

// Rows of different directions and lengths around 1.
inline std::vector<double> random_rows(std::size_t rows, std::size_t dim, std::uint64_t seed) {
    std::vector<double> values(rows * dim);
    Random(seed, 7).fill_normal(values);
    for (double& value : values) {
        value /= std::sqrt(static_cast<double>(dim));
    }
    return values;
}

inline double length_of(const double* row, std::size_t dim) {
    double squares = 0;
    for (std::size_t c = 0; c < dim; ++c) {
        squares += row[c] * row[c];
    }
    return std::sqrt(squares);
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = a.size() == b.size() ? 0 : HUGE_VAL;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        const double difference = std::abs(a[i] - b[i]);
        largest = difference <= largest ? largest : difference;  // keeps NaN
    }
    return largest;
}

// Settings under which every learned or fixed gate is open: most catalogue defaults (0, 1e-4, 1) would hide mistakes.
inline Program program_for_test(const CatalogueEntry& entry) {
    Program program = Program::parse(entry.equation);
    std::string settings;
    double value = 0.6;
    for (const Parameter& parameter : program.parameters()) {
        if (parameter.learned) {
            settings += (settings.empty() ? "" : ",") + parameter.name + "=" + std::to_string(value);
            value += 0.17;
        }
    }
    return settings.empty() ? program : program.with_settings(settings);
}

// TEST_P over the whole catalogue: a scheme is tested the moment it is listed.
class EveryScheme : public ::testing::TestWithParam<CatalogueEntry> {};

inline std::string test_name(const ::testing::TestParamInfo<CatalogueEntry>& info) {
    std::string name;
    for (const char c : info.param.name) {
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name;
}

}  // namespace flyball::scheme::test

namespace flyball::scheme {

inline void PrintTo(const CatalogueEntry& entry, std::ostream* out) {
    *out << entry.name;
}

}  // namespace flyball::scheme
