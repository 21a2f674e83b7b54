// A folder knows at every moment whether its run has begun, goes on or is finished.
#include "record/folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "at_most.hpp"
#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/isa.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"
#include "support.hpp"

namespace flyball::record {
namespace {

using test::TemporaryFolder;

const Folder::Contents contents{"[simulate]\nseed = 1\n", {{"seed", "1"}}, "flyball simulate --resume", "cli.simulate"};

std::string refusal(const std::filesystem::path& path, FolderUse use, const Folder::Contents& with = contents) {
    try {
        const Folder folder(path, use, with);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// A run with one result file, finished.
void make_finished(const std::filesystem::path& path) {
    Folder folder(path, FolderUse::fresh, contents);
    write_file_atomically(folder.work("restart"), "state");
    write_file_atomically(path / "result.json", "{}\n");
    folder.finish({{"seed", 1}}, {"result.json"});
}

TEST(Folder, ARunThatEndedLeavesItsResultsAndNoWork) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work"));
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_TRUE(again.finished());
    EXPECT_EQ(again.files(), std::vector<std::string>{"result.json"});
}

TEST(Folder, AKillWhileWorkIsBeingDeletedLeavesAFinishedRun) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    { const Folder other(parent / "other", FolderUse::fresh, contents); }
    std::filesystem::rename(parent / "other/work", parent / "run/work.finished");
    write_file_atomically(parent / "run/work.finished/restart", "half of it is gone");
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_TRUE(again.finished());
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
}

TEST(Folder, AKillJustBeforeTheEmptyFolderOfWorkIsGoneLeavesAFinishedRun) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    std::filesystem::create_directories(parent / "run/work.finished");
    EXPECT_TRUE(Folder(parent / "run", FolderUse::resume, contents).finished());
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
    write_file_atomically(parent / "run/work.finished", "somebody's");
    EXPECT_TRUE(Folder(parent / "run", FolderUse::resume, contents).finished());
    EXPECT_TRUE(std::filesystem::exists(parent / "run/work.finished"));
}

// Killed while the mark was written that says that the folder is being replaced.
TEST(Folder, LitterInTheFolderThatIsBeingReplacedIsNoReasonToRefuse) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    std::filesystem::create_directories(parent / "run/work.finished");
    std::ofstream(parent / "run/work.finished/.run.json.4000000-0.tmp") << "{";
    EXPECT_EQ(refusal(parent / "run", FolderUse::force), "");
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
}

TEST(Folder, AKillBeforeWorkIsRenamedGoesOnFromWork) {
    const TemporaryFolder parent;
    {
        const Folder folder(parent / "run", FolderUse::fresh, contents);
        write_file_atomically(parent / "run/provenance.json", "{}");
    }
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_FALSE(again.finished());
}

// A run that comes to its end renames its work/ to work.finished/: what stands there is in the way after hours of
// work, and is looked at when the run is taken up.
TEST(Folder, ARunThatIsTakenUpMakesRoomForItsEnd) {
    const TemporaryFolder parent;
    { const Folder folder(parent / "run", FolderUse::fresh, contents); }
    { const Folder other(parent / "other", FolderUse::fresh, contents); }
    std::filesystem::rename(parent / "other/work", parent / "run/work.finished");
    write_file_atomically(parent / "run/work.finished/restart", "of the run before");
    {
        Folder again(parent / "run", FolderUse::resume, contents);
        EXPECT_FALSE(again.finished());
        EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
        EXPECT_TRUE(std::filesystem::exists(again.work("run.json")));
        write_file_atomically(parent / "run/result.json", "{}\n");
        again.finish({{"seed", 1}}, {"result.json"});
    }
    EXPECT_TRUE(Folder(parent / "run", FolderUse::resume, contents).finished());
    const auto theirs = parent / "other/work.finished/letter.txt";
    std::filesystem::create_directories(theirs.parent_path());
    std::filesystem::create_directories(parent / "other/work");
    write_file_atomically(theirs, "dear");
    const std::string begins = refusal(parent / "other", FolderUse::resume);
    EXPECT_NE(begins.find("which holds work.finished/ that is not of flyball, expected a folder of results alone"),
              std::string::npos)
        << begins;
    std::filesystem::remove_all(parent / "other");
    { const Folder folder(parent / "other", FolderUse::fresh, contents); }
    std::filesystem::create_directories(theirs.parent_path());
    write_file_atomically(theirs, "dear");
    const std::string goes_on = refusal(parent / "other", FolderUse::resume);
    EXPECT_NE(goes_on.find("which holds work.finished/ that is not of flyball"), std::string::npos) << goes_on;
    EXPECT_NE(goes_on.find("hint: move that one elsewhere"), std::string::npos) << goes_on;
    EXPECT_TRUE(std::filesystem::exists(theirs));
    EXPECT_TRUE(std::filesystem::exists(parent / "other/work/run.json"));
}

