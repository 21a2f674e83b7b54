#include "results/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/unreachable.hpp"
#include "core/version.hpp"
#include "report/page.hpp"
#include "report/utf8.hpp"
#include "results/parts.hpp"

namespace flyball::results {

namespace {

constexpr std::size_t levels = 8;

using ReadParts = void (*)(Reader&);

// Who can read the folder of a command.
const std::map<std::string, ReadParts>& readers() {
    static const std::map<std::string, ReadParts> table = {{"simulate", read_simulation}, {"reproduce", read_claims},
                                                           {"train", read_training},      {"inspect", read_inspection},
                                                           {"limits", read_limits},       {"check", read_check},
                                                           {"theory", read_theory}};
    return table;
}

[[noreturn]] void refuse_folder(const std::filesystem::path& folder, std::string_view what) {
    throw Error(ErrorKind::input, "results.folder", fmt::format("{}, {}", flyball::quoted(folder.string()), what),
                "the folder that a command was given as " + setting("out"), "flyball simulate has one, for example");
}

std::vector<ConfigEntry> configuration_of(const std::filesystem::path& folder) {
    constexpr const char* where = "results.folder";
    std::error_code ignored;
    const std::filesystem::path config = folder / "config.toml";
    if (!is_there(folder, where) || !std::filesystem::is_directory(folder, ignored)) {
        refuse_folder(folder, "which is not a folder");
    }
    if (!is_there(config, where) || !std::filesystem::is_regular_file(config, ignored)) {
        refuse_folder(folder, "which has no config.toml");
    }
    return stored_settings(config);
}

std::string command_in(const std::filesystem::path& folder, const std::vector<ConfigEntry>& entries) {
    for (const ConfigEntry& entry : entries) {
        std::string command = entry.key.substr(0, entry.key.find('.'));
        if (readers().count(command) == 1) {
            return command;
        }
    }
    refuse_folder(folder, "whose config.toml is of no command that has a page");
}

Json settings_json(const std::vector<ConfigEntry>& entries) {
    Json list = Json::array();
    for (const ConfigEntry& entry : entries) {
        const std::size_t dot = entry.key.find('.');
        list.push_back({dot == std::string::npos ? entry.key : entry.key.substr(dot + 1),
                        fmt::format("{}", fmt::join(entry.values, ", "))});
    }
    return list;
}

Json provenance_json(Reader& reader) {
    Json list = Json::array();
    if (!reader.finished()) {
        list.push_back({"state", "this run is not finished"});
    }
    if (!reader.has("provenance.json")) {
        return list;
    }
    reader.attempt("provenance.json", [&] {
        const Json about = reader.json("provenance.json");
        for (const auto& [key, value] : about.items()) {
            if (key == "checksum") {
                continue;  // of the file itself, for the program
            }
            if (value.is_object() && key != "kernels") {
                list.push_back({key, fmt::format("{} with checksums, in provenance.json", value.size())});
            } else {
                list.push_back({key, words(value)});
            }
        }
    });
    return list;
}

// The last so many parts of a path.
std::string last_parts(std::filesystem::path path, std::size_t count) {
    std::filesystem::path last = path.filename();
    while (--count > 0 && path.has_relative_path() && path.parent_path() != path) {
        path = path.parent_path();
        last = path.filename() / last;
    }
    return last.string();
}

// What folders are called: the last part of a path, also of "run/" and ".", with as many parts before it as tell it from
// the others ("first/run", "second/run").
std::vector<std::string> names_of(const std::vector<std::filesystem::path>& folders) {
    std::vector<std::filesystem::path> whole;
    for (const std::filesystem::path& folder : folders) {
        std::error_code error;
        const std::filesystem::path found = std::filesystem::weakly_canonical(folder, error);
        whole.push_back(error ? folder : found.has_filename() ? found : found.parent_path());
    }
    constexpr std::size_t most_parts = 64;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::size_t parts = 1;
        const auto is_taken = [&](const std::filesystem::path& other) {
            return other != whole[i] && last_parts(other, parts) == last_parts(whole[i], parts);
        };
        while (parts < most_parts && std::any_of(whole.begin(), whole.end(), is_taken)) {
            ++parts;
        }
        const std::string name = last_parts(whole[i], parts);
        names.push_back(name.empty() ? folders[i].string() : name);
    }
    return names;
}

Json folder_head(std::string_view command, State state) {
    Json json = Json::object();
    json["name"] = "";  // by names_of(), which knows the other folders
    json["command"] = command;
    json["state"] = name(state);
    json["short"] = Json::array();
    json["settings"] = Json::array();
    json["provenance"] = Json::array();
    json["unreadable"] = Json::array();
    json["parts"] = Json::array();
    return json;
}

Json folder_json(const std::filesystem::path& folder, const Detail& detail, Watched& watched) {
    watched.look(folder / "config.toml");
    const std::vector<ConfigEntry> entries = configuration_of(folder);
    const std::string command = command_in(folder, entries);
    Reader reader(folder, detail, watched, entries);
    Json json = folder_head(command, reader.finished() ? State::finished : State::unfinished);
    json["settings"] = settings_json(entries);
    json["provenance"] = provenance_json(reader);
    readers().at(command)(reader);
    json["short"] = reader.said();
    json["unreadable"] = reader.unreadable();
    json["parts"] = reader.parts();
    return json;
}

// The same where the run may not have begun, or just begins anew.
Json awaited_folder_json(const std::filesystem::path& folder, const Detail& detail, Watched& watched) {
    watched.look(folder / "config.toml");
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "config.toml", ignored)) {
        return folder_head("", State::awaited);
    }
    try {
        return folder_json(folder, detail, watched);
    } catch (const Error& error) {
        Json json = folder_head("", State::awaited);
        json["unreadable"].push_back(error.what());
        return json;
    }
}

