// What the stability ledger is made of: typed formulas beside numbers from numpy, differences between seeds, and runs
// that are kept.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <mutex>

#include "claims/groups.hpp"
#include "claims/stability_backward.hpp"
#include "claims/stability_lengths.hpp"
#include "claims/stability_models.hpp"
#include "claims/stability_passes.hpp"
#include "claims/stability_sub_layer.hpp"
#include "claims/stability_trained.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "sanitized.hpp"

namespace flyball::claims {
namespace {

const Table two_by_three{2, 3, {1, 2, 0.5, -1, 0.3, 2.0}};
const Table four_by_three{4, 3, {2, 0, 1, 0, 1, 1, 1, -1, 0.5, 0.2, 0.1, 0}};

TEST(StabilityFormulas, AgreeWithNumpy) {
    EXPECT_NEAR(operator_norm(two_by_three), 2.403187432976642, 1e-12);
    EXPECT_NEAR(operator_norm(four_by_three), 2.56651224633205, 1e-12);
    EXPECT_EQ(operator_norm({2, 2, {0, 0, 0, 0}}), 0);
    EXPECT_NEAR(ln_divisor(std::vector<double>{1, 4, -2, 5}, 0.01), 2.7404379212089442, 1e-12);
    const std::vector<double> gamma = {1, -2.5, 0.5, 1.2};
    const std::vector<double> b = {0.3, 0, -0.4, 0};
    EXPECT_NEAR(lemma_1_radius(gamma, b), 5.5, 1e-12);
    EXPECT_NEAR(lemma_1_form(std::vector<double>{1, 2, 3, 4}, gamma, b), 58.48111111111111, 1e-9);
    const Table output{2, 2, {1, 0.5, 0.2, 2}};
    const std::vector<Table> heads = {{1, 2, {1, 3}}, {1, 2, {2, -1}}};
    const std::vector<double> value_bias = {0.3, -0.4};
    const std::vector<double> output_bias = {0.6, 0.8};
    EXPECT_NEAR(attention_bound(output, heads, value_bias, output_bias, 1.5), 14.362263763262108, 1e-9);
    EXPECT_NEAR(attention_bound_joint(output, {2, 2, {1, 3, 2, -1}}, value_bias, output_bias, 1.5), 12.200824776855905,
                1e-9);
    EXPECT_NEAR(ffn_bound(two_by_three, value_bias, four_by_three, output_bias, 1.5), 11.534971088614778, 1e-9);
    EXPECT_NEAR(start_rms(0.3, 0.5, std::vector<double>{1, 2}), 1.1575836902790226, 1e-12);
    EXPECT_NEAR(peri_ln_bound(0.5, 0.1, std::vector<double>{2, 3, 4}), 1.4, 1e-12);
    EXPECT_NEAR(rotation(0.5, 2, 1), std::acos(-1.0) / 4, 1e-12);
}

TEST(StabilityFormulas, PlacementsAreDampedAsTheTableSays) {
    const BlockNumbers block{0.5, 3, 2, 1.5, 4, 0.5};  // Dt, L_F, gains, divisors
    EXPECT_DOUBLE_EQ(jacobian_bound(Placement::pre, block), 1.75);
    EXPECT_DOUBLE_EQ(jacobian_bound(Placement::peri, block), 3.25);
    EXPECT_DOUBLE_EQ(jacobian_bound(Placement::post, block), 7.5);
    EXPECT_DOUBLE_EQ(jacobian_bound(Placement::output, block), 5.5);
    EXPECT_DOUBLE_EQ(w_out_bound(Placement::pre, block, 7, 2), 7);
    EXPECT_DOUBLE_EQ(w_out_bound(Placement::peri, block, 7, 2), 21);
    EXPECT_DOUBLE_EQ(w_out_bound(Placement::post, block, 7, 2), 21);
    EXPECT_DOUBLE_EQ(w_out_bound(Placement::output, block, 7, 2), 21);
}

// The gradient that a Pass gives, against differences of its readout.
TEST(StabilityModels, TheJacobianIsThatOfTheReadout) {
    SmallSizes sizes;
    sizes.tokens = 2;
    model::Model<double> model = blank_model("x + dt*norm(f(norm(x)))", sizes);
    draw(model, 4, {});
    const std::vector<double> x0 = normal_rows(sizes.tokens, sizes.dim, 1, 4);
    const Table jacobian = jacobian_of(model, x0);
    constexpr double step = 1e-5;
    for (std::size_t j = 0; j < x0.size(); j += 3) {
        std::vector<double> above = x0;
        std::vector<double> under = x0;
        above[j] += step;
        under[j] -= step;
        const Flow high = flow_of(model, above);
        const Flow low = flow_of(model, under);
        for (std::size_t i = 0; i < x0.size(); ++i) {
            EXPECT_NEAR(jacobian.at(i, j), (high.readout[i] - low.readout[i]) / (2 * step), 1e-7) << i << " " << j;
        }
    }
}

// A model with a readout has places for its norm in every block, which are no norms of the block.
TEST(StabilityModels, NormsOfABlockAreThoseItEvaluates) {
    const model::Model<double> peri = blank_model("x + dt*norm(f(norm(x))) | norm(x)", {});
    EXPECT_EQ(norms_of(peri, 0).size(), 4U);
    const model::Model<double> pre = blank_model("x + dt*f(norm(x)) | norm(x)", {});
    ASSERT_EQ(norms_of(pre, 0).size(), 2U);
    EXPECT_NE(norms_of(pre, 0)[1].gain, norms_of(pre, 0)[0].gain);
}

// Every number of the joint matrix is the number of its row and of its column.
TEST(StabilityModels, QueriesKeysAndValuesAreTheirRowsOfTheJointMatrix) {
    const SmallSizes sizes;
    model::Model<double> model = blank_model("x + dt*f(norm(x))", sizes);
    for (const model::Linear& linear : model.layout().blocks[0].qkv) {
        Table table{linear.out, linear.in, {}};
        std::vector<double> bias;
        for (std::size_t i = linear.offset; i < linear.offset + linear.out; ++i) {
            bias.push_back(static_cast<double>(i));
            for (std::size_t j = 0; j < linear.in; ++j) {
                table.values.push_back(static_cast<double>(100 * i + j));
            }
        }
        set_table(model, linear, table);
        set_numbers(model, linear.bias, bias);
    }
    for (std::size_t part = 0; part < 3; ++part) {
        const Affine found = qkv_part(model, 0, part);
        ASSERT_EQ(found.matrix.rows, sizes.dim) << part;
        ASSERT_EQ(found.matrix.columns, sizes.dim) << part;
        for (std::size_t i = 0; i < sizes.dim; ++i) {
            const std::size_t row = part * sizes.dim + i;
            EXPECT_EQ(found.bias[i], static_cast<double>(row)) << part;
            EXPECT_EQ(found.matrix.at(i, 3), static_cast<double>(100 * row + 3)) << part;
        }
        EXPECT_EQ(head_rows(model, found, 1).at(0, 5), static_cast<double>(100 * (part * sizes.dim + 4) + 5)) << part;
    }
}

// With gains of one size and no bias all that a norm gives is gain sqrt(d) long: what the branches of Peri-LN add.
TEST(StabilityLengths, RadiiOfPeriLnAreThoseOfTheNormsBehindItsBranches) {
    SmallSizes sizes;
    sizes.layers = 2;
    sizes.dt = 0.5;
    sizes.eps = 0;
    model::Model<double> model = blank_model("x + dt*norm(f(norm(x)))", sizes);
    draw(model, 31, {});
    double gain = 1;
    for (std::size_t l = 0; l < sizes.layers; ++l) {
        for (const model::NormPlace& norm : norms_of(model, l)) {
            set_numbers(model, norm.gain, std::vector<double>(sizes.dim, gain));
            set_numbers(model, norm.bias, std::vector<double>(sizes.dim, 0.0));
            gain += 0.5;
        }
    }
    const Flow flow = flow_of(model, normal_rows(sizes.tokens, sizes.dim, 1, 31));
    const std::vector<double> radii = branch_radii(model, sizes.layers);
    ASSERT_EQ(radii.size(), 2 * sizes.layers);
    for (std::size_t l = 0; l < sizes.layers; ++l) {
        EXPECT_NEAR(length_of(claims::row_of(flow.attention[l].added, 0, sizes.dim)), 0.5 * radii[2 * l], 1e-9) << l;
        EXPECT_NEAR(length_of(claims::row_of(flow.ffn[l].added, 0, sizes.dim)), 0.5 * radii[2 * l + 1], 1e-9) << l;
    }
}

// Numbers 2 and 1/2 alone in the matrices of the FFN, and a norm before it that gives 3 sqrt(8).
TEST(StabilityLengths, TheFfnOfPreLnIsBoundedByTheNormBeforeItAlone) {
    const SmallSizes sizes;
    model::Model<double> model = blank_model("x + dt*f(norm(x))", sizes);
    const std::vector<model::NormPlace> norms = norms_of(model, 0);
    ASSERT_EQ(norms.size(), 2U);
    set_numbers(model, norms[0].gain, std::vector<double>(sizes.dim, 5));
    set_numbers(model, norms[1].gain, std::vector<double>(sizes.dim, 3));
    const auto single = [](std::size_t rows, std::size_t columns, double value) {
        Table table{rows, columns, std::vector<double>(rows * columns, 0.0)};
        table.at(0, 0) = value;
        return table;
    };
    const model::BlockLayout& block = model.layout().blocks[0];
    set_table(model, block.ffn_in[0], single(sizes.ffn, sizes.dim, 2));
    set_table(model, block.ffn_out, single(sizes.dim, sizes.ffn, 0.5));
    EXPECT_NEAR(pre_bounds(model, 0).ffn, 3 * std::sqrt(8.0), 1e-9);
}

// Rows of an embedding E with entries of variance 1/2 are the head too, so that x = E_i + position, |x| = 8, says i
// itself again: its logit is 32, the others deviate by 5.7. Where i is not what follows, the loss's gradient is
// E_i - E_j, of squared length 64, without the 4^2 of it along x: sqrt(48) for each of 256 tokens, of which the mean
// is taken.
TEST(StabilityPasses, TokensOfAStartDoNotForetellThemselves) {
    StartSizes sizes;
    sizes.layers = 1;
    sizes.init = "embedding=1/sqrt(2)";
    const double expected = std::sqrt(48.0 / 256);
    EXPECT_NEAR(start_depths("pre-ln", sizes).gradient.back(), expected, 0.2 * expected);
}

// Embeddings of tokens and of positions, of this deviation each, are added.
TEST(StabilityPasses, AModelStartsAsItIsAskedTo) {
    StartSizes sizes;
    sizes.layers = 1;
    sizes.init = "embedding=1/sqrt(2)";
    EXPECT_NEAR(start_depths("pre-ln", sizes).sigma.front(), 1, 0.05);
    sizes.init = "embedding=0.5/sqrt(2)";
    EXPECT_NEAR(start_depths("pre-ln", sizes).sigma.front(), 0.5, 0.025);
}

TEST(PairedDifferences, CountWithOneSignAndManyStandardErrors) {
    const Paired clear = paired({-1, -1.1, -0.9});
    EXPECT_NEAR(clear.mean, -1, 1e-12);
    EXPECT_NEAR(clear.error, 0.1 / std::sqrt(3.0), 1e-12);
    EXPECT_EQ(clear.side, -1);
    EXPECT_EQ(paired({1, 1.1, 0.9}).side, 1);
    EXPECT_EQ(paired({1, 2, 3}).side, 0) << "3.5 standard errors";
    // The standard error of these five is 0.316 times the step between them.
    EXPECT_EQ(paired({1, 2, 3, 2, 2}).side, 1) << "6.3 standard errors";
    EXPECT_EQ(paired({0.4, 1.4, 2.4, 1.4, 1.4}).side, 0) << "4.4 standard errors";
    EXPECT_EQ(paired({0.5, 1.5, 2.5, 1.5, 1.5}).side, 1) << "4.7 standard errors";
    EXPECT_EQ(paired({-0.001, 1, 1, 1, 1}).side, 0) << "one seed says the opposite";
    EXPECT_EQ(paired({1, 1, std::nan("")}).side, 0);
    EXPECT_EQ(needed_errors(3), 9.9);
    EXPECT_EQ(needed_errors(5), 4.6);
    EXPECT_EQ(paired({3, 2, 5}, {1, 1, 1}).differences, (std::vector<double>{2, 1, 4}));
}

TEST(PairedDifferences, GiveVerdicts) {
    Context context;
    context.quick = true;
    EXPECT_EQ(below(context, paired({-1, -1.1, -0.9}), "x").verdict, Verdict::holds);
    EXPECT_EQ(below(context, paired({1, 1.1, 0.9}), "x").verdict, Verdict::fails);
    EXPECT_EQ(below(context, paired({-1, 1.1, -0.9}), "x").verdict, Verdict::undecided);
    context.replaced = [](std::string_view, double, const std::vector<double>&) { return -2.0; };
    EXPECT_EQ(below(context, paired({-1, -1.1, -0.9}), "x").verdict, Verdict::fails) << "not below -2";
}

// Logarithms 1 and 3 in turn deviate by 1; the first half of the steps does not count.
TEST(Restlessness, OfGradientsIsThatOfTheSecondHalfOfTheSteps) {
    TrainedRun run;
    for (const double log_norm : {9.0, -7.0, 5.0, 8.0, 1.0, 3.0, 1.0, 3.0}) {
        run.gradient_norms.push_back(std::exp(log_norm));
    }
    EXPECT_NEAR(gradient_restlessness(run), 1, 1e-12);
}

TEST(Conditions, HaveNamesThatDifferAndCanBeFiles) {
    Condition other = with_step("peri-ln", 0.1);
    other.rate = 30;
    Condition decayed = with_step("peri-ln", 0.1);
    decayed.weight_decay = 0;
    Condition dropped = with_step("peri-ln", 0.1);
    dropped.dropout = 0.1;
    Condition deep = with_step("peri-ln", 0.1);
    deep.layers = 16;
    const std::vector<std::string> names = {with_step("peri-ln", 0.1).name(),
                                            with_rms_1("peri-ln", 0.1).name(),
                                            with_small_gains().name(),
                                            other.name(),
                                            decayed.name(),
                                            dropped.name(),
                                            deep.name()};
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(names[i].find_first_of("/=, "), std::string::npos) << names[i];
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(names[i], names[j]);
        }
    }
}

