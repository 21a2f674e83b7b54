// Folders whose runs go on: what they have so far, without the line that is being written; and when a page is made again.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "at_most.hpp"
#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "record/sealed.hpp"
#include "results/document.hpp"
#include "results/live_page.hpp"
#include "results/watched.hpp"
#include "support.hpp"

namespace flyball::results::test {
namespace {

// A run that goes on has no provenance.json, and says in work/run.json which run it is.
void go_on(const ResultFolder& folder) {
    std::filesystem::remove(folder.path() / "provenance.json");
    folder.put("work/run.json", "{}");
}

// The first part with this title; null where there is none.
Json titled(const Json& folder, const std::string& title) {
    for (const Json& part : folder.at("parts")) {
        if (part.value("title", "") == title) {
            return part;
        }
    }
    return nullptr;
}

constexpr const char* log_head =
    R"json({"scheme":"post-ln","equation":"norm(x + dt*f(x))","columns":["t","cosine.mean","speed"]})json";

TEST(UnfinishedSimulation, ShowsTheSamplesSoFarAndNoTornLine) {
    const ResultFolder folder("simulate");
    go_on(folder);
    folder.put("work/samples-1.jsonl",
               fmt::format("{}\n[0.0,0.125,3.5]\n[0.5,0.25,null]\n{{\"outcome\":\"done\"}}\n", log_head));
    std::string other = log_head;
    other.replace(other.find("post-ln"), 7, "pre-ln");
    folder.put("work/samples-2.jsonl", other + "\n[0.0,0.125,4.5]\n[0.5,0.37");
    const Json read = folder.read();
    EXPECT_EQ(read["state"], "unfinished");
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json curves = titled(read, "Over time");
    ASSERT_EQ(curves["series"].size(), 2U);
    EXPECT_EQ(curves["series"][0]["x"], typed("[0.0, 0.5]"));
    EXPECT_EQ(curves["series"][0]["y"]["cosine.mean"], typed("[0.125, 0.25]"));
    EXPECT_EQ(dump_json(curves["series"][0]["y"]["speed"]), "[3.5,null]");
    EXPECT_EQ(curves["series"][0]["colour"], "#4269d0") << "as it will be in the end";
    EXPECT_EQ(curves["series"][1]["x"], typed("[0.0]")) << "the line that is being written is left out";
    const Json table = titled(read, "How far it is");
    EXPECT_EQ(dump_json(table["rows"][0]), R"json(["post-ln","norm(x + dt*f(x))","done",2,0.5,0.25,null])json");
    EXPECT_EQ(dump_json(table["rows"][1]), R"json(["pre-ln","norm(x + dt*f(x))","goes on",1,0.0,0.125,4.5])json");
    EXPECT_TRUE(titled(read, "How it ended").is_null());
}

// A page of the other runs, and no waiting for somebody who opens the other end.
TEST(UnfinishedTraining, APipeInPlaceOfTheSettingsOfOneRunIsDamage) {
    const ResultFolder folder("train");
    go_on(folder);
    for (const char* const run : {"pre-ln-1", "pre-ln-2"}) {
        folder.put(std::string(run) + "/config.toml", "[train]\nscheme = \"pre-ln\"\n");
        folder.put(std::string(run) + "/metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n");
    }
    std::filesystem::remove(folder.path() / "pre-ln-1/config.toml");
    ASSERT_EQ(::mkfifo((folder.path() / "pre-ln-1/config.toml").c_str(), 0600), 0);
    const flyball::test::AtMost limit(60);
    const Json read = folder.read();
    ASSERT_EQ(read["unreadable"].size(), 1U);
    EXPECT_NE(read["unreadable"][0].get<std::string>().find("pre-ln-1/config.toml"), std::string::npos);
    EXPECT_NE(read["unreadable"][0].get<std::string>().find("not a regular file"), std::string::npos);
    EXPECT_EQ(titled(read, "Over steps")["series"].size(), 2U);
}

TEST(UnfinishedSimulation, ThatHasJustBegunHasNothingAndNoDamage) {
    const ResultFolder folder("simulate");
    go_on(folder);
    EXPECT_EQ(folder.read()["parts"], Json::array());
    folder.put("work/samples-1.jsonl", R"({"scheme":"post)");
    const Json read = folder.read();
    EXPECT_EQ(read["parts"], Json::array());
    EXPECT_EQ(read["unreadable"], Json::array());
    folder.put("work/samples-1.jsonl", fmt::format("{}\n[0.0,1.0]\n", log_head));
    EXPECT_EQ(folder.read()["unreadable"].size(), 1U) << "a whole line that is not as it was written is damage";
}

// Two moments of two tokens on the sphere, as dynamics/frames.hpp writes them on the way.
TEST(UnfinishedSimulation, ShowsTheDotsOfTwoAndThreeDimensions) {
    for (const std::size_t dim : {2U, 3U, 4U}) {
        const ResultFolder folder("simulate");
        go_on(folder);
        folder.put("config.toml", "[simulate]\ntokens = \"500\"\n");
        folder.put("work/samples-1.jsonl", fmt::format("{}\n[0.0,0.125,3.5]\n[2.0,0.25,1.0]\n", log_head));
        std::vector<float> theta(4 * dim, 0.0F);
        for (std::size_t k = 0; k < 4; ++k) {
            theta[k * dim + 1] = k == 3 ? -0.5F : 1.0F;
        }
        const std::vector<double> times = {0, 2};
        const std::vector<TensorToWrite> tensors = {tensor("time", {2}, times), tensor("theta", {2, 2, dim}, theta)};
        record::write_sealed(folder.path() / "work/frames-1.safetensors", {"frames-1", {}}, tensors, {});
        const Json spheres = part_of(folder.read(), "spheres");
        if (dim == 4) {
            EXPECT_TRUE(spheres.is_null()) << "its directions of view are chosen at the end";
            continue;
        }
        EXPECT_EQ(spheres["dim"], dim);
        EXPECT_EQ(spheres["tokens"], 500);
        EXPECT_EQ(spheres["shown"], 2);
        EXPECT_EQ(spheres["runs"][0]["times"], typed("[0.0, 2.0]"));
        EXPECT_EQ(spheres["runs"][0]["cosine"], typed("[0.125, 0.25]"));
        // python3: base64.b64encode(struct.pack("<12h", 0, 32767, 0, 0, 32767, 0, 0, 32767, 0, 0, -16384, 0))
        EXPECT_EQ(spheres["runs"][0]["points"], "AAD/fwAAAAD/fwAAAAD/fwAAAAAAwAAA") << dim;
    }
}

// Of three logs the first is damaged and the second has just been begun; the frames of each run end at its number.
TEST(UnfinishedSimulation, ThatIsDamagedInPartShowsTheDotsOfItsOwnRuns) {
    const ResultFolder folder("simulate");
    go_on(folder);
    folder.put("work/samples-1.jsonl", fmt::format("{}\n[0.0,1.0]\n", log_head));
    folder.put("work/samples-2.jsonl", R"({"scheme":"post)");
    std::string third = log_head;
    third.replace(third.find("post-ln"), 7, "pre-ln");
    folder.put("work/samples-3.jsonl", third + "\n[0.0,0.125,4.5]\n[3.0,0.25,4.5]\n");
    const std::vector<float> theta(6, 1.0F);
    for (int number = 1; number <= 3; ++number) {
        const std::vector<double> times = {0, static_cast<double>(number)};
        const std::string name = fmt::format("frames-{}", number);
        const std::vector<TensorToWrite> tensors = {tensor("time", {2}, times), tensor("theta", {2, 1, 3}, theta)};
        record::write_sealed(folder.path() / "work" / (name + ".safetensors"), {name, {}}, tensors, {});
    }
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"].size(), 1U);
    const Json runs = part_of(read, "spheres")["runs"];
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0]["name"], "pre-ln");
    EXPECT_EQ(runs[0]["times"], typed("[0.0, 3.0]"));
    EXPECT_EQ(runs[0]["cosine"], typed("[0.125, 0.25]"));
}

