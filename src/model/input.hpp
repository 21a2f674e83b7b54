// What a model is run on: the ids of tokens, or rows that take the place of their embedding.
//
// Rows serve models whose input is no text (patches of an image, sound) and questions such as "what if x0 were
// different". They are x0 itself: what the first block is given, hidden.0, with positions and norms already in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/pass.hpp"

namespace flyball::model {

struct Input {
    Input() = default;
    Input(std::vector<std::int32_t> tokens) : ids(std::move(tokens)) {}  // NOLINT: implicit, since most inputs are ids

    std::vector<std::int32_t> ids;  // none where rows are given
    std::vector<float> rows;        // [tokens, dim]
    std::size_t dim = 0;            // of rows

    bool has_rows() const { return dim > 0; }
    std::size_t tokens() const { return has_rows() ? rows.size() / dim : ids.size(); }
    Input first(std::size_t count) const;  // of the tokens; count <= tokens()
};

// pass.forward or pass.forward_rows, whichever the input is for.
void forward(Pass<float>& pass, const Input& input, const Taps<float>& taps);

// What each row is to predict: the id that follows. Rows that are no tokens have none (no_target).
std::vector<std::int32_t> targets_of(const Input& input);

// The tensor `embeddings` [tokens, dim] of a safetensors file, or for a model of images `pixel_values` [channels,
// height, width], from which patches.hpp makes rows; of any floating type, and with a 1 for the batch in front if need
// be. At most `most` of the tokens. Error(input) for another shape, or a number that is not finite.
Input read_embeddings(const std::filesystem::path& file, const Model<float>& model, std::size_t most);

}  // namespace flyball::model
