// Folders of every command as parts of the page's document; damage is a sentence.
#include "results/document.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/safetensors.hpp"
#include "record/sealed.hpp"
#include "report/figure.hpp"
#include "report/utf8.hpp"
#include "support.hpp"

namespace flyball::results::test {
namespace {

constexpr const char* two_runs = R"json({"runs": [
  {"scheme": "post-ln", "equation": "norm(x + dt*f(x))", "outcome": "done", "t": [0, 1, 2],
   "cosine": {"mean": [0.1, 0.5, 0.9995], "lo": [0, 0.4, 0.9], "hi": [0.2, 0.6, 1]},
   "speed": [1, null, 0.25], "radius": {"mean": [1, 1, 1]}, "clusters": [4, 2, 1], "collapse_time": 2, "fused": [], "stats": {"steps": 3}},
  {"scheme": "</script>", "equation": "x + <b>", "outcome": "diverged", "t": [0, 1],
   "cosine": {"mean": [0.1, 0.3]}, "speed": [1, 2], "collapse_time": null}]})json";

// The last part of a path is the name of a folder where it tells it from the others; one that is given twice is the same.
TEST(Folders, HaveNamesThatTellThemApart) {
    const ResultFolder place("simulate");
    for (const char* one : {"a/x/run", "b/x/run", "b/other"}) {
        place.put(std::string(one) + "/config.toml", "[simulate]\nseed = \"1\"\n");
    }
    const auto names = [&](const std::vector<std::string>& folders) {
        std::vector<std::filesystem::path> paths;
        for (const std::string& folder : folders) {
            paths.push_back(place.path() / folder);
        }
        std::vector<std::string> found;
        const Json document = document_of(paths, 0, Absent::awaited);
        for (const Json& folder : document.at("folders")) {
            found.push_back(folder.at("name"));
        }
        return found;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names({"b/other"}), (Names{"other"}));
    EXPECT_EQ(names({"b/other/", "b/x/run/../run/."}), (Names{"other", "run"}));
    EXPECT_EQ(names({"a/x/run", "b/other", "b/x/run"}), (Names{"a/x/run", "other", "b/x/run"}));
    EXPECT_EQ(names({"a/x/run", "a/x/run/"}), (Names{"run", "run"}));
    EXPECT_EQ(names({"not yet/"}), (Names{"not yet"}));
}

TEST(SimulationPage, HasEveryNumberOfTheRuns) {
    const ResultFolder folder("simulate");
    folder.put("result.json", two_runs);
    const Json read = folder.read();
    EXPECT_EQ(read["command"], "simulate");
    EXPECT_EQ(read["settings"], typed(R"([["seed", "1"]])"));
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json curves = part_of(read, "curves");
    ASSERT_EQ(curves["series"].size(), 2U);
    const Json& first = curves["series"][0];
    EXPECT_EQ(first["x"], typed("[0.0, 1.0, 2.0]"));
    EXPECT_EQ(first["y"]["cosine.mean"], typed("[0.1, 0.5, 0.9995]"));
    EXPECT_EQ(first["y"]["cosine.lo"], typed("[0.0, 0.4, 0.9]"));
    EXPECT_EQ(dump_json(first["y"]["speed"]), "[1.0,null,0.25]");
    EXPECT_EQ(first["colour"], "#4269d0") << "as the catalogue has it";
    EXPECT_EQ(curves["bands"]["cosine.mean"], typed(R"(["cosine.lo", "cosine.hi"])"));
    EXPECT_EQ(curves["shown"][0], "cosine.mean");
    EXPECT_EQ(curves["series"][1]["name"], "</script>") << "names are data";
    const Json table = part_of(read, "table");
    EXPECT_EQ(dump_json(table["rows"][0]),
              R"json(["post-ln","norm(x + dt*f(x))","done",0.1,0.9995,2.0,1.0,0.25,1.0])json");
    EXPECT_EQ(dump_json(table["rows"][1]), R"(["</script>","x + <b>","diverged",0.1,0.3,null,1.0,2.0,null])");
}

// Quantiles of five values, by linear interpolation: 5 % is a fifth of the way from the least to the next.
TEST(SimulationPage, HasBandsOverTheSystems) {
    const ResultFolder folder("simulate");
    folder.put("result.json", two_runs);
    const std::vector<double> speeds = {5, 1, 3, 2, 4, 50, 10, 30, 20, 40, std::nan(""), 7, std::nan(""), 7, 7};
    const std::vector<TensorToWrite> tensors = {tensor("0.post-ln.systems.speed", {3, 5}, speeds)};
    write_safetensors(folder.path() / "samples.safetensors", tensors, {});
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json curves = part_of(read, "curves");
    EXPECT_EQ(curves["bands"]["speed"], typed(R"(["speed.lo", "speed.hi"])"));
    const Json& of_first = curves["series"][0]["y"];
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(of_first["speed.lo"][i].get<double>(), (std::vector<double>{1.2, 12, 7})[i], 1e-12);
        EXPECT_NEAR(of_first["speed.hi"][i].get<double>(), (std::vector<double>{4.8, 48, 7})[i], 1e-12);
    }
    EXPECT_FALSE(curves["series"][1]["y"].contains("speed.lo"));
}

