// The JSON document of a text's ids: what `tokenize --json` prints.
#pragma once

#include <cstdint>
#include <span>

#include "core/json.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer {

Json document(const Tokenizer& tokenizer, std::span<const std::int32_t> ids, bool with_tokens);

}  // namespace flyball::tokenizer
