#include "train/encoding.hpp"

#include <gtest/gtest.h>

#include "core/utf8.hpp"
#include "tokenizer/support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::train {
namespace {

using tokenizer::Tokenizer;
using tokenizer::test::message_of;
using tokenizer::test::TemporaryFolder;

std::string all_bytes() {
    std::string text(256, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<char>(i);
    }
    return text;
}

Tokenizer tokenizer_of(const std::vector<TokenizerFile>& files) {
    const TemporaryFolder folder;
    for (const TokenizerFile& file : files) {
        folder.write(file.name, file.contents);
    }
    return Tokenizer::load(folder.path());
}

TEST(EncodeBytes, GivesEachByteItsValue) {
    const Encoded encoded = encode_bytes(all_bytes());
    EXPECT_EQ(encoded.vocab, 256U);
    ASSERT_EQ(encoded.tokens.size(), 256U);
    for (std::size_t i = 0; i < 256; ++i) {
        EXPECT_EQ(encoded.tokens[i], static_cast<Token>(i));
    }
}

TEST(EncodeBytes, WritesATokenizerWithTheSameIds) {
    const Tokenizer tokenizer = tokenizer_of(encode_bytes("").files);
    EXPECT_EQ(tokenizer.vocabulary_size(), 256U);
    // Every byte that stands in UTF-8: one, two, three and four to a character; spaces, new lines and what GPT-2's
    // pattern would cut.
    std::string text;
    for (const char32_t point : {U'\0', U'\n', U' ', U'a', U'\x7F', U'é', U'\x7FF', U'\x800', U'€', U'\xFFFD', U'😀'}) {
        append_point(text, point);
    }
    for (char32_t point = 0; point < 0x3000; ++point) {
        append_point(text, point);
    }
    text += "  two  spaces, don't cut 123\r\n\t<|endoftext|>";
    EXPECT_EQ(tokenizer.encode(text), encode_bytes(text).tokens);
    EXPECT_EQ(tokenizer.decode(encode_bytes(text).tokens), text);
    EXPECT_EQ(tokenizer.token(255), "ÿ");
    EXPECT_EQ(tokenizer.token(32), "Ġ");
}

TEST(EncodeChars, GivesEachCharacterItsRankByCodePoint) {
    // Sorted: new line, space, d, h, l, o, r, w, ö, €, 😀.
    const Encoded encoded = encode_chars("wörld\nh €😀o", "text");
    EXPECT_EQ(encoded.tokens, (std::vector<Token>{7, 8, 6, 4, 2, 0, 3, 1, 9, 10, 5}));
    EXPECT_EQ(encoded.vocab, 11U);
}

TEST(EncodeChars, WritesATokenizerWithTheSameIds) {
    std::string text = "wörld\nh  €😀o \xE2\x96\x81 Ġ <s> \"\\ \r\t";
    text += '\0';
    const Encoded encoded = encode_chars(text, "text");
    const Tokenizer tokenizer = tokenizer_of(encoded.files);
    EXPECT_EQ(tokenizer.vocabulary_size(), encoded.vocab);
    EXPECT_EQ(tokenizer.encode(text), encoded.tokens);
    EXPECT_EQ(tokenizer.decode(encoded.tokens), text);
    EXPECT_EQ(tokenizer.encode("xwxöz"), (std::vector<Token>{encoded.tokens[0], encoded.tokens[1]}));  // x, z: no token
}

TEST(EncodeChars, NamesTheFirstByteThatIsNotUtf8) {
    const auto message = [](std::string_view text) {
        return message_of([&] { static_cast<void>(encode_chars(text, "'it'")); });
    };
    EXPECT_NE(message("ab\xFFz\xFF").find("'it', whose byte 2 (0xFF, counted from 0) is not UTF-8"), std::string::npos);
    EXPECT_NE(message("\xC3\xA9\xC0\x80").find("byte 2 (0xC0"), std::string::npos);  // longer than need be
    EXPECT_NE(message("\xED\xA0\x80").find("byte 0 (0xED"), std::string::npos);      // a surrogate
    EXPECT_NE(message("abc\xE2\x82").find("byte 3 (0xE2"), std::string::npos);       // the end is missing
    EXPECT_NE(message("\xFF").find("encoding = bytes takes any file"), std::string::npos);
    EXPECT_EQ(message("\xE2\x82\xAC"), "");
}

TEST(EncodeChars, TakesSixteenBitsOfDifferentCharactersAndNoMore) {
    std::string text;
    for (char32_t point = 0x10000; point < 0x20000; ++point) {
        append_point(text, point);
    }
    EXPECT_EQ(encode_chars(text, "'it'").vocab, 65536U);
    text += 'a';
    EXPECT_NE(message_of([&] { static_cast<void>(encode_chars(text, "'it'")); }).find("65537 different characters"),
              std::string::npos);
}

TEST(EncodeWith, TakesTheIdsOfThePublishedTokenizerAndItsFiles) {
    const std::filesystem::path gpt2 = tokenizer::test::data("gpt2");
    const Encoded encoded = encode_with(gpt2.string(), "Hello world, hello", "text");
    const Tokenizer published = Tokenizer::load(gpt2);
    EXPECT_EQ(encoded.tokens, published.encode("Hello world, hello", false));
    EXPECT_EQ(encoded.vocab, published.vocabulary_size());
    ASSERT_EQ(encoded.files.size(), 1U);
    EXPECT_EQ(encoded.files[0].contents, read_text_file(gpt2 / "tokenizer.json", std::size_t{1} << 30U));
    EXPECT_EQ(read_tokenizer(gpt2.string()).files[0].contents, encoded.files[0].contents);
}

TEST(EncodeWith, CopiesTheOlderFiles) {
    const Encoded encoded = encode_with(tokenizer::test::data("gpt2-files").string(), "Hello", "text");
    EXPECT_EQ(encoded.tokens, tokenizer_of(encoded.files).encode("Hello"));
    EXPECT_EQ(encoded.files.size(), 2U);
}

TEST(EncodeWith, PutsNoSpecialTokensAround) {
    const std::string folder = tokenizer::test::data("bert-files").string();
    EXPECT_EQ(encode_with(folder, "the", "text").tokens, Tokenizer::load(folder).encode("the", false));
    EXPECT_LT(encode_with(folder, "the", "text").tokens.size(), Tokenizer::load(folder).encode("the", true).size());
}

TEST(EncodeWith, RefusesWhatIsNotUtf8) {
    const std::string folder = tokenizer::test::data("gpt2").string();
    EXPECT_NE(message_of([&] { static_cast<void>(encode_with(folder, "abc\x80", "'it'")); }).find("byte 3 (0x80"),
              std::string::npos);
}

TEST(Encoding, HasANameThatIsReadBack) {
    EXPECT_EQ(parse_encoding("bytes"), EncodingKind::bytes);
    EXPECT_EQ(parse_encoding("chars"), EncodingKind::chars);
    EXPECT_EQ(name(EncodingKind::chars), "chars");
    EXPECT_EQ(name(EncodingKind::tokenizer), "tokenizer");
    EXPECT_NE(message_of([] { parse_encoding("char"); }).find("did you mean chars?"), std::string::npos);
    EXPECT_NE(message_of([] { parse_encoding("gpt2"); }).find("bytes or chars"), std::string::npos);
}

}  // namespace
}  // namespace flyball::train
