// `flyball inspect`: where depth goes in a checkpoint, block by block.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/inspect_output.hpp"
#include "cli/model_input.hpp"
#include "cli/model_notes.hpp"
#include "cli/report_output.hpp"
#include "cli/terminal.hpp"
#include "core/amount.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "inspect/document.hpp"
#include "inspect/inspection.hpp"
#include "model/builtin.hpp"
#include "model/locate.hpp"
#include "model/model_rows.hpp"
#include "model/recorder.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_inspect = "cli.inspect";
constexpr std::size_t largest_report = std::size_t{1} << 30U;

struct InspectFlags {
    std::vector<std::string> models;
    InputFlags input;
    FolderFlags folder;
    inspect::Settings settings;

    std::vector<std::string> chosen() const {
        return models.empty() ? std::vector<std::string>{"builtin:peri-ln"} : models;
    }
};

// Windows of one length, one after another.
struct InspectInput {
    model::Batch batch = 0;
    model::Input input;
    inspect::Spelling spelling;
};

// Of a text, each window has the special tokens that the model wants; ids are taken as they are, and rows in place of
// tokens are one window.
InspectInput windows_of(const InspectFlags& flags, const std::filesystem::path& folder,
                        const model::Model<float>& model) {
    const inspect::Windows windows = inspect::windows_for(flags.settings, model.architecture());
    InspectInput result;
    if (flags.input.ids.empty() && flags.input.embeddings.empty()) {
        const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
        const std::string text =
            flags.input.string ? repaired_text(*flags.input.string) : read_given_text(model::builtin_text().string());
        const auto encoded = tokenizer.encode_windows(windows.length, windows.most, text);
        result.batch = model::Batch(encoded.size(), encoded.front().size());
        for (const std::vector<std::int32_t>& window : encoded) {
            result.input.ids.insert(result.input.ids.end(), window.begin(), window.end());
        }
        result.spelling = [tokenizer](std::int32_t id) {
            return tokenizer.token(id) ? tokenizer.decode({&id, 1}, false) : std::string();
        };
        return result;
    }
    const bool one_window = !flags.input.embeddings.empty();
    const std::size_t most = one_window ? windows.length : windows.length * windows.most;
    const ModelInput given = read_input(where_inspect, flags.input, folder, model, most);
    const std::size_t length = std::min(windows.length, given.tokens());
    result.batch = model::Batch(std::max<std::size_t>(1, given.tokens() / std::max<std::size_t>(1, length)), length);
    result.input = given.input.first(result.batch.rows());
    if (given.tokenizer) {
        result.spelling = [given](std::int32_t id) { return given.text_of(id); };
    }
    return result;
}

void check_inspect_memory(const model::Model<float>& model, const model::Batch& batch,
                          const inspect::Settings& settings) {
    const double needed = inspect::memory_estimate(model, batch, settings);
    const double available = available_memory();
    if (needed > available) {
        throw Error(
            ErrorKind::resource, where_inspect,
            fmt::format("{} x {} tokens, which need about {}", batch.sequences, batch.tokens, memory_text(needed)),
            fmt::format("at most the {} of memory that are free", memory_text(available)),
            "use a smaller --length or --sequences, or --no-gradient");
    }
}

std::vector<ConfigEntry> inspect_configuration(const InspectFlags& flags) {
    std::vector<ConfigEntry> entries = {{"inspect.model", flags.chosen(), ""}};
    for (ConfigEntry& entry : flags.input.configuration("inspect")) {
        entries.push_back(std::move(entry));
    }
    add_configuration("inspect", inspect::setting_fields(), flags.settings, entries);
    return entries;
}

// A model with its input, of which all that a user gave is known to be sound.
struct Prepared {
    model::Model<float> model;
    InspectInput input;
};

Prepared prepared(const std::string& name, const InspectFlags& flags) {
    const std::filesystem::path path = model::locate(name);
    model::Model<float> model = model::load_model(path);
    InspectInput input = windows_of(flags, path, model);
    if (!input.input.has_rows()) {
        model::check_ids(model.architecture(), input.input.ids);
    }
    inspect::check_batch(input.batch);
    check_inspect_memory(model, input.batch, flags.settings);
    return {std::move(model), std::move(input)};
}

Inspected inspect_one(const std::string& name, const Prepared& one, const InspectFlags& flags, RunsProgress& progress,
                      Json& document) {
    const auto& [model, input] = one;
    print_notes(name, model);
    progress.begin(name);
    inspect::Watch watch;
    watch.stop = &interrupted();
    watch.progress = [&](double share) { progress.at(share); };
    Inspected result{name, model.program().text(),
                     inspect::inspect(model, input.batch, input.input, flags.settings, watch), input.spelling};
    if (result.report.first_not_finite < result.report.layers.size()) {
        warn_not_finite(name, model);
    }
    document = inspect::document(model::document(name, model), result.report, result.spelling);
    return result;
}

