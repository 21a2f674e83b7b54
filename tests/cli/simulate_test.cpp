// `flyball simulate` as a user meets it: defaults, JSON contract, files, resuming, wrong input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test::simulate_test {
namespace {

class Folder {
  public:
    Folder()
        : path_((std::filesystem::temp_directory_path() / ("flyball-simulate-" + std::to_string(getpid()))).string()) {
        std::filesystem::remove_all(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

TEST(Simulate, RunsWithASchemeAloneAndShowsATableAndAPlot) {
    const Outcome outcome = run_program("simulate --scheme peri-ln");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("peri-ln"), std::string::npos);
    EXPECT_NE(outcome.out.find("mean cosine"), std::string::npos);
}

// 1 - cosine of two tokens falls like e^-2t: at t = 40 it would be 1e-36, and rtol is 1e-10.
TEST(Simulate, SaysWhereOneMinusCosineIsTheSolversTolerance) {
    const char* const words = "Values of 1 - cosine below 1e-17";
    EXPECT_NE(run_program("simulate post-ln --tokens 2 --dim 2 --time 40 --samples 9").out.find(words),
              std::string::npos);
    EXPECT_EQ(run_program("simulate post-ln --tokens 2 --dim 2 --time 15 --samples 9").out.find(words),
              std::string::npos);
    EXPECT_EQ(run_program("simulate post-ln --tokens 2 --dim 2 --layers 80 --samples 9").out.find(words),
              std::string::npos);
}

// A token alone has a cosine of 1 to the last digit, which is no small number that the solver has got wrong.
TEST(Simulate, AnExactCosineOfOneIsNotTheSolversTolerance) {
    const std::string alone = "simulate post-ln --tokens 1 --time 2 --samples 3";
    const Json document = parse_json(run_program(alone + " --json").out, "json");
    ASSERT_GT(document["one_minus_cosine_resolution"], 0);
    ASSERT_EQ(document["runs"][0]["one_minus_cosine"], Json({0.0, 0.0, 0.0}));
    const Outcome text = run_program(alone);
    EXPECT_EQ(text.exit, 0) << text.err;
    EXPECT_EQ(text.out.find("Values of 1 - cosine"), std::string::npos) << text.out;
}

// 1e3 max(rtol, sqrt(d) atol)^2, d = 2, and nothing where no tolerance is used or where motion of any size is followed.
TEST(Simulate, JsonSaysBelowWhichOneMinusCosineIsTheSolversTolerance) {
    for (const auto& [flags, expected] :
         std::vector<std::pair<std::string, Json>>{{"--time 2", 1e-17},
                                                   {"--time 2 --atol 1e-9", 2e-15},
                                                   {"--layers 8", nullptr},
                                                   {"--time 2 --method euler", nullptr},
                                                   {"--time 1e9 --log-time", nullptr},
                                                   // Attention in float allows no rtol below 1e-6.
                                                   {"--time 2 --precision f32", 1e-8},
                                                   {"--time 2 --precision f32 --rtol 1e-5", 1e-6},
                                                   // What is not followed in the tokens' own frames, however long.
                                                   {"--time 2e4 --log-time --ffn 3 --rtol 1e-5", 1e-7},
                                                   {"--time 2e4 --log-time --kernel reference", 1e-17}}) {
        const Outcome outcome = run_program("simulate post-ln --tokens 2 --dim 2 --samples 3 --json " + flags);
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json found = parse_json(outcome.out, "json").at("one_minus_cosine_resolution");
        if (expected.is_null()) {
            EXPECT_TRUE(found.is_null()) << flags;
        } else {
            EXPECT_NEAR(found.get<double>() / expected.get<double>(), 1, 1e-12) << flags;
        }
    }
}

TEST(Simulate, SaysWhatIsRun) {
    const Outcome outcome = run_program(
        "simulate --scheme pre-ln --tokens 5 --dim 6 --beta 2.5 --heads 2 --weights kaiming --fresh --mask causal "
        "--ffn 7 "
        "--systems 3 --r0 1.5 --layers 4 --dt 0.25 --seed 9 --samples 2",
        "COLUMNS=250");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
              "n = 5, d = 6, beta = 2.5, 2 heads, uniform start, r0 = 1.5, kaiming weights redrawn at every integer t, "
              "causal mask, FFN of width 7, 3 systems, 4 layers of dt = 0.25, seed 9");
    const Outcome shorter =
        run_program("simulate --scheme pre-ln --tokens 5 --dim 6 --r0 0.5 --time 1 --samples 2", "COLUMNS=250");
    EXPECT_EQ(shorter.out.substr(0, shorter.out.find('\n')),
              "n = 5, d = 6, beta = 1, uniform start, r0 = 0.5, ODE limit, seed 1");
}

TEST(Simulate, JsonFollowsTheContract) {
    const Outcome outcome =
        run_program("simulate --scheme post-ln --equation 'x + dt*f(norm(x)) | norm(x)' --json --samples 7");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    ASSERT_EQ(document["runs"].size(), 2U);
    for (const Json& run : document["runs"]) {
        EXPECT_EQ(run["outcome"], "done");
        EXPECT_EQ(run["t"].size(), 7U);
        EXPECT_EQ(run["t"][6], 10.0);
        for (const char* key : {"mean", "lo", "hi"}) {
            EXPECT_EQ(run["cosine"][key].size(), 7U);
        }
        for (const char* key : {"mean", "min", "max"}) {
            EXPECT_EQ(run["radius"][key].size(), 7U);
        }
        for (const char* key : {"variance", "energy", "speed", "clusters"}) {
            EXPECT_EQ(run[key].size(), 7U) << key;
        }
        EXPECT_TRUE(run["kernel"].is_string());
        EXPECT_GT(run["stats"]["evaluations"], 0);
        EXPECT_GT(run["stats"]["steps"], 0);
        EXPECT_GE(run["stats"]["seconds"], 0.0);
    }
    EXPECT_EQ(document["runs"][1]["equation"], "x + dt*f(norm(x)) | norm(x)");
    // Both runs have the same start.
    EXPECT_EQ(document["runs"][0]["cosine"]["mean"][0], document["runs"][1]["cosine"]["mean"][0]);
}

TEST(Simulate, WritesItsFilesAndRefusesAFolderThatIsNotEmpty) {
    const Folder folder;
    const std::string flags =
        "simulate --scheme ngpt --tokens 8 --dim 3 --time 2 --samples 5 --trajectory --out " + folder.path();
    EXPECT_EQ(run_program(flags).exit, 0);
    for (const char* name :
         {"config.toml", "provenance.json", "result.json", "samples.csv", "samples.safetensors", "cosine.svg",
          "cosine.csv", "radius.svg", "speed.svg", "sphere-ngpt.svg", "trajectory.h5"}) {
        EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "work"));
    const Outcome again = run_program(flags);
    EXPECT_EQ(again.exit, 2);
    EXPECT_NE(again.err.find("not empty"), std::string::npos) << again.err;
    const std::string before = read_text_file(folder / "samples.csv", 1 << 20);
    const std::string trajectory = read_text_file(folder / "trajectory.h5", 1 << 20);
    EXPECT_EQ(run_program(flags + " --force --threads 1").exit, 0);
    EXPECT_EQ(read_text_file(folder / "samples.csv", 1 << 20), before);
    EXPECT_EQ(read_text_file(folder / "trajectory.h5", 1 << 20), trajectory);
    // The configuration it wrote is the run.
    EXPECT_EQ(run_program("simulate --config " + (folder / "config.toml") + " --out " + (folder / "again")).exit, 0);
    EXPECT_EQ(read_text_file(folder / "again/samples.csv", 1 << 20), before);
}

TEST(Simulate, KilledAtAnyMomentAndResumedEndsWithTheSameBits) {
    const Folder folder;
    const std::string flags =
        "simulate --scheme mix-ln --scheme peri-ln --tokens 200 --dim 4 --beta 3 --rtol 1e-12 --time 40 --samples 12";
    const std::string out = " --trajectory --out " + folder.path();
    ASSERT_EQ(run_program(flags + out).exit, 0);
    const std::string csv = read_text_file(folder / "samples.csv", 1 << 20);
    const std::string trajectory = read_text_file(folder / "trajectory-2.h5", 1 << 24);
    std::filesystem::remove_all(folder.path());
    int killed = 0;
    for (int i = 1; !std::filesystem::exists(folder / "config.toml");
         ++i) {  // a slow machine needs longer to get there
        run_program(flags + out + " --force", "timeout -s KILL " + std::to_string(0.05 * i));
    }
    for (int i = 0; i < 40 && !std::filesystem::exists(folder / "provenance.json"); ++i) {  // written last
        ++killed;
        const std::string resume = "simulate --config " + (folder / "config.toml") + " --resume --out " + folder.path();
        run_program(resume, i < 6 ? "timeout -s KILL 0." + std::to_string(2 + i) : "");
    }
    EXPECT_GT(killed, 0);
    EXPECT_EQ(read_text_file(folder / "samples.csv", 1 << 20), csv);
    EXPECT_EQ(read_text_file(folder / "trajectory-2.h5", 1 << 24), trajectory);
}

TEST(Simulate, AnInterruptSavesTheRunAndTellsHowToGoOn) {
    const Folder folder;
    const std::string out = " --out " + folder.path();
    const Outcome outcome =
        run_program("simulate --scheme post-ln --tokens 600 --dim 16 --layers 1000000 --dt 0.1 --samples 3" + out,
                    "timeout --foreground -s INT 3");
    EXPECT_EQ(outcome.exit, 124) << "timeout's own code";
    EXPECT_NE(outcome.err.find("--resume"), std::string::npos) << outcome.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "config.toml"));
    EXPECT_FALSE(std::filesystem::exists(folder / "result.json"));
    const Outcome other = run_program("simulate --scheme pre-ln --resume" + out);
    EXPECT_EQ(other.exit, 2);
    EXPECT_NE(other.err.find("other settings"), std::string::npos) << other.err;
}

