// `flyball tokenize`: its JSON contract, its text, its errors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

const std::string folder = std::string(flyball::test::source_folder) + "/tests/tokenizer/data/";

TEST(Tokenize, JsonFollowsTheContract) {
    const Outcome outcome = run_program("tokenize '" + folder + "wordpiece' --string 'speed, up' --json");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    const Json json = parse_json(outcome.out, "tokenize --json");
    EXPECT_EQ(json.size(), 2U);
    EXPECT_EQ(json.at("count"), json.at("ids").size());
    EXPECT_EQ(json.at("ids").front(), 2);  // [CLS]
    EXPECT_EQ(json.at("ids").back(), 3);   // [SEP]
}

TEST(Tokenize, SpecialTokensCanBeLeftOff) {
    const Outcome with = run_program("tokenize '" + folder + "wordpiece' --string 'speed' --json");
    const Outcome without = run_program("tokenize '" + folder + "wordpiece' --string 'speed' --json --no-special");
    const Json all = parse_json(with.out, "with");
    const Json plain = parse_json(without.out, "without");
    EXPECT_EQ(all.at("count").get<int>(), plain.at("count").get<int>() + 2);
}

TEST(Tokenize, TokensShowHowTheVocabularySpellsThem) {
    const Outcome outcome = run_program("tokenize '" + folder + "gpt2' --string ' the<|endoftext|>' --json --tokens");
    EXPECT_EQ(parse_json(outcome.out, "tokens").at("tokens"), Json({"Ġthe", "<|endoftext|>"}));
    const Outcome text = run_program("tokenize '" + folder + "gpt2' --string ' the<|endoftext|>' --tokens");
    EXPECT_NE(text.out.find("2 tokens\n"), std::string::npos);
    EXPECT_NE(text.out.find("'Ġthe'\n"), std::string::npos);
}

TEST(Tokenize, ReadsTheStandardInput) {
    const Outcome outcome = run_program("tokenize '" + folder + "wordpiece' --text - --json", "printf 'speed, up' |");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const Outcome string = run_program("tokenize '" + folder + "wordpiece' --string 'speed, up' --json");
    EXPECT_EQ(outcome.out, string.out);
}

TEST(Tokenize, ReadsFilesAndWrapsIds) {
    const std::string file = std::filesystem::temp_directory_path() / ("flyball-text-" + std::to_string(getpid()));
    write_file_atomically(file, std::string(300, '!'));
    const Outcome outcome = run_program("tokenize '" + folder + "llama3' --text '" + file + "'");
    std::filesystem::remove(file);
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')), "301 tokens");
    std::istringstream lines(outcome.out);
    std::string line;
    std::size_t count = 0;
    while (std::getline(lines, line)) {
        ++count;
        EXPECT_LE(line.size(), 200U);
    }
    EXPECT_GT(count, 5U);
}

TEST(Tokenize, EmptyTextHasNoTokens) {
    const Outcome outcome = run_program("tokenize '" + folder + "gpt2' --string ''");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "0 tokens\n");
}

TEST(Tokenize, SaysWhereTextIsNotUtf8) {
    const Outcome outcome = run_program("tokenize '" + folder + "gpt2' --json --string \"$(printf 'a\\377b')\"");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "flyball: note: the text is not UTF-8 in 1 places, read as U+FFFD\n");
}

TEST(Tokenize, BadUseIsOneSentenceAndExitTwo) {
    for (const std::string& arguments :
         {std::string("tokenize '" + folder + "gpt2'"), std::string("tokenize --string x"),
          std::string("tokenize '" + folder + "gpt2' --string x --text y"),
          std::string("tokenize no/such/model --string x"), std::string("tokenize '" + folder + "' --string x"),
          std::string("tokenize '" + folder + "gpt2' --text /no/such/file")}) {
        const Outcome outcome = run_program(arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
}

}  // namespace
}  // namespace flyball::cli::test
