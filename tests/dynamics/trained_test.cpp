// Weights that come block after block: which block a layer has, and where particles start.
#include "dynamics/trained_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "dynamics/document.hpp"
#include "dynamics/problem.hpp"
#include "dynamics/run.hpp"
#include "dynamics/start.hpp"
#include "dynamics/start_file.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {
namespace {

// Blocks of one head that give every token (block + 1) times its own mean; `asked` keeps which were asked for.
std::shared_ptr<const TrainedWeights> counting_blocks(std::size_t blocks, std::vector<std::size_t>& asked) {
    auto trained = std::make_shared<TrainedWeights>();
    trained->model = "three";
    trained->dim = 2;
    trained->heads = 1;
    trained->width = 2;
    trained->blocks = blocks;
    trained->beta = 7;
    trained->dt = 0.5;
    trained->kind = attention::Kind::sparsemax;
    trained->weights = [&asked](std::size_t block) {
        asked.push_back(block);
        const double factor = static_cast<double>(block + 1);
        const std::vector<double> one = {1, 0, 0, 1};
        return attention::Weights<double>{1, 2, {{one, one, {factor, 0, 0, factor}, one}}};
    };
    trained->checksum = [] { return std::string("sum"); };
    return trained;
}

Settings settings_with(const std::shared_ptr<const TrainedWeights>& trained, const Said& said = {}) {
    Settings s;
    s.tokens = 1;
    s.dim = 2;
    s.weights = WeightKind::model;
    use_trained(trained, said, s);
    return s;
}

// One token is moved by (block + 1) dt theta: its length says which blocks it went through.
double length_after(const Settings& s) {
    return run(s, scheme::Program::parse("x + dt*f(norm(x)) | norm(x)")).samples.back().radius;
}

TEST(TrainedWeights, LayerLHasBlockLWhateverItsStep) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    s.dt = 1;
    EXPECT_NEAR(length_after(s), 1 + 1 + 2 + 3, 1e-12);
    s.dt = 0.25;
    EXPECT_NEAR(length_after(s), 1 + 0.25 * 6, 1e-12);
    s.layers = 2;
    EXPECT_NEAR(length_after(s), 1 + 0.25 * 3, 1e-12);
}

TEST(TrainedWeights, OfAWindowRefuseTokensBeyondIt) {
    std::vector<std::size_t> asked;
    auto trained = std::make_shared<TrainedWeights>(*counting_blocks(3, asked));
    trained->window = 4;  // the token itself and three before it
    Settings s = settings_with(trained);
    s.tokens = 4;
    EXPECT_NO_THROW(check_trained(s));
    s.tokens = 5;
    try {
        check_trained(s);
        ADD_FAILURE() << "five tokens were taken";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what())
                      .find("5 tokens with the weights of 'three', which has blocks whose tokens see 3 others"),
                  std::string::npos)
            << error.what();
    }
}

// The model has as many channels as it has: a start in more of them is no way out.
TEST(TrainedWeights, OfTooFewChannelsForTheStartAreNotToldToHaveMore) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    s.start = StartKind::symmetric;
    s.tokens = 3;
    try {
        check(s);
        ADD_FAILURE() << "three orthogonal tokens in two dimensions";
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find("start = uniform"), std::string::npos) << said;
        EXPECT_EQ(said.find("dim = 3"), std::string::npos) << said;
    }
}

// Of one channel without its mean nothing is left, wherever tokens start: their number is not to blame.
TEST(TrainedWeights, OfOneCentredChannelAreRefusedWhateverTheStart) {
    std::vector<std::size_t> asked;
    auto trained = std::make_shared<TrainedWeights>(*counting_blocks(3, asked));
    trained->dim = 1;
    trained->centred = true;
    Settings s = settings_with(trained);
    for (const StartKind start : {StartKind::uniform, StartKind::cone, StartKind::symmetric, StartKind::file}) {
        s.start = start;
        try {
            check_trained(s);
            ADD_FAILURE() << "one channel was taken";
        } catch (const Error& error) {
            const std::string said = error.what();
            EXPECT_NE(said.find("the weights of 'three', which has one channel"), std::string::npos) << said;
            EXPECT_EQ(said.find("start of"), std::string::npos) << said;
            EXPECT_EQ(said.find("at most"), std::string::npos) << said;
        }
    }
    trained->centred = false;
    EXPECT_NO_THROW(check_trained(s));
}

TEST(TrainedWeights, AreGoneThroughAgainByLongerRuns) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    s.layers = 7;
    s.dt = 1;
    EXPECT_NEAR(length_after(s), 1 + 6 + 6 + 1, 1e-12);
    EXPECT_EQ(*std::max_element(asked.begin(), asked.end()), 2U);
    EXPECT_NE(trained_notes(s).back().find("gone through again"), std::string::npos);
}

