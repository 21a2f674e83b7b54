// A transformer with its numbers: the architecture, the equation that wires it, and the parameters.
//
// Parameters come from a checkpoint (32-bit floats stay in the memory map, others are converted) or from an
// initialisation; the latter are contiguous and may be changed, and copies of a Model share them. A Model is immutable
// otherwise and may be shared by threads; pass.hpp runs it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/safetensors.hpp"
#include "model/layout.hpp"

namespace flyball::model {

template <class Real>
class Model {
  public:
    // Parameters in the layout of the architecture, at their start: gains 1, learned scalars as the equation says, all
    // others 0. initialise.hpp draws the matrices.
    Model(Architecture architecture, const Names& names);

    const Architecture& architecture() const { return architecture_; }
    const scheme::Program& program() const { return program_; }
    const Layout& layout() const { return layout_; }
    const std::string& dtype() const { return dtype_; }  // as stored: "F32", "BF16", "F16 F32"

    // What a reader of the results should know about a checkpoint, one sentence each.
    const std::vector<std::string>& notes() const { return notes_; }

    // [shape of the parameter]; null for `absent`.
    const Real* at(int parameter) const {
        return parameter == absent ? nullptr : values_[static_cast<std::size_t>(parameter)];
    }
    // Null for a model that was loaded.
    Parameters<Real>* parameters() { return own_.get(); }
    const Parameters<Real>* parameters() const { return own_.get(); }

  private:
    template <class Other>
    friend class Model;
    friend Model<float> make_model(const Json& config, std::shared_ptr<const SafeTensors> tensors,
                                   const std::string& what);
    friend Model<double> widened(const Model<float>& model);
    struct Bare {};  // without numbers
    Model(Architecture architecture, const Names& names, Bare);

    Architecture architecture_;
    scheme::Program program_;
    Layout layout_;
    std::string dtype_ = "F32";
    std::vector<std::string> notes_;
    std::vector<const Real*> values_;
    std::shared_ptr<Parameters<Real>> own_;
    std::shared_ptr<const SafeTensors> file_;
    std::vector<std::vector<Real>> converted_;
};

// A folder as published: config.json and model.safetensors, or shards with their index. Throws Error(input) for what
// is not a model of a known family: every tensor is checked against the configuration before anything is allocated.
Model<float> load_model(const std::filesystem::path& folder);

// The same from what is already in memory; `what` names it in messages.
Model<float> make_model(const Json& config, std::shared_ptr<const SafeTensors> tensors, const std::string& what);

// The same model in double.
Model<double> widened(const Model<float>& model);

extern template class Model<float>;
extern template class Model<double>;

}  // namespace flyball::model
