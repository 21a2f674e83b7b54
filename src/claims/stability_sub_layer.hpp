// One sub-layer with a norm in one of four places, at one input: what the claims about gradients share.
#pragma once

#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "claims/stability_models.hpp"

namespace flyball::claims {

const char* title_of_placement(Placement placement);
// Of one sub-layer: "attn" or "ffn".
std::string equation_of(Placement placement, const std::string& f);

struct SubLayerCase {
    model::Model<double> model;
    std::string f;
    std::vector<double> x0;
};

// Of the norm with this number, from 0, in the order in which they are evaluated.
double largest_gain(const model::Model<double>& model, std::size_t norm);

// What each token's x and a (Post-LN: u = x + Dt a) are divided by.
struct Divisors {
    std::vector<double> in, out;
};
Divisors divisors_of(const model::Model<double>& model, Placement placement, const std::vector<double>& x0,
                     const std::vector<double>& a);

double mean_number(const std::vector<double>& values);
double least_number(const std::vector<double>& values);
// The numbers of its bounds, with what `over_tokens` makes of the divisors.
BlockNumbers block_numbers(const SubLayerCase& one, Placement placement,
                           double (*over_tokens)(const std::vector<double>&));

// Drawn weights, tokens of different lengths; attention for even seeds, otherwise an FFN.
SubLayerCase drawn_case(Placement placement, std::uint64_t seed);

// An FFN that is linear where it is used, F(z) = w <w, z> strength + c, with x, w and c at right angles: the Jacobian
// lengthens w most, and no norm takes anything from it.
SubLayerCase attaining_case(Placement placement);

// A bound that is never exceeded, and attained within 1 %.
Measurement bounded(double random, double attained, const std::string& predicted);

Claim of_placement(const std::string& id, const std::string& statement, Placement placement,
                   Measurement (*experiment)(const Context&, Placement));

struct NamedPlacement {
    Placement placement;
    const char* name;
};
inline constexpr NamedPlacement named_placements[] = {
    {Placement::pre, "pre"}, {Placement::peri, "peri"}, {Placement::post, "post"}, {Placement::output, "output"}};

}  // namespace flyball::claims
