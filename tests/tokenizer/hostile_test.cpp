// Files that are wrong: one sentence each, no crash, no hang, no memory for what is only claimed.
#include <gtest/gtest.h>

#include "support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer::test {
namespace {

// A byte-level tokenizer with three tokens; `edit` makes it wrong.
std::string problem(const std::function<void(Json&)>& edit) {
    Json json = {{"added_tokens", {{{"id", 3}, {"content", "<end>"}, {"special", true}}}},
                 {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                 {"post_processor",
                  {{"type", "TemplateProcessing"},
                   {"single", {{{"Sequence", {{"id", "A"}}}}, {{"SpecialToken", {{"id", "<end>"}}}}}},
                   {"special_tokens", {{"<end>", {{"ids", {3}}}}}}}},
                 {"decoder", {{"type", "ByteLevel"}}},
                 {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}}};
    edit(json);
    const std::string text = dump_json(json);
    return message_of([&] {
        const Tokenizer tokenizer = Tokenizer::parse(text, "the file");
        (void)tokenizer.decode(tokenizer.encode("abab <end>"));
    });
}

void expect_problem(const std::function<void(Json&)>& edit, const std::string& part) {
    const std::string message = problem(edit);
    EXPECT_NE(message.find(part), std::string::npos) << "wanted: " << part << "\ngot:    " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

// tokenizers 0.23 makes the ids 3, 3 and 3, 4 of the first three files whatever they say, and so does transformers 5.23.
TEST(TokenizerHostile, AddedTokensHaveTheNumbersThatTheLibraryGivesThem) {
    const auto add = [](int id, const char* content) {
        return [=](Json& j) { j["added_tokens"].push_back({{"id", id}, {"content", content}}); };
    };
    expect_problem([](Json& j) { j["added_tokens"][0]["id"] = 500; },
                   "'<end>' with the id 500 in the file, to which Hugging Face's library gives 3");
    expect_problem(add(4, "<end>"), "'<end>' with the id 4 in the file, to which Hugging Face's library gives 3");
    expect_problem(add(7, "<x>"), "'<x>' with the id 7 in the file, to which Hugging Face's library gives 4");
    EXPECT_EQ(problem(add(4, "<x>")), "");
    EXPECT_EQ(problem(add(3, "<end>")), "") << "the same twice";
    EXPECT_EQ(problem(add(1, "b")), "") << "one of the vocabulary";
    // Neither of these takes a number: what follows them has the next one.
    const auto then_another = [&](int id, const char* content, int next) {
        return [=](Json& j) {
            add(id, content)(j);
            add(next, "<x>")(j);
        };
    };
    EXPECT_EQ(problem(then_another(3, "<end>", 4)), "");
    EXPECT_EQ(problem(then_another(1, "b", 4)), "");
    for (const auto& [id, content] : {std::pair(3, "<end>"), std::pair(1, "b")}) {
        expect_problem(then_another(id, content, 5),
                       "'<x>' with the id 5 in the file, to which Hugging Face's library gives 4");
    }
    // A vocabulary with a hole: three tokens up to the id 9. The library counts them.
    const auto hole = [](int first, int second) {
        return [=](Json& j) {
            j["model"]["vocab"]["ab"] = 9;
            j["added_tokens"] = {{{"id", 9}, {"content", "ab"}}, {{"id", first}, {"content", "<end>"}}};
            j["added_tokens"].push_back({{"id", second}, {"content", "<x>"}});
            j["post_processor"]["special_tokens"]["<end>"]["ids"] = {first};
        };
    };
    EXPECT_EQ(problem(hole(3, 4)), "");
    expect_problem(hole(10, 11), "'<end>' with the id 10 in the file, to which Hugging Face's library gives 3");
    const auto empty = [](int second) {
        return [=](Json& j) {
            j["added_tokens"] = {{{"id", 3}, {"content", ""}}, {{"id", second}, {"content", "<end>"}}};
        };
    };
    EXPECT_EQ(problem(empty(3)), "") << "an empty one is none";
    expect_problem(empty(4), "'<end>' with the id 4 in the file, to which Hugging Face's library gives 3");
}

TEST(TokenizerHostile, TheExampleIsFine) {
    EXPECT_EQ(problem([](Json&) {}), "");
}

TEST(TokenizerHostile, EveryTruncationIsAnError) {
    const std::string text = read_text_file(data("wordpiece") / "tokenizer.json", 1 << 20);
    for (std::size_t length = 0; length + 2 < text.size(); length += 37) {
        EXPECT_NE(message_of([&] { Tokenizer::parse(text.substr(0, length), "the file"); }), "") << length;
    }
}

TEST(TokenizerHostile, WrongTypesNameThePlace) {
    expect_problem([](Json& j) { j["model"] = 3; }, "3 as model in the file, expected an object");
    expect_problem([](Json& j) { j["model"]["vocab"] = "x"; }, "as model.vocab in the file");
    expect_problem([](Json& j) { j["model"]["merges"] = true; }, "true as model.merges in the file, expected an array");
    expect_problem([](Json& j) { j["model"]["merges"][0] = 1; }, "1 as model.merges[0] in the file, expected a string");
    expect_problem([](Json& j) { j["model"]["byte_fallback"] = "yes"; }, "model.byte_fallback");
    expect_problem([](Json& j) { j["added_tokens"] = Json::object(); }, "an object as added_tokens");
    expect_problem([](Json& j) { j["added_tokens"][0]["content"] = nullptr; }, "no 'content' in added_tokens[0]");
    expect_problem([](Json& j) { j["pre_tokenizer"].erase("type"); }, "no 'type' in pre_tokenizer");
    expect_problem([](Json& j) { j.erase("model"); }, "no 'model' in the file");
    expect_problem([](Json& j) { j = Json::array(); }, "an array as the file, expected an object");
}

TEST(TokenizerHostile, TokensThatDoNotFitTogether) {
    expect_problem([](Json& j) { j["model"]["merges"] = {"a c"}; }, "where 'c' is no token");
    expect_problem([](Json& j) { j["model"]["merges"] = {"b a"}; }, "where 'ba' is no token");
    expect_problem([](Json& j) { j["model"]["merges"] = {"ab"}; }, "two tokens with a space between them");
    expect_problem([](Json& j) { j["model"]["merges"] = {"a b c"}; }, "two tokens with a space between them");
    expect_problem([](Json& j) { j["model"]["merges"] = {{"a", "b", "c"}}; }, "3 items");
    expect_problem([](Json& j) { j["model"]["vocab"]["b"] = 0; }, "the id 0 for both 'a' and 'b'");
    expect_problem([](Json& j) { j["model"]["unk_token"] = "?"; }, "the unknown token '?'");
    expect_problem([](Json& j) { j["added_tokens"][0]["id"] = 2; }, "the vocabulary has 'ab' there");
    expect_problem([](Json& j) { j["added_tokens"][0]["content"] = "ab"; }, "the vocabulary gives it 2");
    expect_problem(
        [](Json& j) {
            j["added_tokens"].push_back({{"id", 3}, {"content", "<other>"}});
        },
        "'<other>' with the id 3 in the file, to which Hugging Face's library gives 4");
    expect_problem([](Json& j) { j["post_processor"]["special_tokens"]["<end>"]["ids"] = {77}; },
                   "77 as post_processor.special_tokens.<end>.ids[0]");
}

TEST(TokenizerHostile, IdsOutOfRangeAllocateNothing) {
    expect_problem([](Json& j) { j["model"]["vocab"]["b"] = 2147483648; }, "the id '2147483648' of the token 'b'");
    expect_problem([](Json& j) { j["model"]["vocab"]["b"] = -1; }, "the id -1 of the token 'b'");
    expect_problem([](Json& j) { j["model"]["vocab"]["b"] = 18446744073709551615U; }, "18446744073709551615");
    expect_problem([](Json& j) { j["model"]["vocab"]["b"] = 1.5; }, "the id '1.5'");
    expect_problem([](Json& j) { j["added_tokens"][0]["id"] = 4294967296; }, "4294967296 as added_tokens[0].id");
    EXPECT_EQ(problem([](Json& j) { j["model"]["vocab"]["b"] = 2147483646; }), "");
}

TEST(TokenizerHostile, AddedTokensHaveAtMost4096Bytes) {
    const auto length = [](std::size_t bytes) {
        return problem([=](Json& j) {
            j["added_tokens"].push_back({{"id", 4}, {"content", std::string(bytes, 'x')}});
        });
    };
    EXPECT_EQ(length(4096), "");
    EXPECT_NE(length(4097).find("an added token of 4097 bytes in the file, expected at most 4096 bytes"),
              std::string::npos)
        << length(4097);
}

// Files before 2020 do not say what their model is. With merges it is BPE, as the example is; with a longest word it is
// WordPiece; a list of tokens is Unigram, and what has nothing of all that is WordLevel.
TEST(TokenizerHostile, AModelWithoutATypeIsKnownByWhatItHas) {
    EXPECT_EQ(problem([](Json& j) { j["model"].erase("type"); }), "");
    const Json of_words = {{"vocab", {{"[UNK]", 0}, {"a", 1}, {"##b", 2}}}, {"max_input_chars_per_word", 3}};
    const Tokenizer words = Tokenizer::parse(dump_json({{"model", of_words}}), "the file");
    EXPECT_EQ(words.encode("abb"), (std::vector<std::int32_t>{1, 2, 2})) << "three letters, as many as may be";
    EXPECT_EQ(words.encode("abbb"), (std::vector<std::int32_t>{0}));
    expect_problem(
        [](Json& j) {
            j["model"] = {{"vocab", {{"a", 0}}}};
        },
        "a tokenizer of type 'WordLevel' in the file");
    Json negative = of_words;
    negative["max_input_chars_per_word"] = -1;
    expect_problem([&](Json& j) { j["model"] = negative; },
                   "-1 as model.max_input_chars_per_word in the file, expected a number that is not negative");
}

TEST(TokenizerHostile, KindsThatAreNotThereAreNamed) {
    expect_problem(
        [](Json& j) {
            j["model"] = {{"type", "Unigram"}, {"vocab", Json::array()}};
        },
        "a tokenizer of type 'Unigram' in the file, expected BPE or WordPiece");
    expect_problem([](Json& j) { j["model"] = {{"vocab", Json::array()}}; }, "'Unigram'");
    expect_problem([](Json& j) { j["model"]["type"] = "WordLevel"; }, "'WordLevel'");
    expect_problem([](Json& j) { j["model"]["dropout"] = 0.1; }, "0.1 as model.dropout");
    expect_problem([](Json& j) { j["pre_tokenizer"]["type"] = "UnicodeScripts"; }, "'UnicodeScripts'");
    expect_problem([](Json& j) { j["normalizer"] = {{"type", "Precompiled"}}; }, "'Precompiled'");
    expect_problem([](Json& j) { j["post_processor"]["type"] = "Other"; }, "'Other'");
    expect_problem([](Json& j) { j["decoder"]["type"] = "CTC"; }, "a decoder of type 'CTC'");  // only when decoding
}

TEST(TokenizerHostile, PatternsOfTheFile) {
    const auto split = [](const Json& pattern, const char* behaviour) {
        return Json{{"type", "Split"}, {"pattern", pattern}, {"behavior", behaviour}, {"invert", false}};
    };
    expect_problem(
        [&](Json& j) {
            j["pre_tokenizer"] = split({{"Regex", "(a"}}, "Isolated");
        },
        "in pre_tokenizer.pattern.Regex in the file (missing closing parenthesis");
    expect_problem([&](Json& j) { j["pre_tokenizer"] = split({{"Regex", "a"}}, "Sideways"); }, "'Sideways'");
    expect_problem([&](Json& j) { j["pre_tokenizer"] = split({{"Other", "a"}}, "Isolated"); }, "no 'Regex'");
    expect_problem(
        [&](Json& j) {
            j["pre_tokenizer"] = split({{"Regex", "(?:[ab]+[ab]+)+(?:x|y)|(a|b|ab)*c"}}, "Isolated");
            j["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(50, 'a')}};
        },
        "gives up");
}

TEST(TokenizerHostile, NestingEndsAtALimit) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
        text += R"({"type":"Sequence","normalizers":[)";
    }
    EXPECT_NE(message_of([&] { Tokenizer::parse(R"({"normalizer":)" + text, "the file"); }).find("nested deeper"),
              std::string::npos);
}

TEST(TokenizerHostile, TextCannotBeMadeToGrowWithoutEnd) {
    expect_problem(
        [](Json& j) {
            const Json step = {{"type", "Replace"}, {"pattern", {{"Regex", ""}}}, {"content", std::string(1000, 'a')}};
            j["normalizer"] = {{"type", "Sequence"}, {"normalizers", {step, step, step, step}}};
        },
        "replacements that make a text");
    expect_problem(
        [](Json& j) {
            j["normalizer"] = {{"type", "Prepend"}, {"prepend", std::string(2000, 'a')}};
        },
        "a text of 2000 bytes");
    expect_problem([](Json& j) { j["added_tokens"][0]["content"] = std::string(5000, 'a'); }, "5000 bytes");
    expect_problem(
        [](Json& j) {
            j["post_processor"]["single"] = {{{"Sequence", {{"id", "A"}}}}, {{"Sequence", {{"id", "A"}}}}};
        },
        "a second sequence");
}

// 64 bytes of each, and 65536 more: of 2000 bytes 193536.
TEST(TokenizerHostile, ReplacementsMayMakeALongTextSixtyFourTimesAsLong) {
    const auto length = [](std::size_t of_each) {
        const Json json = {
            {"normalizer",
             {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(of_each, 'b')}}},
            {"model", {{"type", "BPE"}, {"vocab", {{"b", 0}}}, {"merges", Json::array()}}}};
        return Tokenizer::parse(dump_json(json), "the file").encode(std::string(2000, 'a')).size();
    };
    EXPECT_EQ(length(1), 2000U);
    EXPECT_EQ(length(96), 192000U);
    EXPECT_NE(message_of([&] { length(97); }).find("a text of 2000 bytes longer than 193536"), std::string::npos);
}

