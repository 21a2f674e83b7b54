// Every scheme against the papers, typed by hand: golden/NAME.json says what s and r' are, in the paper's own symbols.
//
//     theta' = P_theta A / s,   r' = dr        for each stream, A the attention at z = sum of `input` times directions
//
// A formula is evaluated by muParser, not by our language, in: r (the stream's radius), r_x, r_y, A = |A_j|,
// dot = <theta_j, A_j>, t, T, L, n, d, beta. A scheme without a golden fails. layers.json and velocity.json are numbers
// of an independent numpy implementation (make_layers.py, make_velocity.py).
#include <muParser.h>

#include <filesystem>
#include <map>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"
#include "scheme/limit.hpp"
#include "support.hpp"

namespace flyball::scheme::test::golden_test {
namespace {

const std::filesystem::path golden_folder = std::filesystem::path(flyball::test::source_folder) / "tests/scheme/golden";

Json load(const std::string& file) {
    const std::filesystem::path path = golden_folder / file;
    if (!std::filesystem::exists(path)) {
        ADD_FAILURE() << "no golden " << path << ": type s and dr from the paper (ARCHITECTURE.md says how)";
        return {};
    }
    return parse_json(read_text_file(path.string(), 1 << 20), file);
}

using Symbols = std::map<std::string, double>;

double formula(const std::string& text, const Symbols& symbols) {
    mu::Parser parser;
    for (const auto& [name, value] : symbols) {
        parser.DefineConst(name, value);
    }
    try {
        parser.SetExpr(text);
        return parser.Eval();
    } catch (const mu::Parser::exception_type& error) {
        ADD_FAILURE() << "golden formula '" << text << "': " << error.GetMsg();
        return std::nan("");
    }
}

constexpr std::size_t tokens = 5;
constexpr std::size_t dim = 8;
constexpr double T = 10;

// A random state on the scheme's manifold: streams on the unit sphere where the golden says so.
State<double> random_state(const Program& program, const Json& row, std::uint64_t seed) {
    State<double> state = State<double>::start(program, tokens, dim, random_rows(tokens, dim, seed));
    for (std::size_t s = 0; s < program.stream_count(); ++s) {
        state.streams[s] = random_rows(tokens, dim, seed + 100 * (s + 1));
        if (row["velocity"][program.stream_name(s)].value("radius", "free") == "unit") {
            for (std::size_t j = 0; j < tokens; ++j) {
                const double r = length_of(&state.streams[s][j * dim], dim);
                for (std::size_t c = 0; c < dim; ++c) {
                    state.streams[s][j * dim + c] /= r;
                }
            }
        }
    }
    return state;
}

void expect_row(const Program& program, const Json& row, double t, double beta, std::uint64_t seed) {
    const State<double> state = random_state(program, row, seed);
    Symbols symbols = {{"t", t}, {"T", T}, {"L", T}, {"n", tokens}, {"d", dim}, {"beta", beta}};

    // z_j = sum over streams of coefficient * theta_j
    std::vector<double> z(tokens * dim, 0.0);
    std::vector<Symbols> radii(tokens);
    for (std::size_t j = 0; j < tokens; ++j) {
        for (std::size_t s = 0; s < program.stream_count(); ++s) {
            radii[j]["r_" + program.stream_name(s)] = length_of(&state.streams[s][j * dim], dim);
        }
        radii[j].insert(symbols.begin(), symbols.end());
        for (std::size_t s = 0; s < program.stream_count(); ++s) {
            const double r = radii[j]["r_" + program.stream_name(s)];
            const double c = formula(row["input"].value(program.stream_name(s), "0"), radii[j]);
            for (std::size_t k = 0; k < dim; ++k) {
                z[j * dim + k] += c * state.streams[s][j * dim + k] / r;
            }
        }
    }
    std::vector<double> attention(tokens * dim);
    plain_attention(tokens, dim, formula(row.value("beta", "beta"), symbols), z.data(), attention.data());

    RowStep<double> step(program, SubLayers::attention_only, tokens, dim);
    std::vector<std::vector<double>> slopes;
    ASSERT_EQ(
        step.velocity(Environment::ode(t, T, tokens, dim), state, plain_sub_layers<double>(tokens, dim, beta), slopes),
        std::nullopt);
    for (std::size_t s = 0; s < program.stream_count(); ++s) {
        const Json& expected = row["velocity"][program.stream_name(s)];
        for (std::size_t j = 0; j < tokens; ++j) {
            const double* x = &state.streams[s][j * dim];
            const double* a = &attention[j * dim];
            Symbols here = radii[j];
            here["r"] = here["r_" + program.stream_name(s)];
            here["A"] = length_of(a, dim);
            here["dot"] = 0;
            for (std::size_t k = 0; k < dim; ++k) {
                here["dot"] += x[k] / here["r"] * a[k];
            }
            const double speed = formula(expected["s"], here);
            const double dr = formula(expected["dr"], here);
            for (std::size_t k = 0; k < dim; ++k) {
                const double theta = x[k] / here["r"];
                const double velocity = dr * theta + here["r"] * (a[k] - here["dot"] * theta) / speed;
                EXPECT_NEAR(slopes[s][j * dim + k], velocity, 1e-12 * (1 + std::abs(velocity)))
                    << program.text() << " stream " << program.stream_name(s) << " token " << j << " t " << t;
            }
        }
    }
}

class GoldenOf : public EveryScheme {};

TEST_P(GoldenOf, IsWhatThePaperSays) {
    const CatalogueEntry& entry = GetParam();
    const Json golden = load(std::string(entry.name) + ".json");
    ASSERT_FALSE(golden.is_null()) << "a scheme needs a golden";
    const std::string settings = golden.value("settings", "");
    const Program program = find_scheme(std::string(entry.name) + (settings.empty() ? "" : ":" + settings)).program;
    if (golden.contains("no_limit")) {  // an equation for layers only: the golden says why
        const std::string reason = limit_problem(program, SubLayers::attention_only).value_or("it has a limit");
        EXPECT_NE(reason.find(golden["no_limit"].get<std::string>()), std::string::npos) << reason;
        return;
    }
    if (golden.contains("layers")) {  // a coordinate-wise scheme has no s: layers.json holds its numbers
        EXPECT_EQ(golden["layers"], "layers.json");
        const Json numbers = load("layers.json");
        const auto& runs = numbers["runs"];
        EXPECT_TRUE(
            std::any_of(runs.begin(), runs.end(), [&](const Json& run) { return run["scheme"] == entry.name; }));
        return;
    }
    ASSERT_TRUE(golden.contains("rows"));
    std::uint64_t seed = 40;
    for (const Json& row : golden["rows"]) {
        for (const double t : row["times"]) {
            for (const double beta : {0.5, 3.0}) {
                expect_row(program, row, t, beta, ++seed);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, GoldenOf, ::testing::ValuesIn(catalogue()), test_name);

std::vector<double> flat(const Json& rows) {
    std::vector<double> values;
    for (const Json& row : rows) {
        for (const double value : row) {
            values.push_back(value);
        }
    }
    return values;
}

std::string named(const Json& run) {
    const std::string settings = run["settings"];
    return run["scheme"].get<std::string>() + (settings.empty() ? "" : ":" + settings);
}

// Whole blocks, attention and FFN, dt = 1 and less, against the papers' layers written in numpy.
TEST(Golden, LayersEqualTheIndependentImplementation) {
    const Json golden = load("layers.json");
    ASSERT_FALSE(golden.is_null());
    const std::size_t n = golden["n"];
    const std::size_t d = golden["d"];
    const double beta = golden["beta"];
    const std::vector<double> w1 = flat(golden["W1"]);
    const std::vector<double> w2 = flat(golden["W2"]);
    const std::size_t hidden = w1.size() / d;
    const auto f = [&](SubLayer sub_layer, const double* in, double* out) {
        if (sub_layer == SubLayer::attention) {
            plain_attention(n, d, beta, in, out);
            return;
        }
        for (std::size_t j = 0; j < n; ++j) {
            std::fill_n(out + j * d, d, 0.0);
            for (std::size_t h = 0; h < hidden; ++h) {
                double sum = 0;
                for (std::size_t c = 0; c < d; ++c) {
                    sum += in[j * d + c] * w1[c * hidden + h];
                }
                for (std::size_t c = 0; c < d; ++c) {
                    out[j * d + c] += std::tanh(sum) * w2[h * d + c];
                }
            }
        }
    };
    std::map<std::string, int> seen;
    for (const Json& run : golden["runs"]) {
        const Scheme scheme = find_scheme(named(run));
        const bool ffn = run["ffn"];
        RowStep<double> step(scheme.program, ffn ? SubLayers::attention_and_ffn : SubLayers::attention_only, n, d);
        State<double> state = State<double>::start(scheme.program, n, d, flat(golden["x0"]));
        const std::size_t layers = run["layers"];
        for (std::size_t l = 1; l <= layers; ++l) {
            step.layer(Environment::layer(l, layers, run["dt"], n, d), state, f);
        }
        std::vector<double> readout;
        step.readout(Environment::layer(layers, layers, run["dt"], n, d), state, readout);
        for (std::size_t s = 0; s < state.streams.size(); ++s) {
            const std::string stream = scheme.program.stream_name(s);
            EXPECT_LT(largest_difference(state.streams[s], flat(run["streams"][stream])), 1e-12)
                << named(run) << " dt " << run["dt"] << " ffn " << ffn << " stream " << stream;
        }
        EXPECT_LT(largest_difference(readout, flat(run["readout"])), 1e-12) << named(run) << " readout, ffn " << ffn;
        ++seen[std::string(scheme.entry->name)];
    }
    EXPECT_GE(seen.size(), 25U);
}

TEST(Golden, VelocityEqualsThePapersTable) {
    const Json golden = load("velocity.json");
    ASSERT_FALSE(golden.is_null());
    const std::size_t n = golden["n"];
    const std::size_t d = golden["d"];
    for (const Json& point : golden["states"]) {
        const Program program = find_scheme(named(point)).program;
        RowStep<double> step(program, SubLayers::attention_only, n, d);
        const State<double> state = State<double>::start(program, n, d, flat(point["x"]));
        std::vector<std::vector<double>> slopes;
        ASSERT_EQ(step.velocity(Environment::ode(point["t"], point["T"], n, d), state,
                                plain_sub_layers<double>(n, d, golden["beta"]), slopes),
                  std::nullopt);
        EXPECT_LT(largest_difference(slopes[0], flat(point["velocity"])), 1e-12) << named(point) << " t " << point["t"];
    }
}

TEST(Golden, NoFileIsLeftWithoutItsScheme) {
    for (const auto& file : std::filesystem::directory_iterator(golden_folder)) {
        const std::string stem = file.path().stem().string();
        if (file.path().extension() == ".json" && stem != "layers" && stem != "velocity") {
            EXPECT_NE(find_entry(stem), nullptr) << file.path();
        }
    }
}

}  // namespace
}  // namespace flyball::scheme::test::golden_test
