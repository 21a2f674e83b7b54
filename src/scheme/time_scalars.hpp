// The scalars of an equation as functions of time alone: where one of them turns, or follows another of its parts, the
// equation may do something that a long step would pass over.
//
// A pulse such as exp(-4*(t-300)^2) is zero to all digits at nearly every time that one may try. But the language has
// no function that turns by itself: a pulse is made of parts that turn slowly, or of parts that pass each other, and
// both can be seen from afar. (t-300)^2 falls before t = 300 and rises after it, at whatever times one looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheme/program.hpp"

namespace flyball::scheme {

class TimeScalars {
  public:
    explicit TimeScalars(const Program& program);

    // No scalar depends on t.
    bool constant() const { return moving_.empty(); }

    // A number that knows how fast it changes with t, and how large the terms of that were.
    struct Moving {
        double value = 0;
        double slope = 0;
        double size = 0;
        bool operator==(const Moving&) const = default;
    };
    // Of every scalar, also of parts and parameters, its value and its outline: a bit for each of these. It rises; of
    // a sum which of the two is larger; of exp whether its argument is beyond 1, of a power whether its base is; of
    // what is compared, and of the two of min and max, whether their difference rises; of what something is divided by,
    // and of the base of a negative power, its sign.
    struct Look {
        std::vector<Moving> values;
        std::vector<std::uint8_t> outlines;
    };

    Look look(const Environment& env) const;
    // The same of some scalars, arguments first; of the others `look` knows already.
    void look_at(const std::vector<std::size_t>& nodes, const Environment& env, Look& look) const;
    // What is needed to look at some scalars between two times: all that they are made of, but for parts with the same
    // value and outline at both.
    std::vector<std::size_t> parts_between(const std::vector<std::size_t>& nodes, const Look& before,
                                           const Look& after) const;
    std::size_t size() const { return nodes_.size(); }
    // Numbers, names and signs in the text of a scalar.
    std::size_t length(std::size_t node) const { return nodes_[node].expression->size; }

  private:
    struct Node {
        const Expression* expression;
        std::size_t a, b, c;   // places of its arguments
        bool moves;            // depends on t
        bool divides = false;  // something is divided by it
    };
    static Moving binary(Operator op, const Moving& a, const Moving& b);
    static Moving call(Function function, const Moving& a, const Moving& b);
    std::size_t add(const Expression& scalar);
    void collect(const Expression& expression);
    Moving value_of(const Node& node, const Environment& env, const std::vector<Moving>& values) const;
    std::uint8_t outline_of(std::size_t place, const std::vector<Moving>& values) const;

    Program program_;          // owns the expressions
    std::vector<Node> nodes_;  // arguments first
    std::unordered_map<const Expression*, std::size_t> places_;
    std::vector<std::size_t> moving_;  // those that depend on t
};

}  // namespace flyball::scheme
