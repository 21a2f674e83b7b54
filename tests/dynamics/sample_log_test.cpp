// The copy of samples for whoever watches a run: a head, a line a sample, those from before an interruption too.
#include "dynamics/sample_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "core/file.hpp"
#include "core/json.hpp"

namespace flyball::dynamics {
namespace {

std::vector<Json> lines_of(const std::filesystem::path& path) {
    std::vector<Json> lines;
    std::istringstream text(read_text_file(path, 1U << 20U));
    for (std::string line; std::getline(text, line);) {
        lines.push_back(parse_json(line, "line"));
    }
    return lines;
}

Sample sample_at(double t, double cosine) {
    Sample sample;
    sample.t = t;
    sample.cosine = cosine;
    return sample;
}

TEST(SampleLog, HasTheSamplesOfBeforeAndThoseThatCome) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("flyball-sample-log-" + std::to_string(getpid()));
    write_file_atomically(path, "what a killed run had left, and the beginning of a li");
    {
        SampleLog log(path, "post-ln", "norm(x + dt*f(x))", {sample_at(0, 0.25), sample_at(1, 0.5)});
        log.add(sample_at(2, 0.75));
        log.end("done");
    }
    const std::vector<Json> lines = lines_of(path);
    std::filesystem::remove(path);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0].at("scheme"), "post-ln");
    EXPECT_EQ(lines[0].at("equation"), "norm(x + dt*f(x))");
    const auto columns = lines[0].at("columns").get<std::vector<std::string>>();
    ASSERT_EQ(columns.at(0), "t");
    ASSERT_EQ(columns.at(1), "cosine.mean");
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(lines[1 + k].size(), columns.size());
        EXPECT_EQ(lines[1 + k].at(0), static_cast<double>(k));
        EXPECT_EQ(lines[1 + k].at(1), 0.25 * static_cast<double>(k + 1));
    }
    EXPECT_EQ(lines[4].at("outcome"), "done");
}

// A full disk, or a place that cannot be written to, ends the copy and not the run.
TEST(SampleLog, ThatCannotBeWrittenIsNoError) {
    SampleLog log("/no/such/folder/samples-1.jsonl", "post-ln", "norm(x)", {});
    EXPECT_NO_THROW(log.add(sample_at(0, 1)));
    EXPECT_NO_THROW(log.end("done"));
}

}  // namespace
}  // namespace flyball::dynamics