// [frames, shown, 3] as 16-bit numbers: 1 is 32767 (ff 7f), -0.5 is -16384 (00 c0), little-endian.
TEST(SimulationPage, ShowsTheFramesOfEachRun) {
    const ResultFolder folder("simulate");
    folder.put("result.json", two_runs);
    const std::vector<float> one = {1, 0, 0, 0, -0.5F, 0, 0, 0, 2, 0, 0, std::nanf("")};
    const std::vector<double> times = {0, 2};
    const std::vector<float> other = {0, 0, 1, 0, 1, 0};
    const std::vector<double> start = {0};
    const std::vector<TensorToWrite> tensors = {tensor("run.0", {2, 2, 3}, one), tensor("time.0", {2}, times),
                                                tensor("run.1", {1, 2, 3}, other), tensor("time.1", {1}, start)};
    write_safetensors(folder.path() / "frames.safetensors", tensors,
                      {{"tokens", "1000"}, {"dim", "7"}, {"share", "0.75"}});
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json spheres = part_of(read, "spheres");
    EXPECT_EQ(spheres["tokens"], 1000);
    EXPECT_EQ(spheres["dim"], 7);
    EXPECT_EQ(spheres["share"], 0.75);
    EXPECT_EQ(spheres["shown"], 2);
    EXPECT_EQ(spheres["samples"], 3);
    // python3: base64.b64encode(struct.pack("<12h", 32767, 0, 0, 0, -16384, 0, 0, 0, 32767, 0, 0, 0))
    EXPECT_EQ(spheres["runs"][0]["points"], "/38AAAAAAAAAwAAAAAAAAP9/AAAAAAAA");
    EXPECT_EQ(spheres["runs"][0]["times"], typed("[0.0, 2.0]"));
    EXPECT_EQ(spheres["runs"][0]["cosine"], typed("[0.1, 0.9995]")) << "of the samples at these times";
    EXPECT_EQ(spheres["runs"][0]["groups"], typed("[4.0, 1.0]"));
    EXPECT_EQ(spheres["runs"][1]["outcome"], "diverged");
}

TEST(ClaimsPage, HasVerdictsAndTheEvidenceBehindThem) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", R"({"claims": [
      {"id": "a-b", "statement": "s", "source": "Table 1", "predicted": 0.1, "measured": "so", "tolerance": null,
       "verdict": "fails", "note": "n", "expected_verdict": "holds", "seconds": 2.5, "figures": ["curve", "map", "../x"]}]})");
    report::LineFigure lines;
    lines.title = "Lines";
    lines.series = {{"one", {1, 2, 3}, {0.1, 1.0 / 3, 5}, {}, {}, {}}, {"two,", {1}, {7}, {6}, {8}, {}}};
    report::write_figure(folder.path(), "curve", lines);
    report::HeatFigure heat;
    heat.title = "Heat";
    heat.x_values = {1, 2, 3};
    heat.y_values = {10, 20};
    heat.values = {1, 2, 3, 4, 5, std::nan("")};
    report::write_figure(folder.path(), "map", heat);
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json claim = part_of(read, "claims")["claims"][0];
    EXPECT_EQ(claim["verdict"], "fails");
    EXPECT_EQ(claim["recorded"], "holds");
    EXPECT_EQ(claim["predicted"], "0.1");
    EXPECT_EQ(claim["measured"], "so");
    EXPECT_EQ(claim["tolerance"], "");
    EXPECT_EQ(claim["seconds"], 2.5);
    const Json figures = part_of(read, "figures")["figures"];
    ASSERT_EQ(figures.size(), 2U) << "a name that leads out of the folder is no figure";
    EXPECT_EQ(figures[0]["name"], "curve");
    EXPECT_EQ(figures[0]["series"][0]["y"], Json(std::vector<double>{0.1, 1.0 / 3, 5}));
    EXPECT_FALSE(figures[0]["series"][0].contains("lo"));
    EXPECT_EQ(figures[0]["series"][1]["y"], typed("[7.0]"));
    EXPECT_EQ(figures[0]["series"][1]["lo"], typed("[6.0]"));
    EXPECT_EQ(figures[0]["series"][1]["hi"], typed("[8.0]"));
    EXPECT_EQ(figures[1]["x_values"], typed("[1.0, 2.0, 3.0]"));
    EXPECT_EQ(figures[1]["y_values"], typed("[10.0, 20.0]"));
    EXPECT_EQ(dump_json(figures[1]["values"]), "[1.0,2.0,3.0,4.0,5.0,null]");
}

Json claim_with_figures(const std::string& id, const Json& figures) {
    return {{"id", id},       {"statement", "s"}, {"source", ""},       {"predicted", 1},    {"measured", 1},
            {"tolerance", 0}, {"note", ""},       {"verdict", "holds"}, {"figures", figures}};
}