TEST(TokenizerHostile, AnyBytesAreAText) {
    const Tokenizer tokenizer = Tokenizer::load(data("gpt2"));
    const std::string broken("a\xFF\xE2\x82\x00z", 6);
    const std::string repaired("a\xEF\xBF\xBD\xEF\xBF\xBD\x00z", 9);
    EXPECT_EQ(tokenizer.encode(broken), tokenizer.encode(repaired));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(broken)), repaired);
    EXPECT_EQ(tokenizer.encode(""), std::vector<std::int32_t>{});
}

TEST(TokenizerHostile, UnknownIdsAreAnErrorOfDecoding) {
    const Tokenizer tokenizer = Tokenizer::load(data("gpt2"));
    const std::vector<std::int32_t> ids = {-1};
    EXPECT_NE(message_of([&] { (void)tokenizer.decode(ids); }).find("the id -1"), std::string::npos);
}

TEST(TokenizerHostile, LongTextsOfEveryKindTakeNoSquareOfTime) {
    for (const char* name : {"gpt2", "llama3", "sentencepiece", "metaspace", "roberta", "suffixed", "wordpiece"}) {
        const Tokenizer tokenizer = Tokenizer::load(data(name));
        for (const std::string unit : {"a", " ", "\n", " a", "\xCC\x81", "<mask>", "-", "é", "▁", "'"}) {
            std::string text;
            while (text.size() < 200'000) {
                text += unit;
            }
            EXPECT_NO_THROW((void)tokenizer.encode(text)) << name << " " << unit;
        }
    }
}

TEST(TokenizerHostile, MissingFilesAreNamed) {
    const TemporaryFolder folder;
    EXPECT_NE(message_of([&] { Tokenizer::load(folder.path()); }).find("expected tokenizer.json, vocab.json"),
              std::string::npos);
    folder.write("tokenizer.model", "x");
    EXPECT_NE(message_of([&] { Tokenizer::load(folder.path()); }).find("save_pretrained"), std::string::npos);
    folder.write("vocab.json", R"({"a": 0, "b": 1})");
    folder.write("merges.txt", "#version: 0.2\na b c\n");
    EXPECT_NE(message_of([&] { Tokenizer::load(folder.path()); }).find("'a b c' as line 2 of"), std::string::npos);
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer"})");
    EXPECT_NE(message_of([&] { Tokenizer::load(folder.path()); }).find("'Qwen2Tokenizer'"), std::string::npos);
}

}  // namespace
}  // namespace flyball::tokenizer::test
