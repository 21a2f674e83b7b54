// The code of one block of a model together with the numbers of its equation, for what is read off the equation alone.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.hpp"
#include "scheme/code.hpp"

namespace flyball::model {

struct BlockCode {
    scheme::Code code;
    std::vector<double> coefficients;  // root mean square over channels
    std::vector<double> largest;       // the same coefficients, largest absolute value over channels
    const std::vector<NormPlace>* norms = nullptr;
};

// Of block `layer`, counted from 0; `tokens` is the n of the equation.
BlockCode block_code(const Model<float>& model, std::size_t layer, std::size_t tokens);

}  // namespace flyball::model
