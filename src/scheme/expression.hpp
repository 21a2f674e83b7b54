// Expressions of the scheme language: the tree that the parser builds and everything else reads.
//
// A tree is immutable and shared (ExpressionPtr), so substituting a local name costs a pointer. Each node knows the
// span of source text it came from, for carets, and its type once the checker has seen it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::scheme {

enum class Type {
    scalar,     // one number for all tokens and channels
    channel,    // one number per channel: what a [d] parameter is
    vector,     // one row of d numbers per token
    condition,  // a comparison; only ever stands before '?'
};
std::string_view name(Type type) noexcept;

enum class Operator {
    none,
    plus,
    minus,
    times,
    divide,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal
};
std::string_view symbol(Operator op) noexcept;

// Quantities that a run provides. Their meaning in layers, models and ODEs is fixed by Environment (environment.hpp).
enum class Quantity { dt, t, T, L, depth, n, d };
inline constexpr int quantity_count = 7;

enum class Function {
    // scalar -> scalar
    sqrt,
    log,
    exp,
    min,
    max,
    // vector -> vector
    f,
    attn,
    ffn,
    norm,
    unit,
    rms,
    ln,
    tanh,
    erf,
    detach,
};

// The tables of names: the lexer, the checker, error hints and the manual's tests read these and nothing else.
struct QuantityName {
    Quantity quantity;
    std::string_view name;
    std::string_view meaning;
};
struct FunctionName {
    Function function;
    std::string_view name;
    bool of_vector;  // argument and result are vectors; otherwise scalars
    int arity;
};
const std::vector<QuantityName>& quantity_names();
const std::vector<FunctionName>& function_names();
const FunctionName& describe(Function function);
const FunctionName* find_function(std::string_view name);
const QuantityName* find_quantity(std::string_view name);

struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Expression {
    enum class Kind {
        number,    // number
        name,      // text: a quantity, parameter, local, stream, x0 or b, decided by the checker
        negate,    // arguments[0]
        binary,    // op, arguments[0..1]
        compare,   // op, arguments[0..1]
        select,    // arguments[0] ? arguments[1] : arguments[2]
        call,      // function, arguments
        quantity,  // resolved: quantity
        learned,   // resolved: index of a learned parameter
        variable,  // resolved: index of a vector name
    };
    Kind kind = Kind::number;
    Type type = Type::scalar;
    Span span;
    double number = 0;
    std::string text;
    Operator op = Operator::none;
    Function function = Function::f;
    Quantity quantity = Quantity::dt;
    int index = -1;  // learned: parameter; variable: vector name; call of norm: its instance; select: its condition
    std::size_t size = 1;  // nodes of the tree written out; bounds the work of substitution
    std::vector<ExpressionPtr> arguments;
};

// Same tree, whatever the spans.
bool equal(const Expression& a, const Expression& b);

// Builders for trees that no text was written for (the coefficients of a lowered program).
ExpressionPtr make_number(double value);
ExpressionPtr make_binary(Operator op, ExpressionPtr a, ExpressionPtr b);  // folds 1*a, a*1, a/1, 0+a, a+0
ExpressionPtr make_negate(ExpressionPtr a);

}  // namespace flyball::scheme
