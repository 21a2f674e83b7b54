#include "check/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "model/stream_bound.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/normaliser.hpp"
#include "train/initial.hpp"

namespace flyball::check {

namespace {

constexpr std::size_t least_blocks = 24;  // of the shallowest model of a law
constexpr double negligible = 1e-6;       // growth beside a value, above the rounding of its sum
constexpr double same_power = 0.05;       // powers that B at four depths does not tell apart

// What the gains of norms start at, in the order of evaluation, as train/initial.hpp counts them.
std::vector<double> gains_at_start(const Settings& settings, const scheme::Environment& env, std::size_t norms) {
    std::vector<double> gains(norms, 1.0);
    for (const train::Override& one : train::overrides_of(settings.init)) {
        if (one.key == "gains") {
            std::fill(gains.begin(), gains.end(), std::fabs(scheme::scalar_value(one.expression, env)));
        } else if (one.key.starts_with("gain.")) {
            const auto number = parse_whole(one.key.substr(5));
            if (number && *number > 0 && *number <= norms) {
                gains[*number - 1] = std::fabs(scheme::scalar_value(one.expression, env));
            }
        }
    }
    return gains;
}

// A norm counts as 1: behind each comes a factor, its gain.
void multiply_by_gains(const Settings& settings, const scheme::Environment& env, scheme::Code& code) {
    const auto is_norm = [](const scheme::Instruction& one) { return one.norm >= 0; };
    const auto norms = std::count_if(code.instructions.begin(), code.instructions.end(), is_norm);
    const std::vector<double> gains = gains_at_start(settings, env, static_cast<std::size_t>(norms));
    auto gain = gains.begin();
    std::vector<scheme::Instruction> instructions;
    for (scheme::Instruction& one : code.instructions) {
        const bool scaled = is_norm(one);
        const int out = one.out;
        one.out = scaled ? code.registers : out;
        instructions.push_back(std::move(one));
        if (scaled) {
            scheme::Instruction& factor = instructions.emplace_back();
            factor.out = out;
            factor.terms = {{code.registers++, static_cast<int>(code.coefficients.size()), false}};
            code.coefficients.push_back(scheme::make_number(*gain++));
        }
    }
    code.instructions = std::move(instructions);
}

model::StreamReach reach_of(const scheme::Program& program, const Settings& settings, const scheme::Environment& env) {
    model::BlockCode block;
    block.code = lower_block(program, scheme::SubLayers::attention_and_ffn, program.decide(env));
    if (!settings.init.empty() && scheme::find_normaliser(settings.norm).gain) {
        multiply_by_gains(settings, env, block.code);
    }
    std::vector<scheme::Coefficient> values;
    std::vector<scheme::CoefficientFacts> facts;
    evaluate_coefficients(block.code, env, scheme::Run::values, initial_learned(program, block.code, env), 1, values,
                          facts);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double start = std::fabs(values[i].value[0]);
        // A gate that starts at zero opens: its start bounds nothing.
        block.largest.push_back(start == 0 && scheme::has_learned(*block.code.coefficients[i]) ? 1 : start);
    }
    return model::stream_reach(block);
}

// Both parts of B(L), which superpose since |next| <= M |before| + c is linear: what becomes of the start, and what the
// blocks add from nothing.
struct Parts {
    double kept = 0;
    double added = 0;
    bool none = false;  // a sub-layer's output gets there as it is
};

Parts parts_of(const scheme::Program& program, const Settings& settings, std::size_t depth) {
    const std::size_t streams = program.stream_count();
    std::vector<Parts> now(streams, {1, 0, false});
    for (std::size_t l = 1; l <= depth; ++l) {
        const model::StreamReach block = reach_of(
            program, settings, scheme::Environment::block(l, depth, settings.dt, settings.tokens, settings.width));
        std::vector<Parts> next(streams);
        for (std::size_t s = 0; s < streams; ++s) {
            const bool is_finite = std::isfinite(block.constants[s]);
            next[s].added = is_finite ? block.constants[s] : 0;
            next[s].none = !is_finite;
            for (std::size_t from = 0; from < streams; ++from) {
                if (const double share = block.shares[s][from]; share != 0) {
                    next[s].kept += share * now[from].kept;
                    next[s].added += share * now[from].added;
                    next[s].none = next[s].none || now[from].none;
                }
            }
        }
        now = std::move(next);
    }
    return now[0];
}

struct PartLaw {
    WorstCase::Law law = WorstCase::Law::bounded;
    double power = 0;
};

// Of four values, each at twice the depth of the one before. What is gained from one to the next is 2^p times what was
// gained before it where B grows as L^p: p is 0 for a logarithm and below 0 where B converges. Two such p differ by a
// term in 1/L, which their extrapolation takes out; along an exponential p doubles.
PartLaw law_of_doublings(const std::array<double, 4>& values) {
    if (!std::isfinite(values[3])) {
        return {WorstCase::Law::exponential, 0};
    }
    const double first = values[1] - values[0];
    const double second = values[2] - values[1];
    const double third = values[3] - values[2];
    // A factor on the stream is told by its logarithm, however near to 1 it is.
    const auto log_over = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : 0.0; };
    if (const double late = log_over(values[3], values[2]);
        late > 1e-3 && late > 1.3 * log_over(values[2], values[1])) {
        return {WorstCase::Law::exponential, 0};
    }
    if (!(third > negligible * values[3])) {
        return {WorstCase::Law::bounded, 0};
    }
    if (!(second > 0 && first > 0)) {
        return {WorstCase::Law::power, 1};  // it has begun to grow only now
    }
    const double late = std::log2(third / second);
    const double early = std::log2(second / first);
    if (late - early > 0.5) {
        return {WorstCase::Law::exponential, 0};
    }
    const double power = 2 * late - early;
    if (power < -same_power) {
        return {WorstCase::Law::bounded, 0};
    }
    return power < same_power ? PartLaw{WorstCase::Law::logarithm, 0} : PartLaw{WorstCase::Law::power, power};
}

}  // namespace

