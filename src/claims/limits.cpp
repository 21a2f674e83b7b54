#include "claims/limits.hpp"

namespace flyball::claims {

Group limits_group() {
    Group group;
    group.name = "limits";
    group.head = R"(## Limitations of Normalization in Attention Mechanism

The claims of "Limitations of Normalization in Attention Mechanism" (Mudarisov, Burtsev, Petrova, State, arXiv:2508.17821)
that can be run, and what we found beyond it: `./flyball reproduce limits`. Theorems are tried on rows made for the purpose,
each bound also on one that attains it: a bound that is 2 % too sharp or too weak changes the verdict. What the paper
measures on GPT-2 is measured on the shipped model builtin:pre-ln and its text, or on a model and a text of your own; the
verdicts recorded here are those of the shipped model, and docs/limits.md has those of a real one beside them.

Symbols: a query sees L keys with weights `alpha_i` and vectors `x_i`, and selects the N keys of largest weight; `a_i` =
`alpha_i x_i`, s is the sum of `a_i` over the selected keys and abar that of their weights; `N_s` counts the selected keys
that are closer to s than every key that is not selected, and r is the distance of the nearest of the latter; d1, M, `xi_i` and `zeta_i` are
distances that appear in the bounds; F turns logits into weights before they are divided by their sum Z; T is the
temperature, J the matrix of derivatives of the weights with respect to the logits, eps the size of a finite move of the
logits, H the number of heads. docs/limits.md explains the quantities.
)";
    group.themes = {limits_weights_claims,     limits_distance_claims, limits_separation_claims,
                    limits_sensitivity_claims, limits_model_claims,    limits_placement_claims};
    return group;
}

}  // namespace flyball::claims
