// The one list of methods: what is said of each where users read it.
#include "dynamics/method.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/file.hpp"
#include "places.hpp"

namespace flyball::dynamics {
namespace {

TEST(Methods, HaveATableOrAClassOfTheirOwnAndOneNameEach) {
    std::set<std::string> names;
    std::set<Method> members;
    for (const MethodRow& row : method_rows()) {
        EXPECT_NE(row.table == nullptr, row.make == nullptr) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_TRUE(members.insert(row.method).second) << row.name;
        EXPECT_EQ(parse_method(row.name), row.method);
        EXPECT_STREQ(name(row.method), row.name);
        EXPECT_GT(row.copies, row.table == nullptr ? 5 : 3 + static_cast<double>(row.table().stages())) << row.name;
    }
    EXPECT_EQ(members.size(), static_cast<std::size_t>(Method::rk4) + 1) << "the last member; each has a row";
}

TEST(Methods, AreInTheHelpOfTheirSettings) {
    EXPECT_EQ(method_help(), "auto (erk), erk, bdf (stiff equations), euler or rk4");
    EXPECT_EQ(methods_with_equal_steps(), "euler and rk4");
    EXPECT_EQ(methods_with_chosen_steps(), "erk and bdf");
    std::size_t found = 0;
    for (const SettingField& field : setting_fields()) {
        const std::string key = field.key;
        const std::string help = field.help;
        found += key == "method" && help == method_help() ? 1 : 0;
        found += key == "dt" && help.find(methods_with_equal_steps()) != std::string::npos ? 1 : 0;
        found += key == "rtol" && help.find(methods_with_chosen_steps()) != std::string::npos ? 1 : 0;
        found += key == "atol" && help.find(methods_with_chosen_steps()) != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(found, 4U);
}

// docs/simulate.md: with attention in float an rtol below 1e-6 or an atol below 1e-8 is raised to that.
TEST(Tolerances, OfFloatAreNoSmallerThanItsRoundingAllows) {
    Control control;
    for (const auto& [asked, kept] : {std::pair{Tolerances{1e-10, 1e-12}, Tolerances{1e-6, 1e-8}},
                                      {Tolerances{1e-5, 1e-7}, Tolerances{1e-5, 1e-7}},
                                      {Tolerances{1e-7, 1e-7}, Tolerances{1e-6, 1e-7}},
                                      {Tolerances{1e-5, 1e-9}, Tolerances{1e-5, 1e-8}}}) {
        control.rtol = asked.rtol;
        control.atol = asked.atol;
        control.precision = Precision::f32;
        EXPECT_EQ(tolerances_of(control).rtol, kept.rtol);
        EXPECT_EQ(tolerances_of(control).atol, kept.atol);
        control.precision = Precision::f64;
        EXPECT_EQ(tolerances_of(control).rtol, asked.rtol);
        EXPECT_EQ(tolerances_of(control).atol, asked.atol);
    }
}

TEST(Methods, AreOnThePageOfSimulate) {
    const std::string page =
        read_text_file(std::filesystem::path(flyball::test::source_folder) / "docs/simulate.md", 1U << 20U);
    for (const MethodRow& row : method_rows()) {
        const std::string word = row.name;
        EXPECT_TRUE(row.method == Method::automatic || page.find("`" + word + "`") != std::string::npos ||
                    page.find("`--method " + word + "`") != std::string::npos)
            << word;
    }
}

}  // namespace
}  // namespace flyball::dynamics
