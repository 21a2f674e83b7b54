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
    // In the order of use: a product that is nearly done fetches what lies behind its weights.
    std::size_t size = 0;
    const auto add_forward = [&](const Linear& part) {
        const auto parameter = static_cast<std::size_t>(part.weight);
        place_of_.resize(std::max(place_of_.size(), parameter + 1));
        place_of_[parameter] = places_.size();
        places_.push_back({part, {size, 0}});
        size += kernels_->packed_size(part.out, part.in);
    };
    const auto add_reverse = [&](const Linear& part) {
        places_[place_of_[static_cast<std::size_t>(part.weight)]].begin[1] = size;
        size += kernels_->packed_size(part.in, part.out);
    };
    const std::vector<BlockLayout>& blocks = model.layout().blocks;
    for (const BlockLayout& block : blocks) {
        std::for_each(block.qkv.begin(), block.qkv.end(), add_forward);
        add_forward(block.output);
        std::for_each(block.ffn_in.begin(), block.ffn_in.end(), add_forward);
        add_forward(block.ffn_out);
    }
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        add_reverse(block->ffn_out);
        std::for_each(block->ffn_in.begin(), block->ffn_in.end(), add_reverse);
        add_reverse(block->output);
        std::for_each(block->qkv.begin(), block->qkv.end(), add_reverse);
    }
    reserve_in_huge_pages(panels_, size);
    panels_.resize(size);
}

// op(B) is W' forward and W in reverse; a weight stored [in, out] is W' already.
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
