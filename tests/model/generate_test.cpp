// A sequence that grows gives at every step what a whole pass over it gives.
#include "model/generate.hpp"

#include "attention/attention.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "model/linear.hpp"
#include "scheme/catalogue.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

// The logits of the last token by the definition.
template <class Real>
std::vector<Real> whole_pass(const Model<Real>& model, std::span<const std::int32_t> ids) {
    Pass<Real> pass(model, ids.size());
    pass.forward(ids);
    std::vector<Real> logits;
    Taps<Real> taps;
    taps.add("logits", [&](const TapView<Real>& view) {
        for (std::size_t i = 0; i < view.rows; ++i) {
            logits.assign(view.row(i), view.row(i) + view.columns);
        }
    });
    static_cast<void>(pass.loss(next_tokens(ids), taps));
    return logits;
}

// Ids taken in pieces; after each piece the logits are compared. Returns the largest distance.
template <class Real>
double worst(const Model<Real>& model, const std::vector<std::int32_t>& ids, const std::vector<std::size_t>& pieces) {
    Generator<Real> generator(model);
    double most = 0;
    std::size_t done = 0;
    for (std::size_t i = 0; done < ids.size(); ++i) {
        const std::size_t count = std::min(i < pieces.size() ? pieces[i] : 1, ids.size() - done);
        generator.take(std::span(ids).subspan(done, count));
        done += count;
        most = std::max(most, distance(generator.logits(), whole_pass<Real>(model, std::span(ids).first(done))));
    }
    EXPECT_EQ(generator.ids(), ids);
    return most;
}

const std::vector<std::vector<std::size_t>> ways = {{}, {3}, {3, 2}, {1, 4}};

template <class Real>
void expect_definition(const Model<Real>& model, const std::vector<std::int32_t>& ids, double bound,
                       const std::string& what) {
    for (const std::vector<std::size_t>& pieces : ways) {
        EXPECT_LE(worst(model, ids, pieces), bound) << what << ", first piece " << (pieces.empty() ? 1 : pieces[0]);
    }
}

constexpr double double_bound = 1e-10;
constexpr double float_bound = 1e-4;

TEST(Generate, EveryFamilyGivesTheLogitsOfAWholePass) {
    std::size_t causal = 0;
    for (const std::string& name : golden_names()) {
        const Model<float> model = load_model(golden_folder() / name);
        if (!model.architecture().causal) {
            continue;
        }
        ++causal;
        const auto ids = read_ids(SafeTensors::open(golden_folder() / name / "expected.safetensors"));
        expect_definition(model, ids, float_bound, name);
        expect_definition(widened(model), ids, double_bound, name);
    }
    EXPECT_GE(causal, 10U);
}

TEST(Generate, EverySchemeGivesTheLogitsOfAWholePass) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const scheme::Scheme scheme = scheme::find_scheme(entry.name);
        for (const bool llama : {false, true}) {
            const Architecture sizes = llama ? tiny_llama("x") : tiny_architecture("x");
            const Architecture a = wired(sizes, scheme);
            const std::string what = scheme.name + (llama ? " with rotary positions" : "");
            expect_definition(tiny_model<double>(a, 7), tiny_ids, double_bound, what);
            EXPECT_LE(worst(tiny_model<float>(a, 7), tiny_ids, {3}), float_bound) << what;
        }
    }
}

TEST(Generate, EveryKindOfAttentionGivesTheLogitsOfAWholePass) {
    for (const std::string& name : attention::kind_names()) {
        for (const bool llama : {false, true}) {
            Architecture a = llama ? tiny_llama("x + dt*f(norm(x)) | norm(x)") : tiny_architecture("norm(x + dt*f(x))");
            a.attention_kind = attention::kind_from_name(name);
            expect_definition(tiny_model<double>(a, 5), tiny_ids, double_bound, name);
            EXPECT_LE(worst(tiny_model<float>(a, 5), tiny_ids, {3}), float_bound) << name;
            EXPECT_EQ(has_exact_cache(a, scheme::Program::parse(a.equation), 5), name != "unnormalized") << name;
        }
    }
}