TEST(Study, KeepsItsRunsAndFindsThemAgain) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: models are trained";
    }
    std::map<std::string, std::string> shelf;
    std::mutex mutex;
    Context context;
    context.quick = true;
    context.seed = 101;
    context.shelf.keep = [&](const std::string& name, const std::string& text) {
        const std::lock_guard<std::mutex> lock(mutex);
        shelf[name] = text;
    };
    const Condition condition = with_step("ln-scaling", 1);
    const std::vector<TrainedRun> first = trained(context, condition);
    ASSERT_EQ(shelf.size(), 3U);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_LT(first[0].validation.front(), 3.2) << "it has learned something";
    EXPECT_NE(first[0].validation, first[1].validation);
    EXPECT_EQ(first[0].removed.size(), 4U);
    EXPECT_EQ(first[0].rms.size(), 5U);
    EXPECT_EQ(first[0].sub_turned.size(), 8U);
    EXPECT_EQ(first[0].gradient_norms.size(), 100U);
    // As if these were the runs of other seeds: nothing is trained, and every number is as it was.
    Context again = context;
    again.seed = 201;
    again.shelf.keep = [](const std::string& name, const std::string&) { FAIL() << name << " was trained again"; };
    again.shelf.find = [&](const std::string& name) -> std::optional<std::string> {
        std::string earlier = name;
        earlier.replace(earlier.rfind("-2"), 2, "-1");
        return shelf.at(earlier);
    };
    const std::vector<TrainedRun> second = trained(again, condition);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(second[i].validation, first[i].validation);
        EXPECT_EQ(second[i].removed, first[i].removed);
        EXPECT_EQ(second[i].gradient_norms, first[i].gradient_norms);
        EXPECT_EQ(second[i].sub_turned, first[i].sub_turned);
        EXPECT_EQ(second[i].replaced, first[i].replaced);
        EXPECT_EQ(second[i].angle_predicted, first[i].angle_predicted);
    }
    again.seed = 301;
    again.shelf.find = [](const std::string&) -> std::optional<std::string> { return "{}"; };
    EXPECT_THROW(trained(again, condition), Error) << "what was kept is not a run";
}

