#include "cli/report_output.hpp"

#include <fmt/format.h>

#include "core/file.hpp"
#include "record/folder.hpp"
#include "results/document.hpp"

namespace flyball::cli {

void write_report_page(const std::filesystem::path& folder, const Common& common) {
    const std::filesystem::path file = folder / record::page_name;
    try {
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
