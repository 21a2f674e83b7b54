// Text to token ids and back, as the published tokenizer of a model does it.
//
//     added tokens -> normaliser -> added tokens -> pre-tokenizer -> model (BPE or WordPiece) -> post-processor
//
// Reads tokenizer.json; without one, vocab.json + merges.txt (GPT-2) or vocab.txt (BERT). The ids are those of Hugging
// Face's library `tokenizers`, whose file format this is; docs/models.md says which of its parts are there and where
// the two may differ. Padding and truncation of the file are not applied: they are about batches. Unigram models are
// refused.
//
// Text that is not UTF-8 is read with U+FFFD for what is none (core/utf8.hpp). A Tokenizer never changes: threads
// may share one, and copies share everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::tokenizer {

struct TokenizerParts;

class Tokenizer {
  public:
    // The folder of a model as published. Errors name the file.
    static Tokenizer load(const std::filesystem::path& folder);
    // The text of a tokenizer.json; `what` names it in messages.
    static Tokenizer parse(std::string_view json, std::string_view what);

    // add_special: with the tokens that the model wants around its input ([CLS], <s>). Added tokens written in the text
    // are found either way.
    std::vector<std::int32_t> encode(std::string_view text, bool add_special = true) const;

    // At most `most` ids: what is cut off is the end of the text, the special tokens around it stay.
    std::vector<std::int32_t> encode_at_most(std::size_t most, std::string_view text) const;

    // The text cut into up to `most` windows of `length` ids one after another, each with its own special tokens around
    // it. What is left at the end and does not fill a window is not used, unless it is all there is.
    std::vector<std::vector<std::int32_t>> encode_windows(std::size_t length, std::size_t most,
                                                          std::string_view text) const;

    // Ids without a token are an Error.
    std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;

    // Largest id + 1: how many rows an embedding must have at least.
    std::size_t vocabulary_size() const noexcept;
    // As the file spells it ("Ġworld", "##ing").
    std::optional<std::string_view> token(std::int32_t id) const noexcept;
    std::optional<std::int32_t> id(std::string_view token) const noexcept;
    // "BPE" or "WordPiece".
    std::string_view kind() const noexcept;

  private:
    explicit Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}

    std::shared_ptr<const TokenizerParts> parts_;
};

}  // namespace flyball::tokenizer
