// What claims tell beside their verdicts: numbers of notes, captions and of what is shown, each found in a second way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <stdexcept>

#include "bridge/model_weights.hpp"
#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/limits_model.hpp"
#include "claims/limits_rows.hpp"
#include "claims/stability_models.hpp"
#include "core/file.hpp"
#include "dynamics/trained_weights.hpp"
#include "model/family.hpp"
#include "model/save.hpp"
#include "sanitized.hpp"

namespace flyball::claims::notes_test {
namespace {

Context quick_context() {
    Context context;
    context.quick = true;
    return context;
}

Measurement measured(const std::string& id, const Context& context) {
    const std::vector<Claim> claims = ledger();
    const auto claim = std::find_if(claims.begin(), claims.end(), [&](const Claim& one) { return one.id == id; });
    return claim == claims.end() ? throw std::runtime_error("no claim " + id) : claim->experiment(context);
}

// All numbers of a text from these words on.
std::vector<double> numbers_after(const std::string& text, const std::string& words) {
    const std::size_t begin = text.find(words);
    if (begin == std::string::npos) {
        throw std::runtime_error("no '" + words + "' in " + text);
    }
    const std::string rest = text.substr(begin + words.size());
    const std::regex number(R"(-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?)");
    std::vector<double> found;
    for (std::sregex_iterator at(rest.begin(), rest.end(), number), end; at != end; ++at) {
        found.push_back(std::stod(at->str()));
    }
    return found;
}

// The shipped model on a text of so many letters, which are as many tokens.
class ShortText {
  public:
    explicit ShortText(std::size_t letters)
        : path_((std::filesystem::temp_directory_path() /
                 ("flyball-notes-" + std::to_string(getpid()) + "-" + std::to_string(letters)))
                    .string()) {
        write_file_atomically(
            path_, std::string("Now is the winter of our discontent made glorious summer.").substr(0, letters));
    }
    ~ShortText() { std::filesystem::remove(path_); }
    ShortText(const ShortText&) = delete;
    ShortText& operator=(const ShortText&) = delete;

    Context context() const {
        Context context = quick_context();
        context.subject.text = path_;
        return context;
    }

