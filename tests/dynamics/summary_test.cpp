// The sentences that end `simulate`, from records made by hand.
#include "dynamics/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scheme/catalogue.hpp"

namespace flyball::dynamics::test::summary_test {
namespace {

SchemeRun made(const std::string& name, double speed, double first, double last, std::optional<double> collapse = {},
               Outcome outcome = Outcome::done, double end = 10) {
    SchemeRun run{scheme::find_scheme("pre-ln"), {}};
    run.scheme.name = name;
    Sample sample;
    sample.t = 0;
    sample.speed = speed;
    sample.cosine = first;
    sample.one_minus_cosine = 1 - first;
    run.record.samples.push_back(sample);
    sample.t = end;
    sample.speed = speed / 2;
    sample.cosine = last;
    sample.one_minus_cosine = 1 - last;
    run.record.samples.push_back(sample);
    run.record.collapse_time = collapse;
    run.record.outcome = outcome;
    run.record.ended = outcome == Outcome::done ? end : end + 0.25;
    return run;
}

std::string summary_of(const std::vector<SchemeRun>& runs) {
    return summary(runs, 16);
}

TEST(SummaryOfRuns, SaysWhoMovesFirstWhoCollapsesAndWhoLasts) {
    EXPECT_EQ(
        summary_of({made("a", 0.5, 0, 0.9995, 4.25), made("b", 0.1, 0, 0.8), made("c", 0.1, 0, 0.6)}),
        "At the start a moves fastest (speed 0.5) and b and c slowest (0.1). a collapses first, at t = 4.25 (mean "
        "cosine above 0.999); b and c do not by t = 10, and c keeps its tokens apart longest, with a mean cosine "
        "of 0.6.");
    EXPECT_EQ(summary_of({made("a", 0.5, 0, 1, 4), made("b", 0.5, 0, 1, 8)}),
              "At the start all move equally fast, at a speed of 0.5. a collapses first, at t = 4 (mean cosine above "
              "0.999), and b last, at t = 8.");
    EXPECT_EQ(summary_of({made("a", 0.5, 0, 0.2), made("b", 0.25, 0, 0.4)}),
              "At the start a moves fastest (speed 0.5) and b slowest (0.25). None collapses by t = 10 (a mean cosine "
              "above 0.999); a keeps its tokens apart longest, with a mean cosine of 0.2.");
    EXPECT_EQ(
        summary_of({made("a", 1, 0, 1, 4), made("b", 1, 0, 1, 6), made("c", 1, 0, 0.5)}),
        "At the start all move equally fast, at a speed of 1. a collapses first, at t = 4 (mean cosine above "
        "0.999), b last, at t = 6; c does not by t = 10, and c keeps its tokens apart longest, with a mean cosine "
        "of 0.5.");
}

TEST(SummaryOfRuns, OfOneRunComparesNothing) {
    EXPECT_EQ(summary_of({made("a", 1024, 0.1, 0.3)}),
              "At the start the tokens of a move at a speed of 1024. Its tokens do not collapse by t = 10: their mean "
              "cosine goes from 0.1 to 0.3.");
    EXPECT_EQ(
        summary_of({made("a", 1, 0.1, 0.9999, 7)}),
        "At the start the tokens of a move at a speed of 1. Its tokens collapse at t = 7, where their mean cosine "
        "exceeds 0.999.");
}

TEST(SummaryOfRuns, NamesThoseThatDidNotReachTheEnd) {
    EXPECT_EQ(
        summary_of({made("a", 1, 0, 0.5), made("b", 2, 0, 0.9, {}, Outcome::diverged, 3)}),
        "At the start b moves fastest (speed 2) and a slowest (1). The tokens of a do not collapse by t = 10: their "
        "mean cosine goes from 0 to 0.5. b ended at t = 3.25 (diverged).");
    EXPECT_EQ(summary_of({made("b", 2, 0, 0.9, {}, Outcome::nan, 3)}),
              "At the start the tokens of b move at a speed of 2. b ended at t = 3.25 (nan).");
}

TEST(SummaryOfRuns, WhereNothingHappensItSaysSo) {
    EXPECT_EQ(
        summary_of({made("a", 0, 0.25, 0.25)}),
        "At the start nothing moves. Nothing much happens by t = 10: its mean cosine changes by less than 0.001.");
    EXPECT_EQ(
        summary_of({made("a", 1e-9, 1, 1, 0), made("b", 1e-9, 1, 1, 0)}),
        "At the start all move equally fast, at a speed of 1e-9. Nothing much happens by t = 10: every mean cosine "
        "changes by less than 0.001, for the tokens are together from the start.");
    EXPECT_EQ(summary_of({made("a", 1, 0.9985, 0.9991, 8), made("b", 1, 0.9985, 0.9989)}),
              "At the start all move equally fast, at a speed of 1. Nothing much happens by t = 10: every mean cosine "
              "changes by less than 0.001.")
        << "one passes 0.999 on its way, and none begins there";
    EXPECT_EQ(summary_of({}), "");
}

TEST(SummaryOfRuns, OfTokensThatComeBackDoesNotSayThatNothingHappened) {
    SchemeRun there_and_back = made("a", 1, 0.25, 0.25);
    Sample middle = there_and_back.record.samples.front();
    middle.t = 5;
    middle.cosine = 0.75;
    there_and_back.record.samples.insert(there_and_back.record.samples.begin() + 1, middle);
    EXPECT_EQ(summary_of({there_and_back}),
              "At the start the tokens of a move at a speed of 1. Its tokens do not collapse by t = 10: their mean "
              "cosine goes from 0.25 to 0.25.");
}

// A readout such as x*sqrt(t) + x0 changes infinitely fast at t = 0: the others are not all.
TEST(SummaryOfRuns, ComparesNoSpeedWithOneThatIsNotFinite) {
    EXPECT_EQ(summary_of({made("a", 0.5, 0, 0.2), made("b", HUGE_VAL, 0, 0.4)}),
              "At the start the speed of b is not a finite number. None collapses by t = 10 (a mean cosine above "
              "0.999); a keeps its tokens apart longest, with a mean cosine of 0.2.");
    EXPECT_EQ(summary_of({made("a", HUGE_VAL, 0, 0.2)}),
              "At the start the speed of a is not a finite number. Its tokens do not collapse by t = 10: their mean "
              "cosine goes from 0 to 0.2.");
}

TEST(SummaryOfRuns, OfOneTokenSaysThatItIsAlone) {
    EXPECT_EQ(summary({made("a", 0, 1, 1), made("b", 0, 1, 1)}, 1),
              "At the start nothing moves. One token alone has no other to gather with: its cosine of 1 says nothing.");
    EXPECT_EQ(
        summary({made("a", 0, 1, 1, {}, Outcome::nan, 3)}, 1),
        "At the start nothing moves. One token alone has no other to gather with: its cosine of 1 says nothing. a "
        "ended at t = 3.25 (nan).");
}

TEST(SummaryOfRuns, TellsWhenAnEventWasMet) {
    EXPECT_EQ(
        summary_of({made("a", 1, 0, 0.9, {}, Outcome::until, 3), made("b", 1, 0, 0.9, {}, Outcome::until, 5),
                    made("c", 1, 0, 0.4)}),
        "At the start all move equally fast, at a speed of 1. a meets the event first, at t = 3, b last, at t = 5; "
        "c does not.");
    EXPECT_EQ(summary_of({made("a", 1, 0, 0.9, {}, Outcome::until, 3)}),
              "At the start the tokens of a move at a speed of 1. a meets the event at t = 3.");
}

}  // namespace
}  // namespace flyball::dynamics::test::summary_test
