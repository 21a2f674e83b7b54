// What the code of a block says its branches add, for equations whose answer can be read off.
#include "scheme/branches.hpp"

#include "scheme/branch_step.hpp"
#include "scheme/reverse.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

Code code_of(const std::string& equation) {
    const Program program = Program::parse(equation);
    return lower_block(program, SubLayers::attention_and_ffn, program.decide(Environment::block(1, 4, 0.5, 4, 5)));
}

// "attention x, feed-forward x" and so on.
std::string said(const std::string& equation) {
    const Program program = Program::parse(equation);
    std::string text;
    for (const Contribution& c : contributions(code_of(equation))) {
        text += (c.sub_layer == SubLayer::attention ? "a" : "f") + program.stream_name(c.stream) +
                (c.instruction < 0 ? "! " : " ");
    }
    return text;
}

TEST(Branches, EndInTheFirstSumWithAnythingElse) {
    EXPECT_EQ(said("x + dt*f(norm(x)) | norm(x)"), "ax fx ");
    EXPECT_EQ(said("norm(x + dt*f(x))"), "ax fx ");
    EXPECT_EQ(said("x + dt*norm(2*f(x)) | norm(x)"), "ax fx ");
    EXPECT_EQ(said("o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)"), "ax ay fx fy ");
    EXPECT_EQ(said("m = norm(x + dt*attn(x)); x = norm(x + m + dt*ffn(m))"), "ax fx ");
    EXPECT_EQ(said("x + attn(x) + ffn(x)"), "ax fx ");
}

TEST(Branches, WithoutASumAreTheStreamItself) {
    EXPECT_EQ(said("norm(f(x))"), "fx! ") << "attention only feeds the FFN";
}

TEST(Branches, EverySchemeOfTheCatalogueHasOneForEachSubLayer) {
    for (const CatalogueEntry& entry : catalogue()) {
        const std::string text = said(std::string(entry.equation));
        EXPECT_NE(text.find('a'), std::string::npos) << entry.name;
        EXPECT_NE(text.find('f'), std::string::npos) << entry.name;
    }
}

constexpr std::size_t rows = 4;
constexpr std::size_t dim = 5;
const Environment env = Environment::block(2, 4, 0.5, rows, dim);

const auto f = [](SubLayer sub_layer, const double* in, double* out) {
    if (sub_layer == SubLayer::attention) {
        plain_attention<double>(rows, dim, 0.9, in, out);
    } else {
        plain_ffn<double>(rows, dim, in, out);
    }
};

using Streams = std::vector<std::vector<double>>;

// One block, by the forward or the recording evaluation.
Streams block(const std::string& equation, const BranchFactors& factors, bool record,
              const ContributionSink<double>* sink = nullptr) {
    const Program program = Program::parse(equation);
    auto state = State<double>::start(program, rows, dim, random_rows(rows, dim, 3));
    if (!record) {
        BranchStep<double>(program, SubLayers::attention_and_ffn, rows, dim).layer(env, state, f, {}, {factors, sink});
        return state.streams;
    }
    Streams out = state.streams;
    std::vector<const double*> in;
    std::vector<double*> to;
    for (std::size_t i = 0; i < out.size(); ++i) {
        in.push_back(state.streams[i].data());
        to.push_back(out[i].data());
    }
    ReverseStep<double> step(program, SubLayers::attention_and_ffn, rows, dim);
    step.forward(env, in, state.embedding.data(), to, {}, f, {factors, sink});
    return out;
}

