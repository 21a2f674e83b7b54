// Older files and cut texts, on vocabularies small enough to follow by hand.
#include <gtest/gtest.h>

#include "support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer::test {
namespace {

using Ids = std::vector<std::int32_t>;

// A cased vocabulary without tokenizer.json: accents go only where letters are made small, or where it is said.
TEST(OlderBert, KeepsAccentsOfCasedModels) {
    const auto ids = [](const std::string& config) {
        const TemporaryFolder folder;
        write_file_atomically(folder.path() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nCafé\ncafé\nCafe\ncafe\n");
        write_file_atomically(folder.path() / "config.json", R"({"model_type": "bert"})");
        write_file_atomically(folder.path() / "tokenizer_config.json", config);
        return Tokenizer::load(folder.path()).encode("Café", false);
    };
    EXPECT_EQ(ids(R"({"do_lower_case": false})"), Ids{4});
    EXPECT_EQ(ids(R"({"do_lower_case": true})"), Ids{7});
    EXPECT_EQ(ids(R"({"do_lower_case": false, "strip_accents": true})"), Ids{6});
    EXPECT_EQ(ids(R"({"do_lower_case": true, "strip_accents": false})"), Ids{5});
}

// As a cache leaves them whose files somebody has deleted: without the file the ids would be others.
TEST(Tokenizer, AFileBehindALinkThatLeadsNowhereIsNotLeftOut) {
    for (const char* name : {"tokenizer_config.json", "tokenizer.json"}) {
        const TemporaryFolder folder;
        folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nCafe\ncafe\n");
        std::filesystem::create_symlink("nowhere", folder.path() / name);
        const std::string message = message_of([&] { Tokenizer::load(folder.path()); });
        EXPECT_NE(message.find(name), std::string::npos) << message;
        EXPECT_NE(message.find("No such file"), std::string::npos) << message;
    }
}

// As a Windows editor leaves them: the end of a line is no part of a token.
TEST(OlderFiles, MayEndTheirLinesWithACarriageReturn) {
    const TemporaryFolder bert;
    bert.write("vocab.txt", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\none\r\ntwo\r\n");
    EXPECT_EQ(Tokenizer::load(bert.path()).encode("one two"), (Ids{2, 4, 5, 3}));
    const TemporaryFolder gpt2;
    gpt2.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "aba": 3})");
    gpt2.write("merges.txt", "#version: 0.2\r\na b\r\nab a\r\n");
    EXPECT_EQ(Tokenizer::load(gpt2.path()).encode("aba"), Ids{3});
}

// Only the line that names a version is none of the merges.
TEST(OlderFiles, AMergeMayBeginWithAHash) {
    const TemporaryFolder gpt2;
    gpt2.write("vocab.json", R"({"#": 0, "##": 1})");
    gpt2.write("merges.txt", "#version: 0.2\n# #\n");
    EXPECT_EQ(Tokenizer::load(gpt2.path()).encode("##"), Ids{1});
}

TEST(OlderFiles, TokensMayTakeTheBlanksBeforeOrBehindThem) {
    const auto ids = [](const char* strip) {
        const TemporaryFolder gpt2;
        gpt2.write("vocab.json", R"({"a": 0, "Ġ": 1, "<|endoftext|>": 2})");
        gpt2.write("merges.txt", "#version: 0.2\n");
        gpt2.write("tokenizer_config.json", std::string(R"({"unk_token": {"content": "<|endoftext|>")") + strip +
                                                R"(}, "bos_token": {"content": "<|endoftext|>")" + strip +
                                                R"(}, "eos_token": {"content": "<|endoftext|>")" + strip + "}}");
        return Tokenizer::load(gpt2.path()).encode("a <|endoftext|> a", false);
    };
    EXPECT_EQ(ids(""), (Ids{0, 1, 2, 1, 0}));
    EXPECT_EQ(ids(R"(, "lstrip": true)"), (Ids{0, 2, 1, 0}));
    EXPECT_EQ(ids(R"(, "rstrip": true)"), (Ids{0, 1, 2, 0}));
}

// An added token that is looked for in the text as the normaliser leaves it is itself normalised first.
TEST(AddedTokens, AreLookedForInTheNormalisedTextAsItHasThem) {
    const auto ids = [](bool normalised) {
        const Json json = {
            {"added_tokens", {{{"id", 3}, {"content", "AB"}, {"normalized", normalised}}}},
            {"normalizer", {{"type", "Lowercase"}}},
            {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}}}, {"merges", Json::array()}}}};
        return Tokenizer::parse(dump_json(json), "the file").encode("cabcAB");
    };
    EXPECT_EQ(ids(true), (Ids{2, 3, 2, 3}));
    EXPECT_EQ(ids(false), (Ids{2, 0, 1, 2, 3}));
}

