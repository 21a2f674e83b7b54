// The velocity of a scheme in each token's own frame, where slow motion keeps its digits.
//
// Every vector that belongs to token j is written as d + 1 numbers: its part along theta_j = x_j/|x_j|, and its part
// across, in ambient coordinates. The change is an isometry, so sums, unit and rms are the same numbers (RowStep with
// `space`), x_j itself is (r_j, 0, ..., 0) without rounding, and attention comes in two parts that never meet
// (attention/own_frame.hpp). The velocity is handed back as along' theta_j + across'. A turn of 10^-70 survives.
//
// For identity weights, double, no FFN, and equations that act on whole vectors (plane_problem). Exact when f sees
// multiples of x_j and x' needs no other stream: then every digit of a turn is right. Otherwise f is evaluated in
// ambient coordinates, other streams have the rounding of their own length, and `doubt` says how much that is.
//
// Tokens that have merged move as one direction with several radii: see fusing.hpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "attention/own_frame.hpp"
#include "dynamics/problem.hpp"
#include "scheme/rows.hpp"

namespace flyball::dynamics {

using Values = std::vector<double>;  // [systems*tokens] or [systems*tokens, dim]

// A turn that rounding makes by itself is of size 1e-16 a unit of time. In runs up to this time it stays far below any
// tolerance of the integrators, and the fast kernels do; longer runs are followed in the frame.
inline constexpr double slow_time = 1e4;

class OwnFrame {
  public:
    // f in ambient coordinates, for inputs that are not multiples of x.
    using Ambient = std::function<void(const double* in, double* out)>;

    static bool applies(const Problem& problem, const Control& control);
    // Nothing where the frame does not apply.
    static std::unique_ptr<OwnFrame> make(const Problem& problem, const Control& control, Ambient ambient);

    // leader: [rows], for every token the first token of its group (itself when alone). The state is projected to the
    // manifold first, so that it may lie beside it. One evaluation of attention per call in the text.
    void velocity(const scheme::Environment& env, const scheme::State<double>& state,
                  const std::vector<std::size_t>& leader, std::vector<Values>& slopes);

    // |theta'| of the readout: [rows]. Infinite where the readout changes infinitely fast with t.
    void speed(const scheme::Environment& env, const scheme::State<double>& state,
               const std::vector<std::size_t>& leader, Values& speeds);

    // What fusing looks at: every token by itself, as if no group held it.
    struct Motion {
        Values theta;  // [rows, dim], the same numbers within a group
        Values turn;   // [rows, dim]: theta'
        Values rate;   // [rows]: at which its ties to `group` pull a token back to it
    };
    void motion(const scheme::Environment& env, const scheme::State<double>& state,
                const std::vector<std::size_t>& leader, const std::vector<std::size_t>& group, Motion& motion);
    // theta' of each group from those of its tokens, in place.
    void share(const std::vector<std::size_t>& leader, Values& turn) const;

    // How fast rounding alone may turn a token beside how fast it turns: [rows] each. Zero doubt: all digits are right.
    void doubt(const scheme::Environment& env, const scheme::State<double>& state,
               const std::vector<std::size_t>& leader, Values& doubt, Values& speed);

    std::size_t attention_calls() const { return attention_calls_; }  // so far

  private:
    static constexpr double least_probe = 1e-150;  // its square is still a number

    OwnFrame(const Problem& problem, Ambient ambient);
    enum class Answer { whole, probe, shaken };  // what f gives: see answer()
    void load(const scheme::Environment& env, const scheme::State<double>& state,
              const std::vector<std::size_t>& leader);
    void evaluate(const scheme::Environment& env, Answer answer);
    void answer(Answer kind, const double* in, double* out);
    void attend(const double* in, double* out);
    void turn_of(Values& turn) const;
    void find_answers(const scheme::Environment& env);

    std::size_t rows_;
    std::size_t dim_;
    bool causal_;
    attention::Shape shape_;
    attention::Settings attention_;
    Ambient ambient_;
    scheme::RowStep<double> step_;  // on rows of dim + 1
    scheme::State<double> framed_;  // [rows, dim + 1]
    std::vector<Values> slopes_;    // of framed_
    std::vector<bool> fixed_;       // [rows]: N0 sets the length of x, which then changes with t alone
    std::vector<Values> drift_;     // of framed_: how N0 changes with t
    Values theta_;                  // [rows, dim]
    Values scale_;                  // [rows]: what f saw last, as multiples of theta
    Values along_;                  // [rows]
    Values across_;                 // [rows, dim]
    Values log_divisor_;            // [rows]
    Values tie_;                    // [rows]
    Values answers_;                // [rows]: theta' for a unit part across of f
    std::vector<std::size_t> group_;
    std::vector<Values> heard_;  // what f gave in this evaluation, call by call; replayed by probes
    std::size_t replayed_ = 0;
    bool exact_ = true;  // f saw multiples of theta only
    std::size_t attention_calls_ = 0;
    Values ambient_in_;
    Values ambient_out_;
};

// Whether a run follows motion of any size: it is long, and in the frame.
bool follows_slow_motion(const Problem& problem, const Control& control);

}  // namespace flyball::dynamics
