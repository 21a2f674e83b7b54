// One block in reverse mode: the equation's stages and what each call of a sub-layer left. Internal to Pass.
#pragma once

#include <deque>

#include "model/pass.hpp"

namespace flyball::model {

template <class Real>
struct Pass<Real>::Tape {
    Tape(const scheme::Program& program, std::size_t rows, std::size_t dim,
         std::shared_ptr<scheme::ReverseRoom<Real>> room)
        : step(program, scheme::SubLayers::attention_and_ffn, rows, dim, scheme::ReversePart::block, std::move(room)) {}
    scheme::ReverseStep<Real> step;
    std::deque<CallRoom<Real>> calls;  // in the order the block calls its sub-layers
};

}  // namespace flyball::model
