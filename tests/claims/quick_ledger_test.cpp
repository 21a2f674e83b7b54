// The third paper's quick ledger. Those of the other two are run by the program, in tests/cli/reproduce_test.cpp; this one is run here, in
// one process with the wrong predictions about the same trained models: training them takes longer than all else.
#include <gtest/gtest.h>

#include "claims/documents.hpp"
#include "claims/groups.hpp"
#include "claims/judge.hpp"
#include "claims/shown.hpp"
#include "sanitized.hpp"

namespace flyball::claims {
namespace {

TEST(QuickLedgerOfStability, ComesOutAsRecorded) {
    if (sanitized) {
        GTEST_SKIP() << "release build only";
    }
    Judging judging;
    judging.quick = true;
    std::vector<Judged> results;
    for (const std::optional<Judged>& one : judge_all(ledger("stability"), judging)) {
        ASSERT_TRUE(one.has_value());
        EXPECT_TRUE(one->as_recorded()) << one->claim.id << " is " << name(one->measurement.verdict) << ": "
                                        << one->note();
        results.push_back(*one);
    }
    test::expect_that_claims_bear_out_what_they_say(results_json(results)["claims"]);
}

}  // namespace
}  // namespace flyball::claims
