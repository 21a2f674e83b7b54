#include <array>
#include <cmath>

#include "theory/theory.hpp"

namespace flyball::theory {

namespace {

struct GaussPoint {
    double node, weight;
};
// Gauss-Legendre with eight points on [-1, 1]: these and their mirror images.
constexpr std::array<GaussPoint, 4> gauss_points = {{{0.18343464249564980494, 0.36268378337836198297},
                                                     {0.52553240991632898582, 0.31370664587788728734},
                                                     {0.79666647741362673959, 0.22238103445337447054},
                                                     {0.96028985649753623168, 0.10122853629037625915}}};

}  // namespace

// log K = int_0^1 (e^{beta(1-g)} - 1)/((1-g)(1+(n-1)g)) dg. With w = 1 - g the integrand is
//     expm1(beta w)/w / (n - (n-1) w),
// smooth on [0, 1] but with a pole close beyond w = 1 when n is large and e^{beta w} steep. v = -log(1 - (n-1)w/n) maps
// the pole away: dw/(n - (n-1)w) = dv/(n-1). Gauss-Legendre panels over v, halved until two levels agree.
double log_consensus_constant(double tokens, double beta) {
    const double n = tokens;
    const double end = std::log(n);  // v at w = 1
    const auto log_integrand = [&](double v) {
        const double w = -std::expm1(-v) * n / (n - 1);
        const double x = beta * w;
        // log(expm1(x)/w), without overflow
        const double ratio = x > 30 ? x + std::log1p(-std::exp(-x)) - std::log(w)
                                    : std::log(std::abs(x) < 1e-12 ? beta : std::expm1(x) / w);
        return ratio - std::log(n - 1);
    };
    if (beta == 0) {
        return 0;
    }
    const double top = log_integrand(end);  // the integrand grows with w
    const auto total = [&](int panels) {
        double sum = 0;
        for (int p = 0; p < panels; ++p) {
            const double half = end / panels / 2;
            const double centre = (2 * p + 1) * half;
            for (const GaussPoint& point : gauss_points) {
                sum += half * point.weight * std::exp(log_integrand(centre - half * point.node) - top);
                sum += half * point.weight * std::exp(log_integrand(centre + half * point.node) - top);
            }
        }
        return sum;
    };
    int panels = 16;
    double before = total(panels);
    for (;;) {
        panels *= 2;
        const double now = total(panels);
        if (std::abs(now - before) <= 1e-14 * std::abs(now) || panels > 1 << 16) {
            return now * std::exp(top);
        }
        before = now;
    }
}

}  // namespace flyball::theory
