// How the rows of a pass are cut into sequences: row b * tokens + i is token i of sequence b.
//
// Only positions, masks and heads look at this; everything else works on rows.
#pragma once

#include <cstddef>

namespace flyball::model {

struct Batch {
    Batch(std::size_t length) : tokens(length) {}  // NOLINT: implicit, since one sequence is what most callers have
    Batch(std::size_t count, std::size_t length) : sequences(count), tokens(length) {}

    std::size_t sequences = 1;
    std::size_t tokens = 0;  // of each sequence
    // May be longer than what the model was trained for, where its positions are no table that ends (check_length).
    bool allow_long = false;

    std::size_t rows() const { return sequences * tokens; }
    std::size_t position(std::size_t row) const { return row % tokens; }
};

}  // namespace flyball::model
