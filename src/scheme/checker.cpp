// Program::parse: names, types, substitution. One pass over the statements in the order they run.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "core/suggest.hpp"
#include "scheme/program.hpp"
#include "scheme/syntax_error.hpp"
#include "scheme/typing.hpp"

namespace flyball::scheme {

namespace {

// Locals are written out where they are used; this bounds what a hostile chain of doublings can cost.
constexpr std::size_t largest_expression = 20000;

bool is_reserved(const std::string& name) {
    return find_function(name) != nullptr || find_quantity(name) != nullptr || name == "x0" || name == "b" ||
           name == "where";
}

ExpressionPtr with_number(const ExpressionPtr& e, Quantity quantity, double value) {
    const QuantityName* const known = e->kind == Expression::Kind::name ? find_quantity(e->text) : nullptr;
    if (known != nullptr) {
        if (known->quantity != quantity) {
            return e;
        }
        auto number = std::make_shared<Expression>();
        number->span = e->span;
        number->number = value;
        return number;
    }
    auto node = std::make_shared<Expression>(*e);
    for (ExpressionPtr& argument : node->arguments) {
        argument = with_number(argument, quantity, value);
    }
    return node;
}

}  // namespace

class Checker {
  public:
    explicit Checker(Syntax syntax) : text_(syntax.text), syntax_(std::move(syntax)) {}

    Program run();

  private:
    struct Known {  // a name that has a value at this point of the program
        Type type = Type::vector;
        ExpressionPtr value;  // scalars and channels: what to substitute
        int variable = -1;    // vectors
    };

    void check_parameters();
    void check_calls();
    void check_any_call() const;
    void check_statement(Assignment& statement, std::vector<Statement>& into);
    void check_readout();
    void check_all_used() const;

    Type type_of_name(const Expression& name);
    Type type_of_readout_name(const Expression& name);
    [[noreturn]] void fail_unknown(const Expression& name) const;
    ExpressionPtr resolve(const ExpressionPtr& typed);
    ExpressionPtr resolve_name(const Expression& name);
    int add_variable(const std::string& name, Variable::Kind kind);
    const Parameter* find_parameter(const std::string& name) const;

