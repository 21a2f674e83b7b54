// Charts of the direction, frames, and attention in the plane: each formula in the form that keeps its digits.
#include "theory/direction.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace flyball::theory {

using scheme::PlaneVector;

namespace {

// exp(-300) times the largest and smallest coefficients is still a normal number. What counts is the component a, hence
// the length: a raw stream may be long while a token's own share of it is not small, and where it is short, a must not
// fall below the numbers a double has.
double floor_of(double log_length) {
    return log_length > 0 ? std::max(-300 - log_length, -680.0) : std::max(-300.0, -680 - log_length);
}

constexpr double log_below = 1e-3;  // eta below: take its logarithm

}  // namespace

double Direction::eta() const {
    return chart == Chart::zeta ? eta_sign * std::exp(std::max(value, floor_of(log_length))) : value;
}

// |a e + b s|^2 = a^2 + 2 a b + n b^2 = 1 gives a = 1/sqrt(1 + 2 rho + n rho^2), or b = 1/sqrt(eta^2 + 2 eta + n).
PlaneVector Direction::unit(double n) const {
    if (chart == Chart::rho) {
        const double a = sign / std::sqrt(1 + value * (2 + n * value));
        return {a, value * a};
    }
    const double e = eta();
    const double b = sign / std::sqrt(e * e + 2 * e + n);
    return {e * b, b};
}

//     rho    a' = -a^3 (1 + n rho)      b' = a + rho a'             since b = rho a
//     eta    b' = -b^3 (1 + eta)        a' = b + eta b'             since a = eta b
//     zeta   the same times eta         d eta/d zeta = eta
PlaneVector Direction::turn(double n) const {
    if (chart == Chart::rho) {
        const double a = sign / std::sqrt(1 + value * (2 + n * value));
        const double change = -a * a * a * (1 + n * value);
        return {change, a + value * change};
    }
    const double e = eta();
    const double b = sign / std::sqrt(e * e + 2 * e + n);
    const double change = -b * b * b * (e + 1);
    const double scale = chart == Chart::zeta ? e : 1;  // zeta = log eta
    return {scale * (b + e * change), scale * change};
}

double Direction::cosine(double n) const {
    if (chart == Chart::rho) {
        const double above = value * (2 + n * value);
        return above / (1 + above);
    }
    const double e = eta();
    return (2 * e + n) / (e * e + 2 * e + n);
}

double Direction::log_one_minus_cosine(double n) const {
    if (chart == Chart::rho) {
        return -std::log1p(value * (2 + n * value));
    }
    const double e = eta();
    return 2 * (chart == Chart::zeta ? value : std::log(std::abs(e))) - std::log(e * e + 2 * e + n);
}

double Direction::log_relative_speed(double n, double rate, double& sign_of_speed) const {
    const double log2 = std::numbers::ln2;
    if (chart == Chart::rho) {
        const double slope = 1 + n * value;
        sign_of_speed = std::copysign(1.0, rate) * std::copysign(1.0, slope);
        return log2 + std::log(std::abs(slope)) + std::log(std::abs(rate)) - std::log1p(value * (2 + n * value));
    }
    // d log(1 - gamma)/d eta = 2 (eta + n)/(eta (eta^2 + 2 eta + n)), and zeta' = eta'/eta.
    const double e = eta();
    sign_of_speed = -std::copysign(1.0, rate) * std::copysign(1.0, e + n);
    double result = log2 + std::log(std::abs(e + n)) - std::log(e * e + 2 * e + n) + std::log(std::abs(rate));
    if (chart == Chart::eta) {
        sign_of_speed *= std::copysign(1.0, e);
        result -= std::log(std::abs(e));
    }
    return result;
}

double Direction::speed(double n, double rate) const {
    if (chart == Chart::rho) {
        const double size = 1 + value * (2 + n * value);
        return 2 * (1 + n * value) / size * rate / size;
    }
    const double e = eta();
    const double size = e * e + 2 * e + n;
    return -2 * e * (e + n) / size * (chart == Chart::zeta ? rate * e : rate) / size;
}

Direction Direction::of(const PlaneVector& x, double n, bool may_take_log) {
    Direction result;
    if (std::abs(x.b) <= std::abs(x.a)) {
        result.value = x.b / x.a;
        result.sign = std::copysign(1.0, x.a);
        return result;
    }
    result.chart = Chart::eta;
    result.value = x.a / x.b;
    result.sign = std::copysign(1.0, x.b);
    return result.recharted(n, may_take_log);
}

