// What stands at the head of a page: what was run, and what came out.
#include "results/in_short.hpp"

#include "support.hpp"

namespace flyball::results::test::in_short_test {
namespace {

std::vector<std::string> said(const ResultFolder& folder) {
    const Json read = folder.read();
    EXPECT_EQ(read["unreadable"], Json::array());
    return read["short"].get<std::vector<std::string>>();
}

std::string run(const std::string& scheme, const std::string& cosine, const std::string& collapse,
                const std::string& groups, const std::string& outcome = "done") {
    return R"({"scheme": ")" + scheme + R"(", "equation": "e", "outcome": ")" + outcome +
           R"(", "t": [0, 7.5], "cosine": {"mean": [0, )" + cosine + R"(]}, "clusters": [64, )" + groups +
           R"(], "collapse_time": )" + collapse + "}";
}

TEST(InShort, ASimulationSaysUnderWhichSchemesTokensBecameOne) {
    const ResultFolder folder("simulate");
    folder.put("config.toml", "[simulate]\ntokens = 64\ndim = 16\nbeta = 2\nlayers = 24\nsystems = 8\n");
    folder.put("result.json", R"({"runs": [)" + run("late", "0.9995", "9", "1") + "," +
                                  run("low", "-0.25", "null", "60") + "," + run("early", "1", "4.5", "1") + "," +
                                  run("high", "0.9504", "null", "5") + "]}");
    const auto text = said(folder);
    ASSERT_EQ(text.size(), 2U);
    EXPECT_EQ(
        text[0],
        "4 schemes moved the same 64 tokens in 16 dimensions through 24 layers. Attention has the inverse temperature "
        "β = 2: the larger, the more a token looks at its nearest alone. It was done from 8 independent starts.");
    EXPECT_EQ(
        text[1],
        "All tokens became one (mean cosine above 0.999) under early (at depth 4.5) and late (at depth 9). "
        "Elsewhere the mean cosine at the end, 0 for unrelated tokens and 1 for equal ones, is 0.950 under high and "
        "−0.250 under low.");
}

// A mean cosine of 0 looks as if nothing had happened.
TEST(InShort, ASimulationSaysThatTokensGatheredInSeveralPlaces) {
    const ResultFolder folder("simulate");
    folder.put("config.toml", "[simulate]\ntokens = 64\ndim = 2\ntime = 10\nsystems = 1\n");
    folder.put("result.json", R"({"runs": [)" + run("a", "-0.0001", "null", "4") + "," + run("b", "0.02", "null", "9") +
                                  "," + run("c", "0.01", "null", "8", "diverged") + "," +
                                  run("d", "0.005", "null", "60", "until") + "]}");
    const auto text = said(folder);
    ASSERT_EQ(text.size(), 2U);
    EXPECT_EQ(
        text[0],
        "4 schemes moved the same 64 tokens in 2 dimensions over a depth of 10 (thin layers, depth counted as time).");
    EXPECT_EQ(text[1],
              "Under no scheme did all tokens become one: the mean cosine at the end, 0 for unrelated tokens and 1 for "
              "equal ones, is 0.020 under b, 0.010 under c, 0.005 under d and 0.000 under a. Tokens did gather, but in "
              "several "
              "places: at the end there are 4 groups under a and 8 under c. The run of c ended early, at depth 7.5: "
              "diverged.")
        << "what was waited for is not early";
}

TEST(InShort, ASimulationOfOneTokenSaysThatItIsAlone) {
    const ResultFolder folder("simulate");
    folder.put("config.toml", "[simulate]\ntokens = 1\ndim = 2\ntime = 10\nsystems = 1\n");
    folder.put("result.json", R"({"runs": [)" + run("a", "1", "null", "1") + "]}");
    const auto text = said(folder);
    ASSERT_EQ(text.size(), 2U);
    EXPECT_EQ(text[1], "One token alone has no other to gather with.");
}

Json claim(const std::string& id, const std::string& verdict) {
    return {{"id", id},   {"statement", "S " + id}, {"source", ""},   {"verdict", verdict},
            {"note", ""}, {"predicted", ""},        {"measured", ""}, {"tolerance", ""}};
}

TEST(InShort, ClaimsAreCountedByVerdictAndPaper) {
    const ResultFolder folder("reproduce");
    Json claims = {claim("limits-of-a", "fails"), claim("limits-b", "holds"), claim("limits-c", "holds"),
                   claim("limits-d", "undecided")};
    folder.put("claims.json", dump_json({{"claims", claims}}));
    EXPECT_EQ(said(folder),
              (std::vector<std::string>{
                  "Of 4 claims of the paper “Limitations of Normalization in Attention Mechanism” 2 hold as "
                  "stated, 1 fails and 1 is undecided.",
                  "What fails: “S limits-of-a”"}));
    EXPECT_EQ(part_of(folder.read(), "claims")["papers"],
              (Json{{"limits", "Limitations of Normalization in Attention Mechanism"}}));
    claims.push_back(claim("limits-e", "fails"));
    folder.put("claims.json", dump_json({{"claims", claims}}));
    EXPECT_EQ(said(folder).back(), "What fails: “S limits-of-a” and “S limits-e”");
    claims.erase(claims.end() - 1);
    claims.push_back(claim("stability-x", "fails"));
    claims.push_back(claim("stability-y", "fails"));
    folder.put("config.toml", "[reproduce]\nquick = true\n");
    folder.put("claims.json", dump_json({{"claims", claims}}));
    EXPECT_EQ(said(folder), (std::vector<std::string>{
                                "Of 6 claims of 2 papers 2 hold as stated, 3 fail and 1 is undecided. This was a "
                                "quick run: small sizes, which leave more undecided than the full ones."}));
}

TEST(InShort, ClaimsOfNoPaperAreNotCountedAsThoseOfOne) {
    const ResultFolder folder("reproduce");
    folder.put("claims.json", dump_json({{"claims", {claim("limits-a", "holds"), claim("mine-b", "holds")}}}));
    EXPECT_EQ(said(folder), (std::vector<std::string>{"Of 2 claims 2 hold as stated."}));
}

TEST(InShort, TrainingNamesTheLowestAndTheHighestLoss) {
    const ResultFolder folder("train");
    folder.put("config.toml",
               "[train]\nsteps = 100\ndata = \"/some/where/text.txt\"\nlayers = 4\ndim = 32\nseeds = 2\n");
    const auto summary = [](const std::string& name, const std::string& loss, const std::string& outcome) {
        return R"({"name": ")" + name + R"(", "scheme": "pre-ln", "equation": "e", "outcome": ")" + outcome +
               R"(", "steps": 100, "loss": 9, "validation_loss": )" + loss + "}";
    };
    folder.put("summary.json", "[" + summary("a", "3.25", "done") + "," + summary("b", "3.5", "done") + "," +
                                   summary("c", "3", "diverged") + "," + summary("untested", "null", "done") + "]");
    const Json read = folder.read();
    EXPECT_EQ(
        read["short"][0],
        "4 models were trained for 100 steps on text.txt, 4 blocks 32 wide; each scheme 2 times, from other random "
        "numbers (-1, -2, .. in its name).");
    EXPECT_EQ(
        read["short"][1],
        "On text that was kept aside, c ended with the lowest loss, 3 nats a token, and b with the highest, 3.5 (lower "
        "is better). c ended with: diverged.");
}