    std::string text_;
    Syntax syntax_;
    Program program_;
    std::map<std::string, Known> known_;
    std::map<std::string, int> stream_index_;
    std::set<std::string> assigned_somewhere_;
    std::set<std::string> used_parameters_;
};

int Checker::add_variable(const std::string& name, Variable::Kind kind) {
    program_.variables_.push_back({name, kind});
    return static_cast<int>(program_.variables_.size()) - 1;
}

const Parameter* Checker::find_parameter(const std::string& name) const {
    for (const Parameter& parameter : program_.parameters_) {
        if (parameter.name == name) {
            return &parameter;
        }
    }
    return nullptr;
}

// Parameters first, since statements read them; then every name that is assigned anywhere, so that one that is read
// before it is assigned is known as a stream; then the statements in the order in which they run.
Program Checker::run() {
    add_variable("x0", Variable::Kind::embedding);
    add_variable("b", Variable::Kind::block_input);
    stream_index_["x"] = add_variable("x", Variable::Kind::stream);
    program_.streams_.push_back(x_variable);

    check_parameters();
    check_calls();
    for (const Section& section : syntax_.sections) {
        for (const Assignment& statement : section.statements) {
            assigned_somewhere_.insert(statement.name);
        }
    }
    for (Section& section : syntax_.sections) {
        auto& into = section.label == Section::Label::ffn ? program_.feed_forward_ : program_.attention_;
        for (Assignment& statement : section.statements) {
            check_statement(statement, into);
        }
    }
    if (!assigned_somewhere_.contains("x")) {
        const Assignment& last = syntax_.sections.back().statements.back();
        fail_at(text_, last.name_span, "an equation that never assigns x", "one statement x = ...",
                "x is the residual stream");
    }
    if (program_.form_ == Program::Form::per_sub_layer) {
        program_.feed_forward_ = program_.attention_;
    }
    check_readout();
    check_all_used();
    check_any_call();
    program_.syntax_ = std::move(syntax_);
    return std::move(program_);
}

void Checker::check_parameters() {
    for (ParameterSyntax& parameter : syntax_.parameters) {
        if (is_reserved(parameter.name) || parameter.name == "x") {
            fail_at(text_, parameter.span, fmt::format("a parameter called {}", flyball::quoted(parameter.name)),
                    "a name that the language does not use itself");
        }
        if (find_parameter(parameter.name) != nullptr) {
            fail_at(text_, parameter.span, fmt::format("the parameter {} twice", flyball::quoted(parameter.name)),
                    "every parameter once");
        }
        parameter.value = assign_parameter_types(text_, *parameter.value);
        const Parameter checked{parameter.name, parameter.learned, parameter.per_channel, resolve(parameter.value)};
        program_.parameters_.push_back(checked);
        if (parameter.learned) {
            program_.learned_.push_back(checked);
        }
    }
}

void Checker::check_calls() {
    const bool labelled = syntax_.sections.size() > 1;
    const Expression* first_f = nullptr;
    const Expression* first_named = nullptr;
    for (const Section& section : syntax_.sections) {
        for (const Assignment& statement : section.statements) {
            walk(*statement.value, [&](const Expression& e) {
                if (e.kind != Expression::Kind::call) {
                    return;
                }
                if (e.text == "f" && first_f == nullptr) {
                    first_f = &e;
                } else if ((e.text == "attn" || e.text == "ffn") && first_named == nullptr) {
                    first_named = &e;
                }
            });
        }
    }
    if (first_named != nullptr && (first_f != nullptr || labelled)) {
        fail_at(
            text_, first_named->span,
            fmt::format("{}( ) {}", first_named->text, labelled ? "inside a labelled section" : "together with f( )"),
            labelled ? "f( ), which means the section's own sub-layer"
                     : "either f( ), run once per sub-layer, or attn( ) and ffn( ), run once per block");
    }
    program_.form_ = labelled                 ? Program::Form::sections
                     : first_named != nullptr ? Program::Form::block
                                              : Program::Form::per_sub_layer;
}

// After everything else: a misspelt f should be called misspelt.
void Checker::check_any_call() const {
    bool called = false;
    for (const Section& section : syntax_.sections) {
        for (const Assignment& statement : section.statements) {
            walk(*statement.value, [&](const Expression& e) {
                called = called ||
                         (e.kind == Expression::Kind::call && (e.text == "f" || e.text == "attn" || e.text == "ffn"));
            });
        }
    }
    if (!called) {
        const Assignment& last = syntax_.sections.back().statements.back();
        fail_at(text_, last.value->span, "an equation that calls no sub-layer", "a call of f, attn or ffn",
                "for example x + dt*f(norm(x))");
    }
}

void Checker::check_statement(Assignment& statement, std::vector<Statement>& into) {
    if (is_reserved(statement.name) || find_parameter(statement.name) != nullptr) {
        fail_at(text_, statement.name_span, fmt::format("an assignment to {}", flyball::quoted(statement.name)),
                "a stream or a new name",
                find_parameter(statement.name) != nullptr ? "parameters are fixed by 'where'"
                                                          : "the language uses this name itself");
    }
    statement.value =
        assign_types(text_, *statement.value, [this](const Expression& name) { return type_of_name(name); });
    const Type type = statement.value->type;
    if (type == Type::condition) {
        fail_at(text_, statement.value->span, "a comparison as a value", "a scalar or a vector",
                "use it as (a < b ? this : that)");
    }
    const ExpressionPtr value = resolve(statement.value);
    const bool stream = stream_index_.contains(statement.name);
    if (stream && type != Type::vector) {
        fail_at(
            text_, statement.value->span,
            fmt::format("{} assigned to {}", name(type), statement.name == "x" ? "x" : flyball::quoted(statement.name)),
            "a vector",
            statement.name == "x" ? "x is the residual stream"
                                  : "a name that is read before it is assigned is a stream of vectors");
    }
    const auto before = known_.find(statement.name);
    if (before != known_.end() && (before->second.type == Type::vector) != (type == Type::vector)) {
        fail_at(text_, statement.value->span,
                fmt::format("{} assigned to {}, which was {}", name(type), flyball::quoted(statement.name),
                            name(before->second.type)),
                "the same type every time");
    }
    if (type != Type::vector) {
        known_[statement.name] = {type, value, -1};
        return;
    }
    int variable = -1;
    if (stream) {
        variable = stream_index_[statement.name];
    } else if (before != known_.end()) {
        variable = before->second.variable;
    } else {
        variable = add_variable(statement.name, Variable::Kind::local);
    }
    known_[statement.name] = {type, nullptr, variable};
    into.push_back({variable, value});
}

void Checker::fail_unknown(const Expression& name) const {
    std::vector<std::string> candidates;
    for (const QuantityName& row : quantity_names()) {
        candidates.emplace_back(row.name);
    }
    for (const Parameter& parameter : program_.parameters_) {
        candidates.push_back(parameter.name);
    }
    for (const auto& [stream, index] : stream_index_) {
        candidates.push_back(stream);
    }
    for (const auto& [local, value] : known_) {
        candidates.push_back(local);
    }
    candidates.insert(candidates.end(), {"x0", "b"});
    std::string hint;
    if (name.text == "l") {
        hint = "the block's number is not a quantity of its own: use t (0 in the first block) or depth";
    } else if (find_function(name.text) != nullptr) {
        hint = fmt::format("{} is a function: write {}(...)", name.text, name.text);
    } else if (const std::string near = nearest(name.text, candidates); !near.empty()) {
        hint = fmt::format("did you mean {}?", near);
    } else {
        hint = fmt::format("declare it: ... where {} = 1", name.text);
    }
    fail_at(text_, name.span, fmt::format("the unknown name {}", flyball::quoted(name.text)),
            "a stream, a local, a parameter, or one of dt, t, T, L, depth, n, d, x0, b", hint);
}

// What a name is, in the order in which one meaning hides another.
Type Checker::type_of_name(const Expression& name) {
    if (find_quantity(name.text) != nullptr) {
        return Type::scalar;
    }
    if (const Parameter* parameter = find_parameter(name.text)) {
        used_parameters_.insert(name.text);
        return parameter->per_channel ? Type::channel : Type::scalar;
    }
    if (name.text == "x0" || name.text == "b") {
        return Type::vector;
    }
    if (const auto found = known_.find(name.text); found != known_.end()) {
        return found->second.type;
    }
    if (stream_index_.contains(name.text)) {
        return Type::vector;
    }
    if (assigned_somewhere_.contains(name.text) && !is_reserved(name.text)) {  // read before it is assigned: a stream
        const int variable = add_variable(name.text, Variable::Kind::stream);
        stream_index_[name.text] = variable;
        program_.streams_.push_back(variable);
        return Type::vector;
    }
    fail_unknown(name);
}

Type Checker::type_of_readout_name(const Expression& name) {
    const bool local = known_.contains(name.text) && !stream_index_.contains(name.text);
    if (local || name.text == "b") {
        fail_at(text_, name.span, fmt::format("{} in the readout", flyball::quoted(name.text)),
                "a stream, which lives beyond the last block", "locals and b end with their block");
    }
    return type_of_name(name);
}

ExpressionPtr Checker::resolve_name(const Expression& name) {
    auto node = std::make_shared<Expression>(name);
    if (const QuantityName* quantity = find_quantity(name.text)) {
        node->kind = Expression::Kind::quantity;
        node->quantity = quantity->quantity;
        return node;
    }
    if (const Parameter* parameter = find_parameter(name.text)) {
        if (!parameter->learned) {
            auto value = std::make_shared<Expression>(*parameter->value);
            value->type = name.type;
            value->span = name.span;
            return value;
        }
        node->kind = Expression::Kind::learned;
        for (std::size_t i = 0; i < program_.learned_.size(); ++i) {
            if (program_.learned_[i].name == name.text) {
                node->index = static_cast<int>(i);
            }
        }
        return node;
    }
    const auto found = known_.find(name.text);
    if (found != known_.end() && found->second.value != nullptr) {
        return found->second.value;
    }
    node->kind = Expression::Kind::variable;
    if (name.text == "x0") {
        node->index = embedding_variable;
    } else if (name.text == "b") {
        node->index = block_input_variable;
    } else if (found != known_.end()) {
        node->index = found->second.variable;
    } else {
        node->index = stream_index_.at(name.text);
    }
    return node;
}

// Names become what they stand for; scalar locals and fixed parameters are written out. Sizes are counted on the way.
ExpressionPtr Checker::resolve(const ExpressionPtr& typed) {
    if (typed->kind == Expression::Kind::name) {
        return resolve_name(*typed);
    }
    auto node = std::make_shared<Expression>(*typed);
    node->size = 1;
    for (ExpressionPtr& argument : node->arguments) {
        argument = resolve(argument);
        node->size += argument->size;
    }
    if (node->size > largest_expression) {
        fail_at(text_, node->span, "an expression that is very large once its names are written out",
                fmt::format("at most {} symbols", largest_expression));
    }
    if (node->kind == Expression::Kind::select) {
        walk(*node->arguments[0], [&](const Expression& e) {
            if (e.kind == Expression::Kind::learned) {
                fail_at(text_, typed->arguments[0]->span, "a condition on a learned parameter",
                        "a condition that is known before the run", "compare t, depth, L or a fixed parameter");
            }
        });
        if (node->type == Type::vector) {
            node->index = static_cast<int>(program_.conditions_.size());
            program_.conditions_.push_back(node->arguments[0]);
        }
    }
    if (node->kind == Expression::Kind::call && node->function == Function::norm) {
        node->index = program_.norm_count_++;
    }
    return node;
}

void Checker::check_readout() {
    if (syntax_.readout == nullptr) {
        auto x = std::make_shared<Expression>();
        x->kind = Expression::Kind::variable;
        x->type = Type::vector;
        x->text = "x";
        x->index = x_variable;
        program_.readout_ = x;
        return;
    }
    walk(*syntax_.readout, [&](const Expression& e) {
        if (e.kind == Expression::Kind::call && (e.text == "f" || e.text == "attn" || e.text == "ffn")) {
            fail_at(text_, e.span, fmt::format("{}( ) in the readout", e.text), "streams, norms and scalars only",
                    "sub-layers belong to blocks");
        }
    });
    syntax_.readout =
        assign_types(text_, *syntax_.readout, [this](const Expression& name) { return type_of_readout_name(name); });
    if (syntax_.readout->type != Type::vector) {
        fail_at(text_, syntax_.readout->span, fmt::format("{} as the readout", name(syntax_.readout->type)),
                "a vector");
    }
    program_.readout_ = resolve(syntax_.readout);
}

void Checker::check_all_used() const {
    for (const ParameterSyntax& parameter : syntax_.parameters) {
        if (!used_parameters_.contains(parameter.name)) {
            fail_at(text_, parameter.span,
                    fmt::format("the parameter {}, which the equation does not use", flyball::quoted(parameter.name)),
                    "a parameter that appears in the equation");
        }
    }
}

Program Program::parse(std::string_view text) {
    return Checker(parse_syntax(text)).run();
}

// Quantities are reserved names, so every name spelled like one is that quantity. Spans still point into the text.
Program Program::with_quantity(Quantity quantity, double value) const {
    Syntax changed = syntax_;
    for (Section& section : changed.sections) {
        for (Assignment& statement : section.statements) {
            statement.value = with_number(statement.value, quantity, value);
        }
    }
    if (changed.readout != nullptr) {
        changed.readout = with_number(changed.readout, quantity, value);
    }
    for (ParameterSyntax& parameter : changed.parameters) {
        parameter.value = with_number(parameter.value, quantity, value);
    }
    return Checker(std::move(changed)).run();
}

}  // namespace flyball::scheme
