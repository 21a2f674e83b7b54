// The scalars of an equation as functions of time alone: where one of them turns, or follows another of its parts, the
// equation may do something that a long step would pass over.
//
// A pulse such as exp(-4*(t-300)^2) is zero to all digits at nearly every time that one may try. But the language has
// no function that turns by itself: a pulse is made of parts that turn slowly, or of parts that pass each other, and
// both can be seen from afar. (t-300)^2 falls before t = 300 and rises after it, at whatever times one looks.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "scheme/program.hpp"

namespace flyball::scheme {

class TimeScalars {
  public:
    explicit TimeScalars(const Program& program);

    // No scalar depends on t.
    bool constant() const { return !moves_; }

    // Of every scalar that depends on t, also of parts and parameters: whether it rises; of a sum which of the two is
    // larger; of exp whether its argument is beyond 1, of a power whether its base is; of what is compared, and of the
    // two of min and max, whether their difference rises.
    std::vector<bool> outlines(const Environment& env);

  private:
    struct Node {
        const Expression* expression;
        std::size_t a, b, c;  // places of its arguments
        bool moves;           // depends on t
    };
    // A number that knows how fast it changes with t, and how large the terms of that were.
    struct Moving {
        double value = 0;
        double slope = 0;
        double size = 0;
    };
    static Moving binary(Operator op, const Moving& a, const Moving& b);
    static Moving call(Function function, const Moving& a, const Moving& b);
    std::size_t add(const Expression& scalar);
    void collect(const Expression& expression);
    Moving value_of(const Node& node, const Environment& env) const;

    Program program_;          // owns the expressions
    std::vector<Node> nodes_;  // arguments first
    std::unordered_map<const Expression*, std::size_t> places_;
    bool moves_ = false;          // any node does
    std::vector<Moving> values_;  // of the nodes, at the time last asked for
};

}  // namespace flyball::scheme
