// What a forward pass shows, kept for a file: the tensors that recorded.hpp names. Only what is wanted is kept;
// everything else stays a stream.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "model/model.hpp"
#include "model/recorded.hpp"
#include "model/taps.hpp"

namespace flyball::model {

class Recorder {
  public:
    Recorder(const Architecture& architecture, std::size_t tokens, const std::vector<Recorded>& recorded);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    Taps<float>& taps() { return taps_; }
    bool is_finite() const;
    // As safetensors, F32, together with `more`.
    void save(const std::filesystem::path& path, std::span<const TensorToWrite> more = {}) const;

  private:
    using View = TapView<float>;
    struct Kept {
        Recorded what;
        std::vector<std::size_t> shape;  // in the file
        std::size_t width;
        std::vector<float> values;      // [heads, tokens, width]
        std::vector<std::size_t> rows;  // written so far, of each head
    };
    void keep(Kept& kept, const View& view) const;
    // Columns `from` .. `from + columns` of the view go to `head`, at column `to`.
    void copy(Kept& kept, std::size_t head, const View& view, std::size_t from, std::size_t to,
              std::size_t columns) const;

    std::size_t tokens_;
    std::map<std::string, Kept> tensors_;
    Taps<float> taps_;
};

// What a model is, for documents: family, equation, sizes, number of parameters.
Json document(const std::string& name, const Model<float>& model);

}  // namespace flyball::model
