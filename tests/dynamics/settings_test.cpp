// The list of settings: each is read back as it is written, and each counts in the identity of a run.
#include "dynamics/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "core/file.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/weights.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"
#include "setting_fields.hpp"

namespace flyball::dynamics {
namespace {

// A value of each setting that is not its default.
const std::vector<std::pair<std::string, std::string>>& other_values() {
    static const std::vector<std::pair<std::string, std::string>> values = {{"tokens", "1000000"},
                                                                            {"dim", "3"},
                                                                            {"beta", "2.5"},
                                                                            {"heads", "4"},
                                                                            {"mask", "causal"},
                                                                            {"weights", "kaiming:q=1,v=0.5,o=identity"},
                                                                            {"gains", "true"},
                                                                            {"fresh", "true"},
                                                                            {"ffn", "16"},
                                                                            {"attention", "sparsemax"},
                                                                            {"start", "cone:0.01"},
                                                                            {"start-frame", "3"},
                                                                            {"r0", "2"},
                                                                            {"time", "3"},
                                                                            {"layers", "12"},
                                                                            {"dt", "0.5"},
                                                                            {"method", "rk4"},
                                                                            {"rtol", "1e-6"},
                                                                            {"atol", "1e-7"},
                                                                            {"systems", "7"},
                                                                            {"samples", "2000000"},
                                                                            {"log-time", "true"},
                                                                            {"until", "one_minus_cosine<1e-9"},
                                                                            {"pair-cosine", "0.5"},
                                                                            {"per-system", "true"},
                                                                            {"precision", "f32"},
                                                                            {"kernel", "reference"},
                                                                            {"seed", "18446744073709551615"}};
    return values;
}

const SettingField& field_named(const std::string& key) {
    return flyball::test::field_named(setting_fields(), key);
}

TEST(SettingFields, EachIsReadBackAsItIsWritten) {
    std::set<std::string> tried;
    for (const auto& [key, text] : other_values()) {
        Settings settings;
        const SettingField& field = field_named(key);
        EXPECT_NE(field.text(settings), text) << key << ": the default, so nothing is tested";
        field.parse(text, settings);
        EXPECT_EQ(field.text(settings), text) << key;
        tried.insert(key);
    }
    for (const SettingField& field : setting_fields()) {
        EXPECT_EQ(tried.count(field.key), 1U) << "give " << field.key << " a value in other_values()";
    }
}

TEST(SettingFields, EachIsExplainedInTheManual) {
    const std::string page = read_text_file(std::string(flyball::test::source_folder) + "/docs/simulate.md", 1 << 20);
    EXPECT_EQ(flyball::test::not_in_the_manual(setting_fields(), page), "") << "say what they do in docs/simulate.md";
}

TEST(SettingFields, EachCountsInTheIdentityOfARun) {
    const scheme::Program program = scheme::find_scheme("post-ln").program;
    const record::Identity standard = identity_of(Settings{}, program);
    for (const auto& [key, text] : other_values()) {
        Settings settings;
        field_named(key).parse(text, settings);
        EXPECT_NE(identity_of(settings, program), standard) << key;
    }
    EXPECT_NE(identity_of(Settings{}, scheme::find_scheme("pre-ln").program), standard);
}

TEST(SettingFields, StartsAreReadBackAsTheyAreWritten) {
    for (const char* text : {"symmetric", "uniform", "gaussian", "cone:0.25", "equiangular:-0.125", "a.safetensors",
                             "run 1/trajectory.h5", "./b.hdf5", "c.h5md", "rows.csv"}) {
        Settings settings;
        field_named("start").parse(text, settings);
        EXPECT_EQ(field_named("start").text(settings), text);
    }
    Settings settings;
    for (const char* wrong : {"equiangular", "equiangular:", "equiangular:x", "equiangular:nan", "cone", "cone:", "",
                              "rows.npy", "rows", "equiangluar:0.5", "FILE.safetensors, FILE.h5, FILE.csv"}) {
        try {
            field_named("start").parse(wrong, settings);
            check(settings);
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << wrong;
        }
    }
}

TEST(SettingFields, WholeNumbersAreReadAsPeopleWriteThem) {
    Settings settings;
    field_named("tokens").parse("1e3", settings);
    EXPECT_EQ(settings.tokens, 1000U);
    for (const char* wrong : {"1.5", "-1", "0", "1e300", "x", "", "1e"}) {
        EXPECT_THROW(field_named("tokens").parse(wrong, settings), Error) << wrong;
    }
}

// The least that each makes sense with, and one less. Samples of a trajectory and seeds count from 0, an FFN of width 0
// is none, and a run has a start and an end.
TEST(SettingFields, WholeNumbersBeginWhereTheyMakeSense) {
    for (const auto& [key, least] : std::vector<std::pair<std::string, int>>{{"tokens", 1},
                                                                             {"dim", 1},
                                                                             {"heads", 1},
                                                                             {"systems", 1},
                                                                             {"layers", 1},
                                                                             {"samples", 2},
                                                                             {"ffn", 0},
                                                                             {"start-frame", 0},
                                                                             {"seed", 0}}) {
        Settings settings;
        const SettingField& field = field_named(key);
        EXPECT_NO_THROW(field.parse(std::to_string(least), settings)) << key;
        EXPECT_EQ(field.text(settings).value_or("0"), std::to_string(least)) << key;
        try {
            field.parse(std::to_string(least - 1), settings);
            ADD_FAILURE() << key << " " << least - 1;
        } catch (const Error& error) {
            const std::string said = error.what();
            EXPECT_NE(said.find(key + " = '" + std::to_string(least - 1) + "'"), std::string::npos) << said;
        }
    }
    Settings first;
    field_named("start-frame").parse("0", first);
    EXPECT_EQ(first.start_frame, std::optional<std::size_t>(0)) << "the first sample, which is not the last by default";
}

TEST(SettingFields, GainsAreOfAllFourMatricesOrOneByOne) {
    Settings settings;
    parse_weights("kaiming:1.5", settings);
    for (const Gain& gain : settings.gains) {
        EXPECT_EQ(gain.kind, Gain::Kind::number);
        EXPECT_EQ(gain.number, 1.5);
    }
    parse_weights("gaussian", settings);
    EXPECT_EQ(settings.gains[0].kind, Gain::Kind::standard);
    for (const char* wrong : {"kaiming:", "kaiming:q", "kaiming:q=", "kaiming:w=1", "kaiming:q=0", "kaiming:q=1,",
                              "kaiming:q=1,k=x", "gaussian:-1", "kaimin:1", "identity:2"}) {
        EXPECT_THROW(parse_weights(wrong, settings), Error) << wrong;
    }
}

// Standard deviation of the entries of a [d, d] matrix times sqrt d: its gain.
double gain_of(const std::vector<double>& matrix, std::size_t d) {
    double squares = 0;
    for (const double value : matrix) {
        squares += value * value;
    }
    return std::sqrt(squares / static_cast<double>(d));
}

TEST(Weights, HaveTheirGainsOneByOne) {
    Settings settings;
    settings.dim = 64;
    parse_weights("kaiming:k=0.5,v=3,o=identity", settings);
    const auto head = draw_weights(settings, 0, 0).head[0];
    EXPECT_NEAR(gain_of(head.query, 64), std::sqrt(2.0), 0.05);
    EXPECT_NEAR(gain_of(head.key, 64), 0.5, 0.02);
    EXPECT_NEAR(gain_of(head.value, 64), 3, 0.1);
    for (std::size_t i = 0; i < 64 * 64; ++i) {
        ASSERT_EQ(head.output[i], i % 65 == 0 ? 1 : 0);
    }
    // What one matrix is multiplied with does not change the draw of another.
    parse_weights("gaussian", settings);
    const auto plain = draw_weights(settings, 0, 0).head[0];
    EXPECT_NEAR(head.key[5], 0.5 * plain.key[5], 1e-16);
    EXPECT_NEAR(head.query[5], std::sqrt(2.0) * plain.query[5], 1e-15);
    EXPECT_NEAR(head.value[77], 3 * plain.value[77], 1e-15);
}

TEST(Weights, AnIdentityOutputOfSeveralHeadsPutsThemSideBySide) {
    Settings settings;
    settings.dim = 6;
    settings.heads = 3;
    parse_weights("gaussian:o=identity", settings);
    const auto weights = draw_weights(settings, 0, 0);
    for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t c = 0; c < 6; ++c) {
            for (std::size_t i = 0; i < 2; ++i) {
                EXPECT_EQ(weights.head[h].output[c * 2 + i], c == 2 * h + i ? 1 : 0);
            }
        }
    }
}