TEST(Folder, AKillBeforeTheRunHadBegunBeginsIt) {
    const TemporaryFolder parent;
    std::filesystem::create_directories(parent / "run/work");
    write_file_atomically(parent / "run/config.toml", contents.configuration);
    std::ofstream(parent / "run/work/.run.json.12-0.tmp") << "half";
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_FALSE(again.finished());
    EXPECT_TRUE(std::filesystem::exists(again.work("run.json")));
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work/.run.json.12-0.tmp"));
}

TEST(Folder, AKillBetweenTheConfigurationAndWorkBeginsTheRun) {
    const TemporaryFolder parent;
    std::filesystem::create_directories(parent / "run");
    write_file_atomically(parent / "run/config.toml", contents.configuration);
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_FALSE(again.finished());
    EXPECT_TRUE(std::filesystem::exists(again.work("run.json")));
}

TEST(Folder, AbandonedTemporariesBesideTheResultsAreRemoved) {
    const TemporaryFolder parent;
    { const Folder folder(parent / "run", FolderUse::fresh, contents); }
    std::ofstream(parent / "run/.result.json.12-0.tmp") << "half";
    const Folder again(parent / "run", FolderUse::resume, contents);
    EXPECT_FALSE(std::filesystem::exists(parent / "run/.result.json.12-0.tmp"));
}

TEST(Folder, ADamagedResultIsNotTakenForAFinishedRun) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    write_file_atomically(parent / "run/result.json", "{ }\n");
    EXPECT_NE(refusal(parent / "run", FolderUse::resume).find("checksum"), std::string::npos);
}

TEST(Folder, AnotherRunIsRefusedWithWhatDiffers) {
    const TemporaryFolder parent;
    { const Folder folder(parent / "run", FolderUse::fresh, contents); }
    Folder::Contents other = contents;
    other.identity[0].second = "2";
    EXPECT_NE(refusal(parent / "run", FolderUse::resume, other).find("seed = '1'"), std::string::npos);
    other = contents;
    other.configuration = "[simulate]\nseed = 2\n";
    const std::string says = refusal(parent / "run", FolderUse::resume, other);
    EXPECT_NE(says.find("other settings: seed = 1, expected seed = 2, as in this run"), std::string::npos) << says;
    EXPECT_NE(says.find("hint: use flyball simulate --resume"), std::string::npos) << says;
}

