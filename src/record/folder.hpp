// The folder of a run's results: who may write to it, what a run leaves in it, and how a killed run is known from a
// finished one.
//
//     config.toml       the settings, as flags
//     work/             what a run needs to go on; every file sealed (sealed.hpp). work/run.json says which run it is
//     provenance.json   version, seed, machine, time, and checksums of what was read, of every file of the result and,
//                       in the end, of all this
//
// The order makes every moment of a kill unambiguous. A run begins with config.toml, then work/run.json. It ends with
// its results, then provenance.json, then work/ is renamed (one instant: the run is finished) and only then deleted.
// So while there is a work/ with a run.json the run goes on from it, and all results are written anew; without work/
// the folder is a finished run when it has provenance.json, and otherwise a run that had not begun.
//
// A folder is replaced only if it is ours, and in it only what is ours: a work/ that has our run.json, and the files
// that a provenance.json lists as we wrote it. First work/ is renamed, as at the end of a run (where there is none, a
// work.finished/ with a run.json is made); then the results go, then provenance.json; then the new run begins, and
// work.finished/ goes when its config.toml is there. Until then it says that the folder is being replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "record/provenance.hpp"
#include "record/sealed.hpp"

namespace flyball::record {

// The page of a finished run (`flyball report`): a copy for readers, which no checksum covers and which goes with the
// results when a folder is used again.
inline constexpr const char* page_name = "report.html";

enum class FolderUse { fresh, force, resume };

// How the settings out, resume and force mean a folder to be used; resume without out is an Error, and so are a folder
// without a name and both together.
FolderUse folder_use(const std::optional<std::string>& out, bool resume, bool force, std::string_view where);

class Folder {
  public:
    struct Contents {
        std::string configuration;   // of config.toml
        Identity identity;           // of the run
        std::string resume_command;  // what a user types to go on; for messages
        std::string where;           // for messages: "cli.simulate"
        Identity inputs = {};        // checksums of what the run reads; "text" is one. A finished run keeps them
    };

    // Makes the folder, its work/ and config.toml, which also shows that it can be written to before hours of work. A
    // folder that is not empty is refused unless it is to be overwritten (then the results listed in its
    // provenance.json are removed first, with the runs that `train` has made in folders inside, and a folder that is
    // not ours is refused) or taken up, and taken up only as the run it is of. Another process in the same folder is
    // refused.
    Folder(std::filesystem::path path, FolderUse use, Contents contents);

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path work(const std::string& name) const { return path_ / "work" / name; }

    // The folder was taken up and holds a finished run, whole and undamaged: nothing is left to do.
    bool finished() const { return finished_; }
    std::vector<std::string> files() const;  // of a finished run

    // The seal of a file of this run.
    Seal seal(std::string kind) const { return {std::move(kind), contents_.identity}; }

    // The last act of a run: all `files` (names in this folder) are written.
    void finish(Json about, const std::vector<std::string>& files);

  private:
    // On the folder itself: no file to leave behind, and the system lets go of it when the process dies.
    class Lock {
      public:
        Lock() = default;
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        bool take(const std::filesystem::path& folder);  // false: another process has it

      private:
        int descriptor_ = -1;
    };

    explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}  // one that is to go

    [[noreturn]] void fail(std::string_view what, std::string_view expected, std::string_view hint = {}) const;
    void expect_utf8() const;
    void expect_empty() const;
    void begin();
    void take_up();
    void expect_own_settings() const;
    void replace() const;
    void set_work_aside() const;
    void rename_work() const;
    void remove_spent() const;
    void remove_results() const;
    void remove_inner_runs() const;
    void check_results();

    std::filesystem::path path_;
    Contents contents_;
    Lock lock_;
    bool finished_ = false;
};

}  // namespace flyball::record
