// Two ways to find parts that do not act: reading the tree block by block, and trying changes.
#include "check/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "check/residual_path.hpp"
#include "check/sub_layer_use.hpp"
#include "check/trial.hpp"
#include "core/error.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/evaluate.hpp"

namespace flyball::check {

namespace {

using scheme::Environment;
using scheme::Expression;
using scheme::ExpressionPtr;
using scheme::Program;

constexpr double no_effect = 1e-9;  // relative; rounding of a few dozen blocks in double is far below
constexpr double changed_by = 1.7;

// Where a part stands in the text.
struct Part {
    ExpressionPtr expression;
    bool is_term;  // of a sum of vectors; otherwise a factor
};

bool mentions_depth(const Expression& e) {
    using scheme::Quantity;
    return mentions(e, {Quantity::t, Quantity::T, Quantity::L, Quantity::depth});
}

// The span of a tree leaves out parentheses around its ends: "2*(x + y" and "x + y)*2" become whole here.
scheme::Span whole_span(const std::string& text, scheme::Span span) {
    std::size_t open = 0;
    std::size_t unopened = 0;
    for (std::size_t i = span.begin; i < span.end; ++i) {
        if (text[i] == '(') {
            ++open;
        } else if (text[i] == ')' && open > 0) {
            --open;
        } else if (text[i] == ')') {
            ++unopened;
        }
    }
    while (unopened > 0 && span.begin > 0) {
        unopened -= text[--span.begin] == '(' ? 1 : 0;
    }
    while (open > 0 && span.end < text.size()) {
        open -= text[span.end++] == ')' ? 1 : 0;
    }
    return span;
}

// Walks the trees of an equation with the blocks in which each part is reached: `places` of a model as deep as the
// user's, `others` of one of another depth, so that a factor that is 1 by accident of the depth is not taken for one
// that always is.
class StructureWalk {
  public:
    StructureWalk(const Program& program, const Settings& settings)
        : program_(program),
          settings_(settings),
          places_(environments(settings.depth, settings)),
          others_(environments(2 * settings.depth + 1, settings)) {}

    void run() {
        const std::vector<Environment> last = {places_.back()};
        const std::vector<Environment> last_other = {others_.back()};
        for (const scheme::SubLayer sub_layer : {scheme::SubLayer::attention, scheme::SubLayer::feed_forward}) {
            for (const scheme::Statement& statement : program_.statements(sub_layer)) {
                if (!is_unread(statement.target)) {
                    visit(statement.value, places_, others_);
                }
            }
        }
        visit(program_.readout(), last, last_other, false);
        for (std::size_t v = 0; v < program_.variables().size(); ++v) {
            if (is_unread(static_cast<int>(v))) {
                const std::string& unread = program_.variables()[v].name;
                add({"name-never-read", Severity::malformed,
                     fmt::format("`{}` is computed and nothing reads it: it cannot act.", unread),
                     fmt::format("the equation does not use {} after it is assigned", unread), 0});
            }
        }
    }

    std::vector<Finding>& findings() { return findings_; }
    const std::vector<Part>& parts() const { return parts_; }

  private:
    using Places = std::vector<Environment>;

    void add(Finding finding) {
        if (seen_.insert(finding.id + finding.message).second) {
            findings_.push_back(std::move(finding));
        }
    }

    bool is_unread(int variable) const {
        return program_.variables()[static_cast<std::size_t>(variable)].kind == scheme::Variable::Kind::local &&
               !program_.reads(variable);
    }

    static double value(const Expression& e, const Environment& env) {
        return scheme::evaluate(e, scheme::Scope<double>{env.values(), {}});
    }

    // `varies`: whether several blocks reach this; a readout is evaluated once, where a condition always has one
    // answer.
    void visit(const ExpressionPtr& e, const Places& places, const Places& others, bool varies = true) {
        switch (e->kind) {
            case Expression::Kind::select:
                visit_select(*e, places, others, varies);
                return;
            case Expression::Kind::binary:
                visit_binary(*e, places, others, varies);
                return;
            case Expression::Kind::number:
            case Expression::Kind::name:
            case Expression::Kind::negate:
            case Expression::Kind::compare:
            case Expression::Kind::call:
            case Expression::Kind::quantity:
            case Expression::Kind::learned:
            case Expression::Kind::variable:
                break;
        }
        for (const ExpressionPtr& argument : e->arguments) {
            visit(argument, places, others, varies);
        }
    }

