// `flyball inspect` as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "program.hpp"
#include "sanitized.hpp"

namespace flyball::cli::test::inspect_test {
namespace {

const std::string quick = " --length 16 --sequences 2";

class Inspect : public testing::Test {
  protected:
    Inspect() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~Inspect() override { std::filesystem::remove_all(folder_); }
    Inspect(const Inspect&) = delete;
    Inspect& operator=(const Inspect&) = delete;

    std::string place(const std::string& name) const { return (folder_ / name).string(); }
    std::string out(const std::string& name = "run") const { return " --out '" + place(name) + "'"; }
    std::string contents(const std::string& name) const { return read_text_file(folder_ / "run" / name, 1U << 26U); }

  private:
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("flyball-inspect-" + std::to_string(getpid()));
};

Json json_of(const std::string& arguments) {
    const Outcome outcome = run_program("inspect " + arguments + " --json");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return parse_json(outcome.out, "out");
}

TEST_F(Inspect, JsonHasEveryBlock) {
    const Json json = json_of("builtin:pre-ln" + quick);
    EXPECT_EQ(json.at("model").at("name"), "builtin:pre-ln");
    EXPECT_EQ(json.at("tokens"), 32);
    EXPECT_EQ(json.at("sequences"), 2);
    EXPECT_EQ(json.at("length"), 16);
    EXPECT_GT(json.at("loss").get<double>(), 0);
    EXPECT_EQ(json.at("layers").size(), 12U);
    EXPECT_EQ(json.at("heads").size(), 72U);
    EXPECT_EQ(json.at("gains").size(), 24U);
    EXPECT_EQ(json.at("growth").at("bound"), "none");
    EXPECT_EQ(json.at("summary").size(), 9U);
    const Json& layer = json.at("layers")[3];
    EXPECT_GT(layer.at("gradient").get<double>(), 0);
    EXPECT_TRUE(layer.at("drop").is_null());
    EXPECT_TRUE(layer.at("lens_loss").is_null());
    EXPECT_FALSE(layer.contains("lens_top"));
}

// What a switch adds is there, and the rest stays as it was.
TEST_F(Inspect, SwitchesAddWhatTheySay) {
    const Json plain = json_of(quick);
    const Json more = json_of(quick + " --drop --lens --no-gradient");
    EXPECT_EQ(plain.at("loss"), more.at("loss"));
    EXPECT_TRUE(plain.at("embedding").at("gradient").is_number());
    EXPECT_TRUE(more.at("embedding").at("gradient").is_null());
    for (std::size_t l = 0; l < 12; ++l) {
        const Json& with = more.at("layers")[l];
        EXPECT_TRUE(with.at("gradient").is_null());
        EXPECT_TRUE(with.at("drop").is_number());
        EXPECT_TRUE(with.at("lens_loss").is_number());
        EXPECT_TRUE(with.at("lens_top_text").is_string());
        EXPECT_EQ(with.at("norm"), plain.at("layers")[l].at("norm"));
    }
    EXPECT_NEAR(more.at("layers")[11].at("lens_loss").get<double>(), more.at("loss").get<double>(), 1e-6);
    EXPECT_EQ(more.at("layers")[11].at("lens_agreement"), 1);
}

TEST_F(Inspect, WithoutAWordLooksAtThePeriLnModel) {
    const Json json = json_of("");
    EXPECT_EQ(json.at("model").at("name"), "builtin:peri-ln");
    EXPECT_EQ(json.at("sequences"), 4);
    EXPECT_EQ(json.at("length"), 256);
    EXPECT_EQ(json.at("growth").at("bound"), "linear");
}

TEST_F(Inspect, TextFitsATerminal) {
    for (const std::string drop : {"", " --drop"}) {
        for (const std::string lens : {"", " --lens"}) {
            for (const std::string gradient : {"", " --no-gradient"}) {
                for (const std::string models : {"builtin:post-ln", "builtin:post-ln builtin:pre-ln"}) {
                    const std::string call = models + quick + drop + lens + gradient;
                    const Outcome outcome = run_program("inspect " + call);
                    ASSERT_EQ(outcome.exit, 0) << outcome.err;
                    std::size_t column = 0;
                    for (const char c : outcome.out) {
                        const bool goes_on = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of one character
                        column = c == '\n' ? 0 : column + (goes_on ? 0 : 1);
                        ASSERT_LE(column, 80U) << call << "\n" << outcome.out;
                    }
                    const auto shows = [&](const char* part) { return outcome.out.find(part) != std::string::npos; };
                    EXPECT_EQ(shows(" drop"), !drop.empty()) << outcome.out;
                    EXPECT_EQ(shows(" lens"), !lens.empty()) << outcome.out;
                    EXPECT_EQ(shows("Most likely next token"), !lens.empty());
                    EXPECT_EQ(shows("Going back, the gradient"), gradient.empty());
                    EXPECT_EQ(shows("growth: how the length grows"), models.size() > 20);
                }
            }
        }
    }
}

TEST_F(Inspect, TakesIdsInsteadOfAText) {
    const Json json = json_of("--ids 10,20,30,40,50,60,70 --length 3");
    EXPECT_EQ(json.at("sequences"), 2);  // the seventh id has no window of its own
    EXPECT_EQ(json.at("length"), 3);
    const Json both = json_of("--ids 10,20,30,40,50,60,70 --length 3 --sequences 1 --lens");
    EXPECT_EQ(both.at("sequences"), 1);
    EXPECT_TRUE(both.at("layers")[0].at("lens_top_text").is_string());
    const Json one = json_of("--ids 10,20,30,40,50,60,70");
    EXPECT_EQ(one.at("sequences"), 1);
    EXPECT_EQ(one.at("length"), 7);
}

TEST_F(Inspect, ReadsATextOfAFile) {
    std::ofstream(place("text")) << "to be or not to be, that is the question";
    const Json json = json_of("--text '" + place("text") + "' --length 8");
    EXPECT_EQ(json.at("length"), 8);
    EXPECT_EQ(json.at("sequences"), 5);  // 40 bytes, one token each
    const Json whole = json_of("--text '" + place("text") + "'");
    EXPECT_EQ(whole.at("length"), 40);
    EXPECT_EQ(whole.at("sequences"), 1);
}

TEST_F(Inspect, WritesTablesAndFigures) {
    const Outcome outcome = run_program("inspect builtin:pre-ln" + quick + " --drop" + out());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("written to " + place("run") + ": depth.svg"), std::string::npos) << outcome.out;
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(place("run"))) {
        found.insert(entry.path().filename().string());
    }
    std::set<std::string> expected = {"config.toml", "inspect.json", "provenance.json", "report.html",
                                      "layers.csv",  "heads.csv",    "gains.csv"};
    for (const char* const figure :
         {"depth", "norm", "added", "angle", "cosine", "rank", "attention", "gradient", "drop", "entropy", "logits",
          "variance", "entries", "norm-gains", "branch-cosine"}) {
        expected.insert(std::string(figure) + ".svg");
        expected.insert(std::string(figure) + ".csv");
    }
    EXPECT_EQ(found, expected);
    const Json printed = json_of("builtin:pre-ln" + quick + " --drop");
    const Json json = parse_json(contents("inspect.json"), "inspect.json");
    EXPECT_EQ(json, printed);
    const auto lines = [&](const std::string& name) {
        const std::string text = contents(name);
        return std::count(text.begin(), text.end(), '\n');
    };
    EXPECT_EQ(contents("layers.csv").rfind("layer,norm,norm_low,", 0), 0U);
    EXPECT_EQ(lines("layers.csv"), 14);
    EXPECT_EQ(contents("heads.csv").rfind("layer,head,entropy,sink,largest_logit\n", 0), 0U);
    EXPECT_EQ(lines("heads.csv"), 73);
    EXPECT_EQ(contents("gains.csv").rfind("layer,norm,mean,deviation,largest\n", 0), 0U);
    EXPECT_EQ(lines("gains.csv"), 25);
    // The figure's points are the document's numbers.
    std::istringstream points(contents("angle.csv"));
    std::string line;
    std::getline(points, line);
    for (std::size_t l = 0; l < 12; ++l) {
        std::getline(points, line);
        const std::string start = "measured," + std::to_string(l) + ",";
        ASSERT_EQ(line.rfind(start, 0), 0U) << line;
        EXPECT_EQ(std::stod(line.substr(start.size())), json.at("layers")[l].at("angular_distance").get<double>());
    }
}

