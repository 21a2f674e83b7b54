// `flyball sample` as a user runs it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"
#include "program.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli::test::sample_test {
namespace {

std::filesystem::path source(const std::string& name) {
    return std::filesystem::path(flyball::test::source_folder) / "tests" / name;
}

std::string golden(const std::string& name) {
    return "'" + (source("model/golden") / name).string() + "'";
}

// The golden model with a tokenizer beside it: 53 tokens, and ids beyond the tokenizer's or the model's are no
// accident.
class Folder {
  public:
    explicit Folder(const std::string& tokenizer)
        : path_(std::filesystem::temp_directory_path() / ("flyball-sample-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
        for (const char* file : {"config.json", "model.safetensors"}) {
            std::filesystem::copy_file(source("model/golden/gpt2") / file, path_ / file,
                                       std::filesystem::copy_options::overwrite_existing);
        }
        std::ofstream(path_ / "tokenizer.json") << tokenizer;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    void without(const std::vector<std::string>& keys) const {
        Json config = parse_json(read_text_file(path_ / "config.json", std::size_t{1} << 20), "config");
        for (const std::string& key : keys) {
            config.erase(key);
        }
        std::ofstream(path_ / "config.json") << dump_json(config);
    }
    std::string name() const { return "'" + path_.string() + "'"; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// 53 tokens: 1 and 2 begin and end a text, 3.. are a, b, c, .., the rest are bytes, most of which begin a character.
std::string letters() {
    Json vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
    int id = 3;
    for (char c = 'a'; c <= 'z'; ++c) {
        vocabulary[std::string(1, c)] = id++;
    }
    for (const char* token : {"\u00e2", "\u0124", "\u00ac", "\u010a", "\u0120"}) {  // E2 82 AC, line end, space
        vocabulary[token] = id++;
    }
    for (char32_t byte = 0xc3; id < 53; ++byte) {  // printed as themselves
        std::string token;
        append_point(token, byte == 0xe2 ? 0xe1 : byte);
        vocabulary[token] = id++;
    }
    const Json special = Json::array({{{"id", 1},
                                       {"content", "<s>"},
                                       {"special", true},
                                       {"single_word", false},
                                       {"lstrip", false},
                                       {"rstrip", false},
                                       {"normalized", false}},
                                      {{"id", 2},
                                       {"content", "</s>"},
                                       {"special", true},
                                       {"single_word", false},
                                       {"lstrip", false},
                                       {"rstrip", false},
                                       {"normalized", false}}});
    return dump_json({{"version", "1.0"},
                      {"added_tokens", special},
                      {"normalizer", nullptr},
                      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
                      {"post_processor", nullptr},
                      {"decoder", {{"type", "ByteLevel"}}},
                      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}});
}

Json json_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return parse_json(outcome.out, "out");
}

void expect_one_sentence(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.exit, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("flyball: [", 0), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Sample, JsonFollowsTheContract) {
    const Json json = json_of(run_program("sample " + golden("gpt2") +
                                          " --ids 5,6,7 --tokens 4 --temperature 0.9 --top 20 --seed 3 "
                                          "--json"));
    EXPECT_EQ(json.at("model").at("family"), "gpt2");
    EXPECT_TRUE(json.at("prompt").is_null());
    EXPECT_TRUE(json.at("text").is_null()) << "no tokenizer";
    EXPECT_EQ(json.at("prompt_ids"), Json({5, 6, 7}));
    EXPECT_LE(json.at("ids").size(), 4U);
    EXPECT_GE(json.at("ids").size(), 1U);
    EXPECT_EQ(json.at("temperature"), 0.9);
    EXPECT_EQ(json.at("top"), 20);
    EXPECT_EQ(json.at("seed"), 3);
    EXPECT_EQ(json.at("cached"), true);
}

TEST(Sample, ASeedIsOneTextOnAnyNumberOfThreads) {
    const std::string call = "sample " + golden("llama-gqa") + " --ids 5,6,7 --tokens 12 ";
    const Outcome one = run_program(call + "--seed 5 --threads 1");
    ASSERT_EQ(one.exit, 0) << one.err;
    EXPECT_EQ(run_program(call + "--seed 5 --threads 3").out, one.out);
    EXPECT_NE(run_program(call + "--seed 6").out, one.out);
    EXPECT_EQ(run_program(call + "--seed 5 --temperature 0").out, run_program(call + "--seed 6 --temperature 0").out);
    EXPECT_EQ(run_program(call + "--seed 5 --top 1").out, run_program(call + "--temperature 0").out);
}

// Without a tokenizer the ids are what is printed.
TEST(Sample, IdsArePrintedWhereThereIsNoTokenizer) {
    const std::string call = "sample " + golden("gpt2") + " --ids 5,6,7 --tokens 6 --seed 1";
    const Json json = json_of(run_program(call + " --json"));
    std::string expected;
    for (const Json& id : json.at("ids")) {
        expected += (expected.empty() ? "" : " ") + std::to_string(id.get<int>());
    }
    const Outcome plain = run_program(call);
    EXPECT_EQ(plain.out, expected + "\n");
    EXPECT_NE(plain.err.find(" tokens, "), std::string::npos) << plain.err;
}

TEST(Sample, ThePromptAndTheTextArePrintedAsTheTokenizerHasThem) {
    const Folder folder(letters());
    const std::string call = "sample " + folder.name() + " --prompt 'abc' --tokens 14 --seed ";
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder.path());
    bool has_replacement = false;
    for (int seed = 0; seed < 6; ++seed) {
        const Json json = json_of(run_program(call + std::to_string(seed) + " --json"));
        EXPECT_EQ(json.at("prompt"), "abc");
        EXPECT_EQ(json.at("prompt_ids"), Json({3, 4, 5}));
        const std::string text = json.at("text");
        EXPECT_EQ(text, tokenizer.decode(json.at("ids").get<std::vector<std::int32_t>>()));
        has_replacement = has_replacement || text.ends_with("\uFFFD");
        const Outcome plain = run_program(call + std::to_string(seed));
        EXPECT_EQ(plain.out, "abc" + text + (text.ends_with('\n') ? "" : "\n"));
    }
    EXPECT_TRUE(has_replacement) << "a text that ends inside a character";
}

// What a tokenizer puts behind a text would end it before it goes on.
TEST(Sample, APromptKeepsWhatStandsInFrontOfTextsAndNotWhatStandsBehind) {
    const Json tokenizer = [] {
        Json json = parse_json(letters(), "tokenizer");
        json["post_processor"] = {{"type", "TemplateProcessing"},
                                  {"single", Json::array({{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                                                          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                                          {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}})},
                                  {"pair", Json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                                        {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}})},
                                  {"special_tokens",
                                   {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}},
                                    {"</s>", {{"id", "</s>"}, {"ids", {2}}, {"tokens", {"</s>"}}}}}}};
        return json;
    }();
    const Folder folder(dump_json(tokenizer));
    EXPECT_EQ(json_of(run_program("sample " + folder.name() + " --prompt abc --tokens 2 --json")).at("prompt_ids"),
              Json({1, 3, 4, 5}));
}

