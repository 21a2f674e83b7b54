// Dropout: masks are what their definition says, keep the mean, and are the same in reverse.
#include "model/dropout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/random.hpp"
#include "derivative.hpp"
#include "model/dropout_kernels.hpp"
#include "model/heads.hpp"
#include "support.hpp"

namespace flyball::model::test {
namespace {

using Place = DropoutMask::Place;

template <class Real>
std::vector<Real> masked(const DropoutMask& mask, std::uint64_t first, std::vector<Real> values) {
    mask.apply(first, values.size(), values.data(), values.data());
    return values;
}

TEST(Dropout, IsOneBitPatternOfPhiloxForEachNumber) {
    const DropoutMask mask({0.3, 17}, Place::branch, 5, 2);
    const Random random(17, (std::uint64_t{5} << 32) | (2U << 8) | 2U);
    const std::vector<double> got = masked(mask, 0, std::vector<double>(1000, 7.0));
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double uniform = static_cast<double>(random.block(i / 4)[i % 4]) * 0x1p-32;
        ASSERT_DOUBLE_EQ(got[i], uniform < 0.3 ? 0 : 7 / 0.7) << i;
    }
    // From any number on, of any length, in float as in double.
    for (std::size_t first = 0; first < 9; ++first) {
        for (std::size_t count = 0; count < 9; ++count) {
            const std::vector<float> part = masked(mask, first, std::vector<float>(count, 7.0F));
            for (std::size_t k = 0; k < count; ++k) {
                EXPECT_FLOAT_EQ(part[k], static_cast<float>(got[first + k]));
            }
        }
    }
}

TEST(Dropout, BitsOfManyBlocksAreThoseOfEach) {
    const std::uint64_t seed = 0xFEDCBA9876543210U;
    const std::uint64_t stream = 0x0123456789ABCDEFU;
    const Random random(seed, stream);
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{0xFFFFFFFA}, std::uint64_t{5} << 40U}) {
        for (const DropoutKernels* kernels : {&dropout_kernels_plain, &dropout_kernels(active_isa())}) {
            std::vector<std::uint32_t> bits(4 * 3 * dropout_blocks);
            kernels->bits(seed, stream, first, 3 * dropout_blocks, bits.data());
            for (std::size_t i = 0; i < bits.size(); ++i) {
                ASSERT_EQ(bits[i], random.block(first + i / 4)[i % 4]) << first << " " << i;
            }
        }
    }
}

TEST(Dropout, WhatIsDroppedIsNoughtWhateverItWas) {
    const std::vector<std::uint32_t> bits = {0, 99, 100, 101, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 5, 5, 100, 98};
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> in = {1, -infinity, 2, 3, 4, 5, 6, -7, std::nanf(""), 8, 9};
    for (const DropoutKernels* kernels : {&dropout_kernels_plain, &dropout_kernels(active_isa())}) {
        std::vector<float> out(in.size());
        kernels->keep_float(in.size(), bits.data(), 100, 2, in.data(), out.data());
        EXPECT_EQ(out, (std::vector<float>{0, 0, 4, 6, 8, 10, 12, 0, 0, 16, 0}));
        out = in;
        kernels->keep_float(in.size(), bits.data(), 0x80000000, 2, out.data(), out.data());
        EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0, 0, 10, 12, 0, 0, 0, 0}));
    }
}

TEST(Dropout, KeepsTheMeanAndLeavesOutItsShare) {
    const std::size_t count = 400'000;
    for (const double share : {0.1, 0.5, 0.9}) {
        std::vector<double> values(count, 1.0);
        DropoutMask({share, 3}, Place::embedding).apply_all(count, values.data(), values.data());
        double mean = 0;
        double zeros = 0;
        for (const double value : values) {
            mean += value / static_cast<double>(count);
            zeros += value == 0 ? 1 / static_cast<double>(count) : 0;
        }
        const double deviation = std::sqrt(share * (1 - share) / static_cast<double>(count));
        EXPECT_NEAR(zeros, share, 4 * deviation);
        EXPECT_NEAR(mean, 1, 4 * deviation / (1 - share));
    }
}

