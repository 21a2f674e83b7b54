// `flyball schemes`: the catalogue as a table, as JSON, as the page docs/schemes.md; or one scheme or equation in
// detail.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/schemes_page.hpp"
#include "core/json.hpp"
#include "scheme/document.hpp"

namespace flyball::cli {

namespace {

struct SchemesFlags {
    SchemeFlags schemes;
    bool markdown = false;
};

ExitCode run(const SchemesFlags& flags, const Common& common) {
    if (common.json && flags.markdown) {
        throw Error(ErrorKind::usage, "cli.schemes", "--json and --markdown together", "one of them");
    }
    std::vector<scheme::Scheme> schemes = flags.schemes.chosen();
    const bool all = schemes.empty();
    for (std::size_t i = 0; all && i < scheme::catalogue().size(); ++i) {
        schemes.push_back(scheme::find_scheme(scheme::catalogue()[i].name));
    }
    if (common.json) {
        print_out(dump_json(scheme::document(schemes), 2) + "\n");
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
    command.about =
        "Lists the normalization schemes with their equations, or explains a scheme, or an equation of your "
        "own.";
    command.example =
        "flyball schemes\n  flyball schemes peri-ln ngpt:alpha=1/(1+t)\n"
        "  flyball schemes --equation 'mine=x + dt*norm(f(norm(x))) | norm(x)'";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<SchemesFlags>();
        flags->schemes.declare(app, "none: list the catalogue");
        begin_group(app, "output");
        add_flag(app, "--markdown", flags->markdown, "print the page docs/schemes.md");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