  private:
    std::string path_;
};

// (N + 1), sqrt(N + 1) and N - 1 at N = 5, as Corollary 2 is corrected.
TEST(NotesOnSelection, RatiosOfManyKeysStandInTheOrderOfTheirNames) {
    const Measurement found = measured("limits-corollary-2-many-keys", quick_context());
    const std::vector<double> shown = numbers_after(std::get<std::string>(found.measured), "");
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_NEAR(shown[0], 6, 0.02 * 6);
    EXPECT_NEAR(shown[1], std::sqrt(6), 0.02 * std::sqrt(6));
    EXPECT_NEAR(shown[2], 4, 0.02 * 4);
    const std::size_t dominant = found.note.find("one dominant weight (N + 1)");
    const std::size_t diffuse = found.note.find("diffuse isotropic vectors (sqrt(N + 1))");
    const std::size_t same = found.note.find("identical vectors (N - 1)");
    EXPECT_LT(dominant, diffuse) << found.note;
    EXPECT_LT(diffuse, same) << found.note;
    EXPECT_NE(same, std::string::npos) << found.note;
}

// Every second prediction of the main sum is the one without chance: 0.1 % too much is what the mean is off.
TEST(NotesOnSelection, WithoutChanceTheMeanIsBesideTheMainSum) {
    Context context = quick_context();
    std::size_t asked = 0;
    context.replaced = [&](std::string_view quantity, double stated, const std::vector<double>&) {
        return quantity == "main" && ++asked % 2 == 0 ? 1.001 * stated : stated;
    };
    const std::string note = measured("limits-theorem-1-expectation", context).note;
    EXPECT_DOUBLE_EQ(numbers_after(note, "mean and main sum differ by ").at(0), 1e-3) << note;
}

// The main sum of the first of four rows is said to be a tenth of what it is: beside it the error term is the largest.
TEST(NotesOnSelection, TheErrorTermIsThatOfTheRowWhereItIsWidest) {
    const Expectation first = theorem_1_expectation(gaussian_row(40, 16, 1, 1), 5);
    Context context = quick_context();
    std::size_t asked = 0;
    context.replaced = [&](std::string_view quantity, double stated, const std::vector<double>&) {
        return quantity == "main" && ++asked == 1 ? stated / 10 : stated;
    };
    const std::string note = measured("limits-theorem-1-expectation", context).note;
    EXPECT_NEAR(numbers_after(note, "The error term is up to ").at(0), 10 * first.slack / first.main, 6e-3) << note;
}

// N + 1 for one key, the fewest that are selected.
TEST(NotesOnSelection, TheLeastBoundOfExpectedDistancesIsTwo) {
    Context context = quick_context();
    double least = HUGE_VAL;
    context.replaced = [&](std::string_view, double stated, const std::vector<double>&) {
        least = std::min(least, stated);
        return stated;
    };
    measured("limits-expectation-bounded", context);
    EXPECT_EQ(least, 2);
}

TEST(NotesOnSelection, TheFactorFromOneToTwentyKeysIsThatOfTheDistances) {
    const ShortText text(48);
    double one = std::nan("");
    double twenty = std::nan("");
    for (const limits::DistanceMeans& row : analysed(text.context()).result.by_n) {
        one = row.n == 1 ? row.distance : one;
        twenty = row.n == 20 ? row.distance : twenty;
    }
    EXPECT_GT(std::abs(twenty / one - 1), 0.1) << "one of which the inverse is another";
    const std::string note = measured("limits-plateau", text.context()).note;
    EXPECT_NEAR(numbers_after(note, "from N = 1 to 20 it changes by a factor ").at(0), twenty / one, 6e-4) << note;
}

TEST(NotesOnSelection, TheSlopeOfSensitivityIsThatBetweenTheTemperaturesInTheNote) {
    const ShortText text(48);
    const Measurement found = measured("limits-inverse-law", text.context());
    const std::vector<double> told = numbers_after(found.note, "over log T from T = ");
    ASSERT_GE(told.size(), 3U) << found.note;
    std::vector<double> x;
    std::vector<double> y;
    for (const limits::SensitivityMeans& row : analysed(text.context()).result.sensitivity) {
        if (row.eps == told[2] && row.temperature > 0.99 * told[0] && row.temperature < 1.01 * told[1]) {
            x.push_back(std::log(row.temperature));
            y.push_back(std::log(row.value));
        }
    }
    EXPECT_EQ(x.size(), 4U) << "three to a decade, with both ends";
    EXPECT_NEAR(std::get<double>(found.measured), fit_line(x, y).slope, 1e-12) << found.note;
}

// There is no N of 16 or more that is at most half of the keys.
TEST(NotesOnSelection, ATextThatIsTooShortDecidesNothingAboutAPlateau) {
    const ShortText text(20);
    const Measurement found = measured("limits-separation-plateau", text.context());
    EXPECT_EQ(found.verdict, Verdict::undecided);
    EXPECT_NE(text_of(found.measured), "");
}

// Eight tokens: lengths of 64 and more, N = 100, N = 8 and 16 and the 20 heaviest keys are not there, of the choices
// among N keys there is the one at N = 5 alone.
TEST(NotesOnSelection, ATextThatIsTooShortDecidesNothing) {
    const ShortText text(8);
    for (const char* const id : {"limits-distance-linear", "limits-expected-linear", "limits-plateau",
                                 "limits-separation-declines", "limits-uniform", "limits-coverage"}) {
        const Measurement found = measured(id, text.context());
        EXPECT_EQ(found.verdict, Verdict::undecided) << id;
        EXPECT_EQ(text_of(found.measured), "no number") << id;
        EXPECT_NE(found.note.find("too short"), std::string::npos) << id << ": " << found.note;
        EXPECT_NE(found.note.find("8 tokens"), std::string::npos) << id << ": " << found.note;
        EXPECT_EQ((text_of(found.predicted) + found.note).find("nan"), std::string::npos) << id << ": " << found.note;
    }
}

TEST(NotesOnSelection, WeightOnTheHeaviestKeysIsThatAt128Tokens) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: two analyses";
    }
    const auto share = [](const char* model) {
        limits::Settings settings;
        settings.lengths = {32, 64, 128};  // those of the claim, so that it is analysed once
        for (const limits::DistanceMeans& row : analysed({}, settings, model).result.by_length) {
            if (row.length == 128) {
                return row.share;
            }
        }
        return std::nan("");
    };
    const Measurement found = measured("limits-qk-norm", quick_context());
    EXPECT_NE(found.note.find("at 128 tokens"), std::string::npos) << found.note;
    EXPECT_NEAR(std::get<double>(found.measured), share("builtin:pre-ln-qk") / share("builtin:pre-ln"), 1e-9);
}