// 1 and 2 stand for no characters of a text, and yet are tokens that a reader wants to see.
TEST(Sample, SpecialTokensAreShownWhereTokensAreListed) {
    const Folder folder(letters());
    const Json tokens =
        json_of(run_program("forward " + folder.name() + " --ids 1,5,2 --per-token --json")).at("per_token");
    ASSERT_EQ(tokens.size(), 3U);
    EXPECT_EQ(tokens[0].at("text"), "<s>");
    EXPECT_EQ(tokens[1].at("text"), "c");
    EXPECT_EQ(tokens[2].at("text"), "</s>");
}

// config.json of this model says that 1 begins a text; otherwise it starts after a line end.
TEST(Sample, WithoutAPromptATextStartsWhereTextsBegin) {
    const Folder folder(letters());
    const std::string call = "sample " + folder.name() + " --tokens 2 --json";
    EXPECT_EQ(json_of(run_program(call)).at("prompt_ids"), Json({1}));
    EXPECT_EQ(json_of(run_program(call + " --prompt ''")).at("prompt_ids"), Json({1}));
    folder.without({"bos_token_id"});
    EXPECT_EQ(json_of(run_program(call)).at("prompt_ids"), Json({32}));
}

TEST(Sample, ATextEndsWhereTheModelEndsItAndSaysSo) {
    bool ended = false;
    for (int seed = 0; seed < 40 && !ended; ++seed) {
        const Json json = json_of(
            run_program("sample " + golden("gpt2") + " --ids 5 --tokens 25 --json --seed " + std::to_string(seed)));
        const std::vector<int> ids = json.at("ids");
        const bool last = ids.back() == 1 || ids.back() == 2;
        EXPECT_EQ(json.at("end"), last ? "end-of-text" : "tokens");
        EXPECT_TRUE(last || ids.size() == 25);
        EXPECT_EQ(std::count_if(ids.begin(), ids.end() - 1, [](int id) { return id == 1 || id == 2; }), 0);
        ended = last;
    }
    EXPECT_TRUE(ended);
}

