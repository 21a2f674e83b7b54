// `flyball reproduce` as a user meets it: the contract, files, resuming, wrong input, and the quick ledger as a whole.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <regex>
#include <set>

#include "claims/groups.hpp"
#include "claims/shown.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"
#include "sanitized.hpp"
#include "stored.hpp"

namespace flyball::cli::test {
namespace {

const std::string fast = "reproduce dynamics --quick --only dynamics-table-peri-ln";

TEST(Reproduce, TellsEverythingAboutOneClaim) {
    const Outcome outcome = run_program(fast);
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    for (const char* part : {"dynamics-table-peri-ln", "Table 2", "predicted", "measured", "tolerance", "holds", "note",
                             "1 claim: 1 hold; all as recorded"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
    }
}

TEST(Reproduce, ShowsWhatWasPredictedAndWhatWasMeasured) {
    const std::string claim = "reproduce dynamics --quick --only dynamics-variance-ngpt-printed";
    const Outcome text = run_program(claim);
    const Outcome json = run_program(claim + " --json");
    ASSERT_EQ(json.exit, 0) << json.err;
    const Json row = parse_json(json.out, "json")["claims"][0];
    const auto shown = [&](const std::string& label) {
        const std::size_t at = text.out.find("\n  " + label);
        return at == std::string::npos ? std::nan("") : std::stod(text.out.substr(at + 3 + label.size()));
    };
    EXPECT_NEAR(shown("predicted"), row["predicted"].get<double>(), 1e-3) << text.out;
    EXPECT_NEAR(shown("measured"), row["measured"].get<double>(), 1e-3) << text.out;
    EXPECT_GT(std::abs(shown("measured") - shown("predicted")), 0.1) << "a claim that fails";
}

TEST(Reproduce, JsonFollowsTheContract) {
    const Outcome outcome = run_program(fast + " --only dynamics-variance-ngpt-printed --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    ASSERT_EQ(document["claims"].size(), 2U);
    for (const Json& claim : document["claims"]) {
        for (const char* key : {"id", "statement", "source", "verdict", "note", "expected_verdict"}) {
            EXPECT_TRUE(claim.at(key).is_string()) << key;
        }
        for (const char* key : {"predicted", "measured", "tolerance"}) {
            EXPECT_TRUE(claim.at(key).is_string() || claim.at(key).is_number()) << key;
        }
    }
    EXPECT_EQ(document["claims"][0]["verdict"], "holds");
    EXPECT_EQ(document["claims"][1]["verdict"], "fails");
    EXPECT_EQ(document["claims"][1]["predicted"], -2.0);
}

TEST(Reproduce, ListsAndDescribesTheLedgerWithoutRunningIt) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome list = run_program("reproduce --list");
    EXPECT_EQ(list.exit, 0);
    for (const claims::Claim& claim : claims::ledger()) {
        EXPECT_NE(list.out.find(claim.id + " "), std::string::npos) << claim.id;
    }
    const Outcome help = run_program("reproduce --help");
    EXPECT_EQ(help.exit, 0);
    EXPECT_NE(help.out.find("example"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Reproduce, TheListIsADocumentForPrograms) {
    const Outcome list = run_program("reproduce stability --list --json");
    EXPECT_EQ(list.exit, 0) << list.err;
    const Json rows = Json::parse(list.out).at("claims");
    const std::vector<claims::Claim> ledger = claims::ledger("stability");
    ASSERT_EQ(rows.size(), ledger.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].at("id"), ledger[i].id);
        EXPECT_EQ(rows[i].at("statement"), ledger[i].statement);
        EXPECT_EQ(rows[i].at("source"), ledger[i].source);
        EXPECT_EQ(rows[i].at("expected_verdict"), claims::name(ledger[i].expected));
    }
}

TEST(Reproduce, PageInDocsIsNotStale) {
    const Outcome outcome = run_program("reproduce --markdown");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, read_text_file(std::string(flyball::test::source_folder) + "/docs/claims.md", 1 << 20))
        << "run ./flyball reproduce --markdown > docs/claims.md";
}

TEST(Reproduce, WritesItsFilesAndRefusesAFolderThatIsNotEmpty) {
    const ReproduceFolder folder;
    const std::string flags = "reproduce --quick --only dynamics-pre-peri-curve --out " + folder.path();
    EXPECT_EQ(run_program(flags).exit, 0);
    for (const char* name : {"config.toml", "provenance.json", "claims.json", "claims.md", "claims.csv",
                             "dynamics-gamma-radius.svg", "dynamics-gamma-radius.csv"}) {
        EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "work"));
    // Every file but the list itself, and the page that is made from all of them, is on the list.
    const Json listed = parse_json(read_text_file(folder / "provenance.json", 1 << 20), "provenance.json")["files"];
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        const std::string name = entry.path().filename().string();
        EXPECT_EQ(listed.contains(name), name != "provenance.json" && name != "report.html") << name;
    }
    EXPECT_NE(read_text_file(folder / "claims.md", 1 << 20).find("dynamics-gamma-radius.svg"), std::string::npos);
    // Six lines of six colours, and where two are one, both are seen.
    const std::string svg = read_text_file(folder / "dynamics-gamma-radius.svg", 1 << 20);
    std::set<std::string> colours;
    const std::regex line("<g stroke=\"(#[0-9a-f]+)\" fill=\"none\" stroke-linejoin");
    for (std::sregex_iterator it(svg.begin(), svg.end(), line), stop; it != stop; ++it) {
        colours.insert((*it)[1]);
    }
    EXPECT_EQ(colours.size(), 6U);
    EXPECT_NE(svg.find("class=\"strand\""), std::string::npos);
    EXPECT_NE(svg.find("β = 4"), std::string::npos);
    EXPECT_EQ(svg.find("beta"), std::string::npos);
    const Outcome again = run_program(flags);
    EXPECT_EQ(again.exit, 2);
    EXPECT_NE(again.err.find("not empty"), std::string::npos) << again.err;
    EXPECT_EQ(run_program(flags + " --force").exit, 0);
}

