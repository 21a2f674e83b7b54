#include "tokenizer/pretokenize.hpp"

#include <optional>
#include <utility>

#include "tokenizer/bpe.hpp"

namespace flyball::tokenizer {

namespace {

// Puts matches and what lies between them together as the behaviour says, and passes pieces on in order.
class Assembler {
  public:
    using Emit = std::function<void(std::size_t, std::size_t)>;
    Assembler(SplitBehaviour behaviour, const Emit& emit) : behaviour_(behaviour), emit_(emit) {}

    void add(std::size_t start, std::size_t end, bool is_match) {
        switch (behaviour_) {
            case SplitBehaviour::removed:
                if (!is_match) {
                    emit_(start, end);
                }
                return;
            case SplitBehaviour::isolated:
                emit_(start, end);
                return;
            case SplitBehaviour::contiguous:
                join(start, end, held_ && held_match_ == is_match);
                break;
            case SplitBehaviour::merged_with_previous:
                join(start, end, held_ && is_match && !held_match_);
                break;
            case SplitBehaviour::merged_with_next:
                join(start, end, held_ && !is_match && held_match_);
                break;
        }
        held_match_ = is_match;
    }

    void finish() {
        if (held_) {
            emit_(start_, end_);
        }
    }

  private:
    void join(std::size_t start, std::size_t end, bool with_held) {
        if (!with_held) {
            finish();
            start_ = start;
        }
        end_ = end;
        held_ = true;
    }

    SplitBehaviour behaviour_;
    const Emit& emit_;
    bool held_ = false;
    bool held_match_ = false;
    std::size_t start_ = 0;
    std::size_t end_ = 0;
};

const Pattern& idle_pattern() {
    static const Pattern pattern = Pattern::literal(" ");
    return pattern;
}

}  // namespace

Pretokenizer::Pretokenizer(const std::vector<PretokenizeStep>& steps, std::size_t left_out, Sink sink)
    : steps_(&steps), count_(steps.size() - left_out), sink_(std::move(sink)), buffers_(steps.size()) {
    matches_.reserve(steps.size());
    for (const PretokenizeStep& one : steps) {
        const auto* const split_step = std::get_if<SplitStep>(&one);
        matches_.emplace_back(split_step == nullptr ? idle_pattern() : split_step->pattern);
    }
}

void Pretokenizer::step(std::size_t index, std::string_view piece, bool first) {
    if (piece.empty()) {
        return;
    }
    if (index == count_) {
        sink_(piece);
        return;
    }
    std::string& buffer = buffers_[index];
    const PretokenizeStep& current = (*steps_)[index];
    if (const auto* const split_step = std::get_if<SplitStep>(&current)) {
        split(index, *split_step, piece, first);
    } else if (std::holds_alternative<PrefixSpaceStep>(current)) {
        if (piece.front() != ' ') {
            buffer.assign(" ").append(piece);
            piece = buffer;
        }
        step(index + 1, piece, first);
    } else if (const auto* const mark = std::get_if<MarkStep>(&current)) {
        buffer.clear();
        const bool prepend =
            mark->prepend == MarkStep::Prepend::always || (mark->prepend == MarkStep::Prepend::first && first);
        if (prepend && piece.front() != ' ' && !piece.starts_with(mark->mark)) {
            buffer += mark->mark;
        }
        for (const char c : piece) {
            if (c == ' ') {
                buffer += mark->mark;
            } else {
                buffer += c;
            }
        }
        step(index + 1, buffer, first);
    } else {
        buffer.clear();
        for (const char c : piece) {
            buffer += byte_characters()[static_cast<unsigned char>(c)];
        }
        step(index + 1, buffer, first);
    }
}

void Pretokenizer::split(std::size_t index, const SplitStep& split_step, std::string_view piece, bool first) {
    const Assembler::Emit emit = [&](std::size_t start, std::size_t end) {
        step(index + 1, piece.substr(start, end - start), first && start == 0);
    };
    Assembler assembler(split_step.behaviour, emit);
    Matches& matches = matches_[index];
    matches.begin(piece);
    std::size_t done = 0;
    while (const std::optional<Pattern::Match> match = matches.next()) {
        if (match->start > done) {
            assembler.add(done, match->start, split_step.invert);
        }
        assembler.add(match->start, match->end, !split_step.invert);
        done = match->end;
    }
    if (done < piece.size()) {
        assembler.add(done, piece.size(), split_step.invert);
    }
    assembler.finish();
}

}  // namespace flyball::tokenizer