TEST_F(Inspect, NumbersTheTablesOfSeveralModels) {
    const Outcome outcome = run_program("inspect builtin:pre-ln builtin:peri-ln" + quick + out());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    for (const char* const name : {"layers-1.csv", "layers-2.csv", "heads-1.csv", "heads-2.csv", "gains-1.csv",
                                   "gains-2.csv", "depth.svg", "norm-gains.csv"}) {
        EXPECT_TRUE(std::filesystem::exists(place("run") + "/" + name)) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(place("run") + "/layers.csv"));
    const Json json = parse_json(contents("inspect.json"), "inspect.json");
    ASSERT_EQ(json.at("models").size(), 2U);
    EXPECT_EQ(json.at("models")[0].at("model").at("name"), "builtin:pre-ln");
    EXPECT_EQ(json.at("models")[1].at("model").at("name"), "builtin:peri-ln");
    EXPECT_EQ(json.at("models")[1], json_of("builtin:peri-ln" + quick));
    EXPECT_NE(contents("layers-1.csv"), contents("layers-2.csv"));
}

TEST_F(Inspect, AFinishedFolderIsNotComputedAgain) {
    const std::string call = "inspect builtin:pre-ln" + quick + out();
    ASSERT_EQ(run_program(call).exit, 0);
    const std::string before = contents("inspect.json");
    EXPECT_EQ(run_program(call).exit, 2);
    const Outcome again = run_program("inspect --config '" + place("run") + "/config.toml'" + out() + " --resume");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_NE(again.out.find("is complete; its results are in inspect.json."), std::string::npos) << again.out;
    EXPECT_EQ(run_program(call + " --resume --json").out, before);
    EXPECT_EQ(run_program("inspect builtin:peri-ln" + quick + out() + " --resume").exit, 2);  // another run
    ASSERT_EQ(run_program("inspect builtin:peri-ln" + quick + out() + " --force").exit, 0);
    EXPECT_NE(contents("inspect.json"), before);
}

