// Cells of comma-separated values: RFC 4180.
#include "core/csv.hpp"

#include <gtest/gtest.h>

namespace flyball::test {
namespace {

TEST(Csv, QuotesACellOnlyWhereItMust) {
    EXPECT_EQ(csv_cell("post-ln"), "post-ln");
    EXPECT_EQ(csv_cell(""), "");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
    EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
    EXPECT_EQ(csv_cell("say \"so\""), "\"say \"\"so\"\"\"");
    EXPECT_EQ(csv_cell("post-ln", Quotes::always), "\"post-ln\"");
    EXPECT_EQ(csv_cell("", Quotes::always), "\"\"");
    EXPECT_EQ(csv_cell("\"", Quotes::always), "\"\"\"\"");
}

}  // namespace
}  // namespace flyball::test