TEST(InShort, WithoutAnyLossTheFirstWordIsARun) {
    const ResultFolder folder("train");
    folder.put("config.toml", "[train]\nsteps = 1\n");
    folder.put("summary.json",
               R"([{"name": "a", "scheme": "pre-ln", "equation": "e", "outcome": "nan", "validation_loss": null},
                                  {"name": "b", "scheme": "pre-ln", "equation": "e", "outcome": "diverged", "validation_loss": null}])");
    EXPECT_EQ(folder.read()["short"][1], "a ended with: nan. b ended with: diverged.");
}

TEST(InShort, AnOnlyLossIsNotAlsoTheHighest) {
    const ResultFolder folder("train");
    folder.put("config.toml", "[train]\nsteps = 1\n");
    folder.put("summary.json",
               R"([{"name": "a", "scheme": "pre-ln", "equation": "e", "outcome": "done", "validation_loss": 3},
                                  {"name": "b", "scheme": "pre-ln", "equation": "e", "outcome": "done", "validation_loss": null}])");
    EXPECT_EQ(folder.read()["short"][1],
              "On text that was kept aside, a ended with the lowest loss, 3 nats a token (lower is better).");
}

TEST(InShort, ModelsAreCalledByTheLastPartOfTheirPathUnlessTwoAreAlike) {
    EXPECT_EQ(short_model_name("/a/b/m/"), "m");
    EXPECT_EQ(short_model_name("builtin:peri-ln"), "builtin:peri-ln");
    EXPECT_EQ(short_model_name("/"), "/");
    using Names = std::vector<std::string>;
    EXPECT_EQ(short_model_names({"x/a", "y/b"}), (Names{"a", "b"}));
    EXPECT_EQ(short_model_names({"x/a", "y/a"}), (Names{"x/a", "y/a"}));
}

