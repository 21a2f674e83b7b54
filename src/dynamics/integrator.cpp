#include "dynamics/integrator.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/adaptive.hpp"

namespace flyball::dynamics {

namespace {

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// A Runge-Kutta method with equal steps, as the table that defines it: nodes c, weights b, and the subdiagonal of A
// (both methods here use the stage before only).
struct Table {
    std::vector<double> c;
    std::vector<double> b;
};
const Table euler_table = {{0}, {1}};
const Table rk4_table = {{0, 0.5, 0.5, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

class EqualSteps final : public Integrator {
  public:
    EqualSteps(const Table& table, double dt) : table_(table), dt_(dt) {}

    Progressed advance(Particles& particles, StepState& state, double end, const StepHook& hook) override {
        // A run taken up in the middle of a piece finds its step in state.h; times are added up, never multiplied, so
        // that it meets the same rounding.
        if (state.h == 0) {
            state.h = (end - state.t) / std::max(1.0, std::ceil((end - state.t) / dt_ - 1e-9));
        }
        const double h = state.h;
        std::vector<double> start(particles.numbers());
        std::vector<double> moved(start.size());
        std::vector<double> sum(start.size());
        while (state.t < end) {
            const double t = state.t;
            particles.copy_to(start.data());
            sum = start;
            for (std::size_t stage = 0; stage < table_.c.size(); ++stage) {
                particles.velocity(t + table_.c[stage] * h, slopes_);
                std::size_t at = 0;
                const double ahead = stage + 1 < table_.c.size() ? table_.c[stage + 1] * h : 0;
                for (const auto& stream : slopes_) {
                    for (const double slope : stream) {
                        sum[at] += h * table_.b[stage] * slope;
                        moved[at] = start[at] + ahead * slope;
                        ++at;
                    }
                }
                if (stage + 1 < table_.c.size()) {
                    particles.copy_from(moved.data());
                }
            }
            if (!all_finite(sum)) {
                return Progressed::not_finite;
            }
            particles.copy_from(sum.data());
            const bool last = end - t < 1.5 * h;
            state.t = last ? end : t + h;
            if (last) {
                state.h = 0;
            }
            particles.project(state.t);
            ++state.steps;
            if (!hook(state)) {
                return Progressed::stopped;
            }
        }
        return Progressed::reached;
    }

  private:
    const Table& table_;
    double dt_;
    std::vector<std::vector<double>> slopes_;
};

}  // namespace

std::unique_ptr<Integrator> make_integrator(const Settings& settings) {
    switch (settings.method) {
        case Method::euler:
            return std::make_unique<EqualSteps>(euler_table, settings.dt);
        case Method::rk4:
            return std::make_unique<EqualSteps>(rk4_table, settings.dt);
        case Method::bdf:
            return make_bdf(settings);
        case Method::automatic:
        case Method::erk:
            break;
    }
    return make_erk(settings);
}

}  // namespace flyball::dynamics
