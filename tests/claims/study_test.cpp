// What is read off trained models, and what is drawn of them: from runs whose numbers are typed here, so that every point
// of a figure is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "claims/groups.hpp"
#include "claims/stability_run.hpp"
#include "claims/stability_trained.hpp"
#include "core/json.hpp"

namespace flyball::claims {
namespace {

using Numbers = std::vector<double>;

// A run as the shelf has it; three blocks.
Json typed_run() {
    Json run = Json::object();
    for (const char* const over_streams :
         {"rms", "mean_abs", "entry_variance", "data_variance", "gradient_start", "gradient_20", "gradient_50",
          "gradient", "back_start", "back_bound_start", "back_end", "back_bound_end", "length_start", "bound_start",
          "length_end", "bound_end"}) {
        run[over_streams] = Numbers{1, 1, 1, 1};
    }
    for (const char* const over_sub_layers :
         {"sub_sigma", "sub_added", "sub_turned", "sub_sigma_start", "sub_added_start", "sub_turned_start"}) {
        run[over_sub_layers] = Numbers(6, 1);
    }
    for (const char* const over_blocks : {"angle", "angle_predicted", "removed"}) {
        run[over_blocks] = Numbers{1, 1, 1};
    }
    for (const char* const one : {"validation", "training", "back_share", "bound_share"}) {
        run[one] = Numbers{0.5};
    }
    run["gradient_norms"] = Numbers{1, 2};
    run["output_norm"] = Numbers{1, 1, 1};
    run["replaced"] = Numbers(std::size(replaced_shares), 1);
    return run;
}

// The claim as it comes out of such runs; `change` is told the name of a run. The seed is the test's own: runs are kept
// in memory by name.
Measurement judged(const std::string& id, std::uint64_t seed,
                   const std::function<void(const std::string& name, Json& run)>& change) {
    Context context;
    context.quick = true;
    context.seed = seed;
    context.shelf.find = [&](const std::string& name) -> std::optional<std::string> {
        Json run = typed_run();
        change(name, run);
        return dump_json(run);
    };
    for (const Claim& claim : ledger("stability")) {
        if (claim.id == id) {
            return claim.experiment(context);
        }
    }
    throw std::runtime_error("no claim " + id);
}

report::LineFigure figure_in(const Measurement& measurement, const std::string& name) {
    for (const Picture& picture : measurement.pictures) {
        if (picture.name == name) {
            return std::get<report::LineFigure>(picture.figure);
        }
    }
    throw std::runtime_error("no figure " + name);
}

void expect_line(const report::Series& series, const Numbers& x, const Numbers& y) {
    EXPECT_EQ(series.x, x) << series.name;
    ASSERT_EQ(series.y.size(), y.size()) << series.name;
    for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(series.y[i], y[i], 1e-12 * std::abs(y[i])) << series.name << ", point " << i;
    }
}

// Records are made of the first step and of every tenth.
TEST(StudyFigures, OfWOutBeginAtTheFirstStep) {
    const Measurement found = judged("stability-trained-w-out-norms", 1001, [](const std::string& name, Json& run) {
        run["output_norm"] = name.find("peri") == std::string::npos ? Numbers{2, 3, 4, 8} : Numbers{10, 11, 12, 13};
    });
    const report::LineFigure figure = figure_in(found, "stability-w-out-norms");
    ASSERT_EQ(figure.series.size(), 4U);
    expect_line(figure.series[0], {1, 10, 20, 30}, {1, 1.5, 2, 4});
    expect_line(figure.series[1], {1, 10, 20, 30}, {1, 1.1, 1.2, 1.3});
}

// dL/dx_0, of the embedding, belongs to no block.
TEST(StudyFigures, OfGradientsBeginWithTheFirstBlock) {
    const Measurement found = judged("stability-trained-schemes", 1011, [](const std::string&, Json& run) {
        run["gradient"] = Numbers{100, 8, 4, 2};
        run["angle"] = Numbers{0.5, 0.25, 0.125};
    });
    for (const report::Series& series : figure_in(found, "stability-gradient-trained").series) {
        expect_line(series, {1, 2, 3}, {4, 2, 1});
    }
    for (const report::Series& series : figure_in(found, "stability-turns").series) {
        expect_line(series, {1, 2, 3}, {0.5, 0.25, 0.125});
    }
}

// With Dt = 0.1 everything is smaller, the data-wise variance of Pre-LN least of all: by a tenth.
TEST(StudyFigures, OfMomentsAreJudgedByTheOneThatShrinksLeast) {
    const auto shrunk = [](double data_variance_of_pre_ln) {
        return [=](const std::string& name, Json& run) {
            if (name.find("dt-0.1") != std::string::npos) {
                const bool pre = name.find("-pre-ln") != std::string::npos;
                run["mean_abs"] = pre ? Numbers{1, 1, 1, 0.5} : Numbers{1, 1, 1, 0.25};
                run["entry_variance"] = pre ? Numbers{1, 1, 1, 0.125} : Numbers{1, 1, 1, 0.03125};
                run["data_variance"] = pre ? Numbers{1, 1, 1, data_variance_of_pre_ln} : Numbers{1, 1, 1, 0.0625};
            }
        };
    };
    const Measurement holds = judged("stability-trained-step-moments", 1021, shrunk(0.9));
    EXPECT_NEAR(std::get<double>(holds.measured), -0.10536051565782628, 1e-12) << "log 0.9";
    EXPECT_EQ(holds.verdict, Verdict::holds);
    const std::vector<std::pair<const char*, Numbers>> last = {{"stability-mean-abs", {1, 0.5, 1, 0.25}},
                                                               {"stability-entry-variance", {1, 0.125, 1, 0.03125}},
                                                               {"stability-data-variance", {1, 0.9, 1, 0.0625}}};
    for (const auto& [name, heights] : last) {
        const report::LineFigure figure = figure_in(holds, name);
        ASSERT_EQ(figure.series.size(), 4U) << name << ": Pre-LN with both steps, Peri-LN with both";
        for (std::size_t i = 0; i < 4; ++i) {
            expect_line(figure.series[i], {0, 1, 2, 3}, {1, 1, 1, heights[i]});
        }
    }
    const Measurement fails = judged("stability-trained-step-moments", 1031, shrunk(1.25));
    EXPECT_NEAR(std::get<double>(fails.measured), 0.22314355131420976, 1e-12) << "log 1.25";
    EXPECT_EQ(fails.verdict, Verdict::fails);
}

// Log angles 0, 1, 2 beside log costs 0, 2, 1: products of the deviations add up to 1, the squares of each to 2.
TEST(StudyFigures, OfTurnsAndCostsGiveTheirCorrelation) {
    const double e = std::exp(1);
    const auto runs = [&](const Numbers& costs) {
        return [=](const std::string&, Json& run) {
            run["angle"] = Numbers{1, e, e * e};
            run["removed"] = costs;
        };
    };
    const Measurement half = judged("stability-trained-turn-and-cost", 1041, runs({1, e * e, e}));
    EXPECT_NEAR(std::get<double>(half.measured), 0.5, 1e-12);
    // A block whose removal lowers the loss counts as one that costs 0.001.
    const Measurement whole = judged("stability-trained-turn-and-cost", 1051, runs({-5, 1e-3 * e, 1e-3 * e * e}));
    EXPECT_NEAR(std::get<double>(whole.measured), 1, 1e-12);
}

// Three runs with each of two steps, looked at twice; those of Pre-LN are drawn beside them and have another bound.
TEST(StudyFigures, OfTheBoundCountTheLooksAtPeriLnAlone) {
    const Measurement found = judged("stability-trained-peri-bound", 1061, [](const std::string& name, Json& run) {
        run["bound_share"] = name.find("-pre-ln") == std::string::npos ? Numbers{0.5, 0.25} : Numbers{5};
    });
    EXPECT_EQ(found.verdict, Verdict::holds);
    EXPECT_EQ(std::get<std::string>(found.measured).rfind("at most 0.500 of the bound", 0), 0U);
    EXPECT_EQ(found.note.rfind("12 looks while training", 0), 0U) << found.note;
}

// 6 and 24 blocks, a run of the deeper ones for each of three seeds, of the others for two, and at most 60 steps.
TEST(StudyFigures, OfDeepModelsSayHowDeepTheyAreAndHowLongTheyWereTrained) {
    const auto same = [](const std::string&, Json&) {};
    const std::string models =
        "6, 24 blocks x 32, 3 seeds of the deepest and 2 of the others, 60 steps of 256 tokens of generated text";
    const Measurement flows = judged("stability-trained-post-flows", 1071, same);
    const Measurement explodes = judged("stability-trained-pre-explodes", 1071, same);
    for (const std::string& note : {flows.note, explodes.note}) {
        EXPECT_NE(note.find(models), std::string::npos) << note;
        EXPECT_EQ(note.find("100 steps"), std::string::npos) << note;
    }
    EXPECT_EQ(figure_in(flows, "stability-gradient-training").caption,
              "24 blocks x 32, means over 3 seeds, 256 tokens of generated text a step.");
    const Measurement undecided = judged("stability-trained-post-flows", 1081, [](const std::string& name, Json& run) {
        run["rms"] = name.find("post-ln") == std::string::npos ? Numbers{1, 1, 1, 1} : Numbers{};
    });
    EXPECT_EQ(undecided.verdict, Verdict::undecided);
    EXPECT_NE(undecided.note.find(models), std::string::npos) << undecided.note;
}

TEST(StudyFigures, OfGradientsAndTheirBoundsAreThoseOfTheSameMoment) {
    const Measurement found = judged("stability-trained-gradient-bound", 1091, [](const std::string&, Json& run) {
        run["back_start"] = Numbers{4, 3, 2, 1};
        run["back_bound_start"] = Numbers{40, 30, 20, 10};
        run["back_end"] = Numbers{8, 7, 6, 5};
        run["back_bound_end"] = Numbers{80, 70, 60, 50};
    });
    for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
        const report::LineFigure figure = figure_in(found, std::string("stability-gradient-bound-") + scheme);
        ASSERT_EQ(figure.series.size(), 4U);
        const std::vector<std::pair<const char*, Numbers>> expected = {{"start", {4, 3, 2, 1}},
                                                                       {"start: bound", {40, 30, 20, 10}},
                                                                       {"trained", {8, 7, 6, 5}},
                                                                       {"trained: bound", {80, 70, 60, 50}}};
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(figure.series[i].name, expected[i].first) << scheme;
            expect_line(figure.series[i], {0, 1, 2, 3}, expected[i].second);
        }
    }
}

