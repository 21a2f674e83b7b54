// Modified Bessel functions, as the Fourier kernel on the circle needs them.
#pragma once

#include <vector>

namespace flyball::attention {

// e^-|beta| I_m(beta), m = 0 .. until negligible (1e-17) beside m = 0.
std::vector<double> scaled_bessel(double beta);

}  // namespace flyball::attention
