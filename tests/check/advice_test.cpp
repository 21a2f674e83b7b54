// The sentences of a report for whatever may have been measured: each is whole by itself and true of the numbers.
#include "check/advice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <regex>

namespace flyball::check::advice_test {
namespace {

using Values = std::function<double(double)>;  // of a block, counted from 0 for the embedding

DepthCurve curve_of(std::size_t depth, const Values& stream, const Values& gradient) {
    DepthCurve curve;
    curve.depth = depth;
    for (std::size_t l = 0; l <= depth; ++l) {
        curve.stream.push_back(stream(static_cast<double>(l)));
        curve.gradient.push_back(gradient(static_cast<double>(l)));
        curve.memory.push_back(1);
        curve.finite = curve.finite && std::isfinite(curve.stream.back()) && std::isfinite(curve.gradient.back());
    }
    return curve;
}

Beginning beginning_with(const Values& stream, const Values& gradient) {
    Beginning result;
    for (const std::size_t depth : {4U, 8U, 16U, 24U, 32U, 64U, 96U}) {
        result.curves.push_back(curve_of(depth, stream, gradient));
    }
    result.own = result.curves[3];
    const DepthCurve& last = result.curves.back();
    result.stream = law_of({last.stream.begin() + 1, last.stream.end()}, least_held);
    result.gradient = law_of({last.gradient.rbegin(), last.gradient.rend() - 1}, least_held);
    return result;
}

ShortRun run_with(const std::string& scheme, train::Outcome outcome, std::size_t steps) {
    ShortRun run;
    run.scheme = scheme;
    run.depth = 24;
    run.outcome = outcome;
    run.losses.assign(steps, 3.5);
    run.first = 4;
    run.last = outcome == train::Outcome::done ? 3 : std::nan("");
    return run;
}

BlockReport report_named(const std::string& name, const Values& stream, const Values& gradient,
                         train::Outcome outcome = train::Outcome::done) {
    BlockReport report;
    report.block.scheme = scheme::find_scheme("pre-ln");
    report.block.scheme.name = name;
    report.beginning = beginning_with(stream, gradient);
    report.runs = {run_with(name, outcome, outcome == train::Outcome::done ? 300 : 1)};
    return report;
}

struct Told {
    const char* words;
    const char* growth;  // the class of the contract
    Values stream;
};

const Values even = [](double) { return 1.0; };
const std::vector<Told>& streams() {
    static const std::vector<Told> list = {
        {"stays of one size", "bounded", even},
        {"hardly grows", "bounded", [](double l) { return std::pow(l + 1, 0.2); }},
        {"shrinks, but not exponentially", "bounded", [](double l) { return 1 / (l + 1); }},
        {"grows like the square root of depth", "sqrt", [](double l) { return std::sqrt(l + 1); }},
        {"grows in proportion to depth", "linear", [](double l) { return l + 1; }},
        {"grows exponentially", "exponential", [](double l) { return std::exp(0.2 * l); }},
        {"shrinks exponentially", "exponential", [](double l) { return std::exp(-0.2 * l); }},
        {"shrinks exponentially", "exponential",
         [](double l) { return l < 70 ? std::ldexp(1, static_cast<int>(-2 * l)) : 0; }},
        {"becomes too small for 32-bit numbers", "exponential", [](double l) { return l < 70 ? 1 : 0; }},
        {"is not finite in every model of up to 96 blocks", "exponential",
         [](double l) { return l < 70 ? 1 : HUGE_VAL; }},
        {"is not finite in every model of up to 96 blocks", "exponential", [](double) { return HUGE_VAL; }},
        {"grows exponentially", "exponential", [](double l) { return l < 70 ? std::exp(l) : HUGE_VAL; }},
    };
    return list;
}

TEST(Advice, TellsWhatTheStreamDoes) {
    for (const Told& one : streams()) {
        const BlockReport report = report_named("mine", one.stream, even);
        EXPECT_EQ(growth_words(report), one.words);
        EXPECT_EQ(report.growth(), one.growth) << one.words;
    }
    BlockReport deeper = report_named("mine", even, even);
    for (DepthCurve& curve : deeper.beginning.curves) {
        curve.stream.assign(curve.depth + 1, std::exp(0.1 * static_cast<double>(curve.depth)));
    }
    EXPECT_EQ(growth_words(deeper), "grows exponentially with the number of blocks of the model");
}

// Every sentence begins with a capital letter (or the name of a block), has no second half without a first, no number
// that is none, and no hole.
void expect_whole_sentences(const std::string& text) {
    static const std::regex begins("^([A-Z]|mine is)");
    static const std::regex second_half("^(Otherwise|Else|Or|And|But)\\b");
    static const std::regex holes("\\b(nan|inf)\\b|  | [.;,]|\\(\\)|is fails|\\.\\.");
    for (std::size_t begin = 0; begin < text.size();) {
        // A point inside a number or a name ends nothing.
        std::size_t stop = begin;
        do {
            stop = std::min(text.find_first_of(".?", stop + 1), text.size() - 1);
        } while (stop + 1 < text.size() && text[stop + 1] != ' ');
        const std::string sentence = text.substr(begin, stop + 1 - begin);
        EXPECT_TRUE(std::regex_search(sentence, begins)) << sentence << "\n" << text;
        EXPECT_FALSE(std::regex_search(sentence, second_half)) << sentence;
        begin = stop + 2;
    }
    EXPECT_EQ(text.back(), '.') << text;
    EXPECT_FALSE(std::regex_search(text, holes)) << text;
}

const std::vector<Finding>& gravest_findings() {
    static const std::vector<Finding> list = {
        {"known-equation", Severity::note, "A note.", "", 0},
        {"slow-start", Severity::caution, "A caution.", "", 0},
        {"stream-grows-exponentially", Severity::unstable, "It grows.", "", 0},
        {"stream-shrinks-exponentially", Severity::unstable, "It shrinks.", "", 0},
        {"stream-vanishes", Severity::unstable, "It vanishes.", "", 0},
        {"stream-is-overwritten", Severity::unstable, "It is overwritten.", "", 0},
        {"gradient-explodes", Severity::unstable, "It explodes.", "", 0},
        {"gradient-vanishes", Severity::unstable, "It vanishes.", "", 0},
        {"not-finite-at-start", Severity::unstable, "It is not finite.", "", 0},
        {"training-fails", Severity::unstable, "It fails.", "", 0},
        {"part-never-acts", Severity::malformed, "It never acts.", "", 0},
    };
    return list;
}

// The parts of a paragraph do not depend on each other: what was measured, and what was found with a step or without.
TEST(Advice, IsMadeOfWholeSentencesWhateverWasFound) {
    const std::vector<Values> gradients = {even, [](double l) { return std::exp(-l); },
                                           [](double l) { return l < 2 ? 0.0 : 1.0; }, [](double) { return 0.0; },
                                           [](double) { return HUGE_VAL; }};
    PreflightReport report;
    report.yardsticks = {report_named("pre-ln", even, even), report_named("peri-ln", even, even)};
    for (const Told& stream : streams()) {
        for (const Values& gradient : gradients) {
            const BlockReport block = report_named("mine", stream.stream, gradient);
            expect_whole_sentences(advice(block, report));
            expect_whole_sentences(difference(block, report.yardsticks[0]));
        }
    }
    for (const train::Outcome outcome : {train::Outcome::nan, train::Outcome::exploded, train::Outcome::spike}) {
        const BlockReport block = report_named("mine", even, even, outcome);
        PreflightReport failing = report;  // a yardstick may fail too
        failing.yardsticks[1].runs = block.runs;
        expect_whole_sentences(advice(block, report));
        expect_whole_sentences(advice(block, failing));
        expect_whole_sentences(difference(block, report.yardsticks[0]));
    }
    BlockReport block = report_named("mine", even, even);
    for (const Finding& finding : gravest_findings()) {
        for (const double step : {0.0, 0.1, 1.0}) {
            block.findings = {finding};
            block.suggested_dt = step > 0 ? std::optional<double>(step) : std::nullopt;
            expect_whole_sentences(advice(block, report));
        }
    }
}

TEST(Advice, SaysWhatHelpsAgainstWhatWasFound) {
    PreflightReport report;
    report.yardsticks = {report_named("pre-ln", even, even), report_named("peri-ln", even, even)};
    BlockReport block = report_named("mine", even, even);
    const auto says = [&](const char* id, std::optional<double> step, const std::string& expected) {
        block.findings = {{id, Severity::unstable, "Something.", "", 0}};
        block.suggested_dt = step;
        const std::string said = advice(block, report);
        EXPECT_NE(said.find(expected), std::string::npos) << said;
    };
    says("stream-grows-exponentially", std::nullopt,
         "Do not train it at this size as it is. Norm what a branch adds, start its matrices smaller,");
    says("stream-grows-exponentially", 1.0, "as it is. Norm what a branch adds");  // the step that was checked
    says("stream-grows-exponentially", 0.125,
         "With a residual step of dt = 0.12 the stream of a fresh model stays near unit size. If that is not enough, "
         "norm "
         "what a branch adds");
    says("stream-shrinks-exponentially", std::nullopt, "as it is. Take away the factor below 1 on x, or norm what");
    says("stream-is-overwritten", std::nullopt, "as it is. Make branches smaller beside x");
    says("gradient-vanishes", std::nullopt, "as it is. Carry x on from block to block without a factor or a norm");
}

TEST(Advice, OfRunsNamesTheLossOfTheDeepestOfEach) {
    PreflightReport report;
    report.yardsticks = {report_named("pre-ln", even, even), report_named("peri-ln", even, even)};
    BlockReport block = report_named(
        "mine", [](double l) { return l == 0 ? 7 : 2; }, even);
    const auto with_shallow = [](BlockReport& one, double deep) {
        one.runs.back().last = deep;
        one.runs.insert(one.runs.begin(), one.runs.back());
        one.runs.front().depth = 6;
        one.runs.front().last = 1.11;
    };
    with_shallow(block, 2.71);
    with_shallow(report.yardsticks[0], 2.22);
    with_shallow(report.yardsticks[1], 2.33);
    const std::string said = advice(block, report);
    EXPECT_NE(
        said.find("After 300 steps at 24 blocks its loss is 2.71, from 4.00 at the start (pre-ln: loss 2.22 after "
                  "300 steps; peri-ln: loss 2.33 after 300 steps)."),
        std::string::npos)
        << said;
    // The stream after the first block, not the embedding.
    EXPECT_NE(said.find("(root mean square 2 after the first and 2 after the last of 24 blocks)"), std::string::npos)
        << said;
    block.runs.back() = run_with("mine", train::Outcome::exploded, 12);
    EXPECT_NE(advice(block, report)
                  .find("At 24 blocks its training fails after 12 steps, because the stream exploded, "
                        "from 4.00 at the start (pre-ln:"),
              std::string::npos)
        << advice(block, report);
    // A yardstick is not compared with itself.
    const std::string own = advice(report.yardsticks[1], report);
    EXPECT_NE(own.find("Beside Pre-LN your block"), std::string::npos) << own;
    EXPECT_EQ(own.find("peri-ln:"), std::string::npos) << own;
}

// Numbers under the name of Pre-LN are Pre-LN's: l + 1 is 2 after the first and 25 after the last of 24 blocks.
TEST(Advice, OfPeriLnHasTheNumbersOfPreLnBesideIt) {
    PreflightReport report;
    report.yardsticks = {report_named(
                             "pre-ln", [](double l) { return l + 1; }, [](double l) { return l == 1 ? 6.0 : 2.0; }),
                         report_named("peri-ln", even, even)};
    const std::string said = advice(report.yardsticks[1], report);
    EXPECT_NE(said.find("where Pre-LN's grows in proportion to depth (root mean square 2 after the first and 25 after "
                        "the last of 24 blocks)"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("in Pre-LN the gradient at the first block is 3 times that at the last"), std::string::npos)
        << said;
}

TEST(Advice, OfTwoBlocksHasTheRunOfEach) {
    BlockReport a = report_named("a", even, even);
    BlockReport b = report_named("b", even, even);
    a.runs.back().last = 2.71;
    b.runs.back().last = 2.22;
    const std::string said = difference(a, b);
    EXPECT_NE(said.find("In training at 24 blocks: a: loss 2.71 after 300 steps; b: loss 2.22 after 300 steps."),
              std::string::npos)
        << said;
    b.runs.back() = run_with("b", train::Outcome::exploded, 12);
    const std::string failed = difference(a, b);
    EXPECT_NE(
        failed.find("a: loss 2.71 after 300 steps; b: training fails after 12 steps, because the stream exploded."),
        std::string::npos)
        << failed;
}

// Element l of a gradient is that behind block l: the first block has none where element 1 is zero.
TEST(Advice, NamesTheBlockThatNoGradientReaches) {
    PreflightReport report;
    report.yardsticks = {report_named("pre-ln", even, even), report_named("peri-ln", even, even)};
    const auto said_of = [&](const Values& gradient) { return advice(report_named("mine", even, gradient), report); };
    const auto first = said_of([](double l) { return l < 2 ? 0.0 : 1.0; });
    EXPECT_NE(first.find("In your block no gradient reaches the first block; in Peri-LN the gradient at the first "
                         "block is 1 times that at the last."),
              std::string::npos)
        << first;
    // The blocks before the last one have theirs.
    const auto last = said_of([](double l) { return l < 24 ? 1.0 : 0.0; });
    EXPECT_NE(last.find("In your block no gradient reaches x behind the last block; in Peri-LN"), std::string::npos)
        << last;
    EXPECT_EQ(last.find("not finite"), std::string::npos) << last;
}

// A ratio of speeds is told only where both draw tokens together.
TEST(Advice, OfTwoBlocksSaysWhichDrivesTokensApart) {
    BlockReport a = report_named("a", even, even);
    BlockReport b = report_named("b", even, even);
    a.motion = {};
    b.motion = {};
    a.motion.initial_velocity = 0.5;
    b.motion.initial_velocity = 1.5;
    EXPECT_NE(difference(a, b).find("As particles, b turns tokens 3 times as fast as a at the start."),
              std::string::npos)
        << difference(a, b);
    b.motion.initial_velocity = -0.2;
    EXPECT_NE(difference(a, b).find("As particles at the start, a draws tokens together, and b drives them apart."),
              std::string::npos)
        << difference(a, b);
}

}  // namespace
}  // namespace flyball::check::advice_test
