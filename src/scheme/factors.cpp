// Coefficients of the code on one list, arguments first, in dual numbers: coefficients.hpp walks their trees, which is
// quicker for the few nodes of most equations, but knows nothing of parts that stay the same.
#include "scheme/factors.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "scheme/code.hpp"
#include "scheme/evaluate.hpp"

namespace flyball::scheme {

namespace {

bool same(const Dual& a, const Dual& b) {
    return a.value == b.value && a.slope == b.slope;
}

}  // namespace

// The equation with its conditions decided.
class Factors::Variant {
  public:
    Variant(const Program& program, std::vector<bool> decided)
        : decisions(std::move(decided)),
          program_(program),
          block_(lower_block(program, SubLayers::attention_and_ffn, decisions)),
          readout_(lower_readout(program, decisions)) {
        for (const Code* code : {&block_, &readout_}) {
            for (const ExpressionPtr& coefficient : code->coefficients) {
                factors_.push_back(add(*coefficient));
            }
        }
        values_.resize(nodes_.size());
        compute_everything();
    }

    void compute_everything() {
        needed_.resize(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            needed_[i] = i;
        }
    }

    void compute(const Environment& env) {
        std::array<Dual, quantity_count> quantities;
        const auto given = env.values();
        for (std::size_t q = 0; q < given.size(); ++q) {
            quantities[q] = {given[q], 0};
        }
        quantities[static_cast<std::size_t>(Quantity::dt)] = {0, 1};
        for (const std::size_t i : needed_) {
            values_[i] = value_of(nodes_[i], quantities);
        }
    }

    void append_to(std::vector<double>& values) const {
        for (const std::size_t factor : factors_) {
            values.push_back(values_[factor].value);
            values.push_back(values_[factor].slope);
        }
    }

    // Leaves out what had the same value at all these times.
    void compute_only_what_moves(const std::vector<Environment>& times) {
        compute_everything();
        std::vector<bool> moves(nodes_.size());
        std::vector<Dual> first;
        for (const Environment& env : times) {
            compute(env);
            if (first.empty()) {
                first = values_;
            }
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                moves[i] = moves[i] || !same(values_[i], first[i]);
            }
        }
        std::vector<bool> wanted(nodes_.size());
        for (const std::size_t factor : factors_) {
            wanted[factor] = true;
        }
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            if (wanted[i] && moves[i]) {
                const Node& node = nodes_[i];
                wanted[node.a] = wanted[node.b] = wanted[node.c] = true;
            }
        }
        needed_.clear();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (wanted[i] && moves[i]) {
                needed_.push_back(i);
            }
        }
    }

    const std::vector<bool> decisions;

  private:
    struct Node {
        const Expression* expression;
        std::size_t a, b, c;  // places of its arguments; its own where it has fewer
    };

    std::size_t add(const Expression& scalar) {
        if (const auto known = places_.find(&scalar); known != places_.end()) {
            return known->second;
        }
        std::array<std::size_t, 3> places{};
        std::size_t count = 0;
        if (scalar.kind == Expression::Kind::learned) {  // an instance of a parameter; all begin at its value
            const auto parameter = static_cast<std::size_t>(scalar.index) % program_.learned().size();
            places[count++] = add(*program_.learned()[parameter].value);
        }
        for (const ExpressionPtr& argument : scalar.arguments) {
            places[count++] = add(*argument);
        }
        const std::size_t place = nodes_.size();
        std::fill(places.begin() + static_cast<std::ptrdiff_t>(count), places.end(), place);
        nodes_.push_back({&scalar, places[0], places[1], places[2]});
        places_.emplace(&scalar, place);
        return place;
    }

    Dual value_of(const Node& node, const std::array<Dual, quantity_count>& quantities) const {
        const Expression& e = *node.expression;
        switch (e.kind) {
            case Expression::Kind::number:
                return {e.number, 0};
            case Expression::Kind::quantity:
                return quantities[static_cast<std::size_t>(e.quantity)];
            case Expression::Kind::learned:
                return {values_[node.a].value, 0};
            case Expression::Kind::negate:
                return -values_[node.a];
            case Expression::Kind::binary:
                return evaluate_binary(e.op, values_[node.a], values_[node.b]);
            case Expression::Kind::compare:
                return {holds(e.op, values_[node.a].value, values_[node.b].value) ? 1.0 : 0.0, 0};
            case Expression::Kind::select:
                return values_[values_[node.a].value != 0 ? node.b : node.c];
            case Expression::Kind::call:
                return evaluate_function(e.function, values_[node.a], values_[node.b], true);
            case Expression::Kind::name:
            case Expression::Kind::variable:
                break;
        }
        unreachable();
    }

    const Program& program_;
    Code block_;  // own the expressions
    Code readout_;
    std::vector<Node> nodes_;  // arguments first
    std::unordered_map<const Expression*, std::size_t> places_;
    std::vector<std::size_t> factors_;
    std::vector<std::size_t> needed_;
    std::vector<Dual> values_;
};

Factors::Factors(const Program& program, const std::function<Environment(double)>& at) : program_(program), at_(at) {}
Factors::Factors(Factors&&) noexcept = default;
Factors::~Factors() = default;

Factors::Variant& Factors::variant_at(const Environment& env) {
    const std::vector<bool> decisions = program_.decide(env);
    for (const auto& known : variants_) {
        if (known->decisions == decisions) {
            return *known;
        }
    }
    return *variants_.emplace_back(std::make_unique<Variant>(program_, decisions));
}

void Factors::operator()(double t, std::vector<double>& values) {
    const Environment env = at_(t);
    Variant& variant = variant_at(env);
    variant.compute(env);
    values.clear();
    variant.append_to(values);
}

void Factors::focus(const std::vector<double>& times) {
    for (const auto& variant : variants_) {
        variant->compute_everything();
    }
    std::vector<Environment> all;
    for (const double t : times) {
        all.push_back(at_(t));
    }
    // On both sides of a switch the code is another one.
    while (!all.empty()) {
        Variant& variant = variant_at(all.front());
        const auto others = std::partition(all.begin(), all.end(),
                                           [&](const Environment& env) { return &variant_at(env) != &variant; });
        variant.compute_only_what_moves({others, all.end()});
        all.erase(others, all.end());
    }
}

}  // namespace flyball::scheme
