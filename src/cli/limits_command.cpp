// `flyball limits`: what the attention of a checkpoint can and cannot select.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/limits_output.hpp"
#include "cli/model_input.hpp"
#include "cli/model_notes.hpp"
#include "cli/report_output.hpp"
#include "cli/terminal.hpp"
#include "core/amount.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "limits/analysis.hpp"
#include "limits/document.hpp"
#include "limits/row_report.hpp"
#include "model/builtin.hpp"
#include "model/locate.hpp"
#include "model/recorder.hpp"
#include "results/in_short.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_limits = "cli.limits";
constexpr std::size_t largest_document = std::size_t{1} << 30U;

struct LimitsFlags {
    std::string model = "builtin:pre-ln";
    InputFlags input;
    FolderFlags folder;
    limits::Settings settings;
};

void check_limits_memory(const model::Architecture& architecture, std::size_t tokens,
                         const limits::Settings& settings) {
    const double needed = limits::memory_estimate(architecture, tokens, settings);
    const double available = available_memory();
    if (needed > available) {
        throw Error(ErrorKind::resource, where_limits,
                    fmt::format("{} tokens, which need about {}", tokens, memory_text(needed)),
                    fmt::format("at most the {} of memory that are free", memory_text(available)),
                    "use smaller --lengths");
    }
}

std::vector<ConfigEntry> limits_configuration(const LimitsFlags& flags) {
    std::vector<ConfigEntry> entries = {{"limits.model", {flags.model}, ""}};
    for (ConfigEntry& entry : flags.input.configuration("limits")) {
        entries.push_back(std::move(entry));
    }
    add_configuration("limits", limits::setting_fields(), flags.settings, entries);
    return entries;
}

std::vector<limits::Result> run_analysis(const LimitsFlags& flags, const model::Model<float>& model,
                                         const model::Input& input, const std::vector<std::size_t>& lengths) {
    ShareProgress progress("limits");
    limits::Watch watch;
    watch.stop = &interrupted();
    watch.progress = [&](double share) { progress.at(share); };
    std::vector<limits::Result> results = limits::analyse(model, input, flags.settings, lengths, watch);
    progress.finish();
    return results;
}

void write_limits(record::Folder& folder, const LimitsFlags& flags, const Json& document,
                  const std::vector<limits::Result>& results, const std::string& about, const report::Sheet& sheet) {
    std::vector<std::string> files = {"config.toml"};
    const auto write = [&](const std::string& name, const std::string& text) {
        write_file_atomically(folder.path() / name, text);
        files.push_back(name);
    };
    write("limits.json", dump_json(document, 2) + "\n");
    write("heads.csv", limits::heads_table(results));
    write("ks.csv", limits::ks_table(results));
    for (const LimitsFigure& one : limits_figures(results, about)) {
        const auto drawn =
            std::visit([&](const auto& figure) { return report::write_figure(folder.path(), one.name, figure, sheet); },
                       one.figure);
        files.insert(files.end(), drawn.begin(), drawn.end());
    }
    folder.finish(record::provenance(flags.settings.seed), files);
}

ExitCode show_row(const LimitsFlags& flags, const Common& common, const model::Model<float>& model,
                  const ModelInput& given) {
    Json row = limits::row_document(model, given.input, flags.settings);
    row["model"] = model::document(flags.model, model);
    print_out(common.json ? dump_json(row, 2) + "\n" : limits_row_text(row, given.texts()));
    return ExitCode::done;
}

std::string about_text(const LimitsFlags& flags, const model::Model<float>& model, std::size_t tokens) {
    const model::Architecture& a = model.architecture();
    return fmt::format("{}: {} blocks of {} heads, {} tokens, vectors: {}{}", results::short_model_name(flags.model),
                       a.layers, a.heads, tokens, limits::name(flags.settings.vectors),
                       flags.settings.include_masked ? ", masked keys included" : "");
}

