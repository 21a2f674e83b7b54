// A command with its flags: how they are read, and what is said when they cannot be.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace flyball::cli {

class Invocation {
  public:
    explicit Invocation(const Command& command);

    // False when help was asked for and printed. Throws Error(usage) with one sentence.
    bool parse(std::vector<std::string> arguments);
    ExitCode run() const;

    const CLI::App& app() const { return app_; }
    const std::string& configuration() const { return configuration_; }

  private:
    const Command& command_;
    CLI::App app_;
    Common common_;
    std::string configuration_;
    Command::Action action_;
};

const Command& find_command(const std::string& name);

}  // namespace flyball::cli
