// The tables of Unicode at every code point against PyPI's tokenizers: checksums printed by
// data/checksums.py.
#include <gtest/gtest.h>

#include "core/utf8.hpp"
#include "support.hpp"
#include "tokenizer/normalise.hpp"
#include "tokenizer/pretokenize.hpp"
#include "tokenizer/steps.hpp"
#include "tokenizer/unicode.hpp"

namespace flyball::tokenizer::test {
namespace {

void for_every_point(const std::function<void(const std::string&)>& look) {
    for (char32_t point = 0; point < 0x110000; ++point) {
        if (point < 0xD800 || point >= 0xE000) {
            std::string text;
            append_point(text, point);
            look(text);
        }
    }
}

std::uint64_t checksum_of(const NormaliseStep& step) {
    Checksum sum;
    const std::vector<NormaliseStep> steps = {step};
    // Two marks in the wrong order behind each.
    for_every_point(
        [&](const std::string& point) { sum.add(normalised("a" + point + "\xCC\xA3\xCC\x81" + "b", steps)); });
    return sum.value();
}

TEST(TokenizerUnicode, CleaningAgreesAtEveryPoint) {
    EXPECT_EQ(checksum_of(BertStep{true, false, false, false}), 0x1f427388ffdb096aU);
}

TEST(TokenizerUnicode, SpacesAroundIdeographsAgreeAtEveryPoint) {
    EXPECT_EQ(checksum_of(BertStep{false, true, false, false}), 0xfbae25a62c742b55U);
}

TEST(TokenizerUnicode, StrippedAccentsAgreeAtEveryPoint) {
    EXPECT_EQ(checksum_of(BertStep{false, false, true, false}), 0x5186040d6f356795U);
}

TEST(TokenizerUnicode, LowerCaseAgreesAtEveryPoint) {
    EXPECT_EQ(checksum_of(LowerStep{}), 0x38b285471ea718faU);
}

TEST(TokenizerUnicode, DecompositionAgreesAtEveryPoint) {
    EXPECT_EQ(checksum_of(NfdStep{}), 0xe40483c64d53c3afU);
}

TEST(TokenizerUnicode, CompositionAgreesAtEveryPoint) {
    EXPECT_EQ(checksum_of(NfcStep{}), 0x3999c67dc88a6b1aU);
}

TEST(TokenizerUnicode, BertsPiecesAgreeAtEveryPoint) {
    std::vector<PretokenizeStep> steps;
    append_bert(steps);
    std::size_t pieces = 0;
    Pretokenizer pretokenizer(steps, 0, [&](std::string_view) { ++pieces; });
    Checksum sum;
    for_every_point([&](const std::string& point) {
        pieces = 0;
        pretokenizer.run("a" + point + "b", true);
        sum.add(pieces);
    });
    EXPECT_EQ(sum.value(), 0xe7e8aa850a289f16U);
}

TEST(TokenizerUnicode, PunctuationAndItsClassAreOneTable) {
    const Pattern pattern = Pattern::pcre("[" + punctuation_class() + "]", "test");
    Matches matches(pattern);
    for_every_point([&](const std::string& point) {
        matches.begin(point);
        ASSERT_EQ(matches.next().has_value(), is_punctuation(next_point(point).value)) << point;
    });
}

// Examples of the Unicode standard, chapter 3.11 and annex 15.
TEST(TokenizerUnicode, HangulIsComposedAndDecomposed) {
    EXPECT_EQ(nfd("각"), "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8");
    EXPECT_EQ(nfc("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"), "각");
    EXPECT_EQ(nfc("\xEA\xB0\x80\xE1\x86\xA8"), "각");  // a syllable without a tail takes one
    // U+11A7, one before the first tail, is a vowel of old Korean and composes with nothing; U+11C3 is behind the last.
    EXPECT_EQ(nfc("\xEA\xB0\x80\xE1\x86\xA7"), "\xEA\xB0\x80\xE1\x86\xA7");
    EXPECT_EQ(nfc("\xEA\xB0\x80\xE1\x87\x83"), "\xEA\xB0\x80\xE1\x87\x83");
}

TEST(TokenizerUnicode, ComposingSkipsMarksOfAnotherClassAndStopsAtTheSame) {
    EXPECT_EQ(nfc("a\xCC\xA3\xCC\x82"), "ậ");
    EXPECT_EQ(nfc("a\xCC\x82\xCC\xA3"), "ậ");
    EXPECT_EQ(nfc("a\xCC\x81\xCC\x81"), "á\xCC\x81");
    EXPECT_EQ(nfc("\xE2\x84\xAB"), "Å");                         // a singleton never comes back
    EXPECT_EQ(nfc("\xE0\xA5\x98"), "\xE0\xA4\x95\xE0\xA4\xBC");  // excluded from composition
}

// Each alone: behind the marks of the checksums a letter that has one above is never composed with it, because the one
// below comes first. Unicode's DerivedNormalizationProps.txt counts 1120 points of Full_Composition_Exclusion.
TEST(TokenizerUnicode, AllPointsButThoseExcludedComposeToThemselves) {
    EXPECT_EQ(nfc("h\xCC\x87"), "\xE1\xB8\xA3");  // U+1E23
    std::size_t others = 0;
    for_every_point([&](const std::string& point) { others += nfc(point) == point ? 0 : 1; });
    EXPECT_EQ(others, 1120U);
}

}  // namespace
}  // namespace flyball::tokenizer::test
