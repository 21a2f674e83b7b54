#include "dynamics/adaptive.hpp"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace flyball::dynamics {

namespace {

void require(int flag, const char* what) {
    if (flag < 0) {
        throw std::logic_error(std::string("SUNDIALS: ") + what);  // our own misuse, never a user's input
    }
}

void silent(int, const char*, const char*, char*, void*) {}

// What the methods share: the particles as a SUNDIALS vector, and the loop over accepted steps.
class Adaptive : public Integrator {
  public:
    explicit Adaptive(const Settings& settings) : rtol_(settings.rtol), atol_(settings.atol) {
        require(SUNContext_Create(nullptr, &context_), "context");
    }
    ~Adaptive() override {
        if (y_ != nullptr) {
            N_VDestroy(y_);
        }
        SUNContext_Free(&context_);
    }
    Adaptive(const Adaptive&) = delete;
    Adaptive& operator=(const Adaptive&) = delete;

    Progressed advance(Particles& particles, StepState& state, double end, const StepHook& hook) override;

  protected:
    struct Step {
        bool failed = false;
        bool at_end = false;
        double next = 0;  // step to try next
    };
    virtual void create() = 0;  // y_ has its size
    // Everything the method remembers is set here, so that two runs that start from the same numbers go on alike.
    virtual void start(double t, double h, double end) = 0;
    virtual Step step(double end, double& t) = 0;

    static int derivative(realtype t, N_Vector y, N_Vector out, void* user);
    static int project(realtype t, N_Vector y, void* user);

    struct Bound {
        Particles* particles = nullptr;
        std::vector<std::vector<double>> slopes;
        bool not_finite = false;
    };
    double rtol_;
    double atol_;
    SUNContext context_ = nullptr;
    N_Vector y_ = nullptr;
    Bound bound_;
};

int Adaptive::derivative(realtype t, N_Vector y, N_Vector out, void* user) {
    auto& bound = *static_cast<Bound*>(user);
    bound.particles->copy_from(N_VGetArrayPointer(y));
    bound.particles->velocity(t, bound.slopes);
    double* to = N_VGetArrayPointer(out);
    for (const auto& stream : bound.slopes) {
        for (const double slope : stream) {
            if (!std::isfinite(slope)) {
                bound.not_finite = true;
                return 1;  // recoverable: try a smaller step
            }
            *to++ = slope;
        }
    }
    return 0;
}

int Adaptive::project(realtype t, N_Vector y, void* user) {
    auto& bound = *static_cast<Bound*>(user);
    bound.particles->copy_from(N_VGetArrayPointer(y));
    bound.particles->project(t);
    bound.particles->copy_to(N_VGetArrayPointer(y));
    return 0;
}

Progressed Adaptive::advance(Particles& particles, StepState& state, double end, const StepHook& hook) {
    if (y_ == nullptr) {
        y_ = N_VNew_Serial(static_cast<sunindextype>(particles.numbers()), context_);
        create();
    }
    bound_.particles = &particles;
    bound_.not_finite = false;
    particles.copy_to(N_VGetArrayPointer(y_));
    start(state.t, std::min(state.h, end - state.t), end);
    for (bool first = true; state.t < end; first = false) {
        if (!first && state.steps % restart_steps == 0) {
            start(state.t, std::min(state.h, end - state.t), end);
        }
        const double before = state.t;
        double reached = before;
        const Step taken = step(end, reached);
        if (taken.failed) {
            particles.copy_from(N_VGetArrayPointer(y_));
            return bound_.not_finite ? Progressed::not_finite : Progressed::step_underflow;
        }
        state.t = taken.at_end ? end : reached;
        if (!(state.t > before)) {
            return Progressed::step_underflow;
        }
        // The last step before `end` is cut short; the size that the error estimate wanted is what to carry on with.
        if (state.t < end || state.h == 0 || taken.next > state.h) {
            state.h = taken.next;
        }
        ++state.steps;
        particles.copy_from(N_VGetArrayPointer(y_));
        if (!hook(state)) {
            return Progressed::stopped;
        }
    }
    return Progressed::reached;
}

class Erk final : public Adaptive {
  public:
    using Adaptive::Adaptive;
    ~Erk() override {
        if (memory_ != nullptr) {
            ERKStepFree(&memory_);
        }
    }
    Erk(const Erk&) = delete;
    Erk& operator=(const Erk&) = delete;