TEST(Simulate, SaysHowLongALongRunWillTakeAndEndsItInsideAnEvaluation) {
    const auto begin = std::chrono::steady_clock::now();
    // A layer takes ten seconds of a processor. Not more tokens: memory that nobody used before can be slow to come,
    // and who is stopped while it comes has heard no forecast.
    const Outcome outcome = run_program("simulate --scheme post-ln --tokens 60000 --dim 64 --layers 100 --samples 2",
                                        "timeout --foreground -s INT 2");
    EXPECT_EQ(outcome.exit, 124) << "timeout's own code";
    EXPECT_NE(outcome.err.find("flyball: post-ln will take about "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(" MB of memory"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    const Outcome quick = run_program("simulate --scheme post-ln --tokens 8 --time 1");
    EXPECT_EQ(quick.err, "");
}

TEST(Simulate, SeedsUseAll64Bits) {
    const Outcome outcome = run_program("simulate --scheme post-ln --tokens 3 --time 1 --seed 18446744073709551615");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(run_program("simulate --seed 18446744073709551616").exit, 2);
}

TEST(Simulate, WrongInputOfEveryKindExitsTwoWithOneSentence) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"--tokens 0", "got --tokens '0', expected a whole number, 1 or more"},
        {"--dim -1", "--dim"},
        {"--tokens many", "--tokens"},
        {"--beta inf", "finite"},
        {"--beta -2", "finite number, 0 or more"},
        {"--scheme peri", "did you mean peri-ln?"},
        {"--equation 'x + dt*f('", "[scheme.parse]"},
        {"--equation 'x + f(x)' --time 3", "use --layers"},
        {"--time 3 --layers 4", "one of them"},
        {"--layers 0", "got --layers '0', expected a whole number, 1 or more"},
        {"--threads -1", "got --threads '-1', expected a whole number, 0 or more"},
        {"--time 0", "above 0"},
        {"--start symmetric --tokens 40 --dim 20", "--start uniform"},
        {"--start cone", "cone:DELTA"},
        {"--weights gausian", "did you mean gaussian?"},
        {"--weights no-such.safetensors", "no-such.safetensors"},
        {"--weights gaussian --heads 5", "divides"},
        {"--weights builtin:pre-n", "did you mean"},
        {"--weights nobody/no-such-model", "a repository in the local Hugging Face cache"},
        {"--weights builtin:pre-ln --dim 32", "the 48 channels that the model has. hint: leave out --dim"},
        {"--weights builtin:pre-ln --heads 4", "the 6 heads that the model has"},
        {"--weights builtin:pre-ln --fresh", "not random"},
        {"--weights builtin:pre-ln --tied", "one after the other"},
        {"--weights builtin:post-ln --gains", "leave out --gains"},
        {"--gains", "the weights of a model"},
        {"--fresh", "--weights gaussian"},
        {"--attention softmx", "softmax"},
        {"--mask casual", "one of none, causal. hint: did you mean causal?"},
        {"--method rk5", "one of auto"},
        {"--until cosine=1", "cosine>0.999"},
        {"--precision f16", "one of f64, f32"},
        {"--kernel no-such", "kernel"},
        {"--samples 1", "2 or more"},
        {"--out /proc/flyball", "/proc/flyball"},
        {"--out /dev/null", "which is a file"},
        {"--resume", "--out"},
        {"--tokens 100000000 --dim 4096", "GB"},
        {"--samples 1000000000000", "GB"},
        {"--dim 0", "1 or more"},
        {"--weights kaiming:w=1", "q, k, v and o"},
        {"--threads 0x", "--threads"},
    };
    for (const auto& [flags, says] : cases) {
        const Outcome outcome = run_program("simulate " + flags);
        EXPECT_EQ(outcome.exit, 2) << flags << outcome.err;
        EXPECT_EQ(outcome.out, "") << flags;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << flags << ": " << outcome.err;
    }
}

