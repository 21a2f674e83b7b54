// What the code of a block says its branches add, for equations whose answer can be read off.
#include "scheme/branches.hpp"

#include "scheme/branch_step.hpp"
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

TEST(Branches, FactorsOfOneAndNobodyLookingIsAnOrdinaryLayer) {
    constexpr std::size_t rows = 4;
    constexpr std::size_t dim = 5;
    const auto f = [](SubLayer sub_layer, const double* in, double* out) {
        if (sub_layer == SubLayer::attention) {
            plain_attention<double>(rows, dim, 0.9, in, out);
        } else {
            plain_ffn<double>(rows, dim, in, out);
        }
    };
    for (const CatalogueEntry& entry : catalogue()) {
        const Program program = Program::parse(entry.equation);
        const Environment env = Environment::block(2, 4, 0.5, rows, dim);
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
