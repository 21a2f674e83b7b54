// From a checked program to straight-line code. Sums and products stay formal (a list of coefficient and source) until
// somebody needs the vector; conditions are decided; locals are registers; what nothing reads is dropped.
#include <cassert>
#include <map>
#include <utility>

#include "core/unreachable.hpp"
#include "scheme/code.hpp"

namespace flyball::scheme {

namespace {

// A vector expression as sum c_i source_i, which is carried upwards through sums and products with scalars and becomes
// an instruction only where somebody needs the vector itself: as an argument, a statement's value, an output.
struct LinearTerm {
    ExpressionPtr coefficient;
    int source = ones_register;
    bool detached = false;
};
using LinearForm = std::vector<LinearTerm>;

void scale(LinearForm& form, Operator op, const ExpressionPtr& factor) {
    for (LinearTerm& term : form) {
        term.coefficient = make_binary(op, term.coefficient, factor);
    }
}

// Terms of one source become one term, so that x - dt*x is read once; a detached one stays apart, since reverse mode
// treats it differently.
void append(LinearForm& form, const LinearForm& more, bool negated) {
    for (const LinearTerm& term : more) {
        ExpressionPtr c = negated ? make_negate(term.coefficient) : term.coefficient;
        bool merged = false;
        for (LinearTerm& mine : form) {
            if (mine.source == term.source && mine.detached == term.detached) {
                mine.coefficient = make_binary(Operator::plus, mine.coefficient, c);
                merged = true;
                break;
            }
        }
        if (!merged) {
            form.push_back({std::move(c), term.source, term.detached});
        }
    }
}

// Each run of the statements has learned parameters of its own.
ExpressionPtr shift_learned(const ExpressionPtr& e, int offset) {
    if (offset == 0) {
        return e;
    }
    auto node = std::make_shared<Expression>(*e);
    if (node->kind == Expression::Kind::learned) {
        node->index += offset;
    }
    for (ExpressionPtr& argument : node->arguments) {
        argument = shift_learned(argument, offset);
    }
    return node;
}

class Lowering {
  public:
    Lowering(const Program& program, SubLayers sub_layers, const std::vector<bool>& decisions)
        : program_(program), decisions_(decisions), sub_layers_(sub_layers) {
        bound_.assign(program.variables().size(), -1);
        bound_[embedding_variable] = new_register();
        for (const int stream : program.streams()) {
            const int entry = new_register();
            code_.streams_in.push_back(entry);
            bound_[static_cast<std::size_t>(stream)] = entry;
        }
        bound_[block_input_variable] = bound_[x_variable];
        embedding_register_ = bound_[embedding_variable];
    }

    void run(const std::vector<Statement>& statements, SubLayer f_means, int instance) {
        f_means_ = f_means;
        instance_ = instance;
        for (const Statement& statement : statements) {
            const int value = materialise(lower(*statement.value), statement.value);
            bound_[static_cast<std::size_t>(statement.target)] = value;
        }
    }

    Code finish_block() {
        // A stream that ends as another stream's old value gets a copy, so that results may overwrite the streams in
        // place.
        for (std::size_t i = 0; i < program_.stream_count(); ++i) {
            int value = bound_[static_cast<std::size_t>(program_.streams()[i])];
            const bool is_entry = value <= code_.streams_in.back();
            if (is_entry && value != code_.streams_in[i]) {
                value = copy(value);
            }
            code_.streams_out.push_back(value);
        }
        return finish();
    }

    Code finish_readout() {
        code_.streams_out.push_back(materialise(lower(*program_.readout()), program_.readout()));
        return finish();
    }

  private:
    int new_register() { return code_.registers++; }
    int copy(int source) { return emit_combine({{make_number(1), source, false}}, nullptr); }
    int emit_combine(LinearForm form, const ExpressionPtr& origin);

    LinearForm lower(const Expression& e);
    LinearForm lower_call(const Expression& e);
    int materialise(LinearForm form, const ExpressionPtr& origin);
    LinearForm as_vector(const ExpressionPtr& e) {
        if (e->type == Type::vector) {
            return lower(*e);
        }
        return {{learned(e), ones_register, false}};  // a per-channel parameter added to a vector
    }
    ExpressionPtr learned(const ExpressionPtr& e) const {
        return shift_learned(e, instance_ * static_cast<int>(program_.learned().size()));
    }
    Code finish();