// Names, equations and notes may have any length: what is beyond a page of text is left out, so that none fills the page.
// "points" are bytes and have limits of their own (Detail).
void shorten_texts(Json& value) {
    constexpr std::size_t longest_text = 4000;
    if (value.is_string()) {
        std::string& text = value.get_ref<std::string&>();
        if (text.size() > longest_text) {
            std::size_t end = longest_text;
            while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
                --end;  // not inside a character
            }
            text.resize(end);
            text += " ..";
        }
    } else if (value.is_structured()) {
        for (auto& [key, inner] : value.items()) {
            if (key != "points") {
                shorten_texts(inner);
            }
        }
    }
}

Json with_notes(Json folders, const std::string& note) {
    shorten_texts(folders);
    Json document = Json::object();
    document["version"] = version;
    document["notes"] = Json::array();
    if (!note.empty()) {
        document["notes"].push_back(note);
    }
    document["folders"] = std::move(folders);
    return document;
}

// The first level that may be low enough for a page of this size. Each halves a page at most, and what one does not thin the
// next will not.
std::size_t next_level(std::size_t level, std::size_t size, std::size_t before, std::size_t room) {
    const auto bytes = static_cast<double>(size);
    if (before > 0 && bytes > 0.98 * static_cast<double>(before)) {
        return levels;
    }
    const double halvings = std::ceil(std::log2(bytes / static_cast<double>(room)) - 0.1);
    return std::min(levels, level + static_cast<std::size_t>(std::max(1.0, halvings)));
}