TEST(Simulate, TakesTheWeightsOfAModelBlockAfterBlock) {
    const Outcome outcome = run_program("simulate pre-ln --weights builtin:pre-ln --gains --tokens 6 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    EXPECT_EQ(document["runs"][0]["t"].size(), 13U);  // a layer for each of its 12 blocks
    EXPECT_EQ(document["runs"][0]["stats"]["steps"], 12);
    EXPECT_EQ(document["weights"]["model"], "builtin:pre-ln");
    EXPECT_EQ(document["weights"]["blocks"], 12);
    EXPECT_EQ(document["weights"]["heads"], 6);
    EXPECT_EQ(document["weights"]["gains"], true);
    EXPECT_NEAR(document["weights"]["beta"].get<double>(), 48 / std::sqrt(8.0), 1e-12);
    EXPECT_GE(document["weights"]["notes"].size(), 4U);
    const Outcome text =
        run_program("simulate pre-ln --weights builtin:pre-ln --tokens 6 --mask causal", "COLUMNS=250");
    EXPECT_EQ(text.out.substr(0, text.out.find('\n')),
              "n = 6, d = 48, beta = 16.97056274847714, 6 heads, uniform start, weights of builtin:pre-ln, block after "
              "block, its positions, biases and FFN dropped, causal mask, 12 layers of dt = 1, seed 1");
    EXPECT_NE(text.out.find("* Learned positions are dropped.\n"), std::string::npos);
}

TEST(Simulate, OneTokenOneDimensionAndDegenerateStartsRun) {
    for (const char* flags :
         {"--tokens 1", "--dim 1", "--tokens 1 --dim 1 --scheme ngpt", "--beta 0", "--beta 10000 --time 1",
          "--start cone:1e-9 --scheme pre-ln", "--layers 1", "--samples 2 --log-time",
          "--weights kaiming --ffn 8 --systems 2 --time 1", "--weights orthogonal --heads 4 --fresh --time 2",
          "--precision f32 --mask causal --time 1", "--attention sparsemax --layers 3"}) {
        const Outcome outcome = run_program("simulate --json --scheme peri-ln " + std::string(flags));
        EXPECT_EQ(outcome.exit, 0) << flags << outcome.err;
        EXPECT_EQ(parse_json(outcome.out, flags)["runs"][0]["outcome"], "done") << flags;
    }
}

// A film of pictures takes many seconds; the signal comes when the first table is there.
TEST(Simulate, ASignalWhileResultsAreWrittenLeavesARunToBeTakenUp) {
    const Folder folder;
    const Outcome stopped = run_program(
        "simulate peri-ln post-ln --dim 3 --tokens 300 --animate --samples 300 --layers 300 --figure-format png --out "
        "'" +
        folder.path() + "' & p=$!; for i in $(seq 3000); do [ -e '" + (folder / "samples.csv") +
        "' ] && break; sleep 0.01; done; kill -TERM $p; wait $p");
    EXPECT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_NE(stopped.err.find("interrupted; go on with:"), std::string::npos) << stopped.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "work/run.json"));
    EXPECT_FALSE(std::filesystem::exists(folder / "provenance.json"));
}