TEST(Branches, AFactorIsThatOfAnEquationWrittenWithIt) {
    const std::vector<std::pair<std::string, std::string>> pairs = {
        {"x + dt*norm(2*f(x))", "x + 0.25*dt*norm(2*f(x))"},
        {"o = f(x); x = norm(x + dt*o); y = y + dt*o", "o = f(x); x = norm(x + 0.25*dt*o); y = y + 0.25*dt*o"},
        {"m = x + dt*attn(x); x = unit(ffn(m))", "m = x + 0.25*dt*attn(x); x = 0.25*unit(ffn(m))"},
        // A bias is nothing else: the branch goes on through the norm.
        {"x + dt*norm(f(x) + g) where ~g[d] = 0.5", "x + 0.25*dt*norm(f(x) + g) where ~g[d] = 0.5"},
    };
    for (const auto& [plain, written] : pairs) {
        for (const bool record : {false, true}) {
            const Streams got = block(plain, {0.25, 0.25}, record);
            const Streams expected = block(written, {}, record);
            for (std::size_t i = 0; i < got.size(); ++i) {
                for (std::size_t k = 0; k < got[i].size(); ++k) {
                    EXPECT_NEAR(got[i][k], expected[i][k], 1e-14) << plain;
                }
            }
            EXPECT_NE(block(plain, {0.25, 1}, record), got) << plain;
            EXPECT_NE(block(plain, {1, 0.25}, record), got) << plain;
        }
    }
}

// One step serves many passes, and each may scale the branches otherwise.
TEST(Branches, AStepTakesTheFactorsOfItsLastPass) {
    const Program program = Program::parse("x + dt*f(norm(x))");
    const auto start = State<double>::start(program, rows, dim, random_rows(rows, dim, 3));
    BranchStep<double> plain(program, SubLayers::attention_and_ffn, rows, dim);
    ReverseStep<double> recorded(program, SubLayers::attention_and_ffn, rows, dim);
    const std::vector<BranchFactors> passes = {{1, 1}, {0.25, 1}, {1, 0.25}, {1, 1}};
    for (const BranchFactors& factors : passes) {
        State<double> state = start;
        plain.layer(env, state, f, {}, {factors, nullptr});
        EXPECT_EQ(state.streams, block("x + dt*f(norm(x))", factors, false));
        Streams out = start.streams;
        recorded.forward(env, {start.streams[0].data()}, start.embedding.data(), {out[0].data()}, {}, f,
                         {factors, nullptr});
        EXPECT_EQ(out, block("x + dt*f(norm(x))", factors, true));
    }
}

TEST(Branches, ContributionsAreWhatTheSumGains) {
    for (const bool record : {false, true}) {
        Streams sums(2, random_rows(rows, dim, 3));
        std::size_t count = 0;
        const auto add = [&](const Contribution& contribution, const double* values) {
            for (std::size_t k = 0; k < rows * dim; ++k) {
                sums[contribution.stream][k] += values[k];
            }
            ++count;
        };
        const ContributionSink<double> sink(add);
        const Streams got = block("o = norm(f(x)); x = x + dt*o; y = y + 2*o", {}, record, &sink);
        EXPECT_EQ(count, 4U);
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::size_t k = 0; k < rows * dim; ++k) {
                EXPECT_NEAR(got[i][k], sums[i][k], 1e-13);
            }
        }
    }
}

TEST(Branches, FactorsOfOneAndNobodyLookingIsAnOrdinaryLayer) {
    for (const CatalogueEntry& entry : catalogue()) {
        const Program program = Program::parse(entry.equation);
        const auto start = State<double>::start(program, rows, dim, random_rows(rows, dim, 3));
        State<double> expected = start;
        RowStep<double>(program, SubLayers::attention_and_ffn, rows, dim).layer(env, expected, f);
        State<double> plain = start;
        BranchStep<double> step(program, SubLayers::attention_and_ffn, rows, dim);
        step.layer(env, plain, f, {}, {});
        EXPECT_EQ(plain.streams, expected.streams) << entry.name;
        std::size_t count = 0;
        const auto see = [&](const Contribution&, const double*) { ++count; };
        const ContributionSink<double> sink(see);
        State<double> seen = start;
        step.layer(env, seen, f, {}, {{}, &sink});
        EXPECT_EQ(seen.streams, expected.streams) << entry.name << ": looking changes nothing";
        EXPECT_GE(count, 1U) << entry.name;
    }
}

}  // namespace
}  // namespace flyball::scheme::test
