#include "check/residual_path.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/trial.hpp"
#include "core/unreachable.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/evaluate.hpp"

namespace flyball::check {

namespace {

using scheme::Expression;
using scheme::ExpressionPtr;
using scheme::Function;
using scheme::Operator;
using scheme::Variable;

enum class Path { none, rescaled, normed, plain };  // a sum keeps the best of its terms

// The best way by which a past x reaches each variable, as the statements run. The order of Path is that of how much is
// kept, so that the best of two terms is their maximum.
class PathWalk {
  public:
    PathWalk(const scheme::Program& program, const scheme::Environment& env)
        : program_(program), env_(env), at_(program.variables().size(), Path::none) {
        for (std::size_t v = 0; v < at_.size(); ++v) {
            const Variable::Kind kind = program.variables()[v].kind;
            // The embedding is not what the block before has left.
            at_[v] = kind == Variable::Kind::stream || kind == Variable::Kind::block_input ? Path::plain : Path::none;
        }
    }

    // What x has after the run of a sub-layer's statements.
    Path run(scheme::SubLayer sub_layer) {
        for (const scheme::Statement& statement : program_.statements(sub_layer)) {
            at_[static_cast<std::size_t>(statement.target)] = path_of(*statement.value);
        }
        return at_[scheme::x_variable];
    }

    // Before the next run every stream that still knows its past counts as whole again.
    void begin_again() {
        for (std::size_t v = 0; v < at_.size(); ++v) {
            if (program_.variables()[v].kind == Variable::Kind::stream && at_[v] != Path::none) {
                at_[v] = Path::plain;
            }
        }
    }

  private:
    Path path_of(const Expression& e) const {
        switch (e.kind) {
            case Expression::Kind::variable:
                return at_[static_cast<std::size_t>(e.index)];
            case Expression::Kind::negate:
                return path_of(*e.arguments[0]);
            case Expression::Kind::select: {
                const bool yes = scheme::evaluate_condition(*e.arguments[0], scope());
                return path_of(*e.arguments[yes ? 1 : 2]);
            }
            case Expression::Kind::call:
                return path_of_call(e);
            case Expression::Kind::binary:
                return path_of_binary(e);
            case Expression::Kind::number:
            case Expression::Kind::name:
            case Expression::Kind::compare:
            case Expression::Kind::quantity:
            case Expression::Kind::learned:
                return Path::none;  // no vector
        }
        unreachable();
    }

    Path path_of_call(const Expression& e) const {
        switch (e.function) {
            case Function::norm:
            case Function::unit:
            case Function::rms:
            case Function::ln:
            case Function::tanh:
            case Function::erf:
                return path_of(*e.arguments[0]) == Path::none ? Path::none : Path::normed;
            case Function::detach:
                return path_of(*e.arguments[0]);
            case Function::f:
            case Function::attn:
            case Function::ffn:
            case Function::sqrt:
            case Function::log:
            case Function::exp:
            case Function::min:
            case Function::max:
                return Path::none;
        }
        unreachable();
    }

    Path path_of_binary(const Expression& e) const {
        const Expression& a = *e.arguments[0];
        const Expression& b = *e.arguments[1];
        if (e.op == Operator::times || e.op == Operator::divide) {
            const bool first = a.type == scheme::Type::vector;
            const Expression& factor = first ? b : a;
            const bool vanishes = !scheme::has_learned(factor) && factor.type == scheme::Type::scalar &&
                                  scheme::evaluate(factor, scope()) == 0;
            return vanishes ? Path::none : path_of(first ? a : b);
        }
        const Path left = path_of(a);
        const Path right = path_of(b);
        const Path best = std::max(left, right);
        const bool something_is_added = std::min(left, right) == Path::none;
        return best == Path::normed && something_is_added ? Path::rescaled : best;
    }

    scheme::Scope<double> scope() const { return {env_.values(), {}}; }

    const scheme::Program& program_;
    const scheme::Environment& env_;
    std::vector<Path> at_;  // by variable
};

}  // namespace

std::vector<Finding> residual_path(const scheme::Program& program, const Settings& settings) {
    std::size_t without = 0;
    std::size_t first_without = 0;
    std::size_t rescaled = 0;
    std::size_t block = 0;
    const std::vector<bool> carried = residual_blocks(program, settings);
    for (const scheme::Environment& env : environments(settings.depth, settings)) {
        ++block;
        PathWalk walk(program, env);
        Path path = walk.run(scheme::SubLayer::attention);
        bool is_rescaled = path == Path::rescaled;
        if (program.form() == scheme::Program::Form::sections) {
            walk.begin_again();
            path = walk.run(scheme::SubLayer::feed_forward);
            is_rescaled = is_rescaled || path == Path::rescaled;
        }
        if (!carried[block - 1]) {
            first_without = without == 0 ? block : first_without;
            ++without;
        }
        rescaled += is_rescaled && carried[block - 1] ? 1 : 0;
    }
    std::vector<Finding> findings;
    if (without > 0) {
        findings.push_back(
            {"no-residual-path", Severity::malformed,
             "There is no residual: the new x knows the old one only through a sub-layer, so nothing "
             "carries what earlier blocks have said. Add x (or a stream that holds it) to the branch.",
             fmt::format("in {} of {} blocks, the first of them block {}", without, settings.depth, first_without),
             static_cast<double>(without)});
    }
    if (rescaled > 0) {
        findings.push_back(
            {"norm-in-stream", Severity::caution,
             "There is a norm inside the residual stream: x is normed and then added to, so that every block rescales "
             "what all blocks before it have said. That is Post-LN seen one step later; for Pre-LN only the branch is "
             "normed, as in x + f(norm(x)).",
             fmt::format("in {} of {} blocks", rescaled, settings.depth), static_cast<double>(rescaled)});
    }
    return findings;
}

}  // namespace flyball::check
