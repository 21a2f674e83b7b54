// `flyball theory`: what the equation itself predicts for a symmetric start.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/terminal.hpp"
#include "cli/theory_output.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t most_samples = 100000;

struct TheoryFlags {
    SchemeFlags schemes;
    std::string tokens = "32";
    std::vector<std::string> betas = {"1"};
    std::vector<std::string> heads_betas;
    std::string r0 = "1";
    std::string time = "10";
    std::string dim;
    std::vector<std::string> cosines = {"0.5", "0.9", "0.99"};
    std::size_t samples = 101;
    bool log_time = false;
    std::string plot;
    FolderFlags folder;
};

constexpr std::size_t largest_theory = std::size_t{1} << 30U;

// Numbers as they were read: "1,5" is two of them.
std::vector<ConfigEntry> theory_configuration(const TheoryFlags& flags, const TheoryOutput& output,
                                              const std::vector<scheme::Scheme>& schemes) {
    std::vector<ConfigEntry> entries;
    for (const auto& [flag, values] : scheme::scheme_flags(schemes)) {
        entries.push_back({"theory." + flag, values, ""});
    }
    const auto add = [&](const char* name, std::vector<std::string> values) {
        entries.push_back({std::string("theory.") + name, std::move(values), ""});
    };
    const auto all = [](const std::vector<double>& values) {
        std::vector<std::string> texts;
        for (const double value : values) {
            texts.push_back(format_double(value));
        }
        return texts;
    };
    add("tokens", all({output.settings.tokens}));
    if (flags.heads_betas.empty()) {
        add("beta", all(output.betas));
    } else {
        add("heads-beta", all(output.settings.betas));
    }
    add("r0", all({output.settings.r0}));
    add("time", all({output.settings.T}));
    if (!flags.dim.empty()) {
        add("dim", all({number_of("dim", flags.dim)}));
    }
    add("cosine", all(output.cosines));
    add("samples", {std::to_string(flags.samples)});
    add("log-time", {flags.log_time ? "true" : "false"});
    return entries;
}

void write_theory(record::Folder& folder, const TheoryOutput& output, const report::Sheet& sheet) {
    std::vector<std::string> files = {"config.toml", "theory.json", "report.txt"};
    write_file_atomically(folder.path() / "theory.json", dump_json(theory_document(output), 2) + "\n");
    write_file_atomically(folder.path() / "report.txt", theory_text(output));
    for (const TheoryFigure& one : theory_figures(output)) {
        const auto drawn = report::write_figure(folder.path(), one.name, one.figure, sheet);
        files.insert(files.end(), drawn.begin(), drawn.end());
    }
    folder.finish(record::provenance(0), files);
}

std::vector<double> sample_times(const TheoryFlags& flags, double end) {
    if (flags.samples < 2 || flags.samples > most_samples) {
        throw Error(ErrorKind::usage, "cli.theory", fmt::format("--samples {}", flags.samples),
                    fmt::format("from 2 to {}", most_samples));
    }
    std::vector<double> times = {0};
    const auto last = static_cast<double>(flags.samples - 1);
    const double first = std::min(1e-3, end * 1e-3);
    for (std::size_t i = 1; i < flags.samples; ++i) {
        const auto k = static_cast<double>(i);
        times.push_back(i + 1 == flags.samples ? end
                        : flags.log_time       ? first * std::pow(end / first, (k - 1) / (last - 1))
                                               : end * (k / last));
    }
    return times;
}

