// `flyball limits`: what the attention of a checkpoint can and cannot select.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/limits_output.hpp"
#include "cli/model_notes.hpp"
#include "cli/terminal.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "limits/analysis.hpp"
#include "limits/document.hpp"
#include "limits/row_report.hpp"
#include "model/builtin.hpp"
#include "model/locate.hpp"
#include "model/recorder.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_limits = "cli.limits";
constexpr std::size_t largest_limits_text = std::size_t{1} << 30U;
constexpr std::size_t largest_document = std::size_t{1} << 30U;

struct LimitsFlags {
    std::string model = "builtin:pre-ln";
    std::string text;
    std::string ids;
    FolderFlags folder;
    limits::Settings settings;
};

struct Text {
    std::vector<std::int32_t> ids;
    std::vector<std::string> words;  // the tokens as the tokenizer spells them
};

Text read_text(const LimitsFlags& flags, const std::filesystem::path& folder, std::size_t most) {
    if (!flags.ids.empty() && !flags.text.empty()) {
        throw Error(ErrorKind::usage, where_limits, "--ids and --text together", "one of them");
    }
    Text text;
    if (!flags.ids.empty()) {
        text.ids = ids_of(where_limits, flags.ids);
        text.ids.resize(std::min(text.ids.size(), most));
        return text;
    }
    const std::filesystem::path file = flags.text.empty() ? model::builtin_text() : std::filesystem::path(flags.text);
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    text.ids = tokenizer.encode_at_most(most, read_text_file(file, largest_limits_text));
    for (const std::int32_t id : text.ids) {
        text.words.push_back(tokenizer.decode({&id, 1}, false));
    }
    return text;
}

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
    if (!flags.text.empty()) {
        entries.push_back({"limits.text", {flags.text}, ""});
    }
    if (!flags.ids.empty()) {
        entries.push_back({"limits.ids", {flags.ids}, ""});
    }
    add_configuration("limits", limits::setting_fields(), flags.settings, entries);
    return entries;
}

std::vector<limits::Result> run_analysis(const LimitsFlags& flags, const model::Model<float>& model,
                                         const std::vector<std::int32_t>& ids,
                                         const std::vector<std::size_t>& lengths) {
    ShareProgress progress("limits");
    limits::Watch watch;
    watch.stop = &interrupted();
    watch.progress = [&](double share) { progress.at(share); };
    std::vector<limits::Result> results = limits::analyse(model, ids, flags.settings, lengths, watch);
    progress.finish();
    return results;
}

void write_limits(record::Folder& folder, const LimitsFlags& flags, const Json& document,
                  const std::vector<limits::Result>& results, const std::string& about) {
    std::vector<std::string> files = {"config.toml"};
    const auto write = [&](const std::string& name, const std::string& text) {
        write_file_atomically(folder.path() / name, text);
        files.push_back(name);
    };
    write("limits.json", dump_json(document, 2) + "\n");
    write("heads.csv", limits::heads_table(results));
    write("ks.csv", limits::ks_table(results));
    for (const LimitsFigure& one : limits_figures(results, about)) {
        std::visit([&](const auto& figure) { report::write_figure(folder.path(), one.name, figure); }, one.figure);
        files.push_back(one.name + ".svg");
        files.push_back(one.name + ".csv");
    }
    folder.finish(record::provenance(flags.settings.seed), files);
}

ExitCode show_row(const LimitsFlags& flags, const Common& common, const model::Model<float>& model, const Text& text) {
    Json row = limits::row_document(model, text.ids, flags.settings);
    row["model"] = model::document(flags.model, model);
    print_out(common.json ? dump_json(row, 2) + "\n" : limits_row_text(row, text.words));
    return ExitCode::done;
}

std::string about_text(const LimitsFlags& flags, const model::Model<float>& model, std::size_t tokens) {
    const model::Architecture& a = model.architecture();
    return fmt::format("{}: {} blocks of {} heads, {} tokens, vectors: {}{}", flags.model, a.layers, a.heads, tokens,
                       limits::name(flags.settings.vectors),
                       flags.settings.include_masked ? ", masked keys included" : "");
}

ExitCode run(LimitsFlags& flags, const Common& common) {
    limits::check(flags.settings);
    const record::FolderUse use = flags.folder.use("limits");
    const std::filesystem::path path = model::locate(flags.model);
    const model::Model<float> model = model::load_model(path);
    print_notes(flags.model, model);
    const model::Architecture& architecture = model.architecture();
    const Text text = read_text(flags, path, limits::tokens_wanted(flags.settings, architecture));
    const limits::Lengths lengths = limits::lengths_for(flags.settings, architecture, text.ids.size());
    check_limits_memory(architecture, text.ids.size(), flags.settings);
    if (flags.settings.row) {
        if (flags.folder.out) {
            throw Error(ErrorKind::usage, where_limits, "--out with --row", "one of them",
                        "--json prints all of a row");
        }
        return show_row(flags, common, model, text);
    }
    std::unique_ptr<record::Folder> folder;
    if (flags.folder.out) {
        const std::vector<ConfigEntry> configuration = limits_configuration(flags);
        folder = std::make_unique<record::Folder>(
            *flags.folder.out, use,
            record::Folder::Contents{to_toml(configuration), identity_of(configuration),
                                     flags.folder.resume_command("limits"), std::string(where_limits)});
    }
    if (folder && folder->finished()) {
        print_out(common.json ? read_text_file(folder->path() / "limits.json", largest_document)
                              : fmt::format("The run in {} is complete; its results are in limits.json.\n",
                                            folder->path().string()));
        return ExitCode::done;
    }
    for (const std::string& note : lengths.notes) {
        print_error(fmt::format("flyball: note: {}\n", note));
    }
    catch_interrupts();
    std::vector<limits::Result> results;
    try {
        results = run_analysis(flags, model, text.ids, lengths.lengths);
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
        write_limits(*folder, flags, document, results, about);
    }
    if (common.json) {
        print_out(dump_json(document, 2) + "\n");
        return ExitCode::done;
    }
    print_out(limits_text(results, about));
    if (folder) {
        print_out(fmt::format("\nwritten to {}: limits.json, heads.csv, ks.csv and figures\n", *flags.folder.out));
    }
    return ExitCode::done;
}

}  // namespace

Command limits_command() {
    Command command;
    command.name = "limits";
    command.summary = "measure what a checkpoint's attention can and cannot select";
    command.example =
        "flyball limits\n"
        "  flyball limits openai-community/gpt2 --text book.txt --out run1\n"
        "  flyball limits builtin:pre-ln --attention softmax,sparsemax,ssmax,sigmoid\n"
        "  flyball limits ./gpt2 --text book.txt --head 3.5 --row 40";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<LimitsFlags>();
        add_option(app, "MODEL,--model", flags->model,
                   "a folder with config.json and model.safetensors, an id in the local Hugging Face cache, or "
                   "builtin:NAME")
            .capture_default_str();
        add_option(app, "--text", flags->text,
                   "the file with the text, for the model's own tokenizer (default: the one that comes with the "
                   "builtin models)")
            .type_name("FILE");
        add_option(app, "--ids", flags->ids, "instead of a text: token ids with commas between them, or @FILE")
            .type_name("LIST");
        declare_settings(app, limits::setting_fields(), std::shared_ptr<limits::Settings>(flags, &flags->settings));
        flags->folder.declare(app, "limits.json, tables of heads and figures");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