// Dots on a sphere or a circle have a part of their own, and panels show the lines of another figure again: they stay
// pictures in the folder, and that they are not on the page is no damage.
TEST(ClaimsPage, PicturesThatThePageHasInAnotherWayAreLeftOutWithoutAWord) {
    const ResultFolder folder("reproduce");
    const Json names = {"ball", "ring", "page", "curve"};
    folder.put("claims.json", dump_json({{"claims", {claim_with_figures("a-b", names)}}}));
    report::SphereFigure dots;
    dots.runs = {{"one", "#112233", {{0, {{1, 0, 0}}}}}};
    report::write_figure(folder.path(), "ball", dots);
    dots.circle = true;
    report::write_figure(folder.path(), "ring", dots);
    report::LineFigure lines;
    lines.series = {{"one", {1, 2}, {3, 4}, {}, {}, {}}, {"two", {1, 2}, {5, 6}, {}, {}, {}}};
    report::write_figure(folder.path(), "page", report::in_panels(lines));
    report::write_figure(folder.path(), "curve", lines);
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json figures = part_of(read, "figures")["figures"];
    ASSERT_EQ(figures.size(), 1U);
    EXPECT_EQ(figures[0]["name"], "curve");
}

// A figure that two claims name is drawn once; which claim has which, and how long it took, is the claim's own.
TEST(ClaimsPage, AFigureOfSeveralClaimsIsThereOnce) {
    const ResultFolder folder("reproduce");
    Json first = claim_with_figures("a-b", {"map", "curve"});
    first["expected_verdict"] = "fails";
    first["seconds"] = 2.5;
    folder.put("claims.json", dump_json({{"claims", {first, claim_with_figures("c-d", {"curve"})}}}));
    report::LineFigure lines;
    lines.series = {{"one", {1, 2}, {3, 4}, {}, {}, {}}};
    for (const char* name : {"map", "curve"}) {
        report::write_figure(folder.path(), name, lines);
    }
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json part = part_of(read, "claims");
    ASSERT_EQ(part["claims"].size(), 2U);
    EXPECT_EQ(part["claims"][0]["figures"], typed(R"(["map", "curve"])"));
    EXPECT_EQ(part["claims"][1]["figures"], typed(R"(["curve"])"));
    EXPECT_EQ(part["claims"][0]["recorded"], "fails");
    EXPECT_EQ(part["claims"][1]["recorded"], "") << "nothing was recorded of it";
    EXPECT_EQ(part["claims"][0]["seconds"], 2.5);
    EXPECT_EQ(dump_json(part["claims"][1]["seconds"]), "null");
    const Json drawn = part_of(read, "figures");
    EXPECT_EQ(drawn["title"], "Figures");
    ASSERT_EQ(drawn["figures"].size(), 2U);
    EXPECT_EQ(drawn["figures"][0]["name"], "curve") << "by their names";
    EXPECT_EQ(drawn["figures"][1]["name"], "map");
}

// The picture says how many points a line has; a table that ends before, or that leaves cells of a map out, is not drawn.
TEST(ClaimsPage, TablesThatEndBeforeTheirFigureDoesAreNamed) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", dump_json({{"claims", {claim_with_figures("a-b", {"curve", "map"})}}}));
    report::LineFigure lines;
    lines.series = {{"one", {1, 2}, {3, 4}, {}, {}, {}}, {"two", {1, 2}, {5, 6}, {}, {}, {}}};
    report::write_figure(folder.path(), "curve", lines);
    folder.put("curve.csv", "series,x,y\none,1,3\none,2,4\ntwo,1,5\n");
    report::HeatFigure heat;
    heat.x_values = {1, 2, 3};
    heat.y_values = {10, 20};
    heat.values = {1, 2, 3, 4, 5, 6};
    report::write_figure(folder.path(), "map", heat);
    folder.put("map.csv", "x,y,value\n1,10,1\n2,10,2\n3,10,3\n1,20,4\n2,20,5\n");
    const Json read = folder.read();
    ASSERT_EQ(read["unreadable"].size(), 2U);
    EXPECT_NE(read["unreadable"][0].get<std::string>().find(
                  "got 3 rows in 'curve.csv', expected as many as the picture says. hint: run the command again"),
              std::string::npos)
        << read["unreadable"][0];
    EXPECT_NE(read["unreadable"][1].get<std::string>().find("got 5 cells in 'map.csv', expected 3 x 2"),
              std::string::npos)
        << read["unreadable"][1];
    EXPECT_TRUE(part_of(read, "figures").is_null());
}

// The one high point of a thousand is between two that any even choice would take.
TEST(ClaimsPage, LinesOfManyPointsKeepTheirPeaks) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", R"({"claims": [
      {"id": "a-b", "statement": "s", "source": "", "predicted": 1, "measured": 1, "tolerance": 0, "verdict": "holds",
       "note": "", "expected_verdict": "holds", "seconds": 1, "figures": ["curve"]}]})");
    report::Series peak{"one", {}, std::vector<double>(1000, 2.0), {}, {}, {}};
    for (int i = 0; i < 1000; ++i) {
        peak.x.push_back(i);
    }
    peak.y[501] = 9;
    report::LineFigure lines;
    lines.series = {peak};
    report::write_figure(folder.path(), "curve", lines);
    const Json series = part_of(folder.read(), "figures")["figures"][0]["series"][0];
    ASSERT_LT(series["y"].size(), 600U);
    const auto found = std::find(series["y"].begin(), series["y"].end(), Json(9.0));
    ASSERT_NE(found, series["y"].end());
    EXPECT_EQ(series["x"][static_cast<std::size_t>(found - series["y"].begin())], 501.0);
}

