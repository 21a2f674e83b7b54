// What folders of results say, as the document of the page (web/src/document.ts has its shape).
//
// A folder is known by its config.toml, which names the command that wrote it; every other file of it may be missing or
// damaged: the document then says in one sentence which part could not be read, and has all others. Numbers are those
// of the files, to the bit. Long series are thinned (detail.hpp) until the document is small enough, and say so.
//
// Not here: HTML (report/page.hpp), running anything, and folders that no command of ours has written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "results/watched.hpp"

namespace flyball::results {

inline constexpr std::size_t largest_page = 3'000'000;  // bytes, the script included

// How far the run of a folder is. Awaited: there is no config.toml yet, with which a run begins.
enum class State { awaited, unfinished, finished };
std::string_view name(State state);

struct Page {  // NOLINT(bugprone-exception-escape): moving JSON throws nothing
    std::string html;
    Json folders;  // [{"folder", "command", "state", "unreadable": [sentence..]}]
};

// The page of these folders, in their order. An Error for a path that is not a folder of results.
Page page_of(const std::vector<std::filesystem::path>& folders);

// The document itself, as large as it comes with this much detail: 0 is all there is room for in a small run, every
// further level halves it.
// `watched` notes what was looked at.
enum class Absent { refused, awaited };  // what becomes of a folder in which no run has begun
Json document_of(const std::vector<std::filesystem::path>& folders, std::size_t level = 0,
                 Absent absent = Absent::refused, Watched* watched = nullptr);

// The document with as much detail as a page has room for, from `first_level` on.
struct Fitting {  // NOLINT(bugprone-exception-escape): moving JSON throws nothing
    std::string embedded, title;
    Json folders;  // as in Page
    std::size_t level = 0;
    Watched watched;
};
Fitting fitting_document(const std::vector<std::filesystem::path>& folders, Absent absent, std::size_t first_level = 0);

// An Error for a path that is neither a folder of results nor can become one: what is not there, and a folder without
// any file, can.
void check_awaited(const std::vector<std::filesystem::path>& folders);

}  // namespace flyball::results
