// Errors read alike, and each kind has its exit code.
#include "core/error.hpp"
#include "core/utf8.hpp"

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

TEST(Error, NamesSettingsAndEveryFrontEndSpellsThemItsWay) {
    const Error error(ErrorKind::usage, "dynamics.settings", setting("dt", "0") + " with " + setting("fresh"),
                      "a number above 0", "use " + setting("layers", "L"));
    EXPECT_STREQ(error.what(),
                 "[dynamics.settings] got dt = 0 with fresh, expected a number above 0. hint: use layers = L.");
    EXPECT_EQ(error.sentence({"--", " "}),
              "[dynamics.settings] got --dt 0 with --fresh, expected a number above 0. hint: use --layers L.");
    // Text from outside cannot be taken for a setting.
    const Error quoting(ErrorKind::usage, "x", flyball::quoted(setting("dt", "0")), "y");
    EXPECT_STREQ(quoting.what(), "[x] got '\\x1ddt\\x1f0', expected y.");
    EXPECT_EQ(quoting.sentence({"--", " "}), quoting.what());
}

TEST(Quoted, CutsWhatIsLongerThanItsLimitAndNotWhatIsAsLong) {
    EXPECT_EQ(flyball::quoted("abcdef", 6), "'abcdef'");
    EXPECT_EQ(flyball::quoted("abcdefg", 6), "'abc...efg'");
}

// Characters of two, three and four bytes, cut at every place that a character can have.
TEST(Quoted, NeverCutsACharacterInTwo) {
    for (const std::string character : {"\u00e9", "\u20ac", "\U0001d6c2"}) {
        for (std::size_t before = 0; before < 4; ++before) {
            std::string text(before, 'a');
            for (int i = 0; i < 60; ++i) {
                text += character;
            }
            const std::string shown = flyball::quoted(text);
            EXPECT_TRUE(is_utf8(shown)) << shown;
            EXPECT_NE(shown.find("..."), std::string::npos);
            EXPECT_GE(shown.size(), 80U - 3) << "as much as fits: " << shown;
        }
    }
}

}  // namespace
}  // namespace flyball