// Three layers of three blocks, or three units of time, are each block once.
TEST(TrainedWeights, AreSaidToBeGoneThroughAgainOnlyBeyondTheLastBlock) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    const auto says_again = [&s] {
        const std::vector<std::string> notes = trained_notes(s);
        return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
            return note == "After its 3 blocks the model is gone through again.";
        });
    };
    s.layers = 3;
    EXPECT_FALSE(says_again());
    s.layers = 4;
    EXPECT_TRUE(says_again());
    s.layers.reset();
    s.time = 3;
    EXPECT_FALSE(says_again());
    s.time = 3.25;
    EXPECT_TRUE(says_again());
}

// What a run does otherwise than the model, after the model's own notes; nothing where both do the same.
TEST(TrainedWeights, SayWhereARunIsUnlikeTheModel) {
    std::vector<std::size_t> asked;
    auto trained = std::make_shared<TrainedWeights>(*counting_blocks(3, asked));
    trained->notes = {"Of the model itself."};
    trained->causal = true;
    Settings s = settings_with(trained);
    s.causal = true;
    EXPECT_EQ(trained_notes(s), trained->notes);
    s.causal = false;
    s.beta = 0.25;
    s.layers = 4;
    EXPECT_EQ(trained_notes(s),
              (std::vector<std::string>{"Of the model itself.", "The model has a causal mask, this run has none.",
                                        "beta is 0.25, that of the model is 7.",
                                        "After its 3 blocks the model is gone through again."}));
    trained->causal = false;
    trained->beta = 0.25;
    s.causal = true;
    s.layers = 3;
    EXPECT_EQ(trained_notes(s),
              (std::vector<std::string>{"Of the model itself.", "The model has no mask, this run has a causal one."}));
}

// `beta` of the model, which is not that of the run.
TEST(TrainedWeights, AreInTheDocumentAsTheModelHasThem) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    s.beta = 0.25;
    s.layers = 4;
    const Json weights = document(s, {}).at("weights");
    EXPECT_EQ(weights.at("model"), "three");
    EXPECT_EQ(weights.at("blocks"), 3);
    EXPECT_EQ(weights.at("heads"), 1);
    EXPECT_EQ(weights.at("beta"), 7);
    EXPECT_EQ(weights.at("gains"), false);
    EXPECT_EQ(weights.at("notes"), (std::vector<std::string>{"beta is 0.25, that of the model is 7.",
                                                             "After its 3 blocks the model is gone through again."}));
}

TEST(TrainedWeights, ChangeAtIntegerTimesInTheLimit) {
    std::vector<std::size_t> asked;
    Settings s = settings_with(counting_blocks(3, asked));
    s.layers.reset();
    s.time = 1.5;
    EXPECT_NEAR(length_after(s), 1 + 1 + 0.5 * 2, 1e-9);
    s.time = 3.5;
    EXPECT_NEAR(length_after(s), 1 + 6 + 0.5, 1e-9);
}

TEST(TrainedWeights, SayWhatWasNotSaid) {
    std::vector<std::size_t> asked;
    const auto trained = counting_blocks(3, asked);
    Settings s = settings_with(trained);
    EXPECT_EQ(s.dim, 2U);
    EXPECT_EQ(s.heads, 1U);
    EXPECT_EQ(s.beta, 7);
    EXPECT_EQ(s.attention, "sparsemax");
    EXPECT_EQ(s.layers, 3U);
    EXPECT_EQ(s.step(), 0.5);
    s = Settings{};
    s.dim = 5;
    s.heads = 4;
    s.beta = 2;
    s.time = 6;
    use_trained(trained, {true, true, true, true, true, true}, s);
    EXPECT_EQ(s.dim, 5U);
    EXPECT_EQ(s.heads, 4U);
    EXPECT_EQ(s.beta, 2);
    EXPECT_EQ(s.attention, "softmax");
    EXPECT_FALSE(s.layers);
    EXPECT_FALSE(s.dt);
}

TEST(TrainedWeights, AreNamedByAFolderABuiltinOrARepository) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "flyball-trained.v1";
    std::filesystem::create_directories(folder);
    const std::string file = (folder / "w").string();
    std::ofstream(file) << "x";
    const auto kind = [](const std::string& text) {
        Settings s;
        parse_weights(text, s);
        EXPECT_EQ(weights_text(s), text);
        return s.weights;
    };
    EXPECT_EQ(kind("builtin:pre-ln"), WeightKind::model);
    EXPECT_EQ(kind(folder.string()), WeightKind::model);
    EXPECT_EQ(kind("somebody/a-model"), WeightKind::model);
    EXPECT_EQ(kind("somewhere/weights.safetensors"), WeightKind::file);
    EXPECT_EQ(kind(file), WeightKind::file);
    EXPECT_EQ(kind("weights.safetensors"), WeightKind::file);
    EXPECT_EQ(kind("orthogonal"), WeightKind::orthogonal);
    std::filesystem::remove_all(folder);
}

