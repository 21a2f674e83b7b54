// `flyball train`: small GPTs under one or several schemes, on the same data from the same start.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/terminal.hpp"
#include "cli/train_output.hpp"
#include "core/amount.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "model/locate.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t most_seeds = 10'000;

struct TrainFlags {
    SchemeFlags schemes;
    FolderFlags folder;
    train::Settings settings;
    std::size_t seeds = 1;
};

// The name of a run's folder: nothing in it that a shell or a file system would take for something else.
std::string run_name(const std::string& scheme, const train::Settings& settings, bool several_dt) {
    std::string text = scheme;
    std::replace_if(
        text.begin(), text.end(),
        [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.' && c != '_'; }, '-');
    if (several_dt) {
        text += fmt::format("-dt{}", *settings.dt);
    }
    return fmt::format("{}-{}", text, settings.seed);
}

// Those that were named; a model that is trained further keeps its equation; otherwise Pre-LN.
std::vector<scheme::Scheme> schemes_of(const TrainFlags& flags) {
    if (!flags.schemes.empty()) {
        return flags.schemes.chosen();
    }
    if (flags.settings.from.empty()) {
        return {scheme::find_scheme("pre-ln")};
    }
    // By the catalogue's name where it has one, for then the scheme's prescriptions hold.
    const std::string equation = model::load_model(model::locate(flags.settings.from)).program().text();
    const scheme::CatalogueEntry* const entry = scheme::entry_of_equation(equation);
    return {entry != nullptr ? scheme::find_scheme(entry->name) : scheme::scheme_of_equation(equation)};
}

std::vector<train::RunPlan> plans_of(const TrainFlags& flags, const std::vector<scheme::Scheme>& schemes) {
    std::vector<train::RunPlan> plans;
    const train::Settings& s = flags.settings;
    const std::vector<double> steps = s.several_dt.empty() ? std::vector<double>{*s.dt} : s.several_dt;
    for (const scheme::Scheme& scheme : schemes) {
        for (const double dt : steps) {
            for (std::size_t i = 0; i < flags.seeds; ++i) {
                train::Settings own = s;
                own.several_dt.clear();
                own.dt = dt;
                own.seed = s.seed + i;
                plans.push_back({run_name(scheme.name, own, steps.size() > 1), own, scheme});
            }
        }
    }
    std::set<std::string> names;
    for (const train::RunPlan& plan : plans) {
        if (!names.insert(plan.name).second) {
            throw Error(ErrorKind::usage, "cli.train", fmt::format("two runs called {}", plan.name),
                        "every scheme and every --dt once",
                        "equations of your own can have names: --equation NAME=TEXT");
        }
    }
    return plans;
}

void check_seeds(const TrainFlags& flags) {
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    if (flags.seeds > most_seeds) {
        throw Error(ErrorKind::usage, "cli.train", setting("seeds", std::to_string(flags.seeds)),
                    fmt::format("at most {}", most_seeds));
    }
    if (flags.seeds - 1 > last - flags.settings.seed) {
        throw Error(ErrorKind::usage, "cli.train",
                    fmt::format("{} from {} on", setting("seeds", std::to_string(flags.seeds)),
                                setting("seed", std::to_string(flags.settings.seed))),
                    fmt::format("seeds up to {}", last));
    }
}

// What can be known to fail before anything is written.
void check_plans(const std::vector<train::RunPlan>& plans, const train::Corpus& corpus) {
    for (const train::RunPlan& plan : plans) {
        const model::Architecture architecture = train::planned_architecture(plan.settings, plan.scheme, corpus.vocab);
        model::check(architecture, "the architecture");
        const double needed = train::memory_estimate(architecture, train::parameter_count(architecture), plan.settings);
        const double available = available_memory();
        if (needed > available) {
            throw Error(ErrorKind::resource, "cli.train",
                        fmt::format("a run of {} that needs about {}", plan.name, memory_text(needed)),
                        fmt::format("at most the {} of memory that are free", memory_text(available)),
                        "use a smaller --batch with --accumulate, or fewer --layers, --dim or --context");
        }
        train::check_start(plan.settings, plan.scheme, corpus.vocab);
        train::check_tokens(plan.settings, corpus);
    }
}

// The folder around the folders of several runs.
class OuterFolder {
  public:
    OuterFolder(const TrainFlags& flags, const std::vector<train::RunPlan>& plans, const train::Corpus& corpus)
        : use_(flags.folder.use("train")),
          folder_(*flags.folder.out, use_,
                  {train::configuration(plans, {{"dt", dt_text(flags.settings)},
                                                {"seed", std::to_string(flags.settings.seed)},
                                                {"seeds", std::to_string(flags.seeds)}}),
                   identity(plans, corpus), flags.folder.resume_command("train"), "cli.train"}) {}

    record::Folder& folder() { return folder_; }
    std::filesystem::path inner(const train::RunPlan& plan) const { return folder_.path() / plan.name; }
    // A run that was never begun has nothing to be taken up.
    record::FolderUse inner_use(const train::RunPlan& plan) const {
        std::error_code error;
        const bool begun = std::filesystem::exists(inner(plan) / "config.toml", error);
        return use_ == record::FolderUse::resume && !begun ? record::FolderUse::force : use_;
    }

  private:
    static std::string dt_text(const train::Settings& settings) {
        const auto& fields = train::setting_fields();
        const auto field = std::find_if(fields.begin(), fields.end(),
                                        [](const auto& row) { return std::string_view(row.key) == "dt"; });
        return *field->text(settings);
    }
    static record::Identity identity(const std::vector<train::RunPlan>& plans, const train::Corpus& corpus) {
        record::Identity all = train::identity_of(plans.front(), corpus);
        for (const train::RunPlan& plan : plans) {
            all.emplace_back("run " + plan.name, plan.scheme.program.text());
        }
        return all;
    }

    record::FolderUse use_;
    record::Folder folder_;
};

void draw(const std::filesystem::path& folder, const std::vector<TrainRun>& runs, const report::Sheet& sheet,
          const std::function<void(std::string)>& add_file) {
    for (const NamedFigure& one : train_figures(runs)) {
        for (std::string& name : report::write_figure(folder, one.name, one.figure, sheet)) {
            add_file(std::move(name));
        }
    }
}

Json summaries(const std::vector<TrainRun>& runs) {
    Json list = Json::array();
    for (const TrainRun& run : runs) {
        list.push_back(train::to_json(run.result.summary));
    }
    return list;
}

// One run; taken up where a killed one left off when it has a folder.
train::RunResult run_one(const train::RunPlan& plan, const train::Corpus& corpus, train::RunFolder* folder,
                         const report::Sheet& sheet, TrainView& view, std::vector<TrainRun>& runs) {
    if (folder != nullptr && folder->finished()) {
        return {folder->stored_summary(), folder->lines(), true};
    }
    runs.push_back({plan, {}});
    train::Watch watch;
    watch.stop = &interrupted();
    watch.step = [&](const Json& line, double seconds_left) {
        runs.back().result.lines.push_back(line);
        view.show(runs, line, seconds_left);
    };
    if (folder != nullptr) {
        runs.back().result.lines = folder->lines();
    }
    train::RunResult result = train::run(plan, corpus, folder, watch);
    runs.pop_back();
    if (folder != nullptr && result.complete) {
        draw(folder->path(), {{plan, result}}, sheet, [&](std::string name) { folder->add_file(std::move(name)); });
        folder->finish();
    }
    return result;
}

ExitCode run(TrainFlags& flags, const Common& common) {
    train::check(flags.settings);
    check_seeds(flags);
    const record::FolderUse use = flags.folder.use("train");
    const report::Sheet sheet = flags.folder.sheet("train");
    const std::vector<scheme::Scheme> schemes = schemes_of(flags);
    flags.settings = train::completed(flags.settings);
    const std::vector<train::RunPlan> plans = plans_of(flags, schemes);
    const train::Corpus corpus = train::load_corpus(train::corpus_settings(flags.settings));
    check_plans(plans, corpus);
    std::unique_ptr<OuterFolder> outer;
    const std::string resume_command = flags.folder.resume_command("train");
    if (flags.folder.out && plans.size() > 1) {
        outer = std::make_unique<OuterFolder>(flags, plans, corpus);
    }
    catch_interrupts();
    bool work_was_left = outer && !outer->folder().finished();
    TrainView view(plans.size());
    std::vector<TrainRun> runs;
    // The first one is begun whatever comes, since a table of no runs says nothing: it stops by itself.
    for (std::size_t i = 0; i < plans.size() && (i == 0 || !interrupted()); ++i) {
        std::unique_ptr<train::RunFolder> folder;
        if (outer) {
            folder = std::make_unique<train::RunFolder>(outer->inner(plans[i]), outer->inner_use(plans[i]), plans[i],
                                                        corpus, resume_command);
        } else if (flags.folder.out) {
            folder = std::make_unique<train::RunFolder>(*flags.folder.out, use, plans[i], corpus, resume_command);
        }
        work_was_left = work_was_left || (folder && !folder->finished());
        train::RunResult result = run_one(plans[i], corpus, folder.get(), sheet, view, runs);
        runs.push_back({plans[i], std::move(result)});
        view.end_run(runs);
    }
    const bool complete = runs.size() == plans.size() && runs.back().result.complete;
    if (outer && complete && !outer->folder().finished()) {
        std::vector<std::string> files = {"config.toml", "summary.json"};
        write_file_atomically(outer->folder().path() / "summary.json", dump_json(summaries(runs), 2) + "\n");
        draw(outer->folder().path(), runs, sheet, [&](std::string name) { files.push_back(std::move(name)); });
        outer->folder().finish(record::provenance(flags.settings.seed), files);
    }
    if (common.json) {
        print_out(dump_json(plans.size() == 1 ? summaries(runs).at(0) : summaries(runs), 2) + "\n");
    } else {
        print_out(train_text(runs, corpus));
    }
    if (!complete) {
        print_error(flags.folder.out
                        ? fmt::format("flyball: interrupted; go on with: {}\n", resume_command)
                        : "flyball: interrupted; with --out DIR the next one can be continued where it stopped\n");
        return ExitCode::interrupted;
    }
    if (flags.folder.out && !common.json) {
        print_out(fmt::format("\nwritten to {}: models, metrics, summary.json and figures\n", *flags.folder.out));
    }
    if (flags.folder.out) {
        const auto write = work_was_left ? write_report_page : write_missing_report_page;
        write(*flags.folder.out, common);
    }
    return ExitCode::done;
}

}  // namespace

Command train_command() {
    Command command;
    command.name = "train";
    command.summary = "train small GPTs and record how stable they are";
    command.about =
        "Trains small GPT models under one or several schemes on the same data, and records for every layer "
        "what tells whether training is stable.";
    command.example =
        "flyball train\n"
        "  flyball train pre-ln peri-ln post-ln --data book.txt --encoding chars --out run1\n"
        "  flyball train peri-ln --dt 1,0.5,0.1 --seeds 3 --layers 24 --out run2\n"
        "  flyball train --equation 'mine=x + dt*norm(f(x)) | norm(x)' --steps 2000";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<TrainFlags>();
        flags->schemes.declare(app, "none: pre-ln");
        declare_settings(app, train::setting_fields(), std::shared_ptr<train::Settings>(flags, &flags->settings));
        begin_group(app, "repetitions");
        add_option(app, "--seeds", flags->seeds, "repeat every run with this many seeds, from --seed on")
            .type_name("N")
            .whole_number(1);
        flags->folder.declare(app, "models, metrics of every step and layer, and figures");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
