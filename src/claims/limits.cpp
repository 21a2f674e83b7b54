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
)";
    group.themes = {limits_weights_claims,     limits_distance_claims, limits_separation_claims,
                    limits_sensitivity_claims, limits_model_claims,    limits_placement_claims};
    return group;
}

}  // namespace flyball::claims
