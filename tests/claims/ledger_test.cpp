// The ledger as data: every claim says who says what, and nothing is listed twice.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "claims/claim.hpp"
#include "core/error.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {
namespace {

TEST(Ledger, HasEveryFieldOfEveryClaim) {
    const std::regex id("dynamics(-[a-z0-9]+)+");
    for (const Claim& claim : ledger()) {
        EXPECT_TRUE(std::regex_match(claim.id, id)) << claim.id;
        ASSERT_FALSE(claim.statement.empty()) << claim.id;
        EXPECT_EQ(claim.statement.back(), '.') << claim.id;
        // A scheme's name may begin a sentence with a small letter (nGPT, sqrt-scaling).
        const bool capital = std::isupper(static_cast<unsigned char>(claim.statement.front())) != 0;
        EXPECT_TRUE(capital || claim.statement.rfind("nGPT", 0) == 0 || claim.statement.rfind("sqrt-", 0) == 0)
            << claim.id;
        EXPECT_EQ(claim.statement.find("  "), std::string::npos) << claim.id;
        EXPECT_FALSE(claim.source.empty()) << claim.id;
        EXPECT_TRUE(static_cast<bool>(claim.experiment)) << claim.id;
        if (claim.expected == Verdict::fails || claim.expected == Verdict::holds_corrected) {
            EXPECT_FALSE(claim.note.empty()) << claim.id << " must say what is true instead";
        }
        EXPECT_TRUE(claim.note.empty() || claim.note.back() != '.') << claim.id;
    }
}

TEST(Ledger, IdsAndStatementsAreUnique) {
    std::set<std::string> ids;
    std::set<std::string> statements;
    for (const Claim& claim : ledger()) {
        EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
        EXPECT_TRUE(statements.insert(claim.statement).second) << claim.id;
    }
}

TEST(Ledger, HasARowOfTableTwoAndBothVelocitiesForEachOfTheSixSchemes) {
    std::set<std::string> ids;
    for (const Claim& claim : ledger("dynamics")) {
        ids.insert(claim.id);
    }
    for (const char* scheme : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"}) {
        for (const char* what : {"table", "sync", "initial", "terminal", "variance", "causal"}) {
            EXPECT_EQ(ids.count(std::string("dynamics-") + what + "-" + scheme), 1U) << what << " " << scheme;
        }
    }
}

TEST(Ledger, TellsWhatThePaperSaysBeforeWhatWasFound) {
    const std::vector<Claim> claims = ledger("dynamics");
    EXPECT_EQ(claims.front().source, "Table 2");
    EXPECT_EQ(claims.back().source, "finding");
    bool found = false;
    for (const Claim& claim : claims) {
        EXPECT_TRUE(!found || claim.source == "finding") << claim.id << " stands behind a finding";
        found = found || claim.source == "finding";
    }
}

TEST(Ledger, RefusesAnUnknownGroupAndSuggestsTheNearest) {
    try {
        ledger("dynamic");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean dynamics?"), std::string::npos) << error.what();
    }
}

TEST(Verdicts, FollowFromWhatAgrees) {
    EXPECT_EQ(verdict_of(true), Verdict::holds);
    EXPECT_EQ(verdict_of(false), Verdict::fails);
    EXPECT_EQ(verdict_of(true, true), Verdict::holds);
    EXPECT_EQ(verdict_of(false, true), Verdict::holds_corrected);
    EXPECT_EQ(verdict_of(false, false), Verdict::fails);
    for (const Verdict verdict : {Verdict::holds, Verdict::holds_corrected, Verdict::fails, Verdict::not_tested}) {
        EXPECT_EQ(verdict_from_name(name(verdict)), verdict);
    }
    EXPECT_THROW(verdict_from_name("maybe"), Error);
}

TEST(Summary, CountsVerdictsAndWhatIsNotAsRecorded) {
    std::vector<Judged> claims(26, {Verdict::holds, Verdict::holds});
    claims.insert(claims.end(), 3, {Verdict::holds_corrected, Verdict::holds_corrected});
    claims.insert(claims.end(), 2, {Verdict::fails, Verdict::fails});
    EXPECT_EQ(summary(claims), "31 claims: 26 hold, 3 hold corrected, 2 fail; all as recorded");
    claims[0].verdict = Verdict::fails;
    EXPECT_EQ(summary(claims), "31 claims: 25 hold, 3 hold corrected, 3 fail; 1 not as recorded");
}

TEST(Context, StopsAnExperimentAndScalesTheProgressOfAPart) {
    std::atomic<bool> stop{false};
    double seen = -1;
    Context context;
    context.stop = &stop;
    context.progress = [&](double share) { seen = share; };
    context.part(0.5, 1).at(0.5);
    EXPECT_DOUBLE_EQ(seen, 0.75);
    stop = true;
    EXPECT_THROW(context.at(0.1), Interrupted);
    EXPECT_THROW(context.part(0, 1).at(0.1), Interrupted);
}

TEST(Markdown, CannotBreakATable) {
    EXPECT_EQ(markdown("|A| <theta> a_j"), "\\|A\\| \\<theta> a\\_j");
}

}  // namespace
}  // namespace flyball::claims
