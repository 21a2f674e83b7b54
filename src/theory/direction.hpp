// The direction of an equiangular configuration as one number, and frames in which slow motions keep their digits.
//
// x_j = a e_j + b s with s = sum_k e_k. The direction is rho = b/a near orthogonality (gamma ~ 2 rho, down to 1e-300)
// and eta = a/b near consensus (1 - gamma ~ eta^2/n, down to 1e-300, and as zeta = log eta without bound):
//
//     1 - gamma = 1/(1 + 2 rho + n rho^2) = eta^2/(eta^2 + 2 eta + n)
//
// Attention of one head on z_j = a e_j + b s: all other tokens have one weight, since <z_j, z_k> = |z_j|^2 - a^2, and
//
//     A(z_j) = c z_j + w sum_k z_k = c z + w <z, s> s         w = q/(1 + (n-1) q)        weight of another token
//                                                             c = (1-q)/(1 + (n-1) q)    one's own weight less w
//                                                             q = exp(-beta a^2)
//
// A frame {g, s'} has a unit vector g of the plane and s' parallel to s with <g, s'> = 1, so its metric is that of {e,
// s} with n' = |s'|^2 in place of n, and scheme::PlaneStep runs in it unchanged. In the frame of x itself, g = x/|x|, A
// has its radial part in the first coordinate and the turning part, however small, alone in the second. In {e, s} the
// difference of the two would drown in rounding as soon as the turning rate is below 1e-16: beta > 37.
#pragma once

#include "scheme/plane.hpp"

namespace flyball::theory {

struct Frame;

enum class Chart { rho, eta, zeta };

struct Direction {
    Chart chart = Chart::rho;
    double value = 0;
    double sign = 1;        // of a (rho) or of b (eta, zeta)
    double eta_sign = 1;    // zeta only
    double log_length = 0;  // zeta only: how long the vector is

    double eta() const;  // eta, zeta; far down a tiny stand-in, where everything is linear in eta
    // The unit vector a e + b s.
    scheme::PlaneVector unit(double n) const;
    // d unit/d value.
    scheme::PlaneVector turn(double n) const;
    double cosine(double n) const;
    double log_one_minus_cosine(double n) const;
    // log |d cosine/dt|/(1 - cosine) and the sign of d cosine/dt, from d value/dt.
    double log_relative_speed(double n, double rate, double& sign_of_speed) const;

    // d cosine/dt itself, where it is within the range of numbers.
    double speed(double n, double rate) const;

    // `may_take_log`: nothing but attention acts on this stream, so that eta cannot change its sign.
    static Direction of(const scheme::PlaneVector& x, double n, bool may_take_log);
    // The same direction as a number of another chart; infinite where that has none for it.
    Direction in(Chart other) const;
    // The same direction in the chart that suits it now.
    Direction recharted(double n, bool may_take_log) const;
    // d value/dt from x' = v |x|, both in the frame; in its own frame x is (1, 0) without rounding.
    double rate(const Frame& frame, bool own_frame, const scheme::PlaneVector& v, double n) const;
};

struct Frame {
    double alpha = 1;  // g = alpha e + kappa s
    double kappa = 0;
    double sigma = 1;   // s' = sigma s
    double metric = 1;  // n' = |s'|^2

    static Frame standard(double n) { return {1, 0, 1, n}; }
    static Frame of(const Direction& direction, double n);

    scheme::PlaneVector from_plane(const scheme::PlaneVector& x) const;
    double wedge() const { return alpha * sigma; }  // a b' - b a' of the frame's own two vectors
};

// One head of attention with identity weights: A(z) = own z + other <z, s> s. beta >= 0; a may be infinite.
struct HeadWeights {
    double own = 0;
    double other = 0;
};
HeadWeights head_weights(double beta, double n, double a);

// The mean over heads, in a frame. `lost` becomes true where all weights of other tokens are below the smallest number.
scheme::PlaneVector attention(const std::vector<double>& betas, double n, const Frame& frame,
                              const scheme::PlaneVector& z, bool& lost);

}  // namespace flyball::theory