// Files of several models differ by their number: names may hold anything.
void write_inspection(record::Folder& folder, const Json& document, const std::vector<Inspected>& models,
                      const report::Sheet& sheet) {
    std::vector<std::string> files = {"config.toml"};
    const auto write = [&](const std::string& name, const std::string& text) {
        write_file_atomically(folder.path() / name, text);
        files.push_back(name);
    };
    write("inspect.json", dump_json(document, 2) + "\n");
    for (std::size_t i = 0; i < models.size(); ++i) {
        const std::string ending = models.size() == 1 ? ".csv" : fmt::format("-{}.csv", i + 1);
        write("layers" + ending, inspect::layers_table(models[i].report));
        write("heads" + ending, inspect::heads_table(models[i].report));
        write("gains" + ending, inspect::gains_table(models[i].report));
    }
    const auto draw = [&](const std::string& name, const auto& figure) {
        const auto drawn = report::write_figure(folder.path(), name, figure, sheet);
        files.insert(files.end(), drawn.begin(), drawn.end());
    };
    draw("depth", inspect_page(models));
    for (const InspectFigure& one : inspect_figures(models)) {
        draw(one.name, one.figure);
    }
    folder.finish(record::provenance(0), files);
}

ExitCode run_inspect(const InspectFlags& given, const Common& common) {
    given.input.check(where_inspect, true);
    InspectFlags flags = given;
    if (!flags.input.text.empty()) {  // once: every model wants it, and the standard input or a pipe has it once
        flags.input.string = read_given_text(flags.input.text);
        flags.input.text.clear();
    }
    const record::FolderUse use = flags.folder.use("inspect");
    const report::Sheet sheet = flags.folder.sheet("inspect");
    std::unique_ptr<record::Folder> folder;
    // One model at a time is in memory; all of them are tried before a folder is made, and the first one stays.
    const std::vector<std::string> names = flags.chosen();
    record::Identity inputs;
    std::optional<Prepared> ready;
    for (std::size_t i = flags.folder.out ? names.size() : 1; i-- > 0;) {
        ready.reset();
        ready.emplace(prepared(names[i], flags));
        if (flags.folder.out) {
            const record::Identity of_one = inputs_of(i + 1, model::locate(names[i]), ready->model, ready->input.input);
            inputs.insert(inputs.end(), of_one.begin(), of_one.end());
        }
    }
    if (flags.folder.out) {
        const std::vector<ConfigEntry> configuration = inspect_configuration(given);
        folder = std::make_unique<record::Folder>(
            *flags.folder.out, use,
            record::Folder::Contents{to_toml(configuration), identity_of(configuration),
                                     flags.folder.resume_command("inspect"), std::string(where_inspect), inputs});
        if (folder->finished()) {
            print_out(common.json ? read_text_file(folder->path() / "inspect.json", largest_report)
                                  : fmt::format("The run in {} is complete; its results are in inspect.json.\n",
                                                folder->path().string()));
            write_missing_report_page(folder->path(), common);
            return ExitCode::done;
        }
    }
    catch_interrupts();
    std::vector<Inspected> models;
    Json documents = Json::array();
    RunsProgress progress(names.size());
    try {
        for (const std::string& name : names) {
            if (!ready) {
                ready.emplace(prepared(name, flags));
            }
            Json document;
            models.push_back(inspect_one(name, *ready, flags, progress, document));
            documents.push_back(std::move(document));
            ready.reset();
        }
        progress.finish();
    } catch (const Stopped&) {
        print_error(
            folder ? fmt::format("flyball: interrupted; begin again with: {}\n", flags.folder.resume_command("inspect"))
                   : "flyball: interrupted\n");
        return ExitCode::interrupted;
    }
    Json document = documents.front();
    if (models.size() > 1) {
        document = Json::object();
        document["models"] = std::move(documents);
    }
    if (folder) {
        write_inspection(*folder, document, models, sheet);
    }
    print_out(common.json ? dump_json(document, 2) + "\n" : inspect_text(models));
    if (folder && !common.json) {
        print_out(fmt::format("\nwritten to {}: depth.svg (one page), inspect.json, tables and figures\n",
                              *flags.folder.out));
    }
    if (folder) {
        write_report_page(folder->path(), common);
    }
    return ExitCode::done;
}

}  // namespace

Command inspect_command() {
    Command command;
    command.name = "inspect";
    command.summary = "show where depth goes in a checkpoint, block by block";
    command.about =
        "Shows where the depth of a model goes, block by block: how the residual stream grows, how far each "
        "block turns it, and which blocks do little.";
    command.example =
        "flyball inspect\n"
        "  flyball inspect openai-community/gpt2 --text book.txt --drop --out run1\n"
        "  flyball inspect builtin:pre-ln builtin:peri-ln builtin:post-ln\n"
        "  flyball inspect ./gpt2 --text book.txt --length 1024 --lens --no-gradient";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<InspectFlags>();
        begin_group(app, "model");
        add_names(app, "MODEL...,--model", flags->models,
                  "a folder with config.json and model.safetensors, an id in the local Hugging Face cache, or "
                  "builtin:NAME; several are compared (default: builtin:peri-ln)");
        flags->input.declare(app, "the text that comes with the builtin models");
        declare_settings(app, inspect::setting_fields(), std::shared_ptr<inspect::Settings>(flags, &flags->settings));
        flags->folder.declare(app, "inspect.json, tables of blocks and heads, and figures");
        return [flags](const Common& common) { return run_inspect(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