TEST(Reproduce, AResumedRunSkipsWhatIsStored) {
    const ReproduceFolder folder;
    const std::string flags = fast + " --only dynamics-variance-post-ln --json --out " + folder.path();
    const Outcome whole = run_program(flags);
    ASSERT_EQ(whole.exit, 0) << whole.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "report.html")) << "the page does not depend on what is printed";
    // As if killed after the first claim, which left a measurement no experiment would give.
    const Json claim = parse_json(whole.out, "json")["claims"][0];
    const record::Identity identity = identity_in(folder);
    const auto put_back = [&](const Json& body) { store_claim(folder, identity, "dynamics-table-peri-ln", body); };
    Json stored = {{"predicted", claim["predicted"]},
                   {"measured", "kept from before"},
                   {"tolerance", claim["tolerance"]},
                   {"verdict", "holds"},
                   {"note", "stored"},
                   {"pictures", Json::array()},
                   {"seconds", 1.5}};
    put_back(stored);
    const Outcome resumed = run_program(flags + " --resume");
    ASSERT_EQ(resumed.exit, 0) << resumed.err;
    const Json claims = parse_json(resumed.out, "json")["claims"];
    EXPECT_EQ(claims[0]["measured"], "kept from before");
    EXPECT_EQ(claims[1]["measured"], parse_json(whole.out, "json")["claims"][1]["measured"]);
    // A stored verdict that is not the recorded one still counts.
    stored["verdict"] = "fails";
    put_back(stored);
    const Outcome bad = run_program(flags + " --resume");
    EXPECT_EQ(bad.exit, 1);
    EXPECT_NE(bad.err.find("dynamics-table-peri-ln is recorded as holds and came out as fails"), std::string::npos);
    const Outcome finished = run_program(flags + " --resume");
    EXPECT_EQ(finished.exit, 1) << "a finished run keeps its verdict";
    // One that was skipped says nothing against the record.
    Json skipped = stored;
    skipped["verdict"] = "skipped";
    skipped["predicted"] = skipped["measured"] = skipped["tolerance"] = nullptr;
    skipped["note"] = "needs the moon, which is not here: wait";
    put_back(skipped);
    const Outcome without = run_program(flags + " --resume");
    EXPECT_EQ(without.exit, 0) << without.err;
    EXPECT_EQ(without.err, "");
    EXPECT_EQ(parse_json(without.out, "json")["claims"][0]["verdict"], "skipped");
    EXPECT_TRUE(parse_json(without.out, "json")["claims"][0]["measured"].is_null());
    EXPECT_NE(read_text_file(folder / "claims.md", 1 << 20).find("dynamics-table-peri-ln (needs the moon"),
              std::string::npos);
    EXPECT_EQ(run_program(flags + " --resume").exit, 0) << "nor does it when the run is complete";
    put_back(stored);
    std::string damaged = read_text_file(folder / "work/dynamics-table-peri-ln.json", 1 << 20);
    damaged.replace(damaged.find("fails"), 5, "holds");
    write_file_atomically(folder / "work/dynamics-table-peri-ln.json", damaged);
    const Outcome refused = run_program(flags + " --resume");
    EXPECT_EQ(refused.exit, 2);
    EXPECT_NE(refused.err.find("checksum"), std::string::npos) << refused.err;
    const Outcome other = run_program(flags + " --seed 2 --resume");
    EXPECT_EQ(other.exit, 2);
    EXPECT_NE(other.err.find("other settings"), std::string::npos) << other.err;
}

