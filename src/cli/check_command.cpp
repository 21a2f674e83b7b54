// `flyball check`: an equation beside a run of somebody else's code.
#include <fmt/format.h>

#include <memory>

#include "cli/check_against.hpp"
#include "cli/command.hpp"
#include "cli/flags.hpp"

namespace flyball::cli {

namespace {

struct CheckFlags {
    SchemeFlags schemes;
    std::string against;
};

ExitCode run(const CheckFlags& flags, const Common& common) {
    const std::vector<scheme::Scheme> schemes = flags.schemes.chosen();
    if (schemes.size() != 1) {
        throw Error(ErrorKind::usage, "cli.check", fmt::format("{} equations", schemes.size()),
                    "one name or equation to compare the run with");
    }
    return run_check_against(schemes[0], flags.against, common);
}

}  // namespace

Command check_command() {
    Command command;
    command.name = "check";
    command.summary = "say whether a saved run is what an equation says, and where it is not";
    command.example =
        "flyball check peri-ln --against run.safetensors\n"
        "  flyball check 'x + dt*attn(norm(x)) + dt*ffn(norm(x)) | norm(x)' --against run.safetensors --json";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<CheckFlags>();
        flags->schemes.declare(app, "one is needed");
        add_option(app, "--against", flags->against,
                   "tensors saved by the code that ran the block; docs/conformance.md says how")
            .type_name("RUN.safetensors")
            .required();
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