// A long run of numbers is masked in pieces, by several threads, as it is in one.
TEST(Dropout, PiecesOfAMaskAreThoseOfTheWhole) {
    const DropoutMask mask({0.4, 9}, Place::branch, 3, 1);
    const std::size_t count = 10'001;
    const std::vector<double> ones(count, 1.0);
    std::vector<double> pieces(count);
    mask.apply_all(count, ones.data(), pieces.data());
    EXPECT_EQ(pieces, masked(mask, 0, ones));
}

TEST(Dropout, EveryPlaceBlockCallAndSeedHasItsOwnMask) {
    const std::vector<double> ones(4096, 1.0);
    std::vector<std::vector<double>> seen;
    for (const DropoutMask& mask :
         {DropoutMask({0.5, 1}, Place::branch, 1, 1), DropoutMask({0.5, 2}, Place::branch, 1, 1),
          DropoutMask({0.5, 1}, Place::weights, 1, 1), DropoutMask({0.5, 1}, Place::branch, 2, 1),
          DropoutMask({0.5, 1}, Place::branch, 1, 2)}) {
        seen.push_back(masked(mask, 0, ones));
        for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
            std::size_t equal = 0;
            for (std::size_t k = 0; k < ones.size(); ++k) {
                equal += seen[i][k] == seen.back()[k] ? 1 : 0;
            }
            EXPECT_NEAR(static_cast<double>(equal) / 4096, 0.5, 0.05);
        }
    }
}

TEST(Dropout, ReverseIsTheDerivativeWithTheSameMask) {
    for (const bool two : {false, true}) {
        Problem problem = two ? Problem::of_two() : Problem{};
        problem.dropout = {0.25, 99};
        for (const char* const equation : {"x + dt*f(norm(x)) | norm(x)", "x + dt*norm(f(norm(x))) | norm(x)",
                                           "x + dt*f(x) + 0.5*f(norm(x) - x0)"}) {
            Architecture a = tiny_architecture(equation);
            a.embedding_norm = two;
            expect_derivative(tiny_model<double>(a, 5), Keep::inputs, equation, problem);
            expect_derivative(tiny_model<double>(tiny_llama(equation), 6), Keep::everything, equation, problem);
        }
    }
    Problem problem;
    problem.dropout = {0.4, 5};
    Architecture sparse = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    sparse.attention_kind = attention::kind_from_name("sigmoid");
    expect_derivative(tiny_model<double>(sparse, 7), Keep::inputs, "another kind of attention", problem);
}

// What a pass shows with a mask, as the definition has it: x0 masked, weights masked, branches masked.
TEST(Dropout, ActsOnTheEmbeddingTheWeightsAndTheBranches) {
    Architecture a = tiny_architecture("x + dt*f(x)");
    a.layers = 1;
    const Model<double> model = tiny_model<double>(a, 5);
    const Dropout dropout{0.3, 21};
    std::map<std::string, std::vector<double>> plain;
    std::map<std::string, std::vector<double>> dropped;
    for (auto* const to : {&plain, &dropped}) {
        Taps<double> taps;
        for (const char* const name : {"embed", "blocks.0.attn.value", "blocks.0.attn.out"}) {
            taps.add(name, [to](const TapView<double>& view) {
                auto& rows = (*to)[view.name()];
                for (std::size_t i = 0; i < view.rows; ++i) {
                    rows.insert(rows.end(), view.row(i), view.row(i) + view.columns);
                }
            });
        }
        taps.add("blocks.0.attn.pattern", [to](const TapView<double>& view) {
            auto& all = (*to)["pattern"];
            all.resize(2 * 7 * 7);
            for (std::size_t i = 0; i < view.rows; ++i) {
                std::copy_n(view.row(i), view.columns, all.data() + (view.head * 7 + view.first_row + i) * 7);
            }
        });
        Pass<double> pass(model, tiny_ids.size());
        pass.dropout(to == &plain ? Dropout{} : dropout);
        pass.forward(tiny_ids, taps);
    }
    EXPECT_EQ(dropped.at("embed"), masked(DropoutMask(dropout, Place::embedding), 0, plain.at("embed")));
    // attention's output from what was shown of the same pass: weights masked by pair of tokens, then the projection.
    const std::vector<double> weights = masked(DropoutMask(dropout, Place::weights, 0, 0), 0, dropped.at("pattern"));
    const BlockLayout& block = model.layout().blocks[0];
    std::vector<double> out(7 * 8);
    for (std::size_t i = 0; i < 7; ++i) {
        for (std::size_t o = 0; o < 8; ++o) {
            double sum = model.at(block.output.bias)[o];
            for (std::size_t c = 0; c < 8; ++c) {
                double mixed = 0;
                for (std::size_t j = 0; j < 7; ++j) {
                    mixed += weights[(c / 4 * 7 + i) * 7 + j] * dropped.at("blocks.0.attn.value")[j * 8 + c];
                }
                sum += mixed * model.at(block.output.weight)[o * 8 + c];
            }
            out[i * 8 + o] = sum;
        }
    }
    EXPECT_LT(distance(dropped.at("blocks.0.attn.out"), masked(DropoutMask(dropout, Place::branch, 0, 0), 0, out)),
              1e-14);
}