// Comments are welcome; whoever changed a setting is told which.
TEST(Folder, AConfigurationThatWasEditedIsReadForWhatItSays) {
    const TemporaryFolder parent;
    Folder::Contents two = contents;
    two.configuration = "[simulate]\nbeta = 2\nseed = 1\n";
    { const Folder folder(parent / "run", FolderUse::fresh, two); }
    const auto edited = [&](const std::string& text) {
        write_file_atomically(parent / "run/config.toml", text);
        return refusal(parent / "run", FolderUse::resume, two);
    };
    EXPECT_EQ(edited("# the one for the paper\n[simulate]\nseed = 1\nbeta = 2\n"), "");
    const std::string less = edited("[simulate]\nseed = 1\n");
    EXPECT_NE(less.find("other settings: no beta, expected beta = 2, as in this run"), std::string::npos) << less;
    EXPECT_NE(less.find("where config.toml was edited, undo that"), std::string::npos) << less;
    const std::string more = edited(two.configuration + "gain = 3\n");
    EXPECT_NE(more.find("other settings: gain = 3, expected no gain, as in this run"), std::string::npos) << more;
    const std::string torn = edited("[simulate\nbeta = 2\n");
    EXPECT_NE(torn.find("config.toml:1"), std::string::npos) << torn;
}

// A digit of the seed, the name of an input, the checksum itself: what is said of a run is said by the run. A bit of a
// blank that is still a blank changes nothing, and is let through.
TEST(Folder, AProvenanceThatWasChangedIsRefused) {
    const TemporaryFolder parent;
    Folder::Contents read = contents;
    read.inputs = {{"text", "aa"}};
    {
        Folder folder(parent / "run", FolderUse::fresh, read);
        write_file_atomically(parent / "run/result.json", "{}\n");
        folder.finish({{"version", "1.2.3"}, {"seed", 7}}, {"result.json"});
    }
    const std::string text = read_regular_file(parent / "run/provenance.json", 1U << 20U);
    const Json written = parse_json(text, "provenance");
    std::size_t accepted = 0;
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        std::string damaged = text;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        write_file_atomically(parent / "run/provenance.json", damaged);
        if (refusal(parent / "run", FolderUse::resume, read).empty()) {
            ++accepted;
            EXPECT_EQ(parse_json(damaged, "damaged"), written) << damaged;
        }
    }
    EXPECT_LT(accepted, text.size() / 4) << "blanks alone";
    Json without = written;
    without.erase("checksum");
    write_file_atomically(parent / "run/provenance.json", dump_json(without, 2));
    EXPECT_NE(refusal(parent / "run", FolderUse::resume, read).find("do not have the checksum at their end"),
              std::string::npos);
}

// Somebody who opens a named pipe waits for its other end, which nobody opens.
TEST(Folder, ANamedPipeInPlaceOfAFileIsRefusedAtOnce) {
    for (const char* name : {"config.toml", "work/run.json", "provenance.json"}) {
        const TemporaryFolder parent;
        const bool finished = name == std::string("provenance.json");
        if (finished) {
            make_finished(parent / "run");
        } else {
            const Folder folder(parent / "run", FolderUse::fresh, contents);
        }
        std::filesystem::remove(parent / "run" / name);
        ASSERT_EQ(::mkfifo((parent / "run" / name).c_str(), 0600), 0);
        const flyball::test::AtMost limit(60);
        EXPECT_NE(refusal(parent / "run", FolderUse::resume).find("not a regular file"), std::string::npos) << name;
        if (finished) {
            EXPECT_EQ(refusal(parent / "run", FolderUse::force), "") << "what a pipe would list stays";
        }
    }
}

// A link that leads to itself is an obstacle like a folder without permission, which would not stop root.
TEST(Folder, OneWhoseConfigurationCannotBeLookedAtSaysWhy) {
    const TemporaryFolder parent;
    std::filesystem::create_directories(parent / "run");
    std::filesystem::create_symlink("config.toml", parent / "run/config.toml");
    const std::string says = refusal(parent / "run", FolderUse::resume);
    EXPECT_NE(says.find("Too many levels of symbolic links"), std::string::npos) << says;
}