// Thousands of claims or heads, or hundreds of folders: of the largest folders only what was run is left, until the page is
// smaller by so many bytes. Of folders of one size the last go first.
void leave_out_largest(Json& folders, std::size_t excess) {
    std::vector<std::pair<std::size_t, std::size_t>> sizes;  // and numbers of the folders
    for (std::size_t i = 0; i < folders.size(); ++i) {
        sizes.emplace_back(report::embedded_json(folders[i]["parts"]).size(), i);
    }
    std::sort(sizes.rbegin(), sizes.rend());
    const std::string said = folders.size() == 1
                                 ? "These results are too large for one page, even a selection of them."
                                 : "These results are too large for a page beside the others: `flyball report` of this "
                                   "folder alone shows them.";
    std::size_t saved = 0;
    for (const auto& [size, i] : sizes) {
        if (saved >= excess) {
            break;
        }
        folders[i]["parts"] = Json::array();
        folders[i]["unreadable"].push_back(said);
        saved += size - std::min(size, said.size() + 4);  // the sentence takes room too
    }
}

}  // namespace

std::string_view name(State state) {
    switch (state) {
        case State::awaited:
            return "awaited";
        case State::unfinished:
            return "unfinished";
        case State::finished:
            return "finished";
    }
    unreachable();
}

Json document_of(const std::vector<std::filesystem::path>& folders, std::size_t level, Absent absent,
                 Watched* watched) {
    Watched unasked;
    Watched& looked_at = watched == nullptr ? unasked : *watched;
    Json list = Json::array();
    const std::vector<std::string> names = names_of(folders);
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const std::filesystem::path& folder = folders[i];
        list.push_back(absent == Absent::refused ? folder_json(folder, Detail::at(level), looked_at)
                                                 : awaited_folder_json(folder, Detail::at(level), looked_at));
        list.back()["name"] = names[i];
    }
    return with_notes(std::move(list),
                      level == 0 ? std::string()
                                 : fmt::format("These results are large. To keep this page below {} MB, curves, moving "
                                               "pictures and tables show a selection; the files have everything.",
                                               largest_page / 1'000'000));
}

Fitting fitting_document(const std::vector<std::filesystem::path>& folders, Absent absent, std::size_t first_level) {
    const std::size_t room = largest_page - 10'000 - report::page_frame_size();
    Fitting fitting;
    std::size_t before = 0;  // the size at the level before
    for (fitting.level = first_level;;
         fitting.level = next_level(fitting.level, fitting.embedded.size(), before, room)) {
        before = fitting.embedded.size();
        fitting.watched = {};
        Json document = document_of(folders, fitting.level, absent, &fitting.watched);
        fitting.embedded = report::embedded_json(document);
        if (fitting.embedded.size() > room) {
            if (fitting.level < levels) {
                continue;
            }
            leave_out_largest(document["folders"], fitting.embedded.size() - room);
            fitting.embedded = report::embedded_json(document);
        }
        std::string names;
        fitting.folders = Json::array();
        for (const Json& folder : document["folders"]) {
            names += (names.empty() ? "" : ", ") + folder.at("name").get<std::string>();
            fitting.folders.push_back({{"folder", folders[fitting.folders.size()].string()},
                                       {"command", folder.at("command")},
                                       {"state", folder.at("state")},
                                       {"unreadable", folder.at("unreadable")}});
        }
        fitting.title = "Flyball report: " + report::shortened(names, 200);
        return fitting;
    }
}

Page page_of(const std::vector<std::filesystem::path>& folders) {
    Fitting fitting = fitting_document(folders, Absent::refused);
    return {report::page_around(fitting.embedded, fitting.title), std::move(fitting.folders)};
}

void check_awaited(const std::vector<std::filesystem::path>& folders) {
    for (const std::filesystem::path& folder : folders) {
        std::error_code error;
        const auto status = std::filesystem::status(folder, error);
        if (!std::filesystem::exists(status)) {
            continue;
        }
        bool empty = std::filesystem::is_directory(status);
        for (std::filesystem::directory_iterator at(folder, error), end; empty && !error && at != end;
             at.increment(error)) {
            const std::string name = at->path().filename().string();
            empty = name == "work" || name.front() == '.';
        }
        if (!empty || error) {
            command_in(folder, configuration_of(folder));
        }
    }
}

}  // namespace flyball::results
