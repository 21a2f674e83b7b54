// `flyball simulate`: particles on the sphere under one or several schemes, from the same start.
#include <fmt/format.h>

#include <memory>

#include "bridge/model_weights.hpp"
#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/simulate_figures.hpp"
#include "cli/simulate_output.hpp"
#include "cli/terminal.hpp"
#include "core/json.hpp"
#include "core/progress.hpp"

namespace flyball::cli {

namespace {

struct SimulateFlags {
    SchemeFlags schemes;
    FolderFlags folder;
    dynamics::Settings settings;
    bool tied = false;
    bool trajectory = false;
};

void resolve(const CLI::App& app, SimulateFlags& flags) {
    dynamics::Settings& s = flags.settings;
    if (flags.tied && s.fresh) {
        throw Error(ErrorKind::usage, "cli.simulate", "--tied and --fresh together", "one of them");
    }
    if (s.layers && was_given(app, "--time")) {
        throw Error(ErrorKind::usage, "cli.simulate", "--time and --layers together", "one of them",
                    "--layers L --dt DT runs to time L*DT");
    }
    if (s.weights == dynamics::WeightKind::model) {
        if (flags.tied) {
            throw Error(ErrorKind::usage, "cli.simulate", "--tied with the weights of a model", "random weights",
                        "the blocks of a model are taken one after the other");
        }
        const auto said = [&app](const char* flag) { return was_given(app, flag); };
        dynamics::use_trained(bridge::read_model_weights(s.weight_file, s.norm_gains),
                              {said("--dim"), said("--heads"), said("--beta"), said("--attention"),
                               said("--layers") || said("--time"), said("--dt")},
                              s);
    }
    dynamics::complete(s);
    dynamics::check(s);
}

void check_memory(const SimulateFlags& flags, const std::vector<scheme::Scheme>& schemes) {
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

// One run, with a bar on the terminal; taken up where a killed one left off when it has a folder.
dynamics::Record run_one(const SimulateFlags& flags, const scheme::Scheme& scheme, std::size_t number,
                         const dynamics::RunFolder* folder) {
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
    dynamics::Record record = folder != nullptr
                                  ? folder->run(number, control, watch)
                                  : dynamics::run(dynamics::problem_of(flags.settings, scheme.program), control, watch);
    progress.finish();
    return record;
}

void write_results(const SimulateFlags& flags, const std::vector<dynamics::SchemeRun>& runs,
                   dynamics::RunFolder& folder) {
    folder.write(runs);
    const auto draw = [&](const std::string& name, const auto& figure) {
        report::write_figure(folder.path(), name, figure);
        folder.add_file(name + ".svg");
        folder.add_file(name + ".csv");
    };
    draw("cosine", cosine_figure(flags.settings, runs));
    draw("radius", radius_figure(flags.settings, runs));
    draw("speed", speed_figure(flags.settings, runs));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto frames = folder.frames(i, runs[i].record);
        if (!frames.empty()) {
            draw(sphere_name(runs, i), sphere_figure(flags.settings, runs, i, frames));
        }
    }
    folder.finish(runs);
}

ExitCode run(const CLI::App& app, SimulateFlags& flags, const Common& common) {
    resolve(app, flags);
    const std::vector<scheme::Scheme> schemes = flags.schemes.chosen_or_six();
    check_memory(flags, schemes);
    std::unique_ptr<dynamics::RunFolder> folder;
    const record::FolderUse use = flags.folder.use("simulate");
    if (flags.folder.out) {
        folder =
            std::make_unique<dynamics::RunFolder>(*flags.folder.out, use,
                                                  dynamics::RunFolder::Plan{flags.settings, schemes, flags.trajectory,
                                                                            flags.folder.resume_command("simulate")});
    } else if (flags.trajectory) {
        throw Error(ErrorKind::usage, "cli.simulate", "--trajectory without --out", "the folder of the run",
                    "add --out DIR");
    }
    if (folder && folder->finished()) {
        print_out(common.json
                      ? folder->stored_result()
                      : fmt::format("The run in {} is complete; nothing is left to do.\n", folder->path().string()));
        write_missing_report_page(folder->path(), common);
        return ExitCode::done;
    }
    catch_interrupts();
    std::vector<dynamics::SchemeRun> runs;
    for (std::size_t i = 0; i < schemes.size() && !interrupted(); ++i) {
        runs.push_back({schemes[i], run_one(flags, schemes[i], i, folder.get())});
    }
    const bool complete = !interrupted() && runs.size() == schemes.size();
    if (folder && complete) {
        write_results(flags, runs, *folder);
    }
    print_out(common.json ? dump_json(dynamics::document(flags.settings, runs), 2) + "\n"
                          : simulate_text(flags.settings, runs, complete ? folder.get() : nullptr));
    if (folder && complete) {
        write_report_page(folder->path(), common);
    }
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
        "flyball simulate peri-ln\n"
        "  flyball simulate post-ln ngpt:alpha=1/(1+t) --tokens 256 --start symmetric --beta 5 --out run1\n"
        "  flyball simulate pre-ln --equation 'mine=x + dt*norm(f(x)) | norm(x)' --layers 48 --weights kaiming "
        "--fresh\n"
        "  flyball simulate --weights builtin:pre-ln --gains";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<SimulateFlags>();
        flags->settings.dim = 0;  // chosen once the start is known
        flags->schemes.declare(app, "none: the six of the paper, all from the same start");
        declare_settings(app, dynamics::setting_fields(), std::shared_ptr<dynamics::Settings>(flags, &flags->settings));
        add_flag(app, "--tied", flags->tied, "the same random weights at every depth (default)");
        flags->folder.declare(app, "configuration, tables, arrays and figures");
        add_flag(app, "--trajectory", flags->trajectory, "write all samples of x as HDF5 (H5MD layout) to --out");
        return [flags, &app](const Common& common) { return run(app, *flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
