// Errors of bad use and bad input.
//
// An Error carries three parts, so that every message reads the same way:
//     [module.function] got X, expected Y. hint: do Z.
// Numerical outcomes (divergence, NaN, no ODE limit) are values, never Errors. Our own bugs are asserts.
//
// A message names settings, never flags: it says `setting("dt", "0")`, which reads "dt = 0" in what() and "--dt 0"
// where the command line shows it (sentence()). So one message serves every front end.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace flyball {

enum class ErrorKind {
    usage,     // a flag, a configuration key, an equation
    input,     // the contents of a file or of an array
    io,        // a file that cannot be opened, read or written
    resource,  // too little memory or disk for what was asked
};

// The name of a setting in a message, alone or with its value.
std::string setting(std::string_view name);
std::string setting(std::string_view name, std::string_view value);

// How a front end spells a setting: what stands before its name, and between name and value.
struct SettingSpelling {
    std::string_view before;
    std::string_view between;
};

class Error : public std::runtime_error {
  public:
    // `where` is "module.function"; `hint` may be empty. `detail` is shown on lines of its own (a caret display).
    Error(ErrorKind kind, std::string_view where, std::string_view got, std::string_view expected,
          std::string_view hint = {}, std::string_view detail = {});

    ErrorKind kind() const noexcept { return kind_; }
    const std::string& detail() const noexcept { return detail_; }

    // what() with the settings as a front end spells them; `what()` itself has {"", " = "}.
    std::string sentence(SettingSpelling spelling) const;

  private:
    Error(ErrorKind kind, std::string marked, std::string_view detail);
    ErrorKind kind_;
    std::string marked_;  // the sentence with its settings marked
    std::string detail_;
};

// The one table of exit codes.
enum class ExitCode : int { done = 0, bad_verdict = 1, bad_input = 2, bug = 3, interrupted = 130 };
ExitCode exit_code(ErrorKind kind) noexcept;

// Text from outside made safe to show: control characters escaped, long text cut in the middle.
std::string quoted(std::string_view text, std::size_t longest = 80);

}  // namespace flyball
