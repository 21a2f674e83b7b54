// Tokens that have merged, carried as one direction with several radii.
//
// Two tokens whose directions agree to rounding go on pulling at each other at rate about 1, with forces made of
// rounding errors. Beside them nothing slower than 10^-16 can be followed by any integrator, and an explicit one takes
// steps of length 1 for ever. From the moment a run can no longer tell two tokens apart they therefore share one
// direction, and the group moves as its tokens would together (OwnFrame::share). Radii stay the tokens' own.
//
// Tokens j and k are fused after an accepted step, with h the step that the integrator would take next (t itself may
// stand still at 1e22, so that the length of the last one cannot be read from it), when
//
//     |theta_j - theta_k| <= tolerance             of the run: rtol, between 1e-14 and 1e-8
//     d/dt |theta_j - theta_k| <= 0                they do not fall apart from an unstable balance
//     h rate >= 1/2                                the step has jumped over their relaxation: all else is slower
//
// with `rate` their mutual pull. What could come between them later is watched too: a token that its own velocity would
// hold further than `parting` times the tolerance from its group, |theta'_j - theta'| / rate_j, leaves it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dynamics/own_frame.hpp"

namespace flyball::dynamics {

// An entry of the record: at t these tokens of a system became one direction, or, where `apart` is set, left theirs.
struct Fusing {
    double t = 0;
    std::size_t system = 0;
    std::vector<std::size_t> tokens;  // increasing; the whole group
    bool apart = false;
    bool operator==(const Fusing&) const = default;
};

class Groups {
  public:
    Groups(std::size_t systems, std::size_t tokens);

    // [systems*tokens]: the row of the first token of its group, for every token.
    const std::vector<std::size_t>& leaders() const { return leader_; }
    bool any() const { return any_; }

    // Gives every token of a group the direction of its first, at its own length. x: [systems*tokens, dim].
    void share_directions(Values& x, std::size_t dim) const;

    // Everything that has happened so far, which is also all there is to know: a run taken up sets it again.
    const std::vector<Fusing>& history() const { return history_; }
    void set_history(std::vector<Fusing> history);

    // Called after an accepted step, with h the next one to try. True when groups changed. `move` evaluates OwnFrame::motion with the
    // leaders of now and the groups it is given, and returns the motion together with the shared one.
    struct Moved {
        OwnFrame::Motion alone;
        Values shared;  // theta' of the groups of now
    };
    using Move = std::function<void(const std::vector<std::size_t>& group, Moved& moved)>;
    bool update(double t, double h, double tolerance, std::size_t dim, const Values& theta, const Move& move);

  private:
    void apply(const Fusing& fusing);
    bool part(double t, double tolerance, std::size_t dim, const Moved& moved);

    std::size_t systems_;
    std::size_t tokens_;
    std::vector<std::size_t> leader_;
    std::vector<Fusing> history_;
    bool any_ = false;
};

// History as plain numbers for restart points: t, system, apart, count, tokens...
std::vector<double> packed(const std::vector<Fusing>& history);
std::vector<Fusing> unpacked_fusings(const std::vector<double>& numbers);

}  // namespace flyball::dynamics
