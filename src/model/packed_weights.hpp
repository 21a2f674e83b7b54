// The weights of a model's linear maps, packed once for all products of a training step.
//
//     forward   y = x W'          op(B) = W' [in, out]
//     reverse   grad_x = grad_y W op(B) = W  [out, in]
//
// A step sends every group of its batch through the same weights (batch_step.hpp). A product that packs them itself
// spends an eighth of its time on that when it has 256 rows; packed once, the cost is shared by all groups.
//
// Promises: the same bits as without, for products below 2^24 multiplications (larger ones go to BLAS when not packed).
// Two numbers of memory for each weight. Stale after the weights change, until update(). Not here: doubles and CPUs
// without core/small_gemm.hpp; there nothing is packed and nobody needs to ask.
#pragma once

#include <vector>

#include "core/aligned.hpp"
#include "core/small_gemm.hpp"
#include "model/model.hpp"

namespace flyball::model {

template <class Real>
class PackedWeights {
  public:
    explicit PackedWeights(const Model<Real>& model);

    // Packs what the weights are now, with all threads.
    void update();

    // Null when nothing is packed.
    const SmallGemm* kernels() const { return kernels_; }
    PackedRight forward(const Linear& part) const { return {at(part, 0), part.out, 0}; }
    PackedRight reverse(const Linear& part) const { return {at(part, 1), part.in, 0}; }

  private:
    struct Place {
        Linear part;
        std::size_t begin[2] = {0, 0};  // forward, reverse
    };
    const float* at(const Linear& part, std::size_t direction) const;

    const Model<Real>& model_;
    const SmallGemm* kernels_ = nullptr;
    std::vector<Place> places_;
    std::vector<std::size_t> place_of_;  // by parameter
    LineVector<float> panels_;
};

extern template class PackedWeights<float>;
extern template class PackedWeights<double>;

}  // namespace flyball::model