// e^(t/2) is divided out of the particles' velocity, which falls as e^(-2 t), and not out of the reduced law's.
TEST(NotesOnMotion, TheTerminalSlopeIsThatOfTheParticles) {
    Context context = quick_context();
    context.replaced = [](std::string_view quantity, double stated, const std::vector<double>& at) {
        return quantity == "log prefactor" ? at.at(0) / 2 : stated;
    };
    const Measurement found = measured("dynamics-terminal-post-ln", context);
    EXPECT_NEAR(std::get<double>(found.measured), -2.5, 0.01);
    EXPECT_LT(numbers_after(found.note, "and the same number to ").at(0), 0.01)
        << "the particles are off by a quarter: " << found.note;
}

TEST(NotesOnMotion, OfACausalMaskNameTheClockOfTheirScheme) {
    const std::string slope = "slope of log(1 - cos) over ";
    EXPECT_EQ(measured("dynamics-causal-post-ln", quick_context()).note.find(slope + "t, shown"), 0U);
    EXPECT_EQ(measured("dynamics-causal-sqrt-scaling", quick_context()).note.find(slope + "sqrt(t+1), shown"), 0U);
}

// The variance falls as exp(-2 clock). Only the first run is read on a clock that goes unevenly; what its line is worth
// is known beforehand, and those of the runs behind it are straight.
TEST(NotesOnMotion, TheIntervalOfAVarianceIsTheWidestOfAllRuns) {
    std::vector<double> clock;
    std::vector<double> log_variance;
    double before = 0;
    std::size_t run = 0;
    Context context = quick_context();
    context.replaced = [&](std::string_view quantity, double stated, const std::vector<double>& at) {
        if (quantity != "clock") {
            return stated;
        }
        run += at.at(0) < before ? 1 : 0;
        before = at.at(0);
        if (run > 0) {
            return stated;
        }
        clock.push_back(stated + (clock.size() % 2 == 0 ? 0.05 : -0.05));
        log_variance.push_back(-2 * stated);
        return clock.back();
    };
    const std::string note = measured("dynamics-variance-post-ln", context).note;
    EXPECT_GE(run, 2U) << "runs behind the first one";
    const double widest = fit_line(clock, log_variance).slope_error;
    EXPECT_NEAR(numbers_after(note, "interval +- ").at(0), widest, 0.4 * widest) << "one digit is shown: " << note;
}

// Of all cones that are open by 1/2 equiangular tokens at the edge are the slowest: 2 (1/2 + 1/128) with 64 of them.
TEST(NotesOnMotion, TheSlowestConeIsTheEdgeOfTheLargest) {
    const std::string shown = text_of(measured("dynamics-cone-small-beta", quick_context()).measured);
    EXPECT_DOUBLE_EQ(numbers_after(shown, ">= ").at(0), 1.02) << shown;
}

// Peri-LN turns a token by the share of an output that is across it. The outputs of n tokens are e + (n - 1)/d along
// and sqrt(n - 1) across, but for a factor: 0.861 with n = 64, d = 32, and 0.93 to 0.99 in the other cells.
TEST(NotesOnMotion, TheSlowestOfTheFastIsThatOfTheFewestTokens) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: a thousand tokens of 512 dimensions";
    }
    const double along = std::exp(1) + 63.0 / 32;
    const std::string note = measured("dynamics-start-gap", quick_context()).note;
    EXPECT_NEAR(numbers_after(note, "Peri-LN and nGPT (at least ").at(0), std::sqrt(63 / (63 + along * along)), 0.03)
        << note;
}

// |theta'| over the root of the variance, at t = 15.
TEST(NotesOnMotion, TheSpeedThatAnFfnLeavesIsBesideTheRootOfTheVariance) {
    double least = HUGE_VAL;
    for (const char* const scheme : {"post-ln", "ngpt"}) {
        for (std::uint64_t seed = 53; seed < 59; ++seed) {
            dynamics::Settings s;
            s.tokens = 12;
            s.dim = 16;
            s.ffn_width = 64;
            s.time = 15;
            s.samples = 41;
            s.log_time = true;
            s.rtol = 1e-7;
            s.atol = 1e-10;
            s.seed = seed;
            const dynamics::Sample end =
                run_particles(quick_context(), s, scheme::find_scheme(scheme).program).samples.back();
            least = std::min(least, end.speed / std::sqrt(end.variance));
        }
    }
    const std::string note = measured("dynamics-ffn-direction", quick_context()).note;
    EXPECT_NEAR(numbers_after(note, "and the speed at least ").at(0), least, 0.06 * least) << "two digits: " << note;
}

