// What people type wrongly: each gets one sentence that says what was got and what to do, exit code 2, and nothing is
// written.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "program.hpp"

namespace flyball::cli::test {
namespace {

struct Wrong {
    const char* arguments;
    std::vector<std::string> says;
};

const std::vector<Wrong>& wrong_inputs() {
    static const std::vector<Wrong> table = {
        // commands
        {"simulat", {"unknown command 'simulat' (did you mean simulate?)"}},
        {"Simulate", {"did you mean simulate?"}},
        {"frobnicate", {"unknown command 'frobnicate'", "simulate", "see flyball --help"}},
        {"--frobnicate", {"unknown command"}},
        {"help frobnicate", {"unknown command 'frobnicate'"}},
        {"help simulate theory", {"'theory'", "one command"}},
        {"help --completion csh", {"the shell 'csh'", "bash, zsh, fish"}},
        {"help --completion", {"without a shell"}},
        // flags
        {"simulate --token 5", {"unknown flag '--token' (did you mean --tokens?)", "flyball simulate --help"}},
        {"simulate --Tokens 5", {"did you mean --tokens?"}},
        {"simulate --log_time", {"did you mean --log-time?"}},
        {"simulate -tokens 5", {"did you mean --tokens?"}},
        {"simulate --depth 48", {"unknown flag '--depth' (did you mean --layers?)"}},
        {"simulate --n 48", {"did you mean --tokens?"}},
        {"check peri-ln --layers 48", {"unknown flag '--layers' (did you mean --depth?)"}},
        {"train --lr 1e-3", {"did you mean --rate?"}},
        {"simulate --zzzzzz", {"unknown flag '--zzzzzz', expected a flag that"}},
        {"simulate --tokens", {"--tokens without a value", "number of particles"}},
        {"simulate --tokens= 8", {"--tokens ''", "a whole number, 1 or more"}},
        {"simulate --out= --json", {"--out ''", "the name of a folder"}},
        {"simulate --tokens 5 --tokens 6", {"--tokens several times"}},
        {"simulate --json=5", {"--json with a value"}},
        {"tokenize", {"no MODEL", "tokenizer.json"}},
        {"tokenize builtin:pre-ln extra --string a", {"'extra'", "one argument too many"}},
        // numbers
        {"simulate --beta x", {"got --beta 'x', expected a finite number, for example 0.5"}},
        {"simulate --beta", {"--beta without a value"}},
        {"simulate --beta -1", {"got --beta -1", "0 or more"}},
        {"simulate --beta 1,2", {"--beta '1,2'"}},
        {"simulate --beta nan", {"--beta 'nan'"}},
        {"simulate --tokens 0", {"--tokens '0'", "a whole number, 1 or more"}},
        {"simulate --tokens -5", {"--tokens '-5'", "a whole number, 1 or more"}},
        {"simulate --tokens 1.5", {"--tokens '1.5'"}},
        {"simulate --tokens many", {"--tokens 'many'"}},
        {"simulate --dim 0", {"--dim '0'", "1 or more"}},
        {"simulate --samples 0", {"--samples '0'", "2 or more"}},
        {"simulate --samples 1", {"--samples '1'"}},
        {"simulate --layers 0", {"--layers '0'"}},
        {"simulate --dt 0 --layers 4", {"--dt 0", "above 0"}},
        {"simulate --time -3", {"--time -3", "above 0"}},
        {"simulate --time 10 --layers 3", {"--time and --layers together"}},
        {"simulate --r0 0", {"--r0 0", "above 0"}},
        {"simulate --seed -1", {"--seed '-1'"}},
        {"simulate --threads -1", {"--threads '-1'", "a whole number"}},
        {"simulate --threads 2147483648", {"--threads '2147483648'", "a whole number from 1 to 1024"}},
        {"simulate --threads 1e300", {"--threads '1e300'", "a whole number from 1 to 1024"}},
        {"simulate --samples 1e20", {"--samples '1e20'", "up to 18446744073709551615: this one is too large"}},
        {"simulate --seed 1e18", {"--seed '1e18'", "all digits of a whole number this large"}},
        {"simulate --systems 1e12", {"--systems 1000000000000, --tokens", "--dim"}},
        {"simulate peri-ln --time 1e101", {"--time 1e101", "at most 1e100"}},
        {"train --context 4611686018427387904 --batch 2", {"--context 4611686018427387904", "at most 4294967296"}},
        {"simulate --heads 3 --dim 8 --weights gaussian", {"3 heads in 8 dimensions"}},
        {"simulate --systems 0", {"--systems '0'"}},
        {"theory --samples 0", {"samples"}},
        {"theory --beta x", {"--beta 'x'", "a finite number, for example"}},
        {"theory --tokens 1", {"tokens"}},
        {"theory --cosine 2", {"cosine"}},
        {"theory --plot picture.png", {"picture.png", ".svg"}},
        {"train --steps 0", {"--steps '0'"}},
        {"train --dim 7 --heads 2", {"heads"}},
        {"check peri-ln --depth 0", {"--depth '0'"}},
        {"sample builtin:pre-ln --tokens 0", {"--tokens '0'", "1 or more"}},
        {"sample builtin:pre-ln --temperature -1", {"temperature"}},
        {"sample builtin:pre-ln --temperature abc", {"got --temperature 'abc', expected a finite number"}},
        // names
        {"simulate perri-ln", {"unknown scheme 'perri-ln'", "did you mean peri-ln?"}},
        {"simulate gemma", {"Gemma 2 and Gemma 3 as peri-ln"}},
        {"simulate layernorm", {"LayerNorm is a norm"}},
        {"simulate mix-ln:tau=2", {"tau = 2", "0 to 1"}},
        {"simulate mix-ln:tua=0.5", {"unknown parameter 'tua'", "did you mean tau?"}},
        {"simulate pre-ln:tau=1", {"this scheme has no parameters"}},
        {"simulate --start symetric", {"did you mean symmetric?"}},
        {"simulate --start cone", {"cone:DELTA"}},
        {"simulate --start cone:2", {"cone:2"}},
        {"simulate --mask casual", {"did you mean causal?"}},
        {"simulate --attention softmx", {"softmx"}},
        {"simulate --method rk5", {"did you mean rk4?"}},
        {"simulate --weights gausian", {"did you mean gaussian?"}},
        {"simulate --weights nowhere.safetensors", {"nowhere.safetensors"}},
        {"simulate --config nowhere.toml", {"nowhere.toml"}},
        {"forward nowhere --string a", {"nowhere"}},
        {"inspect builtin:peri", {"builtin:peri"}},
        {"reproduce dynamic --quick", {"dynamic"}},
        {"reproduce --only dynamics-table-peri", {"unknown claim"}},
        // events
        {"simulate --until cosine", {"--until 'cosine'", "in quotes"}},
        {"simulate --until 'cosine>x'", {"--until 'cosine>x'", "and a number"}},
        {"simulate --until 'cosine>2'", {"--until 'cosine>2', which can never hold", "between -1 and 1"}},
        {"simulate --until 'cosine > 1'", {"can never hold"}},
        {"simulate --until 'cosine<2'", {"always holds"}},
        {"simulate --until 'cosine>=-1'", {"--until 'cosine>=-1', which always holds"}},
        {"simulate --until 'cosine<=1'", {"always holds"}},
        {"simulate --until 'one_minus_cosine>=0'", {"always holds"}},
        {"simulate --until 'clusters<1'", {"can never hold"}},
        {"simulate --until 'cosin>0.9'", {"did you mean cosine?"}},
        {"simulate --until 'cosine=0.9'", {"one of < > <= >="}},
        // equations
        {"schemes 'x + dt*layernorm(f(x))'", {"unknown function 'layernorm'", "did you mean ln"}},
        {"schemes 'x + dt*rmsnorm(f(x))'", {"did you mean rms"}},
        {"schemes 'x + dt*mlp(x)'", {"did you mean ffn?"}},
        {"schemes 'x + dt*attention(x)'", {"did you mean attn?"}},
        {"schemes 'x + dt*f(norm(x)'", {"')' to close"}},
        {"schemes 'x + dt f(x)'", {"expected"}},
        {"schemes 'x + alpha*f(x)'", {"unknown name 'alpha'", "where alpha = 1"}},
        {"schemes 'x + dt*f(x)**2'", {"powers are written with ^"}},
        {"schemes ''", {"expected"}},
        // folders
        {"simulate --resume", {"--resume", "--out"}},
        {"simulate --trajectory", {"--trajectory without --out"}},
        {"simulate --out ''", {"expected"}},
        // nothing, which would be taken for a flag that was not given
        {"simulate --config ''", {"--config ''", "the name of a file"}},
        {"check pre-ln --against ''", {"--against ''", "the name of a file"}},
        {"sample builtin:pre-ln --ids ''", {"--ids ''", "token ids, or @FILE"}},
        {"theory --plot ''", {"--plot ''", "ends with .svg"}},
        {"reproduce --model ''", {"--model ''", "builtin:NAME"}},
        {"reproduce --text ''", {"--text ''", "the name of a file"}},
        {"simulate --out run --figure-width ''", {"--figure-width ''", "a number with its unit"}},
        {"simulate --out run --figure-font ''", {"--figure-font ''", "a number with its unit"}},
    };
    return table;
}

TEST(WrongInput, GetsOneSentenceAndLeavesNothingBehind) {
    EXPECT_GE(wrong_inputs().size(), 60U);
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-wrong-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const Wrong& one : wrong_inputs()) {
        SCOPED_TRACE(one.arguments);
        const Outcome outcome = run_program(one.arguments, "cd '" + folder.string() + "'; exec timeout -s KILL 60");
        EXPECT_EQ(outcome.exit, 2) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err.rfind("flyball: [", 0), 0U) << outcome.err;
        EXPECT_NE(outcome.err.find(", expected "), std::string::npos) << outcome.err;
        // A sentence; below it, for an equation, its text and the caret.
        const bool has_caret = outcome.err.find('^', outcome.err.find('\n')) != std::string::npos;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), has_caret ? 3 : 1) << outcome.err;
        EXPECT_EQ(outcome.err.find("----"), std::string::npos) << "a flag has two dashes: " << outcome.err;
        EXPECT_LT(outcome.err.find('\n'), 420U) << "too long to be read: " << outcome.err;
        for (const std::string& part : one.says) {
            EXPECT_NE(outcome.err.find(part), std::string::npos) << "no '" << part << "' in " << outcome.err;
        }
        EXPECT_TRUE(std::filesystem::is_empty(folder));
    }
    std::filesystem::remove_all(folder);
}