WorstCase worst_case(const scheme::Scheme& scheme, const Settings& settings) {
    WorstCase result;
    result.depth = settings.depth;
    const Parts own = parts_of(scheme.program, settings, settings.depth);
    const Parts twice = parts_of(scheme.program, settings, 2 * settings.depth);
    result.length = own.kept + own.added;
    result.doubled = twice.kept + twice.added;
    std::array<Parts, 4> at;
    for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = parts_of(scheme.program, settings, std::max(settings.depth, least_blocks) << i);
    }
    if (own.none || std::any_of(at.begin(), at.end(), [](const Parts& one) { return one.none; })) {
        return result;
    }
    const PartLaw kept = law_of_doublings({at[0].kept, at[1].kept, at[2].kept, at[3].kept});
    const PartLaw added = law_of_doublings({at[0].added, at[1].added, at[2].added, at[3].added});
    result.law = std::max(kept.law, added.law);
    result.power = std::max(kept.power, added.power);
    return result;
}

std::string WorstCase::name() const {
    switch (law) {
        case Law::bounded:
            return "bounded";
        case Law::logarithm:
            return "linear";
        case Law::power:
            return power < 1 + same_power ? "linear" : power < 2 + same_power ? "quadratic" : "exponential";
        case Law::exponential:
            return "exponential";
        case Law::none:
            return "none";
    }
    unreachable();
}

std::string WorstCase::words() const {
    const auto number = [](double value) {
        return std::isfinite(value) ? format_short(value, 2) : std::string("more than 1e308");
    };
    const auto with_numbers = [&](const std::string& text) {
        return fmt::format("{} ({} after {} blocks and {} after {}, from 1 at the start)", text, number(length), depth,
                           number(doubled), 2 * depth);
    };
    const auto is_near = [&](double other) { return std::fabs(power - other) < same_power; };
    switch (law) {
        case Law::bounded:
            return with_numbers("bounded: whatever the weights are, more blocks make it no larger");
        case Law::logarithm:
            return with_numbers(
                "less than linear: whatever the weights are, it grows at most like the logarithm of the number of "
                "blocks");
        case Law::power: {
            const std::string over = is_near(1)   ? "linear"
                                     : power < 1  ? "less than linear"
                                     : is_near(2) ? "quadratic"
                                     : power < 2  ? "less than quadratic"
                                                  : "more than quadratic";
            const std::string shape =
                is_near(0.5) ? "like the square root of the number of blocks"
                : is_near(1) ? "in proportion to the number of blocks"
                : is_near(2) ? "like the square of the number of blocks"
                             : fmt::format("like the number of blocks to the power {}", format_short(power, 2));
            return with_numbers(fmt::format("{}: whatever the weights are, it grows at most {}", over, shape));
        }
        case Law::exponential:
            return with_numbers(
                "exponential: there are weights with which it grows exponentially, and none with which "
                "it grows faster");
        case Law::none:
            return "none: larger weights give a longer stream without limit";
    }
    unreachable();
}

Json WorstCase::document() const {
    const bool has_length = law != Law::none;
    const auto law_name = [&]() -> std::string {
        switch (law) {
            case Law::bounded:
                return "bounded";
            case Law::logarithm:
                return "logarithm";
            case Law::power:
                return "power";
            case Law::exponential:
                return "exponential";
            case Law::none:
                return "none";
        }
        unreachable();
    };
    Json json = Json::object();
    json["law"] = law_name();
    json["power"] = law == Law::power ? Json(power) : Json(nullptr);
    json["length"] = has_length ? Json(length) : Json(nullptr);
    json["doubled"] = has_length ? Json(doubled) : Json(nullptr);
    json["words"] = words();
    return json;
}

}  // namespace flyball::check