// Attention twice in a block has two caches; streams beside x; coefficients of depth, and of n, which allow no cache.
TEST(Generate, EquationsOfEveryFormGiveTheLogitsOfAWholePass) {
    const std::vector<std::pair<std::string, bool>> equations = {
        {"m = x + dt*attn(norm(x)); x = m + dt*attn(unit(m)) + dt*ffn(norm(m)) | norm(x)", true},
        {"o = f(norm(x)); x = x + dt*o; y = y + dt*o | norm(x) + y", true},
        {"depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x + x0)", true},
        {"x + dt*f(norm(x)) | depth < 1 ? x : norm(x)*(t + 2)", true},
        {"x + dt*f(norm(x))/sqrt(n) | norm(x)", false},
        {"n > 4 ? norm(x + dt*f(x)) : x + dt*f(norm(x))", false},
        {"x + dt*f(norm(x)) | norm(x)/log(n + 1)", false},
        {"x + dt*a*f(norm(x)) | norm(x) where a = 1/n", false}};
    for (const auto& [equation, cached] : equations) {
        const Architecture a = tiny_llama(equation);
        EXPECT_EQ(has_exact_cache(a, scheme::Program::parse(equation), 5), cached) << equation;
        expect_definition(tiny_model<double>(a, 3), tiny_ids, double_bound, equation);
    }
}

TEST(Generate, NormsOnQueriesAndKeysAndBesideRotaryPositionsAreApplied) {
    for (const bool after : {false, true}) {
        Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
        a.attention_norm.norm = "rmsnorm";
        a.attention_norm.query = a.attention_norm.key = a.attention_norm.value = true;
        a.attention_norm.after_positions = after;
        expect_definition(tiny_model<double>(a, 3), tiny_ids, double_bound, after ? "after" : "before");
    }
}

// Frequencies change with the length once it is beyond the trained one: what was cached must not be used.
TEST(Generate, DynamicRotaryPositionsAreComputedAgainBeyondTheTrainedLength) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.factor = 2;
    a.rope.original_positions = 4;
    a.positions = 4;
    const auto program = scheme::Program::parse(a.equation);
    EXPECT_TRUE(has_exact_cache(a, program, 4));
    EXPECT_FALSE(has_exact_cache(a, program, 5));
    expect_definition(tiny_model<double>(a, 3), tiny_ids, double_bound, "dynamic");
}

// A table of angles is as long as the text, whatever config.json says: here that the model was trained for more
// positions than any number of tokens, or that those without a window go on for ever where those with one are not
// dynamic.
TEST(Generate, AnglesReachTheLastTokenBeyondWhatAConfigurationSays) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.factor = 2;
    for (const double trained : {1e20, 1e300}) {
        a.rope.original_positions = trained;
        expect_definition(tiny_model<double>(a, 3), tiny_ids, double_bound, "trained for ever");
    }
    a.positions = 4;
    a.rope.dims = 0;
    a.window_rope = Rope{.dims = 4};
    expect_definition(tiny_model<double>(a, 3), tiny_ids, double_bound, "dynamic outside windows");
}

// Longer than a first table of angles, a window, and a first array of keys.
TEST(Generate, LongTextsGrowEverything) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.positions = 150;
    a.layers = 2;
    std::vector<std::int32_t> ids(150);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<std::int32_t>(i * i % a.vocab);
    }
    const Model<double> model = tiny_model<double>(a, 3);
    Generator<double> generator(model);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        generator.take(std::span(ids).subspan(i, 1));
        if (i % 37 == 0 || i + 1 == ids.size()) {
            EXPECT_LE(distance(generator.logits(), whole_pass<double>(model, std::span(ids).first(i + 1))),
                      double_bound);
        }
    }
    EXPECT_THROW(generator.take(std::span(ids).first(1)), Error);
    EXPECT_EQ(generator.ids(), ids) << "a refused token changes nothing";
}