TEST(MemoryEstimate, CountsTheSamples) {
    Settings settings;
    const double few = memory_estimate(settings, 1);
    settings.samples = 1000000000000;
    EXPECT_GT(memory_estimate(settings, 1), 1e14);
    settings.layers = 10;  // never more than one a layer
    EXPECT_LT(memory_estimate(settings, 1), 2 * few);
    // A record holds 14 numbers for every system and sample beside its state of a few thousand numbers a system.
    settings.layers = std::nullopt;
    settings.systems = 1000;
    settings.samples = 2;
    const double two = memory_estimate(settings, 1);
    settings.samples = 100002;
    const double many = memory_estimate(settings, 1);
    EXPECT_GT(many - two, 3 * 14 * 8.0 * 1000 * 100000);
    settings.per_system = true;  // and as JSON
    EXPECT_GT(memory_estimate(settings, 1) - two, 2 * (many - two));
}

// Measured: 261 MB beside the program for one system of d = 1500, whose four matrices are 72 MB.
TEST(MemoryEstimate, CountsWeightsThatAreRedrawn) {
    Settings settings;
    settings.tokens = 4;
    settings.dim = 1500;
    settings.layers = 2;
    settings.weights = WeightKind::gaussian;
    settings.fresh = true;
    EXPECT_GT(memory_estimate(settings, 1), 261e6);
    EXPECT_LT(memory_estimate(settings, 1), 1.5 * 261e6);
}

