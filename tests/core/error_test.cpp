// Errors read alike, and each kind has its exit code.
#include "core/error.hpp"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(Error, EveryKindIsBadInputToTheCaller) {
    for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::input, ErrorKind::io, ErrorKind::resource}) {
        EXPECT_EQ(exit_code(kind), ExitCode::bad_input);
        EXPECT_EQ(Error(kind, "a", "b", "c").kind(), kind);
    }
}

TEST(Error, ExitCodesAreThoseOfTheManual) {
    EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
    EXPECT_EQ(static_cast<int>(ExitCode::bad_verdict), 1);
    EXPECT_EQ(static_cast<int>(ExitCode::bad_input), 2);
    EXPECT_EQ(static_cast<int>(ExitCode::bug), 3);
    EXPECT_EQ(static_cast<int>(ExitCode::interrupted), 130);
}

TEST(Error, SaysWhereWhatWasGotWhatWasExpectedAndWhatToDo) {
    EXPECT_STREQ(Error(ErrorKind::usage, "core.read", "X", "Y", "do Z").what(),
                 "[core.read] got X, expected Y. hint: do Z.");
    EXPECT_STREQ(Error(ErrorKind::usage, "core.read", "X", "Y").what(), "[core.read] got X, expected Y.");
}

}  // namespace
}  // namespace flyball