// The recorded verdicts are those of the shipped model on its own text (claims/claim.hpp). One letter again and again
// is a text on which this claim fails; that says nothing against the record.
// The claim itself needs neither: what counts is what the run was told to read.
TEST(Reproduce, AFolderOfAnotherTextOrModelIsNotTakenUp) {
    const std::filesystem::path place =
        std::filesystem::temp_directory_path() / ("flyball-reproduce-inputs-" + std::to_string(getpid()));
    std::filesystem::remove_all(place);
    std::filesystem::create_directories(place);
    std::filesystem::copy(std::string(flyball::test::source_folder) + "/tests/model/golden/llama-gqa", place / "model");
    write_file_atomically(place / "text", "to be or not to be");
    const std::string at = " '" + place.string() + "/";
    const std::string flags = fast + " --model" + at + "model' --text" + at + "text' --out" + at + "run'";
    const Outcome first = run_program(flags);
    ASSERT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(run_program(flags + " --resume").exit, 0);

    write_file_atomically(place / "text", "to be or not to do");
    const Outcome text = run_program(flags + " --resume");
    EXPECT_EQ(text.exit, 2) << text.out;
    EXPECT_NE(text.err.find("a finished run with other contents of the text"), std::string::npos) << text.err;
    write_file_atomically(place / "text", "to be or not to be");
    EXPECT_EQ(run_program(flags + " --resume").exit, 0);

    const std::filesystem::path configuration = place / "model/config.json";
    write_file_atomically(configuration, read_text_file(configuration, 1 << 20) + "\n");
    const Outcome model = run_program(flags + " --resume");
    EXPECT_EQ(model.exit, 2) << model.out;
    EXPECT_NE(model.err.find("other contents of the model"), std::string::npos) << model.err;
    std::filesystem::remove_all(place);
}

TEST(Reproduce, AnyVerdictIsGoodOnATextOfTheUsersOwn) {
    const ReproduceFolder folder;
    std::filesystem::create_directories(folder.path());
    write_file_atomically(folder / "text", std::string(200, 'a'));
    const Outcome outcome = run_program("reproduce limits --quick --only limits-separation-plateau --json --text '" +
                                        (folder / "text") + "'");
    const Json claim = parse_json(outcome.out, "json")["claims"][0];
    ASSERT_EQ(claim["expected_verdict"], "holds");
    ASSERT_EQ(claim["verdict"], "fails") << "another text is needed here";
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
}

// Spaces between its values are as good as claims.
TEST(Reproduce, AFinishedRunOfManyClaimsIsRead) {
    const ReproduceFolder folder;
    const std::string flags = fast + " --json --quiet --out " + folder.path();
    ASSERT_EQ(run_program(flags).exit, 0);
    const std::string claims = read_text_file(folder / "claims.json", 1 << 20);
    replace_result(folder.path(), "claims.json", claims + std::string(20'000'000, ' '));
    const Outcome again = run_program(flags + " --resume");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(again.err, "");
}