// Measured beside the program: 3.44 GB of 20,000 systems of 4 tokens in 8 dimensions, 0.89 GB of 300 of 600 in 16.
TEST(MemoryEstimate, CountsTheAttentionThatEverySystemHas) {
    Settings settings;
    settings.layers = 2;
    settings.samples = 2;
    settings.weights = WeightKind::gaussian;
    for (const auto& [systems, tokens, dim, measured] :
         {std::tuple<std::size_t, std::size_t, std::size_t, double>{20000, 4, 8, 3.44e9}, {300, 600, 16, 0.89e9}}) {
        settings.systems = systems;
        settings.tokens = tokens;
        settings.dim = dim;
        EXPECT_GT(memory_estimate(settings, 1), measured);
        EXPECT_LT(memory_estimate(settings, 1), 2 * measured);
    }
}

// Measured: six runs of 30,000 samples with a folder hold 222 MB at the end, one of them 39 MB.
TEST(MemoryEstimate, CountsTheSamplesOfAllRuns) {
    Settings settings;
    settings.samples = 30000;
    EXPECT_GT(memory_estimate(settings, 1), 39e6);
    EXPECT_GT(memory_estimate(settings, 1, {6, 0}), 222e6);
    EXPECT_LT(memory_estimate(settings, 1, {6, 0}), 2.5 * 222e6);
    // A point is three numbers of eight bytes, and is there more than twice.
    const double pictures = memory_estimate(settings, 1, {6, 1000000}) - memory_estimate(settings, 1, {6, 0});
    EXPECT_GT(pictures, 2 * 6 * 24e6);
}

// 1e300 steps: t stops growing long before the end, and nobody lives to see it.
TEST(Settings, EqualStepsThatCannotBeCountedAreRefused) {
    Settings settings;
    settings.dt = 1e-300;
    EXPECT_NO_THROW(check(settings)) << "steps that are chosen do not ask for dt";
    for (const Method method : {Method::euler, Method::rk4}) {
        settings.method = method;
        settings.dt = 1e-300;
        EXPECT_THROW(check(settings), Error);
        settings.time = 1;
        settings.dt = 0x1p-53;
        EXPECT_NO_THROW(check(settings));
        settings.dt = 0x1p-54;
        EXPECT_THROW(check(settings), Error);
    }
    settings.layers = 3;
    settings.dt = 1e-300;
    EXPECT_NO_THROW(check(settings)) << "three layers are three";
}

// Beyond 1e100 tolerances of the solvers leave the range of numbers.
TEST(Settings, TimesBeyond1e100AreRefused) {
    Settings settings;
    for (const double time : {1e-300, 1.0, 1e99, 1e100}) {
        settings.time = time;
        EXPECT_NO_THROW(check(settings)) << time;
    }
    for (const double time : {std::nextafter(1e100, 1e101), 1e101, 1e199, 1e200, 1e201, 1e300}) {
        settings.time = time;
        try {
            check(settings);
            ADD_FAILURE() << time;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << time;
            EXPECT_NE(std::string(error.what()).find("1e100"), std::string::npos) << error.what();
        }
    }
    settings.layers = 3;
    EXPECT_NO_THROW(check(settings)) << "layers do not ask for the time";
}

// 2e308 is beyond the numbers: such layers would never meet the times at which they are looked at.
TEST(Settings, LayersThatEndBeyondTheNumbersAreRefused) {
    Settings settings;
    settings.layers = 2;
    settings.dt = 1e308;
    EXPECT_THROW(check(settings), Error);
    settings.layers = 1;
    EXPECT_NO_THROW(check(settings));
}

