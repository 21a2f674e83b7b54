// A scheme on vectors: one layer, its velocity in the limit dt -> 0, its manifold, its readout.
//
//     layer       x <- S(x, dt)                         one whole block on all streams
//     N0          x <- S(x, 0)                          the projection to the manifold the limit lives on
//     velocity    d/d(dt) of N0(S(x, dt; t); t + dt) at dt = 0      exact, by dual numbers
//
// The derivative of S alone is wrong when a stream is normalised anywhere but outermost (norm(x) + dt*f(norm(x))),
// hence the N0 around it. It is that of the next moment: where N0 gives a stream a length that depends on t, the stream
// follows it. Layers with dt -> 0 are the arbiter in the tests. "No limit" is an answer, given as a sentence.
//
// Not here: what a sub-layer computes. The caller passes it as a function of all rows.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "scheme/row_machine.hpp"

namespace flyball::scheme {

template <class Real>
struct State {
    std::size_t rows = 0;
    std::size_t dim = 0;
    std::vector<std::vector<Real>> streams;  // [streams][rows, dim], in the order of Program::streams()
    std::vector<Real> embedding;             // [rows, dim]: x0

    // Every stream starts at the embedding.
    static State start(const Program& program, std::size_t rows, std::size_t dim, std::vector<Real> embedding);
};

template <class Real>
class RowStep {
  public:
    RowStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim);
    // The same for rows that are written in `dim` orthonormal coordinates of the caller's choice, another choice for
    // every row, of vectors that live in R^space: sums, unit and rms do not care. A program that does (plane_problem
    // says so: ln, tanh, an added channel) must not be given.
    RowStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim, std::size_t space);

    void layer(const Environment& env, State<Real>& state, SubLayerFunction<Real> f,
               const BlockParameters<Real>& parameters = {});

    // These return why there is no limit, or nothing. `env.dt` is ignored: dt is 0 here.
    std::optional<std::string> project(const Environment& env, State<Real>& state);
    // slopes: [streams][rows, dim]. Expects a state on the manifold (project it first); calls f once per call in the
    // text.
    std::optional<std::string> velocity(const Environment& env, const State<Real>& state, SubLayerFunction<Real> f,
                                        std::vector<std::vector<Real>>& slopes);

    // The part of it that is there without S: how N0 moves with t at a state that rests.
    std::optional<std::string> drift(const Environment& env, const State<Real>& state,
                                     std::vector<std::vector<Real>>& slopes);

    // out: [rows, dim], the readout after the last block.
    void readout(const Environment& env, const State<Real>& state, std::vector<Real>& out,
                 const BlockParameters<Real>& parameters = {});

    // The same with its derivative, which `slopes`, the velocities of the streams, and t itself give it. False where it
    // changes infinitely fast with t.
    bool readout(const Environment& env, const State<Real>& state, const std::vector<std::vector<Real>>& slopes,
                 std::vector<Real>& out, std::vector<Real>& out_slope);

  private:
    struct Variant {  // the code for one outcome of the conditions
        std::vector<bool> decisions;
        RowMachine<Real> machine;
    };
    RowMachine<Real>& block_machine(const Environment& env);
    RowMachine<Real>& readout_machine(const Environment& env);
    void prepare_in_time(RowMachine<Real>& machine, const Environment& env, Run run, bool entry_slopes) const;
    std::optional<std::string> without_limit(const RowMachine<Real>& machine,
                                             std::vector<std::vector<Real>>& slopes) const;

    Program program_;
    SubLayers sub_layers_;
    std::size_t rows_;
    std::size_t dim_;
    std::size_t space_;
    std::deque<Variant> blocks_;
    std::deque<Variant> readouts_;
    std::vector<std::vector<Real>> middle_primal_;  // between S and N0
    std::vector<std::vector<Real>> middle_slope_;
};

extern template struct State<float>;
extern template struct State<double>;
extern template class RowStep<float>;
extern template class RowStep<double>;

}  // namespace flyball::scheme
