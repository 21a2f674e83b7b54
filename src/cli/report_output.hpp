// The page that every command with --out leaves in its folder.
#pragma once

#include <filesystem>

#include "cli/command.hpp"

namespace flyball::cli {

// Throws where a page must not be written: over a file that is no page, which may be the results themselves, or, at a place
// that nobody named, through a link, which may lead out of the folder.
void check_page_place(const std::filesystem::path& file, bool was_named);

// Writes folder/report.html and, unless the output is JSON, says where it is. The run is finished and stays so: when
// the page cannot be written, one sentence on stderr says why and how to get it.
void write_report_page(const std::filesystem::path& folder, const Common& common);

// The same for a folder whose run had been finished before: only where there is no page.
void write_missing_report_page(const std::filesystem::path& folder, const Common& common);

}  // namespace flyball::cli
