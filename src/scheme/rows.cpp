// Layer, projection, velocity and readout as runs of one code, kept once for each outcome of the equation's conditions.
#include "scheme/rows.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace flyball::scheme {

namespace {

template <class Real>
std::vector<RowPart<Real>> parts(const std::vector<std::vector<Real>>& primal,
                                 const std::vector<std::vector<Real>>* slope = nullptr) {
    std::vector<RowPart<Real>> result(primal.size());
    for (std::size_t i = 0; i < primal.size(); ++i) {
        result[i] = {primal[i].data(), slope == nullptr ? nullptr : (*slope)[i].data()};
    }
    return result;
}

template <class Real>
std::vector<RowTarget<Real>> targets(std::vector<std::vector<Real>>* primal, std::vector<std::vector<Real>>* slope) {
    std::vector<RowTarget<Real>> result(primal != nullptr ? primal->size() : slope->size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = {primal == nullptr ? nullptr : (*primal)[i].data(),
                     slope == nullptr ? nullptr : (*slope)[i].data()};
    }
    return result;
}

template <class Real>
void reshape(std::vector<std::vector<Real>>& streams, std::size_t count, std::size_t size) {
    streams.resize(count);
    for (auto& stream : streams) {
        stream.resize(size);
    }
}

// A plan without a problem never calls the sub-layer of a projection.
constexpr auto never_called_on_rows = [](SubLayer, const auto*, auto*) {
    assert(false && "a projection called a sub-layer");
};

}  // namespace

template <class Real>
State<Real> State<Real>::start(const Program& program, std::size_t rows, std::size_t dim, std::vector<Real> embedding) {
    assert(embedding.size() == rows * dim);
    State state{rows, dim, {}, std::move(embedding)};
    state.streams.assign(program.stream_count(), state.embedding);
    return state;
}

template <class Real>
RowStep<Real>::RowStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim)
    : RowStep(program, sub_layers, rows, dim, dim) {}

template <class Real>
RowStep<Real>::RowStep(const Program& program, SubLayers sub_layers, std::size_t rows, std::size_t dim,
                       std::size_t space)
    : program_(program), sub_layers_(sub_layers), rows_(rows), dim_(dim), space_(space) {}

template <class Real>
RowMachine<Real>& RowStep<Real>::block_machine(const Environment& env) {
    const std::vector<bool> decisions = program_.decide(env);
    for (Variant& variant : blocks_) {
        if (variant.decisions == decisions) {
            return variant.machine;
        }
    }
    blocks_.push_back(
        {decisions, RowMachine<Real>(lower_block(program_, sub_layers_, decisions), rows_, dim_, space_)});
    return blocks_.back().machine;
}

template <class Real>
RowMachine<Real>& RowStep<Real>::readout_machine(const Environment& env) {
    const std::vector<bool> decisions = program_.decide(env);
    for (Variant& variant : readouts_) {
        if (variant.decisions == decisions) {
            return variant.machine;
        }
    }
    readouts_.push_back({decisions, RowMachine<Real>(lower_readout(program_, decisions), rows_, dim_, space_)});
    return readouts_.back().machine;
}

template <class Real>
void RowStep<Real>::layer(const Environment& env, State<Real>& state, SubLayerFunction<Real> f,
                          const BlockParameters<Real>& parameters) {
    RowMachine<Real>& machine = block_machine(env);
    machine.prepare(env, Run::values,
                    parameters.learned.empty() ? initial_learned(program_, machine.code(), env) : parameters.learned,
                    false);
    machine.run(parts(state.streams), state.embedding.data(), targets<Real>(&state.streams, nullptr), parameters.norms,
                f);
}

template <class Real>
std::optional<std::string> RowStep<Real>::project(const Environment& env, State<Real>& state) {
    RowMachine<Real>& machine = block_machine(env);
    machine.prepare(env, Run::projection, initial_learned(program_, machine.code(), env), false);
    if (machine.plan().problem) {
        return machine.plan().problem;
    }
    machine.run(parts(state.streams), state.embedding.data(), targets<Real>(&state.streams, nullptr), {},
                never_called_on_rows);
    return std::nullopt;
}

template <class Real>
void RowStep<Real>::prepare_in_time(RowMachine<Real>& machine, const Environment& env, Run run,
                                    bool entry_slopes) const {
    machine.prepare(env, run, initial_learned(program_, machine.code(), env), entry_slopes,
                    initial_learned_slopes(program_, machine.code(), env));
}