ExitCode run(const TheoryFlags& flags, bool beta_given, const Common& common) {
    TheoryOutput output;
    theory::Settings& settings = output.settings;
    settings.tokens = number_of("tokens", flags.tokens);
    if (flags.heads_betas.empty()) {
        output.betas = numbers_of("beta", flags.betas);
    } else if (beta_given) {
        throw Error(ErrorKind::usage, "cli.theory", "--beta and --heads-beta together", "one of them",
                    "--beta B1,B2 makes one run each, --heads-beta B1,B2 one run with two heads");
    } else {
        settings.betas = numbers_of("heads-beta", flags.heads_betas);
    }
    settings.r0 = number_of("r0", flags.r0);
    settings.T = number_of("time", flags.time);
    if (!flags.dim.empty()) {
        settings.dim = number_of("dim", flags.dim);
    }
    output.cosines = numbers_of("cosine", flags.cosines);
    output.log_time = flags.log_time;
    const std::filesystem::path plot = flags.plot;
    if (!flags.plot.empty() && (plot.extension() != ".svg" || plot.stem().empty())) {
        throw Error(ErrorKind::usage, "cli.theory", fmt::format("--plot {}", flyball::quoted(flags.plot)),
                    "a file name that ends with .svg");
    }
    const record::FolderUse use = flags.folder.use("theory");
    const report::Sheet sheet = flags.folder.figures.sheet(!flags.plot.empty() || flags.folder.out, "theory");
    const std::vector<scheme::Scheme> schemes = flags.schemes.chosen_or_six();
    std::vector<theory::Settings> each(std::max<std::size_t>(1, output.betas.size()), settings);
    for (std::size_t i = 0; i < output.betas.size(); ++i) {
        each[i].betas = {output.betas[i]};
    }
    for (const scheme::Scheme& scheme : schemes) {  // before any of the work
        for (const theory::Settings& one : each) {
            theory::check(scheme.program, one);
        }
    }
    const std::vector<double> times = sample_times(flags, settings.T);
    std::vector<std::string> written;
    const auto predict = [&] {
        for (const scheme::Scheme& scheme : schemes) {
            for (const theory::Settings& one : each) {
                output.runs.push_back(theory::predict(scheme, one, times, output.cosines));
            }
        }
        if (!flags.plot.empty()) {
            written = write_theory_figures(plot, output, sheet);
        }
    };
    const auto written_words = [&] {
        return common.json || written.empty()
                   ? ""
                   : fmt::format("\nwritten: {}, and a CSV beside each\n", fmt::join(written, ", "));
    };
    std::unique_ptr<record::Folder> folder;
    if (flags.folder.out) {
        const std::vector<ConfigEntry> configuration = theory_configuration(flags, output, schemes);
        folder = std::make_unique<record::Folder>(
            *flags.folder.out, use,
            record::Folder::Contents{to_toml(configuration), identity_of(configuration),
                                     flags.folder.resume_command("theory"), "cli.theory"});
        if (folder->finished()) {
            print_out(read_text_file(folder->path() / (common.json ? "theory.json" : "report.txt"), largest_theory));
            if (!flags.plot.empty()) {  // no part of the folder
                predict();
                print_out(written_words());
            }
            write_missing_report_page(folder->path(), common);
            return ExitCode::done;
        }
    }
    predict();
    std::string text = common.json ? dump_json(theory_document(output), 2) + "\n" : theory_text(output);
    text += written_words();
    if (folder) {
        write_theory(*folder, output, sheet);
        if (!common.json) {
            text += fmt::format("\nwritten to {}: theory.json, report.txt and figures\n", *flags.folder.out);
        }
    }
    print_out(text);
    if (folder) {
        write_report_page(folder->path(), common);
    }
    return ExitCode::done;
}

}  // namespace

Command theory_command() {
    Command command;
    command.name = "theory";
    command.summary = "predict how tokens cluster, from the equation alone";
    command.about =
        "Predicts from the equation alone how tokens gather that are orthogonal at the start: how fast at "
        "first, by which law at the end, and when the cosine between them reaches a given value. It takes "
        "less than a second.";
    command.example =
        "flyball theory --tokens 256 --beta 5\n"
        "  flyball theory peri-ln ngpt:alpha=1/(1+t) --beta 0.1,1,10 --cosine 0.999 --plot law.svg\n"
        "  flyball theory --equation 'slowed=norm(x + dt*f(x)/(1+t)^0.25)' --time 1e6 --log-time --json";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<TheoryFlags>();
        flags->schemes.declare(app, "none: the six of the paper");
        begin_group(app, "problem");
        add_option(app, "--tokens", flags->tokens, "number of tokens, orthonormal at the start")
            .type_name("N")
            .capture_default_str();
        const Flag beta =
            add_list(app, "--beta", flags->betas, "inverse temperature, 0 or more; of several one run each")
                .type_name("B[,B2..]")
                .default_str("1");
        add_list(app, "--heads-beta", flags->heads_betas,
                 "instead: inverse temperatures of identity heads, averaged in one run")
            .type_name("B1,B2..");
        add_option(app, "--r0", flags->r0, "length of the tokens at the start").type_name("R").capture_default_str();
        add_option(app, "--time", flags->time, "end of the curve, and the T of the equation")
            .type_name("T")
            .capture_default_str();
        add_option(app, "--dim", flags->dim, "the d of the equation (default: the number of tokens)").type_name("D");
        begin_group(app, "what is told");
        add_list(app, "--cosine", flags->cosines, "tell the time to reach this cosine; may be repeated")
            .type_name("C[,C2..]")
            .default_str("0.5,0.9,0.99");
        add_option(app, "--samples", flags->samples, "points of the curve, the start and the end included")
            .type_name("K")
            .capture_default_str()
            .whole_number(0);
        add_flag(app, "--log-time", flags->log_time, "space the points evenly in log t");
        flags->folder.declare(app, "theory.json and figures");
        add_option(app, "--plot", flags->plot,
                   "write gamma(t) to FILE.svg, r(t) to FILE-radius.svg, gamma'(t) to FILE-velocity.svg, a CSV beside "
                   "each")
            .type_name("FILE.svg")
            .not_empty("a file name that ends with .svg");
        return [flags, beta](const Common& common) { return run(*flags, beta.given(), common); };
    };
    return command;
}

}  // namespace flyball::cli
