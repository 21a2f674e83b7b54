#include "tokenizer/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/utf8.hpp"
#include "tokenizer/parts.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::size_t largest_tokenizer = std::size_t{256} << 20;
constexpr std::string_view space_mark = "\xE2\x96\x81";

// The ids of words seen before in a text: most words of a text are few.
class WordCache {
  public:
    static constexpr std::size_t longest_word = 64;
    static constexpr std::size_t most_words = std::size_t{1} << 20;

    std::span<const std::int32_t> find(std::string_view word, std::uint64_t hash) const {
        for (std::size_t at = hash & (slots_.size() - 1); slots_[at].count != 0; at = (at + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[at];
            if (slot.hash == hash && std::string_view(words_).substr(slot.word, slot.length) == word) {
                return {ids_.data() + slot.ids, slot.count};
            }
        }
        return {};
    }

    void add(std::string_view word, std::uint64_t hash, std::span<const std::int32_t> ids) {
        if (ids.empty() || used_ >= most_words) {
            return;
        }
        if (2 * (used_ + 1) > slots_.size()) {
            std::vector<Slot> old(2 * slots_.size());
            old.swap(slots_);
            for (const Slot& slot : old) {
                if (slot.count != 0) {
                    put(slot);
                }
            }
        }
        put({hash, words_.size(), ids_.size(), static_cast<std::uint32_t>(word.size()),
             static_cast<std::uint32_t>(ids.size())});
        ++used_;
        words_ += word;
        ids_.insert(ids_.end(), ids.begin(), ids.end());
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::size_t word = 0, ids = 0;
        std::uint32_t length = 0;
        std::uint32_t count = 0;  // 0: free
    };
    void put(const Slot& slot) {
        std::size_t at = slot.hash & (slots_.size() - 1);
        while (slots_[at].count != 0) {
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::size_t used_ = 0;
    std::string words_;
    std::vector<std::int32_t> ids_;
};

// One text on its way through the tokenizer.
class Encoder {
  public:
    explicit Encoder(const TokenizerParts& parts)
        : parts_(parts),
          pretokenizer_(parts.pretokenize, parts.left_out, [this](std::string_view word) { cut(word); }) {}

    std::vector<std::int32_t> run(std::string_view text) {
        parts_.added.split(text, [&](std::string_view piece, const AddedToken* token) {
            if (token != nullptr) {
                ids_.push_back(token->id);
            } else {
                const bool first = piece.data() == text.data();
                if (parts_.normalise.empty()) {
                    after_normalising(piece, first);
                } else {
                    after_normalising(normalised(piece, parts_.normalise), first);
                }
            }
        });
        return std::move(ids_);
    }

  private:
    void after_normalising(std::string_view text, bool first) {
        parts_.added_normalised.split(text, [&](std::string_view piece, const AddedToken* token) {
            if (token != nullptr) {
                ids_.push_back(token->id);
            } else {
                pretokenizer_.run(piece, first && piece.data() == text.data());
            }
        });
    }

    // A word of the pre-tokenizer may be a whole text, with U+2581 for spaces.
    void cut(std::string_view word) {
        if (!parts_.bpe || !parts_.bpe->cuts_before_marks()) {
            encode(word);
            return;
        }
        std::size_t start = 0;
        std::size_t after_mark = 0;
        for (std::size_t at = word.find(space_mark); at != std::string_view::npos;
             at = word.find(space_mark, after_mark)) {
            if (at > after_mark) {  // another character stands before it
                encode(word.substr(start, at - start));
                start = at;
            }
            after_mark = at + space_mark.size();
        }
        encode(word.substr(start));
    }

    void encode(std::string_view word) {
        if (word.size() > WordCache::longest_word) {
            encode_new(word);
            return;
        }
        const std::uint64_t hash = hash_of(word);
        const std::span<const std::int32_t> known = cache_.find(word, hash);
        if (!known.empty()) {
            ids_.insert(ids_.end(), known.begin(), known.end());
            return;
        }
        const std::size_t before = ids_.size();
        encode_new(word);
        cache_.add(word, hash, std::span(ids_).subspan(before));
    }

    void encode_new(std::string_view word) {
        if (parts_.bpe) {
            parts_.bpe->encode(word, ids_);
        } else {
            parts_.wordpiece->encode(word, ids_);
        }
    }

    const TokenizerParts& parts_;
    Pretokenizer pretokenizer_;
    WordCache cache_;
    std::vector<std::int32_t> ids_;
};

void surround(std::vector<std::int32_t>& ids, const std::vector<TokenizerParts::Around>& around) {
    for (const TokenizerParts::Around& pair : around) {
        ids.insert(ids.begin(), pair.before.begin(), pair.before.end());
        ids.insert(ids.end(), pair.after.begin(), pair.after.end());
    }
}

}  // namespace

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "tokenizer.json";
    if (is_named(file)) {
        return parse(read_regular_file(file, largest_tokenizer), flyball::quoted(file.string()));
    }
    return Tokenizer(load_older_tokenizer(folder));
}

Tokenizer Tokenizer::parse(std::string_view json, std::string_view what) {
    return Tokenizer(parse_tokenizer_json(json, what));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, bool add_special) const {
    std::string repaired;
    if (!is_utf8(text)) {
        repaired = repaired_utf8(text);
        text = repaired;
    }
    std::vector<std::int32_t> ids = Encoder(*parts_).run(text);
    if (add_special) {
        surround(ids, parts_->around);
    }
    return ids;
}

namespace {

// How many ids of a text have room beside the special tokens.
std::size_t room_for_text(const TokenizerParts& parts, std::size_t length) {
    std::vector<std::int32_t> special;
    surround(special, parts.around);
    if (length < special.size()) {
        throw Error(
            ErrorKind::usage, "tokenizer.encode", fmt::format("a length of {}", length),
            fmt::format("at least {}, the special tokens that this tokenizer puts around a text", special.size()));
    }
    return length - special.size();
}

}  // namespace

std::vector<std::int32_t> Tokenizer::encode_at_most(std::size_t most, std::string_view text) const {
    const std::size_t room = room_for_text(*parts_, most);
    std::vector<std::int32_t> ids = encode(text, false);
    ids.resize(std::min(ids.size(), room));
    surround(ids, parts_->around);
    return ids;
}

std::vector<std::vector<std::int32_t>> Tokenizer::encode_windows(std::size_t length, std::size_t most,
                                                                 std::string_view text) const {
    const std::size_t room = room_for_text(*parts_, length);
    const std::vector<std::int32_t> ids = encode(text, false);
    std::vector<std::vector<std::int32_t>> windows;
    for (std::size_t begin = 0; windows.size() < most; begin += room) {
        const std::size_t here = std::min(room, ids.size() - begin);
        if (!windows.empty() && (here < room || room == 0)) {
            break;
        }
        const auto from = ids.begin() + static_cast<std::ptrdiff_t>(begin);
        std::vector<std::int32_t>& window = windows.emplace_back(from, from + static_cast<std::ptrdiff_t>(here));
        surround(window, parts_->around);
        if (here < room) {
            break;
        }
    }
    return windows;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
    std::vector<std::string> tokens;
    tokens.reserve(ids.size());
    for (const std::int32_t id : ids) {
        const std::optional<std::string_view> text = token(id);
        if (!text) {
            throw Error(ErrorKind::input, "tokenizer.decode", fmt::format("the id {}, which has no token", id),
                        fmt::format("ids of the vocabulary, all below {}", vocabulary_size()));
        }
        if (!skip_special || parts_->special.count(id) == 0) {
            tokens.emplace_back(*text);
        }
    }
    return decoded(std::move(tokens), parts_->decode);
}

std::size_t Tokenizer::vocabulary_size() const noexcept {
    return static_cast<std::size_t>(std::max(parts_->vocabulary.largest(), parts_->extra.largest()) + 1);
}

std::optional<std::string_view> Tokenizer::token(std::int32_t id) const noexcept {
    for (const Vocabulary* const vocabulary : {&parts_->vocabulary, &parts_->extra}) {
        if (const std::uint32_t index = vocabulary->find_id(id); index != Vocabulary::none) {
            return vocabulary->text(index);
        }
    }
    return std::nullopt;
}

std::optional<std::int32_t> Tokenizer::id(std::string_view token) const noexcept {
    for (const Vocabulary* const vocabulary : {&parts_->vocabulary, &parts_->extra}) {
        if (const std::uint32_t index = vocabulary->find(token); index != Vocabulary::none) {
            return vocabulary->id(index);
        }
    }
    return std::nullopt;
}

std::string_view Tokenizer::kind() const noexcept {
    return parts_->bpe ? "BPE" : "WordPiece";
}

}  // namespace flyball::tokenizer
