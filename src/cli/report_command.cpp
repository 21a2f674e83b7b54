// `flyball report`: folders of results as one page that opens anywhere.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/report_serve.hpp"
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
    bool serve = false;
    int port = usual_port;
};

// In the folder itself where there is one, otherwise here.
std::filesystem::path page_file(const ReportFlags& flags) {
    if (!flags.output.empty()) {
        return flags.output;
    }
    const std::filesystem::path name = record::page_name;
    return flags.folders.size() == 1 ? flags.folders.front() / name : name;
}

void check_serving(const CLI::App& app, const ReportFlags& flags) {
    if (flags.serve && !flags.output.empty()) {
        throw Error(ErrorKind::usage, where_report, "--serve and --output together", "one of them",
                    "leave out --serve to write a file");
    }
    if (!flags.serve && was_given(app, "--port")) {
        throw Error(ErrorKind::usage, where_report, "--port without --serve", "a page that is served", "add --serve");
    }
    constexpr int last_port = 65535;
    if (flags.port < 0 || flags.port > last_port) {
        throw Error(ErrorKind::usage, where_report, fmt::format("--port {}", flags.port),
                    fmt::format("a number from 0 to {}", last_port));
    }
}

void say_what_is_missing(const Json& folders) {
    for (const Json& folder : folders) {
        const std::string name = flyball::quoted(folder.at("folder").get<std::string>());
        if (folder.at("state") != "finished") {
            print_note(
                fmt::format("flyball: note: the run in {} is not finished; the page shows what it has written so "
                            "far, and --serve shows it as it grows\n",
                            name));
        }
        for (const Json& sentence : folder.at("unreadable")) {
            print_error(fmt::format("flyball: note: in {}, {}\n", name, sentence.get<std::string>()));
        }
    }
}

ExitCode run_report(const CLI::App& app, const ReportFlags& flags, const Common& common) {
    if (flags.folders.empty()) {
        throw Error(ErrorKind::usage, where_report, "no folder", "folders that commands were given as --out",
                    "flyball simulate --out run, then flyball report run");
    }
    check_serving(app, flags);
    const std::vector<std::filesystem::path> folders(flags.folders.begin(), flags.folders.end());
    if (flags.serve) {
        return serve_report(folders, static_cast<std::uint16_t>(flags.port), common);
    }
    const std::filesystem::path file = page_file(flags);
    check_page_place(file, !flags.output.empty());
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
    say_what_is_missing(page.folders);
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
        "as DIR/report.html; this one makes a page of several folders, or of a run that goes on. With --serve the page "
        "stays open in a browser on this machine and grows with the run.";
    command.example =
        "flyball report run1\n"
        "  flyball report run1 claims trained -o all.html\n"
        "  flyball report trained --serve";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<ReportFlags>();
        begin_group(app, "what is shown");
        add_names(app, "DIR...,--folder", flags->folders, "folders that commands were given as --out");
        begin_group(app, "output");
        add_option(app, "-o,--output", flags->output,
                   "the file to write (default: report.html in the folder, or here when there are several)")
            .type_name("FILE.html")
            .not_empty("the name of a file");
        begin_group(app, "a run that goes on");
        add_flag(
            app, "--serve", flags->serve,
            "show the page at http://127.0.0.1:PORT/, on this machine alone, until Ctrl-C; it grows while a command "
            "writes to the folder, which may come later than the page");
        add_option(app, "--port", flags->port, "where --serve listens; 0: any port that is free")
            .type_name("PORT")
            .whole_number(0)
            .capture_default_str();
        return [flags, &app](const Common& common) { return run_report(app, *flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
