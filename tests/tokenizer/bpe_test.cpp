// Byte-pair encoding and WordPiece on vocabularies small enough to follow by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "support.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/wordpiece.hpp"

namespace flyball::tokenizer::test {
namespace {

using Ids = std::vector<std::int32_t>;

Vocabulary vocabulary_of(const std::vector<std::string>& tokens) {
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        vocabulary.add(tokens[i], static_cast<std::int64_t>(10 * i), "test");
    }
    vocabulary.finish("test");
    return vocabulary;
}

Ids encoded(const Bpe& bpe, std::string_view word) {
    Ids ids;
    bpe.encode(word, ids);
    return ids;
}

TEST(Bpe, LowestRankFirstAndLeftmostOfEqualOnes) {
    const Vocabulary v = vocabulary_of({"a", "b", "c", "ab", "bc", "aa"});
    const Bpe bpe(v, {{"b", "c"}, {"a", "b"}, {"a", "a"}}, {}, "test");
    EXPECT_EQ(encoded(bpe, "abc"), (Ids{0, 40}));        // bc comes before ab
    EXPECT_EQ(encoded(bpe, "aaa"), (Ids{50, 0}));        // the left two
    EXPECT_EQ(encoded(bpe, "aaaab"), (Ids{50, 0, 30}));  // ab has the lower rank
    EXPECT_EQ(encoded(bpe, ""), Ids{});
}

TEST(Bpe, OfAMergeListedTwiceTheLaterRankCounts) {
    const Vocabulary v = vocabulary_of({"a", "b", "c", "ab", "bc"});
    EXPECT_EQ(encoded(Bpe(v, {{"a", "b"}, {"b", "c"}}, {}, "test"), "abc"), (Ids{30, 20}));
    EXPECT_EQ(encoded(Bpe(v, {{"a", "b"}, {"b", "c"}, {"a", "b"}}, {}, "test"), "abc"), (Ids{0, 40}));
}

TEST(Bpe, QueueGivesWhatTheDefinitionGives) {
    // Random rules over a few letters: deep merges, chains and overlaps.
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        std::vector<std::string> tokens = {"a", "b", "c"};
        std::vector<Bpe::Merge> merges;
        while (merges.size() < 25) {
            const std::string left = tokens[random() % tokens.size()];
            const std::string right = tokens[random() % tokens.size()];
            if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) {
                tokens.push_back(left + right);
                merges.push_back({left, right});
            }
        }
        std::shuffle(merges.begin(), merges.end(), random);
        const Vocabulary v = vocabulary_of(tokens);
        const Bpe bpe(v, merges, {}, "test");
        for (const std::size_t length : {1U, 2U, 3U, 17U, 48U, 49U, 200U}) {
            std::vector<std::uint32_t> plain(length);
            for (std::uint32_t& symbol : plain) {
                symbol = static_cast<std::uint32_t>(random() % 3);
            }
            std::vector<std::uint32_t> queued = plain;
            bpe.merge_plain(plain);
            bpe.merge_queue(queued);
            ASSERT_EQ(plain, queued) << round << " " << length;
        }
    }
}

TEST(Bpe, UnknownCharactersVanishFuseOrStandAlone) {
    const Vocabulary v = vocabulary_of({"a", "?", "<0xC3>", "<0xA9>"});
    BpeSettings settings;
    EXPECT_EQ(encoded(Bpe(v, {}, settings, "test"), "xyaz"), (Ids{0}));
    settings.unknown = "?";
    EXPECT_EQ(encoded(Bpe(v, {}, settings, "test"), "xyaz"), (Ids{10, 10, 0, 10}));
    settings.fuse_unknown = true;
    EXPECT_EQ(encoded(Bpe(v, {}, settings, "test"), "xyaz"), (Ids{10, 0, 10}));
    settings.byte_fallback = true;  // é has its bytes, x has not
    EXPECT_EQ(encoded(Bpe(v, {}, settings, "test"), "éax"), (Ids{20, 30, 0, 10}));
}

