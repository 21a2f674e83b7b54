// Texts that come token by token are the texts that come at once.
#include "tokenizer/text_stream.hpp"

#include <gtest/gtest.h>

#include "core/utf8.hpp"
#include "support.hpp"

namespace flyball::tokenizer::test {
namespace {

using Ids = std::vector<std::int32_t>;

// Of every tokenizer whose decoder leaves alone what it has shown.
TEST(TextStream, PiecesJoinedAreTheDecodedText) {
    std::size_t held = 0;
    for (const char* folder : {"gpt2", "llama3", "sentencepiece", "metaspace", "roberta", "suffixed"}) {
        const Tokenizer tokenizer = Tokenizer::load(data(folder));
        for (const Json& row : read_json(data(folder) / "vectors.json")) {
            const Ids ids = row.at("ids");
            TextStream stream(tokenizer);
            std::string text;
            for (const std::int32_t id : ids) {
                const std::string piece = stream.add(id);
                EXPECT_TRUE(is_utf8(piece));
                held += piece.empty() ? 1 : 0;
                text += piece;
            }
            text += stream.end();
            EXPECT_EQ(text, row.at("decoded")) << folder << ": " << dump_json(row.at("text"));
            EXPECT_EQ(stream.end(), "");
        }
    }
    EXPECT_GT(held, 100U) << "the vectors have characters of several tokens";
}

// After any part of the ids as a prompt, the rest is what the whole text has more.
TEST(TextStream, GoesOnAfterAPrompt) {
    for (const char* folder : {"gpt2", "sentencepiece", "metaspace"}) {
        const Tokenizer tokenizer = Tokenizer::load(data(folder));
        const Ids ids = tokenizer.encode("Once upon a time, there was a little girl.");
        ASSERT_GT(ids.size(), 5U);
        for (std::size_t cut = 1; cut < ids.size(); ++cut) {
            const auto before = std::span(ids).first(cut);
            TextStream stream(tokenizer, before);
            std::string text = tokenizer.decode(before);
            for (std::size_t i = cut; i < ids.size(); ++i) {
                text += stream.add(ids[i]);
            }
            EXPECT_EQ(text + stream.end(), tokenizer.decode(ids)) << folder << " after " << cut;
        }
    }
}

TEST(TextStream, HoldsAnIncompleteCharacterBack) {
    const Tokenizer tokenizer = Tokenizer::load(data("gpt2"));
    // U+20AC is E2 82 AC, which the vocabulary writes with printable characters of its own.
    const Ids bytes = {*tokenizer.id("\u00e2"), *tokenizer.id("\u0124"), *tokenizer.id("\u00ac")};
    TextStream stream(tokenizer);
    EXPECT_EQ(stream.add(*tokenizer.id("a")), "a");
    EXPECT_EQ(stream.add(bytes[0]), "");
    EXPECT_EQ(stream.add(bytes[1]), "");
    EXPECT_EQ(stream.add(bytes[2]), "\u20ac");
    EXPECT_EQ(stream.add(bytes[0]), "");
    EXPECT_EQ(stream.add(*tokenizer.id("b")), "\uFFFDb") << "it was none";
    EXPECT_EQ(stream.add(bytes[0]), "");
    EXPECT_EQ(stream.end(), "\uFFFD");
}

// A model may have more rows than its tokenizer has tokens.
TEST(TextStream, ShowsAnIdWithoutATokenAsTheReplacementCharacter) {
    const Tokenizer tokenizer = Tokenizer::load(data("gpt2"));
    TextStream stream(tokenizer);
    const auto none = static_cast<std::int32_t>(tokenizer.vocabulary_size() + 7);
    EXPECT_EQ(stream.add(*tokenizer.id("a")), "a");
    EXPECT_EQ(stream.add(none), "\uFFFD");
    EXPECT_EQ(stream.add(*tokenizer.id("b")), "b");
    EXPECT_EQ(stream.add(*tokenizer.id("\u00e2")), "") << "the first byte of a character";
    EXPECT_EQ(stream.add(none), "\uFFFD\uFFFD") << "one for the byte, one for the id";
}

}  // namespace
}  // namespace flyball::tokenizer::test