    void visit_select(const Expression& e, const Places& places, const Places& others, bool varies) {
        const Expression& condition = *e.arguments[0];
        const auto split = [&](const Places& all) {
            std::pair<Places, Places> sides;
            for (const Environment& env : all) {
                const bool yes = scheme::evaluate_condition(condition, scheme::Scope<double>{env.values(), {}});
                (yes ? sides.first : sides.second).push_back(env);
            }
            return sides;
        };
        const auto here = split(places);
        const auto there = split(others);
        for (const bool side : {true, false}) {
            const Places& own = side ? here.first : here.second;
            const ExpressionPtr& branch = e.arguments[side ? 1 : 2];
            if (!own.empty()) {
                visit(branch, own, side ? there.first : there.second, varies);
            } else if (varies && !places.empty()) {
                never_taken(e, condition, *branch, side, places);
            }
        }
    }

    void never_taken(const Expression& e, const Expression& condition, const Expression& branch, bool side,
                     const Places& places) {
        // A condition on the model's size says nothing about depth: another model may take the other side.
        const bool of_size =
            !mentions_depth(condition) && mentions(condition, {scheme::Quantity::n, scheme::Quantity::d});
        add({"branch-never-taken", of_size ? Severity::caution : Severity::malformed,
             fmt::format("The branch `{}` of `{}` is never taken: `{}` is {} in every block.", print(branch), print(e),
                         print(condition), side ? "false" : "true"),
             fmt::format("looked at {} blocks of a model with L = {}, d = {}, n = {}", places.size(), settings_.depth,
                         settings_.width, settings_.tokens),
             static_cast<double>(places.size())});
    }

    void visit_binary(const Expression& e, const Places& places, const Places& others, bool varies) {
        for (std::size_t i = 0; i < 2; ++i) {
            const ExpressionPtr& argument = e.arguments[i];
            const bool product = e.op == scheme::Operator::times || e.op == scheme::Operator::divide;
            if (e.type == scheme::Type::vector && argument->type == scheme::Type::vector && !product) {
                parts_.push_back({argument, true});
            }
            if (e.type == scheme::Type::vector && argument->type != scheme::Type::vector) {
                visit_factor(argument, places, others);
                if (argument->type == scheme::Type::scalar) {  // one scale for all channels, or no scale at all
                    parts_.push_back({argument, false});
                }
            }
            visit(argument, places, others, varies);
        }
    }

    // A factor of a vector. Of a product its parts are looked at first; true when one of them, or all, is to blame.
    bool visit_factor(const ExpressionPtr& e, const Places& places, const Places& others) {
        if (e->kind == Expression::Kind::binary &&
            (e->op == scheme::Operator::times || e->op == scheme::Operator::divide)) {
            const bool first = visit_factor(e->arguments[0], places, others);
            const bool second = visit_factor(e->arguments[1], places, others);
            if (first || second) {
                return true;
            }
        }
        if (!mentions_depth(*e) || scheme::has_learned(*e)) {
            return false;
        }
        const auto is_one = [&](Environment env) {
            env.dt = 0.37;  // a step of 1 is no factor that was forgotten
            return std::abs(value(*e, env) - 1) < 1e-12;
        };
        if (!std::all_of(places.begin(), places.end(), is_one) || !std::all_of(others.begin(), others.end(), is_one)) {
            return false;
        }
        add({"factor-always-one", Severity::malformed,
             fmt::format("The factor `{}` is written with the depth of a block and is 1 in every block: nothing is "
                         "scaled.",
                         print(*e)),
             fmt::format("1 in all {} blocks where it is used, and in a model of {} blocks", places.size(),
                         2 * settings_.depth + 1),
             1});
        return true;
    }

    const Program& program_;
    const Settings& settings_;
    Places places_;
    Places others_;
    std::vector<Finding> findings_;
    std::vector<Part> parts_;
    std::set<std::string> seen_;
};

// Each part of the text is multiplied by 1.7, and the model is computed again. A part whose size has no effect is tried
// once more times -1 and times 0: a norm takes out a scale, and keeps a sign and the difference between something and
// nothing. So what still shows then is only a scale that a norm removes, and what does not show never acts. (A sign
// alone is not enough: over an even number of blocks it may cancel.) Writing the change into the text and parsing it
// again tests what the author wrote, not what we made of it.
class Trials {
  public:
    Trials(const Program& program, const Settings& settings)
        : program_(program),
          settings_(settings),
          text_(program.syntax().text),
          base_(trial(program, settings, LearnedAt::generic)) {}

