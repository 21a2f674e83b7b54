// `flyball report`, and the page that every command with --out leaves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/csv.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "program.hpp"
#include "record/folder.hpp"

namespace flyball::cli::test::report_test {
namespace {

class Place {
  public:
    Place() {
        static int number = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("flyball-report-" + std::to_string(getpid()) + "-" + std::to_string(++number));
        std::filesystem::create_directories(path_);
    }
    ~Place() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

// The document in a page.
Json document_in(const std::string& file) {
    const std::string page = read_text_file(file, 4 << 20);
    const std::string opening = "id=\"data\">";
    const std::size_t begin = page.find(opening) + opening.size();
    return parse_json(page.substr(begin, page.find("</script>", begin) - begin), "page");
}

const std::string small = "simulate pre-ln 'ngpt:alpha=0.5' --tokens 6 --dim 3 --time 2 --samples 5 --out ";

TEST(Report, NumbersOfThePageAreThoseOfTheTable) {
    const Place place;
    const Outcome run = run_program(small + place / "run");
    ASSERT_EQ(run.exit, 0) << run.err;
    EXPECT_NE(run.out.find("open " + place / "run/report.html"), std::string::npos) << run.out;
    const Json folder = document_in(place / "run/report.html").at("folders").at(0);
    EXPECT_EQ(folder["unreadable"], Json::array());
    const auto rows = parse_csv(read_text_file(place / "run/samples.csv", 1 << 20), "samples.csv");
    const auto column = [&](const std::string& name, const std::string& scheme) {
        const auto at = static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
        Json list = Json::array();
        for (std::size_t i = 1; i < rows.size(); ++i) {
            if (rows[i][0] == scheme) {
                list.push_back(*parse_double(rows[i][at]));
            }
        }
        return list;
    };
    const Json& parts = folder["parts"];
    const auto curves =
        std::find_if(parts.begin(), parts.end(), [](const Json& part) { return part["kind"] == "curves"; });
    ASSERT_NE(curves, parts.end());
    for (const Json& series : (*curves)["series"]) {
        const std::string name = series["name"];
        EXPECT_EQ(series["x"], column("t", name));
        EXPECT_EQ(series["y"]["cosine.mean"], column("cosine", name));
        EXPECT_EQ(series["y"]["radius.mean"], column("radius", name));
        EXPECT_EQ(series["y"]["speed"], column("speed", name));
        EXPECT_EQ(series["y"]["energy"], column("energy", name));
    }
    EXPECT_EQ((*curves)["series"][1]["name"], "ngpt:alpha=0.5");
    EXPECT_EQ(parts[0]["kind"], "spheres");
    EXPECT_EQ(parts[0]["runs"][0]["times"].size(), 5U);
}

// A folder may come from somebody else, and a name may be mistyped.
TEST(Report, APageReplacesNothingButAPage) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    const std::string results = read_text_file(place / "run/result.json", 1 << 20);
    const auto expect_refused = [&](const std::string& command, const std::string& says) {
        const Outcome outcome = run_program(command);
        EXPECT_EQ(outcome.exit, 2) << command;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    };
    expect_refused("report " + place / "run" + " -o " + place / "run/result.json", "which is no page");
    EXPECT_EQ(read_text_file(place / "run/result.json", 1 << 20), results);
    write_file_atomically(place / "mine", "precious");
    std::filesystem::remove(place / "run/report.html");
    std::filesystem::create_symlink(place / "mine", place / "run/report.html");
    expect_refused("report " + place / "run", "which is a link");
    EXPECT_EQ(read_text_file(place / "mine", 100), "precious");
    std::filesystem::remove(place / "run/report.html");
    EXPECT_EQ(run_program("report " + place / "run").exit, 0);
    EXPECT_EQ(run_program("report " + place / "run").exit, 0) << "a page is replaced";
}

TEST(Report, ResultsThatTheRunDidNotWriteAreNamed) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    std::string results = read_text_file(place / "run/result.json", 1 << 20);
    const std::size_t digit = results.find("0.", results.find("\"speed\"")) + 2;
    results[digit] = results[digit] == '9' ? '8' : '9';
    write_file_atomically(place / "run/result.json", results);
    ASSERT_EQ(run_program("report " + place / "run").exit, 0);
    const Json folder = document_in(place / "run/report.html").at("folders").at(0);
    ASSERT_EQ(folder["unreadable"].size(), 1U);
    EXPECT_NE(folder["unreadable"][0].get<std::string>().find("'result.json' is not what the run wrote"),
              std::string::npos);
}

TEST(Report, SeveralFoldersAreOnePage) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run --json").exit, 0);
    ASSERT_EQ(run_program("reproduce --quick --only dynamics-initial-pre-ln --out " + place / "claims").exit, 0);
    const Outcome done =
        run_program("report " + place / "run" + " " + place / "claims" + " -o " + place / "all.html --json");
    ASSERT_EQ(done.exit, 0) << done.err;
    const Json said = parse_json(done.out, "report --json");
    EXPECT_EQ(said["file"], place / "all.html");
    EXPECT_EQ(said["bytes"], std::filesystem::file_size(place / "all.html"));
    EXPECT_EQ(said["folders"][1]["command"], "reproduce");
    EXPECT_EQ(said["folders"][1]["unreadable"], Json::array());
    const Json document = document_in(place / "all.html");
    EXPECT_EQ(document["folders"][0]["name"], "run");
    const Json claim = document["folders"][1]["parts"][0]["claims"][0];
    const Json written = parse_json(read_text_file(place / "claims/claims.json", 1 << 20), "claims.json");
    EXPECT_EQ(claim["verdict"], written["claims"][0]["verdict"]);
    EXPECT_EQ(claim["id"], "dynamics-initial-pre-ln");
    // Without a name it stands in the folder, and beside what is there.
    EXPECT_EQ(run_program("report " + place / "run").exit, 0);
    EXPECT_EQ(document_in(place / "run/report.html")["folders"].size(), 1U);
}

