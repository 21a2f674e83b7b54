// The engine of every explicit Runge-Kutta method (rk_table.hpp), with equal steps or with steps chosen by the error.
//
// Numbers are combined in slots that depend on their count alone, so results do not depend on threads.
#pragma once

#include "dynamics/integrator.hpp"
#include "dynamics/rk_table.hpp"

namespace flyball::dynamics {

struct Tolerances {
    double rtol = 1e-10;
    double atol = 1e-12;
};

class RungeKutta final : public Integrator {
  public:
    // Equal steps of at most dt, that end at samples; any table.
    RungeKutta(const RkTable& table, double dt) : table_(table), dt_(dt) {}
    // Steps whose error estimate is below the tolerances (root mean square over y); a table with estimates.
    RungeKutta(const RkTable& table, const Tolerances& tolerances) : table_(table), tolerances_(tolerances) {}

    bool ends_at_samples() const override { return dt_ > 0; }
    Progressed step(Motion& motion, StepState& state, std::vector<double>& y, double end) override;
    void inside(Motion& motion, double t, const std::vector<double>& y, std::vector<double>& out) override;
    void forget() override { have_last_ = false; }

  private:
    Progressed equal_step(Motion& motion, StepState& state, std::vector<double>& y, double end);
    Progressed chosen_step(Motion& motion, StepState& state, std::vector<double>& y, double end);
    void begin(Motion& motion, double t, const std::vector<double>& y);
    void accept(Motion& motion, StepState& state, std::vector<double>& y, double h, double t_after);
    void stages(Motion& motion, double t, double h, std::vector<double>& y_new);
    double error_of(double h, const std::vector<double>& y_new) const;
    double first_step(Motion& motion, double t, double longest);

    const RkTable& table_;
    double dt_ = 0;  // 0: steps are chosen
    Tolerances tolerances_;

    // The last step: from before_ at t_before_ to t_after_, h_ long.
    std::vector<double> before_;
    double t_before_ = 0;
    double t_after_ = 0;
    double h_ = 0;
    std::vector<std::vector<double>> slopes_;  // [s + 1 + extra][numbers]: stages, the slope at the end, dense stages
    bool have_last_ = false;                   // the slope at the end
    bool have_extra_ = false;                  // the dense stages
    std::vector<double> stage_;
};

}  // namespace flyball::dynamics
