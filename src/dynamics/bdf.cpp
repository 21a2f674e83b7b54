// CVODE as an Integrator: its C callbacks, its first step, its steps one at a time.
#include "dynamics/bdf.hpp"

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace flyball::dynamics {

namespace {

void require(int flag, const char* what) {
    if (flag < 0) {
        throw std::logic_error(std::string("SUNDIALS: ") + what);  // our own misuse, never a user's input
    }
}

void silent(int, const char*, const char*, char*, void*) {}

class Bdf final : public Integrator {
  public:
    explicit Bdf(const Tolerances& tolerances) : tolerances_(tolerances) {
        require(SUNContext_Create(nullptr, &context_), "context");
    }
    ~Bdf() override {
        if (memory_ != nullptr) {
            CVodeFree(&memory_);
        }
        if (solver_ != nullptr) {
            SUNLinSolFree(solver_);
        }
        if (y_ != nullptr) {
            N_VDestroy(y_);
            N_VDestroy(inner_);
        }
        SUNContext_Free(&context_);
    }
    Bdf(const Bdf&) = delete;
    Bdf& operator=(const Bdf&) = delete;

    bool ends_at_samples() const override { return false; }
    Progressed step(Motion& motion, StepState& state, std::vector<double>& y, double end) override;
    void inside(Motion& motion, double t, const std::vector<double>& y, std::vector<double>& out) override;
    void forget() override { started_ = false; }

  private:
    void create(std::size_t numbers);
    void start(Motion& motion, double t, const std::vector<double>& y, double end);
    double first_step(Motion& motion, double t, const std::vector<double>& y, double end);

    // C code stands between what throws here and who catches it: exceptions wait in `thrown`.
    struct Bound {
        Motion* motion = nullptr;
        std::size_t numbers = 0;
        bool finite = true;  // the last slopes were
        std::exception_ptr thrown;
    };
    template <class Body>
    static int guarded(void* user, Body body) {
        auto& bound = *static_cast<Bound*>(user);
        try {
            return body(bound);
        } catch (...) {
            bound.thrown = std::current_exception();
            return -1;
        }
    }
    static int derivative(realtype t, N_Vector y, N_Vector out, void* user);
    static int correction(realtype t, N_Vector y, N_Vector out, realtype, N_Vector, void* user);

    Tolerances tolerances_;
    SUNContext context_ = nullptr;
    N_Vector y_ = nullptr;
    N_Vector inner_ = nullptr;
    void* memory_ = nullptr;
    SUNLinearSolver solver_ = nullptr;
    Bound bound_;
    bool started_ = false;
};

// CVODE takes 0 as done, a positive number as "not here, try a smaller step" and a negative one as the end.
int Bdf::derivative(realtype t, N_Vector y, N_Vector out, void* user) {
    return guarded(user, [&](Bound& bound) {
        double* slope = N_VGetArrayPointer(out);
        bound.motion->velocity(t, N_VGetArrayPointer(y), slope);
        bound.finite = std::all_of(slope, slope + bound.numbers, [](double v) { return std::isfinite(v); });
        return bound.finite ? 0 : 1;  // 1: try a smaller step
    });
}

// CVODE wants not the projected point N0(y) but the way to it, N0(y) - y.
int Bdf::correction(realtype t, N_Vector y, N_Vector out, realtype, N_Vector, void* user) {
    return guarded(user, [&](Bound& bound) {
        N_VScale(1, y, out);
        bound.motion->project(t, N_VGetArrayPointer(out));
        N_VLinearSum(1, out, -1, y, out);
        return 0;
    });
}

// Newton's linear systems (I - gamma J) dy = r are solved by GMRES from products J v, each a difference of two
// velocities: no Jacobian is stored, so memory grows with the numbers of y. The projection is applied after each step,
// and the error estimate is left as the method gives it.
void Bdf::create(std::size_t numbers) {
    y_ = N_VNew_Serial(static_cast<sunindextype>(numbers), context_);
    inner_ = N_VClone(y_);
    memory_ = CVodeCreate(CV_BDF, context_);
    require(memory_ == nullptr ? -1 : 0, "create");
    require(CVodeInit(memory_, &Bdf::derivative, 0, y_), "init");
    require(CVodeSStolerances(memory_, tolerances_.rtol, tolerances_.atol), "tolerances");
    require(CVodeSetUserData(memory_, &bound_), "user data");
    solver_ = SUNLinSol_SPGMR(y_, SUN_PREC_NONE, 0, context_);
    require(CVodeSetLinearSolver(memory_, solver_, nullptr), "linear solver");
    require(CVodeSetProjFn(memory_, &Bdf::correction), "projection");
    require(CVodeSetProjErrEst(memory_, SUNFALSE), "error estimate as it is");
    require(CVodeSetErrHandlerFn(memory_, &silent, nullptr), "error handler");
}

// A step at which the second term of the Taylor series is within the tolerance, |h^2 y''/2| <= 1, y'' by a difference.
// CVODE's own search takes no step below 1e-14 of `end`, which is nothing to begin with on the way to 1e100.
double Bdf::first_step(Motion& motion, double t, const std::vector<double>& y, double end) {
    std::vector<double> slope(y.size());
    std::vector<double> moved(y.size());
    std::vector<double> moved_slope(y.size());
    motion.velocity(t, y.data(), slope.data());
    double longest = end - t;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (slope[i] != 0) {
            longest = std::min(longest, (0.1 * std::fabs(y[i]) + tolerances_.atol) / std::fabs(slope[i]));
        }
    }
    double h = 1e-3 * longest;
    for (int i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < y.size(); ++k) {
            moved[k] = y[k] + h * slope[k];
        }
        motion.velocity(t + h, moved.data(), moved_slope.data());
        double squares = 0;
        for (std::size_t k = 0; k < y.size(); ++k) {
            const double scale = tolerances_.atol + tolerances_.rtol * std::fabs(y[k]);
            const double change = h * (moved_slope[k] - slope[k]) / scale;
            squares += change * change;
        }
        const double error = std::sqrt(squares / static_cast<double>(y.size()));  // of h^2 y''
        h = std::isfinite(error) ? std::min(longest, h * std::min(1e3, std::sqrt(2 / error))) : 1e-3 * h;
    }
    return 0.5 * h;
}