TEST(Study, KeepsLengthsOfStreamsBesideTheirBounds) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: models are trained";
    }
    Context context;
    context.quick = true;
    context.seed = 501;
    const StudySizes sizes = study_sizes(context);
    for (const char* const scheme : {"peri-ln", "pre-ln"}) {
        const TrainedRun run = trained(context, with_step(scheme, 1)).front();
        for (const auto& [length, bound] :
             {std::pair(run.length_start, run.bound_start), std::pair(run.length_end, run.bound_end)}) {
            ASSERT_EQ(length.size(), sizes.layers + 1) << scheme;
            ASSERT_EQ(bound.size(), length.size()) << scheme;
            EXPECT_DOUBLE_EQ(length[0], bound[0]) << "the embedding is what it is";
            for (std::size_t l = 1; l < length.size(); ++l) {
                EXPECT_LT(length[l], bound[l]) << scheme << ", block " << l;
            }
        }
        EXPECT_GT(run.length_end.back(), run.length_start.back()) << "streams grow in training";
        // Branches of a fresh model point in all directions, and the embedding is no look at the bound.
        EXPECT_LT(run.bound_share.front(), 0.9) << scheme;
        for (std::size_t l = 1; l < run.length_start.size(); ++l) {
            EXPECT_GE(run.bound_share.front(), run.length_start[l] / run.bound_start[l])
                << "not the largest: " << scheme;
        }
        if (scheme == std::string("peri-ln")) {
            // Gains are within one step of 1: two branches of length sqrt(d) a block.
            const double block = 2 * std::sqrt(static_cast<double>(sizes.dim));
            EXPECT_NEAR(run.bound_start[1] - run.bound_start[0], block, 0.01 * block);
            EXPECT_NEAR(run.bound_start.back() - run.bound_start[0], block * static_cast<double>(sizes.layers),
                        0.01 * block * static_cast<double>(sizes.layers));
        }
    }
}

