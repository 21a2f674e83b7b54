// `flyball train` as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

class Train : public testing::Test {
  protected:
    Train() {
        folder_ = std::filesystem::temp_directory_path() / ("flyball-train-cli-" + std::to_string(getpid()));
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        std::ofstream text(folder_ / "text.txt");
        for (int i = 0; i < 60; ++i) {
            text << "to be or not to be, that is the question; ";
        }
    }
    ~Train() override { std::filesystem::remove_all(folder_); }
    Train(const Train&) = delete;
    Train& operator=(const Train&) = delete;

    std::string small(const std::string& rest, int steps = 20) const {
        return "train --data '" + (folder_ / "text.txt").string() +
               "' --layers 2 --dim 8 --heads 2 --context 8 --batch 4 --steps " + std::to_string(steps) + " " + rest;
    }
    std::string out(const std::string& name) const { return "--out '" + (folder_ / name).string() + "' "; }
    Json read(const std::string& name) const { return parse_json(read_text_file(folder_ / name, 1U << 24U), name); }

    std::filesystem::path folder_;
};

TEST_F(Train, PrintsOneDocumentThatFollowsTheContract) {
    const Outcome outcome = run_program(small("peri-ln --json"));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("scheme"), "peri-ln");
    EXPECT_EQ(json.at("equation"), "x + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_EQ(json.at("outcome"), "done");
    EXPECT_EQ(json.at("steps"), 20);
    EXPECT_TRUE(json.at("entropy_floor").is_null());
    // 256 bytes and 8 positions of 8 numbers; a block: 12*8^2 in matrices, 13*8 - 4*8 in biases, norms of 2*8 each
    const std::size_t block = 12 * 64 + (24 + 8 + 32 + 8) + 4 * 16;
    EXPECT_EQ(json.at("parameters").get<std::size_t>(), (256 + 8) * 8 + 2 * block + 16);
    EXPECT_GT(json.at("validation_loss").get<double>(), 0);
    EXPECT_LT(json.at("loss").get<double>(), std::log(256.0));
}

TEST_F(Train, OfOneRunLeavesAModelThatOtherCommandsOpen) {
    ASSERT_EQ(run_program(small("pre-ln " + out("run"))).exit, 0);
    for (const char* name : {"metrics.jsonl", "summary.json", "config.json", "model.safetensors", "tokenizer.json",
                             "loss.svg", "depth-norm.svg", "depth-angle.csv", "provenance.json"}) {
        EXPECT_TRUE(std::filesystem::exists(folder_ / "run" / name)) << name;
    }
    EXPECT_EQ(read("run/config.json").at("model_type"), "gpt2");
    const Outcome forward = run_program("forward '" + (folder_ / "run").string() + "' --string 'to be' --json");
    ASSERT_EQ(forward.exit, 0) << forward.err;
    EXPECT_EQ(parse_json(forward.out, "out").at("tokens"), 5);
}

TEST_F(Train, OfSeveralRunsHasAFolderForEachAndAListOfSummaries) {
    ASSERT_EQ(run_program(small("pre-ln peri-ln --dt 1,0.5 --seeds 2 " + out("runs"), 4)).exit, 0);
    const Json list = read("runs/summary.json");
    ASSERT_EQ(list.size(), 8U);
    EXPECT_EQ(list.at(3).at("name"), "pre-ln-dt0.5-2");
    EXPECT_EQ(list.at(3).at("dt"), 0.5);
    EXPECT_EQ(list.at(3).at("seed"), 2);
    for (const Json& one : list) {
        const std::string name = one.at("name").get<std::string>();
        EXPECT_TRUE(std::filesystem::exists(folder_ / "runs" / name / "metrics.jsonl")) << name;
    }
}

// What shells and file systems take for something else becomes a hyphen; points do not.
TEST_F(Train, NamesOfRunsKeepTheirPoints) {
    ASSERT_EQ(run_program(small("mix-ln:tau=0.3 pre-ln " + out("runs"), 2)).exit, 0);
    const Json list = read("runs/summary.json");
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list.at(0).at("name"), "mix-ln-tau-0.3-1");
    EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/mix-ln-tau-0.3-1/metrics.jsonl"));
}

