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
    std::size_t dim = 0;
    std::optional<std::size_t> layers;
    std::string mask = "none";
    std::string weights = "identity";
    std::string start = "uniform";
    std::string method = "auto";
    std::string precision = "f64";
    std::string until;
    bool tied = false;
    bool json = false;
    int threads = 0;
    std::string out;
    bool force = false;
    bool resume = false;
    bool trajectory = false;
    CLI::Option* time_option = nullptr;
};

void resolve(Flags& flags) {
    dynamics::Settings& s = flags.settings;
    if (flags.mask != "none" && flags.mask != "causal") {
        throw Error(ErrorKind::usage, "cli.simulate", fmt::format("--mask {}", flyball::quoted(flags.mask)),
                    "none or causal");
    }
    s.causal = flags.mask == "causal";
    dynamics::parse_start(flags.start, s);
    dynamics::parse_weights(flags.weights, s);
    s.method = dynamics::parse_method(flags.method);
    if (flags.precision != "f64" && flags.precision != "f32") {
        throw Error(ErrorKind::usage, "cli.simulate", fmt::format("--precision {}", flyball::quoted(flags.precision)),
                    "f64 or f32");
    }
    s.precision = flags.precision == "f32" ? dynamics::Precision::f32 : dynamics::Precision::f64;
    if (!flags.until.empty()) {
        s.until = dynamics::parse_until(flags.until);
    }
    if (flags.tied && s.fresh) {
        throw Error(ErrorKind::usage, "cli.simulate", "--tied and --fresh together", "one of them");
    }
    if (flags.layers) {
        if (flags.time_option->count() > 0) {
            throw Error(ErrorKind::usage, "cli.simulate", "--time and --layers together", "one of them",
                        "--layers L --dt DT runs to time L*DT");
        }
        s.layers = flags.layers;
    }
    const bool symmetric = s.start == dynamics::StartKind::symmetric;
    s.dim = flags.dim > 0 ? flags.dim : symmetric ? std::max<std::size_t>(32, s.tokens) : 32;
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
                        "use fewer --tokens, --systems or --dim");
        }
    }
}

// One run, taken up where a killed one left off, with its restart point on disk every few seconds.
Simulated run_one(const Flags& flags, const scheme::Scheme& scheme, std::size_t number, SimulateFolder* folder) {
    Simulated simulated{scheme, {}, {}};
    std::optional<dynamics::RestartPoint> from;
    if (folder != nullptr && flags.resume) {
        const dynamics::Settings& s = flags.settings;
        auto saved = dynamics::load_checkpoint(folder->restart_file(number),
                                               s.systems * s.tokens * s.dim * scheme.program.stream_count());
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
    dynamics::Watch watch;
    watch.stop = &interrupted();
    watch.progress = [&](double share) {
        const auto tick = static_cast<std::uint64_t>(share * static_cast<double>(ticks));
        if (tick > shown) {
            progress.advance(tick - shown);
            shown = tick;
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
                dynamics::save_restart_point(folder->restart_file(number), point);
                written = now;
            }
        };
    }
    simulated.record = dynamics::run(flags.settings, scheme.program, watch, from);
    progress.finish();
    if (folder != nullptr && simulated.record.outcome != dynamics::Outcome::interrupted) {
        dynamics::save_record(folder->restart_file(number), simulated.record);
    } else if (folder != nullptr && latest) {
        dynamics::save_restart_point(folder->restart_file(number), *latest);
    }
    return simulated;
}