// |dF| of a sub-layer, from all its derivatives: the whole Jacobian, row by row, and its largest singular value.
TEST(StabilityBackward, LipschitzConstantsAreThoseOfTheWholeJacobian) {
    SmallSizes sizes;
    sizes.layers = 2;
    sizes.tokens = 4;
    model::Model<double> model = blank_model("x + dt*f(norm(x)) | norm(x)", sizes);
    draw(model, 11, {0.6, 0.3, 0.2});
    const std::vector<double> input = normal_rows(sizes.tokens, sizes.dim, 1, 12);
    for (const char* const f : {"attn", "ffn"}) {
        model::Model<double> alone = blank_model(std::string(f) + "(x)", sizes);  // both of its blocks, one at a time
        SmallSizes one = sizes;
        one.layers = 1;
        model::Model<double> second = blank_model(std::string(f) + "(x)", one);
        copy_parameters(model, alone);
        for (const auto& [from, to] :
             {std::pair(alone.layout().blocks[1].qkv, second.layout().blocks[0].qkv),
              std::pair(alone.layout().blocks[1].ffn_in, second.layout().blocks[0].ffn_in),
              std::pair(std::vector{alone.layout().blocks[1].output, alone.layout().blocks[1].ffn_out},
                        std::vector{second.layout().blocks[0].output, second.layout().blocks[0].ffn_out})}) {
            for (std::size_t i = 0; i < from.size(); ++i) {
                if (from[i].weight == model::absent) {
                    continue;
                }
                set_table(second, to[i], table_of(alone, from[i]));
                set_numbers(second, to[i].bias, numbers_of(alone, from[i].bias));
            }
        }
        const double found = sub_layer_lipschitz(
            model, 1, f == std::string("attn") ? scheme::SubLayer::attention : scheme::SubLayer::feed_forward, input);
        EXPECT_NEAR(found / operator_norm(jacobian_of(second, input)), 1, 0.01) << f;
    }
}

