// What the program says of results that it finds stored: values that no run would give, put into the files by hand,
// come out again as they are.
#include "stored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "program.hpp"

namespace flyball::cli::test::stored_runs_test {
namespace {

// A claim that is recorded as one that holds (docs/claims.md), in a run that goes on after it.
class StoredClaim : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(run_program(flags_).exit, 0);
        identity_ = identity_in(folder_);
    }

    Outcome resumed(const Json& changes, const std::string& more = "") const {
        Json body = {{"predicted", "the prediction"},
                     {"measured", "the measurement"},
                     {"tolerance", "the tolerance"},
                     {"verdict", "holds"},
                     {"note", "the note"},
                     {"pictures", Json::array()},
                     {"seconds", 1}};
        body.update(changes);
        store_claim(folder_, identity_, id, body);
        return run_program(flags_ + " --resume" + more);
    }

    // What stands behind a label of the claim, to the end of the line.
    static std::string behind(const std::string& label, const std::string& out) {
        const std::size_t at = out.find("\n  " + label + " ");
        if (at == std::string::npos) {
            return "no " + label + " in\n" + out;
        }
        const std::size_t begin = out.find_first_not_of(' ', at + 3 + label.size());
        return out.substr(begin, out.find('\n', begin) - begin);
    }

    static constexpr const char* id = "dynamics-table-peri-ln";
    ReproduceFolder folder_;
    std::string flags_ = std::string("reproduce --quick --only ") + id + " --out '" + folder_.path() + "'";
    record::Identity identity_;
};

TEST_F(StoredClaim, KeepsWhatWasPredictedMeasuredAndTolerated) {
    const std::string text = resumed(Json::object()).out;
    EXPECT_EQ(behind("predicted", text), "the prediction");
    EXPECT_EQ(behind("measured", text), "the measurement");
    EXPECT_EQ(behind("tolerance", text), "the tolerance");
    const Json claim = parse_json(resumed(Json::object(), " --json").out, "json")["claims"][0];
    EXPECT_EQ(claim["predicted"], "the prediction");
    EXPECT_EQ(claim["measured"], "the measurement");
    EXPECT_EQ(claim["tolerance"], "the tolerance");
}

TEST_F(StoredClaim, TookTheSecondsThatAreStored) {
    EXPECT_EQ(behind("took", resumed({{"seconds", 75}}).out), "75.0 s");
    EXPECT_EQ(behind("took", resumed({{"seconds", 0.26}}).out), "0.3 s");
}

TEST_F(StoredClaim, NamesTheRecordedVerdictWhereItsOwnIsAnother) {
    const Outcome other = resumed({{"verdict", "fails"}});
    EXPECT_EQ(other.exit, 1);
    EXPECT_EQ(behind("verdict", other.out), "fails (recorded: holds)");
    const Outcome same = resumed({{"verdict", "holds"}});
    EXPECT_EQ(same.exit, 0) << same.err;
    EXPECT_EQ(behind("verdict", same.out), "holds");
}

// A finished run that does not say what came out of the claim has not borne it out.
TEST_F(StoredClaim, ThatIsMissingFromAFinishedRunIsABadVerdict) {
    const Outcome there = run_program(flags_ + " --resume");
    EXPECT_EQ(there.exit, 0) << there.err;
    replace_result(folder_.path(), "claims.json", R"({"claims": []})");
    const Outcome missing = run_program(flags_ + " --resume");
    EXPECT_EQ(missing.exit, 1) << missing.err;
}

// Figures are no part of the settings: who goes on with a run may ask for others. Those of a claim that is stored stay
// as they are.
TEST(StoredFigures, OfAClaimAreThoseThatItsRunHasDrawn) {
    const ReproduceFolder folder;
    const std::string claim = "dynamics-pre-peri-curve";
    const std::string picture = "dynamics-gamma-radius";
    const std::string flags = "reproduce --quick --only " + claim + " --out '" + folder.path() + "'";
    ASSERT_EQ(run_program(flags).exit, 0);
    const record::Identity identity = identity_in(folder);
    const auto listed = [&](const std::vector<std::string>& formats, const std::string& more) {
        store_claim(folder, identity, claim,
                    {{"predicted", 1},
                     {"measured", 1},
                     {"tolerance", 0},
                     {"verdict", "holds"},
                     {"note", ""},
                     {"pictures", Json::array({picture})},
                     {"formats", formats},
                     {"seconds", 1}});
        const Outcome resumed = run_program(flags + " --resume" + more);
        EXPECT_EQ(resumed.exit, 0) << resumed.err;
        const Json files = parse_json(read_text_file(folder / "provenance.json", 1 << 20), "provenance.json")["files"];
        std::vector<std::string> endings;
        for (const char* ending : {".svg", ".pdf", ".png", ".csv"}) {
            if (files.contains(picture + ending)) {
                endings.emplace_back(ending);
            }
        }
        return endings;
    };
    EXPECT_EQ(listed({"svg"}, " --figure-format pdf"), (std::vector<std::string>{".svg", ".csv"}));
    write_file_atomically(folder / (picture + ".pdf"), "drawn by the call before");
    EXPECT_EQ(listed({"svg", "pdf"}, ""), (std::vector<std::string>{".svg", ".pdf", ".csv"}));
}

// Groups of three digits from the right, by hand; none in front of the first.
TEST(StoredTraining, SpeedsHaveACommaBetweenThousandsAndNoneBeforeThem) {
    const ReproduceFolder folder;
    std::filesystem::create_directories(folder.path());
    std::ofstream text(folder / "text");
    for (int i = 0; i < 60; ++i) {
        text << "to be or not to be, that is the question; ";
    }
    text.close();
    const std::string flags = "train pre-ln --data '" + (folder / "text") +
                              "' --layers 1 --dim 8 --heads 2 --context 8 --batch 2 --steps 1 --out '" +
                              (folder / "run") + "'";
    ASSERT_EQ(run_program(flags).exit, 0);
    Json summary = parse_json(read_text_file(folder / "run/summary.json", 1 << 20), "summary.json");
    for (const auto& [speed, shown] : std::vector<std::pair<double, std::string>>{
             {7, "7"}, {987, "987"}, {1234, "1,234"}, {654321, "654,321"}, {87654321, "87,654,321"}}) {
        summary["tokens_per_second"] = speed;
        replace_result(folder / "run", "summary.json", dump_json(summary));
        const Outcome again = run_program(flags + " --resume");
        ASSERT_EQ(again.exit, 0) << again.err;
        std::vector<std::string> row;  // run ... tokens/s outcome
        std::istringstream lines(again.out);
        for (std::string line; row.empty() && std::getline(lines, line);) {
            if (line.starts_with("pre-ln-1 ")) {
                std::istringstream words(line);
                for (std::string word; words >> word;) {
                    row.push_back(word);
                }
            }
        }
        ASSERT_GT(row.size(), 2U) << again.out;
        EXPECT_EQ(row[row.size() - 2], shown) << again.out;
    }
}

}  // namespace
}  // namespace flyball::cli::test::stored_runs_test
