// A batch gives what its sequences give one by one, to rounding: readouts, losses, attention and gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "../core/support.hpp"
#include "core/random.hpp"
#include "model/pass.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test::batch_test {
namespace {

constexpr std::size_t sequences = 3;

std::vector<std::int32_t> some_ids(std::size_t count, std::size_t vocab) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(static_cast<std::int32_t>(Random(31).bits(i) % vocab));
    }
    return ids;
}

template <class Real>
constexpr double rounding = sizeof(Real) == 4 ? 2e-5 : 1e-11;

// The gradient of the mean loss, or of a fixed direction where a model has no head.
template <class Real>
double gradient(Pass<Real>& pass, const Architecture& a, std::span<const std::int32_t> ids, std::size_t count,
                const std::vector<Real>& direction, Parameters<Real>& gradients) {
    pass.forward(ids);
    if (a.has_head) {
        return pass.loss_and_backward(next_tokens(ids, count), gradients);
    }
    pass.backward(direction.data(), gradients);
    return 0;
}

template <class Real>
void expect_sum_of_sequences(const Model<Real>& model, std::size_t tokens, Keep keep, const std::string& what) {
    const Architecture& a = model.architecture();
    const std::vector<std::int32_t> ids = some_ids(sequences * tokens, a.vocab);
    const std::vector<Real> direction(sequences * tokens * a.dim, Real{0.01F});
    Pass<Real> batch(model, {sequences, tokens}, keep);
    Parameters<Real> gradients(model.layout());
    const double loss = gradient(batch, a, ids, sequences, direction, gradients);

    std::vector<Real> readouts;
    Parameters<Real> summed(model.layout());
    double mean = 0;
    for (std::size_t b = 0; b < sequences; ++b) {
        const std::span<const std::int32_t> mine(ids.data() + b * tokens, tokens);
        Pass<Real> one(model, tokens, keep);
        Parameters<Real> part(model.layout());
        const double its_loss = gradient(one, a, mine, 1, direction, part);
        readouts.insert(readouts.end(), one.readout().begin(), one.readout().end());
        mean += its_loss / sequences;
        for (std::size_t i = 0; i < part.all().size(); ++i) {
            summed.all()[i] += part.all()[i] / static_cast<Real>(a.has_head ? sequences : 1);
        }
        if (a.has_head) {
            // The targets of the other sequences left out, the loss is this one's.
            std::vector<std::int32_t> targets(ids.size(), no_target);
            const std::vector<std::int32_t> next = next_tokens(mine);
            std::copy(next.begin(), next.end(), targets.begin() + static_cast<std::ptrdiff_t>(b * tokens));
            EXPECT_NEAR(batch.loss(targets), its_loss, rounding<Real> * its_loss) << what;
        }
    }
    EXPECT_LE(distance(batch.readout(), readouts), rounding<Real>) << what;
    EXPECT_LE(distance(gradients.all(), summed.all()), rounding<Real>) << what;
    EXPECT_NEAR(loss, mean, rounding<Real> * mean) << what;
}

template <class Real>
void expect_for_schemes() {
    for (const std::string equation : {
             "x + dt*f(norm(x)) | norm(x)", "norm(x + dt*f(x))", "x + dt*norm(f(norm(x))) | norm(x)",
             "unit(x + dt*0.3*(unit(f(x)) - x))", "o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)",
             "x + a*dt*f(norm(x))/sqrt(n) | norm(x) where ~a = 0.7",  // n counts the tokens of a sequence
         }) {
        expect_sum_of_sequences(tiny_model<Real>(tiny_architecture(equation), 5), 7, Keep::everything, equation);
        expect_sum_of_sequences(tiny_model<Real>(tiny_llama(equation), 6), 7, Keep::inputs, equation + " llama");
    }
}

TEST(Batch, IsTheSumOfItsSequencesForSeveralSchemesInFloat) {
    expect_for_schemes<float>();
}

TEST(Batch, IsTheSumOfItsSequencesForSeveralSchemesInDouble) {
    expect_for_schemes<double>();
}

class BatchOf : public testing::TestWithParam<std::string> {};

TEST_P(BatchOf, IsTheSumOfItsSequences) {
    const Model<float> model = load_model(golden_folder() / GetParam());
    expect_sum_of_sequences(model, 6, Keep::inputs, "float");
    expect_sum_of_sequences(widened(model), 6, Keep::everything, "double");
}

