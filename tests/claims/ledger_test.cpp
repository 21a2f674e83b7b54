// The ledger as data: every claim says who says what, and nothing is listed twice.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "claims/groups.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {
namespace {

TEST(Ledger, HasEveryFieldOfEveryClaim) {
    const std::regex id("[a-z]+(-[a-z0-9]+)+");
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
        EXPECT_EQ(static_cast<bool>(claim.experiment), claim.expected != Verdict::not_tested) << claim.id;
        EXPECT_NE(claim.expected, Verdict::skipped) << claim.id << ": that is for runs to say";
        if (claim.expected != Verdict::holds) {
            EXPECT_FALSE(claim.note.empty()) << claim.id << " must say what is true instead, or why it is not tested";
        }
        EXPECT_TRUE(claim.note.empty() || claim.note.back() != '.') << claim.id;
    }
}

TEST(Ledger, IdsBeginWithTheNameOfTheirGroupAndGroupsHaveATitle) {
    for (const Group& group : groups()) {
        EXPECT_EQ(group.head.rfind("## ", 0), 0U) << group.name;
        EXPECT_EQ(group.head.back(), '\n') << group.name;
        for (const Claim& claim : claims_of(group)) {
            EXPECT_EQ(claim.id.rfind(group.name + "-", 0), 0U) << claim.id;
        }
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

// A theme or a group that is written and not named in its list would be in nobody's reach.
TEST(Ledger, NamesEveryThemeAndGroupThatIsDefined) {
    const std::filesystem::path folder = std::filesystem::path(flyball::test::source_folder) / "src/claims";
    const auto text_of_file = [](const std::filesystem::path& path) { return read_text_file(path.string(), 1 << 20); };
    const std::regex theme("(?:^|\\n)std::vector<Claim> ([a-z]+)(_\\w*claims)\\(\\) \\{");
    const std::regex group("(?:^|\\n)Group (\\w+_group)\\(\\) \\{");
    std::size_t themes = 0;
    std::size_t found_groups = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".cpp") {
            continue;
        }
        const std::string text = text_of_file(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), theme), end; at != end; ++at, ++themes) {
            const std::string name = at->str(1) + at->str(2);
            EXPECT_NE(text_of_file(folder / (at->str(1) + ".cpp")).find(name), std::string::npos)
                << "name " << name << " in group.themes of " << at->str(1) << ".cpp";
        }
        for (std::sregex_iterator at(text.begin(), text.end(), group), end; at != end; ++at, ++found_groups) {
            EXPECT_NE(text_of_file(folder / "groups.cpp").find(at->str(1) + "()"), std::string::npos)
                << "name " << at->str(1) << " in groups()";
        }
    }
    EXPECT_EQ(found_groups, groups().size());
    std::size_t walked = 0;
    for (const Group& one : groups()) {
        walked += one.themes.size();
    }
    EXPECT_EQ(themes, walked) << "a theme that is named twice, or not at all";
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
    for (const Verdict verdict : {Verdict::holds, Verdict::holds_corrected, Verdict::fails, Verdict::undecided,
                                  Verdict::not_tested, Verdict::skipped}) {
        EXPECT_EQ(verdict_from_name(name(verdict)), verdict);
    }
    EXPECT_THROW(verdict_from_name("maybe"), Error);
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