    void try_parts(const std::vector<Part>& parts, std::vector<Finding>& findings) {
        // Larger parts first: what stands inside one that never acts needs no sentence of its own.
        std::vector<Part> rest = parts;
        std::stable_sort(rest.begin(), rest.end(), [](const Part& a, const Part& b) {
            return a.expression->span.end - a.expression->span.begin >
                   b.expression->span.end - b.expression->span.begin;
        });
        std::set<std::pair<std::size_t, std::size_t>> tried;
        std::vector<scheme::Span> inert;
        for (const Part& part : rest) {
            const scheme::Span span = whole_span(text_, part.expression->span);
            const bool inside = std::any_of(inert.begin(), inert.end(), [&](const scheme::Span& outer) {
                return outer.begin <= span.begin && span.end <= outer.end;
            });
            if (inside || span.end <= span.begin || !tried.insert({span.begin, span.end}).second) {
                continue;
            }
            const auto scaled = seen_when_multiplied(span, changed_by);
            if (!scaled || *scaled > no_effect) {
                continue;
            }
            inert.push_back(span);
            const bool acts = acts_at_all(span);
            const std::string part_text = text_.substr(span.begin, span.end - span.begin);
            const std::string evidence = fmt::format("`{}` times {}: the model's output changes by {:.1e} of its size",
                                                     part_text, changed_by, *scaled);
            if (acts) {
                findings.push_back(
                    {"scale-removed-by-norm", Severity::malformed,
                     part.is_term
                         ? fmt::format("The size of `{}` cannot matter: a norm that follows removes it.", part_text)
                         : fmt::format("The factor `{}` cannot matter: a norm that follows removes it.", part_text),
                     evidence, *scaled});
            } else {
                findings.push_back(
                    {"part-never-acts", Severity::malformed,
                     fmt::format("`{}` never acts: whatever it is, the model computes the same.", part_text), evidence,
                     *scaled});
            }
        }
    }

    void try_parameters(std::vector<Finding>& findings) {
        const std::vector<double> start = trial(program_, settings_, LearnedAt::start);
        for (std::size_t p = 0; p < program_.learned().size(); ++p) {
            const double change = relative_difference(start, trial(program_, settings_, LearnedAt::start, p));
            if (change <= no_effect) {
                findings.push_back(
                    {"parameter-without-effect", Severity::malformed,
                     fmt::format("The learned parameter `{}` has no effect where it starts: its gradient is zero and "
                                 "it can never be learned.",
                                 program_.learned()[p].name),
                     fmt::format("{} moved by about 0.4: the model's output changes by {:.1e} of its size",
                                 program_.learned()[p].name, change),
                     change});
            }
        }
        for (const scheme::ParameterSyntax& parameter : program_.syntax().parameters) {
            if (parameter.learned) {
                continue;
            }
            const auto change = seen_when_multiplied(whole_span(text_, parameter.value->span), changed_by, 0.1);
            if (change && *change <= no_effect && !named(parameter.name, findings)) {
                findings.push_back(
                    {"parameter-without-effect", Severity::malformed,
                     fmt::format("The parameter `{}` has no effect.", parameter.name),
                     fmt::format("{} times {} plus 0.1: the model's output changes by {:.1e} of its size",
                                 parameter.name, changed_by, *change),
                     *change});
            }
        }
    }

  private:
    static bool named(const std::string& name, const std::vector<Finding>& findings) {
        return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
            return finding.message.find('`' + name + '`') != std::string::npos;
        });
    }

    // Nothing can be divided by 0: what cannot be tried counts as acting.
    bool acts_at_all(const scheme::Span& span) const {
        for (const double factor : {-1.0, 0.0}) {
            const auto seen = seen_when_multiplied(span, factor);
            if (!seen || !(*seen <= no_effect)) {
                return true;
            }
        }
        return false;
    }

    // How far the output moves; nothing where the changed text is no equation.
    std::optional<double> seen_when_multiplied(const scheme::Span& span, double factor, double plus = 0) const {
        const std::string part = text_.substr(span.begin, span.end - span.begin);
        const std::string sum = plus == 0 ? "" : fmt::format("+{}", plus);
        const std::string changed =
            text_.substr(0, span.begin) + fmt::format("({}*({}){})", factor, part, sum) + text_.substr(span.end);
        try {
            return relative_difference(base_, trial(Program::parse(changed), settings_, LearnedAt::generic));
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    const Program& program_;
    const Settings& settings_;
    const std::string& text_;
    std::vector<double> base_;
};

}  // namespace

std::vector<Finding> structure(const scheme::Program& given, const Settings& settings) {
    const Program program = Program::parse(given.text());  // so that every span points into one text
    StructureWalk walk(program, settings);
    walk.run();
    std::vector<Finding> findings = std::move(walk.findings());
    for (Finding& finding : residual_path(program, settings)) {
        findings.push_back(std::move(finding));
    }
    for (Finding& finding : sub_layer_use(program, settings)) {
        findings.push_back(std::move(finding));
    }
    Trials trials(program, settings);
    trials.try_parts(walk.parts(), findings);
    trials.try_parameters(findings);
    return findings;
}

}  // namespace flyball::check