  private:
    void create() override {
        memory_ = ERKStepCreate(&Erk::derivative, 0, y_, context_);
        require(memory_ == nullptr ? -1 : 0, "create");
        require(ERKStepSetTableName(memory_, "ARKODE_FEHLBERG_13_7_8"), "table");
        require(ERKStepSStolerances(memory_, rtol_, atol_), "tolerances");
        require(ERKStepSetUserData(memory_, &bound_), "user data");
        require(ERKStepSetPostprocessStepFn(memory_, &Erk::project), "projection");
        require(ERKStepSetMaxNumSteps(memory_, -1), "unlimited steps");
        require(ERKStepSetErrHandlerFn(memory_, &silent, nullptr), "error handler");
    }

    void start(double t, double h, double end) override {
        require(ERKStepReInit(memory_, &Erk::derivative, t, y_), "restart");
        require(ERKStepSetInitStep(memory_, h), "first step");
        require(ERKStepSetStopTime(memory_, end), "stop time");
    }

    Step step(double end, double& t) override {
        Step taken;
        const int flag = ERKStepEvolve(memory_, end, y_, &t, ARK_ONE_STEP);
        taken.failed = flag < 0;
        taken.at_end = flag == ARK_TSTOP_RETURN;
        ERKStepGetCurrentStep(memory_, &taken.next);
        return taken;
    }

    void* memory_ = nullptr;
};

class Bdf final : public Adaptive {
  public:
    using Adaptive::Adaptive;
    ~Bdf() override {
        if (memory_ != nullptr) {
            CVodeFree(&memory_);
        }
        if (solver_ != nullptr) {
            SUNLinSolFree(solver_);
        }
    }
    Bdf(const Bdf&) = delete;
    Bdf& operator=(const Bdf&) = delete;

  private:
    void create() override {
        memory_ = CVodeCreate(CV_BDF, context_);
        require(memory_ == nullptr ? -1 : 0, "create");
        require(CVodeInit(memory_, &Bdf::derivative, 0, y_), "init");
        require(CVodeSStolerances(memory_, rtol_, atol_), "tolerances");
        require(CVodeSetUserData(memory_, &bound_), "user data");
        solver_ = SUNLinSol_SPGMR(y_, SUN_PREC_NONE, 0, context_);
        require(CVodeSetLinearSolver(memory_, solver_, nullptr), "linear solver");
        require(CVodeSetProjFn(memory_, &Bdf::correction), "projection");
        require(CVodeSetProjErrEst(memory_, SUNFALSE), "error estimate as it is");
        require(CVodeSetErrHandlerFn(memory_, &silent, nullptr), "error handler");
    }

    // Starts at order 1, where the step of higher orders would be too long: CVODE finds its own.
    void start(double t, double, double end) override {
        require(CVodeReInit(memory_, t, y_), "restart");
        require(CVodeSetInitStep(memory_, 0), "first step");
        require(CVodeSetStopTime(memory_, end), "stop time");
    }

    Step step(double end, double& t) override {
        Step taken;
        const int flag = CVode(memory_, end, y_, &t, CV_ONE_STEP);
        taken.failed = flag < 0;
        taken.at_end = flag == CV_TSTOP_RETURN;
        CVodeGetCurrentStep(memory_, &taken.next);
        return taken;
    }

    static int correction(realtype t, N_Vector y, N_Vector out, realtype, N_Vector, void* user) {
        N_VScale(1, y, out);
        const int flag = project(t, out, user);
        N_VLinearSum(1, out, -1, y, out);
        return flag;
    }

    void* memory_ = nullptr;
    SUNLinearSolver solver_ = nullptr;
};

}  // namespace

std::unique_ptr<Integrator> make_erk(const Settings& settings) {
    return std::make_unique<Erk>(settings);
}

std::unique_ptr<Integrator> make_bdf(const Settings& settings) {
    return std::make_unique<Bdf>(settings);
}

}  // namespace flyball::dynamics