// The settings are the same, and yet it would be another run.
TEST_F(Inspect, AFinishedFolderOfAnotherTextOrModelIsNotTakenForThisOne) {
    const std::string model = place("model");
    std::filesystem::copy(std::string(flyball::test::source_folder) + "/tests/model/golden/gpt2", model);
    std::ofstream(place("ids")) << "1,2,3,4,5";
    const std::string call = "inspect '" + model + "' --ids '@" + place("ids") + "'" + out();
    ASSERT_EQ(run_program(call).exit, 0);
    const Json inputs = parse_json(contents("provenance.json"), "provenance").at("inputs");
    EXPECT_EQ(inputs.size(), 3U) << inputs;
    const auto refused = [&](const std::string& what) {
        const Outcome outcome = run_program(call + " --resume");
        EXPECT_EQ(outcome.exit, 2) << what;
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("a finished run with other " + what + " of model 1"), std::string::npos)
            << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    };
    EXPECT_EQ(run_program(call + " --resume").exit, 0);
    std::ofstream(place("ids")) << "1,2,3,4,6";
    refused("input");
    std::ofstream(place("ids")) << "1,2,3,4,5";
    EXPECT_EQ(run_program(call + " --resume").exit, 0);
    const std::string config = read_text_file(model + "/config.json", 1U << 20U);
    std::ofstream(model + "/config.json") << config << "\n";
    refused("configuration");
    std::ofstream(model + "/config.json") << config;
    std::string weights = read_text_file(model + "/model.safetensors", 1U << 26U);
    weights.back() = static_cast<char>(weights.back() ^ 1);
    std::ofstream(model + "/model.safetensors") << weights;
    refused("weights");
    EXPECT_EQ(run_program(call + " --force").exit, 0);
}

