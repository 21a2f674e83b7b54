// `flyball check`: the preflight of a block, before anyone pays for a training run; or a saved run beside an equation.
#include <fmt/format.h>

#include <memory>

#include "check/document.hpp"
#include "cli/check_against.hpp"
#include "cli/check_output.hpp"
#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/terminal.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_check = "cli.check";
constexpr std::size_t largest_check = std::size_t{1} << 28U;

struct CheckFlags {
    SchemeFlags schemes;
    FolderFlags folder;
    check::Settings settings;
    std::string against;
};

// A saved run is compared with one equation, and nothing of a preflight applies.
void check_alone(const CheckFlags& flags, const std::vector<scheme::Scheme>& blocks) {
    if (blocks.size() != 1) {
        throw Error(ErrorKind::usage, where_check, fmt::format("{} blocks and --against", blocks.size()),
                    "one scheme or equation to compare the run with");
    }
    const check::Settings standard;
    for (const check::SettingField& field : check::setting_fields()) {
        if (field.text(flags.settings) != field.text(standard)) {
            throw Error(ErrorKind::usage, where_check, fmt::format("--{} and --against", field.key), "one of them",
                        "a saved run has its own sizes, norm and step");
        }
    }
    if (flags.folder.out) {
        throw Error(ErrorKind::usage, where_check, "--out and --against", "one of them",
                    "--json prints the whole answer");
    }
}

std::vector<ConfigEntry> check_configuration(const CheckFlags& flags, const std::vector<scheme::Scheme>& blocks) {
    std::vector<ConfigEntry> entries;
    for (const auto& [flag, values] : scheme::scheme_flags(blocks)) {
        entries.push_back({"check." + flag, values, ""});
    }
    add_configuration("check", check::setting_fields(), flags.settings, entries);
    return entries;
}

ExitCode exit_of(const Json& document) {
    const auto is_bad = [](const Json& one) { return one["verdict"] == "unstable" || one["verdict"] == "malformed"; };
    if (!document.contains("checks")) {
        return is_bad(document) ? ExitCode::bad_verdict : ExitCode::done;
    }
    for (const Json& one : document["checks"]) {
        if (is_bad(one)) {
            return ExitCode::bad_verdict;
        }
    }
    return ExitCode::done;
}

void write_check(record::Folder& folder, const Json& document, const check::PreflightReport& report,
                 const report::Sheet& sheet) {
    std::vector<std::string> files = {"config.toml", "check.json", "report.txt"};
    write_file_atomically(folder.path() / "check.json", dump_json(document, 2) + "\n");
    write_file_atomically(folder.path() / "report.txt", check_text(report));
    const auto drawn = report::write_figure(folder.path(), "check", check_page(report), sheet);
    files.insert(files.end(), drawn.begin(), drawn.end());
    folder.finish(record::provenance(report.blocks.front().block.settings.seed), files);
}

ExitCode run_check(const CheckFlags& flags, const Common& common) {
    const std::vector<scheme::Scheme> blocks = flags.schemes.chosen();
    if (!flags.against.empty()) {
        check_alone(flags, blocks);
        return run_check_against(blocks.front(), flags.against, common);
    }
    if (blocks.empty() || blocks.size() > 2) {
        throw Error(ErrorKind::usage, where_check, fmt::format("{} blocks", blocks.size()),
                    "one scheme or equation, or two to compare", "flyball check peri-ln");
    }
    check::check(flags.settings);
    check::check_start(blocks, flags.settings);
    const record::FolderUse use = flags.folder.use("check");
    const report::Sheet sheet = flags.folder.sheet("check");
    std::unique_ptr<record::Folder> folder;
    if (flags.folder.out) {
        const std::vector<ConfigEntry> configuration = check_configuration(flags, blocks);
        folder = std::make_unique<record::Folder>(
            *flags.folder.out, use,
            record::Folder::Contents{to_toml(configuration), identity_of(configuration),
                                     flags.folder.resume_command("check"), std::string(where_check)});
        if (folder->finished()) {
            const std::string stored = read_text_file(folder->path() / "check.json", largest_check);
            print_out(common.json ? stored : read_text_file(folder->path() / "report.txt", largest_check));
            write_missing_report_page(folder->path(), common);
            return exit_of(parse_json(stored, "check.json"));
        }
    }
    catch_interrupts();
    ShareProgress progress("check");
    check::PreflightReport report;
    try {
        report = check::preflight(blocks, flags.settings, {&interrupted(), [&](double share) { progress.at(share); }});
    } catch (const Stopped&) {
        print_error(
            folder ? fmt::format("flyball: interrupted; begin again with: {}\n", flags.folder.resume_command("check"))
                   : "flyball: interrupted\n");
        return ExitCode::interrupted;
    }
    progress.finish();
    const Json document = check::document(report);
    if (folder) {
        write_check(*folder, document, report, sheet);
    }
    print_out(common.json ? dump_json(document, 2) + "\n" : check_text(report));
    if (folder && !common.json) {
        print_out(fmt::format("\nwritten to {}: check.json, report.txt, check.svg (one page)\n", *flags.folder.out));
    }
    if (folder) {
        write_report_page(folder->path(), common);
    }
    return exit_of(document);
}

}  // namespace

Command check_command() {
    Command command;
    command.name = "check";
    command.summary = "say whether a block would train, before anyone pays for a run";
    command.about =
        "Says whether a residual block would train, before anyone pays for a run: it looks at the equation, "
        "at fresh models of growing depth, and at short training runs beside Pre-LN and Peri-LN.";
    command.example =
        "flyball check peri-ln\n"
        "  flyball check 'x + dt*norm(f(norm(x)))/sqrt(t+1) | norm(x)' --depth 48 --width 1024 --tokens 1024\n"
        "  flyball check deepnorm --init 'value=sqrt(1/d)*(8*L)^0.25,output=sqrt(1/d)*(8*L)^0.25'\n"
        "  flyball check pre-ln peri-ln --out both\n"
        "  flyball check peri-ln --against run.safetensors";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<CheckFlags>();
        flags->schemes.declare(app, "one is needed; two are compared");
        declare_settings(app, check::setting_fields(), std::shared_ptr<check::Settings>(flags, &flags->settings));
        begin_group(app, "a saved run instead");
        add_option(app, "--against", flags->against,
                   "instead: tensors saved by your own code that ran the block; is it what the equation says? "
                   "(docs/conformance.md)")
            .type_name("RUN.safetensors")
            .not_empty("the name of a file");
        flags->folder.declare(app, "check.json, the report and a page of figures");
        return [flags](const Common& common) { return run_check(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