// Starts at order 1, where the step of higher orders would be too long.
void Bdf::start(Motion& motion, double t, const std::vector<double>& y, double end) {
    if (y_ == nullptr) {
        create(y.size());
    }
    std::copy(y.begin(), y.end(), N_VGetArrayPointer(y_));
    require(CVodeReInit(memory_, t, y_), "restart");
    require(CVodeSetInitStep(memory_, first_step(motion, t, y, end)), "first step");
    require(CVodeSetStopTime(memory_, end), "stop time");
    started_ = true;
}

// One internal step of CVODE, which stops at `end` exactly (CV_TSTOP_RETURN). It keeps its own y and history: whoever
// changes y outside has to call forget(), and the next step starts anew from there.
Progressed Bdf::step(Motion& motion, StepState& state, std::vector<double>& y, double end) {
    bound_.motion = &motion;
    bound_.numbers = y.size();
    bound_.finite = true;
    if (!started_) {
        start(motion, state.t, y, end);
    }
    double reached = state.t;
    const int flag = CVode(memory_, end, y_, &reached, CV_ONE_STEP);
    if (bound_.thrown) {
        std::rethrow_exception(std::exchange(bound_.thrown, nullptr));
    }
    const double t = flag == CV_TSTOP_RETURN ? end : reached;
    if (flag < 0 || state.standing > most_standing) {
        const bool met_no_number = flag < 0 && !bound_.finite;  // CVODE gives up after ten of these
        return met_no_number ? Progressed::not_finite : stuck_at(motion, state.t, y);
    }
    state.standing = t > state.t ? 0 : state.standing + 1;
    state.t = t;
    CVodeGetCurrentStep(memory_, &state.h);
    ++state.steps;
    std::copy_n(N_VGetArrayPointer(y_), y.size(), y.begin());
    return Progressed::stepped;
}

// The polynomial that the method itself predicts with, as accurate as its steps.
void Bdf::inside(Motion& motion, double t, const std::vector<double>& y, std::vector<double>& out) {
    require(CVodeGetDky(memory_, t, 0, inner_), "a time outside of the last step");
    out.resize(y.size());
    std::copy_n(N_VGetArrayPointer(inner_), y.size(), out.begin());
    motion.project(t, out.data());
}

}  // namespace

std::unique_ptr<Integrator> make_bdf(const Tolerances& tolerances) {
    return std::make_unique<Bdf>(tolerances);
}

}  // namespace flyball::dynamics