TEST_F(Inspect, AnInterruptTellsHowToBeginAgain) {
    const std::string before = "exec timeout --foreground --preserve-status -s INT 1";
    const std::string slow = "inspect builtin:pre-ln --sequences 60 --drop";  // half a minute and more
    const Outcome kept = run_program(slow + out(), before);
    EXPECT_EQ(kept.exit, 130);
    EXPECT_EQ(kept.out, "");
    EXPECT_EQ(kept.err, "flyball: interrupted; begin again with: flyball inspect --config '" + place("run") +
                            "/config.toml' --out '" + place("run") + "' --resume\n");
    EXPECT_TRUE(std::filesystem::exists(place("run") + "/work/run.json"));
    EXPECT_FALSE(std::filesystem::exists(place("run") + "/inspect.json"));
    EXPECT_EQ(run_program("inspect builtin:pre-ln --sequences 1 --drop" + out() + " --resume").exit, 2);
    const Outcome alone = run_program(slow, before);
    EXPECT_EQ(alone.exit, 130);
    EXPECT_EQ(alone.out, "");
    EXPECT_EQ(alone.err, "flyball: interrupted\n");
}

// Killed before anything was measured: the folder is taken up and finished.
TEST_F(Inspect, AFolderThatWasBegunIsTakenUp) {
    const std::string call = "inspect builtin:pre-ln" + quick + out();
    ASSERT_EQ(run_program(call).exit, 0);
    const std::string whole = contents("layers.csv");
    const Outcome killed = run_program("inspect builtin:pre-ln" + quick + out("begun") + " --json >/dev/full");
    EXPECT_EQ(killed.exit, 2);  // the results are there, and nobody took them
    EXPECT_EQ(run_program("inspect builtin:pre-ln" + quick + out("begun") + " --resume").exit, 0);
    EXPECT_EQ(read_text_file(place("begun") + "/layers.csv", 1U << 26U), whole);
}

TEST_F(Inspect, SaysWhatItNeedsWhenMemoryIsShort) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need terabytes of addresses";
    }
    const Outcome outcome = run_program("inspect --sequences 4000" + out(), "ulimit -v 2000000; exec");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    // 4000 x 256 rows of 96 channels: 24 bytes each for the stream alone are 2.4 GB, inputs of 12 blocks 4.7 GB more.
    EXPECT_NE(outcome.err.find("got 4000 x 256 tokens, which need about "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(" GB, expected at most the "), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(place("run")));
    EXPECT_EQ(run_program("inspect" + quick, "ulimit -v 2000000; exec").exit, 0);
}

// One text, however it is given.
TEST_F(Inspect, AStringAFileAndTheStandardInputAreOneText) {
    const std::string text = "to be or not to be, that is the question";
    std::ofstream(place("text")) << text;
    const std::string length = " --length 8 --json";
    const Outcome file = run_program("inspect --text '" + place("text") + "'" + length);
    ASSERT_EQ(file.exit, 0) << file.err;
    EXPECT_EQ(parse_json(file.out, "out").at("tokens"), 40);
    EXPECT_EQ(run_program("inspect --string '" + text + "'" + length).out, file.out);
    EXPECT_EQ(run_program("inspect --text -" + length, "printf '%s' '" + text + "' |").out, file.out);
    // Each of two models has all of it.
    const Outcome both =
        run_program("inspect builtin:peri-ln builtin:pre-ln --text -" + length, "printf '%s' '" + text + "' |");
    ASSERT_EQ(both.exit, 0) << both.err;
    const Json models = parse_json(both.out, "out").at("models");
    EXPECT_EQ(models[0], parse_json(file.out, "out"));
    EXPECT_EQ(models[1].at("tokens"), 40);
}

// config.toml has it as it was read; as it was typed it would be no TOML.
TEST_F(Inspect, ATextThatIsNotUtf8CanBeTakenUpAndHasItsPage) {
    const std::string string = " --no-gradient --string \"$(printf 'to be \\377 or not to be')\"";
    const Outcome first = run_program("inspect" + string + " --out '" + place("run") + "'");
    ASSERT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(first.err, "flyball: note: the text is not UTF-8 in 1 places, read as U+FFFD\n");
    EXPECT_TRUE(std::filesystem::exists(place("run") + "/report.html"));
    for (const std::string& flags : {" --config '" + place("run") + "/config.toml'", string}) {
        const Outcome again = run_program("inspect" + flags + " --resume --out '" + place("run") + "'");
        EXPECT_EQ(again.exit, 0) << again.err;
        EXPECT_NE(again.out.find("is complete"), std::string::npos) << again.out;
    }
    // A name of a file cannot be read as another one.
    const Outcome file = run_program("inspect --text \"$name\" --out '" + place("other") + "'",
                                     "name=\"$(printf '" + place("t") + "\\377')\"; echo to be or not >\"$name\";");
    EXPECT_EQ(file.exit, 2) << file.out;
    EXPECT_NE(file.err.find("which is not UTF-8"), std::string::npos) << file.err;
    EXPECT_FALSE(std::filesystem::exists(place("other")));
}

