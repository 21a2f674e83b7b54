// A depth report in plain words: at most ten sentences, each with the numbers it rests on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inspect/report.hpp"

namespace flyball::inspect {

// A token as a reader should see it; empty where there is no tokenizer.
using Spelling = std::function<std::string(std::int32_t id)>;

std::vector<std::string> summary(const Report& report, const Spelling& spelling);

// Blocks that turn the stream by less than half of what the median block does, in rising order.
std::vector<std::size_t> quiet_blocks(const Report& report);

}  // namespace flyball::inspect