ExitCode run(Flags& flags) {
    resolve(flags);
    const std::vector<scheme::Scheme> schemes = chosen_schemes(flags.schemes, flags.equations);
    check_memory(flags, schemes);
    std::unique_ptr<SimulateFolder> folder;
    const FolderUse use = folder_use(flags.out, flags.resume, flags.force, "cli.simulate");
    if (!flags.out.empty()) {
        folder = std::make_unique<SimulateFolder>(flags.out, use, flags.trajectory, flags.settings, schemes);
    } else if (flags.trajectory) {
        throw Error(ErrorKind::usage, "cli.simulate", "--trajectory without --out", "the folder of the run",
                    "add --out DIR");
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
        dynamics::Settings& s = flags->settings;
        app.add_option("--scheme", flags->schemes,
                       "a scheme, NAME or NAME:k=v,..; repeat for several runs from the same start")
            ->type_name("NAME")
            ->take_all()
            ->expected(1);
        app.add_option("--equation", flags->equations, "an equation of your own (docs/equation.md); may be repeated")
            ->type_name("TEXT")
            ->take_all()
            ->expected(1);
        app.add_option("--tokens", s.tokens, "number of particles")->capture_default_str()->check(whole_number(0));
        app.add_option("--dim", flags->dim, "dimensions (32, or the number of tokens for a symmetric start)")
            ->type_name("D")
            ->check(whole_number(0));
        app.add_option("--beta", s.beta, "inverse temperature of attention")->capture_default_str();
        app.add_option("--heads", s.heads, "attention heads")->capture_default_str()->check(whole_number(0));
        app.add_option("--mask", flags->mask, "none or causal")->capture_default_str();
        app.add_option("--weights", flags->weights, "identity, gaussian, kaiming[:G], orthogonal or a safetensors FILE")
            ->capture_default_str();
        app.add_flag("--tied", flags->tied, "the same random weights at every depth (default)");
        app.add_flag("--fresh", s.fresh, "new random weights at every integer t");
        app.add_option("--ffn", s.ffn_width, "add a random FFN sub-layer of this width")
            ->type_name("WIDTH")
            ->check(whole_number(0));
        app.add_option("--attention", s.attention, "softmax, unnormalized, sparsemax, entmax15, ssmax or sigmoid")
            ->capture_default_str();
        app.add_option("--start", flags->start, "symmetric, uniform, gaussian or cone:DELTA")->capture_default_str();
        app.add_option("--r0", s.r0, "length of the particles at the start")->capture_default_str();
        flags->time_option =
            app.add_option("--time", s.time, "run the ODE limit up to this time")->capture_default_str();
        app.add_option("--layers", flags->layers, "run this many discrete layers instead")
            ->type_name("L")
            ->check(whole_number(1));
        app.add_option("--dt", s.dt, "step of layers, euler and rk4")->capture_default_str();
        app.add_option("--method", flags->method, "auto (erk), erk, bdf (stiff equations), euler or rk4")
            ->capture_default_str();
        app.add_option("--rtol", s.rtol, "relative tolerance of erk and bdf")->capture_default_str();
        app.add_option("--atol", s.atol, "absolute tolerance of erk and bdf")->capture_default_str();
        app.add_option("--systems", s.systems, "independent systems; quantiles are over them")
            ->capture_default_str()
            ->check(whole_number(0));
        app.add_option("--samples", s.samples, "times looked at, the start and the end included")
            ->capture_default_str()
            ->check(whole_number(0));
        app.add_flag("--log-time", s.log_time, "space the samples evenly in log t");
        app.add_option("--until", flags->until, "stop at an event, for example cosine>0.999")->type_name("EVENT");
        app.add_option("--precision", flags->precision, "f64 or f32 (attention in float)")->capture_default_str();
        app.add_option("--kernel", s.kernel, "force an attention kernel")->capture_default_str();
        app.add_option("--threads", flags->threads,
                       "threads (default: the CPUs there are); results do not depend on it")
            ->check(whole_number(0));
        app.add_option("--seed", s.seed, "seed of everything random")->capture_default_str()->check(whole_number(0));
        app.add_flag("--json", flags->json, "print one JSON document");
        app.add_option("--out", flags->out, "write configuration, tables, arrays and figures to this folder")
            ->type_name("DIR");
        app.add_flag("--trajectory", flags->trajectory, "write all samples of x as HDF5 (H5MD layout) to --out");
        app.add_flag("--resume", flags->resume, "go on with the run in --out");
        app.add_flag("--force", flags->force, "allow --out to overwrite files in a folder that is not empty");
        return [flags] { return run(*flags); };
    };
    return command;
}

}  // namespace flyball::cli