INSTANTIATE_TEST_SUITE_P(EveryFamily, BatchOf, testing::ValuesIn(golden_names()), [](const auto& family) {
    std::string name = family.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

// Longer than a tile of rows and a block of scores, so that tiles cross the borders of sequences.
TEST(Batch, IsTheSumOfItsSequencesWhereTilesCrossTheirBorders) {
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.layers = 2;
    a.dim = 48;
    a.heads = 6;
    a.kv_heads = 3;
    a.head_dim = 8;
    a.ffn_dim = 80;
    a.vocab = 300;
    a.positions = 150;
    a.rope.dims = 8;
    a.windows = {0, 40};
    expect_sum_of_sequences(tiny_model<double>(a, 7), 150, Keep::inputs, "double");
}

TEST(Batch, SequencesDoNotSeeEachOther) {
    const Model<float> model = tiny_model<float>(tiny_llama("x + dt*f(norm(x)) | norm(x)"), 8);
    const std::size_t tokens = 7;
    std::vector<std::int32_t> ids = some_ids(2 * tokens, model.architecture().vocab);
    Pass<float> pass(model, {2, tokens});
    pass.forward(ids);
    const std::vector<float> before = pass.readout();
    ids[3] = (ids[3] + 1) % 11;
    pass.forward(ids);
    const std::size_t border = tokens * model.architecture().dim;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const bool may_differ = i < border && i >= 3 * model.architecture().dim;
        EXPECT_EQ(pass.readout()[i] == before[i], !may_differ) << i;
    }
}

// Blocks of one head come in order, sequence after sequence, and are those of the sequence alone.
TEST(Batch, ShowsTheAttentionOfEachSequence) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 9);
    const Architecture& a = model.architecture();
    const std::size_t tokens = 7;
    const std::vector<std::int32_t> ids = some_ids(sequences * tokens, a.vocab);
    std::vector<std::vector<double>> patterns(sequences, std::vector<double>(a.heads * tokens * tokens, 0.0));
    std::vector<std::size_t> last(a.heads, 0);
    Taps<double> taps;
    taps.add("blocks.1.attn.pattern", [&](const TapView<double>& view) {
        EXPECT_GE(view.sequence, last[view.head]);
        last[view.head] = view.sequence;
        for (std::size_t i = 0; i < view.rows; ++i) {
            const std::size_t row = view.head * tokens + view.first_row + i;
            std::copy_n(view.row(i), view.columns, patterns[view.sequence].data() + row * tokens + view.first_column);
        }
    });
    Pass<double> pass(model, {sequences, tokens});
    pass.forward(ids, taps);
    for (std::size_t b = 0; b < sequences; ++b) {
        Seen<double> seen;
        Pass<double> one(model, tokens);
        one.forward(std::span(ids).subspan(b * tokens, tokens), seen.taps(a, tokens));
        EXPECT_LE(distance(patterns[b], seen.tensors["attention.1"]), 1e-12);
    }
}

TEST(Batch, TargetsEndWithEachSequence) {
    const std::vector<std::int32_t> ids = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(next_tokens(ids, 2), (std::vector<std::int32_t>{2, 3, no_target, 5, 6, no_target}));
    EXPECT_EQ(next_tokens(ids), (std::vector<std::int32_t>{2, 3, 4, 5, 6, no_target}));
}

TEST(Batch, MemoryFollowsTheRowsOfAllSequences) {
    const Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    for (const Keep keep : {Keep::nothing, Keep::inputs, Keep::everything}) {
        const double fixed = memory_estimate(a, 0, keep);
        EXPECT_DOUBLE_EQ(memory_estimate(a, {5, 8}, keep) - fixed, 5 * (memory_estimate(a, 8, keep) - fixed));
        EXPECT_GT(memory_estimate(a, 8, keep), fixed);
    }
}

TEST(Batch, WrongCountsAreErrors) {
    const Model<float> model = tiny_model<float>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 1);
    Pass<float> pass(model, {2, 4});
    EXPECT_ERROR(pass.forward(some_ids(7, 11)), "got 7 tokens, expected 8, 4 for each of 2 sequences");
    EXPECT_ERROR((Pass<float>(model, {0, 4})), "no sequences");
    EXPECT_ERROR((Pass<float>(model, {2, 10})), "from 1 to 9");
}

}  // namespace
}  // namespace flyball::model::test::batch_test
