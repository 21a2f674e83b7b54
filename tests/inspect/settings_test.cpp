#include "inspect/settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "inspect/reports.hpp"
#include "setting_fields.hpp"

namespace flyball::inspect::test {
namespace {

using flyball::test::field_named;

std::optional<std::string> shown(const Settings& settings, const std::string& key) {
    return field_named(setting_fields(), key).text(settings);
}

void read(Settings& settings, const std::string& key, const std::string& text) {
    field_named(setting_fields(), key).parse(text, settings);
}

std::string refusal(const std::string& key, const std::string& text) {
    Settings settings;
    try {
        read(settings, key, text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "";
}

TEST(InspectSettings, AreTheseFive) {
    std::vector<std::string> keys;
    for (const SettingField& field : setting_fields()) {
        keys.emplace_back(field.key);
        EXPECT_EQ(field.is_switch(), keys.size() > 2) << field.key;
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"length", "sequences", "drop", "lens", "no-gradient"}));
}

TEST(InspectSettings, AreReadIntoTheirOwnMember) {
    Settings settings;
    EXPECT_FALSE(settings.length || settings.sequences || settings.drop || settings.lens);
    EXPECT_TRUE(settings.gradient);
    read(settings, "length", "128");
    EXPECT_EQ(settings.length, 128U);
    EXPECT_FALSE(settings.sequences);
    read(settings, "sequences", "1");
    EXPECT_EQ(settings.sequences, 1U);
    read(settings, "drop", "true");
    EXPECT_TRUE(settings.drop);
    EXPECT_FALSE(settings.lens);
    read(settings, "lens", "true");
    EXPECT_TRUE(settings.lens);
    EXPECT_TRUE(settings.gradient);
    read(settings, "no-gradient", "true");
    EXPECT_FALSE(settings.gradient);
    read(settings, "no-gradient", "false");
    EXPECT_TRUE(settings.gradient);
}

TEST(InspectSettings, AreShownAsTheyAreTyped) {
    Settings settings;
    EXPECT_EQ(shown(settings, "length"), std::nullopt);
    EXPECT_EQ(shown(settings, "sequences"), std::nullopt);
    EXPECT_EQ(shown(settings, "drop"), "false");
    EXPECT_EQ(shown(settings, "lens"), "false");
    EXPECT_EQ(shown(settings, "no-gradient"), "false");
    const Settings other{64, 3, true, true, false};
    EXPECT_EQ(shown(other, "length"), "64");
    EXPECT_EQ(shown(other, "sequences"), "3");
    EXPECT_EQ(shown(other, "drop"), "true");
    EXPECT_EQ(shown(other, "lens"), "true");
    EXPECT_EQ(shown(other, "no-gradient"), "true");
    Settings half;
    half.drop = true;  // and no lens
    EXPECT_EQ(shown(half, "drop"), "true");
    EXPECT_EQ(shown(half, "lens"), "false");
}

TEST(InspectSettings, RefuseWhatIsNoWindow) {
    EXPECT_NE(refusal("length", "1").find("2 or more"), std::string::npos) << refusal("length", "1");
    EXPECT_NE(refusal("length", "-5").find("length = '-5'"), std::string::npos) << refusal("length", "-5");
    EXPECT_NE(refusal("sequences", "0").find("1 or more"), std::string::npos) << refusal("sequences", "0");
    EXPECT_NE(refusal("sequences", "many"), "");
    EXPECT_NE(refusal("drop", "perhaps"), "");
    EXPECT_EQ(refusal("length", "2"), "");
}

TEST(InspectWindows, MakeAThousandTokensWithoutAWord) {
    model::Architecture a = model::test::tiny_architecture("");
    const auto windows = [&](std::size_t positions, Settings settings = {}) {
        a.positions = positions;
        const Windows found = windows_for(settings, a);
        return std::pair(found.length, found.most);
    };
    using Pair = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(windows(2048), Pair(256, 4));
    EXPECT_EQ(windows(256), Pair(256, 4));
    EXPECT_EQ(windows(100), Pair(100, 10));
    EXPECT_EQ(windows(2048, {1024}), Pair(1024, 1));
    EXPECT_EQ(windows(2048, {2000}), Pair(2000, 1));
    EXPECT_EQ(windows(2048, {512}), Pair(512, 2));
    EXPECT_EQ(windows(2048, {512, 7}), Pair(512, 7));
    EXPECT_EQ(windows(2048, {std::nullopt, 3}), Pair(256, 3));
    EXPECT_EQ(windows(512, {512}), Pair(512, 2));
    try {
        windows(512, {513});
        FAIL() << "a window longer than the model's positions";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_NE(std::string(error.what()).find("from 1 to 512"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace flyball::inspect::test