TEST(InShort, OfHeadsThoseThatSelectAreCounted) {
    const ResultFolder folder("limits");
    folder.put("limits.json",
               R"json({"model": {"name": "dir/m", "layers": 1, "heads": 3, "dim": 8, "equation": "norm(x)"},
      "tokens": 12, "attention": "softmax", "alternatives": [], "heads": [{"layer": 0, "head": 1, "selective": true},
      {"layer": 0, "head": 0, "selective": false}, {"layer": 0, "head": 2, "selective": false}]})json");
    EXPECT_EQ(said(folder),
              (std::vector<std::string>{
                  "12 tokens of text went through m (1 blocks of 3 heads, 8 wide, block equation norm(x)). A head of "
                  "attention gives every token that it sees (a key) a share of its weight; 1 of 3 heads put 90 % of it "
                  "on 6 % of the keys or fewer."}));
}

// As the summary of `limits` itself counts them: without those that had no row, whose numbers are null.
TEST(InShort, OfHeadsThoseThatCouldNotBeMeasuredAreNotCounted) {
    const ResultFolder folder("limits");
    const auto put = [&](const char* heads) {
        folder.put("limits.json", std::string(R"json({"model": {"name": "m"}, "tokens": 12, "attention": "softmax",
      "alternatives": [], "heads": )json") +
                                      heads + "}");
    };
    put(R"json([{"layer": 0, "head": 0, "selective": true, "active_share": 0.05},
                {"layer": 0, "head": 1, "selective": false, "active_share": 0.5},
                {"layer": 1, "head": 0, "selective": false, "active_share": null}])json");
    ASSERT_EQ(said(folder).size(), 1U);
    EXPECT_NE(said(folder)[0].find("; 1 of 2 heads put 90 % of it on 6 % of the keys or fewer."), std::string::npos)
        << said(folder)[0];
    put(R"json([{"layer": 0, "head": 0, "selective": false, "active_share": null}])json");
    EXPECT_NE(said(folder)[0].find("; how many keys hold most of it could not be measured."), std::string::npos)
        << said(folder)[0];
}

TEST(InShort, ModelsThatCutTheTextDifferentlyHaveTokensOfTheirOwn) {
    const ResultFolder folder("inspect");
    folder.put("inspect.json", R"json({"models": [{"model": {"name": "a"}, "tokens": 1024, "layers": []},
                                                  {"model": {"name": "b"}, "tokens": 768, "layers": []}]})json");
    ASSERT_EQ(said(folder).size(), 1U);
    EXPECT_EQ(said(folder)[0].rfind("Of the same text went 1024 tokens through a and 768 tokens through b. ", 0), 0U)
        << said(folder)[0];
}

TEST(InShort, ACheckSaysWhatItsVerdictMeansAndTheGravestFinding) {
    const ResultFolder folder("check");
    folder.put("check.json", R"json({"checks": [
      {"scheme": "equation", "equation": "x", "verdict": "malformed", "findings": [{"id": "i", "severity": "malformed", "message": "No effect."},
        {"id": "k", "severity": "caution", "message": "Slow."}]},
      {"scheme": "peri-ln", "equation": "x", "verdict": "stable", "findings": [], "growth": "sqrt", "bound": "none", "training":
        [{"scheme": "peri-ln", "depth": 4, "outcome": "done", "steps": 3, "first": 5, "last": 4}], "yardsticks":
        [{"scheme": "pre-ln", "depth": 4, "outcome": "done", "steps": 3, "first": 5, "last": 2},
         {"scheme": "peri-ln", "depth": 4, "outcome": "done", "steps": 3, "first": 5, "last": 4}]}],
      "difference": "a is 2.5 long. b is not."})json");
    EXPECT_EQ(said(folder),
              (std::vector<std::string>{
                  "The block is malformed: a part of its equation does not do what it seems to. No effect.",
                  "peri-ln is stable: nothing speaks against training it."}));
    const Json read = folder.read();
    EXPECT_EQ(part_of(read, "sentences")["sentences"], typed(R"(["a is 2.5 long.", "b is not."])"));
    const Json stable = read["parts"][2];
    EXPECT_EQ(stable["facts"][0][1], "grows like the root of depth");
    EXPECT_EQ(stable["facts"][1][1], "nothing in the equation holds it back");
    EXPECT_EQ(part_of(read, "table")["rows"].size(), 2U) << "the block, and the yardstick that is another";
}

}  // namespace
}  // namespace flyball::results::test::in_short_test