TEST(Generate, StartsAnewWhenCleared) {
    const Model<double> model = tiny_model<double>(tiny_llama("x + dt*f(norm(x)) | norm(x)"), 3);
    Generator<double> generator(model);
    EXPECT_TRUE(generator.logits().empty());
    generator.take(tiny_ids);
    const std::vector<double> logits = generator.logits();
    generator.take(std::vector<std::int32_t>{5});
    const std::vector<double> next = generator.logits();
    generator.clear();
    EXPECT_TRUE(generator.logits().empty());
    generator.take(tiny_ids);
    EXPECT_EQ(generator.logits(), logits);
    generator.take(std::vector<std::int32_t>{5});
    EXPECT_EQ(generator.logits(), next);
}

TEST(Generate, RefusesWhatItCannotRun) {
    const Model<float> encoder = load_model(golden_folder() / "bert");
    try {
        const Generator<float> generator(encoder);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_NE(std::string(error.what()).find("an encoder"), std::string::npos) << error.what();
    }
    Architecture headless = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    headless.has_head = false;
    try {
        check_can_generate(headless);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("which has no head for the next token"), std::string::npos)
            << error.what();
    }
    const Model<float> model = tiny_model<float>(tiny_architecture("norm(x + dt*f(x))"), 3);
    Generator<float> generator(model);
    EXPECT_THROW(generator.take({}), Error);
    EXPECT_THROW(generator.take(std::vector<std::int32_t>{1, 11}), Error);
    EXPECT_THROW(generator.take(std::vector<std::int32_t>{-1}), Error);
    EXPECT_THROW(generator.take(std::vector<std::int32_t>(10, 1)), Error);
    EXPECT_TRUE(generator.ids().empty());
}

// y = W x + b by plain sums, for sizes that are cut into pieces and those that are not.
TEST(RowProduct, IsThePlainSumInAnyOrderOfTheMatrix) {
    const std::vector<std::pair<std::size_t, std::size_t>> sizes = {{1, 1}, {5, 7}, {300, 33}, {1000, 257}};
    for (const auto& [out, in] : sizes) {
        for (const bool in_out : {false, true}) {
            for (const bool has_bias : {false, true}) {
                std::vector<float> w(out * in);
                std::vector<float> x(in);
                std::vector<float> bias(out);
                for (std::size_t k = 0; k < w.size(); ++k) {
                    w[k] = static_cast<float>(Random(1).normal(k));
                }
                for (std::size_t k = 0; k < in; ++k) {
                    x[k] = static_cast<float>(Random(2).normal(k));
                }
                for (std::size_t k = 0; k < out; ++k) {
                    bias[k] = static_cast<float>(Random(3).normal(k));
                }
                std::vector<double> expected(out);
                for (std::size_t o = 0; o < out; ++o) {
                    expected[o] = has_bias ? static_cast<double>(bias[o]) : 0;
                    for (std::size_t i = 0; i < in; ++i) {
                        expected[o] +=
                            static_cast<double>(in_out ? w[i * out + o] : w[o * in + i]) * static_cast<double>(x[i]);
                    }
                }
                std::vector<float> y(out, NAN);
                std::vector<char> seen(out, 0);
                row_product<float>(in_out, out, in, w.data(), x.data(), has_bias ? bias.data() : nullptr, y.data(),
                                   [&](const Tile& tile) {
                                       EXPECT_EQ(tile.row, 0U);
                                       EXPECT_EQ(tile.rows, 1U);
                                       for (std::size_t k = 0; k < tile.columns; ++k) {
                                           ++seen[tile.column + k];
                                       }
                                   });
                EXPECT_LE(distance(y, expected), 2e-6) << out << " x " << in;
                EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(out));
            }
        }
    }
}

}  // namespace
}  // namespace flyball::model::test