// Each by itself. Nothing can be divided by zero heads, or among zero systems.
TEST(Settings, WithoutAHeadOrWithoutASystemAreRefused) {
    for (const auto& [systems, heads] : {std::pair<std::size_t, std::size_t>{1, 0}, {0, 1}, {0, 0}, {7, 0}, {0, 2}}) {
        Settings settings;
        settings.systems = systems;
        settings.heads = heads;
        try {
            check(settings);
            FAIL() << systems << " systems, " << heads << " heads";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
            EXPECT_NE(std::string(error.what()).find("at least one of each"), std::string::npos) << error.what();
        }
    }
    Settings settings;
    settings.systems = settings.heads = 1;
    EXPECT_NO_THROW(check(settings));
}

TEST(Settings, LayersWithoutADtAreWholeBlocks) {
    const auto owner = std::make_unique<Settings>();  // on the stack g++ 12 takes the empty dt for one not initialized
    Settings& settings = *owner;
    EXPECT_EQ(settings.step(), 0.1);  // of euler and rk4
    settings.layers = 7;
    EXPECT_EQ(settings.step(), 1);
    EXPECT_EQ(settings.final_time(), 7);
    EXPECT_EQ(sample_times(settings).back(), 7);
    EXPECT_EQ(field_named("dt").text(settings), "1");  // a record says it
    field_named("dt").parse("0.25", settings);
    EXPECT_EQ(settings.step(), 0.25);
    EXPECT_EQ(settings.final_time(), 1.75);
    settings.dt = 0;
    EXPECT_THROW(check(settings), Error);
}

TEST(Until, TakesBlanksAndEqualityAndIsReadBackAsWritten) {
    const SettingField& field = *std::find_if(setting_fields().begin(), setting_fields().end(),
                                              [](const auto& row) { return std::string_view(row.key) == "until"; });
    for (const auto& [typed, written] : std::vector<std::pair<std::string, std::string>>{
             {"cosine > 0.9", "cosine>0.9"}, {" clusters <= 1 ", "clusters<=1"}, {"radius>=1e3", "radius>=1000"}}) {
        Settings settings;
        field.parse(typed, settings);
        EXPECT_EQ(field.text(settings), written);
    }
    EXPECT_TRUE(parse_until("clusters<=1").holds(1));
    EXPECT_FALSE(parse_until("clusters<2").holds(2));
    EXPECT_TRUE(parse_until("cosine>=0.5").holds(0.5));
    EXPECT_FALSE(parse_until("cosine>0.5").holds(0.5));
    EXPECT_FALSE(parse_until("cosine<=0.5").holds(0.6));
}

// docs/simulate.md: clusters and the pair fraction are null above 65,536 tokens, the effective rank when n and d both
// exceed 1024. An event of theirs would never come.
TEST(Until, WaitsForNothingThatIsNotMeasured) {
    const auto accepted = [](const char* event, std::size_t tokens, std::size_t dim) {
        Settings settings;
        settings.until = parse_until(event);
        settings.tokens = tokens;
        settings.dim = dim;
        try {
            check(settings);
            return true;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("65536"), std::string::npos) << error.what();
            return false;
        }
    };
    for (const char* event : {"clusters<=1", "pair_fraction>0.5"}) {
        EXPECT_TRUE(accepted(event, 65536, 2)) << event;
        EXPECT_FALSE(accepted(event, 65537, 2)) << event;
    }
    EXPECT_TRUE(accepted("effective_rank<2", 65537, 1024));
    EXPECT_TRUE(accepted("effective_rank<2", 1024, 1025));
    EXPECT_FALSE(accepted("effective_rank<2", 1025, 1025));
    EXPECT_TRUE(accepted("cosine>0.9", 65537, 1025));
}

TEST(Until, RefusesLevelsThatAreNeverOrAlwaysMet) {
    const auto expect_refused = [](const char* text, const char* says) {
        try {
            parse_until(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    for (const char* text : {"cosine>1", "cosine>2", "cosine>=2", "cosine<-1", "one_minus_cosine<0", "clusters<1",
                             "radius<0", "variance>1", "energy>0", "energy<-1"}) {
        expect_refused(text, "can never hold");
    }
    // At the end that is not waited for, "or equal" is met from the start, and without it the level is a question.
    for (const char* text :
         {"cosine>=-1", "cosine<=1", "one_minus_cosine>=0", "clusters>=1", "energy<=0", "cosine<1.5", "speed>-1"}) {
        expect_refused(text, "always holds");
    }
    for (const char* text : {"cosine>-1", "one_minus_cosine>0", "clusters>1", "energy<0"}) {
        EXPECT_NO_THROW(parse_until(text)) << text;
    }
    for (const char* text : {"cosine>=1", "one_minus_cosine<=0", "clusters<=1", "cosine<1", "speed>0", "energy<-0.5"}) {
        EXPECT_NO_THROW(parse_until(text)) << text;
    }
}

}  // namespace
}  // namespace flyball::dynamics