    const Program& program_;
    const std::vector<bool>& decisions_;
    SubLayers sub_layers_;
    Code code_;
    std::vector<int> bound_;  // register that holds a variable now
    int embedding_register_ = -1;
    SubLayer f_means_ = SubLayer::attention;
    int instance_ = 0;
};

//     a variable       1*its register
//     a + b, a - b     the terms of both
//     c * a, a / c     the terms of a with c multiplied into their coefficients
//     c ? a : b        the side that was decided
//     a call           an instruction of its own; 1*its result
LinearForm Lowering::lower(const Expression& e) {
    switch (e.kind) {
        case Expression::Kind::variable: {
            const int source = bound_[static_cast<std::size_t>(e.index)];
            assert(source >= 0);
            return {{make_number(1), source, false}};
        }
        case Expression::Kind::negate: {
            LinearForm result;
            append(result, lower(*e.arguments[0]), true);
            return result;
        }
        case Expression::Kind::binary: {
            if (e.op == Operator::plus || e.op == Operator::minus) {
                LinearForm result = as_vector(e.arguments[0]);
                append(result, as_vector(e.arguments[1]), e.op == Operator::minus);
                return result;
            }
            const bool vector_first = e.arguments[0]->type == Type::vector;
            LinearForm result = lower(vector_first ? *e.arguments[0] : *e.arguments[1]);
            scale(result, e.op, learned(vector_first ? e.arguments[1] : e.arguments[0]));
            return result;
        }
        case Expression::Kind::select: {
            const bool holds = decisions_[static_cast<std::size_t>(e.index)];
            return lower(*e.arguments[holds ? 1 : 2]);
        }
        case Expression::Kind::call:
            return lower_call(e);
        case Expression::Kind::number:
        case Expression::Kind::name:
        case Expression::Kind::compare:
        case Expression::Kind::quantity:
        case Expression::Kind::learned:
            break;  // not a vector
    }
    unreachable();
}

LinearForm Lowering::lower_call(const Expression& e) {
    assert(e.kind == Expression::Kind::call);
    const bool calls_ffn =
        e.function == Function::ffn || (e.function == Function::f && f_means_ == SubLayer::feed_forward);
    if (calls_ffn && sub_layers_ == SubLayers::attention_only) {
        return {};  // a sub-layer that is not there adds nothing
    }
    const int in = materialise(lower(*e.arguments[0]), e.arguments[0]);
    if (e.function == Function::detach) {
        return {{make_number(1), in, true}};
    }
    Instruction instruction;
    instruction.in = in;
    instruction.origin = std::make_shared<Expression>(e);
    if (e.function == Function::f || e.function == Function::attn || e.function == Function::ffn) {
        instruction.kind = Instruction::Kind::call;
        instruction.sub_layer = calls_ffn ? SubLayer::feed_forward : SubLayer::attention;
    } else {
        instruction.kind = Instruction::Kind::apply;
        instruction.function = e.function;
        if (e.function == Function::norm) {
            instruction.norm = instance_ * program_.norm_count() + e.index;
        }
    }
    instruction.out = new_register();
    const int out = instruction.out;
    code_.instructions.push_back(std::move(instruction));
    return {{make_number(1), out, false}};
}

// The register that holds a form: the source itself where the form is 1*source, which costs nothing.
int Lowering::materialise(LinearForm form, const ExpressionPtr& origin) {
    if (form.size() == 1 && !form[0].detached && form[0].source != ones_register &&
        form[0].coefficient->kind == Expression::Kind::number && form[0].coefficient->number == 1) {
        return form[0].source;
    }
    return emit_combine(std::move(form), origin);
}

int Lowering::emit_combine(LinearForm form, const ExpressionPtr& origin) {
    Instruction instruction;
    instruction.kind = Instruction::Kind::combine;
    instruction.origin = origin;
    for (LinearTerm& term : form) {
        instruction.terms.push_back({term.source, static_cast<int>(code_.coefficients.size()), term.detached});
        code_.coefficients.push_back(std::move(term.coefficient));
    }
    instruction.out = new_register();
    const int out = instruction.out;
    code_.instructions.push_back(std::move(instruction));
    return out;
}

// Drops what nothing reads, from the end back, then cuts at calls: stage s is everything between call s - 1 and call s.
Code Lowering::finish() {
    std::vector<bool> live(static_cast<std::size_t>(code_.registers), false);
    const auto mark = [&](int r) {
        if (r != ones_register) {
            live[static_cast<std::size_t>(r)] = true;
        }
    };
    for (const int r : code_.streams_out) {
        mark(r);
    }
    std::vector<Instruction> kept;
    for (auto it = code_.instructions.rbegin(); it != code_.instructions.rend(); ++it) {
        if (!live[static_cast<std::size_t>(it->out)]) {
            continue;
        }
        if (it->kind == Instruction::Kind::combine) {
            for (const Term& term : it->terms) {
                mark(term.source);
            }
        } else {
            mark(it->in);
        }
        kept.push_back(std::move(*it));
    }
    code_.instructions.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    code_.embedding = live[static_cast<std::size_t>(embedding_register_)] ? embedding_register_ : -1;

    Stage stage;
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
        stage.end = i;
        if (code_.instructions[i].kind == Instruction::Kind::call) {
            stage.call = static_cast<int>(i);
            code_.stages.push_back(stage);
            stage = {i + 1, i + 1, -1};
        }
    }
    stage.end = code_.instructions.size();
    code_.stages.push_back(stage);

    const std::size_t runs = static_cast<std::size_t>(instance_) + 1;
    code_.learned_count = runs * program_.learned().size();
    code_.norm_count = runs * static_cast<std::size_t>(program_.norm_count());
    return std::move(code_);
}

}  // namespace

Code lower_block(const Program& program, SubLayers sub_layers, const std::vector<bool>& decisions) {
    Lowering lowering(program, sub_layers, decisions);
    lowering.run(program.statements(SubLayer::attention), SubLayer::attention, 0);
    if (sub_layers == SubLayers::attention_and_ffn) {
        const int instance = program.form() == Program::Form::per_sub_layer ? 1 : 0;
        lowering.run(program.statements(SubLayer::feed_forward), SubLayer::feed_forward, instance);
    }
    return lowering.finish_block();
}

Code lower_readout(const Program& program, const std::vector<bool>& decisions) {
    return Lowering(program, SubLayers::attention_only, decisions).finish_readout();
}

}  // namespace flyball::scheme