// Inner products are those of a start in one dimension less, and no row has a mean.
TEST(TrainedWeights, StartWhereTheChannelsAddUpToZero) {
    for (const StartKind start :
         {StartKind::uniform, StartKind::symmetric, StartKind::gaussian, StartKind::cone, StartKind::equiangular}) {
        Settings s;
        s.tokens = 4;
        s.dim = 6;
        s.systems = 2;
        s.r0 = 1.5;
        s.start = start;
        s.cone_delta = 0.1;
        s.start_cosine = 0.3;
        const std::vector<double> wide = centred_start(s);
        s.dim = 5;
        const std::vector<double> narrow = start_rows(s);
        for (std::size_t i = 0; i < 8; ++i) {
            double sum = 0;
            for (std::size_t c = 0; c < 6; ++c) {
                sum += wide[i * 6 + c];
            }
            EXPECT_NEAR(sum, 0, 1e-14);
            for (std::size_t j = 0; j < 8; ++j) {
                EXPECT_NEAR(measure::dot(&wide[i * 6], &wide[j * 6], 6),
                            measure::dot(&narrow[i * 5], &narrow[j * 5], 5), 1e-13);
            }
        }
    }
}

// Rows of a file have as many numbers as the model has channels, and lose what LayerNorm takes away: their mean.
TEST(TrainedWeights, StartFromAFileWithoutTheMeanOfItsChannels) {
    auto file = std::make_shared<StartFile>();
    file->tokens = 2;
    file->dim = 3;
    file->rows = [] { return std::vector<double>{1, 2, 6, 0, 0, -3}; };
    Settings s;
    s.tokens = 2;
    s.dim = 3;
    s.start = StartKind::file;
    s.started = file;
    EXPECT_EQ(centred_start(s), (std::vector<double>{-2, -1, 3, 1, 1, -2}));
}

// Of (5, 5, 5) LayerNorm leaves nothing; the scale of lengths is that of what it leaves of the others.
TEST(TrainedWeights, RefuseAStartWithARowThatIsOnlyItsMean) {
    std::vector<std::size_t> asked;
    auto trained = std::make_shared<TrainedWeights>(*counting_blocks(3, asked));
    trained->dim = 3;
    trained->centred = true;
    auto file = std::make_shared<StartFile>();
    file->tokens = 2;
    file->dim = 3;
    file->mean_length = 9;
    file->rows = [] { return std::vector<double>{1, 2, 6, 5, 5, 5}; };
    Settings s = settings_with(trained);
    s.tokens = 2;
    s.dim = 3;
    s.start = StartKind::file;
    s.start_file = "rows.csv";
    s.started = file;
    try {
        centred_start(s);
        ADD_FAILURE() << "a row without a direction was taken";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("row 2 of 'rows.csv', whose channels are all alike"),
                  std::string::npos)
            << error.what();
    }
    file->rows = [] { return std::vector<double>{1, 2, 6, 0, 0, -3}; };  // (-2, -1, 3) and (1, 1, -2) are left
    EXPECT_NEAR(problem_of(s, scheme::Program::parse("x + dt*f(norm(x)) | norm(x)")).r0,
                (std::sqrt(14.0) + std::sqrt(6.0)) / 2, 1e-12);
}

// What a random FFN adds has no mean either, or the norm of the particles would no longer be LayerNorm.
TEST(TrainedWeights, OfACentredModelStayCentredBesideAnFfn) {
    std::vector<std::size_t> asked;
    auto trained = std::make_shared<TrainedWeights>(*counting_blocks(3, asked));
    trained->dim = 6;
    trained->centred = true;
    Settings s = settings_with(trained);
    s.dim = 6;
    s.ffn_width = 5;
    const std::vector<double> in = {1, -1, 0.5, 0.25, -0.5, -0.25, 2, -1, -1, 3, -2, -1};
    for (const bool centred : {true, false}) {
        trained->centred = centred;
        std::vector<double> out(12);
        draw_feed_forward(s, 0, 1)(2, in.data(), out.data());
        for (std::size_t row = 0; row < 2; ++row) {
            double sum = 0;
            double size = 0;
            for (std::size_t c = 0; c < 6; ++c) {
                sum += out[row * 6 + c];
                size += std::fabs(out[row * 6 + c]);
            }
            EXPECT_GT(size, 0.1);
            EXPECT_EQ(std::fabs(sum) < 1e-13, centred);
        }
    }
}

TEST(TrainedWeights, LeaveNoRoomForAsManyEqualAnglesAsDimensions) {
    auto trained = std::make_shared<TrainedWeights>();
    trained->model = "centred";
    trained->dim = 4;
    trained->heads = trained->width = trained->blocks = 1;
    trained->centred = true;
    Settings s;
    s.tokens = 4;
    s.dim = 4;
    s.weights = WeightKind::model;
    s.trained = trained;
    for (const StartKind start : {StartKind::symmetric, StartKind::equiangular}) {
        s.start = start;
        s.start_cosine = 0.5;
        s.tokens = 4;
        EXPECT_THROW(check_trained(s), Error);
        s.tokens = 3;
        EXPECT_NO_THROW(check_trained(s));
    }
    s.tokens = 4;
    s.start_cosine = -1.0 / 3;  // the corners of a tetrahedron
    EXPECT_NO_THROW(check_trained(s));
}

}  // namespace
}  // namespace flyball::dynamics