// A text of one token alone: sequences are the same, and what they are made of is not.
TEST(StudyRun, SequencesThatAreAlikeHaveNoVarianceBetweenThem) {
    Condition idle = with_step("pre-ln", 1);
    idle.init = "residual=0";
    idle.rate = 0;
    train::Corpus corpus;
    corpus.vocab = 5;
    corpus.train.assign(200, 3);
    corpus.validation.assign(200, 3);
    const TrainedRun run = train_one(idle, {2, 8, 2, 8, 2, 1, 1, 400}, 1, corpus, nullptr);
    ASSERT_EQ(run.data_variance.size(), 3U);
    ASSERT_EQ(run.entry_variance.size(), 3U);
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_LT(run.data_variance[l], 1e-12) << l;
        EXPECT_GT(run.entry_variance[l], 1e-5) << l;
    }
}

// Blocks that add nothing, to begin with and for want of a learning rate, cost nothing when they are left out.
TEST(StudyRun, BlocksThatAddNothingCostNothing) {
    Condition idle = with_step("pre-ln", 1);
    idle.init = "residual=0";
    idle.rate = 0;
    train::Corpus corpus;
    corpus.vocab = 5;
    std::uint32_t drawn = 1;
    for (std::size_t i = 0; i < 3000; ++i) {
        drawn = drawn * 1664525U + 1013904223U;
        (i < 1500 ? corpus.train : corpus.validation).push_back(static_cast<train::Token>((drawn >> 16U) % 5));
    }
    const TrainedRun run = train_one(idle, {2, 8, 2, 8, 2, 1, 1, 3000}, 1, corpus, nullptr);
    EXPECT_GT(run.validation.front(), 1);
    EXPECT_EQ(run.removed, (Numbers{0, 0}));
}

}  // namespace
}  // namespace flyball::claims
