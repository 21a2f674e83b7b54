// What a user may write for each setting of an analysis, and what is taken where nothing is written.
#include "limits/settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "setting_fields.hpp"

namespace flyball::limits::settings_test {
namespace {

const SettingField& field(const char* key) {
    return flyball::test::field_named(setting_fields(), key);
}

std::string refusal(const char* key, const std::string& text) {
    Settings settings;
    try {
        field(key).parse(text, settings);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string refusal_of(const Settings& settings) {
    try {
        check(settings);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

using Counts = std::vector<std::size_t>;

// One key can be selected; of three tokens the last sees three keys, the fewest that say anything.
TEST(Settings, CountsAreReadFromTheLeastOnRisingAndOnce) {
    Settings settings;
    field("top").parse("10,1,5,10", settings);
    EXPECT_EQ(settings.top, Counts({1, 5, 10}));
    EXPECT_EQ(field("top").text(settings), "1,5,10");
    field("lengths").parse("8,3", settings);
    EXPECT_EQ(settings.lengths, Counts({3, 8}));
    for (const std::string text : {"0", "1,0", "1,,2", "x", "-1", "1.5", ""}) {
        const std::string said = refusal("top", text);
        EXPECT_NE(said.find("got top = '" + text + "', expected whole numbers, 1 or more, with commas between them"),
                  std::string::npos)
            << said;
    }
    EXPECT_NE(refusal("lengths", "8,2").find("expected whole numbers, 3 or more"), std::string::npos);
}

TEST(Settings, BlocksHeadsAndTokensAreCountedFromZero) {
    Settings settings;
    field("row").parse("0", settings);
    EXPECT_EQ(settings.row, 0U);
    EXPECT_EQ(field("row").text(settings), "0");
    field("seed").parse("0", settings);
    EXPECT_EQ(settings.seed, 0U);
    using Place = std::pair<std::size_t, std::size_t>;
    field("head").parse("0.0", settings);
    EXPECT_EQ(settings.head, Place(0, 0));
    field("head").parse("3.5", settings);
    EXPECT_EQ(settings.head, Place(3, 5)) << "block, head";
    EXPECT_EQ(field("head").text(settings), "3.5");
    EXPECT_NE(refusal("row", "-1"), "");
    for (const char* const text : {"3", "3.5.1", ".5", "3.", "a.b"}) {
        EXPECT_NE(refusal("head", text).find("the numbers of a block and of a head in it, both from 0"),
                  std::string::npos)
            << text;
    }
    EXPECT_EQ(refusal_of(settings), "");
    Settings head_alone = settings;
    head_alone.row.reset();
    EXPECT_NE(refusal_of(head_alone).find("got head without row, expected both"), std::string::npos);
    Settings row_alone = settings;
    row_alone.head.reset();
    EXPECT_NE(refusal_of(row_alone).find("got row without head, expected both"), std::string::npos);
}

TEST(Settings, HelpSaysWhichLengthsAreComparedWhereNoneAreAsked) {
    model::Architecture a;
    a.positions = 4096;
    EXPECT_EQ(lengths_for({}, a, 4096).lengths, Counts({32, 64, 128, 256, 512, 1024}));
    EXPECT_EQ(tokens_wanted({}, a), 1024U);
    EXPECT_NE(std::string(field("lengths").help).find("(default: 32,64,..,1024, up to the model's limit)"),
              std::string::npos);
    a.positions = 64;
    EXPECT_EQ(lengths_for({}, a, 4096).lengths, Counts({32, 64})) << "the limit is among them";
    EXPECT_EQ(tokens_wanted({}, a), 64U);
    a.positions = 31;
    EXPECT_EQ(lengths_for({}, a, 4096).lengths, Counts({31}));
}

TEST(Settings, LengthsThatAShortTextLeavesOutAreNamed) {
    model::Architecture a;
    a.positions = 4096;
    Settings settings;
    settings.lengths = {8, 30, 35};
    EXPECT_EQ(lengths_for(settings, a, 30).notes,
              std::vector<std::string>({"the text has 30 tokens: lengths 35 are left out"}));
    EXPECT_EQ(lengths_for(settings, a, 20).notes,
              std::vector<std::string>({"the text has 20 tokens: lengths 30, 35 are left out"}));
    EXPECT_TRUE(lengths_for(settings, a, 35).notes.empty());
}

TEST(Settings, TheLevelOfTheTestIsBetweenZeroAndOne) {
    Settings settings;
    for (const double wrong : {0.0, 1.0, -0.5, 1.5}) {
        settings.alpha = wrong;
        EXPECT_NE(refusal_of(settings).find("expected a level between 0 and 1"), std::string::npos) << wrong;
    }
    for (const double right : {1e-9, 0.5, 0.999}) {
        settings.alpha = right;
        EXPECT_EQ(refusal_of(settings), "") << right;
    }
}

}  // namespace
}  // namespace flyball::limits::settings_test
