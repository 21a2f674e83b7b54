#include "check/conformance_alter.hpp"

#include <algorithm>

namespace flyball::check {

namespace {

using scheme::Code;
using scheme::Instruction;

bool drop_norm(Code& code, int norm, int modulus) {
    bool found = false;
    for (Instruction& instruction : code.instructions) {
        if (instruction.norm >= 0 && instruction.norm % modulus == norm) {
            found = true;
            instruction.kind = Instruction::Kind::combine;
            instruction.norm = -1;
            instruction.terms = {{instruction.in, static_cast<int>(code.coefficients.size()), false}};
            code.coefficients.push_back(scheme::make_number(1));
        }
    }
    return found;
}

// Whether the register is, or is made row by row from, what a norm gave, and feeds a call.
bool feeds_call(const Code& code, int reg) {
    return std::any_of(code.instructions.begin(), code.instructions.end(), [&](const Instruction& instruction) {
        if (instruction.kind == Instruction::Kind::call) {
            return instruction.in == reg;
        }
        return instruction.kind == Instruction::Kind::combine && instruction.terms.size() == 1 &&
               instruction.terms[0].source == reg && feeds_call(code, instruction.out);
    });
}

// In every sum of several terms the vector `from` gives way to `to`, after the instruction numbered `start`.
bool replace_skip(Code& code, std::size_t start, int from, int to) {
    bool found = false;
    for (std::size_t i = start; i < code.instructions.size(); ++i) {
        Instruction& instruction = code.instructions[i];
        if (instruction.kind == Instruction::Kind::combine && instruction.terms.size() > 1) {
            for (scheme::Term& term : instruction.terms) {
                if (term.source == from) {
                    term.source = to;
                    found = true;
                }
            }
        }
    }
    return found;
}

bool move_skip(Code& code, bool after) {
    bool found = false;
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const Instruction& instruction = code.instructions[i];
        if (instruction.kind == Instruction::Kind::apply && instruction.norm >= 0 &&
            feeds_call(code, instruction.out)) {
            const int in = instruction.in;
            const int out = instruction.out;
            found = replace_skip(code, i + 1, after ? in : out, after ? out : in) || found;
        }
    }
    return found;
}

}  // namespace

bool alter_code(const Hypothesis& hypothesis, scheme::Code& code) {
    switch (hypothesis.alteration) {
        case Alteration::none:
        case Alteration::parallel:
        case Alteration::ffn_first:
            return true;
        case Alteration::without_norm:
            return drop_norm(code, hypothesis.norm, hypothesis.program.norm_count());
        case Alteration::without_one_norm:
            return drop_norm(code, hypothesis.norm, static_cast<int>(code.norm_count));
        case Alteration::skip_after_norm:
            return move_skip(code, true);
        case Alteration::skip_before_norm:
            return move_skip(code, false);
    }
    return false;
}

}  // namespace flyball::check
