// The code on (a, b) in place of vectors: a plain interpreter, under the same plans as rows.
#include "scheme/plane.hpp"

#include <fmt/format.h>

#include <cmath>

#include "scheme/coefficients.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/plan.hpp"

namespace flyball::scheme {

namespace {

struct DualPlane {
    PlaneVector primal;
    PlaneVector slope;
    // The lengths of what each is the sum of, added up.
    double primal_parts = 0;
    double slope_parts = 0;
};

double length(const PlaneVector& x, double n) {
    // |x|^2 = a^2 (1 - 1/n) + (a/n + b)^2 n: two squares, no cancellation, and hypot neither overflows nor underflows.
    return std::hypot(x.a * std::sqrt(1 - 1 / n), (x.a / n + x.b) * std::sqrt(n));
}

// The same for <x_j, y_j> of one token: e_j splits into (e_j - m) of squared length 1 - 1/n and m = sum e_k/n of 1/n.
double dot(const PlaneVector& x, const PlaneVector& y, double n) {
    return x.a * y.a * (1 - 1 / n) + (x.a / n + x.b) * (y.a / n + y.b) * n;
}

PlaneVector operator*(double c, const PlaneVector& x) {
    return {c * x.a, c * x.b};
}
PlaneVector& operator+=(PlaneVector& x, const PlaneVector& y) {
    x.a += y.a;
    x.b += y.b;
    return x;
}

// unit(x) scaled by `radius`, with the derivative (x' - u <u, x'>) radius/|x|.
DualPlane normalise(const DualPlane& x, double n, double radius, bool with_slope) {
    const double size = length(x.primal, n);
    if (size == 0) {
        return {};
    }
    const PlaneVector u = (1 / size) * x.primal;
    DualPlane result{radius * u, {}, radius / size * x.primal_parts, 0};
    if (with_slope) {
        result.slope_parts = radius / size * x.slope_parts;
        PlaneVector v = x.slope;
        v += -dot(u, x.slope, n) * u;
        result.slope = (radius / size) * v;
    }
    return result;
}

// Runs code in the plane under a plan; the caller has checked that the program keeps the plane.
std::optional<std::string> run_plane(const Code& code, const Environment& env, Run run, const LearnedValues& learned,
                                     const std::vector<DualPlane>& streams, bool entry_slopes,
                                     const PlaneVector& embedding, PlaneFunction f, std::vector<DualPlane>& out) {
    std::vector<Coefficient> coefficients;
    std::vector<CoefficientFacts> facts;
    evaluate_coefficients(code, env, run, learned, 1, coefficients, facts);
    Mark entry;
    entry.primal = Mark::Part::known;
    entry.slope = entry_slopes ? Mark::Part::known : Mark::Part::zero;
    Plan plan;
    make_plan(code, run, facts, std::vector<Mark>(streams.size(), entry), plan);
    if (plan.problem) {
        return plan.problem;
    }
    // Registers start at zero, which is also what the plan calls zero.
    std::vector<DualPlane> registers(static_cast<std::size_t>(code.registers));
    const auto at = [&](int r) -> DualPlane& { return registers[static_cast<std::size_t>(r)]; };
    for (std::size_t i = 0; i < streams.size(); ++i) {
        at(code.streams_in[i]) = streams[i];
    }
    if (code.embedding >= 0) {
        at(code.embedding).primal = embedding;
        at(code.embedding).primal_parts = length(embedding, env.n);
    }
    for (const Instruction& instruction : code.instructions) {
        const Mark& mark = plan.marks[static_cast<std::size_t>(instruction.out)];
        if (!mark.computes_primal() && !mark.computes_slope()) {
            continue;
        }
        DualPlane& result = at(instruction.out);
        switch (instruction.kind) {
            case Instruction::Kind::combine:
                for (const Term& term : instruction.terms) {
                    if (term.source == ones_register) {
                        continue;  // plane_problem has made sure that it is zero
                    }
                    const double value = coefficients[static_cast<std::size_t>(term.coefficient)].value[0];
                    const double slope = coefficients[static_cast<std::size_t>(term.coefficient)].slope[0];
                    const DualPlane& source = at(term.source);
                    if (value != 0) {
                        result.primal += value * source.primal;
                        result.slope += value * source.slope;
                        result.primal_parts += std::abs(value) * source.primal_parts;
                        result.slope_parts += std::abs(value) * source.slope_parts;
                    }
                    if (slope != 0) {
                        result.slope += slope * source.primal;
                        result.slope_parts += std::abs(slope) * source.primal_parts;
                    }
                }
                break;
            case Instruction::Kind::apply: {
                const bool rms = row_function(instruction.function) == RowFunction::rms;
                result = normalise(at(instruction.in), env.n, rms ? std::sqrt(env.d) : 1, mark.computes_slope());
                break;
            }
            case Instruction::Kind::call: {
                const DualPlane& in = at(instruction.in);
                const double size = length(in.primal, env.n);
                result.primal = f(in.primal);
                result.primal_parts = length(result.primal, env.n) * (size > 0 ? in.primal_parts / size : 1);
                break;
            }
        }
    }
    out.resize(code.streams_out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = at(code.streams_out[i]);
    }
    return std::nullopt;
}

std::vector<DualPlane> without_slopes(const std::vector<PlaneVector>& streams, double n) {
    std::vector<DualPlane> result(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
        result[i].primal = streams[i];
        result[i].primal_parts = length(streams[i], n);
    }
    return result;
}

constexpr auto never_called = [](const PlaneVector&) -> PlaneVector { return {}; };

std::optional<std::string> code_problem(const Code& code, const Environment& env, const LearnedValues& learned) {
    std::vector<Coefficient> coefficients;
    std::vector<CoefficientFacts> facts;
    evaluate_coefficients(code, env, Run::values, learned, 1, coefficients, facts);
    for (const Instruction& instruction : code.instructions) {
        if (instruction.kind == Instruction::Kind::apply && !keeps_plane(row_function(instruction.function))) {
            return fmt::format("{} acts on each coordinate by itself", print(*instruction.origin));
        }
        for (const Term& term : instruction.terms) {
            if (term.source == ones_register && !facts[static_cast<std::size_t>(term.coefficient)].zero) {
                return fmt::format("the per-channel parameter {} is added to a vector",
                                   print(*code.coefficients[static_cast<std::size_t>(term.coefficient)]));
            }
        }
    }
    return std::nullopt;
}

}  // namespace

double squared_length(const PlaneVector& x, double n) {
    const double size = length(x, n);
    return size * size;
}

double one_minus_cosine(const PlaneVector& x, double n) {
    const double ratio = x.a / length(x, n);
    return ratio * ratio;
}

std::optional<std::string> plane_problem(const Program& program, const Environment& env) {
    const std::vector<bool> decisions = program.decide(env);
    const Code block = lower_block(program, SubLayers::attention_only, decisions);
    if (auto problem = code_problem(block, env, initial_learned(program, block, env))) {
        return problem;
    }
    const Code readout = lower_readout(program, decisions);
    return code_problem(readout, env, initial_learned(program, readout, env));
}

const PlaneStep::Variant& PlaneStep::variant(const Environment& env) {
    std::vector<bool> decisions = program_.decide(env);
    for (const Variant& known : variants_) {
        if (known.decisions == decisions) {
            return known;
        }
    }
    Code block = lower_block(program_, SubLayers::attention_only, decisions);
    Code readout = lower_readout(program_, decisions);
    variants_.push_back({std::move(decisions), std::move(block), std::move(readout)});
    return variants_.back();
}

std::optional<std::string> PlaneStep::layer(const Environment& env, std::vector<PlaneVector>& streams,
                                            const PlaneVector& embedding, PlaneFunction f) {
    const Code& code = variant(env).block;
    std::vector<DualPlane> out;
    auto problem = run_plane(code, env, Run::values, initial_learned(program_, code, env),
                             without_slopes(streams, env.n), false, embedding, f, out);
    for (std::size_t i = 0; !problem && i < out.size(); ++i) {
        streams[i] = out[i].primal;
    }
    return problem;
}

std::optional<std::string> PlaneStep::project(const Environment& env, std::vector<PlaneVector>& streams,
                                              const PlaneVector& embedding) {
    const Code& code = variant(env).block;
    std::vector<DualPlane> out;
    auto problem = run_plane(code, env, Run::projection, initial_learned(program_, code, env),
                             without_slopes(streams, env.n), false, embedding, never_called, out);
    for (std::size_t i = 0; !problem && i < out.size(); ++i) {
        streams[i] = out[i].primal;
    }
    return problem;
}

// As RowStep::velocity: the derivative of S at dt = 0, then that of N0 along it.
std::optional<std::string> PlaneStep::velocity(const Environment& env, const std::vector<PlaneVector>& streams,
                                               const PlaneVector& embedding, PlaneFunction f,
                                               std::vector<PlaneVector>& slopes, std::vector<double>* parts) {
    const Code& code = variant(env).block;
    const LearnedValues learned = initial_learned(program_, code, env);
    std::vector<DualPlane> middle;
    std::vector<DualPlane> out;
    if (auto problem = run_plane(code, env, Run::derivative, learned, without_slopes(streams, env.n), false, embedding,
                                 f, middle)) {
        return problem;
    }
    if (auto problem = run_plane(code, env, Run::projection, learned, middle, true, embedding, never_called, out)) {
        return problem;
    }
    slopes.resize(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        slopes[i] = out[i].slope;
    }
    if (parts) {
        parts->resize(out.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            (*parts)[i] = out[i].slope_parts;
        }
    }
    return std::nullopt;
}

std::optional<std::string> PlaneStep::readout(const Environment& env, const std::vector<PlaneVector>& streams,
                                              const PlaneVector& embedding, PlaneVector& out) {
    const Code& code = variant(env).readout;
    std::vector<DualPlane> result;
    auto problem = run_plane(code, env, Run::values, initial_learned(program_, code, env),
                             without_slopes(streams, env.n), false, embedding, never_called, result);
    if (!problem) {
        out = result.front().primal;
    }
    return problem;
}

std::optional<std::string> PlaneStep::readout_slope(const Environment& env, const std::vector<PlaneVector>& streams,
                                                    const std::vector<PlaneVector>& slopes,
                                                    const PlaneVector& embedding, PlaneVector& slope) {
    const Code& code = variant(env).readout;
    std::vector<DualPlane> moving = without_slopes(streams, env.n);
    for (std::size_t i = 0; i < moving.size(); ++i) {
        moving[i].slope = slopes[i];
    }
    std::vector<DualPlane> result;
    auto problem = run_plane(code, env, Run::projection, initial_learned(program_, code, env), moving, true, embedding,
                             never_called, result);
    if (!problem) {
        slope = result.front().slope;
    }
    return problem;
}

}  // namespace flyball::scheme
