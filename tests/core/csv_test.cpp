// Cells of comma-separated values: RFC 4180.
#include "core/csv.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

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

using Rows = std::vector<std::vector<std::string>>;

TEST(Csv, IsReadAsItWasWritten) {
    const Rows rows = {{"a", "b,c"}, {"say \"so\"", "two\nlines"}, {"", "1e-3"}};
    std::string text;
    for (const auto& row : rows) {
        text += csv_cell(row[0]) + "," + csv_cell(row[1], Quotes::always) + "\n";
    }
    EXPECT_EQ(parse_csv(text, "t"), rows);
    EXPECT_EQ(parse_csv("a,b\r\n1,\"2\"\r\n", "t"), (Rows{{"a", "b"}, {"1", "2"}}));
    EXPECT_EQ(parse_csv("a,b\n1,2", "t"), (Rows{{"a", "b"}, {"1", "2"}})) << "the last newline may be missing";
    EXPECT_EQ(parse_csv("a,b\r\n1,2\r", "t"), (Rows{{"a", "b"}, {"1", "2"}})) << "half of the last newline too";
    EXPECT_EQ(parse_csv("a,b\r\n1,\"2\"\r", "t"), (Rows{{"a", "b"}, {"1", "2"}}));
    EXPECT_EQ(parse_csv("a\r,b\r", "t"), (Rows{{"a\r", "b"}})) << "inside of a row it is text";
    EXPECT_EQ(parse_csv("a,\n,b\n", "t"), (Rows{{"a", ""}, {"", "b"}}));
    EXPECT_EQ(parse_csv("", "t"), Rows{});
}

TEST(Csv, RowsOfAnotherWidthAndOpenQuotesAreRefused) {
    EXPECT_THROW(parse_csv("a,b\n1\n", "t"), Error);
    EXPECT_THROW(parse_csv("a,b\n1,2,3\n", "t"), Error);
    EXPECT_THROW(parse_csv("a,\"b\n", "t"), Error);
    EXPECT_THROW(parse_csv("a,\"b\"c\n", "t"), Error);
    EXPECT_THROW(parse_csv("\"a\"\r,b\n", "t"), Error);
    try {
        parse_csv("a,b\n1,2\n1,2,3\n", "t");
        ADD_FAILURE() << "a row that is too wide was taken";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("in row 3 of 't'"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace flyball::test