TEST(WrongInput, IsAnsweredWithTheProgramAsItWasCalled) {
    const auto said = [](const std::string& called) {
        return run_program("simulate --zzzzzz", called.empty() ? "" : "FLYBALL_CALLED_AS=\"" + called + "\"").err;
    };
    EXPECT_NE(said("").find("`flyball simulate --help`"), std::string::npos) << said("");
    EXPECT_NE(said("./flyball").find("`./flyball simulate --help`"), std::string::npos) << said("./flyball");
    EXPECT_NE(said("../my lab/flyball").find("`'../my lab/flyball' simulate --help`"), std::string::npos);
    // A folder with an unfinished run says how to go on with it.
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-called-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    const Outcome stopped = run_program(
        "simulate post-ln --tokens 600 --dim 16 --layers 1000000 --samples 3 --out '" + folder.string() + "'",
        "FLYBALL_CALLED_AS=./flyball timeout --foreground -s INT 2");
    EXPECT_NE(stopped.err.find("go on with: ./flyball simulate --config "), std::string::npos) << stopped.err;
    std::filesystem::remove_all(folder);
}

TEST(RightInput, IsReadAsPeopleWriteIt) {
    const std::string small = " --dim 4 --time 0.5 --samples 3 --quiet";
    for (const std::string arguments :
         {"simulate PERI-LN --tokens 1e1", "simulate prenorm --tokens 8 --until 'cosine >= 0.9'",
          "simulate sandwich --tokens 8 --until 'clusters <= 1'", "simulate pre-ln --tokens 8.0 --mask CAUSAL"}) {
        const Outcome outcome = run_program(arguments + small);
        EXPECT_EQ(outcome.exit, 0) << arguments << outcome.err;
        EXPECT_EQ(outcome.err, "") << arguments;
    }
    EXPECT_NE(run_program("simulate Peri-LN --tokens 1e1" + small).out.find("n = 10, "), std::string::npos);
    EXPECT_EQ(run_program("theory --samples 1e1 --json").exit, 0);
}

