#include "tokenizer/bpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::size_t longest_plain = 48;
constexpr std::string_view mark = "\xE2\x96\x81";  // U+2581, which stands for a space

// Printable Latin-1 characters stand for themselves, the others for what follows U+0100.
bool stands_for_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::uint64_t scattered(std::uint64_t pair) {
    pair *= 0x9E3779B97F4A7C15U;
    return pair ^ pair >> 29U;
}

// A text of bytes as the printable text that vocabularies are written in.
std::string printable(std::string_view bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        text += byte_characters()[static_cast<unsigned char>(c)];
    }
    return text;
}

}  // namespace

const std::array<std::string, 256>& byte_characters() {
    static const std::array<std::string, 256> characters = [] {
        std::array<std::string, 256> table;
        char32_t next = 0x100;
        for (unsigned byte = 0; byte < 256; ++byte) {
            append_point(table[byte], stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++);
        }
        return table;
    }();
    return characters;
}

std::optional<unsigned char> byte_of_character(char32_t point) noexcept {
    static const std::array<int, 0x144> bytes = [] {
        std::array<int, 0x144> table{};
        table.fill(-1);
        for (int byte = 0; byte < 256; ++byte) {
            table[next_valid_point(byte_characters()[static_cast<std::size_t>(byte)]).value] = byte;
        }
        return table;
    }();
    if (point >= bytes.size() || bytes[point] < 0) {
        return std::nullopt;
    }
    return static_cast<unsigned char>(bytes[point]);
}

Bpe::Bpe(const Vocabulary& vocabulary, const std::vector<Merge>& merges, BpeSettings settings, std::string_view what)
    : vocabulary_(&vocabulary), settings_(std::move(settings)) {
    if (settings_.unknown) {
        unknown_ = vocabulary.find(*settings_.unknown);
        if (unknown_ == Vocabulary::none) {
            throw Error(ErrorKind::input, "tokenizer.bpe",
                        fmt::format("the unknown token {} in {}", flyball::quoted(*settings_.unknown), what),
                        "a token of the vocabulary");
        }
    }
    build_rules(merges, what);
    find_bytes();
    find_cuts(merges);
}

void Bpe::build_rules(const std::vector<Merge>& merges, std::string_view what) {
    std::size_t slots = 16;
    while (slots < 2 * merges.size() + 2) {
        slots *= 2;
    }
    rules_.resize(slots);
    std::string whole;
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const Merge& merge = merges[i];
        const auto token = [&](std::string_view text) {
            const std::uint32_t index = vocabulary_->find(text);
            if (index == Vocabulary::none) {
                throw Error(
                    ErrorKind::input, "tokenizer.bpe",
                    fmt::format("merge {} of {} and {} in {}, where {} is no token", i + 1, flyball::quoted(merge.left),
                                flyball::quoted(merge.right), what, flyball::quoted(text)),
                    "merges of tokens into tokens");
            }
            return index;
        };
        const std::uint64_t pair = std::uint64_t{token(merge.left)} << 32U | token(merge.right);
        std::string_view rest = merge.right;
        rest.remove_prefix(std::min(settings_.prefix.size(), rest.size()));
        whole.assign(merge.left).append(rest);
        std::size_t at = scattered(pair) & (slots - 1);
        while (rules_[at].rank != no_rank && rules_[at].pair != pair) {
            at = (at + 1) & (slots - 1);
        }
        rules_[at] = {pair, static_cast<std::uint32_t>(i), token(whole)};  // of a merge listed twice the later counts
    }
}

void Bpe::find_bytes() {
    for (unsigned byte = 0; byte < 256; ++byte) {
        fallback_[byte] = vocabulary_->find(fmt::format("<0x{:02X}>", byte));
        bytes_[byte] = vocabulary_->find(byte_characters()[byte]);
    }
    all_bytes_ = std::find(bytes_.begin(), bytes_.end(), Vocabulary::none) == bytes_.end();
}

void Bpe::find_cuts(const std::vector<Merge>& merges) {
    const bool plain = settings_.prefix.empty() && settings_.suffix.empty() && !settings_.ignore_merges &&
                       !settings_.byte_level && vocabulary_->find(mark) != Vocabulary::none;
    cuts_before_marks_ = plain && std::none_of(merges.begin(), merges.end(), [](const Merge& merge) {
                             return merge.right.starts_with(mark) && !merge.left.ends_with(mark);
                         });
}

const Bpe::Rule& Bpe::rule(std::uint32_t left, std::uint32_t right) const noexcept {
    const std::uint64_t pair = std::uint64_t{left} << 32U | right;
    std::size_t at = scattered(pair) & (rules_.size() - 1);
    while (rules_[at].rank != no_rank && rules_[at].pair != pair) {
        at = (at + 1) & (rules_.size() - 1);
    }
    return rules_[at];
}

bool Bpe::append_bytes(std::string_view text, std::vector<std::uint32_t>& symbols) const {
    const auto token = [this](char c) { return fallback_[static_cast<unsigned char>(c)]; };
    if (std::any_of(text.begin(), text.end(), [&](char c) { return token(c) == Vocabulary::none; })) {
        return false;
    }
    std::transform(text.begin(), text.end(), std::back_inserter(symbols), token);
    return true;
}