// Rows of one size with signs in turn deviate by that size. Dt = 1/2: u = 3 + 1/2 and 6 - 2.
TEST(StabilityBackward, PostLnDividesByTheDeviationOfItsSum) {
    SmallSizes sizes;
    sizes.dt = 0.5;
    sizes.eps = 0;
    std::vector<double> x0, a;
    for (const auto& [of_x, of_a] : {std::pair(3.0, 1.0), std::pair(6.0, -4.0)}) {
        for (std::size_t k = 0; k < sizes.dim; ++k) {
            x0.push_back(k % 2 == 0 ? of_x : -of_x);
            a.push_back(k % 2 == 0 ? of_a : -of_a);
        }
    }
    for (const Placement placement : {Placement::pre, Placement::peri, Placement::post}) {
        const Divisors found = divisors_of(blank_model(equation_of(placement, "ffn"), sizes), placement, x0, a);
        EXPECT_EQ(found.in, (std::vector<double>{3, 6}));
        EXPECT_EQ(found.out,
                  placement == Placement::post ? (std::vector<double>{3.5, 4}) : (std::vector<double>{1, 4}));
    }
}

// Attention adds its bias alone, which takes a deviation of 3 to one of 12: 1 + Dt L_F/12 is left of the block.
TEST(StabilityBackward, TheFfnIsBoundedWhereAttentionHasLedTheStream) {
    SmallSizes sizes;
    sizes.eps = 0;
    std::vector<double> x0;
    std::vector<double> bias;
    for (std::size_t k = 0; k < sizes.tokens * sizes.dim; ++k) {
        x0.push_back(k % 2 == 0 ? 3 : -3);
    }
    for (std::size_t k = 0; k < sizes.dim; ++k) {
        bias.push_back(k % 2 == 0 ? 9 : -9);
    }
    model::Model<double> model = blank_model("x + dt*f(norm(x))", sizes);
    const model::BlockLayout& block = model.layout().blocks[0];
    set_numbers(model, block.output.bias, bias);
    const auto spread = [](std::size_t rows, std::size_t columns) {
        Table table{rows, columns, {}};
        for (std::size_t k = 0; k < rows * columns; ++k) {
            table.values.push_back(std::sin(1.0 + static_cast<double>(k * k)));
        }
        return table;
    };
    set_table(model, block.ffn_in[0], spread(sizes.ffn, sizes.dim));
    set_table(model, block.ffn_out, spread(sizes.dim, sizes.ffn));
    const Flow flow = flow_of(model, x0);
    const double lipschitz = sub_layer_lipschitz(model, 0, scheme::SubLayer::feed_forward, flow.ffn[0].in);
    EXPECT_GT(lipschitz, 1);
    EXPECT_NEAR(block_jacobian_bounds(model, Placement::pre, flow)[0], 1 + lipschitz / 12, 1e-9 * lipschitz);
}

