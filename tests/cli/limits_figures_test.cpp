// What `flyball limits` draws and prints, against limits.json, which holds the same numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

using Numbers = std::vector<double>;

// One analysis for all tests: two kinds of attention, two lengths.
class LimitsFigures : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = std::filesystem::temp_directory_path() / ("flyball-limits-figures-" + std::to_string(getpid()));
        std::filesystem::remove_all(folder_);
        const Outcome outcome = run_program("limits builtin:peri-ln --lengths 32,64 --top 1,5,20 --attention " +
                                            std::string("softmax,sparsemax --out '") + folder_.string() + "'");
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        printed_ = outcome.out;
        json_ = parse_json(read_text_file(folder_ / "limits.json", 1U << 28U), "limits.json");
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

    // Rows of a table that begin with `name`, as numbers by column; fields in quotes may hold commas.
    static std::vector<Numbers> rows(const std::string& file, const std::string& name) {
        std::istringstream text(read_text_file(folder_ / (file + ".csv"), 1U << 26U));
        std::vector<Numbers> found;
        for (std::string line; std::getline(text, line);) {
            const std::string start =
                line.front() == '"' ? line.substr(1, line.find('"', 1) - 1) : line.substr(0, line.find(','));
            if (start != name) {
                continue;
            }
            std::istringstream fields(line.substr(start.size() + (line.front() == '"' ? 3 : 1)));
            found.emplace_back();
            for (std::string field; std::getline(fields, field, ',');) {
                found.back().push_back(parse_double(field).value_or(std::nan("")));
            }
        }
        return found;
    }
    static Numbers column(const std::string& file, const std::string& name, std::size_t index) {
        Numbers values;
        for (const Numbers& row : rows(file, name)) {
            values.push_back(row.at(index));
        }
        return values;
    }
    static void expect_series(const std::string& file, const std::string& name, const Numbers& x, const Numbers& y) {
        expect_numbers(column(file, name, 0), x, file + " " + name);
        expect_numbers(column(file, name, 1), y, file + " " + name);
    }
    static void expect_numbers(const Numbers& found, const Numbers& expected, const std::string& what) {
        ASSERT_EQ(found.size(), expected.size()) << what;
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_NEAR(found[i], expected[i], 1e-12 * (1 + std::fabs(expected[i]))) << what << " at " << i;
        }
    }
    static Numbers all(const Json& list, const char* key) {
        Numbers values;
        for (const Json& one : list) {
            values.push_back(one.at(key).get<double>());
        }
        return values;
    }

    inline static std::filesystem::path folder_;
    inline static std::string printed_;
    inline static Json json_;
};

// The k-th smallest of 72 at 0.1 * 71 = 7.1 and 0.9 * 71 = 63.9, between neighbours.
double between(Numbers values, double place) {
    std::sort(values.begin(), values.end());
    const auto below = static_cast<std::size_t>(place);
    return values[below] + (place - std::floor(place)) * (values[below + 1] - values[below]);
}

