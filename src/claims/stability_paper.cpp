#include "claims/stability_paper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/unreachable.hpp"

namespace flyball::claims {

double length_of(std::span<const double> x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

double rms_of(std::span<const double> x) {
    return length_of(x) / std::sqrt(static_cast<double>(x.size()));
}

double largest_of(std::span<const double> x) {
    double largest = 0;
    for (const double value : x) {
        largest = std::max(largest, std::abs(value));
    }
    return largest;
}

double operator_norm(const Table& m) {
    // A start that is orthogonal to no vector that anybody would write down.
    std::vector<double> v(m.columns);
    for (std::size_t j = 0; j < v.size(); ++j) {
        v[j] = 1 + 0.1 * std::sin(1 + 37.0 * static_cast<double>(j));
    }
    double norm = 0;
    for (int step = 0; step < 2000; ++step) {
        const double length = length_of(v);
        if (length == 0) {
            return 0;
        }
        std::vector<double> u(m.rows, 0.0);  // u = M v/|v|
        for (std::size_t i = 0; i < m.rows; ++i) {
            for (std::size_t j = 0; j < m.columns; ++j) {
                u[i] += m.at(i, j) * v[j] / length;
            }
        }
        const double now = length_of(u);
        if (std::abs(now - norm) <= 1e-14 * now) {
            return now;
        }
        norm = now;
        std::fill(v.begin(), v.end(), 0.0);  // v = M' u
        for (std::size_t i = 0; i < m.rows; ++i) {
            for (std::size_t j = 0; j < m.columns; ++j) {
                v[j] += m.at(i, j) * u[i];
            }
        }
    }
    return norm;
}

double ln_divisor(std::span<const double> x, double eps) {
    const double count = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
    double variance = 0;
    for (const double value : x) {
        variance += (value - mean) * (value - mean) / count;
    }
    return std::sqrt(variance + eps);
}

double lemma_1_form(std::span<const double> z, std::span<const double> gamma, std::span<const double> b) {
    double form = 0;
    for (std::size_t k = 0; k < z.size(); ++k) {
        const double u = (z[k] - b[k]) / gamma[k];
        form += u * u;
    }
    return form;
}

double lemma_1_radius(std::span<const double> gamma, std::span<const double> b) {
    return largest_of(gamma) * std::sqrt(static_cast<double>(gamma.size())) + length_of(b);
}

double peri_ln_bound(double x0, double dt, std::span<const double> radii) {
    return x0 + dt * std::accumulate(radii.begin(), radii.end(), 0.0);
}

double attention_bound(const Table& output, std::span<const Table> values, std::span<const double> value_bias,
                       std::span<const double> output_bias, double radius) {
    double squares = 0;
    for (const Table& head : values) {
        squares += operator_norm(head) * operator_norm(head);
    }
    return operator_norm(output) * (std::sqrt(squares) * radius + length_of(value_bias)) + length_of(output_bias);
}

double attention_bound_joint(const Table& output, const Table& value, std::span<const double> value_bias,
                             std::span<const double> output_bias, double radius) {
    return operator_norm(output) * (operator_norm(value) * radius + length_of(value_bias)) + length_of(output_bias);
}

double ffn_bound(const Table& first, std::span<const double> first_bias, const Table& second,
                 std::span<const double> second_bias, double radius) {
    return operator_norm(second) * (operator_norm(first) * radius + length_of(first_bias)) + length_of(second_bias);
}

double start_rms(double sigma_0, double dt, std::span<const double> branches) {
    double squares = sigma_0 * sigma_0;
    for (const double s : branches) {
        squares += dt * dt * s * s;
    }
    return std::sqrt(squares);
}

double jacobian_bound(Placement placement, const BlockNumbers& b) {
    switch (placement) {
        case Placement::pre:
            return 1 + b.dt * b.lipschitz * b.gain_in / b.s_in;
        case Placement::peri:
            return 1 + b.dt * b.lipschitz * b.gain_in * b.gain_out / (b.s_out * b.s_in);
        case Placement::post:
            return b.gain_out / b.s_out * (1 + b.dt * b.lipschitz);
        case Placement::output:
            return 1 + b.dt * b.lipschitz * b.gain_out / b.s_out;
    }
    unreachable();
}

double w_out_bound(Placement placement, const BlockNumbers& b, double delta, double h) {
    switch (placement) {
        case Placement::pre:
            return b.dt * delta * h;
        case Placement::peri:
        case Placement::post:
        case Placement::output:
            return b.dt * delta * b.gain_out * h / b.s_out;
    }
    unreachable();
}

double gradient_ratio(double sigma_l, double sigma_last) {
    return sigma_last / sigma_l;
}

double rotation(double dt, double branch, double stream) {
    return std::atan(dt * branch / stream);
}

}  // namespace flyball::claims