TEST(StabilityBackward, BoundsAreProductsOfTheBlocksBehind) {
    const BoundedGradients found = beside_bounds({6, 5, 2}, {3, 4});  // blocks 1 and 2
    EXPECT_EQ(found.bound, (std::vector<double>{24, 8, 2}));
    EXPECT_EQ(found.gradient, (std::vector<double>{6, 5, 2}));
    EXPECT_DOUBLE_EQ(found.share, 0.625);
    EXPECT_NEAR(gradient_share_where_attained(), 1, 1e-4);
}

// Every block of a drawn model: the largest factor by which it can lengthen a gradient, from its whole Jacobian, is
// within the bound from its weights.
TEST(StabilityBackward, NoBlockLengthensAGradientMoreThanItsBound) {
    for (const auto& [placement, equation] :
         {std::pair(Placement::pre, "x + dt*f(norm(x))"), std::pair(Placement::peri, "x + dt*norm(f(norm(x)))"),
          std::pair(Placement::post, "norm(x + dt*f(x))")}) {
        for (const std::uint64_t seed : {21U, 22U, 23U}) {
            SmallSizes sizes;
            sizes.dt = seed == 22 ? 0.1 : 1;
            model::Model<double> model = blank_model(equation, sizes);
            draw(model, seed, {0.5, 0.3, 0.2});
            const std::vector<double> x0 = normal_rows(sizes.tokens, sizes.dim, 1, seed);
            const double largest = operator_norm(jacobian_of(model, x0));
            const double bound = block_jacobian_bounds(model, placement, flow_of(model, x0))[0];
            EXPECT_LT(largest, bound * 1.001) << equation << " " << seed;
            EXPECT_GT(largest, bound / 200) << equation << " " << seed;
        }
    }
}