// 32 positions: beyond them the older half of the text goes, and a note says so.
TEST(Sample, GoesOnBeyondTheLastPosition) {
    const Folder folder(letters());
    folder.without({"bos_token_id", "eos_token_id"});
    const Outcome outcome = run_program("sample " + folder.name() + " --ids 5 --tokens 60 --json");
    const Json json = json_of(outcome);
    EXPECT_EQ(json.at("ids").size(), 60U);
    EXPECT_EQ(json.at("forgotten"), 2);  // 1 + 31 fill the positions; 16 are kept twice
    EXPECT_NE(outcome.err.find("the older half of the text was let go 2 times"), std::string::npos) << outcome.err;
}

// 40 tokens and 32 positions: the first 8 are not seen.
TEST(Sample, SaysHowMuchOfALongPromptWasNotSeen) {
    std::string ids;
    for (int id = 1; id <= 40; ++id) {
        ids += (id == 1 ? "" : ",") + std::to_string(id);
    }
    const Outcome outcome = run_program("sample " + golden("gpt2") + " --tokens 1 --ids " + ids);
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_NE(outcome.err.find("the model has 32 positions; it did not see the first 8 tokens of the prompt\n"),
              std::string::npos)
        << outcome.err;
}

TEST(Sample, CharactersThatHaveNoTokenAreNamed) {
    Json tokenizer = {{"version", "1.0"}, {"added_tokens", Json::array()}, {"normalizer", nullptr}};
    tokenizer["pre_tokenizer"] = tokenizer["post_processor"] = nullptr;
    tokenizer["decoder"] = {{"type", "Fuse"}};
    tokenizer["model"] = {{"type", "BPE"}, {"vocab", {{"a", 3}, {"b", 4}}}, {"merges", Json::array()}};
    const Folder folder(dump_json(tokenizer));
    const Outcome some = run_program("sample " + folder.name() + " --prompt 'a\u00e9b \u20ac\u00e9' --tokens 1");
    ASSERT_EQ(some.exit, 0) << some.err;
    EXPECT_NE(some.err.find("no token for '\u00e9', '\u20ac'; they were left out of the prompt"), std::string::npos)
        << some.err;
    const Outcome one = run_program("sample " + folder.name() + " --prompt 'abx' --tokens 1");
    EXPECT_NE(one.err.find("no token for 'x'; it was left out of the prompt"), std::string::npos) << one.err;
    const Outcome none = run_program("sample " + folder.name() + " --prompt 'ab' --tokens 1");
    EXPECT_EQ(none.err.find("left out"), std::string::npos) << none.err;
}

TEST(Sample, MistakesAreOneSentence) {
    expect_one_sentence(run_program("sample " + golden("bert") + " --ids 1"), "an encoder");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --prompt Hello"), "--ids 1,2,3");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --prompt Hello --ids 1"), "--prompt and --ids");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --ids 1,53"), "the token id 53");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --ids 1 --temperature -1"), "--temperature -1");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --ids 1 --temperature x"), "--temperature");
    expect_one_sentence(run_program("sample " + golden("gpt2") + " --ids 1 --tokens 0"), "--tokens");
    expect_one_sentence(run_program("sample /nowhere"), "/nowhere");
}

TEST(Sample, AnInterruptEndsItWithWhatWasWritten) {
    const Folder folder(letters());
    folder.without({"bos_token_id", "eos_token_id"});  // a text that never ends by itself
    const Outcome outcome = run_program("sample " + folder.name() + " --ids 5 --tokens 1000000000 --json",
                                        "exec timeout --foreground --preserve-status -s INT 2");
    EXPECT_EQ(outcome.exit, 130);
    EXPECT_NE(outcome.err.find("flyball: interrupted\n"), std::string::npos) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("end"), "interrupted");
    EXPECT_GE(json.at("ids").size(), 1U);
}

// The same without a clock: the signal comes after the first words that were read.
TEST(Sample, StoppedAfterItsFirstWordsSaysSoByItsExitCode) {
    const Folder folder(letters());
    folder.without({"bos_token_id", "eos_token_id"});
    const std::string path = folder.path().string();
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        execl(flyball::test::program, flyball::test::program, "sample", path.c_str(), "--ids", "5", "--tokens",
              "1000000000", static_cast<char*>(nullptr));
        _exit(127);
    }
    close(ends[1]);
    std::array<char, 4096> text{};
    EXPECT_GT(read(ends[0], text.data(), text.size()), 0);
    kill(child, SIGINT);
    while (read(ends[0], text.data(), text.size()) > 0) {
    }
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(Sample, OutputThatNobodyTakesIsAnError) {
    const Outcome outcome = run_program("sample " + golden("gpt2") + " --ids 5 --tokens 5 >/dev/full");
    EXPECT_EQ(outcome.exit, 2) << outcome.err;
}

}  // namespace
}  // namespace flyball::cli::test::sample_test
