// Reverse mode against finite differences, for every scheme and every normaliser.
#include "scheme/reverse.hpp"

#include "scheme/normaliser.hpp"
#include "support.hpp"

namespace flyball::scheme::test::reverse_test {
namespace {

constexpr std::size_t tokens = 4;
constexpr std::size_t dim = 5;
constexpr double beta = 0.9;
constexpr std::size_t size = tokens * dim;

// One block with its numbers, flattened so that a finite difference can move any one of them.
struct Problem {
    Program program;
    const Normaliser* norm = nullptr;
    std::size_t block = 2;  // of 4
    ReversePart part = ReversePart::block;

    Environment env() const { return Environment::block(block, 4, 0.5, tokens, dim); }
    Code code() const {
        return part == ReversePart::block ? lower_block(program, SubLayers::attention_and_ffn, program.decide(env()))
                                          : lower_readout(program, program.decide(env()));
    }

    // streams, x0, learned (all d wide where per channel), then gain, bias, alpha, shift of each norm.
    std::size_t learned_width(std::size_t i) const {
        return program.learned()[i % program.learned().size()].per_channel ? dim : 1;
    }
    std::vector<double> start() const {
        std::vector<double> all;
        for (std::size_t s = 0; s <= program.stream_count(); ++s) {
            const auto rows = random_rows(tokens, dim, 20 + s);
            all.insert(all.end(), rows.begin(), rows.end());
        }
        const Code lowered = code();
        const LearnedValues learned = initial_learned(program, lowered, env());
        for (std::size_t i = 0; i < learned.size(); ++i) {
            for (std::size_t k = 0; k < learned_width(i); ++k) {
                all.push_back(learned[i][0] + 0.1 * static_cast<double>(k));
            }
        }
        for (std::size_t i = 0; i < lowered.norm_count; ++i) {
            for (std::size_t k = 0; k < 2 * dim; ++k) {
                all.push_back(k < dim ? 1 + 0.1 * static_cast<double>(k) : 0.05 * static_cast<double>(k));
            }
            all.push_back(norm->alpha * 1.1);
            all.push_back(norm->shift ? 0.2 : 0.0);
        }
        return all;
    }
};

struct Unpacked {
    std::vector<const double*> streams;
    const double* embedding = nullptr;
    BlockParameters<double> parameters;
};

Unpacked unpack(const Problem& problem, const Code& code, const std::vector<double>& all) {
    Unpacked result;
    std::size_t at = 0;
    for (std::size_t s = 0; s < problem.program.stream_count(); ++s, at += size) {
        result.streams.push_back(all.data() + at);
    }
    result.embedding = all.data() + at;
    at += size;
    for (std::size_t i = 0; i < code.learned_count; ++i) {
        const std::size_t width = problem.learned_width(i);
        result.parameters.learned.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                                               all.begin() + static_cast<std::ptrdiff_t>(at + width));
        at += width;
    }
    for (std::size_t i = 0; i < code.norm_count; ++i) {
        RowMap<double> map;
        map.function = problem.norm->function;
        map.eps = problem.norm->eps;
        map.gain = problem.norm->gain ? all.data() + at : nullptr;
        map.bias = problem.norm->bias ? all.data() + at + dim : nullptr;
        map.alpha = problem.norm->shape ? all[at + 2 * dim] : 1;
        map.shift = problem.norm->shift ? all[at + 2 * dim + 1] : 0;
        result.parameters.norms.push_back(map);
        at += 2 * dim + 2;
    }
    return result;
}

// The loss is a fixed random linear functional of all streams after the block.
double weight(std::size_t i) {
    return std::cos(1.7 * static_cast<double>(i) + 0.3);
}

double loss(const Problem& problem, const std::vector<double>& all) {
    const Code code = problem.code();
    const Unpacked input = unpack(problem, code, all);
    RowStep<double> step(problem.program, SubLayers::attention_and_ffn, tokens, dim);
    State<double> state;
    state.rows = tokens;
    state.dim = dim;
    for (const double* stream : input.streams) {
        state.streams.emplace_back(stream, stream + size);
    }
    state.embedding.assign(input.embedding, input.embedding + size);
    if (problem.part == ReversePart::block) {
        step.layer(problem.env(), state, plain_sub_layers<double>(tokens, dim, beta), input.parameters);
    } else {
        std::vector<double> out;
        step.readout(problem.env(), state, out, input.parameters);
        state.streams = {out};
    }
    double total = 0;
    for (std::size_t s = 0; s < state.streams.size(); ++s) {
        for (std::size_t c = 0; c < size; ++c) {
            total += weight(s * size + c) * state.streams[s][c];
        }
    }
    return total;
}

// J' g of the plain sub-layers, by central differences: reverse mode must not depend on how the caller gets it.
void plain_reverse(SubLayer sub_layer, const double* in, const double* grad_out, double* grad_in) {
    const auto f = plain_sub_layers<double>(tokens, dim, beta);
    std::vector<double> moved(in, in + size);
    std::vector<double> up(size);
    std::vector<double> down(size);
    for (std::size_t i = 0; i < size; ++i) {
        const double h = 1e-5;
        moved[i] = in[i] + h;
        f(sub_layer, moved.data(), up.data());
        moved[i] = in[i] - h;
        f(sub_layer, moved.data(), down.data());
        moved[i] = in[i];
        grad_in[i] = 0;
        for (std::size_t k = 0; k < size; ++k) {
            grad_in[i] += grad_out[k] * (up[k] - down[k]) / (2 * h);
        }
    }
}

// Gradients are written into memory that is full of NaN: whatever is read before it is written shows.
std::vector<double> reverse_gradient(const Problem& problem, const std::vector<double>& all, bool shows = false) {
    const Code code = problem.code();
    const Unpacked input = unpack(problem, code, all);
    const std::vector<double> spoiled(size, std::nan(""));
    auto room = std::make_shared<ReverseRoom<double>>();
    const LineVector<double> spoiled_line(spoiled.begin(), spoiled.end());
    room->wide.assign(50, spoiled_line);
    room->entry.assign(5, spoiled_line);
    room->call = spoiled_line;
    ReverseStep<double> step(problem.program, SubLayers::attention_and_ffn, tokens, dim, problem.part, room);
    const std::size_t streams = input.streams.size();
    const std::size_t outputs = code.streams_out.size();
    std::vector<std::vector<double>> out(outputs, std::vector<double>(size));
    std::vector<std::vector<double>> grad_out(outputs, std::vector<double>(size));
    std::vector<std::vector<double>> grad(streams, spoiled);
    std::vector<double*> out_pointers;
    std::vector<const double*> grad_out_pointers;
    std::vector<double*> grad_pointers;
    for (std::size_t s = 0; s < outputs; ++s) {
        for (std::size_t c = 0; c < size; ++c) {
            grad_out[s][c] = weight(s * size + c);
        }
        out_pointers.push_back(out[s].data());
        grad_out_pointers.push_back(grad_out[s].data());
    }
    for (std::vector<double>& part : grad) {
        grad_pointers.push_back(part.data());
    }
    Branches<double> branches;
    const auto look_away = [](const Contribution&, const double*) {};
    const ContributionSink<double> sink = look_away;
    branches.sink = shows ? &sink : nullptr;
    step.forward(problem.env(), input.streams, input.embedding, out_pointers, input.parameters,
                 plain_sub_layers<double>(tokens, dim, beta), branches);
    std::vector<double> grad_embedding(size, 0.0);
    BlockGradients gradients;
    step.backward(grad_out_pointers, grad_pointers, grad_embedding.data(), gradients,
                  [](SubLayer sub_layer, std::size_t, const double* in, const double* g, double* grad_in) {
                      plain_reverse(sub_layer, in, g, grad_in);
                  });
    std::vector<double> result;
    const auto append = [&](const std::vector<double>& part) { result.insert(result.end(), part.begin(), part.end()); };
    for (const auto& part : grad) {
        append(part);
    }
    append(grad_embedding);
    for (const auto& part : gradients.learned) {
        append(part);
    }
    for (const NormGradient& norm : gradients.norms) {
        const std::vector<double> none(dim, 0.0);
        append(problem.norm->gain && !norm.gain.empty() ? norm.gain : none);
        append(problem.norm->bias && !norm.bias.empty() ? norm.bias : none);
        result.push_back(problem.norm->shape ? norm.alpha : 0);
        result.push_back(problem.norm->shift ? norm.shift : 0);
    }
    return result;
}

void expect_gradients_match(const Problem& problem) {
    std::vector<double> all = problem.start();
    const std::vector<double> gradient = reverse_gradient(problem, all, false);
    ASSERT_EQ(gradient.size(), all.size());
    if (problem.part == ReversePart::block) {
        const std::vector<double> shown = reverse_gradient(problem, all, true);
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_NEAR(shown[i], gradient[i], 1e-12 * (1 + std::abs(gradient[i])))
                << problem.program.text() << " with its branches shown, number " << i;
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        // Error budget: truncation h^2 and rounding 1e-16/h are below 1e-8 of values of order one.
        const double h = 1e-5;
        const double before = all[i];
        all[i] = before + h;
        const double up = loss(problem, all);
        all[i] = before - h;
        const double down = loss(problem, all);
        all[i] = before;
        EXPECT_NEAR(gradient[i], (up - down) / (2 * h), 3e-7 * (1 + std::abs(gradient[i])))
            << problem.program.text() << " with " << problem.norm->name << ", number " << i;
    }
}

class ReverseOf : public EveryScheme {};

TEST_P(ReverseOf, EqualsFiniteDifferences) {
    const Program program = program_for_test(GetParam());
    const bool detached = program.text().find("detach") != std::string::npos;
    for (const Normaliser& norm : normalisers()) {
        for (const std::size_t block : {std::size_t{1}, std::size_t{3}}) {
            if (!detached) {
                expect_gradients_match({program, &norm, block});
            }
        }
    }
    if (detached) {  // the same equation without detach is differentiable; detach itself has a test of its own
        std::string text = program.text();
        for (std::size_t at = text.find("detach"); at != std::string::npos; at = text.find("detach")) {
            text.erase(at, 6);
        }
        expect_gradients_match({Program::parse(text), &normalisers().front(), 2});
    }
}

TEST_P(ReverseOf, EqualsFiniteDifferencesInTheReadout) {
    for (const Normaliser& norm : normalisers()) {
        expect_gradients_match({program_for_test(GetParam()), &norm, 4, ReversePart::readout});
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ReverseOf, ::testing::ValuesIn(catalogue()), test_name);

TEST(Reverse, OfEquationsOutsideTheCatalogue) {
    for (const char* text : {
             "x + dt*(f(x + x0) - b/2) | norm(x)",
             "o = f(rms(x)); z = x; x = norm(y + dt*o); y = z - dt*o*g where ~g[d] = 0.3",
             "x + a*dt*f(ln(x) + s)*exp(-a^2) where ~a = 0.7, ~s[d] = 0.1",
             "x + dt*tanh(f(erf(x)))/(1+c) where ~c[d] = 0.5",
             "x + dt*sqrt(g)*f(x)*max(exp(-g), h) where ~g[d] = 0.3, ~h[d] = 0.6",
         }) {
        expect_gradients_match({Program::parse(text), &find_normaliser("layernorm"), 2});
    }
}

TEST(Reverse, DetachStopsTheGradientOfItsArgumentOnly) {
    // One sub-layer, so that nothing passes detach twice: the gradient of x is that of the first two terms, and of c it
    // is -<x, g>.
    const Normaliser& norm = normalisers().front();
    const Problem one_with{Program::parse("x + dt*attn(norm(x)) - c*detach(x) where ~c = 0.4"), &norm, 2};
    const Problem one_without{Program::parse("x + dt*attn(norm(x))"), &norm, 2};
    const std::vector<double> detached = reverse_gradient(one_with, one_with.start());
    const std::vector<double> plain = reverse_gradient(one_without, one_without.start());
    double along = 0;
    for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(detached[i], plain[i], 1e-14);
        along -= weight(i) * one_with.start()[i];
    }
    EXPECT_NEAR(detached[2 * size], along, 1e-13);
}

// Nothing comes back through the branch: what is left is the gradient of x itself.
TEST(Reverse, DetachAloneInAnArgumentStopsTheGradient) {
    const Problem one{Program::parse("x + dt*attn(norm(detach(x)))"), &normalisers().front(), 2};
    const std::vector<double> gradient = reverse_gradient(one, one.start());
    for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(gradient[i], weight(i), 1e-14);
    }
}

