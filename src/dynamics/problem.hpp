// What a run solves and how: an equation with its sub-layers, start and span, and the method that follows it.
//
//     Problem   what decides the solution; attention with any weights, heads of any temperature, or a caller's own f
//     Control   what decides its numerical errors and its cost; and a flag that stops it
//     Watch     where it is looked at, and by whom (run.hpp)
//
// `Settings` are what a user types; problem_of and control_of are all that turns them into a run. Whoever wants what
// they cannot say (random queries with V = I, normed scores, velocities at given states) fills in a Problem.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "dynamics/settings.hpp"
#include "dynamics/weights.hpp"
#include "scheme/code.hpp"
#include "scheme/program.hpp"

namespace flyball::dynamics {

struct AttentionLayer {
    attention::Settings settings;  // kind, mask, temperatures; the energy of a sample is at its beta
    std::size_t heads = 1;
    // Of one system; `draw` counts redraws. None: the identity.
    std::function<attention::Weights<double>(std::size_t system, std::size_t draw)> weights = {};
    bool per_system = false;  // every system has weights of its own; otherwise those of system 0 serve all
    // Instead of all this, an f of the caller's: in and out are [systems*tokens, dim] and do not overlap.
    std::function<void(const double* in, double* out)> instead = {};

    bool identity() const { return !weights && !instead; }
    bool causal() const { return settings.mask == attention::Mask::causal; }
};

struct FeedForwardLayer {
    std::size_t width = 0;  // 0: there is none
    std::function<FeedForward(std::size_t system, std::size_t draw)> weights = {};
};

struct Problem {
    scheme::Program program;
    std::size_t systems = 1;
    std::size_t tokens = 1;
    std::size_t dim = 1;
    std::vector<double> start;  // [systems*tokens, dim]: x at t = 0, projected to the equation's manifold
    double r0 = 1;              // the scale of lengths: what is 1e-12 of it, and of 1, has vanished

    AttentionLayer attention = {};
    FeedForwardLayer ffn = {};
    bool fresh = false;           // weights are redrawn at every integer t
    bool draw_of_layers = false;  // layers have a draw each, whatever their dt: block l of a model is layer l

    std::optional<std::size_t> layers = {};  // discrete layers of step dt; otherwise an ODE up to `time`
    double dt = 1;
    double time = 10;

    std::size_t rows() const { return systems * tokens; }
    double final_time() const { return layers ? static_cast<double>(*layers) * dt : time; }
    scheme::SubLayers sub_layers() const {
        return ffn.width > 0 ? scheme::SubLayers::attention_and_ffn : scheme::SubLayers::attention_only;
    }
};

// Threads are those of core/parallel.hpp; no result depends on their number.
struct Control {
    Method method = Method::automatic;
    double rtol = 1e-10;
    double atol = 1e-12;
    double step = 0.1;                        // of euler and rk4
    Precision precision = Precision::f64;     // of attention
    std::string kernel = "auto";              // of attention
    const std::atomic<bool>* stop = nullptr;  // set: end as interrupted, also in the middle of an evaluation
};

// Throws Error(usage) where settings make no sense.
Problem problem_of(const Settings& settings, const scheme::Program& program);
// The same of checked settings, for questions that do not need the particles themselves.
Problem problem_without_start(const Settings& settings, const scheme::Program& program);
Control control_of(const Settings& settings);

}  // namespace flyball::dynamics
