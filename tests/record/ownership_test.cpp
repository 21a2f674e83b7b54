// Nothing that is not ours is deleted or written over, whatever it is called.
#include "record/ownership.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/error.hpp"
#include "core/file.hpp"
#include "record/folder.hpp"
#include "support.hpp"

namespace flyball::record {
namespace {

using test::TemporaryFolder;

const Folder::Contents settings{"[theory]\nseed = 1\n", {{"seed", "1"}}, "flyball theory --resume", "cli.theory"};

std::string refused(const std::filesystem::path& path, FolderUse use, const Folder::Contents& with = settings) {
    try {
        const Folder folder(path, use, with);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

void finish_one(const std::filesystem::path& path) {
    Folder folder(path, FolderUse::fresh, settings);
    write_file_atomically(path / "result.json", "{}\n");
    folder.finish({{"seed", 1}}, {"config.toml", "result.json"});
}

void begin_one(const std::filesystem::path& path) {
    const Folder folder(path, FolderUse::fresh, settings);
    write_file_atomically(folder.work("restart"), "state");
}

void set_file(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, text);
}

std::map<std::string, std::string> everything(const std::filesystem::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        found[std::filesystem::relative(entry.path(), folder).string()] =
            entry.is_regular_file() ? read_regular_file(entry.path(), 1U << 20U) : "";
    }
    return found;
}

// A thesis with names that we use too.
TEST(Ownership, AForeignFolderWithOurNamesIsLeftAsItIs) {
    const TemporaryFolder parent;
    const std::filesystem::path project = parent / "project";
    set_file(project / "work/deep/thesis.txt", "thesis");
    set_file(project / "config.toml", "mine");
    set_file(project / "provenance.json", R"({"files":{"data.csv":"x"}})");
    set_file(project / "data.csv", "1,2");
    set_file(project / "report.html", "x");
    set_file(project / "work.finished/keep", "k");
    const auto before = everything(project);
    for (const FolderUse use : {FolderUse::fresh, FolderUse::force}) {
        const std::string says = refused(project, use);
        EXPECT_NE(says.find("holds a folder work/ that is not of flyball"), std::string::npos) << says;
        EXPECT_EQ(says.find("give force"), std::string::npos) << says;
        EXPECT_EQ(everything(project), before);
    }
}

TEST(Ownership, EachForeignThingAloneIsAReasonToRefuse) {
    const std::map<std::string, std::string> things = {{"work/thesis.txt", "t"},
                                                       {"work.finished/keep", "k"},
                                                       {"data.csv", "1,2"},
                                                       {"report.html", "<html>"},
                                                       {"config.toml", "mine"},
                                                       {"config.toml ", "[theory]\nseed = 1\n"},
                                                       {"provenance.json", R"({"files":{"data.csv":"x"}})"},
                                                       {"work/run.json", R"({"kind": "run"})"}};
    for (const auto& [name, text] : things) {
        const TemporaryFolder parent;
        set_file(parent / ("p/" + name), text);
        const auto before = everything(parent / "p");
        EXPECT_NE(refused(parent / "p", FolderUse::force).find("not of flyball"), std::string::npos) << name;
        EXPECT_NE(refused(parent / "p", FolderUse::fresh).find("hint: choose another folder"), std::string::npos)
            << name;
        EXPECT_EQ(everything(parent / "p"), before) << name;
    }
}

// Settings of somebody's own program may well stand in a table [train].
TEST(Ownership, AConfigurationOfOursBesideFilesOfSomebodyIsNoRunOfOurs) {
    const TemporaryFolder parent;
    set_file(parent / "p/config.toml", "[train]\nsteps = 3\n");
    EXPECT_EQ(not_ours(parent / "p"), "") << "killed before the run had begun";
    set_file(parent / "p/train.py", "print(1)");
    EXPECT_EQ(not_ours(parent / "p"), "holds files that are not of flyball");
    std::filesystem::remove(parent / "p/train.py");
    for (const char* const other : {"[server]\nport = 3\n", "[train]\nsteps  = 3\n", "steps = 3\n",
                                    "[train]\nsteps = 3\n\n[theory]\nn = 3\n", ""}) {
        set_file(parent / "p/config.toml", other);
        EXPECT_EQ(not_ours(parent / "p"), "holds files that are not of flyball") << other;
    }
}

// A kill before the first file of a run, or behind the last of one that is deleted, leaves such a folder.
TEST(Ownership, AnEmptyFolderOfWorkIsNobodys) {
    for (const char* const name : {"work", "work.finished"}) {
        const TemporaryFolder parent;
        std::filesystem::create_directories(parent / "p" / name);
        EXPECT_EQ(not_ours(parent / "p"), "") << name;
        EXPECT_EQ(refused(parent / "p", FolderUse::force), "") << name;
    }
}

TEST(Ownership, AWorkFolderOfSomebodyInAFolderOfOursIsLeftAsItIs) {
    for (const char* const name : {"work/thesis.txt", "work.finished/thesis.txt"}) {
        const TemporaryFolder parent;
        finish_one(parent / "run");
        set_file(parent / "run" / name, "thesis");
        const auto before = everything(parent / "run");
        EXPECT_NE(refused(parent / "run", FolderUse::force).find("that is not of flyball"), std::string::npos) << name;
        EXPECT_EQ(everything(parent / "run"), before);
    }
}

// A link is not followed: what it leads to is somewhere else.
TEST(Ownership, OfAWorkFolderThatIsALinkTheLinkIsRemoved) {
    const TemporaryFolder parent;
    begin_one(parent / "run");
    std::filesystem::rename(parent / "run/work", parent / "elsewhere");
    std::filesystem::create_directory_symlink(parent / "elsewhere", parent / "run/work");
    EXPECT_EQ(refused(parent / "run", FolderUse::force), "");
    EXPECT_TRUE(std::filesystem::exists(parent / "elsewhere/restart"));
    EXPECT_FALSE(std::filesystem::is_symlink(std::filesystem::symlink_status(parent / "run/work")));
}

// Whatever was damaged or edited in it; the user's own files beside stay.
TEST(Ownership, AFolderOfOursIsReplacedAlsoWhenItIsDamaged) {
    struct Case {
        bool finished;
        const char* file;
        const char* text;
    };
    for (const Case& damage :
         {Case{true, "provenance.json", "{"}, Case{true, "result.json", ""},
          Case{true, "config.toml", "# mine\n[theory]\nseed = 1\n"}, Case{false, "work/run.json", ""},
          Case{false, "work/restart", ""}, Case{false, "config.toml", "[theory]\nseed = 7\n"}}) {
        const TemporaryFolder parent;
        (damage.finished ? finish_one : begin_one)(parent / "run");
        set_file(parent / "run/notes.txt", "mine");
        set_file(parent / "run" / damage.file, damage.text);
        EXPECT_EQ(refused(parent / "run", FolderUse::force), "") << damage.file;
        const auto after = everything(parent / "run");
        EXPECT_EQ(after.at("notes.txt"), "mine") << damage.file;
        EXPECT_EQ(after.at("config.toml"), settings.configuration) << damage.file;
        EXPECT_EQ(after.count("provenance.json") + after.count("work/restart") + after.count("work.finished"), 0U)
            << damage.file;
    }
}

// A provenance.json without a checksum of its own is that of an earlier version: files that are as it lists them go.
TEST(Ownership, OfAListWithoutASealFilesGoThatAreAsItSays) {
    const TemporaryFolder parent;
    finish_one(parent / "run");
    set_file(parent / "run/other.csv", "1,2");
    set_file(parent / "run/provenance.json",
             dump_json({{"files", {{"result.json", checksum("{}\n")}, {"other.csv", "0123456789abcdef"}}}}));
    EXPECT_EQ(refused(parent / "run", FolderUse::force), "");
    EXPECT_FALSE(std::filesystem::exists(parent / "run/result.json"));
    EXPECT_TRUE(std::filesystem::exists(parent / "run/other.csv"));
}

// Killed after the results were gone and before the new settings were there.
TEST(Ownership, AFolderThatWasAboutToBeReplacedSaysSo) {
    const TemporaryFolder parent;
    begin_one(parent / "run");
    set_file(parent / "run/notes.txt", "mine");
    std::filesystem::rename(parent / "run/work", parent / "run/work.finished");
    Folder::Contents other = settings;
    other.configuration = "[theory]\nseed = 2\n";
    other.identity = {{"seed", "2"}};
    const std::string says = refused(parent / "run", FolderUse::resume, other);
    EXPECT_NE(says.find("was about to be replaced and still has settings of the run before: seed = 1"),
              std::string::npos)
        << says;
    EXPECT_NE(says.find("hint: give force instead of resume"), std::string::npos) << says;
    EXPECT_EQ(refused(parent / "run", FolderUse::force, other), "");
    EXPECT_FALSE(std::filesystem::exists(parent / "run/work.finished"));
    EXPECT_EQ(refused(parent / "run", FolderUse::resume, other), "");
}

TEST(Ownership, AFolderOfAnotherCommandIsNamedAfterIt) {
    const TemporaryFolder parent;
    begin_one(parent / "run");
    Folder::Contents other = settings;
    other.configuration = "[simulate]\nseed = 1\n";
    const std::string says = refused(parent / "run", FolderUse::resume, other);
    EXPECT_NE(says.find("whose run is one of 'flyball theory', expected one of 'flyball simulate'"), std::string::npos)
        << says;
    EXPECT_EQ(refused(parent / "run", FolderUse::force, other), "");
}

TEST(Ownership, ALinkToNothingIsNoFolder) {
    const TemporaryFolder parent;
    std::filesystem::create_symlink("nowhere", parent / "run");
    for (const FolderUse use : {FolderUse::fresh, FolderUse::force}) {
        const std::string says = refused(parent / "run", use);
        EXPECT_NE(says.find("which is a link to nothing"), std::string::npos) << says;
    }
}

}  // namespace
}  // namespace flyball::record