// y = gain erf(alpha x + shift) + bias on rows that several slots share: each gradient is the sum over all of them.
TEST(Reverse, AddsUpTheGradientsOfANormOverAllRows) {
    const std::size_t rows = 2100;
    const std::size_t wide = 24;
    ASSERT_GE(row_slots(rows, wide), 3U);
    const std::vector<double> x = random_rows(rows, wide, 31);
    const std::vector<double> g = random_rows(rows, wide, 32);
    std::vector<double> gain(wide);
    for (std::size_t c = 0; c < wide; ++c) {
        gain[c] = 1 + 0.1 * static_cast<double>(c);
    }
    const std::vector<double> bias(wide, 0.3);
    const double alpha = 0.7;
    const double shift = 0.2;
    NormGradient expected;
    expected.gain.assign(wide, 0.0);
    expected.bias.assign(wide, 0.0);
    for (std::size_t i = 0; i < rows * wide; ++i) {
        const double z = alpha * x[i] + shift;
        const double slope = 1.1283791670955126 * std::exp(-z * z);  // 2/sqrt(pi)
        expected.gain[i % wide] += g[i] * std::erf(z);
        expected.bias[i % wide] += g[i];
        expected.alpha += g[i] * gain[i % wide] * slope * x[i];
        expected.shift += g[i] * gain[i % wide] * slope;
    }
    ReverseStep<double> step(Program::parse("x + dt*f(x) | norm(x)"), SubLayers::attention_only, rows, wide,
                             ReversePart::readout);
    BlockParameters<double> parameters;
    parameters.norms = {RowMap<double>{RowFunction::erf, 0, alpha, shift, gain.data(), bias.data()}};
    std::vector<double> out(rows * wide);
    std::vector<double> grad(rows * wide);
    BlockGradients gradients;
    step.forward(Environment::block(4, 4, 1, rows, wide), {x.data()}, nullptr, {out.data()}, parameters,
                 [](SubLayer, const double*, double*) {});
    step.backward({g.data()}, {grad.data()}, nullptr, gradients,
                  [](SubLayer, std::size_t, const double*, const double*, double*) {});
    ASSERT_EQ(gradients.norms.size(), 1U);
    EXPECT_NEAR(gradients.norms[0].alpha, expected.alpha, 1e-10);
    EXPECT_NEAR(gradients.norms[0].shift, expected.shift, 1e-10);
    EXPECT_LT(largest_difference(gradients.norms[0].gain, expected.gain), 1e-11);
    EXPECT_LT(largest_difference(gradients.norms[0].bias, expected.bias), 1e-11);
}

