// The life of a folder of results: begun, taken up, finished, replaced. The order of writes is the protocol.
#include "record/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"
#include "core/utf8.hpp"
#include "record/ownership.hpp"

namespace flyball::record {

namespace {

constexpr std::size_t largest_text = std::size_t{1} << 24U;

bool is_there(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

// Names and checksums of the files of a run.
std::vector<std::pair<std::string, Json>> files_in(const Json& about) {
    std::vector<std::pair<std::string, Json>> files;
    if (about.is_object() && about.contains("files") && about["files"].is_object()) {
        for (const auto& [name, sum] : about["files"].items()) {
            files.emplace_back(name, sum);
        }
    }
    return files;
}

bool is_as_listed(const std::filesystem::path& file, const Json& sum) {
    try {
        return sum == file_checksum(file);
    } catch (const Error&) {
        return false;
    }
}

// A name that a result of ours can have: nothing in a file may make us delete outside of the folder.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

// The first setting in which two configurations differ, as each of them has it. Comments and the order of settings
// make no difference.
struct Difference {
    std::string theirs, ours;
};
std::optional<Difference> difference(const std::vector<ConfigEntry>& theirs, const std::vector<ConfigEntry>& ours) {
    std::map<std::string, std::array<std::optional<std::string>, 2>> values;
    for (const std::size_t side : {0U, 1U}) {
        for (const ConfigEntry& entry : side == 0 ? theirs : ours) {
            values[entry.key.substr(entry.key.find('.') + 1)][side] = fmt::format("{}", fmt::join(entry.values, ", "));
        }
    }
    for (const auto& [key, both] : values) {
        if (both[0] != both[1]) {
            const auto shown = [&key = key](const std::optional<std::string>& value) {
                return value ? setting(key, *value) : "no " + setting(key);
            };
            return Difference{shown(both[0]), shown(both[1])};
        }
    }
    return std::nullopt;
}

// What `train` keeps beside work/ while it runs; a finished run lists both.
constexpr const char* grown_lines = "metrics.jsonl";
constexpr const char* grown_events = "events.out.tfevents.0.flyball";

}  // namespace

FolderUse folder_use(const std::optional<std::string>& out, bool resume, bool force, std::string_view where) {
    if (out && out->empty()) {
        throw Error(ErrorKind::usage, where, setting("out", "''"), "the name of a folder");
    }
    if (resume && force) {
        throw Error(ErrorKind::usage, where, fmt::format("{} and {} together", setting("resume"), setting("force")),
                    "one of them",
                    fmt::format("{} goes on with the run, {} starts anew", setting("resume"), setting("force")));
    }
    if (!out && resume) {
        throw Error(ErrorKind::usage, where, fmt::format("{} without {}", setting("resume"), setting("out")),
                    "the folder of the run", "add " + setting("out", "DIR"));
    }
    return resume ? FolderUse::resume : force ? FolderUse::force : FolderUse::fresh;
}

namespace {

// A run of `train` among others: its folder is called SCHEME-SEED.
bool is_inner_run(const std::filesystem::path& folder) try {
    const std::filesystem::path settings = folder / "config.toml";
    if (!is_there(settings) || !(is_work_of_ours(folder / "work") || is_provenance_as_written(provenance_in(folder)))) {
        return false;
    }
    const std::vector<ConfigEntry> entries =
        parse_toml_config(read_regular_file(settings, largest_text), settings.string());
    return std::any_of(entries.begin(), entries.end(), [&](const ConfigEntry& entry) {
        return entry.key == "train.seed" && entry.values.size() == 1 &&
               folder.filename().string().ends_with("-" + entry.values.front());
    });
} catch (const Error&) {
    return false;  // not to be read: not plainly ours
}

}  // namespace

void Folder::fail(std::string_view what, std::string_view expected, std::string_view hint) const {
    throw Error(ErrorKind::usage, contents_.where,
                fmt::format("{}, {}", setting("out", flyball::quoted(path_.string())), what), expected, hint);
}

Folder::Folder(std::filesystem::path path, FolderUse use, Contents contents)
    : path_(std::move(path)), contents_(std::move(contents)) {
    contents_.identity.insert(contents_.identity.end(), contents_.inputs.begin(), contents_.inputs.end());
    expect_utf8();
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(path_, error);
    if (std::filesystem::exists(path_, error) && !is_folder) {
        fail("which is a file", "a folder");
    }
    if (!is_folder && std::filesystem::is_symlink(path_, error)) {
        fail("which is a link to nothing", "a folder that can be made and written to");
    }
    if (use == FolderUse::resume && !std::filesystem::exists(path_ / "config.toml", error)) {
        fail(error ? fmt::format("'{}'", error.message()) : "which holds no run", "the folder of a run to continue");
    }
    std::filesystem::create_directories(path_, error);
    if (error) {
        fail(fmt::format("'{}'", error.message()), "a folder that can be made and written to");
    }
    if (!lock_.take(path_)) {
        fail("in which another process of flyball is at work", "a folder of its own for every run",
             "wait for that process, or choose another folder");
    }
    remove_abandoned(path_);  // a run killed while it wrote its first file has left nothing else
    remove_abandoned(path_ / "work");
    remove_abandoned(path_ / spent);
    if (use == FolderUse::fresh) {
        expect_empty();
    }
    if (use == FolderUse::resume) {
        take_up();
        return;
    }
    if (use == FolderUse::force) {
        replace();
    }
    begin();
}

// config.toml is to be read again, and TOML is UTF-8. A name of a file may be anything.
void Folder::expect_utf8() const {
    const std::string_view all = contents_.configuration;
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = std::min(all.find('\n', begin), all.size());
        const std::string_view line = all.substr(begin, end - begin);
        if (!is_utf8(line)) {
            fail(fmt::format("whose config.toml would have {}, which is not UTF-8", flyball::quoted(line)),
                 "settings in UTF-8", "give the file or folder that is named there another name");
        }
        begin = end + 1;
    }
}

// Under the lock: what another process has just finished here is not taken for nothing.
void Folder::expect_empty() const {
    if (!names_in(path_).empty()) {
        if (const std::string why = not_ours(path_); !why.empty()) {
            fail("which " + why, "a new or empty folder", "choose another folder");
        }
        const std::string go_on = is_there(path_ / "config.toml") ? ", " + setting("resume") + " to go on" : "";
        fail("which is not empty", "a new or empty folder",
             fmt::format("give {} to replace the results in it{}", setting("force"), go_on));
    }
}

void Folder::replace() const {
    if (const std::string why = not_ours(path_); !why.empty()) {
        fail("which " + why, "a new or empty folder, or one of results of flyball", "choose another folder");
    }
    if (!names_in(path_).empty()) {
        set_work_aside();
        remove_inner_runs();
        remove_results();
    }
}

// A finished run has no work/ to be renamed, and a run.json may be damaged. Where the disk is too full for a new one it
// is done without.
void Folder::set_work_aside() const {
    if (is_there(work("run.json"))) {
        remove_work(path_ / spent);
        rename_work();
    }
    if (is_work_of_ours(path_ / spent)) {
        return;
    }
    try {
        std::error_code ignored;
        std::filesystem::create_directory(path_ / spent, ignored);
        write_sealed_json(path_ / spent / "run.json", seal("run"), Json::object());
    } catch (const Error&) {
        remove_work(path_ / spent);
    }
}

void Folder::rename_work() const {
    std::error_code error;
    std::filesystem::rename(path_ / "work", path_ / spent, error);
    if (error) {
        throw Error(ErrorKind::io, "record.finish",
                    fmt::format("{} ({})", flyball::quoted((path_ / "work").string()), error.message()),
                    "a folder that can be renamed");
    }
}

// What the run before left: a run that comes to its end needs the name.
void Folder::remove_spent() const {
    if (!remove_work_of_ours(path_ / spent)) {
        fail(fmt::format("which holds {}/ that is not of flyball", spent), "a folder of results alone",
             "move that one elsewhere");
    }
}

Folder::Lock::~Lock() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

// True also where the file system has no locks: refusing to run there would help nobody.
bool Folder::Lock::take(const std::filesystem::path& folder) {
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void Folder::begin() {
    write_file_atomically(path_ / "config.toml", contents_.configuration);
    remove_spent();
    std::error_code error;
    std::filesystem::create_directories(path_ / "work", error);
    if (error) {
        fail(fmt::format("'{}'", error.message()), "a folder that can be made and written to");
    }
    write_sealed_json(work("run.json"), seal("run"), Json::object());
}

//     work/run.json                       the run goes on
//     no work/, provenance.json           finished: its files are compared with their checksums
//     no work/, or an empty one           killed before it had begun
//     work/ without run.json              somebody else's doing: refused
void Folder::take_up() {
    expect_own_settings();
    if (is_there(work("run.json"))) {
        read_sealed_json(work("run.json"), seal("run"));
        remove_spent();
    } else if (!is_there(path_ / "work") && is_there(path_ / "provenance.json")) {
        check_results();
        finished_ = true;
        remove_work_of_ours(path_ / spent);
    } else if (!is_there(path_ / "work") || names_in(path_ / "work").empty()) {
        begin();  // killed before it had begun
    } else {
        fail("whose work/ has no run.json", "the folder as the run left it", "choose another folder");
    }
}

// Says what differs: who has edited config.toml is sent in a circle by a command that reads it.
void Folder::expect_own_settings() const {
    const std::filesystem::path file = path_ / "config.toml";
    const std::string text = read_regular_file(file, largest_text);
    if (text == contents_.configuration) {
        return;
    }
    const std::vector<ConfigEntry> theirs = parse_toml_config(text, file.string());
    const std::vector<ConfigEntry> ours = parse_toml_config(contents_.configuration, "the settings");
    if (const std::string command = table_of(theirs); command != table_of(ours) && !command.empty()) {
        fail(fmt::format("whose run is one of {}", flyball::quoted("flyball " + command)),
             fmt::format("one of {}", flyball::quoted("flyball " + table_of(ours))),
             "go on with that command, or choose another folder");
    }
    const std::optional<Difference> found = difference(theirs, ours);
    if (!found) {
        return;
    }
    if (is_work_of_ours(path_ / spent) && !is_there(path_ / "work")) {
        fail(fmt::format("which was about to be replaced and still has settings of the run before: {}", found->theirs),
             fmt::format("{}, as in this run", found->ours),
             fmt::format("give {} instead of {}", setting("force"), setting("resume")));
    }
    fail(fmt::format("whose config.toml has other settings: {}", found->theirs),
         fmt::format("{}, as in this run", found->ours),
         fmt::format("use {}; where config.toml was edited, undo that", contents_.resume_command));
}

std::vector<std::string> Folder::files() const {
    std::vector<std::string> names;
    const Json about = parse_json(read_regular_file(path_ / "provenance.json", largest_text), "provenance.json");
    for (const auto& [name, sum] : files_in(about)) {
        names.push_back(name);
    }
    return names;
}

void Folder::check_results() {
    const std::filesystem::path file = path_ / "provenance.json";
    const Json about = parse_json(read_regular_file(file, largest_text), file.string());
    const bool listed = about.is_object() && about.contains("files") && about["files"].is_object();
    if (!listed || about["files"].empty()) {
        refuse(file, "no list of files", "the provenance of a finished run");
    }
    if (!is_provenance_as_written(about)) {
        refuse(file, "contents that do not have the checksum at their end", "the file as the run wrote it");
    }
    const Json read = about.contains("inputs") && about["inputs"].is_object() ? about["inputs"] : Json::object();
    for (const auto& [name, sum] : contents_.inputs) {
        if (read.contains(name) && read[name] != sum) {
            refuse(file, fmt::format("a finished run with other {}", name), "what that run has read");
        }
    }
    for (const auto& [name, sum] : about["files"].items()) {
        if (!is_plain_name(name) || !is_there(path_ / name) || sum != file_checksum(path_ / name)) {
            refuse(path_ / name, "contents that do not have the checksum in provenance.json",
                   "the file as the run wrote it");
        }
    }
}

// provenance.json goes last: it knows what is left to remove when we are killed on the way. Until then the folder is
// refused as a finished run, because files that it lists are missing. The list of one that was changed, or of a version
// that did not seal it, counts for files that are as it says. config.toml stays until the new one takes its place.
void Folder::remove_results() const {
    const Json about = provenance_in(path_);
    const bool sealed = is_provenance_as_written(about);
    std::error_code ignored;
    for (const auto& [name, sum] : files_in(about)) {
        const std::filesystem::path file = path_ / name;
        if (is_plain_name(name) && name != "config.toml" && (sealed || is_as_listed(file, sum))) {
            std::filesystem::remove(file, ignored);
        }
    }
    if (sealed) {
        std::filesystem::remove(path_ / page_name, ignored);
    }
    std::filesystem::remove(path_ / "provenance.json", ignored);
}

// Of several runs each has a folder inside this one. One that is left would be taken for a run of the new plan that has
// begun, and its model for a result of it. Only what is plainly such a run goes: it is called by its seed, and is begun
// or finished as runs of ours are. Files of others stay, and with them their folder.
void Folder::remove_inner_runs() const {
    std::error_code ignored;
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
        if (entry.is_directory(ignored) && !entry.is_symlink(ignored) && is_inner_run(entry.path())) {
            found.push_back(entry.path());
        }
    }
    for (const std::filesystem::path& path : found) {
        Folder inner(path);
        inner.contents_.where = contents_.where;
        if (!inner.lock_.take(path)) {
            inner.fail("in which another process of flyball is at work", "a folder whose runs can be replaced",
                       "wait for that process, or choose another folder");
        }
        const bool going_on = is_there(inner.work("run.json"));
        std::filesystem::remove(path / "config.toml", ignored);  // first: without it nobody takes the rest up
        for (const char* const name : {"work", spent}) {
            if (is_work_of_ours(path / name)) {
                remove_work(path / name);
            }
        }
        inner.remove_results();
        for (const char* const name : {grown_lines, grown_events}) {
            if (going_on) {
                std::filesystem::remove(path / name, ignored);
            }
        }
        remove_abandoned(path);
        std::filesystem::remove(path, ignored);
    }
}

// provenance.json before work/ is renamed: in between the run still counts as going on, and finishing it again is
// harmless.
void Folder::finish(Json about, const std::vector<std::string>& files) {
    Json sums = Json::object();
    for (const std::string& name : files) {
        check_stop();
        sums[name] = file_checksum(path_ / name);
    }
    about["files"] = std::move(sums);
    for (const auto& [name, sum] : contents_.inputs) {
        about["inputs"][name] = sum;
    }
    about.erase("checksum");
    about["checksum"] = provenance_sum(about);
    write_file_atomically(path_ / "provenance.json", dump_json(about, 2) + "\n");
    rename_work();
    remove_work(path_ / spent);
}

}  // namespace flyball::record