// What follows a norm has no length of its own: W_2 ten times as large is as good as b_2 a tenth as large.
TEST(NotesOnLengths, ScalingW2AloneChangesPeriLnAsAShorterBiasWould) {
    SmallSizes sizes;
    sizes.layers = 6;
    sizes.dim = 32;
    sizes.heads = 4;
    sizes.ffn = 128;
    sizes.tokens = 16;
    sizes.eps = 1e-12;
    const auto length = [&](double bias) {
        model::Model<double> model = blank_model("x + dt*norm(f(norm(x)))", sizes);
        draw(model, 3, {0.06, 0.06, 0.1});
        for (const model::BlockLayout& block : model.layout().blocks) {
            scale_numbers(model, block.ffn_out.bias, bias);
        }
        return rms_of(flow_of(model, normal_rows(sizes.tokens, sizes.dim, 0.3, 3)).streams.back());
    };
    const double expected = length(0.1) / length(1);
    EXPECT_GT(std::abs(expected - 1), 0.01) << "nothing to be seen";
    const std::string note = measured("stability-pre-unbounded", quick_context()).note;
    EXPECT_NEAR(numbers_after(note, " times, and ").at(0), expected, 6e-4) << note;
}

constexpr const char* trained_model = "builtin:mix-ln";

// One system of sixteen tokens through the blocks of the model in thin layers.
dynamics::Settings under_trained_weights() {
    dynamics::Settings s;
    dynamics::parse_weights(trained_model, s);
    dynamics::use_trained(bridge::read_model_weights(trained_model, false), {}, s);
    s.time = static_cast<double>(s.trained->blocks);
    s.layers.reset();
    s.tokens = 16;
    return s;
}

Context with_trained_model() {
    Context context = quick_context();
    context.subject.model = trained_model;
    return context;
}

TEST(NotesOnMotion, UnderTrainedWeightsTellBlocksPassesAndTheSpeedOfTheStart) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: six schemes, four times through a model";
    }
    const Measurement found = measured("dynamics-trained-late", with_trained_model());
    const auto& figure = std::get<report::LineFigure>(found.pictures.at(0).figure);
    EXPECT_NE(figure.caption.find("the 12 blocks are gone through 4 times"), std::string::npos) << figure.caption;
    const dynamics::Settings s = under_trained_weights();
    const dynamics::Velocities start =
        dynamics::velocities(dynamics::problem_of(s, scheme::find_scheme("post-ln").program));
    double speed = 0;
    for (std::size_t j = 0; j < s.tokens; ++j) {
        speed += measure::length(start.turn.data() + j * s.dim, s.dim) / static_cast<double>(s.tokens);
    }
    EXPECT_NEAR(numbers_after(found.note, "by model: mix-ln ").at(0), speed, 6e-4) << found.note;
    std::map<std::string, double> apart;  // 1 - cosine where the line of the figure ends
    for (const report::Series& series : figure.series) {
        apart[series.name] = 1 - series.y.back();
    }
    const std::string of_model = found.note.substr(found.note.find("by model: "));
    for (const char* const scheme : {"nGPT", "Post-LN", "Peri-LN", "Pre-LN"}) {
        EXPECT_NEAR(numbers_after(of_model, std::string(scheme) + " ").at(0), apart.at(scheme),
                    0.06 * apart.at(scheme) + 1e-15)
            << scheme << ": " << found.note;
    }
    EXPECT_GT(std::abs(apart.at("Peri-LN") / apart.at("Pre-LN") - 1), 0.2) << "lines that can be told apart";
}

