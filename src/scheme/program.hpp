// A checked scheme: what the text means, ready to be evaluated.
//
// Program::parse reads the text, decides for every name whether it is a quantity, a parameter, a local, a stream, the
// embedding x0 or the block's input b, checks types, and substitutes scalar locals and fixed parameters, so that what
// is left are vector statements whose coefficients depend on quantities and learned parameters alone.
//
// Not here: running anything. code.hpp lowers a program to straight-line code; rows, plane and reverse run that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheme/environment.hpp"
#include "scheme/syntax.hpp"

namespace flyball::scheme {

struct Parameter {
    std::string name;
    bool learned = false;
    bool per_channel = false;
    ExpressionPtr value;  // typed; in t, T, L, n, d, depth
};

// A vector name.
struct Variable {
    enum class Kind { embedding, block_input, stream, local };
    std::string name;
    Kind kind = Kind::local;
};
inline constexpr int embedding_variable = 0;    // x0
inline constexpr int block_input_variable = 1;  // b
inline constexpr int x_variable = 2;            // x, always a stream

struct Statement {
    int target = 0;  // index of a Variable
    ExpressionPtr value;
};

class Program {
  public:
    enum class Form {
        per_sub_layer,  // calls f; runs once for attention and once for the FFN
        sections,       // attn: and ffn: have their own statements
        block,          // calls attn and ffn; runs once per block
    };

    static Program parse(std::string_view text);

    // The same program with parameters set: "tau=0.5,alpha=1/(1+t)". Unknown names are errors.
    Program with_settings(std::string_view settings) const;

    // The same program with a number in the place of a quantity. Throws as parse does where that divides by zero.
    Program with_quantity(Quantity quantity, double value) const;

    Form form() const { return form_; }
    const Syntax& syntax() const { return syntax_; }
    std::string text() const { return print(syntax_); }  // canonical, with readout and parameters
    std::string body_text() const { return print_body(syntax_); }
    std::string readout_text() const;

    const std::vector<Variable>& variables() const { return variables_; }
    // Variables that are carried through depth, x first. Their order is the order of streams everywhere.
    const std::vector<int>& streams() const { return streams_; }
    std::size_t stream_count() const { return streams_.size(); }
    const std::string& stream_name(std::size_t i) const {
        return variables_[static_cast<std::size_t>(streams_[i])].name;
    }

    // What runs for one sub-layer. In a block program everything runs with `attention` and nothing with `feed_forward`.
    const std::vector<Statement>& statements(SubLayer sub_layer) const {
        return sub_layer == SubLayer::attention ? attention_ : feed_forward_;
    }
    const ExpressionPtr& readout() const { return readout_; }

    // Whether any statement or the readout reads the variable.
    bool reads(int variable) const;

    const std::vector<Parameter>& parameters() const { return parameters_; }
    // Learned parameters, in the order that Expression::index of a `learned` node uses. A learned parameter has one
    // instance per run of the statements: per sub-layer for a program in f, per block otherwise.
    const std::vector<Parameter>& learned() const { return learned_; }

    // The conditions of vector `? :`, in the order that Expression::index of a `select` node uses.
    const std::vector<ExpressionPtr>& conditions() const { return conditions_; }
    std::vector<bool> decide(const Environment& env) const;
    // Every comparison of the text, also those inside scalars and parameters, and of each min and max which of its two
    // it is: where one flips, the ODE has a kink.
    std::vector<bool> comparisons(const Environment& env) const;

    // How many norm( ) the text has; Expression::index of such a call tells which one.
    int norm_count() const { return norm_count_; }

  private:
    friend class Checker;
    Form form_ = Form::per_sub_layer;
    Syntax syntax_;
    std::vector<Variable> variables_;
    std::vector<int> streams_;
    std::vector<Statement> attention_;
    std::vector<Statement> feed_forward_;
    ExpressionPtr readout_;
    std::vector<Parameter> parameters_;
    std::vector<Parameter> learned_;
    std::vector<ExpressionPtr> conditions_;
    int norm_count_ = 0;
};

}  // namespace flyball::scheme
