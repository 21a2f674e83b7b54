// What a preflight found about a block, and what it says about the block as a whole.
//
//     malformed    the text does not mean what it was written for: a part of it never acts, or x has no way through
//     unstable     numbers blow up or vanish exponentially with depth, or a short training run gets worse
//     caution      it may train, and there is something that its author should know
//     note         for information
//
// The verdict is the gravest finding; without one the block is `stable`.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace flyball::check {

enum class Severity { note, caution, unstable, malformed };
const char* name(Severity severity) noexcept;

struct Finding {
    std::string id;  // kebab-case, the same for every block that has it
    Severity severity = Severity::note;
    std::string message;   // a sentence or two
    std::string evidence;  // what was looked at, with its numbers
    double value = 0;      // the number that decided
};

enum class Verdict { stable, caution, unstable, malformed };
const char* name(Verdict verdict) noexcept;
Verdict verdict_of(const std::vector<Finding>& findings);

Json to_json(const Finding& finding);

}  // namespace flyball::check
