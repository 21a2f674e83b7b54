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
#include "core/amount.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "dynamics/start_file.hpp"
#include "report/film.hpp"

namespace flyball::cli {

namespace {

struct SimulateFlags {
    SchemeFlags schemes;
    FolderFlags folder;
    dynamics::Settings settings;
    bool tied = false;
    bool trajectory = false;
    bool animate = false;
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
    if (s.start == dynamics::StartKind::file) {
        const auto said = [&app](const char* flag) { return was_given(app, flag); };
        dynamics::use_start_file(
            dynamics::open_start_file(s.start_file, s.start_frame, available_memory()),
            {said("--tokens"), said("--dim") || s.trained != nullptr, said("--systems"), said("--r0")}, s);
    }
    dynamics::complete(s);
    dynamics::check(s);
}

dynamics::KeptToTheEnd kept_of(const SimulateFlags& flags, std::size_t runs) {
    const std::size_t times = flags.folder.out ? dynamics::picture_times(flags.settings, flags.animate) : 0;
    return {runs, times * dynamics::pictured_tokens(flags.settings.tokens, times).size()};
}

// Of the program before any run: libraries and their buffers.
constexpr double program_bytes = 25e6;

double needed_memory(const SimulateFlags& flags, const scheme::Scheme& scheme, std::size_t runs) {
    return program_bytes +
           dynamics::memory_estimate(flags.settings, scheme.program.stream_count(), kept_of(flags, runs));
}

void check_memory(const SimulateFlags& flags, const std::vector<scheme::Scheme>& schemes) {
    for (const scheme::Scheme& scheme : schemes) {
        const double needed = needed_memory(flags, scheme, schemes.size());
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
dynamics::Record run_one(const SimulateFlags& flags, const std::vector<scheme::Scheme>& schemes, std::size_t number,
                         const dynamics::RunFolder* folder, RunsProgress& progress) {
    const scheme::Scheme& scheme = schemes[number];
    progress.begin(scheme.name);
    dynamics::Control control = dynamics::control_of(flags.settings);
    control.stop = &interrupted();
    dynamics::Watch watch = dynamics::watch_of(flags.settings);
    watch.progress = [&](double share) { progress.at(share); };
    watch.forecast = [&](double seconds) {
        if (seconds > long_run) {
            const double bytes = needed_memory(flags, scheme, schemes.size());
            print_note(fmt::format("flyball: {} will take about {} and {} of memory\n", scheme.name,
                                   duration_text(seconds), memory_text(bytes)));
        }
    };
    return folder != nullptr ? folder->run(number, control, watch)
                             : dynamics::run(flags.settings, scheme.program, control, watch);
}

void write_spheres(const SimulateFlags& flags, const std::vector<dynamics::SchemeRun>& runs, const report::Sheet& sheet,
                   dynamics::RunFolder& folder) {
    std::vector<Frames> frames;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        check_stop();
        frames.push_back(folder.frames(i, runs[i].record));
    }
    if (frames.front().empty()) {
        return;
    }
    const auto add = [&](const std::vector<std::string>& files) {
        for (const std::string& file : files) {
            folder.add_file(file);
        }
    };
    const report::SphereFigure all = sphere_figure(flags.settings, runs, frames);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        add(report::write_figure(folder.path(), sphere_name(flags.settings, runs, i), with_frames(of_run(all, i), 6),
                                 sheet));
    }
    if (runs.size() > 1) {
        add(report::write_figure(folder.path(), all.circle ? "circles" : "spheres", with_frames(all, 4), sheet));
    }
    if (flags.animate) {
        add(report::write_film(folder.path(), "film", all, sheet));
    }
}

// False where a signal came in between: the runs are all there, and whoever takes the folder up writes everything anew.
bool write_results(const SimulateFlags& flags, const std::vector<dynamics::SchemeRun>& runs, const report::Sheet& sheet,
                   dynamics::RunFolder& folder) try {
    const StopOn stop(&interrupted());
    folder.write(runs);
    const auto draw = [&](const std::string& name, const auto& figure) {
        for (const std::string& file : report::write_figure(folder.path(), name, figure, sheet)) {
            folder.add_file(file);
        }
    };
    draw("cosine", cosine_figure(flags.settings, runs));
    draw("radius", radius_figure(flags.settings, runs));
    draw("speed", speed_figure(flags.settings, runs));
    write_spheres(flags, runs, sheet, folder);
    folder.finish(runs);
    return true;
} catch (const Stopped&) {
    return false;
}

ExitCode run(const CLI::App& app, SimulateFlags& flags, const Common& common) {
    resolve(app, flags);
    const std::vector<scheme::Scheme> schemes = flags.schemes.chosen_or_six();
    check_memory(flags, schemes);
    std::unique_ptr<dynamics::RunFolder> folder;
    const record::FolderUse use = flags.folder.use("simulate");
    const report::Sheet sheet = flags.folder.sheet("simulate");
    if (flags.animate && (!flags.folder.out || flags.settings.dim > 3 || flags.settings.dim < 2)) {
        throw Error(ErrorKind::usage, "cli.simulate",
                    flags.folder.out ? fmt::format("--animate with --dim {}", flags.settings.dim)
                                     : std::string("--animate without --out"),
                    flags.folder.out ? "particles on the sphere or the circle" : "the folder of the run",
                    flags.folder.out ? "--dim 3 or --dim 2" : "add --out DIR");
    }
    if (flags.folder.out) {
        folder = std::make_unique<dynamics::RunFolder>(
            *flags.folder.out, use,
            dynamics::RunFolder::Plan{flags.settings, schemes, flags.trajectory,
                                      flags.folder.resume_command("simulate"), flags.animate});
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
    RunsProgress progress(schemes.size());
    for (std::size_t i = 0; i < schemes.size() && !interrupted(); ++i) {
        runs.push_back({schemes[i], run_one(flags, schemes, i, folder.get(), progress)});
    }
    progress.finish();
    bool complete = runs.size() == schemes.size() && runs.back().record.outcome != dynamics::Outcome::interrupted;
    if (folder && complete) {
        complete = write_results(flags, runs, sheet, *folder);
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
                       : "flyball: interrupted; with --out DIR the next one can be continued where it stopped\n");
    return ExitCode::interrupted;
}

}  // namespace

Command simulate_command() {
    Command command;
    command.name = "simulate";
    command.summary = "run schemes as interacting particles on the sphere";
    command.about =
        "Runs schemes as particles: every token is a point on a sphere that attention pulls towards the "
        "others. The result says how fast tokens gather into clusters, how long the residual stream gets, "
        "and when all tokens are alike.";
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
        begin_group(app, "attention and weights");
        add_flag(app, "--tied", flags->tied, "the same random weights at every depth (default)");
        flags->folder.declare(app, "configuration, tables, arrays and figures");
        add_flag(app, "--trajectory", flags->trajectory, "write all samples of x as HDF5 (H5MD layout) to --out");
        add_flag(app, "--animate", flags->animate,
                 "write all samples as a moving picture, film.svg, when --dim is 3 or 2 (frames as PNG files with "
                 "--figure-format png)");
        return [flags, &app](const Common& common) { return run(app, *flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