// Made small, "AB" is the text of another token, too. The library has special tokens before others, and otherwise the
// one that the file has first.
TEST(AddedTokens, OfTwoWithOneNormalisedTextTheFirstCounts) {
    const auto ids = [](bool second_is_special) {
        const Json tokens = {
            {{"id", 2}, {"content", "AB"}, {"normalized", true}},
            {{"id", 3}, {"content", "ab"}, {"normalized", true}, {"special", second_is_special}},
        };
        const Json model = {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", Json::array()}};
        const Json json = {{"added_tokens", tokens}, {"normalizer", {{"type", "Lowercase"}}}, {"model", model}};
        return Tokenizer::parse(dump_json(json), "the file").encode("abaAB");
    };
    EXPECT_EQ(ids(false), (Ids{2, 0, 2}));
    EXPECT_EQ(ids(true), (Ids{3, 0, 3}));
}

Tokenizer metaspace(const Json& switches) {
    Json step = {{"type", "Metaspace"}, {"replacement", "▁"}};
    step.update(switches);
    const Json json = {{"added_tokens", {{{"id", 3}, {"content", "<s>"}, {"special", true}}}},
                       {"pre_tokenizer", step},
                       {"decoder", step},
                       {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"▁", 1}, {"▁a", 2}}}, {"merges", {"▁ a"}}}}};
    return Tokenizer::parse(dump_json(json), "the file");
}

// add_prefix_space is what prepend_scheme was called before it had three values: always, or never.
TEST(OlderMetaspace, MarksEveryPieceOrNone) {
    const std::string text = "a<s>a";
    EXPECT_EQ(metaspace({{"add_prefix_space", true}}).encode(text), (Ids{2, 3, 2}));
    EXPECT_EQ(metaspace({{"add_prefix_space", false}}).encode(text), (Ids{0, 3, 0}));
    EXPECT_EQ(metaspace({{"prepend_scheme", "always"}}).encode(text), (Ids{2, 3, 2}));
    EXPECT_EQ(metaspace({{"prepend_scheme", "first"}}).encode(text), (Ids{2, 3, 0}));
}

// An embedding needs rows for the tokens that were added behind the vocabulary: <s> is 3.
TEST(VocabularySize, CountsAddedTokens) {
    const Tokenizer tokenizer = metaspace(Json::object());
    EXPECT_EQ(tokenizer.vocabulary_size(), 4U);
    EXPECT_NE(message_of([&] { (void)tokenizer.decode(Ids{4}); }).find("all below 4"), std::string::npos);
}

