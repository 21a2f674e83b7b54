// `flyball simulate`: particles on the sphere under one or several schemes, from the same start.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/simulate_output.hpp"
#include "cli/terminal.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/run.hpp"

namespace flyball::cli {

namespace {

struct Flags {
    std::vector<std::string> schemes;
    std::vector<std::string> equations;
    dynamics::Settings settings;
    bool tied = false;
    bool json = false;
    int threads = 0;
    std::optional<std::string> out;
    bool force = false;
    bool resume = false;
    bool trajectory = false;
};

// Every setting is a flag; what a user types goes through the setting's own reader.
void declare_settings(CLI::App& app, const std::shared_ptr<Flags>& flags) {
    const dynamics::Settings standard = flags->settings;
    for (const dynamics::SettingField& field : dynamics::setting_fields()) {
        const std::string flag = std::string("--") + field.key;
        if (field.is_switch()) {
            app.add_flag_callback(
                flag, [flags, &field] { field.parse("true", flags->settings); }, field.help);
            continue;
        }
        CLI::Option* const option =
            app.add_option_function<std::string>(
                   flag, [flags, &field](const std::string& text) { field.parse(text, flags->settings); }, field.help)
                ->type_name(field.type);
        if (const auto text = field.text(standard)) {
            option->default_str(*text);
        }
    }
}

void resolve(const CLI::App& app, Flags& flags) {
    dynamics::Settings& s = flags.settings;
    if (flags.tied && s.fresh) {
        throw Error(ErrorKind::usage, "cli.simulate", "--tied and --fresh together", "one of them");
    }
    if (s.layers && app.count("--time") > 0) {
        throw Error(ErrorKind::usage, "cli.simulate", "--time and --layers together", "one of them",
                    "--layers L --dt DT runs to time L*DT");
    }
    dynamics::complete(s);
    dynamics::check(s);
    if (flags.threads > 0) {
        set_threads(flags.threads);
    }
}

void check_memory(const Flags& flags, const std::vector<scheme::Scheme>& schemes) {
    for (const scheme::Scheme& scheme : schemes) {
        const double needed = dynamics::memory_estimate(flags.settings, scheme.program.stream_count());
        const double available = available_memory();
        if (needed > available) {
            throw Error(ErrorKind::resource, "cli.simulate",
                        fmt::format("a run of {} that needs about {:.1f} GB", scheme.name, needed * 1e-9),
                        fmt::format("at most the {:.1f} GB of memory that are free", available * 1e-9),
                        "use fewer --tokens, --systems, --samples or --dim");
        }
    }
}

constexpr double long_run = 60;  // seconds that are worth a warning

// One run, taken up where a killed one left off, with its restart point on disk every few seconds.
Simulated run_one(const Flags& flags, const scheme::Scheme& scheme, std::size_t number, SimulateFolder* folder) {
    Simulated simulated{scheme, {}, {}};
    std::optional<dynamics::RestartPoint> from;
    if (folder != nullptr && flags.resume) {
        const dynamics::Settings& s = flags.settings;
        auto saved = dynamics::load_checkpoint(folder->restart_file(number), folder->identity(number),
                                               s.systems * s.tokens * s.dim * scheme.program.stream_count());
        if (saved) {
            folder->check_samples(number, saved->record ? saved->record->samples.size() : saved->point.next_sample);
        }
        if (saved && saved->record) {
            simulated.record = std::move(*saved->record);
            return simulated;
        }
        if (saved) {
            from = std::move(saved->point);
        }
    }
    constexpr std::uint64_t ticks = 1000;
    Progress progress(fmt::format("{:<14}", scheme.name), ticks, progress_sink());
    std::uint64_t shown = 0;
    dynamics::Control control = dynamics::control_of(flags.settings);
    control.stop = &interrupted();
    dynamics::Watch watch = dynamics::watch_of(flags.settings);
    watch.progress = [&](double share) {
        const auto tick = static_cast<std::uint64_t>(share * static_cast<double>(ticks));
        if (tick > shown) {
            progress.advance(tick - shown);
            shown = tick;
        }
    };
    watch.forecast = [&](double seconds) {
        if (seconds > long_run) {
            const double bytes = dynamics::memory_estimate(flags.settings, scheme.program.stream_count());
            print_error(fmt::format("flyball: {} will take about {} and {} of memory\n", scheme.name,
                                    duration_text(seconds), memory_text(bytes)));
        }
    };
    std::optional<dynamics::RestartPoint> latest;
    auto written = std::chrono::steady_clock::now();
    std::size_t index = from ? from->next_sample : 0;
    if (folder != nullptr) {
        watch.sampled = [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
            folder->keep_sample(number, index++, sample, particles);
        };
        watch.restart_point = [&](const dynamics::RestartPoint& point) {
            latest = point;
            const auto now = std::chrono::steady_clock::now();
            if (now - written > std::chrono::seconds(2)) {
                dynamics::save_restart_point(folder->restart_file(number), folder->identity(number), point);
                written = now;
            }
        };
    }
    simulated.record = dynamics::run(dynamics::problem_of(flags.settings, scheme.program), control, watch, from);
    progress.finish();
    if (folder != nullptr && simulated.record.outcome != dynamics::Outcome::interrupted) {
        dynamics::save_record(folder->restart_file(number), folder->identity(number), simulated.record);
    } else if (folder != nullptr && latest) {
        dynamics::save_restart_point(folder->restart_file(number), folder->identity(number), *latest);
    }
    return simulated;
}

ExitCode run(const CLI::App& app, Flags& flags) {
    resolve(app, flags);
    const std::vector<scheme::Scheme> schemes = chosen_schemes(flags.schemes, flags.equations);
    check_memory(flags, schemes);
    std::unique_ptr<SimulateFolder> folder;
    const record::FolderUse use = record::folder_use(flags.out, flags.resume, flags.force, "cli.simulate");
    if (flags.out) {
        folder = std::make_unique<SimulateFolder>(*flags.out, use, flags.trajectory, flags.settings, schemes);
    } else if (flags.trajectory) {
        throw Error(ErrorKind::usage, "cli.simulate", "--trajectory without --out", "the folder of the run",
                    "add --out DIR");
    }
    if (folder && folder->finished()) {
        print_out(flags.json
                      ? folder->stored_result()
                      : fmt::format("The run in {} is complete; nothing is left to do.\n", folder->path().string()));
        return ExitCode::done;
    }
    catch_interrupts();
    std::vector<Simulated> runs;
    for (std::size_t i = 0; i < schemes.size() && !interrupted(); ++i) {
        runs.push_back(run_one(flags, schemes[i], i, folder.get()));
    }
    const bool complete = !interrupted() && runs.size() == schemes.size();
    if (folder && complete) {
        folder->write(runs);
    }
    print_out(flags.json ? dump_json(simulate_json(runs), 2) + "\n"
                         : simulate_text(flags.settings, runs, complete ? folder.get() : nullptr));
    if (complete) {
        return ExitCode::done;
    }
    print_error(folder ? fmt::format("flyball: interrupted; go on with: {}\n", folder->resume_command())
                       : "flyball: interrupted; with --out DIR a run can be taken up again\n");
    return ExitCode::interrupted;
}

}  // namespace

Command simulate_command() {
    Command command;
    command.name = "simulate";
    command.summary = "run schemes as interacting particles on the sphere";
    command.example =
        "flyball simulate --scheme peri-ln\n"
        "  flyball simulate --scheme post-ln --scheme ngpt:alpha=1/(1+t) --tokens 256 --start symmetric --beta 5 --out "
        "run1\n"
        "  flyball simulate --equation 'x + dt*f(norm(x)) | norm(x)' --layers 48 --dt 1 --weights kaiming --fresh";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<Flags>();
        flags->settings.dim = 0;  // chosen once the start is known
        app.add_option("--scheme", flags->schemes,
                       "a scheme, NAME or NAME:k=v,..; repeat for several runs from the same start")
            ->type_name("NAME")
            ->take_all()
            ->expected(1);
        app.add_option("--equation", flags->equations, "an equation of your own (docs/equation.md); may be repeated")
            ->type_name("TEXT")
            ->take_all()
            ->expected(1);
        declare_settings(app, flags);
        app.add_flag("--tied", flags->tied, "the same random weights at every depth (default)");
        app.add_option("--threads", flags->threads,
                       "threads (default: the CPUs there are); results do not depend on it")
            ->check(whole_number(0));
        app.add_flag("--json", flags->json, "print one JSON document");
        app.add_option("--out", flags->out, "write configuration, tables, arrays and figures to this folder")
            ->type_name("DIR");
        app.add_flag("--trajectory", flags->trajectory, "write all samples of x as HDF5 (H5MD layout) to --out");
        app.add_flag("--resume", flags->resume, "go on with the run in --out");
        app.add_flag("--force", flags->force, "allow --out to overwrite files in a folder that is not empty");
        return [flags, &app] { return run(app, *flags); };
    };
    return command;
}

}  // namespace flyball::cli