// Quartiles by linear interpolation: of 10 and 20 they are 12.5, 15 and 17.5.
TEST(ClaimsPage, BoxesAreOfTheirOwnGroupAlone) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", R"({"claims": [
      {"id": "a-b", "statement": "s", "source": "", "predicted": 1, "measured": 1, "tolerance": 0, "verdict": "holds",
       "note": "", "expected_verdict": "holds", "seconds": 1, "figures": ["boxes"]}]})");
    report::BoxFigure boxes;
    boxes.title = "Boxes";
    boxes.groups = {{"one", {3, 1, 2, 5, 4}, {}, {}, {{"bound", 7}}}, {"two", {20, 10}, {}, {}, {}}};
    report::write_figure(folder.path(), "boxes", boxes);
    const Json figures = part_of(folder.read(), "figures")["figures"];
    ASSERT_EQ(figures.size(), 1U);
    const Json& groups = figures[0]["groups"];
    EXPECT_EQ(groups[0]["five"], typed("[1.0, 2.0, 3.0, 4.0, 5.0]"));
    EXPECT_EQ(groups[0]["count"], 5);
    EXPECT_EQ(groups[0]["marks"], typed(R"([{"label": "bound", "value": 7.0}])"));
    EXPECT_EQ(groups[1]["five"], typed("[10.0, 12.5, 15.0, 17.5, 20.0]"));
    EXPECT_EQ(groups[1]["count"], 2);
    EXPECT_EQ(groups[1]["marks"], Json::array());
}

// As in the picture of it, which says "n = 3" of the first group and does not show the second.
TEST(ClaimsPage, ABoxIsOfTheValuesThatItsAxisCanShow) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", R"({"claims": [{"id": "one", "statement": "s", "source": "p", "predicted": null,
       "measured": null, "tolerance": null, "verdict": "holds",
       "note": "", "expected_verdict": "holds", "seconds": 1, "figures": ["boxes"]}]})");
    report::BoxFigure boxes;
    boxes.axis.scale = report::Scale::log;
    boxes.groups = {{"one", {4, 0, 1, NAN, 2, -8}, {}, {}, {}}, {"two", {NAN, NAN}, {}, {}, {}}};
    report::write_figure(folder.path(), "boxes", boxes);
    EXPECT_NE(report::to_svg(boxes).find(">n = 3<"), std::string::npos);
    const Json groups = part_of(folder.read(), "figures")["figures"][0]["groups"];
    EXPECT_EQ(groups[0]["five"], typed("[1.0, 1.5, 2.0, 3.0, 4.0]"));
    EXPECT_EQ(groups[0]["count"], 3);
    EXPECT_EQ(groups[1]["count"], 0);
}

TEST(TrainingPage, HasStepsAndTheLastRecordOfTheLayers) {
    const ResultFolder folder("train");
    const std::string summary = R"({"name": "NAME", "scheme": "peri-ln", "equation": "e", "outcome": "done", "steps": 2,
      "loss": 2.5, "validation_loss": 2.75, "entropy_floor": null, "growth": 3, "smallest_gradient": 0.25, "largest_gradient": 8,
      "tokens_per_second": 100})";
    std::string other = summary;
    other.replace(other.find("NAME"), 4, "b-2");
    std::string one = summary;
    one.replace(one.find("NAME"), 4, "a-1");
    folder.put("summary.json", "[" + one + "," + other + "]");
    folder.put("a-1/metrics.jsonl",
               "{\"step\":1,\"loss\":4,\"gradient_norm\":9,\"layers\":[{\"norm\":1},{\"norm\":2}],\"seal\":\"x\"}\n"
               "{\"step\":2,\"loss\":3.5,\"layers\":[{\"norm\":5,\"gradient\":7},{\"norm\":6,\"gradient\":8}]}\n"
               "{\"step\":3,\"loss\":null,\"validation_loss\":2}\n{\"step\":4,\"lo");
    const Json read = folder.read();
    ASSERT_EQ(read["unreadable"].size(), 1U) << "the other run has no metrics";
    EXPECT_NE(read["unreadable"][0].get<std::string>().find("b-2/metrics.jsonl"), std::string::npos);
    EXPECT_EQ(part_of(read, "table")["rows"].size(), 2U);
    EXPECT_EQ(dump_json(part_of(read, "table")["rows"][0]), R"(["a-1","e","done",2,2.5,2.75,null,3.0,0.25,8.0,100.0])");
    std::vector<Json> curves;
    for (const Json& part : read["parts"]) {
        if (part["kind"] == "curves") {
            curves.push_back(part);
        }
    }
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0]["series"][0]["x"], typed("[1.0, 2.0, 3.0]")) << "a torn line is not there yet";
    EXPECT_EQ(dump_json(curves[0]["series"][0]["y"]["loss"]), "[4.0,3.5,null]");
    EXPECT_EQ(curves[0]["shown"], typed(R"(["loss", "validation_loss", "gradient_norm"])")) << "as the lines call them";
    EXPECT_EQ(curves[0]["series"][0]["y"]["validation_loss"], typed("[2.0]"));
    EXPECT_EQ(curves[0]["series"][0]["own_x"]["validation_loss"], typed("[3.0]")) << "where it was measured";
    EXPECT_EQ(curves[1]["series"][0]["y"]["norm"], typed("[5.0, 6.0]"));
    EXPECT_EQ(curves[1]["series"][0]["y"]["gradient"], typed("[7.0, 8.0]"));
}