// What was read counts while the run is on and when it is over; a run that did not say what it read is left alone.
TEST(Folder, ARunOfAnotherInputIsRefusedFinishedOrNot) {
    for (const bool finished : {false, true}) {
        const TemporaryFolder parent;
        Folder::Contents read = contents;
        read.inputs = {{"text", "aa"}, {"weights", "bb"}};
        {
            Folder folder(parent / "run", FolderUse::fresh, read);
            write_file_atomically(parent / "run/result.json", "{}\n");
            if (finished) {
                folder.finish(provenance(1), {"config.toml", "result.json"});
            }
        }
        EXPECT_EQ(Folder(parent / "run", FolderUse::resume, read).finished(), finished);
        Folder::Contents other = read;
        other.inputs[1].second = "cc";
        const std::string says = refusal(parent / "run", FolderUse::resume, other);
        EXPECT_NE(says.find(finished ? "a finished run with other weights" : "weights = 'bb'"), std::string::npos)
            << says;
        if (finished) {
            EXPECT_TRUE(Folder(parent / "run", FolderUse::resume, contents).finished());
        }
    }
    const TemporaryFolder parent;
    make_finished(parent / "run");
    Folder::Contents read = contents;
    read.inputs = {{"text", "aa"}};
    EXPECT_TRUE(Folder(parent / "run", FolderUse::resume, read).finished()) << "of a version that kept none";
}

TEST(Folder, ForceRemovesTheResultsOfTheRunBeforeAndNothingElse) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    write_file_atomically(parent / "run/notes.txt", "the user's own");
    const Folder again(parent / "run", FolderUse::force, contents);
    EXPECT_FALSE(std::filesystem::exists(parent / "run/result.json"));
    EXPECT_FALSE(std::filesystem::exists(parent / "run/provenance.json"));
    EXPECT_TRUE(std::filesystem::exists(parent / "run/notes.txt"));
    EXPECT_TRUE(std::filesystem::exists(again.work("run.json")));
}

// The page of a run tells of results that are gone.
TEST(Folder, ForceRemovesThePageOfTheRunBefore) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    write_file_atomically(parent / "run/report.html", "of the run before");
    write_file_atomically(parent / "run/other.html", "the user's own");
    const Folder again(parent / "run", FolderUse::force, contents);
    EXPECT_FALSE(std::filesystem::exists(parent / "run/report.html"));
    EXPECT_TRUE(std::filesystem::exists(parent / "run/other.html"));
}

TEST(Folder, ForceDeletesNothingOutsideOfTheFolder) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    write_file_atomically(parent / "outside", "stays");
    const Json list = {{"files", {{"../outside", checksum("stays")}, {"..", "0"}}}};
    write_file_atomically(parent / "run/provenance.json", dump_json(list));
    const Folder again(parent / "run", FolderUse::force, contents);
    EXPECT_TRUE(std::filesystem::exists(parent / "outside"));
}

TEST(Folder, ASecondProcessIsRefusedWhileTheFirstIsAtWork) {
    const TemporaryFolder parent;
    const Folder first(parent / "run", FolderUse::fresh, contents);
    // Whoever wants it fresh too: while the first goes on nobody can know what the folder will hold.
    for (const FolderUse use : {FolderUse::resume, FolderUse::force, FolderUse::fresh}) {
        EXPECT_NE(refusal(parent / "run", use).find("another process"), std::string::npos);
    }
}

// Killed while it wrote its first file.
TEST(Folder, LitterOfARunThatNeverBeganIsNoReasonToRefuse) {
    const TemporaryFolder parent;
    std::filesystem::create_directories(parent / "run");
    std::ofstream(parent / "run/.config.toml.4000000-0.tmp") << "tok";
    const Folder again(parent / "run", FolderUse::fresh, contents);
    EXPECT_TRUE(std::filesystem::exists(parent / "run/config.toml"));
    EXPECT_FALSE(std::filesystem::exists(parent / "run/.config.toml.4000000-0.tmp"));
}

