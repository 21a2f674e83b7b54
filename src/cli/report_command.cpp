// `flyball report`: folders of results as one page that opens anywhere.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "record/folder.hpp"
#include "results/document.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_report = "cli.report";

struct ReportFlags {
    std::vector<std::string> folders;
    std::string output;
};

// In the folder itself where there is one, otherwise here.
std::filesystem::path page_file(const ReportFlags& flags) {
    if (!flags.output.empty()) {
        return flags.output;
    }
    const std::filesystem::path name = record::page_name;
    return flags.folders.size() == 1 ? flags.folders.front() / name : name;
}

ExitCode run_report(const ReportFlags& flags, const Common& common) {
    if (flags.folders.empty()) {
        throw Error(ErrorKind::usage, where_report, "no folder", "folders that commands were given as --out",
                    "flyball simulate --out run, then flyball report run");
    }
    const std::filesystem::path file = page_file(flags);
    const std::vector<std::filesystem::path> folders(flags.folders.begin(), flags.folders.end());
    const results::Page page = results::page_of(folders);
    remove_abandoned(file.has_parent_path() ? file.parent_path() : ".", file.filename().string());
    write_file_atomically(file, page.html);
    if (common.json) {
        Json document = Json::object();
        document["file"] = file.string();
        document["bytes"] = page.html.size();
        document["folders"] = page.folders;
        print_out(dump_json(document, 2) + "\n");
        return ExitCode::done;
    }
    for (const Json& folder : page.folders) {
        for (const Json& sentence : folder.at("unreadable")) {
            print_error(fmt::format("flyball: note: in {}, {}\n",
                                    flyball::quoted(folder.at("folder").get<std::string>()),
                                    sentence.get<std::string>()));
        }
    }
    print_out(
        fmt::format("open {} in a browser ({:.2f} MB)\n", file.string(), static_cast<double>(page.html.size()) * 1e-6));
    return ExitCode::done;
}

}  // namespace

Command report_command() {
    Command command;
    command.name = "report";
    command.summary = "show folders of results as one page that opens anywhere";
    command.about =
        "Puts folders of results on one page that opens in any browser, offline: tokens that move on the sphere, "
        "claims with their evidence, figures that answer the mouse. Every command with --out DIR leaves such a page "
        "as DIR/report.html; this one makes a page of several folders.";
    command.example =
        "flyball report run1\n"
        "  flyball report run1 claims trained -o all.html";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<ReportFlags>();
        begin_group(app, "what is shown");
        add_names(app, "DIR...,--folder", flags->folders, "folders that commands were given as --out");
        begin_group(app, "output");
        add_option(app, "-o,--output", flags->output,
                   "the file to write (default: report.html in the folder, or here when there are several)")
            .type_name("FILE.html")
            .not_empty("the name of a file");
        return [flags](const Common& common) { return run_report(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