TEST(InspectionPage, HasBlocksAndHeads) {
    const ResultFolder folder("inspect");
    folder.put("inspect.json", R"({"model": {"name": "m"}, "summary": ["It grows."],
      "layers": [{"layer": 0, "norm": 1.5, "cosine": null, "lens_top_text": "x"}, {"layer": 1, "norm": 2.5, "cosine": 0.5}],
      "heads": [{"layer": 0, "head": 0, "entropy": 1.25, "sink": 0.5}, {"layer": 1, "head": 0, "entropy": 0.75, "sink": null}]})");
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    EXPECT_EQ(part_of(read, "sentences")["sentences"], typed(R"(["It grows."])"));
    const Json series = part_of(read, "curves")["series"][0];
    EXPECT_EQ(series["name"], "m");
    EXPECT_EQ(series["y"]["norm"], typed("[1.5, 2.5]"));
    EXPECT_FALSE(series["y"].contains("layer")) << "the axis is no curve";
    EXPECT_EQ(dump_json(series["y"]["cosine"]), "[null,0.5]");
    const Json heads = part_of(read, "heads");
    EXPECT_EQ(heads["shown"], "entropy");
    EXPECT_EQ(heads["heads"][1]["layer"], 1);
    EXPECT_EQ(heads["heads"][1]["numbers"]["entropy"], 0.75);
}

TEST(InspectionPage, TheBandAroundMedianLengthsIsFromTheLowToTheHighOnes) {
    const ResultFolder folder("inspect");
    folder.put("inspect.json", R"({"model": {"name": "m"},
      "layers": [{"layer": 0, "norm_low": 1, "norm_median": 2, "norm_high": 5}]})");
    EXPECT_EQ(part_of(folder.read(), "curves")["bands"], typed(R"({"norm_median": ["norm_low", "norm_high"]})"));
}

TEST(InspectionPage, OfNoModelsIsDamage) {
    const ResultFolder folder("inspect");
    folder.put("inspect.json", R"({"models": []})");
    const Json read = folder.read();
    ASSERT_EQ(read["unreadable"].size(), 1U);
    EXPECT_NE(read["unreadable"][0].get<std::string>().find("inspect.json"), std::string::npos);
}

TEST(InspectionPage, SaysOfWhichModelItsWordsAre) {
    const ResultFolder folder("inspect");
    const auto model = [](const std::string& name) {
        return R"({"model": {"name": ")" + name + R"("}, "summary": ["Of )" + name +
               R"(."], "layers": [{"layer": 0, "norm": 1}]})";
    };
    folder.put("inspect.json", R"({"models": [)" + model("a") + "," + model("b") + "]}");
    const Json read = folder.read();
    std::vector<std::string> found;
    for (const Json& part : read.at("parts")) {
        if (part.at("kind") == "sentences") {
            found.push_back(part.at("title").get<std::string>() + " - " + part.at("sentences")[0].get<std::string>());
        }
    }
    EXPECT_EQ(found, (std::vector<std::string>{"In words: a - Of a.", "In words: b - Of b."}));
}

TEST(LimitsPage, HasItsFiguresInOrderAndAMapOfHeads) {
    const ResultFolder folder("limits");
    folder.put("limits.json",
               R"json({"model": {"name": "/a/folder/m/", "layers": 1, "heads": 2, "dim": 8, "equation": "norm(x)"},
      "tokens": 12, "attention": "softmax", "summary": ["s"], "guidance": [],
      "alternatives": [{"attention": "ssmax:1"}, {"attention": "../x"}],
      "heads": [{"layer": 0, "head": 1, "active_share": 0.125, "diagnosis": "so", "selective": true, "separation": []},
                {"layer": 0, "head": 0, "active_share": 0.5, "selective": false}]})json");
    report::LineFigure lines;
    lines.series = {{"one", {1, 2}, {3, 4}, {}, {}, {}}};
    for (const char* name : {"distance-n-softmax", "distance-length-softmax", "critical-n-ssmax-1", "share-length"}) {
        lines.title = name;
        report::write_figure(folder.path(), name, lines);
    }
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json figures = part_of(read, "figures")["figures"];
    ASSERT_EQ(figures.size(), 4U);
    EXPECT_EQ(figures[0]["title"], "share-length");
    EXPECT_EQ(figures[1]["title"], "distance-length-softmax");
    EXPECT_EQ(figures[2]["title"], "distance-n-softmax");
    EXPECT_EQ(figures[3]["title"], "critical-n-ssmax-1");
    EXPECT_EQ(figures[3]["series"][0]["y"], typed("[3.0, 4.0]"));
    const Json head = part_of(read, "heads")["heads"][0];
    EXPECT_EQ(head["head"], 1);
    EXPECT_EQ(head["numbers"]["active_share"], 0.125);
    EXPECT_EQ(head["words"]["diagnosis"], "so");
    EXPECT_EQ(part_of(read, "heads")["title"], "Attention heads of m") << "the last part of its path";
}