TEST(UnfinishedTraining, OfOneRunShowsItsWholeLines) {
    const ResultFolder folder("train");
    go_on(folder);
    folder.put("config.toml", "[train]\nscheme = [\"peri-ln\"]\n");
    EXPECT_EQ(folder.read()["parts"], Json::array()) << "no step is done";
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n{\"step\":2,\"loss\":3}\n{\"step\":3,\"los");
    const Json read = folder.read();
    EXPECT_EQ(read["state"], "unfinished");
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json series = part_of(read, "curves")["series"][0];
    EXPECT_EQ(series["y"]["loss"], typed("[4.0, 3.0]"));
    EXPECT_EQ(series["name"], "peri-ln") << "as it will be called in the end";
    EXPECT_EQ(series["colour"], "#ff725c");
}

// Folders sorted by name would have the seeds 1, 10, 2, and post-ln before pre-ln.
TEST(UnfinishedTraining, OfSeveralRunsShowsThoseThatHaveBegunInTheirOrder) {
    const ResultFolder folder("train");
    go_on(folder);
    folder.put("config.toml", "[train]\nscheme = [\"pre-ln\", \"post-ln\"]\nseed = \"1\"\n");
    for (const auto& [name, scheme, seed] :
         {std::tuple("post-ln-1", "post-ln", "1"), std::tuple("pre-ln-10", "pre-ln", "10"),
          std::tuple("pre-ln-2", "pre-ln", "2"), std::tuple("pre-ln-1", "pre-ln", "1")}) {
        folder.put(std::string(name) + "/config.toml",
                   fmt::format("[train]\nscheme = [\"{}\"]\nseed = \"{}\"\n", scheme, seed));
        folder.put(std::string(name) + "/metrics.jsonl", fmt::format("{{\"step\":1,\"loss\":{}.5}}\n", seed));
    }
    folder.put("begun/config.toml", "[train]\nscheme = [\"pre-ln\"]\n");
    folder.put("figures/other.txt", "no run");
    const Json curves = part_of(folder.read(), "curves");
    ASSERT_EQ(curves["series"].size(), 4U);
    const char* names[] = {"pre-ln-1", "pre-ln-2", "pre-ln-10", "post-ln-1"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(curves["series"][i]["name"], names[i]);
    }
    EXPECT_EQ(curves["series"][2]["y"]["loss"], typed("[10.5]"));
    // One damaged configuration is named, and ends nothing else.
    folder.put("pre-ln-2/config.toml", "[train]\nscheme = [\"pre-ln\n");
    const Json damaged = folder.read();
    ASSERT_EQ(damaged["unreadable"].size(), 1U);
    EXPECT_NE(damaged["unreadable"][0].get<std::string>().find("pre-ln-2/config.toml"), std::string::npos);
    ASSERT_EQ(part_of(damaged, "curves")["series"].size(), 4U);
    EXPECT_EQ(part_of(damaged, "curves")["series"][3]["name"], "pre-ln-2") << "behind those whose scheme is known";
}

