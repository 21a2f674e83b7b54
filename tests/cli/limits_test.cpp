// `flyball limits` as a user runs it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <regex>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "program.hpp"

namespace flyball::cli::test::limits_test {
namespace {

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

TEST(Limits, JsonFollowsTheContract) {
    const Outcome outcome = run_program("limits builtin:pre-ln --lengths 32,64 --top 1,5 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("model").at("family"), "gpt2");
    ASSERT_EQ(json.at("distance_by_length").size(), 2U);
    for (const char* key : {"length", "n", "true", "expected", "expected_rms", "bound"}) {
        EXPECT_TRUE(json.at("distance_by_length")[0].contains(key)) << key;
        EXPECT_TRUE(json.at("distance_by_n")[0].contains(key)) << key;
    }
    EXPECT_EQ(json.at("distance_by_n").size(), 2U);
    ASSERT_EQ(json.at("critical_n").size(), 2U);
    for (const char* key : {"length", "n", "fraction", "ks", "p"}) {
        EXPECT_TRUE(json.at("critical_n")[0].contains(key)) << key;
    }
    for (const char* key : {"n", "ratio", "lower", "upper"}) {
        EXPECT_TRUE(json.at("separation")[0].contains(key)) << key;
    }
    for (const char* key : {"temperature", "eps", "max", "bound", "bound_paper"}) {
        EXPECT_TRUE(json.at("sensitivity")[0].contains(key)) << key;
    }
    EXPECT_EQ(json.at("heads").size(), 72U);
    EXPECT_EQ(json.at("heads")[7].at("layer"), 1);
    EXPECT_EQ(json.at("heads")[7].at("head"), 1);
    EXPECT_EQ(json.at("summary").size(), 5U);
}

TEST(Limits, TheSummaryFitsATerminal) {
    const Outcome outcome = run_program("limits --lengths 32 --attention softmax,sparsemax,ssmax,sigmoid");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    std::size_t lines = 0;
    std::size_t column = 0;
    for (const char c : outcome.out) {
        column = c == '\n' ? 0 : column + 1;
        lines += c == '\n' ? 1 : 0;
        ASSERT_LE(column, 80U) << outcome.out;
    }
    EXPECT_LE(lines, 24U) << outcome.out;
    EXPECT_NE(outcome.out.find("sparsemax"), std::string::npos);
}

TEST(Limits, WritesTablesAndFigures) {
    const std::string folder = temporary("limits");
    const Outcome outcome = run_program("limits --lengths 16,32 --out '" + folder + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    for (const char* name : {"config.toml", "limits.json", "heads.csv", "ks.csv", "ks-curves.svg",
                             "distance-length.svg", "distance-n.svg", "critical-n.svg", "separation.svg",
                             "sensitivity.svg", "map-entropy.svg", "map-sink.csv", "provenance.json"}) {
        EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
    }
    std::ostringstream heads;  // the table, not a figure's
    heads << std::ifstream(folder + "/heads.csv").rdbuf();
    EXPECT_EQ(heads.str().rfind("attention,layer,head,", 0), 0U);
    EXPECT_EQ(run_program("limits --lengths 16,32 --out '" + folder + "'").exit, 2);
    const Outcome again = run_program("limits --config '" + folder + "/config.toml' --out '" + folder + "' --resume");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_NE(again.out.find("complete"), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(Limits, AFinishedFolderOfAnotherTextIsNotTakenForThisOne) {
    const std::string folder = temporary("limits-again");
    const std::string text = temporary("limits-again.txt");
    const std::string call = "limits --lengths 16 --text '" + text + "' --out '" + folder + "'";
    std::ofstream(text) << "to be or not to be, that is the question";
    ASSERT_EQ(run_program(call).exit, 0);
    EXPECT_EQ(run_program(call + " --resume").exit, 0);
    std::ofstream(text) << "To be or not to be, that is the question";
    const Outcome other = run_program(call + " --resume");
    EXPECT_EQ(other.exit, 2);
    EXPECT_NE(other.err.find("a finished run with other input of model 1"), std::string::npos) << other.err;
    std::filesystem::remove_all(folder);
    std::filesystem::remove(text);
}

// The bound that is drawn is a mean over heads, and heads lie above it: the caption says so where there is a bound.
TEST(Limits, FiguresSayThatTheBoundShownIsAMean) {
    const std::string folder = temporary("limits-captions");
    const Outcome outcome = run_program("limits --lengths 16,32 --attention softmax,sa-softmax --out '" + folder + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const auto text = [&](const std::string& name) {
        std::ostringstream all;
        all << std::ifstream(folder + "/" + name).rdbuf();
        return all.str();
    };
    const Json json = parse_json(text("limits.json"), "limits.json");
    std::size_t above = 0;
    const double mean = json.at("distance_by_length")[1].at("bound").get<double>();
    for (const Json& head : json.at("heads")) {
        const Json& row = head.at("distance_by_length")[1];
        EXPECT_LE(row.at("true").get<double>(), row.at("bound").get<double>());
        above += row.at("true").get<double>() > mean ? 1 : 0;
    }
    EXPECT_GT(above, 0U);
    for (const char* name : {"distance-length", "distance-n", "distance-heads"}) {
        // A caption takes several lines; this word is in the sentence alone.
        EXPECT_NE(text(std::string(name) + "-softmax.svg").find("below"), std::string::npos);
        EXPECT_EQ(text(std::string(name) + "-sa-softmax.svg").find("below"), std::string::npos);
    }
    // Weights of sa-softmax may exceed 1, and the axis goes on.
    double most = 0;
    for (const Json& head : json.at("alternatives")[0].at("heads")) {
        most = std::max(most, head.at("peak").get<double>());
    }
    EXPECT_GT(most, 1);
    EXPECT_TRUE(std::regex_search(text("measures-sa-softmax.svg"), std::regex(">1[.][2-9]<"))) << most;
    std::filesystem::remove_all(folder);
}

TEST(Limits, ShowsOneRow) {
    const Outcome text = run_program("limits --head 3.2 --row 40");
    ASSERT_EQ(text.exit, 0) << text.err;
    EXPECT_NE(text.out.find("block 3, head 2, token 40: 41 keys"), std::string::npos) << text.out;
    const Outcome outcome = run_program("limits --head 3.2 --row 40 --json");
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("weights").size(), 41U);
    double sum = 0;
    for (const Json& weight : json.at("weights")) {
        sum += weight.get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-12);
}

// A row has no files: who asks for a folder is told so and does not look for it in vain.
TEST(Limits, AFolderForOneRowIsRefused) {
    const std::string folder = temporary("limits-row");
    const Outcome outcome = run_program("limits --head 3.2 --row 40 --out '" + folder + "'");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("got --out with --row, expected one of them"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder));
}

// Without it the configuration would run on another text.
TEST(Limits, TheConfigurationHasTheGivenString) {
    const std::string folder = temporary("limits-string");
    const Outcome outcome = run_program("limits --lengths 3 --string 'to be or not to be' --out '" + folder + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    std::ostringstream text;
    text << std::ifstream(folder + "/config.toml").rdbuf();
    EXPECT_NE(text.str().find("\nstring = \"to be or not to be\"\n"), std::string::npos) << text.str();
    std::filesystem::remove_all(folder);
}

// The words of each line.
std::vector<std::vector<std::string>> words_of(const std::string& text) {
    std::istringstream lines(text);
    std::vector<std::vector<std::string>> all;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        all.emplace_back();
        for (std::string word; words >> word;) {
            all.back().push_back(word);
        }
    }
    return all;
}

TEST(Limits, TheTablesOfOneRowAreItsNumbers) {
    const std::string call = "limits --head 3.2 --row 40 --top 1,5,20";
    const Outcome text = run_program(call);
    const Json json = parse_json(run_program(call + " --json").out, "out");
    const auto shown = [](const Json& value) {
        std::string text = value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : std::string("-");
        const std::size_t zero = text.find("e-0");  // people write 1.5e-9
        return zero == std::string::npos ? text : text.erase(zero + 2, 1);
    };
    const auto lines = words_of(text.out);
    const auto expect_line = [&](const std::vector<std::string>& words) {
        EXPECT_NE(std::find(lines.begin(), lines.end(), words), lines.end())
            << fmt::format("{}", fmt::join(words, " ")) << "\n"
            << text.out;
    };
    const auto expect_table = [&](const char* table, const std::vector<const char*>& fields) {
        EXPECT_GE(json.at(table).size(), 2U) << table;
        for (const Json& row : json.at(table)) {
            std::vector<std::string> words;
            for (const char* field : fields) {
                words.push_back(shown(row.at(field)));
            }
            expect_line(words);
        }
    };
    expect_line({"N", "weight", "|s|", "distance", "expected", "rms", "bound"});
    expect_table("distance", {"n", "mass", "selected", "true", "expected", "expected_rms", "bound"});
    expect_line({"N", "Ns/N", "r", "lower", "upper", "exact", "lower", "exact", "upper"});
    expect_table("separation", {"n", "ratio", "r", "lower", "upper", "lower_exact", "upper_exact"});
    // The ten heaviest keys, the heaviest first; in between stands the token, which may be several words.
    const auto weights = json.at("weights").get<std::vector<double>>();
    std::vector<std::size_t> order(weights.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    for (std::size_t i = 0; i < 10; ++i) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::vector<std::string>& words) {
            return words.size() >= 4 && words[0] == std::to_string(i + 1) && words[1] == std::to_string(order[i]) &&
                   words[words.size() - 2] == shown(json.at("logits")[order[i]]) &&
                   words.back() == shown(json.at("weights")[order[i]]);
        });
        EXPECT_NE(found, lines.end()) << i << "\n" << text.out;
    }
    const Json& jacobian = json.at("jacobian");
    const double T = jacobian.at("temperature").get<double>();
    EXPECT_NE(text.out.find(fmt::format("spectral {}, infinity {}, infinity to one {} to {}; bound 1/(2T) {:.6g}",
                                        shown(jacobian.at("spectral")), shown(jacobian.at("infinity")),
                                        shown(jacobian.at("infinity_to_one").at("lower")),
                                        shown(jacobian.at("infinity_to_one").at("upper")), 1 / (2 * T))),
              std::string::npos)
        << text.out;
    std::map<double, std::map<double, std::string>> sensitivity;  // by temperature and step
    for (const Json& row : json.at("sensitivity")) {
        sensitivity[row.at("temperature").get<double>()][row.at("eps").get<double>()] = shown(row.at("g"));
    }
    for (const auto& [temperature, by_step] : sensitivity) {
        expect_line({fmt::format("{:.6g}", temperature), by_step.at(0.001), by_step.at(0.1), by_step.at(10)});
    }
}

TEST(Limits, RefusesWhatMakesNoSense) {
    const auto refused = [](const std::string& arguments, const char* part) {
        const Outcome outcome = run_program("limits " + arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    };
    refused("--lengths 512", "at most the 256 tokens");
    refused("--lengths 2", "whole numbers, 3 or more");
    refused("--top 0", "whole numbers, 1 or more");
    refused("--head 3.2", "--row");
    refused("--row 3", "--head");
    refused("--head 12.0 --row 40", "a block from 0 to 11");
    refused("--head 3 --row 40", "with a dot between them");
    refused("--attention sotfmax", "softmax");
    refused("--attention softmax:0", "above 0");
    refused("--alpha 2", "between 0 and 1");
    refused("--ids 1,2", "at least 3");
    refused("--ids 1,2,3 --text x", "one of them");
    refused("--ids 1,2,3,99999 --vectors embedding", "the token id 99999");
    refused("--embeddings /nowhere", "/nowhere");
}

// The embedding of a text in place of the text: to the bit, since nothing else reads the tokens.
TEST(Limits, EmbeddingsTakeThePlaceOfAText) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-limits-rows-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string ids = " --ids 10,20,30,40,50,60,70,80,90,100,110,111";
    const std::string saved = (folder / "saved.safetensors").string();
    const std::string rows = (folder / "rows.safetensors").string();
    ASSERT_EQ(run_program("forward builtin:pre-ln --what hidden --save '" + saved + "'" + ids).exit, 0);
    const SafeTensors file = SafeTensors::open(saved);
    const std::vector<float> x0 = file.read<float>("hidden.0");
    write_safetensors(rows, std::vector{tensor("embeddings", file.info("hidden.0").shape, x0)});
    const Outcome of_ids = run_program("limits --json" + ids);
    const Outcome of_rows = run_program("limits --json --embeddings '" + rows + "'");
    EXPECT_EQ(of_rows.exit, 0) << of_rows.err;
    EXPECT_EQ(of_rows.out, of_ids.out);
    EXPECT_EQ(run_program("limits --vectors embedding --embeddings '" + rows + "'").exit, 0);
    std::filesystem::remove_all(folder);
}

TEST(Limits, AShortTextIsAnalysedAsFarAsItGoes) {
    const Outcome outcome = run_program("limits --ids 10,20,30,40,50,60,70,80 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("tokens"), 8);
    EXPECT_EQ(json.at("distance_by_length")[0].at("length"), 8);
    EXPECT_NE(outcome.err.find("8 tokens"), std::string::npos) << outcome.err;
    EXPECT_EQ(json.at("summary")[3].get<std::string>().rfind("Of its 5 heaviest keys", 0), 0U) << json.at("summary")[3];
    const Outcome text = run_program("limits --ids 10,20,30,40,50,60,70,80 --attention softmax,sparsemax");
    EXPECT_NE(text.out.find("Ns/N@5 "), std::string::npos) << text.out;
}

}  // namespace
}  // namespace flyball::cli::test::limits_test