TEST(TheoryPage, SaysHowEachSchemeBeginsAndEnds) {
    const ResultFolder folder("theory");
    folder.put("config.toml", "[theory]\ntokens = 8\nbeta = [1, 5]\n");
    const auto run = [](const std::string& scheme, const std::string& beta, const std::string& terminal,
                        const std::string& t) {
        return R"({"scheme": ")" + scheme + R"(", "equation": "e )" + scheme + R"(", "beta": )" + beta +
               R"(, "initial_velocity": 0.125, "terminal": )" + terminal +
               R"(, "time_to_cosine": [{"cosine": 0.5, "t": )" + t + R"(}]})";
    };
    folder.put("theory.json", R"({"summary": "In short.", "runs": [)" +
                                  run("a", "1", R"({"law": "power", "exponent": -2.9999999999})", "4") + "," +
                                  run("a", "5", R"({"law": "exponential", "rate": 2})", "null") + "," +
                                  run("b", "1", R"({"law": "stretched", "rate": 4, "p": 0.5})", "6") + "," +
                                  run("b", "5", R"({"law": "frozen", "limit": 0.75})", "7") + "," +
                                  run("c", "5", R"({"law": "frozen", "limit": 0.25, "reached": false})", "8") + "]}");
    report::LineFigure lines;
    lines.series = {{"one", {1, 2}, {3, 4}, {}, {}, {}}};
    for (const char* name : {"cosine", "radius", "velocity"}) {
        lines.title = name;
        report::write_figure(folder.path(), name, lines);
    }
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    EXPECT_EQ(
        read["short"][0],
        "3 equations were asked what becomes of 8 tokens that start at right angles to each other (inverse temperature "
        "β = 1, 5, "
        "one run each): all pairs then keep one common cosine, 0 at the start and 1 when the tokens have become one.");
    EXPECT_EQ(read["short"][1], "In short.");
    const Json rows = part_of(read, "table")["rows"];
    EXPECT_EQ(dump_json(rows[0]), R"(["a, β = 1","e a",0.125,"slows down like t^-3",4.0])");
    EXPECT_EQ(dump_json(rows[1]), R"x(["a, β = 5","e a",0.125,"slows down like exp(-2 t)",null])x");
    EXPECT_EQ(rows[2][3], "slows down like exp(-4 t^0.5)");
    EXPECT_EQ(rows[3][3], "stops below 1, at a cosine of 0.75");
    EXPECT_EQ(rows[4][3], "not reached, at a cosine of 0.25 at t = 1e100");
    const Json figures = part_of(read, "figures")["figures"];
    ASSERT_EQ(figures.size(), 3U);
    EXPECT_EQ(figures[1]["title"], "velocity");
}

// A stream that shrinks is exponential too: the class alone would be told as growth.
TEST(CheckPage, TellsStreamAndBoundInTheWordsOfTheFile) {
    const ResultFolder folder("check");
    folder.put("check.json",
               R"json({"scheme": "mine", "equation": "x/2", "verdict": "unstable", "growth": "exponential",
      "growth_words": "shrinks exponentially", "bound": "linear", "worst_case": {"words": "less than linear: like a root"},
      "suggested_dt": null, "advice": "Do not.", "findings": [], "beginning": [], "training": []})json");
    const Json facts = part_of(folder.read(), "findings")["facts"];
    ASSERT_EQ(facts.size(), 2U);
    EXPECT_EQ(facts[0][1], "shrinks exponentially");
    EXPECT_EQ(facts[1][1], "less than linear: like a root");
}

TEST(CheckPage, HasTheVerdictAndItsFindings) {
    const ResultFolder folder("check");
    folder.put("check.json",
               R"json({"scheme": "mine", "equation": "x + f(x)", "verdict": "unstable", "growth": "linear",
      "bound": "none", "suggested_dt": 0.25, "advice": "Do not.", "findings": [{"id": "f1", "severity": "unstable", "message": "grows",
      "evidence": {"depth": 96, "size": 12.5}}], "beginning": [{"depth": 2, "stream": [1, 2, 4], "gradient": [3, 2]}],
      "training": [{"scheme": "mine", "depth": 4, "outcome": "nan", "steps": 3, "first": 5, "last": null}]
})json");
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    const Json part = part_of(read, "findings");
    EXPECT_EQ(part["verdict"], "unstable");
    EXPECT_EQ(part["findings"][0]["message"], "grows");
    EXPECT_EQ(part["findings"][0]["severity"], "unstable");
    EXPECT_EQ(part["findings"][0]["id"], "f1");
    EXPECT_EQ(part["findings"][0]["evidence"], typed(R"([["depth", "96"], ["size", "12.5"]])"));
    EXPECT_EQ(part["facts"][2][1], "0.25");
    const Json series = part_of(read, "curves")["series"][0];
    EXPECT_EQ(series["x"], typed("[0.0, 1.0, 2.0]"));
    EXPECT_EQ(dump_json(series["y"]["gradient"]), "[3.0,2.0,null]");
    EXPECT_EQ(dump_json(part_of(read, "table")["rows"]), R"([["mine",4.0,"nan",3.0,5.0,null]])");
}