TEST(Study, KeepsGradientsBesideTheirBoundsAndTurnsBesideTheirPrediction) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: models are trained";
    }
    Context context;
    context.quick = true;
    context.seed = 501;
    const StudySizes sizes = study_sizes(context);
    for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
        const TrainedRun run = trained(context, with_step(scheme, 1)).front();
        for (const auto& [gradient, bound] :
             {std::pair(run.back_start, run.back_bound_start), std::pair(run.back_end, run.back_bound_end)}) {
            ASSERT_EQ(gradient.size(), sizes.layers + 1) << scheme;
            ASSERT_EQ(bound.size(), gradient.size()) << scheme;
            EXPECT_DOUBLE_EQ(gradient.back(), bound.back()) << "bounds begin at the last gradient";
            for (std::size_t l = 0; l < sizes.layers; ++l) {
                EXPECT_LT(gradient[l], bound[l]) << scheme << ", block " << l;
                EXPECT_GT(bound[l] / bound[l + 1], scheme == std::string("post-ln") ? 0 : 1) << scheme << " " << l;
            }
        }
        EXPECT_NE(run.back_start, run.back_end);
        ASSERT_EQ(run.sub_turned_start.size(), 2 * sizes.layers);
        // At the start branches are nearly orthogonal to the stream: every angle is near its prediction.
        for (std::size_t i = 0; i < run.sub_turned_start.size(); ++i) {
            const double stated = std::atan(run.sub_added_start[i] / run.sub_sigma_start[i]);
            EXPECT_NEAR(run.sub_turned_start[i] / stated, 1, 0.35) << scheme << ", sub-layer " << i;
        }
        EXPECT_NE(run.sub_turned_start, run.sub_turned);
    }
}