TEST(UnfinishedClaims, ShowsThoseThatAreDecidedInTheOrderOfTheLedger) {
    const ResultFolder folder("reproduce");
    go_on(folder);
    EXPECT_EQ(folder.read()["unreadable"], Json::array());
    const auto claim = [](const char* id, const char* note) {
        return Json{{"id", id},
                    {"statement", std::string("S of ") + id},
                    {"source", "Table 1"},
                    {"note", note},
                    {"expected_verdict", "holds"}};
    };
    record::write_sealed_json(folder.path() / "work/ledger.json", {"ledger", {}},
                              {{"claims", {claim("z-first", "known"), claim("m-later", ""), claim("a-last", "")}}});
    EXPECT_EQ(titled(folder.read(), "How far it is")["sentences"], typed(R"(["0 of 3 claims are decided so far."])"));
    const auto decide = [&](const std::string& id, const char* verdict, const char* note = "seen") {
        record::write_sealed_json(folder.path() / "work" / (id + ".json"), {"claim " + id, {}},
                                  {{"predicted", 0.5},
                                   {"measured", 0.25},
                                   {"tolerance", "so"},
                                   {"verdict", verdict},
                                   {"note", note},
                                   {"pictures", Json::array()},
                                   {"seconds", 1.5}});
    };
    decide("a-last", "fails");
    decide("z-first", "holds");
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    EXPECT_EQ(titled(read, "How far it is")["sentences"], typed(R"(["2 of 3 claims are decided so far."])"));
    const Json claims = part_of(read, "claims")["claims"];
    ASSERT_EQ(claims.size(), 2U);
    EXPECT_EQ(claims[0]["id"], "z-first");
    EXPECT_EQ(claims[0]["statement"], "S of z-first");
    EXPECT_EQ(claims[0]["verdict"], "holds");
    EXPECT_EQ(claims[0]["note"], "known; seen");
    EXPECT_EQ(claims[0]["predicted"], "0.5");
    EXPECT_EQ(claims[0]["measured"], "0.25");
    EXPECT_EQ(claims[0]["seconds"], 1.5);
    EXPECT_EQ(claims[1]["verdict"], "fails");
    EXPECT_EQ(claims[1]["note"], "seen");
    decide("z-first", "holds", "");
    EXPECT_EQ(part_of(folder.read(), "claims")["claims"][0]["note"], "known");
    // A file of one claim in the place of another, and one that was changed, are damage.
    std::filesystem::copy_file(folder.path() / "work/a-last.json", folder.path() / "work/m-later.json");
    EXPECT_EQ(folder.read()["unreadable"].size(), 1U);
    EXPECT_EQ(part_of(folder.read(), "claims")["claims"].size(), 2U) << "the rest is shown";
}

