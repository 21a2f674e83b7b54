// The text of token ids that come one by one: what each of them adds, whole characters alone.
//
// A token may end in the middle of a character (byte-level vocabularies cut anywhere); such a piece is held back until
// its character is complete or end() is called. The pieces joined are the decoded text of all ids, for every decoder
// that changes nothing it has shown before; WordPiece's clean-up of contractions may (its "do n't" becomes "don't").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer {

class TextStream {
  public:
    // `before`: tokens whose text is known already, such as a prompt. They decide whether a space comes first.
    explicit TextStream(Tokenizer tokenizer, std::span<const std::int32_t> before = {});

    // What can be shown now; may be empty. An id without a token is shown as U+FFFD.
    std::string add(std::int32_t id);
    // What was held back.
    std::string end();

  private:
    std::string show(std::string text);

    Tokenizer tokenizer_;
    std::vector<std::int32_t> ids_;  // those of the last piece that was shown, and those held back
    std::size_t shown_ = 0;          // how many of them were shown
    std::string shown_text_;         // what they decode to
};

}  // namespace flyball::tokenizer
