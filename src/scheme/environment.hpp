// What a run tells the equation about where it is: the values of dt, t, T, L, depth, n and d.
//
//     layers of particles   l = 1..L   t = (l-1)*dt   T = L*dt   depth = l/L
//     ODE of particles      t in 0..T                 L = T      depth = t/T, dt -> 0
//     blocks of a model     l = 1..L   t = l-1        T = L*dt   depth = l/L      whatever its dt
#pragma once

#include <array>
#include <cstddef>

#include "scheme/expression.hpp"

namespace flyball::scheme {

struct Environment {
    double dt = 1;
    double t = 0;
    double T = 1;
    double L = 1;
    double depth = 1;
    double n = 1;
    double d = 1;

    static Environment layer(std::size_t l, std::size_t layers, double dt, std::size_t tokens, std::size_t dim) {
        const auto number = static_cast<double>(l);
        const auto count = static_cast<double>(layers);
        return {dt,
                (number - 1) * dt,
                count * dt,
                count,
                number / count,
                static_cast<double>(tokens),
                static_cast<double>(dim)};
    }
    static Environment block(std::size_t l, std::size_t layers, double dt, std::size_t tokens, std::size_t dim) {
        Environment env = layer(l, layers, dt, tokens, dim);
        env.t = static_cast<double>(l) - 1;
        return env;
    }
    // dt = 0: velocities differentiate there.
    static Environment ode(double t, double T, std::size_t tokens, std::size_t dim) {
        return {0, t, T, T, t / T, static_cast<double>(tokens), static_cast<double>(dim)};
    }

    // In the order of Quantity.
    std::array<double, quantity_count> values() const { return {dt, t, T, L, depth, n, d}; }
};

}  // namespace flyball::scheme
