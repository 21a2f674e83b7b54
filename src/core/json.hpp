// JSON text to values and back.
//
// Promises of parse_json: bounded size and depth, no duplicate keys, valid UTF-8, an Error with line and column and
// never an exception of the library below. dump_json writes non-finite numbers as null and every other double so that
// it reads back to the same bits. Objects keep the order of their keys; looking a key up is linear, so do not use them
// as large maps. Begin an object with Json::object(): a null that becomes one by assignment to a key is left broken
// when memory runs out there, and its destructor crashes. No comments and no trailing commas: this is JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace flyball {

using Json = nlohmann::ordered_json;

struct JsonLimits {
    std::size_t max_depth = 64;
    std::size_t max_bytes = std::size_t{64} << 20;
};

// `what` names the text in messages, for example its file.
Json parse_json(std::string_view text, std::string_view what, JsonLimits limits = {});

// indent < 0: one line. Invalid UTF-8 in strings becomes U+FFFD.
std::string dump_json(const Json& value, int indent = -1);

}  // namespace flyball