// The same table, whether a letter takes one byte or two: of a run of four claims, all of which were stored before.
TEST(Reproduce, LongValuesAreCutBetweenLetters) {
    const ReproduceFolder folder;
    const std::vector<std::string> ids = {"dynamics-table-peri-ln", "dynamics-table-pre-ln", "dynamics-table-post-ln",
                                          "dynamics-table-ngpt"};
    std::string flags = "reproduce --quick --quiet --out " + folder.path();
    for (const std::string& id : ids) {
        flags += " --only " + id;
    }
    ASSERT_NE(run_program(flags).exit, 2);
    const record::Identity identity = identity_in(folder);
    const auto table = [&](const std::string& letter) {
        std::string value;
        for (int i = 0; i < 100; ++i) {
            value += letter;
        }
        const Json stored = {
            {"predicted", "x" + value},  {"measured", value}, {"tolerance", 0}, {"verdict", "holds"}, {"note", ""},
            {"pictures", Json::array()}, {"seconds", 1}};
        for (const std::string& id : ids) {
            store_claim(folder, identity, id, stored);
        }
        return run_program(flags + " --resume").out;
    };
    const std::string text = table("\u00e9");
    EXPECT_NE(text.find("\u00e9..."), std::string::npos) << text;
    EXPECT_EQ(std::regex_replace(text, std::regex("\u00e9"), "x"), table("x"));
}

TEST(Reproduce, AnInterruptTellsHowToGoOn) {
    const ReproduceFolder folder;
    // --foreground: one signal to the program. Without it timeout also signals its group, and a second signal ends the
    // program at once.
    const std::string slow =
        "reproduce --only dynamics-sync-post-ln --only dynamics-sync-ngpt --only dynamics-headline";
    const Outcome outcome = run_program(slow + " --out " + folder.path(), "timeout --foreground -s INT 2");
    EXPECT_EQ(outcome.exit, 124) << "timeout's own code";
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("--resume"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "claims.json"));
    EXPECT_TRUE(std::filesystem::exists(folder / "work"));
    const Outcome alone = run_program(slow, "timeout --foreground --preserve-status -s INT 1");
    EXPECT_EQ(alone.exit, 130);
    EXPECT_NE(alone.err.find("--out DIR"), std::string::npos) << alone.err;
}

// Two claims side by side, of which one takes minutes: the signal comes when the other one is stored.
TEST(Reproduce, WhatASignalEndsTellsHowManyOfAllClaimsAreDone) {
    const ReproduceFolder folder;
    const Outcome stopped = run_program(
        "reproduce --only dynamics-random-weights-late --only dynamics-initial-peri-ln --threads 2 --out '" +
        folder.path() + "' & p=$!; for i in $(seq 3000); do [ -e '" + (folder / "work/dynamics-initial-peri-ln.json") +
        "' ] && break; sleep 0.01; done; kill -TERM $p; wait $p");
    EXPECT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_NE(stopped.err.find("flyball: interrupted after 1 of 2 claims; go on with: "), std::string::npos)
        << stopped.err;
}

TEST(Reproduce, WrongInputOfEveryKindExitsTwoWithOneSentence) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"--only dynamics-table-periln", "did you mean dynamics-table-peri-ln?"},
        {"--only nonsense", "--list"},
        {"dynamix", "did you mean dynamics?"},
        {"--resume", "--out"},
        {"--out /dev/null", "which is a file"},
        {"--seed many", "--seed"},
        {"--quik", "did you mean --quick?"},
        {"--markdown --json", "--json and --markdown together"},
    };
    for (const auto& [flags, says] : cases) {
        const Outcome outcome = run_program("reproduce " + flags);
        EXPECT_EQ(outcome.exit, 2) << flags << outcome.err;
        EXPECT_EQ(outcome.out, "") << flags;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << flags << ": " << outcome.err;
    }
}

class QuickLedger : public testing::TestWithParam<std::string> {};

// Sanitizers slow the ledger down by an order of magnitude; its parts run under them in tests/claims.
TEST_P(QuickLedger, ComesOutAsRecorded) {
    if (sanitized) {
        GTEST_SKIP() << "release build only";
    }
    const ReproduceFolder folder;
    const Outcome outcome = run_program("reproduce " + GetParam() + " --quick --out '" + folder.path() + "'");
    EXPECT_EQ(outcome.exit, 0) << outcome.err << outcome.out;
    EXPECT_NE(outcome.out.find("; all as recorded"), std::string::npos) << outcome.out;
    const Json document = parse_json(read_text_file(folder / "claims.json", 1 << 20), "claims.json");
    claims::test::expect_that_claims_bear_out_what_they_say(document["claims"]);
}

// The third paper's is in tests/claims/quick_ledger_test.cpp, in one process with others that need its trained models.
std::vector<std::string> papers() {
    std::vector<std::string> names;
    for (const claims::Group& group : claims::groups()) {
        if (group.name != "stability") {
            names.push_back(group.name);
        }
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Reproduce, QuickLedger, testing::ValuesIn(papers()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace flyball::cli::test