// Slopes are NaN then, so that nobody goes on with older ones: a root of what time has made negative has no velocity.
template <class Real>
std::optional<std::string> RowStep<Real>::without_limit(const RowMachine<Real>& machine,
                                                        std::vector<std::vector<Real>>& slopes) const {
    for (auto& slope : slopes) {
        std::fill(slope.begin(), slope.end(), std::numeric_limits<Real>::quiet_NaN());
    }
    return machine.plan().problem;
}

// Layers go from x on the manifold of t, x = N0(x; t), to that of t + dt: up to dt^2
//
//     S(x, dt; t)                  = x + dt S'           S' by dt at dt = 0
//     N0(x + dt S'; t + dt)        = x + dt (DN0 S' + dN0/dt),
//
// by the chain rule in two runs of the same code: S with dt = 0 + eps gives value and slope, and N0 (dt = 0, f opaque)
// at t + eps carries both on. Nothing is counted twice: N0(N0(x)) = N0(x) for all t says that DN0 (dN0/dt) = 0 on the
// manifold, so what N0 adds with time is just what DN0 takes out of any motion.
template <class Real>
std::optional<std::string> RowStep<Real>::velocity(const Environment& env, const State<Real>& state,
                                                   SubLayerFunction<Real> f, std::vector<std::vector<Real>>& slopes) {
    RowMachine<Real>& machine = block_machine(env);
    const std::size_t count = state.streams.size();
    reshape(middle_primal_, count, rows_ * dim_);
    reshape(middle_slope_, count, rows_ * dim_);
    reshape(slopes, count, rows_ * dim_);

    machine.prepare(env, Run::derivative, initial_learned(program_, machine.code(), env), false);
    if (machine.plan().problem) {
        return without_limit(machine, slopes);
    }
    machine.run(parts(state.streams), state.embedding.data(), targets<Real>(&middle_primal_, &middle_slope_), {}, f);

    prepare_in_time(machine, env, Run::tangent, true);
    if (machine.plan().problem) {
        return without_limit(machine, slopes);
    }
    machine.run(parts(middle_primal_, &middle_slope_), state.embedding.data(), targets<Real>(nullptr, &slopes), {},
                never_called_on_rows);
    return std::nullopt;
}

template <class Real>
std::optional<std::string> RowStep<Real>::drift(const Environment& env, const State<Real>& state,
                                                std::vector<std::vector<Real>>& slopes) {
    RowMachine<Real>& machine = block_machine(env);
    reshape(slopes, state.streams.size(), rows_ * dim_);
    prepare_in_time(machine, env, Run::tangent, false);
    if (machine.plan().problem) {
        return without_limit(machine, slopes);
    }
    machine.run(parts(state.streams), state.embedding.data(), targets<Real>(nullptr, &slopes), {},
                never_called_on_rows);
    return std::nullopt;
}

template <class Real>
void RowStep<Real>::readout(const Environment& env, const State<Real>& state, std::vector<Real>& out,
                            const BlockParameters<Real>& parameters) {
    RowMachine<Real>& machine = readout_machine(env);
    machine.prepare(env, Run::values,
                    parameters.learned.empty() ? initial_learned(program_, machine.code(), env) : parameters.learned,
                    false);
    out.resize(rows_ * dim_);
    machine.run(parts(state.streams), state.embedding.data(), {{out.data(), nullptr}}, parameters.norms,
                never_called_on_rows);
}

template <class Real>
bool RowStep<Real>::readout(const Environment& env, const State<Real>& state,
                            const std::vector<std::vector<Real>>& slopes, std::vector<Real>& out,
                            std::vector<Real>& out_slope) {
    RowMachine<Real>& machine = readout_machine(env);
    prepare_in_time(machine, env, Run::along, true);
    out.resize(rows_ * dim_);
    out_slope.resize(rows_ * dim_);
    machine.run(parts(state.streams, &slopes), state.embedding.data(), {{out.data(), out_slope.data()}}, {},
                never_called_on_rows);
    return machine.has_finite_coefficients();
}

template struct State<float>;
template struct State<double>;
template class RowStep<float>;
template class RowStep<double>;

}  // namespace flyball::scheme