ExitCode run(LimitsFlags& flags, const Common& common) {
    limits::check(flags.settings);
    flags.input.check(where_limits, true);
    const record::FolderUse use = flags.folder.use("limits");
    const report::Sheet sheet = flags.folder.sheet("limits");
    const std::filesystem::path path = model::locate(flags.model);
    const model::Model<float> model = model::load_model(path);
    print_notes(flags.model, model);
    const model::Architecture& architecture = model.architecture();
    const ModelInput given = read_input(where_limits, flags.input, path, model,
                                        limits::tokens_wanted(flags.settings, architecture), model::builtin_text());
    const limits::Lengths lengths = limits::lengths_for(flags.settings, architecture, given.tokens());
    check_limits_memory(architecture, given.tokens(), flags.settings);
    if (flags.settings.row) {
        if (flags.folder.out) {
            throw Error(ErrorKind::usage, where_limits, "--out with --row", "one of them",
                        "--json prints all of a row");
        }
        return show_row(flags, common, model, given);
    }
    std::unique_ptr<record::Folder> folder;
    if (flags.folder.out) {
        const std::vector<ConfigEntry> configuration = limits_configuration(flags);
        folder = std::make_unique<record::Folder>(
            *flags.folder.out, use,
            record::Folder::Contents{to_toml(configuration), identity_of(configuration),
                                     flags.folder.resume_command("limits"), std::string(where_limits),
                                     inputs_of(1, path, model, given.input)});
    }
    if (folder && folder->finished()) {
        print_out(common.json ? read_text_file(folder->path() / "limits.json", largest_document)
                              : fmt::format("The run in {} is complete; its results are in limits.json.\n",
                                            folder->path().string()));
        write_missing_report_page(folder->path(), common);
        return ExitCode::done;
    }
    for (const std::string& note : lengths.notes) {
        print_note(fmt::format("flyball: note: {}\n", note));
    }
    catch_interrupts();
    std::vector<limits::Result> results;
    try {
        results = run_analysis(flags, model, given.input, lengths.lengths);
    } catch (const Stopped&) {
        print_error(
            folder ? fmt::format("flyball: interrupted; begin again with: {}\n", flags.folder.resume_command("limits"))
                   : "flyball: interrupted\n");
        return ExitCode::interrupted;
    }
    if (results.front().rows_left_out > 0) {
        warn_not_finite(flags.model, model);
    }
    const std::string about = about_text(flags, model, lengths.lengths.back());
    const Json document = limits::document(model::document(flags.model, model), lengths.lengths.back(), flags.settings,
                                           results, lengths.notes);
    if (folder) {
        write_limits(*folder, flags, document, results, about, sheet);
    }
    print_out(common.json ? dump_json(document, 2) + "\n" : limits_text(results, about));
    if (folder && !common.json) {
        print_out(fmt::format("\nwritten to {}: limits.json, heads.csv, ks.csv and figures\n", *flags.folder.out));
    }
    if (folder) {
        write_report_page(folder->path(), common);
    }
    return ExitCode::done;
}

}  // namespace

Command limits_command() {
    Command command;
    command.name = "limits";
    command.summary = "measure what a checkpoint's attention can and cannot select";
    command.about =
        "Measures what the attention of a model can and cannot select, head by head: how many tokens it can "
        "keep apart from the rest, and how sensitive its weights are.";
    command.example =
        "flyball limits\n"
        "  flyball limits openai-community/gpt2 --text book.txt --out run1\n"
        "  flyball limits builtin:pre-ln --attention softmax,sparsemax,ssmax,sigmoid\n"
        "  flyball limits ./gpt2 --text book.txt --head 3.5 --row 40";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<LimitsFlags>();
        begin_group(app, "model");
        add_option(app, "MODEL,--model", flags->model,
                   "a folder with config.json and model.safetensors, an id in the local Hugging Face cache, or "
                   "builtin:NAME")
            .capture_default_str();
        flags->input.declare(app, "the one that comes with the builtin models");
        declare_settings(app, limits::setting_fields(), std::shared_ptr<limits::Settings>(flags, &flags->settings));
        flags->folder.declare(app, "limits.json, tables of heads and figures");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