// |theta'| |x| in the middle of every block, from how far tokens turn in a fiftieth of the block.
TEST(NotesOnMotion, OfMovementTellTheFirstPassFirst) {
    if (sanitized) {
        GTEST_SKIP() << "release build only: five times through a model";
    }
    const dynamics::Settings s = under_trained_weights();
    dynamics::Problem problem = dynamics::problem_of(s, scheme::find_scheme("peri-ln").program);
    dynamics::Watch watch;
    for (std::size_t block = 0; block < s.trained->blocks; ++block) {
        for (const double part : {0.49, 0.51}) {
            watch.times.push_back(static_cast<double>(block) + part);
        }
    }
    double first = 0;
    std::vector<double> before;
    watch.sampled = [&](const dynamics::Sample&, const dynamics::Particles& particles) {
        const std::vector<double>& theta = particles.theta();
        if (before.empty()) {
            before = theta;
            return;
        }
        for (std::size_t j = 0; j < s.tokens; ++j) {
            const double turned =
                std::sqrt(measure::squared_distance(theta.data() + j * s.dim, before.data() + j * s.dim, s.dim));
            const double length = measure::length(particles.x().data() + j * s.dim, s.dim);
            first += turned / 0.02 * length / static_cast<double>(s.tokens * s.trained->blocks);
        }
        before.clear();
    };
    dynamics::Control control;
    control.rtol = 1e-9;
    control.atol = 1e-11;
    dynamics::run(std::move(problem), control, watch);
    const std::string note = measured("dynamics-trained-movement", with_trained_model()).note;
    const std::vector<double> told = numbers_after(note, "by model: mix-ln ");
    EXPECT_NEAR(told.at(0), first, 0.003) << note;
    EXPECT_GT(std::abs(told.at(1) - first), 0.01) << "the last pass is another: " << note;
}

// A model on disk whose blocks all give a token the matrix V times the mean of all tokens.
class MeanModel {
  public:
    MeanModel(const std::string& name, std::size_t layers, const std::vector<float>& V)
        : folder_(std::filesystem::temp_directory_path() / ("flyball-notes-" + std::to_string(getpid()) + name)) {
        model::Architecture a;
        a.norm = "rmsnorm";
        a.layers = layers;
        a.dim = a.head_dim = a.ffn_dim = 2;
        a.heads = a.kv_heads = 1;
        a.positions = a.vocab = 8;
        model::Model<float> model(a, model::native_names());
        for (const model::BlockLayout& block : model.layout().blocks) {
            for (const model::Linear& linear : block.qkv) {
                for (std::size_t i = 0; i < linear.out; ++i) {
                    const std::size_t row = linear.offset + i;
                    for (std::size_t j = 0; row >= 2 * a.dim && j < a.dim; ++j) {  // values; queries and keys are 0
                        model.parameters()->at(linear.weight)[linear.in_out ? j * linear.out + i : i * a.dim + j] =
                            V[(row - 2 * a.dim) * a.dim + j];
                    }
                }
            }
            for (std::size_t i = 0; i < a.dim; ++i) {
                model.parameters()->at(block.output.weight)[i * a.dim + i] = 1;
            }
        }
        std::filesystem::create_directories(folder_);
        model::save_model(model, folder_);
    }
    ~MeanModel() { std::filesystem::remove_all(folder_); }
    MeanModel(const MeanModel&) = delete;
    MeanModel& operator=(const MeanModel&) = delete;

    Context context() const {
        Context context = quick_context();
        context.subject.model = folder_.string();
        return context;
    }

  private:
    std::filesystem::path folder_;
};

// Tokens hear the others turned by a right angle: they turn, and do not meet. One block has no exponent.
TEST(NotesOnMotion, OfModelsThatCannotTellDecideNothing) {
    const MeanModel model("apart", 1, {0, -1, 1, 0});
    const Measurement growth = measured("dynamics-trained-growth", model.context());
    EXPECT_EQ(growth.verdict, Verdict::undecided) << growth.note;
    EXPECT_EQ(text_of(growth.measured), "no exponent in some model; 0 of 4 runs so");
    const Measurement consensus = measured("dynamics-trained-consensus", model.context());
    EXPECT_EQ(consensus.verdict, Verdict::undecided) << consensus.note;
    EXPECT_EQ(text_of(consensus.measured), "tokens met in no model");
}

// V turns by the angle of tangent 3. Of what tokens that have met hear 3/sqrt(10) is across them, at all times. Samples
// are taken at 122/152 of 76 blocks too, which is a little more than 61 when it is rounded, and no middle of a block.
TEST(NotesOnMotion, OfMovementAreMeansOverTheBlocksAndNoMore) {
    const MeanModel model("turned", 19, {1, -3, 3, 1});
    const Measurement found = measured("dynamics-trained-movement", model.context());
    const std::size_t last = found.note.find(" and ", found.note.find("by model: "));
    ASSERT_NE(last, std::string::npos) << found.note;
    EXPECT_NEAR(numbers_after(found.note.substr(last), " and ").at(0), 3 / std::sqrt(10), 0.01) << found.note;
}

}  // namespace
}  // namespace flyball::claims::notes_test