TEST(Folder, AFolderThatIsNotEmptyIsRefused) {
    const TemporaryFolder parent;
    write_file_atomically(parent / "notes.txt", "");
    EXPECT_NE(refusal(parent.path(), FolderUse::fresh).find("holds files that are not of flyball"), std::string::npos);
    EXPECT_EQ(refusal(parent.path(), FolderUse::fresh).find("to go on"), std::string::npos) << "there is no run";
    EXPECT_EQ(refusal(parent.path(), FolderUse::fresh).find("force"), std::string::npos) << "nothing may be replaced";
    make_finished(parent / "run");
    EXPECT_NE(refusal(parent / "run", FolderUse::fresh).find("hint: give force to replace the results"),
              std::string::npos);
    EXPECT_NE(refusal(parent.path(), FolderUse::resume).find("holds no run"), std::string::npos);
    EXPECT_NE(refusal(parent / "notes.txt", FolderUse::force).find("which is a file"), std::string::npos);
}

TEST(Folder, SettingsThatNoConfigurationCanHoldAreRefusedBeforeThereIsAFolder) {
    const TemporaryFolder parent;
    Folder::Contents other = contents;
    other.configuration = "[inspect]\nseed = 1\ntext = \"b\xffk\"\n";
    for (const FolderUse use : {FolderUse::fresh, FolderUse::force}) {
        const std::string said = refusal(parent / "run", use, other);
        EXPECT_NE(said.find("text = "), std::string::npos) << said;
        EXPECT_EQ(said.find("seed"), std::string::npos) << said;
        EXPECT_NE(said.find("which is not UTF-8"), std::string::npos) << said;
    }
    EXPECT_FALSE(std::filesystem::exists(parent / "run"));
    other.configuration = "[inspect]\nseed = 1\ntext = \"b\u00fcck\"";
    EXPECT_EQ(refusal(parent / "run", FolderUse::fresh, other), "");
}

