// What a preflight says in sentences. Whatever was measured, every sentence is whole: it begins with a capital letter,
// ends with a full stop and needs no other one to be understood.
#pragma once

#include <string>

#include "check/preflight.hpp"

namespace flyball::check {

// What a designer can act on: "Beside Peri-LN your block .."; one paragraph.
std::string advice(const BlockReport& block, const PreflightReport& report);

// How two blocks differ, in one paragraph.
std::string difference(const BlockReport& a, const BlockReport& b);

// What the stream of a fresh model does over depth, as a verb: "grows like the square root of depth".
std::string growth_words(const BlockReport& block);

// How a training run ended: "the loss jumped far above its best".
std::string outcome_words(train::Outcome outcome);

}  // namespace flyball::check