// The list of claims may be anybody's: an id that is a path would show what lies elsewhere as if the run had decided
// it.
TEST(UnfinishedClaims, WhoseIdLeadsOutOfTheFolderAreNotLookedFor) {
    const ResultFolder folder("reproduce");
    go_on(folder);
    folder.put("work/inner/nothing.txt", "");
    Json claims = Json::array();
    for (const char* id : {"../outside", "inner/inside", "own"}) {
        claims.push_back({{"id", id}, {"statement", "s"}, {"source", ""}, {"note", ""}, {"expected_verdict", "holds"}});
        record::write_sealed_json(folder.path() / "work" / (std::string(id) + ".json"),
                                  {std::string("claim ") + id, {}},
                                  {{"predicted", 1},
                                   {"measured", 1},
                                   {"tolerance", 0},
                                   {"verdict", "holds"},
                                   {"note", ""},
                                   {"pictures", Json::array()},
                                   {"seconds", 1}});
    }
    record::write_sealed_json(folder.path() / "work/ledger.json", {"ledger", {}}, {{"claims", claims}});
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    EXPECT_EQ(titled(read, "How far it is")["sentences"], typed(R"(["1 of 3 claims are decided so far."])"));
    const Json shown = part_of(read, "claims")["claims"];
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown[0]["id"], "own");
}

TEST(UnfinishedCommands, HaveNothingYet) {
    for (const char* command : {"inspect", "limits", "check", "theory"}) {
        const ResultFolder folder(command);
        go_on(folder);
        const Json read = folder.read();
        EXPECT_EQ(read["parts"], Json::array()) << command;
        EXPECT_EQ(read["unreadable"], Json::array()) << command;
        EXPECT_EQ(read["state"], "unfinished");
    }
}

// The results are written, and then work/ goes: until that instant the run is not finished.
TEST(Unfinished, IsARunUntilItsWorkIsGone) {
    const ResultFolder folder("train");
    EXPECT_EQ(folder.read()["state"], "finished");
    folder.put("work/run.json", "{}");
    EXPECT_EQ(folder.read()["state"], "unfinished");
    EXPECT_EQ(folder.read()["provenance"][0], typed(R"(["state", "this run is not finished"])"));
    std::filesystem::rename(folder.path() / "work", folder.path() / "work.finished");
    EXPECT_EQ(folder.read()["state"], "finished");
}

TEST(Awaited, IsWhatIsNotThereAndAnEmptyFolder) {
    const ResultFolder folder("train");
    const std::filesystem::path none = folder.path() / "none";
    EXPECT_NO_THROW(check_awaited({none}));
    EXPECT_EQ(document_of({none}, 0, Absent::awaited).at("folders").at(0).at("state"), "awaited");
    EXPECT_THROW(document_of({none}), Error) << "without a server there is nothing to wait for";
    std::filesystem::create_directories(none / "work");
    EXPECT_NO_THROW(check_awaited({none}));
    EXPECT_NO_THROW(check_awaited({folder.path()}));
    EXPECT_THROW(check_awaited({folder.path(), folder.path() / "config.toml"}), Error) << "a file is no folder";
    std::ofstream(none / "letter.txt") << "dear";
    EXPECT_THROW(check_awaited({none}), Error) << "a folder of something else";
    const ResultFolder other("schemes");
    EXPECT_THROW(check_awaited({other.path()}), Error);
}

// A run may write twice in a second, and put a new file in the place of an old one: neither size nor second tell.
TEST(Watched, SeesWhatIsWrittenWithinASecondAndAnotherFileInItsPlace) {
    const ResultFolder folder("train");
    const std::filesystem::path file = folder.path() / "a.json";
    folder.put("a.json", "1");
    const auto second = std::chrono::floor<std::chrono::seconds>(std::filesystem::last_write_time(file));
    std::filesystem::last_write_time(file, second);
    Watched watched;
    watched.look(file);
    EXPECT_FALSE(watched.changed());
    folder.put("a.json", "2");
    std::filesystem::last_write_time(file, second + std::chrono::milliseconds(1));
    EXPECT_TRUE(watched.changed());
    std::filesystem::last_write_time(file, second);
    EXPECT_FALSE(watched.changed()) << "the next change is of another kind";
    folder.put("b.json", "3");
    std::filesystem::last_write_time(folder.path() / "b.json", second);
    std::filesystem::rename(folder.path() / "b.json", file);
    EXPECT_TRUE(watched.changed());
}

