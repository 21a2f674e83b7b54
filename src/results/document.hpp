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
#include <vector>

#include "core/json.hpp"

namespace flyball::results {

inline constexpr std::size_t largest_page = 3'000'000;  // bytes, the script included

struct Page {  // NOLINT(bugprone-exception-escape): moving JSON throws nothing
    std::string html;
    Json folders;  // [{"folder", "command", "unreadable": [sentence..]}]
};

// The page of these folders, in their order. An Error for a path that is not a folder of results.
Page page_of(const std::vector<std::filesystem::path>& folders);

// The document itself, as large as it comes with this much detail: 0 is all there is room for in a small run, every
// further level halves it.
Json document_of(const std::vector<std::filesystem::path>& folders, std::size_t level = 0);

}  // namespace flyball::results
