#include "claims/stability.hpp"

namespace flyball::claims {

Group stability_group() {
    Group group;
    group.name = "stability";
    group.head = R"(## Stability of Transformers under Layer Normalization

The claims of "Stability of Transformers under Layer Normalization" (Kan, Li, Zhang, Sahai, Osher, Kumar, Katsoulakis,
arXiv:2510.09904) that can be run, and what we found beyond it: `./flyball reproduce stability`. Where the paper gives an
order of growth we give the constant. Bounds are tried on small models with drawn weights, each also on one that attains it:
a bound that is 2 % too sharp or too weak changes the verdict. docs/stability.md has the numbers, and how models are trained
for the claims about training.
)";
    group.themes = {stability_forward_claims,       stability_pre_claims,          stability_start_claims,
                    stability_jacobian_claims,      stability_w_out_claims,        stability_trained_step_claims,
                    stability_trained_depth_claims, stability_trained_flow_claims, stability_trained_backward_claims,
                    stability_trained_decay_claims};
    return group;
}

}  // namespace flyball::claims
