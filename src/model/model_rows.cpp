#include "model/model_rows.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::model {

bool goes_on_for_ever(const Architecture& architecture) {
    return architecture.rope.scaling == Rope::Scaling::dynamic && !architecture.learned_positions;
}

void check_ids(const Architecture& architecture, std::span<const std::int32_t> ids) {
    if (architecture.patches.any() && !ids.empty()) {
        throw Error(ErrorKind::input, "model.forward",
                    fmt::format("token ids for a {} model, whose tokens are patches of an image", architecture.family),
                    "an image or embeddings");
    }
    for (const std::int32_t id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= architecture.vocab) {
            throw Error(ErrorKind::input, "model.forward", fmt::format("the token id {}", id),
                        fmt::format("a number from 0 to {}", architecture.vocab - 1),
                        "the vocabulary of this model is smaller");
        }
    }
}

template <class Real>
void embed_token(const Model<Real>& model, std::int32_t id, std::size_t position, Real* out) {
    const std::size_t dim = model.architecture().dim;
    const Layout& layout = model.layout();
    const Real* const token = model.at(layout.tokens) + static_cast<std::size_t>(id) * dim;
    const Real* const positions = model.at(layout.positions);
    const Real* const types = model.at(layout.types);
    const auto scale = static_cast<Real>(model.architecture().embedding_scale);
    for (std::size_t k = 0; k < dim; ++k) {
        Real sum = scale * token[k];
        if (types != nullptr) {
            sum += types[k];  // every token is of type 0
        }
        if (positions != nullptr) {
            sum += positions[position * dim + k];
        }
        out[k] = sum;
    }
}

template <class Real>
scheme::RowMap<Real> row_map_of(const Model<Real>& model, const NormPlace& place) {
    scheme::RowMap<Real> map;
    map.function = scheme::find_normaliser(model.architecture().norm).function;
    map.eps = static_cast<Real>(model.architecture().eps);
    map.alpha = place.alpha == absent ? Real{1} : *model.at(place.alpha);
    map.shift = place.shift == absent ? Real{0} : *model.at(place.shift);
    map.gain = model.at(place.gain);
    map.bias = model.at(place.bias);
    return map;
}

template <class Real>
scheme::BlockParameters<Real> block_parameters_of(const Model<Real>& model, const std::vector<NormPlace>& norms,
                                                  const std::vector<int>& learned) {
    scheme::BlockParameters<Real> result;
    for (const NormPlace& place : norms) {
        result.norms.push_back(row_map_of(model, place));
    }
    for (const int parameter : learned) {
        if (parameter == absent) {
            result.learned.push_back({0.0});  // no coefficient of this block reads it
            continue;
        }
        const Real* const values = model.at(parameter);
        const std::size_t size = model.layout().parameters[static_cast<std::size_t>(parameter)].elements();
        result.learned.emplace_back(values, values + size);
    }
    return result;
}

template void embed_token(const Model<float>&, std::int32_t, std::size_t, float*);
template void embed_token(const Model<double>&, std::int32_t, std::size_t, double*);
template scheme::RowMap<float> row_map_of(const Model<float>&, const NormPlace&);
template scheme::RowMap<double> row_map_of(const Model<double>&, const NormPlace&);
template scheme::BlockParameters<float> block_parameters_of(const Model<float>&, const std::vector<NormPlace>&,
                                                            const std::vector<int>&);
template scheme::BlockParameters<double> block_parameters_of(const Model<double>&, const std::vector<NormPlace>&,
                                                             const std::vector<int>&);

}  // namespace flyball::model
