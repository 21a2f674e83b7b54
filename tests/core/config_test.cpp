#include "core/config.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace flyball {
namespace {

using test::TemporaryFolder;
using Values = std::vector<std::string>;

TEST(Config, TomlBecomesFlatOptionsInFileOrder) {
    const auto entries = parse_toml_config(
        "# a run\n"
        "seed = 7\n"
        "beta = [1, 0.5, 1e-4]\n"
        "scheme = [\"peri-ln\", \"mix-ln:tau=0.3\"]\n"
        "[simulate]\n"
        "tokens = 64\n"
        "tied = true\n"
        "log-time = false\n"
        "empty = []\n"
        "[theory]\n"
        "time = 1e5\n",
        "run.toml");
    const std::vector<ConfigEntry> expected = {{"seed", {"7"}, ""},
                                               {"beta", {"1", "0.5", "1e-4"}, ""},
                                               {"scheme", {"peri-ln", "mix-ln:tau=0.3"}, ""},
                                               {"simulate.tokens", {"64"}, ""},
                                               {"simulate.tied", {"true"}, ""},
                                               {"simulate.log-time", {"false"}, ""},
                                               {"simulate.empty", {}, ""},
                                               {"theory.time", {"100000"}, ""}};
    EXPECT_EQ(entries, expected);
    ASSERT_EQ(entries.size(), 8U);
    EXPECT_EQ(entries[0].location, "run.toml:2");
    EXPECT_EQ(entries[3].location, "run.toml:6");
}

// Options of one line too; the library has them by name.
TEST(Config, TomlOptionsOfOneLineStayInItsOrder) {
    const std::vector<ConfigEntry> expected = {{"simulate.tokens", {"64"}, ""},
                                               {"simulate.beta", {"2"}, ""},
                                               {"simulate.seed", {"7"}, ""},
                                               {"dim", {"8"}, ""}};
    EXPECT_EQ(parse_toml_config("simulate = {tokens = 64, beta = 2, seed = 7}\ndim = 8\n", "run.toml"), expected);
}

// A flag of this value is refused too; 0 is another number.
TEST(Config, ANumberTooSmallForADoubleIsRefusedAndNotZero) {
    EXPECT_ERROR(parse_json_config("{\"beta\": 1e-400}", "run.json"),
                 "a number too small for double precision in 'run.json', line 1 column");
    EXPECT_ERROR(parse_toml_config("a = 0.0e5\nb = [\"é\", 1, -1_0.5e-400] # 3\n", "run.toml"),
                 "a number too small for double precision in 'run.toml:2'");
    EXPECT_EQ(parse_toml_config("a = 0.0e5\nb = [1e-300, -0.0, 0e-400] # 3\n", "run.toml")[1].values,
              (Values{"1e-300", "-0", "0"}));
    EXPECT_EQ(parse_json_config("{\"a\": [0.0, 0e-9, 5e-324]}", "run.json")[0].values, (Values{"0", "0", "5e-324"}));
}

TEST(Config, JsonGivesTheSameAsToml) {
    const auto entries = parse_json_config(
        "{\n"
        "  \"seed\": 7,\n"
        "  \"beta\": [1, 0.5, 1e-4, -3],\n"
        "  \"simulate\": {\n"
        "    \"tokens\": 64, \"tied\": true,\n"
        "    \"empty\": []\n"
        "  },\n"
        "  \"out\": \"a b\"\n"
        "}\n",
        "run.json");
    const std::vector<ConfigEntry> expected = {{"seed", {"7"}, ""},
                                               {"beta", {"1", "0.5", "1e-4", "-3"}, ""},
                                               {"simulate.tokens", {"64"}, ""},
                                               {"simulate.tied", {"true"}, ""},
                                               {"simulate.empty", {}, ""},
                                               {"out", {"a b"}, ""}};
    EXPECT_EQ(entries, expected);
    ASSERT_EQ(entries.size(), 6U);
    EXPECT_EQ(entries[0].location, "run.json:2");
    EXPECT_EQ(entries[3].location, "run.json:5");
    EXPECT_EQ(entries[5].location, "run.json:8");
}

TEST(Config, EntriesDifferByKeyOrValueOnly) {
    EXPECT_EQ((ConfigEntry{"a", {"1"}, "x:1"}), (ConfigEntry{"a", {"1"}, "y:2"}));
    EXPECT_NE((ConfigEntry{"a", {"1"}, ""}), (ConfigEntry{"a", {"2"}, ""}));
    EXPECT_NE((ConfigEntry{"a", {"1"}, ""}), (ConfigEntry{"b", {"1"}, ""}));
}

TEST(Config, TomlErrorsNameFileAndLine) {
    EXPECT_ERROR(parse_toml_config("a = 1\nb = \n", "run.toml"), "'run.toml:2', expected TOML text");
    EXPECT_ERROR(parse_toml_config("a = 1\na = 2\n", "run.toml"), "run.toml:2");
    EXPECT_ERROR(parse_toml_config("a = 1\nd = 2024-01-02\n", "run.toml"), "a date in 'run.toml:2'");
    EXPECT_ERROR(parse_toml_config("d = 10:00:00\n", "run.toml"), "a date in");
    EXPECT_ERROR(parse_toml_config("\n[a.b]\nc = 1\n", "run.toml"), "a nested table 'b' in 'run.toml:2'");
    EXPECT_ERROR(parse_toml_config("a.b.c = 1\n", "run.toml"), "a nested table 'b'");
    EXPECT_ERROR(parse_toml_config("a = [[1]]\n", "run.toml"), "a nested array in 'run.toml:1'");
    EXPECT_ERROR(parse_toml_config("[[a]]\nb = 1\n", "run.toml"), "a table in an array");
    EXPECT_ERROR(parse_toml_config("\"a.b\" = 1\n", "run.toml"), "the key 'a.b' in 'run.toml:1'");
    EXPECT_ERROR(parse_toml_config("\"\" = 1\n", "run.toml"), "the key ''");
    EXPECT_ERROR(parse_toml_config("a = \"\xff\"\n", "run.toml"), "run.toml:1");
}

TEST(Config, JsonErrorsNameTheLine) {
    EXPECT_ERROR(parse_json_config("{\n\"a\": null}", "run.json"), "null in 'run.json', line 2");
    EXPECT_ERROR(parse_json_config("{\"a\": {\"b\":\n {}}}", "run.json"), "a nested object in 'run.json', line 2");
    EXPECT_ERROR(parse_json_config("{\"a\": [{}]}", "run.json"), "a nested object");
    EXPECT_ERROR(parse_json_config("{\"a\": [[]]}", "run.json"), "a nested array");
    EXPECT_ERROR(parse_json_config("[1]", "run.json"), "an array in 'run.json', line 1 column 1");
    EXPECT_ERROR(parse_json_config("3", "run.json"), "expected an object of options");
    EXPECT_ERROR(parse_json_config("{\"a\": 1,\n\"a\": 2}", "run.json"), "'a' twice");
    EXPECT_ERROR(parse_json_config("{\n\"a b\": 1}", "run.json"), "the key 'a b' in 'run.json:2'");
}

TEST(Config, DeepNestingDoesNotOverflowTheStack) {
    std::string dotted;
    for (int i = 0; i < 250'000; ++i) {
        dotted += "a.";
    }
    EXPECT_ERROR(parse_toml_config("x = 1\n" + dotted + "a = 1\n", "run.toml"), "deep nesting in 'run.toml:2'");
    EXPECT_ERROR(parse_toml_config("[" + dotted + "a]\n", "run.toml"), "deep nesting");
    EXPECT_ERROR(parse_toml_config("x = {" + dotted + "a = 1}\n", "run.toml"), "deep nesting");
    // Four quotes close a string whose last character is a quote; what follows is not part of it.
    EXPECT_ERROR(parse_toml_config("x = {b = \"\"\"c\"\"\"\", " + dotted + "a = 1}\n", "run.toml"), "deep nesting");
    EXPECT_ERROR(parse_toml_config("x = " + std::string(500'000, '['), "run.toml"), "deep nesting");
    EXPECT_ERROR(parse_json_config(std::string(500'000, '['), "run.json"), "an array");
    std::string objects;
    for (int i = 0; i < 100'000; ++i) {
        objects += "{\"a\":";
    }
    EXPECT_ERROR(parse_json_config(objects, "run.json"), "a nested object");
}

TEST(Config, DotsAndBracketsInTextAreNotNesting) {
    const std::string dots(100, '.');
    const std::string brackets(100, '[');
    const auto entries =
        parse_toml_config("a = \"" + dots + "\"\nb = '" + brackets + "'\n# " + dots + "\nc = \"\"\"\n" + dots +
                              "\n\\\"\"\" " + brackets + "\"\"\"\nd = '''\n" + dots + "'''\n",
                          "run.toml");
    ASSERT_EQ(entries.size(), 4U);
    EXPECT_EQ(entries[0].values, Values{dots});
    EXPECT_EQ(entries[1].values, Values{brackets});
    EXPECT_EQ(entries[2].values, Values{dots + "\n\"\"\" " + brackets});
    EXPECT_EQ(entries[3].values, Values{dots});
}

TEST(Config, FilesAreReadByExtension) {
    const TemporaryFolder folder;
    const std::vector<ConfigEntry> expected = {{"tokens", {"8"}, ""}};
    EXPECT_EQ(load_config(folder.put("a.toml", "tokens = 8\n")), expected);
    EXPECT_EQ(load_config(folder.put("a.json", "{\"tokens\": 8}")), expected);
    EXPECT_TRUE(load_config(folder.put("b.toml", "")).empty());
    EXPECT_ERROR(load_config(folder.put("a.yaml", "tokens: 8\n")), "expected a name ending in .toml or .json");
    EXPECT_ERROR(load_config(folder.path() / "missing.toml"), "No such file");
    EXPECT_ERROR(load_config(folder.put("c.toml", std::string((1U << 20) + 1, '\n'))), "more than 1048576 bytes");
}

TEST(Config, WrittenTomlReadsBackEqual) {
    const std::vector<ConfigEntry> entries = {
        {"seed", {"7"}, ""},
        {"beta", {"1", "0.5", "1e-4", "-2.5e100", "-0", "inf", "nan"}, ""},
        {"text", {"a \"quoted\" \\ text\nwith\ttabs \x7f and é", "", "true ", "007", "+1", ".5", "1e5", "0x10"}, ""},
        {"flag", {"true"}, ""},
        {"none", {}, ""},
        {"large", {"18446744073709551615", "123456789012345680000", "9223372036854775807", "-9223372036854775808"}, ""},
        {"date", {"2024-01-02", "10:00:00"}, ""},
        {"simulate.equation", {"x + dt*norm(f(norm(x))) | norm(x)"}, ""},
        {"simulate.tokens", {"64"}, ""},
        {"theory.beta", {"1", "2"}, ""}};
    const std::string text = to_toml(entries);
    EXPECT_EQ(parse_toml_config(text, "x.toml"), entries) << text;
    EXPECT_NE(text.find("tabs \\u007F and é"), std::string::npos) << "TOML forbids a bare delete character: " << text;
}

TEST(Config, TablesAreWrittenTogetherAfterTheRest) {
    EXPECT_EQ(
        to_toml({{"theory.a", {"1"}, ""}, {"b", {"x"}, ""}, {"simulate.c", {"2", "3"}, ""}, {"theory.d", {}, ""}}),
        "b = \"x\"\n\n[theory]\na = 1\nd = []\n\n[simulate]\nc = [2, 3]\n");
}

TEST(Config, RefusesToWriteWhatCannotBeRead) {
    EXPECT_ERROR(to_toml({{"a", {"1"}, ""}, {"a", {"2"}, ""}}), "the key 'a' twice");
    EXPECT_ERROR(to_toml({{"a.b.c", {"1"}, ""}}), "the key 'b.c'");
    EXPECT_ERROR(to_toml({{"", {"1"}, ""}}), "the key ''");
    EXPECT_ERROR(to_toml({{"a b", {"1"}, ""}}), "the key 'a b'");
}

}  // namespace
}  // namespace flyball
