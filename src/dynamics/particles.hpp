// A system of particles under a scheme: what the integrators and the layers call.
//
// Rows are [systems*tokens, dim]. The state is double; --precision f32 evaluates attention, where the time goes, in
// float.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "dynamics/fusing.hpp"
#include "dynamics/observables.hpp"
#include "dynamics/own_frame.hpp"
#include "dynamics/problem.hpp"
#include "measure/rows.hpp"
#include "scheme/rows.hpp"

namespace flyball::dynamics {

class Particles {
  public:
    Particles(Problem problem, const Control& control);  // takes the start out of the problem
    Particles(const Particles&) = delete;
    Particles& operator=(const Particles&) = delete;

    const Problem& problem() const { return problem_; }
    scheme::State<double>& state() { return state_; }
    std::size_t numbers() const;  // in all streams together
    void copy_to(double* y) const;
    void copy_from(const double* y);

    // Why this equation has no ODE limit, or nothing.
    std::optional<std::string> limit_problem() const;

    // t is clamped into (begin, end], so that no step looks across a switch.
    void set_segment(double begin, double end);
    void project(double t);
    void velocity(double t, std::vector<std::vector<double>>& slopes);
    void velocity(double t, const double* y, double* slope);  // at N0(y), which becomes the state
    void layer(std::size_t l);

    // Whether velocities come from the tokens' own frames, because the run is so long that slow motion matters: see
    // own_frame.hpp. Merged tokens are then fused, see fusing.hpp.
    bool slow() const { return slow_; }
    // After an accepted step of length h: tokens that the run can no longer tell apart become one direction. True when
    // that happened; velocities before and after differ then.
    bool fuse(double t, double h);
    const std::vector<Fusing>& fusings() const { return groups_.history(); }
    void set_fusings(std::vector<Fusing> history) { groups_.set_history(std::move(history)); }

    // Whether rounding alone may have turned a token noticeably by now, while its own motion is too slow to be seen.
    // Costs an evaluation; may_lose_digits is false, for nothing, as long as t is small.
    bool may_lose_digits(double t) const;
    bool digits_lost(double t);

    // speed_before: the least mean speed of a system at the sample before, infinite where there is none. It says where
    // to look for the speed first, so that most samples cost one evaluation; what is found does not depend on it.
    Measurement measure_ode(double t, double speed_before);
    // One observable, as cheaply as it can be had.
    double observe_ode(double t, const SampleField& field, double speed_before);
    Measurement measure_layers(std::size_t layers_done, const std::vector<double>* theta_before);
    void set_pair_cosine(double level) { pair_cosine_ = level; }  // of the pair fraction that is measured
    const std::vector<double>& theta() const { return theta_; }   // of the last measurement

    const std::vector<double>& x() const { return state_.streams[0]; }

    std::string kernel() const;  // and how often it had to fall back to a slower one
    std::size_t evaluations() const { return evaluations_; }
    std::size_t fallbacks() const { return fallbacks_; }
    void set_evaluations(std::size_t count, std::size_t fallbacks) {
        evaluations_ = count;
        fallbacks_ = fallbacks;
    }

  private:
    scheme::Environment ode_environment(double t) const;
    void sub_layer(scheme::SubLayer which, const double* in, double* out);
    void use_draw(std::size_t draw);
    Measured shape() const;
    std::vector<double> mean_of_systems(const std::vector<double>& of_rows) const;
    measure::Rows readout_rows() const { return {readout_.data(), rows_, problem_.dim}; }
    void doubt(double t, Values& doubt, Values& speed);
    bool at_consensus(std::size_t system);
    Values plain_speeds(double t);                              // of each system, and theta_
    Values frame_speeds(double t);                              // the same in the tokens' own frames
    void in_frame(const std::function<void(OwnFrame&)>& body);  // and counts what it asked of attention

    Problem problem_;
    Control control_;
    std::size_t rows_;
    scheme::RowStep<double> step_;
    scheme::State<double> state_;
    std::vector<std::unique_ptr<attention::Attention<double>>>
        attention_;  // one, or one per system with its own weights
    std::vector<std::unique_ptr<attention::Attention<float>>> attention_float_;
    std::vector<float> float_in_;
    std::vector<float> float_out_;
    std::vector<FeedForward> ffn_;
    std::optional<std::size_t> draw_;
    double begin_ = 0;
    double end_ = 0;
    std::vector<double> readout_;
    std::vector<double> readout_slope_;
    std::vector<double> theta_;
    double pair_cosine_ = Measured{}.pair_cosine;
    std::vector<std::vector<double>> slopes_;
    std::size_t evaluations_ = 0;
    std::size_t fallbacks_ = 0;
    std::unique_ptr<OwnFrame> frame_;  // where the equation and the settings allow it
    bool slow_ = false;                // velocities come from frame_; otherwise only measured speeds do
    Groups groups_;
};

}  // namespace flyball::dynamics