class LivePages : public ::testing::Test {
  protected:
    double now = 100;
    LivePage page_of_folder() {
        return {{folder.path()}, "/document.json", {.now = [this] { return now; }, .spent = [] { return 0.0; }}};
    }
    ResultFolder folder{"train"};
};

TEST_F(LivePages, AreMadeAgainWhenAFileThatTheyShowHasChanged) {
    go_on(folder);
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n");
    LivePage page = page_of_folder();
    const std::string first = page.tag();
    EXPECT_EQ(first.size(), 16U);
    EXPECT_NE(page.html()->find(first), std::string::npos) << "somebody has fetched it before";
    page.refresh();
    folder.put("work/restart.safetensors", "what no page shows");
    page.refresh();
    EXPECT_EQ(page.times_made(), 1U) << "nothing has changed";
    EXPECT_EQ(page.tag(), first);
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n{\"step\":2,\"loss\":3}\n");
    page.refresh();
    EXPECT_EQ(page.times_made(), 2U);
    EXPECT_NE(page.tag(), first);
    EXPECT_NE(page.document()->find("[4.0,3.0]"), std::string::npos);
    EXPECT_NE(page.html()->find(*page.document()), std::string::npos);
    EXPECT_NE(page.html()->find("data-address=\"/document.json\" data-tag=\"" + page.tag() + "\""), std::string::npos);
    EXPECT_NE(page.html()->find("connect-src 'self'"), std::string::npos);
    // A line that is torn changes the file and not what is shown.
    const std::string second = page.tag();
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n{\"step\":2,\"loss\":3}\n{\"st");
    page.refresh();
    EXPECT_EQ(page.times_made(), 3U);
    EXPECT_EQ(page.tag(), second);
}

TEST_F(LivePages, SeeARunBeginAndEnd) {
    std::filesystem::remove(folder.path() / "config.toml");
    std::filesystem::remove(folder.path() / "provenance.json");
    LivePage page = page_of_folder();
    EXPECT_EQ(page.folders().at(0).at("state"), "awaited");
    folder.put("config.toml", "[train]\nseed = \"1\"\n");
    page.refresh();
    EXPECT_EQ(page.folders().at(0).at("state"), "unfinished");
    folder.put("provenance.json", "{}");
    page.refresh();
    EXPECT_EQ(page.folders().at(0).at("state"), "finished");
    std::filesystem::remove(folder.path() / "config.toml");  // as a run that begins anew does
    page.refresh();
    EXPECT_EQ(page.folders().at(0).at("state"), "awaited");
}

// Four hundred rows of long equations are thinned to 200; 300 short ones of the run that follows in their place need not be.
TEST_F(LivePages, ShowARunThatBeginsAnewInFull) {
    const auto summary = [&](std::size_t runs, std::size_t letters) {
        Json list = Json::array();
        for (std::size_t i = 0; i < runs; ++i) {
            list.push_back({{"name", "/" + std::string(letters, 'n')},  // a name that has no folder
                            {"scheme", ""},
                            {"equation", std::string(letters, 'e')},
                            {"outcome", "done"},
                            {"steps", 1},
                            {"loss", 1},
                            {"validation_loss", 1}});
        }
        folder.put("summary.json", dump_json(list));
    };
    const auto rows = [](const LivePage& page) {
        return part_of(parse_json(*page.document(), "page", {.max_bytes = 1U << 24U})["folders"][0], "table")["rows"]
            .size();
    };
    summary(401, 3990);
    LivePage page = page_of_folder();
    EXPECT_EQ(rows(page), 200U);
    summary(300, 3);
    page.refresh();
    EXPECT_EQ(rows(page), 300U);
}

// Making takes two seconds of a processor, by a clock that goes on by two whenever it is read: nine times that has to pass.
TEST_F(LivePages, RestNineTimesAsLongAsTheyWork) {
    go_on(folder);
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n");
    double spent = 0;
    LivePage page({folder.path()}, "/document.json",
                  {.now = [this] { return now; }, .spent = [&] { return spent += 2; }});
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":5.25}\n");
    now = 117.9;
    page.refresh();
    EXPECT_EQ(page.times_made(), 1U);
    now = 118.1;
    page.refresh();
    EXPECT_EQ(page.times_made(), 2U);
    EXPECT_NE(page.document()->find("[5.25]"), std::string::npos);
}

}  // namespace
}  // namespace flyball::results::test
