// Finding the contribution of each call in a block's code, and codes in which it is scaled or shown. Code in, code out:
// whoever runs them needs no case for it.
#include "scheme/branches.hpp"

namespace flyball::scheme {

namespace {

// Whether each register flows from `from` through row-wise instructions.
std::vector<bool> flows_from(const Code& code, int from) {
    std::vector<bool> reached(index(code.registers), false);
    reached[index(from)] = true;
    for (const Instruction& instruction : code.instructions) {
        bool reads = instruction.kind == Instruction::Kind::apply && reached[index(instruction.in)];
        for (const Term& term : instruction.terms) {
            reads = reads || (term.source != ones_register && reached[index(term.source)]);
        }
        if (reads) {
            reached[index(instruction.out)] = true;
        }
    }
    return reached;
}

std::size_t stream_of(const Code& code, int sum) {
    const std::vector<bool> reached = flows_from(code, sum);
    for (std::size_t i = 0; i < code.streams_in.size(); ++i) {
        if (reached[index(code.streams_out[i])]) {
            return i;
        }
    }
    return 0;
}

// Marks the branch of one call register by register, in the order of the code, and notes where it ends (the header says
// what a branch is). Biases (ones) count as nothing else: a branch with a bias added is still the branch alone.
void follow(const Code& code, std::size_t call, std::vector<Contribution>& found) {
    std::vector<bool> branch(index(code.registers), false);
    const SubLayer sub_layer = code.instructions[call].sub_layer;
    branch[index(code.instructions[call].out)] = true;
    for (std::size_t i = call + 1; i < code.instructions.size(); ++i) {
        const Instruction& instruction = code.instructions[i];
        if (instruction.kind == Instruction::Kind::apply) {
            branch[index(instruction.out)] = branch[index(instruction.in)];
        }
        if (instruction.kind != Instruction::Kind::combine) {
            continue;
        }
        Contribution contribution{sub_layer, 0, static_cast<int>(i), {}};
        bool alone = true;
        for (const Term& term : instruction.terms) {
            if (term.source != ones_register && branch[index(term.source)]) {
                contribution.terms.push_back(term);
            } else if (term.source != ones_register) {
                alone = false;
            }
        }
        if (contribution.terms.empty()) {
            continue;
        }
        if (alone) {
            branch[index(instruction.out)] = true;
        } else {
            contribution.stream = stream_of(code, instruction.out);
            found.push_back(std::move(contribution));
        }
    }
    for (std::size_t i = 0; i < code.streams_in.size(); ++i) {
        if (branch[index(code.streams_out[i])]) {
            found.push_back({sub_layer, i, -1, {}});
        }
    }
}

// A combine after all instructions, in the last stage.
int append(std::vector<Term> terms, Code& code) {
    Instruction instruction;
    instruction.kind = Instruction::Kind::combine;
    instruction.terms = std::move(terms);
    instruction.out = code.registers++;
    code.instructions.push_back(instruction);
    code.stages.back().end = code.instructions.size();
    return instruction.out;
}

Term whole(int source, double factor, Code& code) {
    code.coefficients.push_back(make_number(factor));
    return {source, static_cast<int>(code.coefficients.size()) - 1, false};
}

}  // namespace

std::vector<Contribution> contributions(const Code& code) {
    std::vector<Contribution> found;
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        if (code.instructions[i].kind == Instruction::Kind::call) {
            follow(code, i, found);
        }
    }
    return found;
}

void scale_branches(const BranchFactors& factors, Code& code) {
    for (const Contribution& contribution : contributions(code)) {
        const double factor = contribution.sub_layer == SubLayer::attention ? factors.attention : factors.feed_forward;
        if (factor == 1) {
            continue;
        }
        for (const Term& term : contribution.terms) {
            // Every term has a coefficient of its own.
            ExpressionPtr& coefficient = code.coefficients[index(term.coefficient)];
            coefficient = make_binary(Operator::times, make_number(factor), coefficient);
        }
        if (contribution.instruction < 0) {
            int& out = code.streams_out[contribution.stream];
            out = append({whole(out, factor, code)}, code);
        }
    }
}

std::vector<Contribution> add_outputs(Code& code) {
    std::vector<Contribution> found = contributions(code);
    for (const Contribution& contribution : found) {
        std::vector<Term> terms = contribution.terms;
        if (contribution.instruction < 0) {
            terms = {whole(code.streams_out[contribution.stream], 1, code)};
        }
        code.streams_out.push_back(append(std::move(terms), code));
    }
    return found;
}

BranchedCode lower_branches(const Program& program, SubLayers sub_layers, const std::vector<bool>& decisions,
                            const BranchFactors& factors, bool shown) {
    BranchedCode result{lower_block(program, sub_layers, decisions), {}};
    scale_branches(factors, result.code);
    if (shown) {
        result.shown = add_outputs(result.code);
    }
    return result;
}

}  // namespace flyball::scheme
