// Where every parameter of a transformer is: names and shapes of the tensors, and which part reads which.
//
// The equation decides which norms and learned scalars exist: each block is lowered with the conditions it will run
// with, and only the instances that its code evaluates become parameters.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <string>
#include <vector>

#include "core/aligned.hpp"
#include "model/architecture.hpp"
#include "model/family.hpp"
#include "scheme/program.hpp"

namespace flyball::model {

// What an initialisation needs to know about a parameter.
enum class Role {
    embedding,
    head,
    weight,
    residual_weight,
    bias,
    gain,            // of the norms of the equation and of the embedding
    attention_gain,  // of the norms on q, k, v
    ffn_gain,
    logit_gain,
    norm_bias,
    curve,
    learned,  // of the equation
};

// How a checkpoint keeps a parameter; load_model turns it into what the model computes with, and nobody else asks.
enum class InFile {
    plain,
    less_one,  // a gain g as g - 1
    by_head,   // outputs of a joint matrix as query, key, value of the first head, of the second, ..
};

struct ParameterSpec {
    std::string name;
    std::vector<std::size_t> shape;
    Role role = Role::weight;
    double start = 0;        // gains, curve, learned: the value training starts from
    std::size_t offset = 0;  // in Parameters
    InFile in_file = InFile::plain;
    std::size_t unused_rows = 0;  // more rows in the file, in front of the first

    std::size_t elements() const;
};

inline constexpr int absent = -1;

// y = W x + b, written to the columns [offset, offset + out) of the output.
struct Linear {
    int weight = absent;
    int bias = absent;
    std::size_t in = 0;
    std::size_t out = 0;
    std::size_t offset = 0;
    bool in_out = false;  // W is stored [in, out], otherwise [out, in]
};

struct NormPlace {
    int gain = absent;
    int bias = absent;
    int alpha = absent;
    int shift = absent;
};

struct BlockLayout {
    std::vector<Linear> qkv;
    std::array<int, 3> attention_gains = {absent, absent, absent};  // of the norms on q, k, v
    Linear output;
    std::vector<Linear> ffn_in;
    int ffn_gain = absent;  // [inner_width]
    Linear ffn_out;
    std::vector<NormPlace> norms;  // by instance of the block's code (scheme/code.hpp)
    std::vector<int> learned;      // by instance
};

struct Layout {
    std::vector<ParameterSpec> parameters;
    std::size_t elements = 0;
    int tokens = absent;
    Linear patches;  // of an image, in place of tokens: [dim, channels, patch height, patch width]
    int class_token = absent;
    int positions = absent;
    int types = absent;
    NormPlace embedding_norm;
    std::vector<BlockLayout> blocks;
    std::vector<NormPlace> readout_norms;
    std::vector<int> readout_learned;
    int head = absent;        // equal to `tokens` when tied; absent for an encoder
    int logit_gain = absent;  // [vocab]

    std::size_t count() const;  // numbers in all parameters
};

Layout make_layout(const Architecture& architecture, const scheme::Program& program, const Names& names);

// One number for every number of the parameters, contiguous, zero at start: weights, gradients, an optimiser's moments.
//
// clear() costs nothing: a parameter's memory is written when at() or all() first asks for it, and not at all when its
// first gradient overwrites it. Filling the gradients of a step with zeros and reading them again for the first sum is
// a fortieth of a step of a model of 6 x 384. Until then the const accessors have nothing to show.
template <class Real>
class Parameters {
  public:
    explicit Parameters(const Layout& layout);
    Real* at(int parameter) {
        fill_if_cleared(static_cast<std::size_t>(parameter));
        return values_.data() + offsets_[static_cast<std::size_t>(parameter)];
    }
    const Real* at(int parameter) const {
        assert(cleared_left_ == 0);
        return values_.data() + offsets_[static_cast<std::size_t>(parameter)];
    }
    LineVector<Real>& all() {
        for (std::size_t i = 0; cleared_left_ > 0 && i < cleared_.size(); ++i) {
            fill_if_cleared(i);
        }
        return values_;
    }
    const LineVector<Real>& all() const {
        assert(cleared_left_ == 0);
        return values_;
    }

    // Every number is 0 from now on.
    void clear();
    // True when the parameter is as clear() left it: the caller must then write all its numbers, whatever they are.
    bool overwrites(int parameter);

  private:
    void fill_if_cleared(std::size_t parameter) {
        if (cleared_left_ > 0 && cleared_[parameter] != 0) {
            fill(parameter);
        }
    }
    void fill(std::size_t parameter);

    std::vector<std::size_t> offsets_;  // and one more: the end
    LineVector<Real> values_;
    std::vector<char> cleared_;  // by parameter
    std::size_t cleared_left_ = 0;
};

extern template class Parameters<float>;
extern template class Parameters<double>;

}  // namespace flyball::model
