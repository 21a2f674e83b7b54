// Cutting text into words before the vocabulary is asked: the `pre_tokenizer` of a tokenizer file.
//
// Every kind of the files is a chain of few steps: a split by a pattern, a space or mark put in front, bytes written as
// printable characters. A piece runs through the chain on its own, so memory does not grow with the text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer {

// What becomes of a match. Otherwise as in the files: merged_with_next means that a match starts the piece after it.
enum class SplitBehaviour { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct SplitStep {
    Pattern pattern;
    SplitBehaviour behaviour = SplitBehaviour::isolated;
    bool invert = false;  // what lies between the matches counts as the match
};
// A space in front of a piece that has none.
struct PrefixSpaceStep {};
// Spaces become marks (U+2581), and a mark goes in front of a piece that has none.
struct MarkStep {
    enum class Prepend { always, first, never };  // first: only the piece that starts the text
    std::string mark;
    Prepend prepend = Prepend::always;
};
// Bytes become the printable characters that stand for them.
struct BytesStep {};

using PretokenizeStep = std::variant<SplitStep, PrefixSpaceStep, MarkStep, BytesStep>;

// Runs pieces of valid UTF-8 through the steps. One object a thread; `steps` must outlive it.
class Pretokenizer {
  public:
    using Sink = std::function<void(std::string_view)>;
    // The last `left_out` steps are not run: the caller does what they would do.
    Pretokenizer(const std::vector<PretokenizeStep>& steps, std::size_t left_out, Sink sink);

    // `first`: the piece starts the text.
    void run(std::string_view piece, bool first) { step(0, piece, first); }

  private:
    void step(std::size_t index, std::string_view piece, bool first);
    void split(std::size_t index, const SplitStep& step, std::string_view piece, bool first);

    const std::vector<PretokenizeStep>* steps_;
    std::size_t count_;
    Sink sink_;
    std::vector<Matches> matches_;      // one for each step; those that do not split have an idle one
    std::vector<std::string> buffers_;  // the text a step has rewritten
};

}  // namespace flyball::tokenizer
