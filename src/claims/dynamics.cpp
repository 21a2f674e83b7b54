#include "claims/dynamics.hpp"

namespace flyball::claims {

Group dynamics_group() {
    Group group;
    group.name = "dynamics";
    group.head = R"(## Normalization in Attention Dynamics

Every claim of "Normalization in Attention Dynamics" (Karagodin, Ge, Polyanskiy, Rigollet, arXiv:2510.22026) that can be
run, and what we found beyond it: `./flyball reproduce dynamics`. Measurements come from the equation: velocities by dual
numbers, particle runs, the reduced law.

Symbols: n tokens of d channels; theta is the direction of a token and r its length, `|A|` the length of what attention
gives it; s is the factor by which a scheme slows a token down; t is time, that is depth; beta is the inverse
temperature of attention; gamma is the cosine that all pairs have in common; Var is the mean squared distance of
directions from their mean; alpha is the step size of nGPT. Tokens *synchronise*, or reach *consensus*, when all have one
direction. docs/concepts.md explains these words.
)";
    group.themes = {dynamics_table_claims,       dynamics_sync_claims,      dynamics_sync_edges_claims,
                    dynamics_energy_claims,      dynamics_symmetric_claims, dynamics_terminal_claims,
                    dynamics_start_claims,       dynamics_cone_claims,      dynamics_cone_opening_claims,
                    dynamics_random_claims,      dynamics_growth_claims,    dynamics_curves_claims,
                    dynamics_headline_claims,    dynamics_clock_claims,     dynamics_findings_claims,
                    dynamics_output_norm_claims, dynamics_sublayers_claims, dynamics_trained_claims};
    return group;
}

}  // namespace flyball::claims
