// The class around the kernels: heads, systems, names, refusals, the choice of a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attention/attention.hpp"
#include "attention/cost_table.hpp"
#include "attention/kernels.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "places.hpp"
#include "support.hpp"

namespace flyball::attention::testing {

namespace {

std::string message(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "no error";
}

void make(Shape shape, const Settings& settings, const Weights<double>& weights, std::string_view kernel = "auto") {
    const Attention<double> attention(shape, settings, weights, kernel);
}

TEST(AttentionKernelName, SuggestsTheNearestWhenUnknown) {
    EXPECT_NE(message([] { make({1, 4, 3}, {}, {}, "fuse"); }).find("did you mean 'fused'?"), std::string::npos);
}

TEST(AttentionKernelName, SaysWhyAKernelCannotDoTheProblem) {
    EXPECT_NE(message([] { make({1, 4, 3}, {}, {}, "circle"); }).find("the dimension is not 2"), std::string::npos);
    EXPECT_NE(message([] { make({1, 4, 9}, {}, {}, "direct"); }).find("the dimension is above 8"), std::string::npos);
    Settings causal;
    causal.mask = Mask::causal;
    EXPECT_NE(message([&] { make({1, 4, 3}, causal, {}, "fused"); }).find("a mask is set"), std::string::npos);
    EXPECT_NE(message([] {
                  make({1, 4, 6}, {}, draw_weights<double>(2, 3, 6), "fused");
              }).find("weights are given"),
              std::string::npos);
    Settings sparse;
    sparse.kind = Kind::sparsemax;
    EXPECT_NE(message([&] { make({1, 4, 3}, sparse, {}, "general"); }).find("whole row"), std::string::npos);
}

// Each bound by the last problem that is taken and the first that is not.
TEST(AttentionKernelName, EachTakesProblemsUpToItsBounds) {
    const auto obstacle = [](const std::string& kernel, std::size_t systems, std::size_t tokens, std::size_t dim) {
        const HeadProblem problem = {tokens, dim, Kind::softmax, Mask::none, true, 1, systems};
        for (const KernelEntry& entry : kernel_table()) {
            if (entry.name == kernel) {
                return std::string(entry.obstacle(problem));
            }
        }
        return std::string("no such kernel");
    };
    for (const std::size_t dim : std::initializer_list<std::size_t>{1, 2, 7, 8}) {
        EXPECT_EQ(obstacle("direct", 1, 4, dim), "") << dim;
        EXPECT_EQ(obstacle("ensemble", 16, 256, dim), "") << dim;
        EXPECT_EQ(obstacle("circle", 1, 4, dim), dim == 2 ? "" : "the dimension is not 2") << dim;
    }
    EXPECT_EQ(obstacle("direct", 1, 4, 9), "the dimension is above 8");
    EXPECT_EQ(obstacle("ensemble", 16, 256, 9), "the dimension is above 8");
    EXPECT_EQ(obstacle("ensemble", 15, 256, 8), "there are fewer than 16 systems");
    EXPECT_EQ(obstacle("ensemble", 16, 257, 8), "a system has more than 256 tokens");
    EXPECT_EQ(obstacle("direct", 15, 100000, 8), "");
    EXPECT_EQ(obstacle("fused", 1, 100000, 5000), "");
    // The last one is computed, too.
    EXPECT_EQ(message([] { make({1, 4, 8}, {}, {}, "direct"); }), "no error");
    EXPECT_EQ(message([] { make({16, 4, 8}, {}, {}, "ensemble"); }), "no error");
}

TEST(AttentionKernelName, AutoNeverPicksAKernelThatCannotDoTheProblem) {
    for (const std::string& kind : kind_names()) {
        for (const std::string& mask : mask_names()) {
            for (const std::size_t n : std::initializer_list<std::size_t>{1, 40, 3000}) {
                for (const std::size_t d : std::initializer_list<std::size_t>{1, 2, 8, 9, 600}) {
                    for (const bool identity : {false, true}) {
                        const HeadProblem problem = {n, d, kind_from_name(kind), mask_from_name(mask), identity, 1};
                        const KernelEntry& entry = choose_kernel(problem, false, "auto");
                        EXPECT_STREQ(entry.obstacle(problem), "") << entry.name;
                    }
                }
            }
        }
    }
}

TEST(CostTable, HasEveryKernelInBothPrecisionsForFewAndManyTokensWhereItCanTakeThem) {
    for (const KernelEntry& entry : kernel_table()) {
        for (const bool many : {false, true}) {
            HeadProblem problem;
            problem.systems = 64;
            problem.tokens = many ? many_tokens : 16;
            problem.width = 2;
            const bool able = *entry.obstacle(problem) == '\0';
            for (const bool single : {false, true}) {
                const auto found = std::count_if(cost_table().begin(), cost_table().end(), [&](const KernelCost& cost) {
                    return cost.kernel == entry.name && cost.single == single && cost.many == many;
                });
                EXPECT_EQ(found, able ? 1 : 0) << entry.name << " many " << many;
            }
        }
    }
}

TEST(CostTable, PrefersTheCircleForManyTokensInThePlaneAndTilesInHighDimensions) {
    const auto chosen = [](std::size_t n, std::size_t d) {
        return std::string(choose_kernel({n, d, Kind::softmax, Mask::none, true, 9}, false, "auto").name);
    };
    EXPECT_EQ(chosen(100000, 2), "circle");
    EXPECT_EQ(chosen(4096, 3), "direct");
    EXPECT_EQ(chosen(4096, 64), "fused");
}

TEST(AttentionNames, RoundTripAndSuggest) {
    for (const std::string& kind : kind_names()) {
        EXPECT_EQ(name(kind_from_name(kind)), kind);
    }
    for (const std::string& mask : mask_names()) {
        EXPECT_EQ(name(mask_from_name(mask)), mask);
    }
    EXPECT_NE(message([] { kind_from_name("sofmax"); }).find("did you mean 'softmax'?"), std::string::npos);
    EXPECT_NE(message([] { mask_from_name("casual"); }).find("did you mean 'causal'?"), std::string::npos);
}

TEST(AttentionNames, OfKindsAreDefinedInTheManual) {
    const std::string manual = read_text_file(std::string(flyball::test::source_folder) + "/docs/simulate.md", 1 << 20);
    for (const std::string& kind : kind_names()) {
        EXPECT_NE(manual.find("\n| " + kind + " | "), std::string::npos) << kind << " has no row in docs/simulate.md";
    }
}

TEST(Attention, RefusesSizesThatDoNotFit) {
    EXPECT_NE(message([] { make({0, 4, 3}, {}, {}); }), "no error");
    EXPECT_NE(message([] { make({1, 0, 3}, {}, {}); }), "no error");
    EXPECT_NE(message([] { make({1, 4, 0}, {}, {}); }), "no error");
    EXPECT_NE(message([] { make({1, std::size_t{1} << 62, 8}, {}, {}); }), "no error");
    Settings betas;
    betas.head_betas = {1, 2};
    EXPECT_NE(message([&] { make({1, 4, 3}, betas, {}); }).find("2 values of beta for 1 heads"), std::string::npos);
    Settings nan;
    nan.beta = std::nan("");
    EXPECT_NE(message([&] { make({1, 4, 3}, nan, {}); }), "no error");
    Weights<double> weights = draw_weights<double>(2, 3, 6);
    weights.head[1].value.pop_back();
    EXPECT_NE(message([&] { make({1, 4, 6}, {}, weights); }).find("17"), std::string::npos);
}

TEST(Attention, IdentityWithSeveralEqualHeadsIsOneHead) {
    const std::vector<double> z = draw_tokens<double>(Tokens::unit, 20, 3);
    std::vector<double> one(z.size());
    std::vector<double> four(z.size());
    Weights<double> heads;
    heads.heads = 4;
    Attention<double>({1, 20, 3}, {}, {})(z.data(), one.data());
    Attention<double>({1, 20, 3}, {}, heads)(z.data(), four.data());
    EXPECT_EQ(one, four);
}

// Two tokens at a right angle: a head of inverse temperature b gives a token the weight 1/(1 + e^-b) for itself.
TEST(Attention, IdentityWithHeadsOfDifferentBetaIsTheirMean) {
    const std::vector<double> z = {1, 0, 0, 1};
    std::vector<double> out(4);
    Weights<double> heads;
    heads.heads = 2;
    for (const auto& [cold, warm] : {std::pair{3.0, 1.0}, {1.0, 3.0}}) {
        Settings settings;
        settings.head_betas = {cold, warm};
        Attention<double>({1, 2, 2}, settings, heads)(z.data(), out.data());
        // (1/(1 + e^-3) + 1/(1 + e^-1)) / 2
        EXPECT_NEAR(out[0], 0.84181635272622, 1e-12);
        EXPECT_NEAR(out[1], 1 - 0.84181635272622, 1e-12);
    }
}

TEST(Attention, SystemsDoNotSeeEachOther) {
    for (const std::size_t n : std::initializer_list<std::size_t>{20, 600}) {
        const Shape shape = {3, n, 3};
        const std::vector<double> z = draw_tokens<double>(Tokens::unit, 3 * n, 3);
        std::vector<double> all(z.size());
        std::vector<double> one(n * 3);
        Attention<double>(shape, {}, {}, "direct")(z.data(), all.data());
        Attention<double>({1, n, 3}, {}, {}, "direct")(z.data() + n * 3, one.data());
        EXPECT_EQ(std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(n * 3),
                                      all.begin() + static_cast<std::ptrdiff_t>(2 * n * 3)),
                  one);
    }
}

TEST(Attention, SetWeightsGivesWhatTheConstructorGives) {
    const std::vector<double> z = draw_tokens<double>(Tokens::unit, 20, 6);
    std::vector<double> first(z.size());
    std::vector<double> second(z.size());
    Weights<double> other = draw_weights<double>(2, 3, 6);
    std::swap(other.head[0], other.head[1]);
    std::swap(other.head[0].query, other.head[1].key);
    Attention<double>({1, 20, 6}, {}, other)(z.data(), first.data());
    Attention<double> attention({1, 20, 6}, {}, draw_weights<double>(2, 3, 6));
    attention(z.data(), second.data());
    EXPECT_NE(first, second);
    attention.set_weights(other);
    attention(z.data(), second.data());
    EXPECT_EQ(first, second);
    EXPECT_NE(message([&] { attention.set_weights({}); }).find("as at the start"), std::string::npos);
}

// Norms on queries, keys and values: of each head or of all heads together, lengths and root mean squares, alone and
// together, with factors of channels behind them.
TEST(Attention, NormsItsProjections) {
    const Shape shape = {2, 5, 6};
    Settings settings;
    settings.beta = 1.7;
    const std::vector<double> z = draw(2 * 5 * 6, 7);
    const auto output = [&](const Weights<double>& weights) {
        std::vector<double> out(z.size());
        Attention<double>(shape, settings, weights)(z.data(), out.data());
        return out;
    };
    Weights<double> weights = draw_weights<double>(2, 3, 6);
    const std::vector<double> plain = output(weights);
    for (const bool all_heads : {false, true}) {
        for (const std::vector<std::size_t>& parts : {std::vector<std::size_t>{0}, {1}, {2}, {0, 1, 2}}) {
            for (const bool mean : {false, true}) {
                weights.norms = {};
                for (const std::size_t part : parts) {
                    weights.norms[part] = {true, all_heads, mean ? (all_heads ? 6.0 : 3.0) : 1.0, mean ? 0.01 : 0.0};
                }
                weights.head[1].channels = {0.5, 2, -1};
                const std::vector<double> out = output(weights);
                const std::vector<double> expected = definition<double>(shape, settings, weights, z.data());
                for (std::size_t i = 0; i < out.size(); ++i) {
                    EXPECT_NEAR(out[i], expected[i], 1e-13) << i;
                }
                EXPECT_NE(out, plain);
            }
        }
    }
}

// What a call leaves behind is not in the next one.
TEST(Attention, OfOtherTokensIsThatOfAFreshOne) {
    const Shape shape = {1, 5, 6};
    Settings settings;
    settings.beta = 1.7;
    Weights<double> weights = draw_weights<double>(2, 3, 6);
    weights.norms = {ProjectionNorm{true, true, 6, 0.01}, ProjectionNorm{true, true, 6, 0.01},
                     ProjectionNorm{true, true, 6, 0.01}};
    const std::vector<double> first = draw(5 * 6, 7);
    const std::vector<double> second = draw(5 * 6, 8);
    std::vector<double> out(first.size());
    Attention<double> attention(shape, settings, weights);
    attention(first.data(), out.data());
    attention(second.data(), out.data());
    const std::vector<double> expected = definition<double>(shape, settings, weights, second.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_NEAR(out[i], expected[i], 1e-13) << i;
    }
}

// |v| = 5: the value is (3, 4)/5, and the root mean square of its two channels makes it longer by sqrt 2. A token that
// is 0 stays 0.
TEST(Attention, NormsAValueToItsLengthOrItsRootMeanSquare) {
    Weights<double> weights{1, 2, {{{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}}}};
    const std::vector<double> z = {3, 4, 0, 0};
    std::vector<double> out(4);
    weights.norms[2] = {true, false, 1, 0};
    Attention<double>({2, 1, 2}, {}, weights)(z.data(), out.data());
    EXPECT_NEAR(out[0], 0.6, 1e-15);
    EXPECT_NEAR(out[1], 0.8, 1e-15);
    EXPECT_EQ(out[2], 0);
    weights.norms[2] = {true, false, 2, 0};
    Attention<double>({2, 1, 2}, {}, weights)(z.data(), out.data());
    EXPECT_NEAR(out[0], 0.6 * std::sqrt(2.0), 1e-15);
    weights.head[0].channels = {1};
    EXPECT_NE(message([&] { make({2, 1, 2}, {}, weights); }).find("one for each channel"), std::string::npos);
}

TEST(Attention, TellsItsKernelPathAndMemory) {
    Attention<double> attention({1, 1000, 3}, {}, {}, "direct");
    EXPECT_EQ(attention.kernel(), "direct");
    EXPECT_EQ(attention.path(), "");
    EXPECT_GE(attention.memory_bytes(), 1000 * 4 * sizeof(double));
    const std::vector<double> z = draw_tokens<double>(Tokens::unit, 1000, 3);
    std::vector<double> out(z.size());
    attention(z.data(), out.data());
    EXPECT_EQ(attention.path(), "symmetric tiles");
}

}  // namespace

}  // namespace flyball::attention::testing
