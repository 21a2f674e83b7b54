#include "tokenizer/text_stream.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/utf8.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD: what decoders put for an incomplete character

// Of `text`, what follows the part that it shares with `before`; whole characters.
std::string after(std::string_view before, std::string_view text) {
    const auto [one, two] = std::mismatch(before.begin(), before.end(), text.begin(), text.end());
    auto from = static_cast<std::size_t>(two - text.begin());
    while (from > 0 && from < text.size() && is_continuation(text[from])) {
        --from;
    }
    return std::string(text.substr(from));
}

}  // namespace

TextStream::TextStream(Tokenizer tokenizer, std::span<const std::int32_t> before) : tokenizer_(std::move(tokenizer)) {
    constexpr std::size_t enough = 16;  // tokens that the next one could depend on
    for (const std::int32_t id : before.subspan(before.size() - std::min(before.size(), enough))) {
        if (tokenizer_.token(id)) {
            ids_.push_back(id);
        }
    }
    shown_ = ids_.size();
    shown_text_ = tokenizer_.decode(ids_);
}

std::string TextStream::add(std::int32_t id) {
    if (!tokenizer_.token(id)) {
        return end().append(replacement);
    }
    ids_.push_back(id);
    std::string text = tokenizer_.decode(ids_);
    return text.ends_with(replacement) ? std::string() : show(std::move(text));
}

std::string TextStream::end() {
    return shown_ == ids_.size() ? std::string() : show(tokenizer_.decode(ids_));
}

std::string TextStream::show(std::string text) {
    std::string piece = after(shown_text_, text);
    if (piece.empty()) {  // special tokens, which have no text: what came before still decides about a space
        shown_ = ids_.size();
        shown_text_ = std::move(text);
        return piece;
    }
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(shown_));
    shown_ = ids_.size();
    shown_text_ = tokenizer_.decode(ids_);
    return piece;
}

}  // namespace flyball::tokenizer