TEST(Report, JsonOfACommandStaysOneDocument) {
    const Place place;
    const Outcome run = run_program(small + place / "run --json");
    EXPECT_EQ(run.exit, 0);
    EXPECT_EQ(parse_json(run.out, "simulate --json")["runs"].size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(place / "run/report.html"));
}

TEST(Report, ARunThatWasFinishedGetsThePageItLacks) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    std::filesystem::remove(place / "run/report.html");
    const std::string resume = "simulate --config " + place / "run/config.toml" + " --resume --out " + place / "run";
    EXPECT_EQ(run_program(resume).exit, 0);
    EXPECT_TRUE(std::filesystem::exists(place / "run/report.html"));
}

TEST(Report, APageThatCannotBeWrittenDoesNotSpoilTheRun) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    std::filesystem::remove(place / "run/report.html");
    std::filesystem::create_directories(place / "run/report.html/in the way");
    const Outcome again = run_program(small + place / "run --force");
    EXPECT_EQ(again.exit, 0);
    EXPECT_NE(again.err.find("its page was not written"), std::string::npos) << again.err;
    EXPECT_EQ(std::count(again.err.begin(), again.err.end(), '\n'), 1) << again.err;
    EXPECT_TRUE(std::filesystem::exists(place / "run/provenance.json"));
}

// Root may read everything, so that root asks without that right. (As nobody it could not start a program in a folder
// of its own.)
TEST(Report, APageThatCannotBeReadIsCalledSo) {
    const Place place;
    const std::string rights = "-dac_override,-dac_read_search";
    const std::string humbly =
        geteuid() == 0 ? "setpriv --bounding-set " + rights + " --inh-caps " + rights + " --" : "";
    if (run_program("--version", humbly).exit != 0) {
        GTEST_SKIP() << "root may not give up a right here";
    }
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    std::filesystem::permissions(place / "run/report.html", std::filesystem::perms::none);
    const Outcome outcome = run_program("report " + place / "run", humbly);
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("report.html' (Permission denied)"), std::string::npos) << outcome.err;
}

TEST(Report, HelpNamesThePageThatCommandsLeave) {
    std::string help = run_program("help report").out;
    std::replace(help.begin(), help.end(), '\n', ' ');
    EXPECT_NE(help.find("leaves such a page as DIR/" + std::string(record::page_name) + ";"), std::string::npos)
        << help;
}

TEST(Report, ServingIsRefusedInOneSentenceWhereItMakesNoSense) {
    const auto refused = [](const std::string& arguments, const std::string& words) {
        const Outcome outcome = run_program("report " + arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    };
    refused("--serve", "got no folder");
    refused("none --serve -o page.html", "--serve and --output together");
    refused("none --port 8000", "--port without --serve");
    refused("none --serve --port 65536", "--port 65536, expected a number from 0 to 65535");
    refused("none --serve --port -1", "--port");
    refused("/dev/null --serve", "'/dev/null', which is not a folder");
    refused("/proc/self --serve", "'/proc/self', which has no config.toml");
    refused("none", "'none', which is not a folder");
}

// Without a clock: the server is interrupted once its line is there.
TEST(Report, ServingSaysWhichFoldersAreShownAndWhichAreAwaited) {
    const Place place;
    ASSERT_EQ(run_program(small + place / "run").exit, 0);
    const std::string line = place / "line";
    std::ofstream(line).close();
    const Outcome outcome = run_program("report " + place / "run" + " " + place / "later" + " --serve --port 0 >" +
                                        line + " & for i in $(seq 600); do kill -0 $! && ! grep -q Ctrl-C " + line +
                                        " || break; sleep 0.05; done; kill -INT $!; wait $!");
    EXPECT_EQ(outcome.exit, 130) << outcome.err;
    const std::string said = read_text_file(line, 1 << 20);
    EXPECT_NE(said.find("/ shows '" + place / "run" + "' and waits for a run to begin in '" + place / "later" + "'; "),
              std::string::npos)
        << said;
}

TEST(Report, WhatIsNoFolderOfResultsIsRefused) {
    const Place place;
    for (const std::string& arguments :
         {std::string("report"), "report " + place / "nothing", "report " + place / ".",
          "report " + place / "run -o ''", "report " + place / "run -o " + place / "no/such/folder/x.html"}) {
        if (!std::filesystem::exists(place / "run")) {
            ASSERT_EQ(run_program(small + place / "run").exit, 0);
        }
        const Outcome bad = run_program(arguments);
        EXPECT_EQ(bad.exit, 2) << arguments;
        EXPECT_EQ(bad.out, "");
        EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
    }
    std::filesystem::resize_file(place / "run/result.json", 100);
    const Outcome damaged = run_program("report " + place / "run");
    EXPECT_EQ(damaged.exit, 0) << "its part is named";
    EXPECT_NE(damaged.err.find("result.json"), std::string::npos) << damaged.err;
}

}  // namespace
}  // namespace flyball::cli::test::report_test
