// What commands that run a checkpoint say on stderr, alike.
#pragma once

#include <string>

#include "model/model.hpp"

namespace flyball::cli {

// What a reader of the results should know about the checkpoint.
void print_notes(const std::string& given, const model::Model<float>& model);

// Not-a-number is a result, but never a silent one: where it comes from.
void warn_not_finite(const std::string& given, const model::Model<float>& model);

}  // namespace flyball::cli
