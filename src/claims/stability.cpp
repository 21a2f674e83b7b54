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

Symbols: `x_l` is the stream after l sub-layers, or after l blocks where gradients of blocks are compared, of a model of
L blocks, `x_L` the last one, `sigma_l` its root mean square (rms), `dL/dx_l` the gradient of the loss; Dt is the
residual step, `s_i` the rms of what sub-layer i adds (its branch); gamma and b are the gains and the bias of a norm, R
is the longest vector it can give; `W_out` and `b_out` are the last matrix and bias of a sub-layer, h is what `W_out` is
multiplied with, delta the gradient that arrives, `L_F` the largest factor of the sub-layer without norms, and s(x),
s(a), s(u) are what a norm divides its input by. docs/stability.md explains these words.
)";
    group.themes = {stability_forward_claims,       stability_pre_claims,          stability_start_claims,
                    stability_jacobian_claims,      stability_w_out_claims,        stability_trained_step_claims,
                    stability_trained_depth_claims, stability_trained_flow_claims, stability_trained_backward_claims,
                    stability_trained_decay_claims};
    return group;
}

}  // namespace flyball::claims