// Rows in place of tokens: what flows is the same, and nothing that needs to know the tokens is there.
TEST_F(Inspect, EmbeddingsTakeThePlaceOfTokens) {
    const std::string model = "'" + std::string(flyball::test::source_folder) + "/tests/model/golden/llama-gqa'";
    const std::string rows = place("rows.safetensors");
    const std::string hidden = place("hidden.safetensors");
    ASSERT_EQ(run_program("forward " + model + " --ids 3,1,4,1,5 --what hidden.0 --save '" + hidden + "'").exit, 0);
    const std::vector<float> x0 = SafeTensors::open(hidden).read<float>("hidden.0");
    write_safetensors(rows, std::vector{tensor("embeddings", {5, x0.size() / 5}, x0)});
    const Json of_ids = json_of(model + " --ids 3,1,4,1,5");
    const Json of_rows = json_of(model + " --embeddings '" + rows + "'");
    EXPECT_EQ(of_rows.at("tokens"), 5);
    EXPECT_EQ(of_rows.at("sequences"), 1);
    EXPECT_TRUE(of_rows.at("loss").is_null());
    EXPECT_TRUE(of_rows.at("layers")[0].at("gradient").is_null());
    for (const char* const field : {"norm", "cosine", "attention_norm", "ffn_ratio", "angular_distance", "entropy"}) {
        for (std::size_t l = 0; l < of_ids.at("layers").size(); ++l) {
            EXPECT_EQ(of_rows.at("layers")[l].at(field), of_ids.at("layers")[l].at(field)) << field << " " << l;
        }
    }
    const Json first = json_of(model + " --embeddings '" + rows + "' --length 3");
    EXPECT_EQ(first.at("tokens"), 3);
    const Outcome none = run_program("inspect " + model + " --embeddings '" + place("nothing") + "'");
    EXPECT_EQ(none.exit, 2);
    EXPECT_NE(none.err.find("nothing"), std::string::npos) << none.err;
}

TEST_F(Inspect, RefusesWhatMakesNoSenseAndWritesNothing) {
    std::ofstream(place("empty")) << "";
    const auto refused = [&](const std::string& arguments, const std::string& part) {
        const Outcome outcome = run_program("inspect " + arguments + out());
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << ": " << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(place("run"))) << arguments;
    };
    refused("no-such-model", "'no-such-model'");
    refused("builtin:pre-ln no-such-model" + quick, "'no-such-model'");
    refused("--length 1", "a whole number, 2 or more");
    refused("--length 9999", "from 1 to 256");
    refused("--sequences 0", "a whole number, 1 or more");
    refused("--text '" + place("empty") + "'", "a text of 0 tokens");
    refused("--ids 10", "a text of 1 token,");
    refused("--ids 1,2,3 --text x", "one of them");
    refused("--ids 1,256", "from 0 to 255");
    refused("--ids 1,-2", "whole numbers");
    refused("--ids ''", "--ids '', expected token ids");
    refused("--text ''", "--text '', expected the name of a file");
    refused("--embeddings ''", "--embeddings '', expected the name of a file");
    refused("--string ''", "a text of 0 tokens");
    refused("--text '" + place("nothing") + "'", "a readable file");
    refused("--text '" + place("") + "'", "a readable file");
    std::filesystem::create_directories(place("run"));
    std::ofstream(place("run") + "/mine") << "keep";
    const Outcome outcome = run_program("inspect" + quick + out());
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("which holds files that are not of flyball"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("--force"), std::string::npos) << outcome.err;
    EXPECT_EQ(contents("mine"), "keep");
    EXPECT_FALSE(std::filesystem::exists(place("run") + "/config.toml"));
}

}  // namespace
}  // namespace flyball::cli::test::inspect_test