TEST_F(Train, KilledAndTakenUpEndsWithTheSameModel) {
    ASSERT_EQ(run_program(small("ngpt --save 0 " + out("whole"), 60)).exit, 0);
    const std::string command = small("ngpt --save 0 " + out("killed"), 60);
    run_program(command, "timeout -s KILL 0.15");
    const std::string resume = "train --config '" + (folder_ / "killed" / "config.toml").string() + "' " +
                               out("killed") + "--resume --threads 1";
    for (int i = 0; i < 3; ++i) {
        run_program(resume, "timeout -s KILL 0.1");
    }
    if (!std::filesystem::exists(folder_ / "killed" / "config.toml")) {
        ASSERT_EQ(run_program(command).exit, 0);  // killed before it had begun
    } else {
        Outcome last = run_program(resume);
        for (int i = 0; i < 100 && last.err.find("another process") != std::string::npos; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the killed one is still on its way out
            last = run_program(resume);
        }
        ASSERT_EQ(last.exit, 0) << last.err;
    }
    EXPECT_EQ(read_text_file(folder_ / "whole" / "model.safetensors", 1U << 24U),
              read_text_file(folder_ / "killed" / "model.safetensors", 1U << 24U));
}

TEST_F(Train, StartsFromAModelUnderAnotherEquationAndSaysWhatIsNew) {
    ASSERT_EQ(run_program(small("pre-ln " + out("first"))).exit, 0);
    const std::string from = "--from '" + (folder_ / "first").string() + "' ";
    const Outcome same = run_program(small(from + "--json", 1));
    ASSERT_EQ(same.exit, 0) << same.err;
    const double before = read("first/summary.json").at("validation_loss").get<double>();
    EXPECT_NEAR(parse_json(same.out, "out").at("validation_loss").get<double>(), before, 0.1);
    const Outcome other = run_program(small("peri-ln " + from, 2));
    ASSERT_EQ(other.exit, 0) << other.err;
    EXPECT_NE(other.out.find("start anew"), std::string::npos) << other.out;
}

TEST_F(Train, GoesOnWithAModelAsItWas) {
    ASSERT_EQ(run_program(small("peri-ln --dt 0.25 " + out("step"), 4)).exit, 0);
    const std::string sizes = "train --data '" + (folder_ / "text.txt").string() + "' --context 8 --steps 2 --json ";
    const Outcome step = run_program(sizes + "--from '" + (folder_ / "step").string() + "'");
    ASSERT_EQ(step.exit, 0) << step.err;
    EXPECT_EQ(parse_json(step.out, "out").at("dt"), 0.25);
    EXPECT_EQ(parse_json(step.out, "out").at("scheme"), "peri-ln");
    const Outcome other = run_program(sizes + "--dt 0.5 --from '" + (folder_ / "step").string() + "'");
    EXPECT_EQ(parse_json(other.out, "out").at("dt"), 0.5) << other.err;

    // nGPT is still nGPT: no warm-up, the rate of its own width, vectors of unit length.
    ASSERT_EQ(run_program(small("ngpt " + out("unit"), 4)).exit, 0);
    const std::string from_unit = "--from '" + (folder_ / "unit").string() + "' ";
    ASSERT_EQ(run_program(sizes + from_unit + out("unit-again")).exit, 0);
    const std::string metrics = read_text_file(folder_ / "unit-again" / "metrics.jsonl", 1U << 24U);
    const Json line = parse_json(metrics.substr(0, metrics.find('\n')), "metrics");
    EXPECT_DOUBLE_EQ(line.at("lr").get<double>(), 1e-3 * std::sqrt(128.0 / 8));
    EXPECT_EQ(read("unit-again/config.json").at("equation"), read("unit/config.json").at("equation"));

    // Pre-LN has none of nGPT's norms inside attention.
    ASSERT_EQ(run_program(sizes + "pre-ln " + from_unit + out("plain")).exit, 0);
    EXPECT_EQ(read("plain/config.json").at("model_type"), "gpt2");
}

TEST_F(Train, RefusesSizesAndTokensThatTheModelDoesNotHave) {
    ASSERT_EQ(run_program(small("pre-ln --encoding chars " + out("first"), 2)).exit, 0);
    const std::string from = " --from '" + (folder_ / "first").string() + "' " + out("second");
    for (const char* wrong : {"--layers 3", "--dim 16", "--heads 1", "--ffn 9", "--norm rmsnorm", "--positions rope",
                              "--activation swiglu", "--qk-norm head", "--untied", "--init residual=1"}) {
        const Outcome outcome = run_program("train --data '" + (folder_ / "text.txt").string() +
                                            "' --encoding chars --context 8 --steps 1 " + wrong + from);
        EXPECT_EQ(outcome.exit, 2) << wrong;
        EXPECT_NE(outcome.err.find(std::string(wrong).substr(0, std::string(wrong).find(' '))), std::string::npos)
            << outcome.err;
    }
    // The model numbers " ,;abe.."; fewer characters have other numbers, and some it does not know.
    const auto refused = [&](const char* phrase) {
        std::ofstream text(folder_ / "other.txt");
        for (int i = 0; i < 60; ++i) {
            text << phrase;
        }
        text.close();
        const Outcome outcome = run_program("train --encoding chars --context 8 --steps 1 --data '" +
                                            (folder_ / "other.txt").string() + "'" + from);
        EXPECT_EQ(outcome.exit, 2) << outcome.out;
        return outcome.err;
    };
    const std::string moved = refused("to be to be to be ");
    EXPECT_NE(moved.find("data whose token 'b' is 1, expected 4"), std::string::npos) << moved;
    const std::string unknown = refused("TO BE OR NOT TO BE ");
    EXPECT_NE(unknown.find("data whose token 'B' is 1, expected tokens that"), std::string::npos) << unknown;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "second"));
}

