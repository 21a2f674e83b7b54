#include "cli/report_output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "core/file.hpp"
#include "record/folder.hpp"
#include "results/document.hpp"

namespace flyball::cli {

void check_page_place(const std::filesystem::path& file, bool was_named) {
    constexpr std::string_view where = "cli.report";
    std::error_code ignored;
    if (!was_named && std::filesystem::is_symlink(file, ignored)) {
        throw Error(ErrorKind::usage, where, fmt::format("{}, which is a link", flyball::quoted(file.string())),
                    "a page, or nothing, at this place", "remove the link, or name a file with --output");
    }
    if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) == 0) {
        return;
    }
    constexpr std::string_view beginning = "<!doctype html>";
    std::string found(beginning.size(), ' ');
    errno = 0;
    std::ifstream page(file);
    if (!page.is_open()) {
        throw_file_error(where, file, errno, "a page to replace, which can be read");
    }
    page.read(found.data(), static_cast<std::streamsize>(found.size()));
    if (found != beginning) {
        throw Error(ErrorKind::usage, where, fmt::format("{}, which is no page", flyball::quoted(file.string())),
                    "a page to replace, or a file that is not there yet", "choose another name, or remove the file");
    }
}

void write_report_page(const std::filesystem::path& folder, const Common& common) {
    const std::filesystem::path file = folder / record::page_name;
    try {
        check_page_place(file, false);
        remove_abandoned(folder, record::page_name);
        write_file_atomically(file, results::page_of({folder}).html);
    } catch (const std::exception& error) {
        const auto* known = dynamic_cast<const Error*>(&error);
        print_error(
            fmt::format("flyball: note: the run is complete, but its page was not written: {} `flyball report {}` "
                        "writes it.\n",
                        known != nullptr ? known->what() : "too little memory.", flyball::quoted(folder.string())));
        return;
    }
    if (!common.json) {
        print_out(fmt::format("open {} in a browser\n", file.string()));
    }
}

void write_missing_report_page(const std::filesystem::path& folder, const Common& common) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / record::page_name, ignored)) {
        write_report_page(folder, common);
    }
}

}  // namespace flyball::cli
