// Every factor in front of a vector, as the code has it, as a function of time: where the text has several of them in a
// row, their product.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scheme/environment.hpp"
#include "scheme/program.hpp"

namespace flyball::scheme {

class Factors {
  public:
    // `at` tells what the equation is told of a time. Both are kept.
    Factors(const Program& program, const std::function<Environment(double)>& at);
    Factors(Factors&&) noexcept;
    ~Factors();

    // The values at dt = 0 and the derivatives by dt there, of the equation and of its readout.
    void operator()(double t, std::vector<double>& values);

    // From now on, times lie among these. What is the same at all of them is not computed again: of a hundred pulses
    // all but one or two are zero at any time. No times: everything is computed.
    void focus(const std::vector<double>& times);

  private:
    class Variant;
    Variant& variant_at(const Environment& env);

    const Program& program_;
    const std::function<Environment(double)>& at_;
    std::vector<std::unique_ptr<Variant>> variants_;
};

}  // namespace flyball::scheme
