// `flyball schemes`: the catalogue as a table, as JSON, as the page docs/schemes.md; or one scheme or equation in
// detail.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/schemes_page.hpp"
#include "core/json.hpp"

namespace flyball::cli {

namespace {

struct Flags {
    std::vector<std::string> which;  // names or equations, in any mixture
    std::vector<std::string> names;
    std::vector<std::string> equations;
    bool json = false;
    bool markdown = false;
};

// A name of the catalogue has none of the characters that make an equation.
bool looks_like_equation(const std::string& text) {
    const std::string before_settings = text.substr(0, text.find(':'));
    return text.find_first_of("()+*/=|;") < text.find(':') || before_settings.find(' ') != std::string::npos;
}

std::vector<scheme::Scheme> chosen(const Flags& flags) {
    std::vector<scheme::Scheme> schemes;
    for (const std::string& text : flags.which) {
        schemes.push_back(looks_like_equation(text) ? scheme::scheme_of_equation(text) : scheme::find_scheme(text));
    }
    for (const std::string& name : flags.names) {
        schemes.push_back(scheme::find_scheme(name));
    }
    for (const std::string& equation : flags.equations) {
        schemes.push_back(scheme::scheme_of_equation(equation));
    }
    return schemes;
}

ExitCode run(const Flags& flags) {
    if (flags.json && flags.markdown) {
        throw Error(ErrorKind::usage, "cli.schemes", "--json and --markdown together", "one of them");
    }
    std::vector<scheme::Scheme> schemes = chosen(flags);
    const bool all = schemes.empty();
    for (std::size_t i = 0; all && i < scheme::catalogue().size(); ++i) {
        schemes.push_back(scheme::find_scheme(scheme::catalogue()[i].name));
    }
    if (flags.json) {
        print_out(dump_json(schemes_json(schemes), 2) + "\n");
    } else if (flags.markdown) {
        if (!all) {
            throw Error(ErrorKind::usage, "cli.schemes", "--markdown with schemes of your choice", "--markdown alone",
                        "it is the page about the whole catalogue");
        }
        print_out(schemes_markdown(schemes));
    } else if (all) {
        print_out(schemes_table(schemes));
    } else {
        for (std::size_t i = 0; i < schemes.size(); ++i) {
            print_out((i == 0 ? "" : "\n") + scheme_details(schemes[i]));
        }
    }
    return ExitCode::done;
}

}  // namespace

Command schemes_command() {
    Command command;
    command.name = "schemes";
    command.summary = "list the schemes, or explain a scheme or an equation of your own";
    command.example =
        "flyball schemes\n  flyball schemes peri-ln ngpt:alpha=1/(1+t)\n"
        "  flyball schemes --equation 'x + dt*norm(f(norm(x))) | norm(x)'";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<Flags>();
        app.add_option("SCHEME", flags->which, "names (NAME:k=v,..) or equations to explain; none: list all");
        app.add_option("--scheme", flags->names, "a scheme of the catalogue, NAME or NAME:k=v,..")
            ->type_name("NAME")
            ->take_all()
            ->expected(1);
        app.add_option("--equation", flags->equations, "an equation of your own; docs/equation.md is its manual")
            ->type_name("TEXT")
            ->take_all()
            ->expected(1);
        app.add_flag("--json", flags->json, "print JSON");
        app.add_flag("--markdown", flags->markdown, "print the page docs/schemes.md");
        return [flags] { return run(*flags); };
    };
    return command;
}

}  // namespace flyball::cli
