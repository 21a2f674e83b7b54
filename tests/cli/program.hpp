// Runs the program as a user would and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "places.hpp"

namespace flyball::cli::test {

struct Outcome {
    int exit = -1;
    std::string out;
    std::string err;
};

// `arguments` is a piece of shell, so that tests can redirect.
inline Outcome run_program(const std::string& arguments, const std::string& before = "") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string out = (folder / "out").string();
    const std::string err = (folder / "err").string();
    const std::string command = before + " '" + std::string(flyball::test::program) + "' " + arguments;
    const int status = std::system(("( " + command + " ) >'" + out + "' 2>'" + err + "'").c_str());
    const auto contents = [](const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    };
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
    std::filesystem::remove_all(folder);
    return outcome;
}

}  // namespace flyball::cli::test