TEST_F(LimitsFigures, DistancesAreThoseOfTheDocument) {
    ASSERT_EQ(json_.at("heads").size(), 72U);
    const std::map<std::string, std::pair<const char*, const char*>> figures = {
        {"distance-length-softmax", {"distance_by_length", "length"}}, {"distance-n-softmax", {"distance_by_n", "n"}}};
    for (const auto& [file, keys] : figures) {
        const Json& list = json_.at(keys.first);
        const Numbers x = all(list, keys.second);
        expect_series(file, "measured", x, all(list, "true"));
        expect_series(file, "expected", x, all(list, "expected"));
        expect_series(file, "expected, RMS", x, all(list, "expected_rms"));
        expect_series(file, "bound", x, all(list, "bound"));
        for (std::size_t i = 0; i < x.size(); ++i) {
            Numbers heads;
            for (const Json& head : json_.at("heads")) {
                heads.push_back(head.at(keys.first)[i].at("true").get<double>());
            }
            const Numbers row = rows(file, "measured")[i];
            EXPECT_NEAR(row.at(2), between(heads, 7.1), 1e-9) << file;
            EXPECT_NEAR(row.at(3), between(heads, 63.9), 1e-9) << file;
        }
    }
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string length = i == 0 ? "L = 32" : "L = 64";
        Numbers boxes;
        for (const Json& head : json_.at("heads")) {
            boxes.push_back(head.at("distance_by_length")[i].at("true").get<double>());
        }
        boxes.push_back(json_.at("distance_by_length")[i].at("expected").get<double>());
        boxes.push_back(json_.at("distance_by_length")[i].at("bound").get<double>());
        expect_numbers(column("distance-heads-softmax", length, 1), boxes, length);
    }
    const Json& other = json_.at("alternatives")[0];
    expect_series("share-length", "softmax", {32, 64}, all(json_.at("distance_by_length"), "share"));
    expect_series("share-length", "sparsemax", {32, 64}, all(other.at("distance_by_length"), "share"));
    for (const auto& [kind, document] :
         std::map<std::string, const Json*>{{"softmax", &json_}, {"sparsemax", &other}}) {
        for (std::size_t i = 0; i < 2; ++i) {
            Numbers shares;
            for (const Json& head : document->at("heads")) {
                shares.push_back(head.at("distance_by_length")[i].at("share").get<double>());
            }
            EXPECT_NEAR(rows("share-length", kind)[i].at(2), between(shares, 7.1), 1e-9) << kind << i;
            EXPECT_NEAR(rows("share-length", kind)[i].at(3), between(shares, 63.9), 1e-9) << kind << i;
        }
    }
}

TEST_F(LimitsFigures, CriticalNAndItsCurvesAreThoseOfTheDocument) {
    expect_series("critical-n-softmax", "by a test", {32, 64}, all(json_.at("critical_n"), "n"));
    expect_series("critical-n-softmax", "difference below 0.192", {32, 64},
                  all(json_.at("critical_n_fixed").at("lengths"), "n"));
    expect_series("critical-n-softmax", "0.06 L (paper)", {32, 64}, {1.92, 3.84});
    for (const Json& curve : json_.at("ks")) {
        Numbers n;
        for (std::size_t i = 0; i < curve.at("d").size(); ++i) {
            n.push_back(static_cast<double>(i + 1));
        }
        expect_series("ks-curves-softmax", fmt::format("L = {}", curve.at("length").get<int>()), n,
                      curve.at("d").get<Numbers>());
    }
    expect_series("ks-curves-softmax", "D = 0.192", {1, 64}, {0.192, 0.192});
}

TEST_F(LimitsFigures, SeparationHasAValueOfEveryHeadAndItsBounds) {
    for (std::size_t k = 0; k < json_.at("separation").size(); ++k) {
        const Json& mean = json_.at("separation")[k];
        const std::string group = fmt::format("N = {}", mean.at("n").get<int>());
        if (mean.at("ratio").is_null()) {
            EXPECT_GE(mean.at("n").get<int>(), 64) << "rows of 64 keys have less than 64 to choose from";
            EXPECT_TRUE(rows("separation-softmax", group).empty()) << group;
            continue;
        }
        Numbers expected;
        for (const Json& head : json_.at("heads")) {
            expected.push_back(head.at("separation")[k].at("ratio").get<double>());
        }
        expected.push_back(mean.at("upper").get<double>());
        expected.push_back(mean.at("upper_exact").get<double>());
        if (mean.at("lower").get<double>() >= 0) {
            expected.push_back(mean.at("lower").get<double>());
        }
        expected.push_back(mean.at("lower_exact").get<double>());
        Numbers found;
        for (const Numbers& row : rows("separation-softmax", group)) {
            found.push_back(row.back());  // names of marks have commas
        }
        expect_numbers(found, expected, group);
    }
}

