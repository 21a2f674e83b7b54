// What is zero, known or unknown of every register, and what is needed: an abstract run of the code on three values in
// place of vectors. Whether f drops out of a limit is decided by coefficients that are exactly 0, never by small
// numbers.
#include "scheme/plan.hpp"

#include <fmt/format.h>

#include "scheme/normaliser.hpp"
#include "scheme/syntax.hpp"

namespace flyball::scheme {

namespace {

using Part = Mark::Part;

Part join(Part a, Part b) {
    return a > b ? a : b;  // zero < known < unknown
}

Mark& at(Plan& plan, int r) {
    return plan.marks[static_cast<std::size_t>(r)];
}

Mark source_mark(const Plan& plan, const Term& term) {
    if (term.source == ones_register) {
        Mark ones;
        ones.primal = Part::known;
        return ones;
    }
    return plan.marks[static_cast<std::size_t>(term.source)];
}

// out = sum c in with c = c0 + c1 eps:
//
//     primal   c0 in.primal                             c0 = 0 drops the term, so that 0 times unknown is no problem
//     slope    c0 in.slope + c1 in.primal
//
// and a part of the sum is as bad as its worst term.
void mark_combine(const Instruction& instruction, const std::vector<CoefficientFacts>& coefficients, Plan& plan) {
    Mark& out = at(plan, instruction.out);
    for (const Term& term : instruction.terms) {
        const CoefficientFacts& c = coefficients[static_cast<std::size_t>(term.coefficient)];
        const Mark in = source_mark(plan, term);
        const Part before_primal = out.primal;
        const Part before_slope = out.slope;
        if (!c.zero) {
            out.primal = join(out.primal, in.primal);
            out.slope = join(out.slope, in.slope);
        }
        if (!c.slope_zero) {
            // c1 * primal
            out.slope = join(out.slope, in.primal);
        }
        const bool newly_unknown = (out.primal == Part::unknown && before_primal != Part::unknown) ||
                                   (out.slope == Part::unknown && before_slope != Part::unknown);
        if (newly_unknown && out.blame < 0) {
            out.blame = in.blame;
        }
    }
}

void mark_apply(const Instruction& instruction, int index, Run run, Plan& plan) {
    const Mark& in = at(plan, instruction.in);
    Mark& out = at(plan, instruction.out);
    out.blame = in.blame;
    const RowFunction function = row_function(instruction.function);
    const bool smooth = smooth_at_zero(function) || !takes_limit(run);
    if (in.primal == Part::zero && !smooth && in.slope != Part::zero) {
        // norm(dt*v): 0 at dt = 0 and unit(v) just beside it.
        out.primal = out.slope = Part::unknown;
        out.blame = index;
        return;
    }
    // A model's norm may have a bias, and erf a shift: even norm(0) is a value then.
    out.primal = in.primal == Part::zero ? Part::known : in.primal;
    out.slope = in.primal == Part::unknown ? Part::unknown : in.slope;
}

// The output of a sub-layer. A limit knows its value at best, and only where its input is known; the slope would need
// the Jacobian of f. Outside limits slopes go only through readouts, which call nothing.
void mark_call(const Instruction& instruction, int index, Run run, Plan& plan) {
    const Mark& in = at(plan, instruction.in);
    Mark& out = at(plan, instruction.out);
    const bool opaque = run == Run::projection || run == Run::tangent || in.primal == Part::unknown;
    out.primal = opaque ? Part::unknown : Part::known;
    out.slope = !takes_limit(run) ? Part::zero : Part::unknown;
    out.blame = index;
}

// Which parts some later instruction reads, from the outputs back: a call whose value nobody needs is then never made.
void mark_needs(const Code& code, const std::vector<CoefficientFacts>& coefficients, Plan& plan) {
    for (const int r : code.streams_out) {
        at(plan, r).primal_needed = true;
        at(plan, r).slope_needed = true;
    }
    for (auto it = code.instructions.rbegin(); it != code.instructions.rend(); ++it) {
        const Mark out = at(plan, it->out);
        if (it->kind == Instruction::Kind::combine) {
            for (const Term& term : it->terms) {
                if (term.source == ones_register) {
                    continue;
                }
                const CoefficientFacts& c = coefficients[static_cast<std::size_t>(term.coefficient)];
                Mark& in = at(plan, term.source);
                in.primal_needed |= (out.computes_primal() && !c.zero) || (out.computes_slope() && !c.slope_zero);
                in.slope_needed |= out.computes_slope() && !c.zero;
            }
            continue;
        }
        Mark& in = at(plan, it->in);
        in.primal_needed |= out.computes_primal() || out.computes_slope();
        in.slope_needed |= it->kind == Instruction::Kind::apply && out.computes_slope();
    }
}

std::string blame_text(const Code& code, int index, Run run) {
    const Instruction& instruction = code.instructions[static_cast<std::size_t>(index)];
    const std::string text = print(*instruction.origin);
    if (instruction.kind == Instruction::Kind::apply) {
        return fmt::format("{} is applied to something that vanishes {}, where it has no derivative", text,
                           run == Run::tangent ? "at one t" : "with dt");
    }
    return fmt::format("{} is not multiplied by anything that vanishes {}", text,
                       run == Run::derivative ? "with dt" : "at dt = 0");
}

}  // namespace

// Forward: what is known of every register. At the outputs: is anything unknown? Backward: what is needed.
void make_plan(const Code& code, Run run, const std::vector<CoefficientFacts>& coefficients,
               const std::vector<Mark>& entry, Plan& plan) {
    plan.marks.assign(static_cast<std::size_t>(code.registers), Mark{});
    plan.problem.reset();
    if (takes_limit(run)) {
        for (std::size_t i = 0; i < coefficients.size(); ++i) {
            if (!coefficients[i].finite) {
                plan.problem = fmt::format("the coefficient {} or its derivative is not finite at dt = 0",
                                           print(*code.coefficients[i]));
                return;
            }
        }
    }
    if (code.embedding >= 0) {
        at(plan, code.embedding).primal = Part::known;
    }
    for (std::size_t i = 0; i < code.streams_in.size(); ++i) {
        at(plan, code.streams_in[i]) = entry[i];
    }
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const Instruction& instruction = code.instructions[i];
        switch (instruction.kind) {
            case Instruction::Kind::combine:
                mark_combine(instruction, coefficients, plan);
                break;
            case Instruction::Kind::apply:
                mark_apply(instruction, static_cast<int>(i), run, plan);
                break;
            case Instruction::Kind::call:
                mark_call(instruction, static_cast<int>(i), run, plan);
                break;
        }
    }
    for (const int r : code.streams_out) {
        const Mark& out = at(plan, r);
        if (out.primal == Part::unknown || out.slope == Part::unknown) {
            plan.problem = blame_text(code, out.blame, run);
            return;
        }
    }
    mark_needs(code, coefficients, plan);
}

}  // namespace flyball::scheme