TEST(CheckPage, TellsTwoBlocksApartSentenceBySentence) {
    const ResultFolder folder("check");
    const std::string one = R"({"scheme": "a", "equation": "e", "verdict": "stable", "findings": []})";
    folder.put("check.json", R"({"checks": [)" + one + "," + one +
                                 R"(], "difference": "It is 2.5 times as fast. It grows. That is all."})");
    const Json part = part_of(folder.read(), "sentences");
    EXPECT_EQ(part["title"], "Which of the two");
    EXPECT_EQ(part["sentences"], typed(R"(["It is 2.5 times as fast.", "It grows.", "That is all."])"));
}

TEST(ResultFolders, ThatAreDamagedSayWhichPartCannotBeRead) {
    for (const char* damaged : {"", "{", "[]", "{\"runs\": 3}", R"({"runs": [{"scheme": 1}]})",
                                R"({"runs": [{"scheme": "a", "equation": "b", "outcome": "c", "t": ["x"]}]})"}) {
        const ResultFolder folder("simulate");
        folder.put("result.json", damaged);
        folder.put("provenance.json", "}");
        const Json read = folder.read();
        ASSERT_EQ(read["unreadable"].size(), 2U) << damaged;
        EXPECT_NE(read["unreadable"][0].get<std::string>().find("provenance.json"), std::string::npos);
        EXPECT_NE(read["unreadable"][1].get<std::string>().find("result.json"), std::string::npos);
        EXPECT_EQ(read["unreadable"][1].get<std::string>().find('\n'), std::string::npos);
    }
    const ResultFolder frames("simulate");
    frames.put("result.json", two_runs);
    frames.put("frames.safetensors", "no tensors");
    EXPECT_EQ(frames.read()["unreadable"].size(), 1U);
    EXPECT_FALSE(part_of(frames.read(), "curves").is_null()) << "the rest is shown";
    const ResultFolder empty("train");
    EXPECT_EQ(empty.read()["unreadable"].size(), 1U);
}

// The sums of all files, as the run leaves them at its end.
void seal(const ResultFolder& folder, const std::string& within = "") {
    Json sums = Json::object();
    for (const auto& file : std::filesystem::directory_iterator(folder.path() / within)) {
        if (file.is_regular_file() && file.path().filename() != "provenance.json") {
            sums[file.path().filename().string()] = record::file_checksum(file.path());
        }
    }
    folder.put(within + "provenance.json", dump_json({{"files", std::move(sums)}}));
}

void replace_in(const std::filesystem::path& file, const std::string& old, const std::string& by) {
    std::string text = read_text_file(file, 1 << 20);
    ASSERT_NE(text.find(old), std::string::npos) << text;
    text.replace(text.find(old), old.size(), by);
    std::ofstream(file) << text;
}

// Its own checksum is for the program, not for a reader; one that was written by hand has none.
TEST(ResultFolders, AProvenanceThatTheRunDidNotWriteIsNamedOnce) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", R"({"claims": []})");
    Json about = {{"seed", 71}, {"files", Json::object()}};
    about["checksum"] = record::checksum(std::string_view("{\n  \"seed\": 71,\n  \"files\": {}\n}"));
    folder.put("provenance.json", about.dump());
    const Json whole = folder.read();
    EXPECT_EQ(whole["unreadable"], Json::array());
    EXPECT_EQ(whole["provenance"].at(0), Json::array({"seed", "71"}));
    EXPECT_EQ(whole["provenance"].size(), 2U) << whole["provenance"];
    replace_in(folder.path() / "provenance.json", "71", "72");
    const Json edited = folder.read();
    ASSERT_EQ(edited["unreadable"].size(), 1U);
    EXPECT_NE(edited["unreadable"][0].get<std::string>().find("'provenance.json' is not what the run wrote"),
              std::string::npos)
        << edited["unreadable"];
}

TEST(ResultFolders, FiguresThatTheRunDidNotWriteAreNamed) {
    const auto figures = [](const ResultFolder& folder, const std::vector<std::string>& names) {
        report::LineFigure lines;
        lines.title = "Lines";
        lines.series = {{"one", {1, 2}, {3.25, 4}, {}, {}, {}}};
        for (const std::string& name : names) {
            report::write_figure(folder.path(), name, lines);
        }
        seal(folder);
    };
    const ResultFolder theory("theory");
    theory.put("theory.json", R"({"runs": []})");
    figures(theory, {"cosine", "velocity", "radius"});
    const ResultFolder limits("limits");
    limits.put("limits.json", R"({"model": {"name": "m", "layers": 1, "heads": 1, "dim": 8, "equation": "e"},
      "tokens": 12, "attention": "softmax", "alternatives": [], "heads": []})");
    figures(limits, {"separation"});
    const ResultFolder claims("reproduce");
    claims.put("claims.json",
               R"({"claims": [{"id": "a-b", "statement": "s", "source": "", "predicted": 1, "measured": 1,
      "tolerance": 0, "verdict": "holds", "note": "", "expected_verdict": "holds", "seconds": 1, "figures": ["curve"]}]})");
    figures(claims, {"curve"});
    for (const auto& [folder, name] : {std::pair<const ResultFolder*, std::string>{&theory, "velocity"},
                                       {&limits, "separation"},
                                       {&claims, "curve"}}) {
        EXPECT_EQ(folder->read()["unreadable"], Json::array()) << name;
        replace_in(folder->path() / (name + ".csv"), "3.25", "3.75");
        const Json edited = folder->read();
        ASSERT_EQ(edited["unreadable"].size(), 1U) << name;
        EXPECT_EQ(edited["unreadable"][0].get<std::string>().rfind("'" + name + ".csv' is not what the run wrote", 0),
                  0U)
            << edited["unreadable"][0];
        EXPECT_FALSE(part_of(edited, "figures").is_null()) << "it is shown as it is now";
        replace_in(folder->path() / (name + ".svg"), "Lines", "Limes");
        EXPECT_EQ(folder->read()["unreadable"].size(), 2U) << name;
    }
}

