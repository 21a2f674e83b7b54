#include "tokenizer/added.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "tokenizer/normalise.hpp"
#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer {

namespace {

std::uint64_t edge(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8U | static_cast<unsigned char>(c);
}

bool is_word_character(std::string_view character) {
    static const Pattern pattern = Pattern::pcre(
        std::string("[").append(word_class).append(rust_word_extra).append("]"), "the pattern of word characters");
    Matches matches(pattern);
    matches.begin(character);
    return matches.next().has_value();
}

bool starts_with_word(std::string_view text) {
    return !text.empty() && is_word_character(text.substr(0, point_length(text.front())));
}

bool ends_with_word(std::string_view text) {
    std::size_t start = text.size();
    while (start > 0) {
        --start;
        if (!is_continuation(text[start])) {
            return is_word_character(text.substr(start));
        }
    }
    return false;
}

}  // namespace

void AddedTokens::add(const std::string& text, const AddedToken& token) {
    if (text.empty()) {
        return;
    }
    starts_[static_cast<unsigned char>(text.front())] = true;
    std::uint32_t node = root;
    for (const char c : text) {
        const auto [child, is_new] = children_.emplace(edge(node, c), static_cast<std::uint32_t>(ends_.size()));
        if (is_new) {
            ends_.push_back(-1);
        }
        node = child->second;
    }
    if (ends_[node] < 0) {
        ends_[node] = static_cast<std::int64_t>(tokens_.size());
        tokens_.push_back(token);
    }
}

AddedTokens::Found AddedTokens::longest(std::string_view text) const {
    Found found;
    std::uint32_t node = root;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto child = children_.find(edge(node, text[i]));
        if (child == children_.end()) {
            break;
        }
        node = child->second;
        if (ends_[node] >= 0) {
            found = {i + 1, &tokens_[static_cast<std::size_t>(ends_[node])]};
        }
    }
    return found;
}

void AddedTokens::split(std::string_view text, const Piece& piece) const {
    std::size_t done = 0;       // what was passed on
    std::size_t at = 0;         // where the search goes on
    std::size_t space_end = 0;  // of the last run of white space that was looked at, so that none is looked at twice
    while (!tokens_.empty() && at < text.size()) {
        if (!starts_[static_cast<unsigned char>(text[at])]) {
            ++at;
            continue;
        }
        const Found found = longest(text.substr(at));
        if (found.token == nullptr) {
            ++at;
            continue;
        }
        std::size_t start = at;
        std::size_t end = at + found.length;
        at = end;
        const AddedToken& token = *found.token;
        if (token.single_word && (ends_with_word(text.substr(0, start)) || starts_with_word(text.substr(end)))) {
            continue;
        }
        if (token.left_strip) {
            // Only white space that no token before has taken: a run is looked at twice at most.
            const std::size_t from = std::min(done, start);
            start -= trailing_space(text.substr(from, start - from));
        }
        if (token.right_strip) {
            if (end >= space_end) {
                space_end = end + leading_space(text.substr(end));
            }
            end = space_end;
        }
        if (start > done) {
            piece(text.substr(done, start - done), nullptr);
        }
        piece(text.substr(start, end - start), &token);
        done = end;
    }
    if (done < text.size()) {
        piece(text.substr(done), nullptr);
    }
}

}  // namespace flyball::tokenizer