// Names are listed whole: result.json and result.csv are two files.
TEST(Provenance, AResultThatIsNotAsItWasRecordedIsRefused) {
    const TemporaryFolder parent;
    make_finished(parent / "run");
    const auto said = [&](const char* name, const std::string& sum) -> std::string {
        try {
            expect_as_recorded(parent / "run" / name, sum);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(said("result.json", checksum(std::string_view("{}\n"))), "");
    const std::string changed = said("result.json", checksum(std::string_view("{ }\n")));
    EXPECT_NE(changed.find("result.json', which does not have its checksum in "), std::string::npos) << changed;
    EXPECT_EQ(said("result.csv", checksum(std::string_view("{ }\n"))), "") << "nothing is recorded of it";
}

// 2026-01-31 12:00:00 UTC is 20484 days and a half after 1970; 9e18 s are 285 thousand million years, whose number
// does not fit a tm, and gmtime gives none.
TEST(Provenance, ATimeThatNoCalendarHasIsToldInSeconds) {
    EXPECT_EQ(in_utc(20484LL * 86400 + 43200), "2026-01-31T12:00:00Z");
    EXPECT_EQ(in_utc(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(in_utc(9'000'000'000'000'000'000), "9000000000000000000 s after 1970");
}

TEST(Provenance, SaysWhatTheNumbersComeFrom) {
    const std::time_t before = std::time(nullptr);
    const Json about = provenance(7);
    EXPECT_EQ(about["version"], version);
    EXPECT_EQ(about["seed"], 7);
    EXPECT_EQ(provenance(18446744073709551615U)["seed"], 18446744073709551615U) << "all 64 bits";
    EXPECT_EQ(about["threads"], threads());
    EXPECT_EQ(about["isa"], name(active_isa()));
    EXPECT_EQ(about["blas"], blas_core());
    const auto machine = about["machine"].get<std::string>();
    ASSERT_FALSE(machine.empty());
    EXPECT_NE(machine.front(), ' ');
    // The time in UTC, read field by field.
    std::tm when{};
    const auto stamp = about["finished"].get<std::string>();
    ASSERT_EQ(stamp.size(), 20U) << stamp;
    std::istringstream(stamp) >> std::get_time(&when, "%Y-%m-%dT%H:%M:%SZ");
    EXPECT_NEAR(static_cast<double>(timegm(&when)), static_cast<double>(before), 5) << stamp;
}

TEST(Folder, WithoutANameIsRefused) {
    EXPECT_THROW(folder_use("", false, false, "cli.simulate"), Error);
    EXPECT_THROW(folder_use(std::nullopt, true, false, "cli.simulate"), Error);
    EXPECT_THROW(folder_use("x", true, true, "cli.simulate"), Error);
    const auto sentence = [](const std::optional<std::string>& out, bool resume, bool force) -> std::string {
        try {
            folder_use(out, resume, force, "cli.simulate");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(sentence("", false, false), "[cli.simulate] got out = '', expected the name of a folder.");
    EXPECT_EQ(sentence(std::nullopt, true, false),
              "[cli.simulate] got resume without out, expected the folder of the run. hint: add out = DIR.");
    EXPECT_EQ(sentence("x", true, true),
              "[cli.simulate] got resume and force together, expected one of them. hint: resume goes on with the run, "
              "force starts anew.");
    EXPECT_EQ(folder_use("x", true, false, "cli.simulate"), FolderUse::resume);
    EXPECT_EQ(folder_use("x", false, true, "cli.simulate"), FolderUse::force);
    EXPECT_EQ(folder_use(std::nullopt, false, false, "cli.simulate"), FolderUse::fresh);
}

// Far from Greenwich too: the clock on the wall would be off by nine hours.
TEST(Provenance, TellsTheTimeInUtc) {
    ASSERT_EQ(setenv("TZ", "XYZ-9", 1), 0);
    tzset();
    const std::time_t before = std::time(nullptr);
    const std::string stamp = provenance(1)["finished"].get<std::string>();
    const std::time_t after = std::time(nullptr);
    unsetenv("TZ");
    tzset();
    std::tm parts{};
    ASSERT_NE(strptime(stamp.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr) << stamp;
    const std::time_t told = timegm(&parts);
    EXPECT_LE(before, told);
    EXPECT_LE(told, after);
}

// As `train` has them: an outer folder, and in it one for each run, called SCHEME-SEED.
TEST(Folder, ForceRemovesTheRunsInside) {
    const TemporaryFolder parent;
    const Folder::Contents of_train{"[train]\nscheme = \"pre-ln\"\nseed = 3\n", {{"seed", "3"}}, "", "cli.train"};
    const auto path = parent / "run";
    make_finished(path);
    {
        Folder finished(path / "pre-ln-3", FolderUse::fresh, of_train);
        write_file_atomically(path / "pre-ln-3/model.safetensors", "numbers");
        finished.finish({{"seed", 3}}, {"config.toml", "model.safetensors"});
    }
    {
        const Folder begun(path / "post-ln-3", FolderUse::fresh, of_train);
        write_file_atomically(path / "post-ln-3/metrics.jsonl", "{}\n");
    }
    {
        const Folder with_more(path / "ngpt-3", FolderUse::fresh, of_train);
        write_file_atomically(path / "ngpt-3/mine.txt", "a note");
    }
    // None of these is plainly a run of `train` that is called by its seed.
    const Folder other_name(path / "copy", FolderUse::fresh, of_train);
    const Folder other_command(path / "pre-ln-1", FolderUse::fresh, contents);
    std::filesystem::create_directories(path / "notes-3");
    write_file_atomically(path / "notes-3/config.toml", "[train]\nseed = 3\n");
    { const Folder anew(path, FolderUse::force, contents); }
    EXPECT_FALSE(std::filesystem::exists(path / "pre-ln-3"));
    EXPECT_FALSE(std::filesystem::exists(path / "post-ln-3"));
    EXPECT_FALSE(std::filesystem::exists(path / "ngpt-3/config.toml"));
    EXPECT_TRUE(std::filesystem::exists(path / "ngpt-3/mine.txt"));
    EXPECT_TRUE(std::filesystem::exists(path / "copy/config.toml"));
    EXPECT_TRUE(std::filesystem::exists(path / "pre-ln-1/config.toml"));
    EXPECT_TRUE(std::filesystem::exists(path / "notes-3/config.toml"));
}

// A link inside the folder leads to results that somebody keeps elsewhere: nothing behind it is ours to delete, and the
// link stays too.
TEST(Folder, ForceRemovesNoRunBehindALink) {
    const TemporaryFolder parent;
    const Folder::Contents of_train{"[train]\nscheme = \"pre-ln\"\nseed = 3\n", {{"seed", "3"}}, "", "cli.train"};
    make_finished(parent / "run");
    {
        Folder finished(parent / "kept/pre-ln-3", FolderUse::fresh, of_train);
        write_file_atomically(parent / "kept/pre-ln-3/model.safetensors", "numbers");
        finished.finish({{"seed", 3}}, {"config.toml", "model.safetensors"});
    }
    { const Folder begun(parent / "kept/post-ln-3", FolderUse::fresh, of_train); }
    for (const char* const name : {"pre-ln-3", "post-ln-3"}) {
        std::filesystem::create_directory_symlink(parent / "kept" / name, parent / "run" / name);
    }
    { const Folder anew(parent / "run", FolderUse::force, contents); }
    for (const char* const file : {"pre-ln-3/config.toml", "pre-ln-3/model.safetensors", "pre-ln-3/provenance.json",
                                   "post-ln-3/config.toml", "post-ln-3/work/run.json"}) {
        EXPECT_TRUE(std::filesystem::exists(parent / "kept" / file)) << file;
    }
    EXPECT_TRUE(std::filesystem::is_symlink(parent / "run/pre-ln-3"));
    EXPECT_TRUE(std::filesystem::is_symlink(parent / "run/post-ln-3"));
}

// What a run writes beside its work/ while it goes on is listed nowhere before its end, and goes with it; in a
// finished one a file of such a name that is not listed is somebody's own.
TEST(Folder, ForceRemovesWhatARunInsideHasWrittenSoFar) {
    const TemporaryFolder parent;
    const Folder::Contents of_train{"[train]\nseed = 3\n", {{"seed", "3"}}, "", "cli.train"};
    make_finished(parent / "run");
    const char* const grown[] = {"metrics.jsonl", "events.out.tfevents.0.flyball"};
    { const Folder begun(parent / "run/pre-ln-3", FolderUse::fresh, of_train); }
    {
        Folder finished(parent / "run/post-ln-3", FolderUse::fresh, of_train);
        finished.finish({{"seed", 3}}, {"config.toml"});
    }
    for (const char* const name : grown) {
        write_file_atomically(parent / "run/pre-ln-3" / name, "so far");
        write_file_atomically(parent / "run/post-ln-3" / name, "the user's own");
    }
    { const Folder anew(parent / "run", FolderUse::force, contents); }
    EXPECT_FALSE(std::filesystem::exists(parent / "run/pre-ln-3"));
    EXPECT_FALSE(std::filesystem::exists(parent / "run/post-ln-3/config.toml"));
    for (const char* const name : grown) {
        EXPECT_TRUE(std::filesystem::exists(parent / "run/post-ln-3" / name)) << name;
    }
}

TEST(Folder, ForceRefusesWhileARunInsideGoesOn) {
    const TemporaryFolder parent;
    const Folder::Contents of_train{"[train]\nseed = 3\n", {{"seed", "3"}}, "", "cli.train"};
    make_finished(parent / "run");
    const Folder going_on(parent / "run/pre-ln-3", FolderUse::fresh, of_train);
    EXPECT_NE(refusal(parent / "run", FolderUse::force).find("another process"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(parent / "run/pre-ln-3/config.toml"));
}

}  // namespace
}  // namespace flyball::record
