#include "model/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"
#include "core/unreachable.hpp"

namespace flyball::model {

namespace {

using What = Recorded::What;

// A word a user may write. The two branches have words of their own, see add_branches.
struct RecordedWord {
    std::string_view name;
    What what;
};
constexpr std::array<RecordedWord, 8> recorded_words = {{{"logits", What::logits},
                                                         {"hidden", What::hidden},
                                                         {"stream", What::stream},
                                                         {"attention", What::attention},
                                                         {"scores", What::scores},
                                                         {"query", What::query},
                                                         {"key", What::key},
                                                         {"value", What::value}}};

bool has_heads(What what) {
    switch (what) {
        case What::attention:
        case What::scores:
        case What::query:
        case What::key:
        case What::value:
            return true;
        case What::logits:
        case What::hidden:
        case What::stream:
        case What::attn_added:
        case What::ffn_added:
            return false;
    }
    unreachable();
}

std::size_t heads_of(What what, const Architecture& a) {
    return !has_heads(what) ? 1 : what == What::key || what == What::value ? a.kv_heads : a.heads;
}

bool is_stream(What what) {
    return what == What::hidden || what == What::stream;
}

// The parts of one word between dots, read against a model.
class WordReader {
  public:
    WordReader(const std::string& word, const Architecture& architecture) : word_(word), architecture_(architecture) {
        for (std::size_t begin = 0; begin <= word.size();) {
            const std::size_t end = std::min(word.find('.', begin), word.size());
            parts_.push_back(word.substr(begin, end - begin));
            begin = end + 1;
        }
    }

    std::vector<Recorded> read() const {
        if (parts_[0] == "branches" || parts_[0] == "branch") {
            return branches();
        }
        const auto* const known = std::find_if(recorded_words.begin(), recorded_words.end(),
                                               [&](const RecordedWord& one) { return one.name == parts_[0]; });
        if (known == recorded_words.end()) {
            fail_word();
        }
        const What what = known->what;
        if (what == What::logits) {
            expect_parts(1, "logits without numbers");
            expect_head();
            return {{"logits", what}};
        }
        expect_parts(has_heads(what) ? 3 : 2,
                     has_heads(what) ? "a block and a head, " + parts_[0] + ".B.H" : "one number, " + parts_[0] + ".N");
        std::vector<Recorded> list;
        for (const std::size_t place : places(is_stream(what))) {
            std::string name = fmt::format("{}.{}", parts_[0], place);
            std::optional<std::size_t> head;
            if (parts_.size() > 2) {
                head = number(2, heads_of(what, architecture_) - 1,
                              what == What::key || what == What::value ? "a head of keys and values" : "a head");
                name += fmt::format(".{}", *head);
            }
            list.push_back({name, what, place, head});
        }
        return list;
    }

  private:
    [[noreturn]] void fail(const std::string& expected, const std::string& hint = "") const {
        throw Error(ErrorKind::usage, "model.record", setting("what", flyball::quoted(word_)), expected, hint);
    }

    [[noreturn]] void fail_word() const {
        std::vector<std::string> known = {"branch", "branches"};
        for (const RecordedWord& one : recorded_words) {
            known.emplace_back(one.name);
        }
        const std::string near = nearest(parts_[0], known);
        fail(
            "some of logits, hidden, attention, scores, branches, stream, query, key, value and branch, with commas "
            "between them, and numbers behind them such as attention.3.5",
            near.empty() ? "" : fmt::format("did you mean {}?", near));
    }

    void expect_parts(std::size_t most, const std::string& expected) const {
        if (parts_.size() > most) {
            fail(expected);
        }
    }

    void expect_head() const {
        if (!architecture_.has_head) {
            throw Error(ErrorKind::usage, "model.record",
                        fmt::format("{} for a {} model without a language-model head", setting("what", "logits"),
                                    architecture_.family),
                        "hidden or attention");
        }
    }

    std::size_t number(std::size_t part, std::size_t last, const std::string& what) const {
        const auto value = parse_integer(parts_[part]);
        if (!value || *value < 0 || static_cast<std::size_t>(*value) > last) {
            fail(fmt::format("{} from 0 to {}", what, last));
        }
        return static_cast<std::size_t>(*value);
    }

