// What a forward pass shows, kept for a file: logits, hidden states, attention, scores, what branches add.
//
//     logits            [tokens, vocab]
//     hidden.0 .. L     [tokens, dim]: the embedding, the stream after each block, and as the last the readout
//     attention.0 ..    [heads, tokens, tokens], zero where the mask is
//     scores.0 ..       [heads, tokens, tokens], before they become weights; minus infinity where the mask is
//     attn_added.0 ..   [tokens, dim]: what the equation adds to x for attention in a block, after norms and
//     ffn_added.0 ..    coefficients, and for the feed-forward network
//
// Only what is wanted is kept; everything else stays a stream.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/model.hpp"
#include "model/taps.hpp"

namespace flyball::model {

struct Recorded {
    bool logits = false;
    bool hidden = false;
    bool attention = false;
    bool scores = false;
    bool branches = false;
};

// "logits,hidden"; Error(usage) for other words, and for logits of a model that has none.
Recorded parse_recorded(const std::string& text, const Architecture& architecture);

// Bytes that the recorder holds.
double memory_estimate(const Architecture& architecture, std::size_t tokens, Recorded recorded);

class Recorder {
  public:
    Recorder(const Architecture& architecture, std::size_t tokens, Recorded recorded);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    const Taps<float>& taps() const { return taps_; }
    bool is_finite() const;
    void save(const std::filesystem::path& path) const;  // as safetensors, F32

  private:
    using View = TapView<float>;
    struct Kept {
        std::vector<std::size_t> shape;
        std::vector<float> values;
        std::vector<std::size_t> rows = {};  // written so far; of each head where there are heads
    };
    void make(const std::string& name, std::vector<std::size_t> shape, float value = 0);
    void copy(const std::string& name, const View& view);
    void count_rows(const std::string& name, std::size_t head, std::size_t rows);
    void copy_square(const char* name, const View& view);
    void keep_squares(const char* name, const char* tap, std::size_t heads, float masked);
    void keep_rows(const char* name, const char* tap, std::size_t dim);

    std::size_t layers_;
    std::size_t tokens_;
    std::map<std::string, Kept> tensors_;
    Taps<float> taps_;
};

// What a model is, for documents: family, equation, sizes, number of parameters.
Json document(const std::string& name, const Model<float>& model);

}  // namespace flyball::model