TEST(Simulate, WhatWasInterruptedHasNotFailed) {
    const Outcome stopped =
        run_program("simulate post-ln --tokens 3000 --time 1000 & p=$!; sleep 1; kill -TERM $p; wait $p");
    EXPECT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_EQ(stopped.out.find("ended at"), std::string::npos) << stopped.out;
    EXPECT_TRUE(stopped.out.find("post-ln was interrupted.") != std::string::npos ||
                stopped.out.find("nothing was measured") != std::string::npos)
        << stopped.out;
}

// The signal comes once it is waited for (SIGTERM is the 15th bit of what is caught) and the run has begun.
TEST(Simulate, TheOnlyRunIsNotCompleteWhereASignalEndsIt) {
    const Outcome stopped = run_program(
        "simulate post-ln --tokens 60 --dim 3 --layers 100000000 --samples 3 & p=$!; for i in $(seq 3000); do "
        "grep -q 'SigCgt:.*[4-7c-f]...$' /proc/$p/status && break; sleep 0.01; done; sleep 0.3; kill -TERM $p; wait "
        "$p");
    EXPECT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_NE(stopped.err.find("interrupted; with --out DIR the next one can be continued"), std::string::npos)
        << stopped.err;
}

// Without a clock: the signal comes when the first sample is there.
TEST(Simulate, WhatASignalEndsAfterASampleIsToldWithoutAFailure) {
    const Folder folder;
    const Outcome stopped = run_program(
        "simulate post-ln --tokens 60 --dim 3 --layers 100000000 --samples 3 --trajectory --out '" + folder.path() +
        "' & p=$!; for i in $(seq 3000); do [ -e '" + (folder / "work/sample-1-00000.safetensors") +
        "' ] && break; sleep 0.01; done; kill -TERM $p; wait $p");
    EXPECT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_NE(stopped.out.find("\npost-ln was interrupted.\n"), std::string::npos) << stopped.out;
    EXPECT_EQ(stopped.out.find("ended at"), std::string::npos) << stopped.out;
}

}  // namespace
}  // namespace flyball::cli::test::simulate_test
