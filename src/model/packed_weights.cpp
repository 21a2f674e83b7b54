#include "model/packed_weights.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "core/huge_pages.hpp"
#include "core/parallel.hpp"

namespace flyball::model {

template <class Real>
PackedWeights<Real>::PackedWeights(const Model<Real>& model) : model_(model) {
    if constexpr (std::is_same_v<Real, float>) {
        kernels_ = small_gemm(active_isa());
    }
    if (kernels_ == nullptr) {
        return;
    }
    std::size_t size = 0;
    const auto add = [&](const Linear& part) {
        const auto parameter = static_cast<std::size_t>(part.weight);
        place_of_.resize(std::max(place_of_.size(), parameter + 1));
        place_of_[parameter] = places_.size();
        const std::size_t forward = kernels_->packed_size(part.out, part.in);
        places_.push_back({part, {size, size + forward}});
        size += forward + kernels_->packed_size(part.in, part.out);
    };
    for (const BlockLayout& block : model.layout().blocks) {
        for (const Linear& part : block.qkv) {
            add(part);
        }
        add(block.output);
        for (const Linear& part : block.ffn_in) {
            add(part);
        }
        add(block.ffn_out);
    }
    reserve_in_huge_pages(panels_, size);
    panels_.resize(size);
}

template <class Real>
void PackedWeights<Real>::update() {
    if constexpr (std::is_same_v<Real, float>) {
        if (kernels_ == nullptr) {
            return;
        }
        parallel_slots(places_.size(), places_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const Linear& part = places_[i].part;
                const float* const weight = model_.at(part.weight);
                const std::size_t stride = part.in_out ? part.out : part.in;
                const auto pack = [&](bool transposed, std::size_t n, std::size_t k, std::size_t to) {
                    kernels_->pack(transposed ? Transpose::yes : Transpose::no, n, k, weight, stride,
                                   panels_.data() + to);
                };
                pack(!part.in_out, part.out, part.in, places_[i].begin[0]);
                pack(part.in_out, part.in, part.out, places_[i].begin[1]);
            }
        });
    }
}

template <class Real>
const float* PackedWeights<Real>::at(const Linear& part, std::size_t direction) const {
    assert(kernels_ != nullptr);
    return panels_.data() + places_[place_of_[static_cast<std::size_t>(part.weight)]].begin[direction];
}

template class PackedWeights<float>;
template class PackedWeights<double>;

}  // namespace flyball::model
