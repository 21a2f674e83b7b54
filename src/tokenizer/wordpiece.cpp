#include "tokenizer/wordpiece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace flyball::tokenizer {

WordPiece::WordPiece(const Vocabulary& vocabulary, WordPieceSettings settings, std::string_view what)
    : vocabulary_(&vocabulary), settings_(std::move(settings)), unknown_(vocabulary.find(settings_.unknown)) {
    if (unknown_ == Vocabulary::none) {
        throw Error(ErrorKind::input, "tokenizer.wordpiece",
                    fmt::format("the unknown token {} in {}", flyball::quoted(settings_.unknown), what),
                    "a token of the vocabulary");
    }
}

WordPiece::Found WordPiece::longest(std::string_view text, std::string_view prefix) const {
    if (prefix.size() > vocabulary_->longest()) {
        return {};
    }
    struct Beginning {
        std::size_t length;
        std::uint64_t hash;
    };
    std::vector<Beginning> beginnings;
    std::uint64_t hash = hash_start;
    for (const char c : prefix) {
        hash = hash_more(hash, c);
    }
    const std::size_t most = std::min(text.size(), vocabulary_->longest() - prefix.size());
    for (std::size_t i = 0; i < most;) {
        const std::size_t end = i + point_length(text[i]);
        if (end > most) {
            break;
        }
        for (; i < end; ++i) {
            hash = hash_more(hash, text[i]);
        }
        beginnings.push_back({end, hash_end(hash)});
    }
    for (auto beginning = beginnings.rbegin(); beginning != beginnings.rend(); ++beginning) {
        const std::uint32_t index = vocabulary_->find(prefix, text.substr(0, beginning->length), beginning->hash);
        if (index != Vocabulary::none) {
            return {beginning->length, index};
        }
    }
    return {};
}

void WordPiece::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
    const auto continuing = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_continuation));
    const std::size_t characters = word.size() - continuing;
    const std::size_t before = ids.size();
    if (characters <= settings_.longest_word) {
        std::string_view prefix;
        while (!word.empty()) {
            const Found found = longest(word, prefix);
            if (found.length == 0) {
                break;
            }
            ids.push_back(vocabulary_->id(found.index));
            word.remove_prefix(found.length);
            prefix = settings_.prefix;
        }
        if (word.empty()) {
            return;
        }
    }
    ids.resize(before);
    ids.push_back(vocabulary_->id(unknown_));
}

}  // namespace flyball::tokenizer