TEST(Dropout, WeightsOfLongSequencesAreMaskedByPairOfTokensInEveryBlockOfRows) {
    const std::size_t tokens = 301;  // several blocks of rows, the last one short
    HeadsShape shape{.batch = {2, tokens}, .heads = 2, .kv_heads = 2, .head_dim = 1, .causal = true, .window = 150};
    shape.dropout = DropoutMask({0.5, 8}, Place::weights, 3, 1);
    // Equal scores, values 1: the output is the mean of the mask over the tokens that are seen.
    std::vector<double> qkv(2 * tokens * 6, 0.0);
    for (std::size_t i = 0; i < 2 * tokens; ++i) {
        qkv[i * 6 + 4] = qkv[i * 6 + 5] = 1;
    }
    std::vector<double> out(2 * tokens * 2);
    attend<double>(shape, qkv.data(), out.data(), 0, {});
    for (std::size_t sequence = 0; sequence < 2; ++sequence) {
        for (std::size_t head = 0; head < 2; ++head) {
            for (std::size_t i = 0; i < tokens; ++i) {
                const std::size_t row = ((sequence * 2 + head) * tokens + i) * tokens;
                const std::vector<double> mask = masked(shape.dropout, row, std::vector<double>(tokens, 1.0));
                double sum = 0;
                const std::size_t first = i + 1 > 150 ? i + 1 - 150 : 0;
                for (std::size_t j = first; j <= i; ++j) {
                    sum += mask[j] / static_cast<double>(i + 1 - first);
                }
                ASSERT_NEAR(out[(sequence * tokens + i) * 2 + head], sum, 1e-12);
            }
        }
    }
}

TEST(Dropout, NoShareIsNoDropoutToTheBit) {
    const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 5);
    Pass<float> pass(model, tiny_ids.size(), Keep::inputs);
    pass.forward(tiny_ids);
    const std::vector<float> before = pass.readout();
    pass.dropout({0.5, 1});
    pass.forward(tiny_ids);
    EXPECT_NE(pass.readout(), before);
    pass.dropout({0, 1});
    pass.forward(tiny_ids);
    EXPECT_EQ(pass.readout(), before);
}

TEST(Dropout, RefusesSharesThatAreNoneAndBackwardOfAnotherMask) {
    const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 5);
    Pass<float> pass(model, tiny_ids.size(), Keep::inputs);
    for (const double share : {-0.1, 1.0, 2.0, std::nan("")}) {
        EXPECT_THROW(pass.dropout({share, 1}), Error) << share;
    }
    Parameters<float> gradients(model.layout());
    pass.forward(tiny_ids);
    pass.dropout({0.5, 1});
    EXPECT_THROW(pass.loss_and_backward(next_tokens(tiny_ids), gradients), Error);
}

}  // namespace
}  // namespace flyball::model::test