Direction Direction::in(Chart other) const {
    if (other == chart) {
        return *this;
    }
    const double ratio = chart == Chart::rho ? value : eta();  // b/a or a/b
    const bool turned = (chart == Chart::rho) != (other == Chart::rho);
    Direction result = *this;
    result.chart = other;
    result.value = turned ? 1 / ratio : ratio;
    result.sign = turned ? sign * std::copysign(1.0, ratio) : sign;
    if (other == Chart::zeta) {
        result.eta_sign = std::copysign(1.0, result.value);
        result.value = std::log(std::abs(result.value));
    }
    return result;
}

// rho up to 2, eta below; back at |eta| = 1; zeta once |eta| is below 1e-3, where a sign change is excluded.
Direction Direction::recharted(double n, bool may_take_log) const {
    Direction result = *this;
    if (chart == Chart::rho && std::abs(value) > 2) {  // hysteresis: 2 here, 1 on the way back
        result.chart = Chart::eta;
        result.value = 1 / value;
        result.sign = sign * std::copysign(1.0, value);
    } else if (chart != Chart::rho && std::abs(eta()) > 1) {
        const double e = eta();
        result = {};
        result.value = 1 / e;
        result.sign = sign * std::copysign(1.0, e);
    }
    if (result.chart == Chart::eta && may_take_log && result.value != 0 && std::abs(result.value) < log_below) {
        result.chart = Chart::zeta;
        result.eta_sign = std::copysign(1.0, result.value);
        result.value = std::log(std::abs(result.value));
    }
    static_cast<void>(n);
    return result;
}

// From W = a b' - b a' of the unit vector and its velocity:
//
//     rho' = W/a^2        eta' = -W/b^2        zeta' = eta'/eta = -W/(a b)
//
// In its own frame u = (1, 0), so that the difference is one number and nothing cancels.
double Direction::rate(const Frame& frame, bool own_frame, const PlaneVector& v, double n) const {
    const PlaneVector u = unit(n);
    if (chart != Chart::rho && !own_frame) {
        // (eta'/eta) = a'/a - b'/b: no product of small numbers.
        const double relative = (v.a == 0 ? 0 : v.a / u.a) - v.b / u.b;
        return chart == Chart::zeta ? relative : u.a == 0 ? v.a / u.b : value * relative;
    }
    const double wedge = (own_frame ? v.b : u.a * v.b - u.b * v.a) * frame.wedge();  // a b' - b a'
    if (wedge == 0) {
        return 0;
    }
    return chart == Chart::rho ? wedge / u.a / u.a : chart == Chart::eta ? -wedge / u.b / u.b : -wedge / u.a / u.b;
}

Frame Frame::of(const Direction& direction, double n) {
    const PlaneVector u = direction.unit(n);
    const double overlap = u.a + n * u.b;  // <g, s>
    // Near consensus g is nearly parallel to s, and orthogonal to it there is no s': {e, s} serves well in both cases.
    if (!(u.a * u.a >= 1e-3) || !(overlap * overlap >= 1e-6)) {
        return standard(n);
    }
    return {u.a, u.b, 1 / overlap, n / (overlap * overlap)};
}

// What rounding leaves of a vector along g is nothing: it would turn tokens that no longer move, by 1e-8 within
// t = 1e94.
PlaneVector Frame::from_plane(const PlaneVector& x) const {
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    const double along = x.a / alpha;
    const double across = x.b - along * kappa;
    return {along, std::abs(across) <= rounding * std::abs(x.b) ? 0 : across / sigma};
}

HeadWeights head_weights(double beta, double n, double a) {
    if (beta == 0 || a == 0) {
        return {0, 1 / n};
    }
    const double exponent = beta * a * a;
    const double q = std::exp(-exponent);
    return {-std::expm1(-exponent) / (1 + (n - 1) * q), q / (1 + (n - 1) * q)};
}

PlaneVector attention(const std::vector<double>& betas, double n, const Frame& frame, const PlaneVector& z,
                      bool& lost) {
    HeadWeights mean;
    for (const double beta : betas) {
        const HeadWeights head = head_weights(beta, n, z.a * frame.alpha);
        mean.own += head.own;
        mean.other += head.other;
    }
    lost = lost || mean.other == 0;
    const auto heads = static_cast<double>(betas.size());
    // <z, s> s = (z.a + n' z.b)/sigma^2 s'
    const double turn = (z.a + frame.metric * z.b) / (frame.sigma * frame.sigma);
    return {mean.own / heads * z.a, mean.own / heads * z.b + mean.other / heads * turn};
}

}  // namespace flyball::theory
