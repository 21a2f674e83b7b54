// Groups planted here instead of the ledger's: how claims are collected, run, skipped, and written.
#include "claims/judge.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "claims/documents.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"

namespace flyball::claims {
namespace {

Claim claim(const std::string& id, const std::string& source, Verdict expected = Verdict::holds,
            Verdict found = Verdict::holds) {
    Claim result;
    result.id = id;
    result.statement = "Statement of " + id + ".";
    result.source = source;
    result.expected = expected;
    result.note = expected == Verdict::holds ? "" : "what is true";
    result.experiment = [found](const Context& context) {
        return Measurement{context.predict("two", 2), 2.5, "0.6 of it", found, "as planted"};
    };
    return result;
}

Claim untested() {
    Claim result = claim("limits-proof", "Theorem 1", Verdict::not_tested);
    result.note = "a statement about all n, which no run decides";
    result.experiment = nullptr;
    return result;
}

Need missing() {
    return {"the checkpoint moon/base", "fetch it from the moon", [] { return false; }};
}
Need present() {
    return {"the text of the sea", "look out of the window", [] { return true; }};
}

TEST(Judge, TellsTheNoteOfTheClaimBeforeThatOfTheRun) {
    EXPECT_EQ(judge(claim("limits-a", "Theorem 1", Verdict::fails), {}).note(), "what is true; as planted");
    EXPECT_EQ(judge(claim("limits-b", "Theorem 1"), {}).note(), "as planted");
}

// On one thread, where the order shows: whoever takes longest is begun first, so that no thread is left with it at
// last.
TEST(Judge, BeginsTheLongestFirst) {
    std::vector<Claim> claims = {claim("limits-a", "x"), claim("limits-b", "x"), claim("limits-c", "x")};
    claims[0].cost = 2;
    claims[1].cost = 30;
    claims[2].cost = 5;
    std::vector<std::string> order;
    Judging judging;
    judging.finished = [&](Judged& judged) { order.push_back(judged.claim.id); };
    const int before = threads();
    set_threads(1);
    judge_all(claims, judging);
    set_threads(before);
    EXPECT_EQ(order, (std::vector<std::string>{"limits-b", "limits-c", "limits-a"}));
}

// A second paper: nothing but this.
Group second_paper() {
    Group group;
    group.name = "limits";
    group.head = "## What a second paper says\n\nBy nobody, of nothing.\n";
    group.themes = {[] {
                        return std::vector<Claim>{claim("limits-found", "finding"), claim("limits-one", "Theorem 2")};
                    },
                    [] { return std::vector<Claim>{untested()}; }};
    return group;
}

std::vector<Judged> run(const std::vector<Claim>& claims) {
    std::vector<Judged> results;
    for (const std::optional<Judged>& result : judge_all(claims, {})) {
        results.push_back(result.value());
    }
    return results;
}

std::vector<std::string> ids_of(const std::vector<Claim>& claims) {
    std::vector<std::string> ids;
    for (const Claim& one : claims) {
        ids.push_back(one.id);
    }
    return ids;
}

TEST(Groups, ThemesAreConcatenatedAndFindingsComeLast) {
    EXPECT_EQ(ids_of(claims_of(second_paper())),
              (std::vector<std::string>{"limits-one", "limits-proof", "limits-found"}));
}

TEST(Groups, ASecondPaperIsChosenByItsName) {
    std::vector<Group> all = {groups().front()};
    all.push_back(second_paper());
    EXPECT_EQ(chosen_groups(all, "all").size(), all.size());
    ASSERT_EQ(chosen_groups(all, "limits").size(), 1U);
    EXPECT_EQ(chosen_groups(all, "limits").front().name, "limits");
    try {
        chosen_groups(all, "limit");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("dynamics, limits, all"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("did you mean limits?"), std::string::npos) << error.what();
    }
}

TEST(Groups, ASecondPaperHasItsPartOfThePageAndOfTheList) {
    std::vector<Group> all = groups();
    all.push_back(second_paper());
    all.back().needs = {missing()};
    const std::string page = ledger_page("# Claims\n", all);
    const std::size_t part = page.find("\n## What a second paper says\n\nBy nobody, of nothing.\n");
    ASSERT_NE(part, std::string::npos);
    EXPECT_GT(part, page.find("dynamics-heads"));
    EXPECT_NE(page.find("\n3 claims: 2 hold, 1 not tested.\n", part), std::string::npos);
    EXPECT_NE(page.find("Needs the checkpoint moon/base: `fetch it from the moon`", part), std::string::npos);
    EXPECT_NE(page.find("### Theorem 2\n", part), std::string::npos);
    EXPECT_NE(page.find("| limits-proof | Statement of limits-proof. | not-tested | a statement about all n, which no "
                        "run decides |",
                        part),
              std::string::npos);
    EXPECT_EQ(ledger_page("", {all.back()}).find("dynamics-heads"), std::string::npos);
    const std::string list = ledger_list(claims_of(all.back()));
    EXPECT_NE(list.find("limits-proof"), std::string::npos);
    EXPECT_NE(list.find("needs the checkpoint moon/base, which is not here: fetch it from the moon\n"),
              std::string::npos)
        << list;
}

// Two checkpoints may come from the same place; one that several claims need is listed once.
TEST(Groups, EverythingThatIsNeededIsListedOnce) {
    Claim first = claim("limits-one", "Theorem 2");
    Claim second = claim("limits-two", "Theorem 2");
    const Need other = {"the checkpoint moon/large", missing().how, [] { return false; }};
    first.needs = {missing()};
    second.needs = {missing(), other};
    const std::string list = ledger_list({first, second});
    const std::string base = "needs the checkpoint moon/base, which is not here: fetch it from the moon\n";
    const std::string large = "needs the checkpoint moon/large, which is not here: fetch it from the moon\n";
    ASSERT_GE(list.size(), base.size() + large.size());
    EXPECT_EQ(list.substr(list.size() - base.size() - large.size()), base + large) << list;
    EXPECT_EQ(list.find(base), list.rfind(base)) << list;
}

TEST(Judge, AClaimWithoutAnExperimentIsNotTestedAndSaysWhy) {
    const Judged result = judge(untested(), {});
    EXPECT_EQ(result.measurement.verdict, Verdict::not_tested);
    EXPECT_TRUE(result.as_recorded());
    EXPECT_EQ(result.note(), "a statement about all n, which no run decides");
    const Json row = results_json({result})["claims"][0];
    EXPECT_EQ(row["verdict"], "not-tested");
    EXPECT_TRUE(row["predicted"].is_null());
    EXPECT_TRUE(row["measured"].is_null());
    EXPECT_EQ(row["note"], "a statement about all n, which no run decides");
    EXPECT_EQ(summary(std::vector<Judged>{result}), "1 claim: 1 not tested; all as recorded");
}

TEST(Judge, AClaimThatIsLeftUndecidedSaysNothingAgainstItsRecord) {
    const std::vector<Judged> results = run({claim("limits-one", "Theorem 2", Verdict::holds, Verdict::undecided),
                                             claim("limits-two", "Theorem 2", Verdict::fails, Verdict::undecided),
                                             claim("limits-six", "Theorem 2", Verdict::undecided, Verdict::undecided)});
    EXPECT_EQ(summary(results), "3 claims: 3 undecided; all others as recorded");
    EXPECT_EQ(results_json(results)["claims"][0]["verdict"], "undecided");
    EXPECT_EQ(results_json(results)["claims"][0]["measured"], 2.5);
    // But one that comes out although it is recorded as undecided is news.
    const std::vector<Judged> decided = run({claim("limits-one", "Theorem 2", Verdict::undecided, Verdict::holds)});
    EXPECT_FALSE(decided[0].as_recorded());
}

TEST(Judge, GivesExperimentsTheShelfOfTheRun) {
    std::map<std::string, std::string> kept = {{"older", "work"}};
    Claim one = claim("limits-one", "Theorem 2");
    one.experiment = [](const Context& context) {
        context.shelf.keep("newer", context.shelf.find("older").value() + "s");
        return Measurement{1.0, 1.0, 0.1, Verdict::holds, ""};
    };
    Judging judging;
    judging.shelf.find = [&](const std::string& name) -> std::optional<std::string> { return kept.at(name); };
    judging.shelf.keep = [&](const std::string& name, const std::string& text) { kept[name] = text; };
    judge_all({one}, judging);
    EXPECT_EQ(kept["newer"], "works");
}

TEST(Judge, AClaimThatNeedsWhatIsNotThereIsSkippedWithoutBeingRun) {
    Group group = second_paper();
    bool ran = false;
    group.themes = {[&] {
        Claim one = claim("limits-one", "Theorem 2", Verdict::fails);
        one.experiment = [&](const Context&) {
            ran = true;
            return Measurement{};
        };
        one.needs = {present(), {"the sun", "wait", [] { return false; }}};
        return std::vector<Claim>{one};
    }};
    group.needs = {missing()};
    const std::vector<Judged> results = run(claims_of(group));
    EXPECT_FALSE(ran);
    EXPECT_EQ(results[0].measurement.verdict, Verdict::skipped);
    EXPECT_TRUE(results[0].as_recorded());
    EXPECT_EQ(results[0].measurement.note,
              "needs the checkpoint moon/base, which is not here: fetch it from the moon; needs the sun, which is not "
              "here: wait");
    group.needs = {present()};
    group.themes = {[] { return std::vector<Claim>{claim("limits-one", "Theorem 2")}; }};
    EXPECT_EQ(run(claims_of(group))[0].measurement.verdict, Verdict::holds);
}

TEST(Judge, SkippedIsShownAsSuchEverywhere) {
    std::vector<Claim> claims = claims_of(second_paper());
    claims[0].needs = {missing()};
    claims[2].needs = {missing()};
    const std::vector<Judged> results = run(claims);
    const Json rows = results_json(results)["claims"];
    EXPECT_EQ(rows[0]["verdict"], "skipped");
    EXPECT_EQ(rows[0]["expected_verdict"], "holds");
    EXPECT_TRUE(rows[0]["measured"].is_null());
    const std::string csv = results_csv(results);
    EXPECT_NE(csv.find("limits-one,\"Theorem 2\",\"\",\"\",\"\",skipped,holds,"), std::string::npos) << csv;
    const std::string page = results_page(results);
    EXPECT_NE(page.find("3 claims: 1 not tested, 2 skipped; all others as recorded."), std::string::npos) << page;
    EXPECT_NE(
        page.find("Skipped, without numbers and figures: limits-one, limits-found (needs the checkpoint moon/base, "
                  "which is not here: fetch it from the moon)"),
        std::string::npos)
        << page;
    EXPECT_NE(page.find("| skipped | needs the checkpoint moon/base"), std::string::npos) << page;
}

TEST(Documents, HaveEveryFieldInItsPlace) {
    const std::vector<Judged> results = run({claim("limits-one", "Theorem 2", Verdict::holds, Verdict::fails)});
    EXPECT_EQ(results_csv(results).find("id,source,predicted,measured,tolerance,verdict,recorded,seconds\n"
                                        "limits-one,\"Theorem 2\",2,2.5,\"0.6 of it\",fails,holds,"),
              0U);
    const Json row = results_json(results)["claims"][0];
    EXPECT_EQ(row["verdict"], "fails");
    EXPECT_EQ(row["expected_verdict"], "holds");
    EXPECT_EQ(row["predicted"], 2.0);
    EXPECT_EQ(row["measured"], 2.5);
    EXPECT_EQ(row["note"], "as planted");
    EXPECT_NE(results_page(results).find("| 2 | 2.5 | 0.6 of it | fails | as planted |"), std::string::npos);
}

TEST(Judge, NullsOfAStoredClaimAreNothingOrNotANumber) {
    EXPECT_EQ(json_of(Value()), Json(nullptr));
    EXPECT_EQ(value_of(nullptr, Verdict::not_tested), Value());
    EXPECT_TRUE(std::isnan(std::get<double>(value_of(nullptr, Verdict::fails))));
    EXPECT_EQ(value_of(json_of(2.5), Verdict::holds), Value(2.5));
    EXPECT_EQ(value_of(json_of("words"), Verdict::holds), Value("words"));
}

TEST(Summary, CountsVerdictsAndWhatIsNotAsRecorded) {
    std::vector<Claim> claims(26, claim("a-b", "c"));
    claims.insert(claims.end(), 3, claim("a-b", "c", Verdict::holds_corrected, Verdict::holds_corrected));
    claims.insert(claims.end(), 2, claim("a-b", "c", Verdict::fails, Verdict::fails));
    EXPECT_EQ(summary(claims), "31 claims: 26 hold, 3 hold corrected, 2 fail");
    EXPECT_EQ(summary(run(claims)), "31 claims: 26 hold, 3 hold corrected, 2 fail; all as recorded");
    claims[0] = claim("a-b", "c", Verdict::holds, Verdict::fails);
    claims[1].needs = {missing()};
    EXPECT_EQ(summary(run(claims)), "31 claims: 24 hold, 3 hold corrected, 3 fail, 1 skipped; 1 not as recorded");
}

// Three of four come out otherwise than on the shipped model; all of the last ledger are open.
TEST(Summary, SaysAsRecordedOfNothingThatIsNot) {
    std::vector<Claim> claims = {claim("a-one", "c", Verdict::holds, Verdict::fails),
                                 claim("a-two", "c", Verdict::fails, Verdict::holds),
                                 claim("a-three", "c", Verdict::holds, Verdict::holds_corrected),
                                 claim("a-four", "c", Verdict::fails, Verdict::fails)};
    for (Claim& one : claims) {
        one.is_elsewhere = true;
    }
    EXPECT_EQ(summary(run(claims)),
              "4 claims: 1 hold, 1 hold corrected, 2 fail; 3 not as recorded of the shipped model; all others as "
              "recorded");
    claims.pop_back();
    EXPECT_EQ(summary(run(claims)),
              "3 claims: 1 hold, 1 hold corrected, 1 fail; 3 not as recorded of the shipped model");
    claims.resize(1);
    claims[0].is_elsewhere = false;
    claims.push_back(claim("a-five", "c", Verdict::holds, Verdict::undecided));
    EXPECT_EQ(summary(run(claims)), "2 claims: 1 fail, 1 undecided; 1 not as recorded");
    claims.erase(claims.begin());
    EXPECT_EQ(summary(run(claims)), "1 claim: 1 undecided");
}

TEST(Judge, ANoteOfTheShippedModelSaysSoWhereAnotherOneIsRun) {
    Claim one = claim("limits-one", "Theorem 2", Verdict::fails, Verdict::holds);
    one.note = "It falls as N grows";
    EXPECT_EQ(run({one})[0].note(), "It falls as N grows; as planted");
    one.is_elsewhere = true;
    EXPECT_EQ(run({one})[0].note(), "of the shipped model: It falls as N grows; as planted");
    one.note = "";
    EXPECT_EQ(run({one})[0].note(), "as planted");
}

TEST(JudgeAll, TakesWhatIsStoredAndHandsOnWhatIsNew) {
    std::vector<Claim> claims = {claim("a-one", "x"), claim("a-two", "x"), claim("a-three", "x")};
    claims[2].needs = {missing()};
    std::set<std::string> finished;
    std::uint64_t ticks = 0;
    Judging judging;
    judging.stored = [&](const Claim& one) -> std::optional<Judged> {
        if (one.id != "a-one") {
            return std::nullopt;
        }
        return Judged{one, {2.0, "kept", "none", Verdict::fails, ""}};
    };
    std::mutex mutex;
    judging.finished = [&](Judged& result) {
        const std::lock_guard<std::mutex> lock(mutex);
        finished.insert(result.claim.id);
    };
    judging.advanced = [&](std::uint64_t more) {
        const std::lock_guard<std::mutex> lock(mutex);
        ticks += more;
    };
    const auto results = judge_all(claims, judging);
    EXPECT_EQ(results[0]->measurement.verdict, Verdict::fails);
    EXPECT_EQ(results[1]->measurement.verdict, Verdict::holds);
    EXPECT_EQ(finished, std::set<std::string>{"a-two"}) << "a skipped claim is tried again by the next run";
    EXPECT_EQ(ticks, 3 * ticks_per_claim);
}

TEST(JudgeAll, GivesAClaimThatAsksForItAllThreadsAndNoCompany) {
    const int before = threads();
    set_threads(3);
    std::atomic<int> running{0};
    std::mutex mutex;
    std::vector<int> company;
    std::set<std::thread::id> helpers;
    std::set<std::thread::id> others;
    const auto busy = [&](std::set<std::thread::id>& seen) {
        parallel_slots(12, 12, [&](std::size_t, std::size_t, std::size_t) {
            {
                const std::lock_guard<std::mutex> lock(mutex);
                seen.insert(std::this_thread::get_id());
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        });
    };
    std::vector<Claim> claims;
    for (int i = 0; i < 6; ++i) {
        Claim one = claim("a-" + std::to_string(i), "x");
        one.alone = i == 1;
        one.cost = i == 1 ? 100 : 1;
        one.experiment = [&, alone = one.alone](const Context&) {
            ++running;
            if (alone) {
                EXPECT_FALSE(inside_parallel());
                company.push_back(running.load());
                busy(helpers);
                company.push_back(running.load());
            } else {
                std::set<std::thread::id> seen;
                busy(seen);
                EXPECT_EQ(seen.size(), 1U) << "claims beside others run in one thread each";
                const std::lock_guard<std::mutex> lock(mutex);
                others.merge(seen);
            }
            --running;
            return Measurement{2.0, 2.0, 0.1, Verdict::holds, ""};
        };
        claims.push_back(std::move(one));
    }
    EXPECT_EQ(run(claims).size(), 6U);
    set_threads(before);
    EXPECT_EQ(company, (std::vector<int>{1, 1}));
    EXPECT_EQ(helpers.size(), 3U);
    EXPECT_GT(others.size(), 1U);
}

TEST(JudgeAll, StopsBetweenAndInsideClaims) {
    std::atomic<bool> stop{false};
    std::vector<Claim> claims = {claim("a-one", "x"), claim("a-two", "x")};
    claims[0].alone = claims[1].alone = true;  // one after the other
    claims[0].experiment = [&](const Context& context) {
        stop = true;
        context.at(0.5);
        return Measurement{};
    };
    Judging judging;
    judging.stop = &stop;
    for (const auto& result : judge_all(claims, judging)) {
        EXPECT_FALSE(result.has_value());
    }
}

TEST(Needs, OfAFileAndOfACheckpointLookForThem) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-needs-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "text.txt").string();
    const Need text = file_need(path, "write one");
    EXPECT_FALSE(text.there());
    write_file_atomically(path, "words");
    EXPECT_TRUE(text.there());
    EXPECT_FALSE(file_need(folder.string(), "").there()) << "a folder is no file";
    EXPECT_TRUE(checkpoint_need(folder.string()).there());
    const Need nowhere = checkpoint_need("flyball/no-such-model");
    EXPECT_FALSE(nowhere.there());
    EXPECT_EQ(nowhere.what, "the checkpoint flyball/no-such-model");
    EXPECT_EQ(nowhere.how, "huggingface-cli download flyball/no-such-model");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flyball::claims
