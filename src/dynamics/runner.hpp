// The inside of a run: what layers and time share. Users see run.hpp.
#pragma once

#include <memory>
#include <vector>

#include "dynamics/pieces.hpp"
#include "dynamics/run.hpp"

namespace flyball::dynamics {

class Runner {
  public:
    Runner(Problem problem, const Control& control, const Watch& watch);

    Record run(const std::optional<RestartPoint>& from);

  private:
    void run_layers();
    void first_layer_sample();

    void run_ode();
    void run_piece(const Piece& piece, Integrator& integrator, Motion& motion);
    void look_inside(double before, Integrator& integrator, Motion& motion);
    void fuse(Integrator& integrator);
    void place(double t, Integrator& integrator, Motion& motion);
    void end_at_event(double before, double t, Integrator& integrator, Motion& motion);
    double observed(double t);
    double speed_before() const;

    void take_up(const RestartPoint& from);
    void offer_restart_point();
    void keep(const Measurement& seen);  // may end the run
    bool healthy(const Sample& sample);  // sets the outcome when not
    void end(Outcome outcome);
    void report_progress(double share);
    void give_forecast();
    bool stop_asked() const { return control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed); }

    bool due(double t) const { return next_sample_ < times_.size() && times_[next_sample_] <= t; }

    Control control_;
    const Watch& watch_;
    Particles particles_;
    const Problem& problem_;  // theirs
    std::vector<double> times_;
    Cost cost_;
    std::size_t restart_every_;
    bool forecast_given_ = false;
    Record record_;
    bool taken_up_ = false;
    bool ended_ = false;  // before its time; record_.outcome says why

    // Where the run is. In time, particles_ is only where y_ or a sample is looked at.
    StepState step_;
    std::size_t next_sample_ = 0;
    std::vector<double> y_;
    std::vector<double> inner_;
};

}  // namespace flyball::dynamics
