// A text written by a model: the prompt, then one token after another.
//
//     logits after the prompt -> a token (sampling.hpp) -> taken in (generate.hpp) -> the next
//
// At the last position: a model has a limit of positions. When the text reaches it, the newest half of them is kept,
// its tokens counted from position 0 again, and computed anew; the text goes on, and the model has forgotten what
// stands before. A prompt that is longer than the limit loses its beginning. Models with dynamic rotary positions have
// no limit, unless they have learned ones too.
//
// The text ends after the number of tokens asked for, after a token that ends or begins a text (eos_token_id and
// bos_token_id of config.json), when the caller says so, or when the logits are no distribution: NaN is an outcome.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/parallel.hpp"
#include "model/model.hpp"
#include "model/sampling.hpp"

namespace flyball::model {

struct SampleSettings {
    std::size_t tokens = 200;  // at most
    Sampling sampling;
    std::uint64_t seed = 0;
    std::vector<std::int32_t> last_ids;  // the text ends after one of these
};

enum class SampleEnd { tokens, end_of_text, interrupted, not_finite };
const char* name(SampleEnd end) noexcept;

struct SampleResult {
    std::vector<std::int32_t> ids;  // that were written, a token that ends the text included
    SampleEnd end = SampleEnd::tokens;
    bool cached = true;                // false: every token ran the whole text again (generate.hpp says when)
    std::size_t forgotten = 0;         // how many times the older half of the text was let go
    std::size_t cut_prompt = 0;        // tokens of the prompt that came before the first position
    double prompt_seconds = 0;         // for the prompt
    double seconds = 0;                // for everything after it
    double tokens_per_second() const;  // tokens taken in after the prompt by `seconds`; NaN for none
};

// Bytes that a text of so many tokens takes at its longest, beside the model: keys and values of the positions there
// are (none are too many for dynamic rotary positions), twice because arrays double, and the longest pass: that of the
// prompt, of the newest half at the last position, or of all where keys and values cannot be kept.
double sample_memory(const Architecture& architecture, std::size_t prompt, std::size_t tokens);

// `written` gets each token as it is chosen and says whether to go on. The prompt has at least one token.
SampleResult sample(const Model<float>& model, std::vector<std::int32_t> prompt, const SampleSettings& settings,
                    FunctionRef<bool(std::int32_t)> written);

// Ids that config.json gives a meaning, those beyond the vocabulary left out.
struct TextEnds {
    std::optional<std::int32_t> begin;  // the first bos_token_id
    std::vector<std::int32_t> last;     // eos_token_id and bos_token_id: a text ends where another begins
};
TextEnds text_ends(const std::filesystem::path& folder, const Architecture& architecture);

// Everything a document tells; texts are missing for a model without a tokenizer.
struct SampleReport {
    Json model;  // recorder.hpp
    std::optional<std::string> prompt;
    std::vector<std::int32_t> prompt_ids;
    std::optional<std::string> text;  // without the prompt
    SampleSettings settings;
    SampleResult result;
};

struct SampleField {
    const char* name;
    const char* help;
    Json (*value)(const SampleReport&);
};
const std::vector<SampleField>& sample_fields();
Json document(const SampleReport& report);

}  // namespace flyball::model