// 1,024, as core/parallel.cpp has it.
// The ids are those of the characters: the vocabulary of the builtin models is that of bytes.
TEST(RightInput, IsTheEmptyTextWhereNothingStandsBehindTheSign) {
    const Outcome first = run_program("tokenize builtin:pre-ln --string= --json");
    EXPECT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(first.out, run_program("tokenize builtin:pre-ln --json --string ''").out);
    EXPECT_EQ(run_program("tokenize builtin:pre-ln --tokens --string=").out, "0 tokens\n");
    const Outcome twice = run_program("tokenize builtin:pre-ln --string -- --string=");
    EXPECT_EQ(twice.exit, 2);
    EXPECT_NE(twice.err.find("got --string several times"), std::string::npos) << twice.err;
    const Outcome behind = run_program("tokenize builtin:pre-ln --string -- --config=");
    EXPECT_NE(behind.err.find("got --config '', expected the name of a file"), std::string::npos) << behind.err;
    // What stands where a value has to be is the value, however it looks.
    EXPECT_EQ(run_program("tokenize builtin:pre-ln --string --x=").out, "4 tokens\n45 45 120 61\n");
    EXPECT_EQ(run_program("tokenize builtin:pre-ln --string --text=").out, "7 tokens\n45 45 116 101 120 116 61\n");
    EXPECT_EQ(run_program("tokenize builtin:pre-ln --string=a=").out, "2 tokens\n97 61\n");
    EXPECT_NE(run_program("theory -- --tokens=").err.find("\n    --tokens=\n"), std::string::npos) << "an equation";
}

TEST(RightInput, MayBeTheMostThatIsAllowedAndNoMore) {
    const Outcome most = run_program("schemes pre-ln --threads 1024");
    EXPECT_EQ(most.exit, 0) << most.err;
    const Outcome more = run_program("schemes pre-ln --threads 1025");
    EXPECT_EQ(more.exit, 2);
    EXPECT_NE(more.err.find("got --threads '1025', expected a whole number from 1 to 1024"), std::string::npos)
        << more.err;
}

}  // namespace
}  // namespace flyball::cli::test
