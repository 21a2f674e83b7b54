// Regular expressions of tokenizer files: the dialect, and patterns that would never end.
#include <gtest/gtest.h>

#include "support.hpp"
#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer::test {
namespace {

std::vector<std::string> found(const Pattern& pattern, std::string_view text) {
    Matches matches(pattern);
    matches.begin(text);
    std::vector<std::string> out;
    while (const auto match = matches.next()) {
        out.emplace_back(text.substr(match->start, match->end - match->start));
    }
    return out;
}

using Texts = std::vector<std::string>;

TEST(TokenizerPattern, RubysDialectIsRewritten) {
    EXPECT_EQ(from_ruby(R"(a{,3})"), "a{0,3}");
    EXPECT_EQ(from_ruby(R"(\h\u00e9)"), R"([0-9A-Fa-f]\x{00e9})");
    EXPECT_EQ(from_ruby(R"([^(a|[.,])])"), "[^(a|.,)]");
    EXPECT_EQ(from_ruby(R"([]a])"), "[]a]");
    EXPECT_EQ(from_ruby(R"([[:alpha:]b])"), "[[:alpha:]b]");
    EXPECT_EQ(from_ruby("(?m:.)(?i:a)(?<x>b)(?:c)(?=d)"), "(?s:.)(?i:a)(?<x>b)(?:c)(?=d)");
    EXPECT_EQ(from_ruby(R"(\[\p{L}\])"), R"(\[\p{L}\])");
    EXPECT_EQ(from_ruby("\\"), "\\");
    EXPECT_EQ(from_ruby(R"([\Sa\W])"), R"([\Sa\W])") << "capitals are the opposites";
}

// Oniguruma's regparse.c: [0-9-a] is read as [0-9\-a], and no range begins with a class.
TEST(TokenizerPattern, AHyphenBesideAClassOrAnInnerSetIsItself) {
    const auto of = [](const char* set, const char* text) { return found(Pattern::ruby(set, "test"), text); };
    EXPECT_EQ(of(R"([\s-+])", "a-+ ,"), (Texts{"-", "+", " "}));
    EXPECT_EQ(of(R"([\w-+])", "a-+ ,"), (Texts{"a", "-", "+"}));
    EXPECT_EQ(of(R"([\d-z])", "5-zy"), (Texts{"5", "-", "z"}));
    EXPECT_EQ(of(R"([\p{Lu}-z])", "A-zy"), (Texts{"A", "-", "z"}));
    EXPECT_EQ(of(R"([\P{L}-z])", "5-zy"), (Texts{"5", "-", "z"}));
    EXPECT_EQ(of(R"([[:digit:]-z])", "5-zy"), (Texts{"5", "-", "z"}));
    EXPECT_EQ(of(R"([[ac]-f])", "a-bef"), (Texts{"a", "-", "f"}));
    EXPECT_EQ(of(R"([a[-c]])", "a-bc"), (Texts{"a", "-", "c"}));
    EXPECT_EQ(of(R"([x[b-]d])", "b-cdx"), (Texts{"b", "-", "d", "x"}));
    EXPECT_EQ(of(R"([\s-])", "a- "), (Texts{"-", " "}));
    // Ranges stay ranges, also one that begins with the hyphen itself.
    EXPECT_EQ(of(R"([\s--/])", ",-./0"), (Texts{"-", ".", "/"}));
    EXPECT_EQ(of(R"([[a-c]x-z])", "abc-xyz"), (Texts{"a", "b", "c", "x", "y", "z"}));
}

TEST(TokenizerPattern, WhiteSpaceIsUnicodesAndNotPcres) {
    const Pattern space = Pattern::ruby(R"(\s)", "test");
    EXPECT_EQ(found(space, "\xC2\x85"), Texts{"\xC2\x85"});  // next line
    EXPECT_EQ(found(space, "\xE1\xA0\x8E"), Texts{});        // U+180E, white space until Unicode 6.2
    EXPECT_EQ(found(Pattern::ruby(R"([^\s])", "test"), "\xE1\xA0\x8E").size(), 1U);
}

TEST(TokenizerPattern, CaseIsIgnoredBeyondAscii) {
    EXPECT_EQ(found(Pattern::ruby("(?i:'s)", "test"), "'S 'ſ"), (Texts{"'S", "'ſ"}));
}

TEST(TokenizerPattern, EmptyMatchesMoveOnByWholeCharacters) {
    EXPECT_EQ(found(Pattern::ruby("b*", "test"), "abbé"), (Texts{"", "bb", ""}));
    EXPECT_EQ(found(Pattern::literal(""), "éa").size(), 3U);
}

TEST(TokenizerPattern, LiteralsAreNoPatterns) {
    EXPECT_EQ(found(Pattern::literal("a.*"), "xa.*a.*b"), (Texts{"a.*", "a.*"}));
}

TEST(TokenizerPattern, MistakesAreOneSentence) {
    const std::string open = message_of([] { Pattern::ruby("(a", "the file"); });
    EXPECT_NE(open.find("the pattern '(a' in the file (missing closing parenthesis"), std::string::npos) << open;
    EXPECT_NE(message_of([] { Pattern::ruby("[a&&b]", "the file"); }).find("intersection"), std::string::npos);
    EXPECT_NE(message_of([] { Pattern::ruby("[a[^b]]", "the file"); }).find("negated set"), std::string::npos);
    EXPECT_NE(message_of([] { Pattern::ruby("\\", "the file"); }), "");
    EXPECT_NE(message_of([] { Pattern::ruby(std::string(70000, 'a'), "the file"); }).find("70000 bytes"),
              std::string::npos);
    EXPECT_NE(message_of([] { Pattern::ruby(std::string(5000, '('), "the file"); }), "");
}

TEST(TokenizerPattern, BacktrackingWithoutEndIsAnError) {
    const Pattern pattern = Pattern::ruby("(x+x+)+[yz]", "the file");
    const std::string message = message_of([&] { found(pattern, std::string(5000, 'x')); });
    EXPECT_NE(message.find("gives up"), std::string::npos) << message;
}

TEST(TokenizerPattern, ALongMatchOfARepeatedGroupIsNoError) {
    const Pattern pattern = Pattern::ruby("(?:ab|c)+", "the file");
    std::string text;
    for (int i = 0; i < 300'000; ++i) {
        text += "ab";
    }
    EXPECT_EQ(found(pattern, text), Texts{text});
}

}  // namespace
}  // namespace flyball::tokenizer::test