TEST(ResultFolders, OfSeveralRunsCompareEachWithItsOwnProvenance) {
    const ResultFolder folder("train");
    folder.put("summary.json", R"([{"name": "a-1", "scheme": "peri-ln", "equation": "e", "outcome": "done", "steps": 2,
      "loss": 2.5, "validation_loss": 2.75}])");
    seal(folder);
    folder.put("a-1/metrics.jsonl", "{\"step\":1,\"loss\":4}\n");
    seal(folder, "a-1/");
    EXPECT_EQ(folder.read()["unreadable"], Json::array());
    folder.put("a-1/metrics.jsonl", "{\"step\":1,\"loss\":3}\n");
    const Json edited = folder.read();
    ASSERT_EQ(edited["unreadable"].size(), 1U);
    EXPECT_EQ(edited["unreadable"][0].get<std::string>().rfind("'a-1/metrics.jsonl' is not what the run wrote", 0), 0U)
        << edited["unreadable"][0];
}

// Two bytes a letter, and an odd number before them: the end lies inside a letter.
TEST(ResultFolders, LongTextsAreShortenedBetweenLetters) {
    const ResultFolder folder("simulate");
    std::string letters = "x";
    for (int i = 0; i < 100'000; ++i) {
        letters += "\u00e9";
    }
    folder.put("config.toml", "[simulate]\nscheme = \"" + letters + "\"\n");
    folder.put("result.json", two_runs);
    const Json read = folder.read();
    const std::string shown = read["settings"][0][1].get<std::string>();
    EXPECT_EQ(shown, letters.substr(0, 3999) + " ..");
    EXPECT_FALSE(part_of(read, "curves").is_null());
}

TEST(ResultFolders, OfLongNamesHaveATitleThatIsCutBetweenLetters) {
    const ResultFolder place("simulate");
    std::vector<std::filesystem::path> folders;
    for (const std::string begin : {"a", "b", "c"}) {
        std::string name = begin;
        for (int i = 0; i < 100; ++i) {
            name += "\u00e9";
        }
        place.put(name + "/config.toml", "[simulate]\nseed = \"1\"\n");
        folders.push_back(place.path() / name);
    }
    const std::string title = fitting_document(folders, Absent::refused).title;
    EXPECT_TRUE(title.ends_with("\u00e9\u2026")) << title;
    EXPECT_EQ(title, report::clean(title));
}

TEST(ResultFolders, ThatAreNoneAreRefused) {
    EXPECT_THROW(document_of({"/no/such/folder"}), Error);
    const ResultFolder other("schemes");
    EXPECT_THROW(other.read(), Error);
    std::filesystem::remove(other.path() / "config.toml");
    EXPECT_THROW(other.read(), Error);
    std::filesystem::create_symlink("config.toml", other.path() / "config.toml");
    try {
        other.read();
        ADD_FAILURE() << "a link to itself was read";
    } catch (const Error& error) {  // what cannot be followed is not said to be missing
        EXPECT_NE(std::string(error.what()).find("Too many levels of symbolic links"), std::string::npos)
            << error.what();
    }
}

TEST(ResultFolders, ShowEveryValueOfASettingAndWhatTheKernelsWere) {
    const ResultFolder folder("train");
    folder.put("config.toml", "[train]\nscheme = [\"pre-ln\", \"peri-ln\"]\n");
    folder.put("provenance.json", R"({"files": {"a": "b", "c": "d", "e": "f"}, "kernels": {"gemm": "avx2"}})");
    const Json read = folder.read();
    EXPECT_EQ(read["settings"], typed(R"([["scheme", "pre-ln, peri-ln"]])"));
    EXPECT_EQ(read["provenance"], typed(R"([["files", "3 with checksums, in provenance.json"],
                                            ["kernels", "{\"gemm\":\"avx2\"}"]])"));
}

TEST(ResultFolders, AnUnfinishedRunSaysSo) {
    const ResultFolder folder("train");
    std::filesystem::remove(folder.path() / "provenance.json");
    folder.put("metrics.jsonl", "{\"step\":1,\"loss\":4}\n");
    const Json read = folder.read();
    EXPECT_EQ(read["provenance"], typed(R"([["state", "this run is not finished"]])"));
    EXPECT_EQ(part_of(read, "curves")["series"][0]["y"]["loss"], typed("[4.0]"));
}

}  // namespace
}  // namespace flyball::results::test