// [CLS] and [SEP] stay when a text is cut, and count.
TEST(EncodeAtMost, CutsTheTextAndNotWhatStandsAroundIt) {
    const TemporaryFolder folder;
    write_file_atomically(folder.path() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\none\ntwo\nthree\n");
    write_file_atomically(folder.path() / "config.json", R"({"model_type": "bert"})");
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    EXPECT_EQ(tokenizer.encode_at_most(9, "one two three"), (Ids{2, 4, 5, 6, 3}));
    EXPECT_EQ(tokenizer.encode_at_most(4, "one two three"), (Ids{2, 4, 5, 3}));
    EXPECT_EQ(tokenizer.encode_at_most(2, "one two three"), (Ids{2, 3}));
    EXPECT_NE(message_of([&] { (void)tokenizer.encode_at_most(1, "one"); }), "");
    // Windows: each with its own special tokens, a rest that fills none is left out unless it is all there is.
    using Windows = std::vector<Ids>;
    const std::string_view text = "one two three one two";
    EXPECT_EQ(tokenizer.encode_windows(4, 9, text), (Windows{{2, 4, 5, 3}, {2, 6, 4, 3}}));
    EXPECT_EQ(tokenizer.encode_windows(4, 1, text), (Windows{{2, 4, 5, 3}}));
    EXPECT_EQ(tokenizer.encode_windows(7, 9, text), (Windows{{2, 4, 5, 6, 4, 5, 3}}));
    EXPECT_EQ(tokenizer.encode_windows(9, 9, text), (Windows{{2, 4, 5, 6, 4, 5, 3}}));
    EXPECT_EQ(tokenizer.encode_windows(2, 9, text), (Windows{{2, 3}}));
    EXPECT_EQ(tokenizer.encode_windows(9, 9, ""), (Windows{{2, 3}}));
    EXPECT_NE(message_of([&] { (void)tokenizer.encode_windows(1, 1, "one"); }), "");
}

// PyPI's tokenizers, decoders/byte_fallback.rs: bytes that together are no UTF-8 give one U+FFFD each, and what stands
// beside them stays.
TEST(ByteFallbackDecoder, BytesThatAreNoTextAreOneMarkEach) {
    const Json json = {
        {"decoder", {{"type", "ByteFallback"}}},
        {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"<0xC3>", 1}, {"<0xA9>", 2}}}, {"merges", Json::array()}}}};
    const Tokenizer tokenizer = Tokenizer::parse(dump_json(json), "the file");
    EXPECT_EQ(tokenizer.decode(Ids{1, 2}), "\u00E9");
    EXPECT_EQ(tokenizer.decode(Ids{0, 1, 1, 0}), "a\uFFFD\uFFFDa");
    EXPECT_EQ(tokenizer.decode(Ids{1, 2, 1}), "\uFFFD\uFFFD\uFFFD");  // the good pair is lost with the rest
}

TEST(ByteFallbackDecoder, ReadsSmallDigitsAsLargeOnes) {
    const Json json = {
        {"decoder", {{"type", "ByteFallback"}}},
        {"model",
         {{"type", "BPE"}, {"vocab", {{"<0xc3>", 0}, {"<0xaF>", 1}, {"<0xgf>", 2}}}, {"merges", Json::array()}}}};
    const Tokenizer tokenizer = Tokenizer::parse(dump_json(json), "the file");
    EXPECT_EQ(tokenizer.decode(Ids{0, 1}), "\u00EF");
    EXPECT_EQ(tokenizer.decode(Ids{2}), "<0xgf>") << "g is no digit";
}

// A decoder that does not say whether it cleans up does: no space before a full stop, n't joined to its word.
TEST(WordPieceDecoder, CleansUpUnlessToldNotTo) {
    const auto decoded = [](const Json& switches) {
        Json decoder = {{"type", "WordPiece"}, {"prefix", "##"}};
        decoder.update(switches);
        const Json json = {{"pre_tokenizer", {{"type", "Whitespace"}}},
                           {"decoder", decoder},
                           {"model",
                            {{"type", "WordPiece"},
                             {"unk_token", "[UNK]"},
                             {"continuing_subword_prefix", "##"},
                             {"max_input_chars_per_word", 100},
                             {"vocab", {{"[UNK]", 0}, {"well", 1}, {"##s", 2}, {".", 3}, {",", 4}}}}}};
        return Tokenizer::parse(dump_json(json), "the file").decode(Ids{1, 2, 4, 1, 3});
    };
    EXPECT_EQ(decoded(Json::object()), "wells, well.");
    EXPECT_EQ(decoded({{"cleanup", true}}), "wells, well.");
    EXPECT_EQ(decoded({{"cleanup", false}}), "wells , well .");
}

}  // namespace
}  // namespace flyball::tokenizer::test