    // The blocks, or the streams between them, that the second part names.
    std::vector<std::size_t> places(bool streams) const {
        const std::size_t last = streams ? architecture_.layers : architecture_.layers - 1;
        if (parts_.size() > 1) {
            return {number(1, last, streams ? "the number of blocks passed," : "a block")};
        }
        std::vector<std::size_t> all(last + 1);
        for (std::size_t i = 0; i <= last; ++i) {
            all[i] = i;
        }
        return all;
    }

    std::vector<Recorded> branches() const {
        const bool old_names = parts_[0] == "branches";
        expect_parts(old_names ? 1 : 3, old_names ? "branches without numbers, or branch.B.attn and branch.B.ffn"
                                                  : "branch.B.attn or branch.B.ffn");
        const bool one_alone = parts_.size() > 2;
        if (one_alone && parts_[2] != "attn" && parts_[2] != "ffn") {
            fail("branch.B.attn or branch.B.ffn");
        }
        std::vector<Recorded> list;
        for (const std::size_t place : places(false)) {
            for (const auto& [sub_layer, what] : {std::pair{"attn", What::attn_added}, {"ffn", What::ffn_added}}) {
                if (!one_alone || parts_[2] == sub_layer) {
                    list.push_back({old_names ? fmt::format("{}_added.{}", sub_layer, place)
                                              : fmt::format("branch.{}.{}", place, sub_layer),
                                    what, place});
                }
            }
        }
        return list;
    }

    const std::string& word_;
    const Architecture& architecture_;
    std::vector<std::string> parts_;
};

}  // namespace

std::string Recorded::tap(const Architecture& a) const {
    const auto in_block = [this](const char* site) { return fmt::format("blocks.{}.{}", place, site); };
    switch (what) {
        case What::logits:
            return "logits";
        case What::hidden:
        case What::stream:
            return place == 0                                  ? "embed"
                   : what == What::hidden && place == a.layers ? "readout"
                                                               : fmt::format("blocks.{}.resid", place - 1);
        case What::attention:
            return in_block("attn.pattern");
        case What::scores:
            return in_block("attn.scores");
        case What::query:
            return in_block("attn.query");
        case What::key:
            return in_block("attn.key");
        case What::value:
            return in_block("attn.value");
        case What::attn_added:
            return in_block("attn.added");
        case What::ffn_added:
            return in_block("ffn.added");
    }
    unreachable();
}

std::size_t Recorded::heads(const Architecture& a) const {
    return head ? 1 : heads_of(what, a);
}

std::size_t Recorded::width(const Architecture& a, std::size_t tokens) const {
    switch (what) {
        case What::logits:
            return a.vocab;
        case What::attention:
        case What::scores:
            return tokens;
        case What::query:
        case What::key:
        case What::value:
            return a.head_dim;
        case What::hidden:
        case What::stream:
        case What::attn_added:
        case What::ffn_added:
            return a.dim;
    }
    unreachable();
}

std::vector<std::size_t> Recorded::shape(const Architecture& a, std::size_t tokens) const {
    if (has_heads(what) && !head) {
        return {heads(a), tokens, width(a, tokens)};
    }
    return {tokens, width(a, tokens)};
}

std::vector<Recorded> parse_recorded(const std::string& text, const Architecture& architecture) {
    std::vector<Recorded> list;
    std::set<std::string> names;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        for (Recorded& one : WordReader(text.substr(begin, end - begin), architecture).read()) {
            if (names.insert(one.name).second) {
                list.push_back(std::move(one));
            }
        }
        begin = end + 1;
    }
    return list;
}

std::vector<Recorded> usual_recorded(const Architecture& architecture) {
    return parse_recorded(architecture.has_head ? "logits,hidden,attention" : "hidden,attention", architecture);
}

double memory_estimate(const Architecture& a, std::size_t tokens, const std::vector<Recorded>& recorded) {
    double numbers = 0;
    for (const Recorded& one : recorded) {
        numbers +=
            static_cast<double>(one.heads(a)) * static_cast<double>(tokens) * static_cast<double>(one.width(a, tokens));
    }
    return 4 * numbers;
}

}  // namespace flyball::model