TEST_F(LimitsFigures, SensitivityHasALineForEachStepAndTheBounds) {
    std::map<std::string, std::pair<Numbers, Numbers>> steps;
    Numbers temperatures;
    Numbers exact;
    Numbers right;
    Numbers printed;
    for (const Json& one : json_.at("sensitivity")) {
        const auto T = one.at("temperature").get<double>();
        auto& [x, y] = steps[fmt::format("ε = {}", one.at("eps").get<double>())];
        x.push_back(T);
        y.push_back(one.at("max").get<double>());
        if (one.at("eps") == 0.1) {
            temperatures.push_back(T);
            exact.push_back(one.at("spectral_largest").get<double>());
            right.push_back(0.5 / T);
            printed.push_back(std::min(0.25 / T, std::sqrt(2.0)));
        }
    }
    EXPECT_EQ(steps.size(), 3U);
    for (const auto& [name, points] : steps) {
        expect_series("sensitivity-softmax", name, points.first, points.second);
    }
    expect_series("sensitivity-softmax", "|J|, largest row", temperatures, exact);
    expect_series("sensitivity-softmax", "1/(2T)", temperatures, right);
    expect_series("sensitivity-softmax", "min(1/(4T), sqrt 2)", temperatures, printed);
    EXPECT_EQ(rows("sensitivity-sparsemax", "1/(2T)").size(), 0U) << "a bound of softmax alone";
}

TEST_F(LimitsFigures, MapsAndBoxesShowWhatTheHeadsHave) {
    const std::map<std::string, const char*> fields = {{"active", "active_share"},
                                                       {"entropy", "entropy_share"},
                                                       {"peak", "peak"},
                                                       {"sink", "sink"},
                                                       {"separation", "separation_ratio"}};
    const std::map<std::string, const char*> words = {{"active", "active keys"},
                                                      {"entropy", "evenness (entropy)"},
                                                      {"peak", "largest weight"},
                                                      {"sink", "weight on one key"},
                                                      {"separation", "keys told apart"}};
    for (const auto& [name, field] : fields) {
        const Numbers expected = all(json_.at("heads"), field);
        expect_numbers(column("measures-softmax", words.at(name), 1), expected, name);
        for (std::size_t i = 0; i < expected.size(); ++i) {  // x: head, y: block
            const std::vector<Numbers> of_head = rows("map-" + name + "-softmax", std::to_string(i % 6));
            ASSERT_EQ(of_head.size(), 12U);
            EXPECT_EQ(of_head[i / 6].at(0), static_cast<double>(i / 6)) << name;
            EXPECT_NEAR(of_head[i / 6].at(1), expected[i], 1e-12) << name << " of head " << i;
        }
    }
    Numbers speeds;  // |J| over the 1/(2T) that it can reach
    for (const Json& head : json_.at("heads")) {
        speeds.push_back(head.at("spectral").get<double>() * 2 * head.at("temperature").get<double>());
    }
    expect_numbers(column("measures-softmax", "speed of the weights", 1), speeds, "sensitivity");
}

TEST_F(LimitsFigures, TheTablePutsKindsOfAttentionSideBySide) {
    for (const Json* const kind : {&json_, &json_.at("alternatives")[0]}) {
        const std::string name = kind->at("attention").get<std::string>();
        double active = 0;
        double entropy = 0;
        for (const Json& head : kind->at("heads")) {
            active += head.at("active_share").get<double>() / 72;
            entropy += head.at("entropy_share").get<double>() / 72;
        }
        double separated = std::nan("");
        for (const Json& row : kind->at("separation")) {
            separated = row.at("n") == 20 ? row.at("ratio").get<double>() : separated;
        }
        const Json& critical = kind->at("critical_n_fixed").at("lengths")[1].at("n");
        const std::vector<std::string> expected = {
            fmt::format("{:.3g}", kind->at("distance_by_length")[0].at("share").get<double>()),
            fmt::format("{:.3g}", kind->at("distance_by_length")[1].at("share").get<double>()),
            fmt::format("{:.3g}", active),
            fmt::format("{:.3g}", entropy),
            fmt::format("{:.3g}", separated),
            critical.is_null() ? "none" : std::to_string(critical.get<int>())};
        std::istringstream text(printed_);
        std::vector<std::string> found;
        for (std::string line; std::getline(text, line);) {
            std::istringstream words(line);
            std::string word;
            words >> word;
            if (word == name && found.empty()) {
                while (words >> word) {
                    found.push_back(word);
                }
            }
        }
        EXPECT_EQ(found, expected) << printed_;
    }
    EXPECT_NE(printed_.find("top5@32  top5@64"), std::string::npos) << printed_;
}

}  // namespace
}  // namespace flyball::cli::test
