// What a pass reads from a model outside its matrices: rows of embeddings, norms, the learned numbers of a block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::model {

// Whether a sequence may be longer than `positions` by itself: dynamic rotary positions are made for that, but a table
// of learned ones beside them ends.
bool goes_on_for_ever(const Architecture& architecture);

// Throws Error(input) for an id that the model has no row for.
void check_ids(const Architecture& architecture, std::span<const std::int32_t> ids);

// out: [dim], before the embedding's norm.
template <class Real>
void embed_token(const Model<Real>& model, std::int32_t id, std::size_t position, Real* out);

template <class Real>
scheme::RowMap<Real> row_map_of(const Model<Real>& model, const NormPlace& place);

// Of a block, or of the readout.
template <class Real>
scheme::BlockParameters<Real> block_parameters_of(const Model<Real>& model, const std::vector<NormPlace>& norms,
                                                  const std::vector<int>& learned);

}  // namespace flyball::model
