// `flyball theory`: what the equation itself predicts for a symmetric start.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/theory_output.hpp"
#include "core/number.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t most_samples = 100000;

struct Flags {
    std::vector<std::string> schemes;
    std::vector<std::string> equations;
    std::string tokens = "32";
    std::vector<std::string> betas = {"1"};
    std::string r0 = "1";
    std::string time = "10";
    std::string dim;
    std::vector<std::string> cosines = {"0.5", "0.9", "0.99"};
    std::size_t samples = 101;
    bool log_time = false;
    bool json = false;
    std::string plot;
};

double number_of(const std::string& flag, const std::string& text) {
    const auto value = parse_double(text);
    if (!value) {
        throw Error(ErrorKind::usage, "cli.theory", fmt::format("--{} {}", flag, flyball::quoted(text)),
                    "a finite number");
    }
    return *value;
}

// "1,2.5" and repeated flags alike.
std::vector<double> numbers_of(const std::string& flag, const std::vector<std::string>& texts) {
    std::vector<double> values;
    for (const std::string& text : texts) {
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t comma = std::min(text.find(',', begin), text.size());
            values.push_back(number_of(flag, text.substr(begin, comma - begin)));
            begin = comma + 1;
        }
    }
    return values;
}

std::vector<double> sample_times(const Flags& flags, double end) {
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

ExitCode run(const Flags& flags) {
    TheoryOutput output;
    theory::Settings& settings = output.settings;
    settings.tokens = number_of("tokens", flags.tokens);
    settings.betas = numbers_of("beta", flags.betas);
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
    const std::vector<scheme::Scheme> schemes = chosen_schemes(flags.schemes, flags.equations);
    for (const scheme::Scheme& scheme : schemes) {  // before any of the work
        theory::check(scheme.program, settings);
    }
    const std::vector<double> times = sample_times(flags, settings.T);
    for (const scheme::Scheme& scheme : schemes) {
        Predicted run{scheme, theory::initial_velocity(scheme.program, settings), {}, {}, {}};
        run.points = theory::solve(scheme.program, settings, times);
        for (const double cosine : output.cosines) {
            run.times_to_cosine.push_back(theory::time_to_cosine(scheme.program, settings, cosine));
        }
        run.law = theory::terminal_law(scheme.program, settings);
        output.runs.push_back(std::move(run));
    }
    std::vector<std::string> written;
    if (!flags.plot.empty()) {
        written = write_theory_figures(plot, output);
    }
    std::string text = flags.json ? dump_json(theory_json(output), 2) + "\n" : theory_text(output);
    if (!flags.json && !written.empty()) {
        text += fmt::format("\nwritten: {}, and a CSV beside each\n", fmt::join(written, ", "));
    }
    print_out(text);
    return ExitCode::done;
}

}  // namespace

Command theory_command() {
    Command command;
    command.name = "theory";
    command.summary = "predict how tokens cluster, from the equation alone";
    command.example =
        "flyball theory --tokens 256 --beta 5\n"
        "  flyball theory --scheme peri-ln --scheme ngpt:alpha=1/(1+t) --beta 1,4 --cosine 0.999 --plot law.svg\n"
        "  flyball theory --equation 'norm(x + dt*f(x)/(1+t)^0.25)' --time 1e6 --log-time --json";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<Flags>();
        app.add_option("--scheme", flags->schemes,
                       "a scheme, NAME or NAME:k=v,..; may be repeated (default: the six of the paper)")
            ->type_name("NAME")
            ->take_all()
            ->expected(1);
        app.add_option("--equation", flags->equations, "an equation of your own (docs/equation.md); may be repeated")
            ->type_name("TEXT")
            ->take_all()
            ->expected(1);
        app.add_option("--tokens", flags->tokens, "number of tokens, orthonormal at the start")
            ->type_name("N")
            ->capture_default_str();
        app.add_option("--beta", flags->betas,
                       "inverse temperature, 0 or more; B1,B2,.. gives one identity head each, averaged")
            ->type_name("B[,B2..]")
            ->take_all()
            ->expected(1)
            ->default_str("1");
        app.add_option("--r0", flags->r0, "length of the tokens at the start")->type_name("R")->capture_default_str();
        app.add_option("--time", flags->time, "end of the curve, and the T of the equation")
            ->type_name("T")
            ->capture_default_str();
        app.add_option("--dim", flags->dim, "the d of the equation (default: the number of tokens)")->type_name("D");
        app.add_option("--cosine", flags->cosines, "tell the time to reach this cosine; may be repeated")
            ->type_name("C")
            ->take_all()
            ->expected(1)
            ->default_str("0.5, 0.9, 0.99");
        app.add_option("--samples", flags->samples, "points of the curve, the start and the end included")
            ->type_name("K")
            ->capture_default_str()
            ->check(whole_number(0));
        app.add_flag("--log-time", flags->log_time, "space the points evenly in log t");
        app.add_option(
               "--plot", flags->plot,
               "write gamma(t) to FILE.svg, r(t) to FILE-radius.svg, gamma'(t) to FILE-velocity.svg, a CSV beside "
               "each")
            ->type_name("FILE.svg");
        app.add_flag("--json", flags->json, "print one JSON document");
        return [flags] { return run(*flags); };
    };
    return command;
}

}  // namespace flyball::cli