TEST_F(Train, PrintsNoLineWiderThanEightyColumns) {
    const Outcome outcome = run_program(
        "train ln-scaling-output peri-ln --tokens 20000 --layers 1 --dim 8 --heads 1 --context 16 --batch 2 --steps 3");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("gap"), std::string::npos) << outcome.out;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
        EXPECT_LE(width, 80) << line;
    }
}

TEST_F(Train, ThatDivergesSaysSoAndExitsWithoutAnError) {
    const Outcome outcome = run_program(small("pre-ln --rate 50 --clip 0 --warm-up 0 --spike 0.2", 100));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("ended at step"), std::string::npos) << outcome.out;
}

// 2^64 - 1, which one run reaches and two would pass.
TEST_F(Train, TakesTheLastSeedThereIs) {
    const Outcome outcome = run_program(small("pre-ln --seed 18446744073709551615 --json", 1));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(parse_json(outcome.out, "out").at("seed").get<std::uint64_t>(), 18446744073709551615U);
}

TEST_F(Train, RefusesWhatMakesNoSenseInOneSentence) {
    for (const char* wrong :
         {"--dim 9", "--data nosuch.txt", "no-such-scheme", "--norm layernrm", "--init gian=1", "--dt 0", "--resume",
          "--context 100000", "--from nosuch", "--init residual=1/0", "--seeds 1000000000",
          "--seed 18446744073709551615 --seeds 2", "--dt 1,1", "--tokens 5000", "--warm-up 21", "--final-rate 2",
          "--dropout 1", "--beta2 1", "--clip -1"}) {
        const Outcome outcome = run_program(small(wrong + (" " + out("refused"))));
        EXPECT_EQ(outcome.exit, 2) << wrong;
        EXPECT_EQ(outcome.out, "") << wrong;
        EXPECT_EQ(outcome.err.rfind("flyball: [", 0), 0U) << wrong << ": " << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "refused")) << wrong;
    }
}

// The old runs inside are finished, and were not begun anew when the signal came: they are not those of the new plan.
TEST_F(Train, ForcedAnewAndInterruptedIsTakenUpToItsEnd) {
    const std::string runs = "pre-ln post-ln " + out("run");
    ASSERT_EQ(run_program(small(runs, 4)).exit, 0);
    const std::string begun = "'" + (folder_ / "run/pre-ln-1/work/run.json").string() + "'";
    const Outcome stopped = run_program(small(runs + "--force", 1000000) + " & p=$!; for i in $(seq 3000); do [ -e " +
                                        begun + " ] && break; sleep 0.01; done; kill -TERM $p; wait $p");
    ASSERT_EQ(stopped.exit, 130) << stopped.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/post-ln-1"));
    // As printed, and again interrupted at once: a million steps are too many for a test.
    const Outcome resumed =
        run_program(small(runs + "--resume", 1000000) + " & p=$!; sleep 0.5; kill -TERM $p; wait $p");
    EXPECT_EQ(resumed.exit, 130) << resumed.err;
}

TEST_F(Train, ForceRemovesRunsThatAreNotOfTheNewPlan) {
    ASSERT_EQ(run_program(small("pre-ln post-ln " + out("run"), 4)).exit, 0);
    ASSERT_EQ(run_program(small("peri-ln ngpt --force " + out("run"), 4)).exit, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/pre-ln-1"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/post-ln-1"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "run/peri-ln-1/model.safetensors"));
    ASSERT_EQ(run_program("simulate pre-ln --tokens 4 --time 1 --force " + out("run")).exit, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/peri-ln-1"));
}

TEST_F(Train, FinishedRunIsCompleteUnderWhateverInstructionSet) {
    const std::string command = small("pre-ln --json " + out("run"), 4);
    const Outcome first = run_program(command);
    ASSERT_EQ(first.exit, 0) << first.err;
    const Outcome again = run_program(command + " --resume", "FLYBALL_ISA=plain");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(again.out, first.out);
}

}  // namespace
}  // namespace flyball::cli::test
