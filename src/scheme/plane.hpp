// A scheme in the plane of an equiangular configuration.
//
// When all tokens have the same length and every pair the same angle, each stream is x_j = a e_j + b sum_k e_k with
// e_1..e_n orthonormal, and the two numbers (a, b) say everything:
//     |x|^2 = a^2 + 2ab + n b^2,   <x_j, x_k> = 2ab + n b^2,   1 - gamma = a^2/|x|^2      without cancellation
// Sums, scalars, unit, rms and attention with identity weights keep that form, so the reduced law of any equation is
// the equation itself evaluated on (a, b). Coordinate-wise operations (ln, tanh, erf, an FFN) do not: plane_problem
// names them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "scheme/code.hpp"
#include "scheme/environment.hpp"

namespace flyball::scheme {

struct PlaneVector {
    double a = 0;  // along the token's own direction
    double b = 0;  // along the common direction
};

double squared_length(const PlaneVector& x, double n);
double one_minus_cosine(const PlaneVector& x, double n);

// out = f(in) in the plane; the caller supplies attention.
using PlaneFunction = FunctionRef<PlaneVector(const PlaneVector& in)>;

// Why this program has no reduced law, or nothing. Particles without an FFN.
std::optional<std::string> plane_problem(const Program& program, const Environment& env);

// The same three evaluations as rows.hpp, on streams in the plane. n = env.n.
class PlaneStep {
  public:
    explicit PlaneStep(const Program& program) : program_(program) {}

    std::optional<std::string> layer(const Environment& env, std::vector<PlaneVector>& streams,
                                     const PlaneVector& embedding, PlaneFunction f);
    std::optional<std::string> project(const Environment& env, std::vector<PlaneVector>& streams,
                                       const PlaneVector& embedding);
    // `parts`: how long together the vectors were that each slope is the sum of. What is less than their rounding is
    // nothing.
    std::optional<std::string> velocity(const Environment& env, const std::vector<PlaneVector>& streams,
                                        const PlaneVector& embedding, PlaneFunction f, std::vector<PlaneVector>& slopes,
                                        std::vector<double>* parts = nullptr);
    std::optional<std::string> readout(const Environment& env, const std::vector<PlaneVector>& streams,
                                       const PlaneVector& embedding, PlaneVector& out);
    // How the readout moves when the streams move with these slopes, at fixed t.
    std::optional<std::string> readout_slope(const Environment& env, const std::vector<PlaneVector>& streams,
                                             const std::vector<PlaneVector>& slopes, const PlaneVector& embedding,
                                             PlaneVector& slope);

  private:
    struct Variant {  // the code for one outcome of the conditions
        std::vector<bool> decisions;
        Code block;
        Code readout;
    };
    const Variant& variant(const Environment& env);

    Program program_;
    std::deque<Variant> variants_;
};

}  // namespace flyball::scheme