// Characters to tokens; those without one to their bytes, to the unknown token (several in a row fused if asked), or to
// nothing. The order of these is that of the library whose files these are.
void Bpe::append_symbols(std::string_view word, std::vector<std::uint32_t>& symbols) const {
    std::string text;
    bool pending = false;  // an unknown token that may still grow
    const auto flush = [&] {
        if (std::exchange(pending, false)) {
            symbols.push_back(unknown_);
        }
    };
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t length = point_length(word[at]);
        text.assign(at == 0 ? "" : settings_.prefix).append(word.substr(at, length));
        at += length;
        if (at == word.size()) {
            text += settings_.suffix;
        }
        if (const std::uint32_t index = vocabulary_->find(text); index != Vocabulary::none) {
            flush();
            symbols.push_back(index);
        } else if (settings_.byte_fallback && append_bytes(text, symbols)) {
            // The library leaves a pending unknown token for later here, and so do we.
        } else if (unknown_ != Vocabulary::none) {
            if (!settings_.fuse_unknown) {
                flush();
            }
            pending = true;
        }
    }
    flush();
}

void Bpe::merge_plain(std::vector<std::uint32_t>& symbols) const {
    std::vector<std::uint32_t> ranks(symbols.size(), no_rank);  // of symbol i with its neighbour
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        ranks[i] = rule(symbols[i], symbols[i + 1]).rank;
    }
    while (symbols.size() > 1) {
        const auto lowest = std::min_element(ranks.begin(), ranks.end());
        if (*lowest == no_rank) {
            return;
        }
        const auto i = lowest - ranks.begin();
        const auto at = static_cast<std::size_t>(i);
        symbols[at] = rule(symbols[at], symbols[at + 1]).whole;
        symbols.erase(symbols.begin() + i + 1);
        ranks.erase(ranks.begin() + i + 1);
        ranks[at] = at + 1 < symbols.size() ? rule(symbols[at], symbols[at + 1]).rank : no_rank;
        if (at > 0) {
            ranks[at - 1] = rule(symbols[at - 1], symbols[at]).rank;
        }
    }
}

// Symbols as a linked list, candidates by rank and then by place. A candidate whose neighbours have changed is
// recognised by its rank, which no longer is that of the pair, and dropped: nothing is ever searched for in the queue.
void Bpe::merge_queue(std::vector<std::uint32_t>& symbols) const {
    constexpr std::uint32_t none = Vocabulary::none;
    const auto count = static_cast<std::uint32_t>(symbols.size());
    std::vector<std::uint32_t> before(count);
    std::vector<std::uint32_t> after(count);
    using Candidate = std::pair<std::uint32_t, std::uint32_t>;  // rank, then place
    std::vector<Candidate> first;
    for (std::uint32_t i = 0; i < count; ++i) {
        before[i] = i == 0 ? none : i - 1;
        after[i] = i + 1 == count ? none : i + 1;
        const std::uint32_t rank = i + 1 == count ? no_rank : rule(symbols[i], symbols[i + 1]).rank;
        if (rank != no_rank) {
            first.emplace_back(rank, i);
        }
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>(), std::move(first));
    const auto consider = [&](std::uint32_t i) {
        if (i != none && after[i] != none) {
            if (const std::uint32_t rank = rule(symbols[i], symbols[after[i]]).rank; rank != no_rank) {
                queue.emplace(rank, i);
            }
        }
    };
    while (!queue.empty()) {
        const auto [rank, i] = queue.top();
        queue.pop();
        // What was joined since has another rank, or none.
        if (symbols[i] == none || after[i] == none) {
            continue;
        }
        const Rule& found = rule(symbols[i], symbols[after[i]]);
        if (found.rank != rank) {
            continue;
        }
        const std::uint32_t gone = after[i];
        symbols[i] = found.whole;
        symbols[gone] = none;
        after[i] = after[gone];
        if (after[i] != none) {
            before[after[i]] = i;
        }
        consider(before[i]);
        consider(i);
    }
    symbols.erase(std::remove(symbols.begin(), symbols.end(), none), symbols.end());
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
    if (word.size() >= Vocabulary::none) {
        throw Error(ErrorKind::input, "tokenizer.bpe", fmt::format("a word of {} bytes", word.size()),
                    "text in which the tokenizer finds shorter words");
    }
    if (settings_.ignore_merges) {
        const std::uint32_t whole = vocabulary_->find(settings_.byte_level ? printable(word) : std::string(word));
        if (whole != Vocabulary::none) {
            ids.push_back(vocabulary_->id(whole));
            return;
        }
    }
    std::vector<std::uint32_t> symbols;
    symbols.reserve(word.size());
    if (settings_.byte_level && all_bytes_ && settings_.prefix.empty() && settings_.suffix.empty()) {
        std::transform(word.begin(), word.end(), std::back_inserter(symbols),
                       [this](char c) { return bytes_[static_cast<unsigned char>(c)]; });
    } else if (settings_.byte_level) {
        append_symbols(printable(word), symbols);
    } else {
        append_symbols(word, symbols);
    }
    if (symbols.size() <= longest_plain) {
        merge_plain(symbols);
    } else {
        merge_queue(symbols);
    }
    for (const std::uint32_t symbol : symbols) {
        ids.push_back(vocabulary_->id(symbol));
    }
}

}  // namespace flyball::tokenizer
