#include "dynamics/erk.hpp"

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>

#include <cmath>
#include <stdexcept>

namespace flyball::dynamics {

namespace {

void require(int flag, const char* what) {
    if (flag < 0) {
        throw std::logic_error(std::string("SUNDIALS: ") + what);  // our own misuse, never a user's input
    }
}

class Erk final : public Integrator {
  public:
    explicit Erk(const Settings& settings) : rtol_(settings.rtol), atol_(settings.atol) {
        require(SUNContext_Create(nullptr, &context_), "context");
    }
    ~Erk() override {
        release();
        SUNContext_Free(&context_);
    }
    Erk(const Erk&) = delete;
    Erk& operator=(const Erk&) = delete;

    Progressed advance(Particles& particles, StepState& state, double end, const StepHook& hook) override;

  private:
    struct Bound {
        Particles* particles = nullptr;
        std::vector<std::vector<double>> slopes;
        bool not_finite = false;
    };

    static int derivative(realtype t, N_Vector y, N_Vector out, void* user);
    static int project(realtype t, N_Vector y, void* user);
    static void silent(int, const char*, const char*, char*, void*) {}
    void release();
    void prepare(std::size_t numbers);
    void start(double t, double h, double end);

    double rtol_;
    double atol_;
    SUNContext context_ = nullptr;
    void* memory_ = nullptr;
    N_Vector y_ = nullptr;
    std::size_t numbers_ = 0;
    Bound bound_;
};

int Erk::derivative(realtype t, N_Vector y, N_Vector out, void* user) {
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

int Erk::project(realtype t, N_Vector y, void* user) {
    auto& bound = *static_cast<Bound*>(user);
    bound.particles->copy_from(N_VGetArrayPointer(y));
    bound.particles->project(t);
    bound.particles->copy_to(N_VGetArrayPointer(y));
    return 0;
}

void Erk::release() {
    if (memory_ != nullptr) {
        ERKStepFree(&memory_);
        memory_ = nullptr;
    }
    if (y_ != nullptr) {
        N_VDestroy(y_);
        y_ = nullptr;
    }
}

void Erk::prepare(std::size_t numbers) {
    if (numbers == numbers_ && memory_ != nullptr) {
        return;
    }
    release();
    numbers_ = numbers;
    y_ = N_VNew_Serial(static_cast<sunindextype>(numbers), context_);
    memory_ = ERKStepCreate(&Erk::derivative, 0, y_, context_);
    require(memory_ == nullptr ? -1 : 0, "create");
    require(ERKStepSetTableName(memory_, "ARKODE_FEHLBERG_13_7_8"), "table");
    require(ERKStepSStolerances(memory_, rtol_, atol_), "tolerances");
    require(ERKStepSetUserData(memory_, &bound_), "user data");
    require(ERKStepSetPostprocessStepFn(memory_, &Erk::project), "projection");
    require(ERKStepSetMaxNumSteps(memory_, -1), "unlimited steps");
    require(ERKStepSetErrHandlerFn(memory_, &Erk::silent, nullptr), "error handler");
}

// Everything the integrator remembers is set here, so that two runs that start from the same numbers go on alike.
void Erk::start(double t, double h, double end) {
    require(ERKStepReInit(memory_, &Erk::derivative, t, y_), "restart");
    require(ERKStepSetInitStep(memory_, h), "first step");
    require(ERKStepSetStopTime(memory_, end), "stop time");
}

Progressed Erk::advance(Particles& particles, StepState& state, double end, const StepHook& hook) {
    prepare(particles.numbers());
    bound_.particles = &particles;
    bound_.not_finite = false;
    particles.copy_to(N_VGetArrayPointer(y_));
    start(state.t, std::min(state.h, end - state.t), end);
    for (bool first = true; state.t < end; first = false) {
        if (!first && state.steps % restart_steps == 0) {
            start(state.t, std::min(state.h, end - state.t), end);
        }
        realtype reached = state.t;
        const int flag = ERKStepEvolve(memory_, end, y_, &reached, ARK_ONE_STEP);
        if (flag < 0) {
            particles.copy_from(N_VGetArrayPointer(y_));
            return bound_.not_finite ? Progressed::not_finite : Progressed::step_underflow;
        }
        const double before = state.t;
        state.t = flag == ARK_TSTOP_RETURN ? end : reached;
        if (!(state.t > before)) {
            return Progressed::step_underflow;
        }
        realtype next = 0;
        ERKStepGetCurrentStep(memory_, &next);
        // The last step before `end` is cut short; the size that the error estimate wanted is what to carry on with.
        if (state.t < end || state.h == 0 || next > state.h) {
            state.h = next;
        }
        ++state.steps;
        particles.copy_from(N_VGetArrayPointer(y_));
        if (!hook(state)) {
            return Progressed::stopped;
        }
    }
    return Progressed::reached;
}

}  // namespace

std::unique_ptr<Integrator> make_erk(const Settings& settings) {
    return std::make_unique<Erk>(settings);
}

}  // namespace flyball::dynamics