// out = alpha x: the gradient of alpha is the sum of g x over the rows of all slots and pieces.
TEST(Reverse, AddsUpTheGradientOfALearnedNumberOverAllRows) {
    const std::size_t rows = 2100;
    const std::size_t wide = 24;
    const std::vector<double> x = random_rows(rows, wide, 33);
    const std::vector<double> g = random_rows(rows, wide, 34);
    double expected = 0;
    for (std::size_t i = 0; i < rows * wide; ++i) {
        expected += g[i] * x[i];
    }
    ReverseStep<double> step(Program::parse("x + dt*f(x) | alpha*x where ~alpha = 0.5"), SubLayers::attention_only,
                             rows, wide, ReversePart::readout);
    std::vector<double> out(rows * wide);
    std::vector<double> grad(rows * wide);
    BlockParameters<double> parameters;
    parameters.learned = {{0.5}};
    BlockGradients gradients;
    step.forward(Environment::block(4, 4, 1, rows, wide), {x.data()}, nullptr, {out.data()}, parameters,
                 [](SubLayer, const double*, double*) {});
    step.backward({g.data()}, {grad.data()}, nullptr, gradients,
                  [](SubLayer, std::size_t, const double*, const double*, double*) {});
    ASSERT_EQ(gradients.learned.size(), 1U);
    EXPECT_NEAR(gradients.learned[0].at(0), expected, 1e-10);
}

TEST(Reverse, FindsTheGradientOfAGateThatIsZero) {
    // ReZero starts at alpha = 0: the branch does not count, but its gradient must.
    const Normaliser& norm = normalisers().front();
    Problem problem{Program::parse("x + dt*alpha*f(x) where ~alpha = 0"), &norm, 2};
    const std::vector<double> gradient = reverse_gradient(problem, problem.start(), false);
    EXPECT_GT(std::abs(gradient[2 * size]), 1e-3);
    expect_gradients_match(problem);
}

}  // namespace
}  // namespace flyball::scheme::test::reverse_test
