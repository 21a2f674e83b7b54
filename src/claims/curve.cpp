#include "claims/curve.hpp"

#include <cmath>

#include "claims/paper.hpp"

namespace flyball::claims {

// d gamma/d log r = rate/along (paper.hpp), by classical Runge-Kutta.
std::vector<double> distance_over_radius(const Context& context, double n,
                                         const std::function<double(double r)>& beta_of,
                                         const std::vector<double>& log_radii) {
    const auto slope = [&](double log_r, double distance) {
        const Equiangular at = equiangular(n, beta_of(std::exp(log_r)), 1 - distance);
        return context.predict("slope of the curve", -at.rate / at.along);
    };
    std::vector<double> solution;
    double distance = 1;
    double at = 0;
    for (const double end : log_radii) {
        const auto steps = static_cast<std::size_t>(std::ceil((end - at) / 1e-3));
        const double h = steps == 0 ? 0 : (end - at) / static_cast<double>(steps);
        for (std::size_t i = 0; i < steps; ++i) {
            const double k1 = slope(at, distance);
            const double k2 = slope(at + h / 2, distance + h / 2 * k1);
            const double k3 = slope(at + h / 2, distance + h / 2 * k2);
            const double k4 = slope(at + h, distance + h * k3);
            distance += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
            at += h;
        }
        at = end;
        solution.push_back(distance);
    }
    return solution;
}

}  // namespace flyball::claims