TEST(Bpe, CutsBeforeMarksOnlyWhenNoMergeReachesOverThem) {
    const Vocabulary v = vocabulary_of({"a", "▁", "▁a", "▁▁", "a▁"});
    EXPECT_TRUE(Bpe(v, {{"▁", "a"}, {"▁", "▁"}}, {}, "test").cuts_before_marks());
    EXPECT_FALSE(Bpe(v, {{"▁", "a"}, {"a", "▁"}}, {}, "test").cuts_before_marks());
    EXPECT_FALSE(Bpe(vocabulary_of({"a"}), {}, {}, "test").cuts_before_marks());
}

TEST(Bpe, ByteCharactersAreReversible) {
    EXPECT_EQ(byte_characters()[' '], "Ġ");
    EXPECT_EQ(byte_characters()['\n'], "Ċ");
    EXPECT_EQ(byte_characters()['a'], "a");
    EXPECT_EQ(byte_characters()[0], "Ā");
    EXPECT_EQ(byte_characters()[0xAD], "Ń");  // the last of the 68 that are moved
    EXPECT_EQ(byte_of_character(0x120), static_cast<unsigned char>(' '));
    EXPECT_EQ(byte_of_character(0x100), static_cast<unsigned char>(0));
    EXPECT_EQ(byte_of_character(' '), std::nullopt);
    EXPECT_EQ(byte_of_character(0x144), std::nullopt);
}

TEST(Bpe, AMegabyteWithoutASpaceTakesNoSquareOfTime) {
    const Vocabulary v = vocabulary_of({"a", "aa", "aaaa", "b", "ab"});
    const Bpe bpe(v, {{"a", "a"}, {"aa", "aa"}, {"a", "b"}}, {}, "test");
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(encoded(bpe, std::string(1'000'000, 'a')).size(), 250'000U);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 20);  // 0.2 s; the square would take hours
}

TEST(WordPiece, LongestFirstThenContinuations) {
    const Vocabulary v = vocabulary_of({"[UNK]", "un", "una", "##aff", "##ff", "##able", "##a", "é", "##é"});
    const WordPiece model(v, {}, "test");
    const auto ids = [&](std::string_view word) {
        Ids out;
        model.encode(word, out);
        return out;
    };
    EXPECT_EQ(ids("unaffable"), (Ids{20, 40, 50}));  // una, not un: greedy
    EXPECT_EQ(ids("unx"), (Ids{0}));                 // one part unknown, all unknown
    EXPECT_EQ(ids("ééé"), (Ids{70, 80, 80}));
    EXPECT_EQ(ids("##a"), (Ids{60}));  // spelled out it is the token, as in the library
}

TEST(WordPiece, WordsAreMeasuredInCharacters) {
    const Vocabulary v = vocabulary_of({"[UNK]", "é", "##é"});
    WordPieceSettings settings;
    settings.longest_word = 3;
    const WordPiece model(v, settings, "test");
    Ids ids;
    model.encode("ééé", ids);
    EXPECT_EQ(ids, (Ids{10, 20, 20}));
    ids.clear();
    model.encode("éééé", ids);
    EXPECT_EQ(ids, (Ids{0}));
}

TEST(Vocabulary, TakesAnyIdsWithoutMemoryForTheGaps) {
    Vocabulary v;
    v.add("a", 2147483646, "test");
    v.add("b", 5, "test");
    v.finish("test");
    EXPECT_EQ(v.id(v.find("a")), 2147483646);
    EXPECT_EQ(v.text(v.find_id(5)), "b");
    EXPECT_EQ(v.find_id(6), Vocabulary::none);
    EXPECT_EQ(v.largest(), 2147483646);
    EXPECT_NE(message_of([&] { v.add("c", 2147483647, "test"); }), "");
    EXPECT_NE(message_of([&] { v.add("c", -1, "test"); }), "");
    EXPECT_NE(message_of([&] { v.add("a", 7, "test"); }), "");
    v.add("c", 5, "test");
    EXPECT_NE(message_of([&] { v.finish("test"); }).find("the id 5 for both 'b' and 'c'"), std::string::npos);
}

}  // namespace
}  // namespace flyball::tokenizer::test
