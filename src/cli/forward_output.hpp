// What `flyball forward` found, as text for a terminal, as a document and as tensors of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_input.hpp"
#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "model/strides.hpp"
#include "model/top_tokens.hpp"

namespace flyball::cli {

struct ForwardReport {
    double loss = 0;  // nats a token; NaN for none
    bool finite = true;
    double seconds = 0;
    // -log p of each token given those before it, aligned with the ids; NaN for the first. Empty unless asked for.
    std::vector<double> token_losses;
    bool per_token = false;  // whether the table and the document show them
    std::optional<model::TopTokens> top;
    std::optional<model::Strides> strides;
    std::optional<model::TextScore> score;  // of strides
};

// `name` is the model's as the user gave it; `saved` the file that was written, or empty.
std::string forward_text(const ForwardReport& report, const ModelInput& given, const std::string& name,
                         const model::Model<float>& model, const std::string& saved);
Json forward_document(const ForwardReport& report, const ModelInput& given, const std::string& name,
                      const model::Model<float>& model);

// A line for each token, at most 80 columns: its place, text, loss and probability, and with --top what was expected
// there instead; behind them what may follow the text.
std::string token_table(const ForwardReport& report, const ModelInput& given);

// What a saved file holds beside what the pass showed: ids, token_texts, token_loss, top_ids, top_log_probability.
class ForwardTensors {
  public:
    ForwardTensors(const ForwardReport& report, const ModelInput& given);
    ForwardTensors(const ForwardTensors&) = delete;  // tensors() borrows
    ForwardTensors& operator=(const ForwardTensors&) = delete;
    const std::vector<TensorToWrite>& tensors() const { return tensors_; }

  private:
    std::vector<std::int64_t> ids_;
    std::string texts_;  // a JSON list
    std::vector<float> losses_;
    std::vector<TensorToWrite> tensors_;
};

}  // namespace flyball::cli
