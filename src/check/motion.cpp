#include "check/motion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "scheme/limit.hpp"

namespace flyball::check {

namespace {

constexpr double weak = 4;  // s from which a block counts as slow to begin

// How the motion ends, as a clause of its own.
std::string law_text(const theory::Law& law) {
    const auto number = [](const std::optional<double>& value) { return value ? format_short(*value, 3) : "?"; };
    switch (law.kind) {
        case theory::LawKind::exponential:
            return fmt::format("late in depth the speed falls exponentially, as exp(-{} t)", number(law.rate));
        case theory::LawKind::stretched:
            return fmt::format("late in depth the speed falls as a stretched exponential, exp(-{} t^{})",
                               number(law.rate), number(law.p));
        case theory::LawKind::power:
            return fmt::format("late in depth the speed falls as a power of depth, t^{}", number(law.exponent));
        case theory::LawKind::frozen:
            return law.reached ? fmt::format("late in depth they stop, at a cosine of {}", number(law.limit))
                               : fmt::format("late in depth they still rest, at a cosine of {}", number(law.limit));
        case theory::LawKind::extinct:
            return fmt::format("at t = {} a stream reaches zero, where the prediction ends", number(law.time));
        case theory::LawKind::other:
            return "late in depth the speed follows none of the known laws";
    }
    unreachable();
}

// "as fast", "0.5 times as fast"
std::string times_as_fast(double ratio) {
    const std::string times = format_short(ratio, 2);
    return times == "1" ? "as fast" : times + " times as fast";
}

}  // namespace

Motion motion_of(const scheme::Scheme& scheme, const Settings& of_model) {
    Motion motion;
    motion.tokens = of_model.tokens;
    theory::Settings settings;
    settings.tokens = static_cast<double>(of_model.tokens);
    settings.T = static_cast<double>(of_model.depth);
    // Written into the equation: the particles themselves, orthonormal at first, need as many channels as there are tokens.
    const scheme::Program program =
        scheme.program.with_quantity(scheme::Quantity::d, static_cast<double>(of_model.width));
    if (const auto problem = scheme::reduced_law_problem(
            program, scheme::Environment::ode(0, settings.T, of_model.tokens, of_model.width))) {
        motion.problem = *problem;
        return motion;
    }
    try {
        theory::check(program, settings);
        motion.initial_velocity = theory::initial_velocity(program, settings);
        motion.law = theory::terminal_law(program, settings);
    } catch (const Error& error) {
        motion.problem = error.what();
        return motion;
    }
    const scheme::Program post = scheme::Program::parse("norm(x + dt*f(x))");
    motion.post_velocity = theory::initial_velocity(post, settings);
    motion.speed_factor = motion.post_velocity / motion.initial_velocity;
    return motion;
}

std::string Motion::sentence() const {
    if (!problem.empty()) {
        return fmt::format("As particles: no prediction, because {}.", problem);
    }
    const std::string begin =
        initial_velocity == 0  ? "the tokens do not move at the start"
        : initial_velocity < 0 ? fmt::format("the first blocks drive tokens apart, {} as Post-LN's bring them together",
                                             times_as_fast(-1 / speed_factor))
                               : fmt::format("the first blocks turn tokens towards each other {} as Post-LN's",
                                             times_as_fast(1 / speed_factor));
    return fmt::format("As particles, which have attention alone ({} tokens, beta = 1): {}; {}.", tokens, begin,
                       law_text(law));
}

Json Motion::document() const {
    Json json = Json::object();
    json["tokens"] = tokens;
    json["problem"] = problem.empty() ? Json(nullptr) : Json(problem);
    const bool known = problem.empty();
    json["initial_velocity"] = known ? Json(initial_velocity) : Json(nullptr);
    json["speed_factor"] = known ? Json(speed_factor) : Json(nullptr);
    json["law"] = known ? Json(theory::name(law.kind)) : Json(nullptr);
    json["rate"] = known && law.rate ? Json(*law.rate) : Json(nullptr);
    json["exponent"] = known && law.exponent ? Json(*law.exponent) : Json(nullptr);
    return json;
}

std::vector<Finding> findings_of(const Motion& motion, const scheme::Program& program) {
    if (!motion.problem.empty() || !(std::abs(motion.speed_factor) > weak || motion.initial_velocity == 0)) {
        return {};
    }
    // Particles have no feed-forward network: attention that acts through it alone is not seen there.
    if (motion.initial_velocity == 0 && program.form() != scheme::Program::Form::per_sub_layer &&
        program.learned().empty()) {
        return {};
    }
    // A learned gate may open: how it starts is then no more than that.
    const bool may_change = !program.learned().empty();
    return {{"weak-early-movement", may_change ? Severity::note : Severity::caution,
             fmt::format("The first blocks hardly turn the tokens{}.",
                         may_change ? " before the learned parameters of the block have moved" : ""),
             fmt::format(
                 "as particles, the cosine between tokens grows at the rate {:.3g} at first, where Post-LN has {:.3g}",
                 motion.initial_velocity, motion.post_velocity),
             motion.speed_factor}};
}

}  // namespace flyball::check