// The figures show these numbers and no others.
TEST(Study, FiguresOfRotationShowWhatWasMeasured) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: models are trained";
    }
    Context context;
    context.quick = true;
    context.seed = 501;
    const std::vector<Picture> pictures = rotation_figures(context);
    ASSERT_EQ(pictures.size(), 3U);
    EXPECT_EQ(pictures[1].name, "stability-rotation-peri-ln");
    const auto& figure = std::get<report::LineFigure>(pictures[1].figure);
    ASSERT_EQ(figure.series.size(), 4U);
    const std::vector<TrainedRun> runs = trained(context, with_step("peri-ln", 1));
    const auto mean_of_three = [&](const std::function<double(const TrainedRun&)>& value) {
        return std::cbrt(value(runs[0]) * value(runs[1]) * value(runs[2]));
    };
    EXPECT_EQ(figure.series[0].x.front(), 1);
    EXPECT_NEAR(figure.series[0].y[2], mean_of_three([](const TrainedRun& run) { return run.sub_turned_start[2]; }),
                1e-12);
    EXPECT_NEAR(figure.series[1].y[2], mean_of_three([](const TrainedRun& run) {
                    return std::atan(run.sub_added_start[2] / run.sub_sigma_start[2]);
                }),
                1e-12);
    EXPECT_NEAR(figure.series[2].y[5], mean_of_three([](const TrainedRun& run) { return run.sub_turned[5]; }), 1e-12);
    EXPECT_NEAR(figure.series[3].y[5],
                mean_of_three([](const TrainedRun& run) { return std::atan(run.sub_added[5] / run.sub_sigma[5]); }),
                1e-12);
}

TEST(Study, AMeanOverSeedsIsNoNumberWhereOneDiverged) {
    std::vector<TrainedRun> runs(3);
    runs[0].rms = {1, 2};
    runs[1].rms = {3, 4};
    runs[2].rms = {5, 9};
    EXPECT_EQ(mean_over_seeds(runs, &TrainedRun::rms), (std::vector<double>{3, 5}));
    for (const std::size_t which : {0U, 1U, 2U}) {
        std::vector<TrainedRun> with = runs;
        with[which].rms.clear();
        const std::vector<double> mean = mean_over_seeds(with, &TrainedRun::rms);
        ASSERT_EQ(mean.size(), 2U) << which;
        EXPECT_TRUE(std::isnan(mean[0]) && std::isnan(mean[1])) << which;
    }
}

// The third run of every condition has diverged: no claim about trained models has ends to compare.
TEST(Study, ARunThatDivergedLeavesItsClaimsUndecided) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: a model is trained";
    }
    std::string whole;
    Context context;
    context.quick = true;
    context.seed = 601;
    context.shelf.keep = [&](const std::string&, const std::string& text) { whole = text; };
    Condition one = with_step("pre-ln", 1);
    one.seeds = 1;
    trained(context, one);
    Json diverged = parse_json(whole, "run");
    for (auto& [name, values] : diverged.items()) {
        if (name == "validation" || name == "training") {
            values = Json::array({nullptr});
        } else if (name != "gradient_norms" && name.find("_start") == std::string::npos) {
            values = Json::array();
        }
    }
    context.seed = 701;
    context.shelf.keep = {};
    context.shelf.find = [&](const std::string& name) -> std::optional<std::string> {
        return name.ends_with("-703") ? dump_json(diverged) : whole;
    };
    std::size_t claims = 0;
    for (const Claim& claim : ledger()) {
        if (claim.id.starts_with("stability-trained-")) {
            const Measurement found = claim.experiment(context);
            EXPECT_EQ(found.verdict, Verdict::undecided) << claim.id;
            EXPECT_NE(found.note.find("diverged"), std::string::npos) << claim.id << ": " << found.note;
            ++claims;
        }
    }
    EXPECT_GT(claims, 20U);
}

TEST(Study, StopsWhenAsked) {
    std::atomic<bool> stop{true};
    Context context;
    context.quick = true;
    context.seed = 401;
    context.stop = &stop;
    EXPECT_THROW(trained(context, with_step("pre-ln", 1)), Interrupted);
}

}  // namespace
}  // namespace flyball::claims
