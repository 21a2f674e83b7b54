// When a run is looked at, and when it counts as collapsed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/file.hpp"
#include "dynamics/run.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::sample_times_test {
namespace {

Settings small() {
    Settings s;
    s.tokens = s.dim = 2;
    s.beta = 2.5;
    s.seed = 7;
    s.rtol = 1e-8;
    s.atol = 1e-10;
    return s;
}

std::vector<double> times_of(const Settings& s) {
    std::vector<double> times;
    for (const Sample& sample : run(s, scheme::find_scheme("post-ln").program).samples) {
        times.push_back(sample.t);
    }
    return times;
}

void expect_times(const Settings& s, const std::vector<double>& expected) {
    const std::vector<double> times = times_of(s);
    ASSERT_EQ(times.size(), expected.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_NEAR(times[i], expected[i], 1e-14 * expected.back()) << i;
    }
    EXPECT_EQ(times.back(), expected.back()) << "the end itself, to the last bit";
}

TEST(SampleTimes, AreEvenFromZeroToTheEnd) {
    Settings s = small();
    s.time = 3;
    s.samples = 5;
    expect_times(s, {0, 0.75, 1.5, 2.25, 3});
}

// Zero, then 10^-3 to 10^2 in four equal ratios of 10^(5/4).
TEST(SampleTimes, AreEvenInTheLogarithmAfterZero) {
    Settings s = small();
    s.time = 100;
    s.samples = 6;
    s.log_time = true;
    expect_times(s, {0, 1e-3, 0.017782794100389229, 0.31622776601683794, 5.6234132519034912, 100});
}

// Of 100 layers: 0, then the layers nearest to 100^(1/4), 100^(1/2), 100^(3/4), 100.
TEST(SampleTimes, OfLayersAreWholeLayers) {
    Settings s = small();
    s.layers = 100;
    s.dt = 0.5;
    s.samples = 5;
    expect_times(s, {0, 12.5, 25, 37.5, 50});
    s.log_time = true;
    expect_times(s, {0, 1.5, 5, 16, 50});
}

// The one list of fields: each name, and its place in the JSON, stands for the member of that name.
TEST(SampleFields, AreTheMembersOfTheirName) {
    const Sample s{.t = 1,
                   .cosine = 2,
                   .cosine_lo = 3,
                   .cosine_hi = 4,
                   .one_minus_cosine = 5,
                   .radius = 6,
                   .radius_min = 7,
                   .radius_max = 8,
                   .variance = 9,
                   .energy = 10,
                   .speed = 11,
                   .clusters = 12,
                   .pair_fraction = 14,
                   .effective_rank = 13};
    const std::map<std::string, std::pair<std::string, double>> expected = {
        {"t", {"t", 1}},
        {"cosine", {"cosine.mean", 2}},
        {"cosine_lo", {"cosine.lo", 3}},
        {"cosine_hi", {"cosine.hi", 4}},
        {"one_minus_cosine", {"one_minus_cosine", 5}},
        {"radius", {"radius.mean", 6}},
        {"radius_min", {"radius.min", 7}},
        {"radius_max", {"radius.max", 8}},
        {"variance", {"variance", 9}},
        {"energy", {"energy", 10}},
        {"speed", {"speed", 11}},
        {"clusters", {"clusters", 12}},
        {"pair_fraction", {"pair_fraction", 14}},
        {"effective_rank", {"effective_rank", 13}},
        {"log_one_minus_cosine", {"", 1.6094379124341003}},  // log 5
    };
    EXPECT_EQ(sample_fields().size(), expected.size()) << "a field without its line here";
    for (const SampleField& field : sample_fields()) {
        ASSERT_TRUE(expected.contains(field.name)) << field.name;
        EXPECT_EQ(field.json == nullptr ? "" : field.json, expected.at(field.name).first);
        EXPECT_DOUBLE_EQ(field(s), expected.at(field.name).second) << field.name;
    }
    Sample other = s;
    other.t = 2;
    other.clusters = 1;
    EXPECT_EQ(unpack(pack({s, other})), (std::vector<Sample>{s, other}));
}

// "radius.min" has a row `radius` in docs/simulate.md, which speaks of its min.
TEST(SampleFields, AreDefinedInTheManual) {
    const std::string manual = read_text_file(std::string(flyball::test::source_folder) + "/docs/simulate.md", 1 << 20);
    for (const SampleField& field : sample_fields()) {
        const std::string name = field.json == nullptr ? field.name : field.json;
        const std::size_t dot = std::min(name.find('.'), name.size());
        const std::size_t row = manual.find("\n| " + name.substr(0, dot) + " |");
        if (name == "t") {
            continue;
        }
        ASSERT_NE(row, std::string::npos) << name << " has no row in docs/simulate.md";
        const std::string line = manual.substr(row + 1, manual.find('\n', row + 1) - row - 1);
        EXPECT_TRUE(dot == name.size() || line.find(name.substr(dot + 1)) != std::string::npos)
            << name << " is not spoken of in: " << line;
    }
}

TEST(CollapseTime, IsTheFirstSampleWithAMeanCosineAbove999) {
    Settings s = small();
    s.tokens = 6;
    s.dim = 3;
    s.time = 20;
    s.samples = 41;
    const Record record = run(s, scheme::find_scheme("post-ln").program);
    const auto first = std::find_if(record.samples.begin(), record.samples.end(),
                                    [](const Sample& sample) { return sample.cosine > 0.999; });
    ASSERT_NE(first, record.samples.end());
    ASSERT_NE(first, record.samples.end() - 1) << "nothing was tested";
    ASSERT_TRUE(record.collapse_time.has_value());
    EXPECT_EQ(*record.collapse_time, first->t);
    s.time = 0.5;
    EXPECT_FALSE(run(s, scheme::find_scheme("post-ln").program).collapse_time.has_value());
}

}  // namespace
}  // namespace flyball::dynamics::sample_times_test
