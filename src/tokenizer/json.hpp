// A value in a tokenizer's JSON that knows where it stands, so that every wrong type is one sentence with its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace flyball::tokenizer {

class JsonNode {
  public:
    // `what` names the file; it and the value must outlive the node.
    JsonNode(const Json& value, const std::string& what) : JsonNode(value, what, "") {}

    const Json& value() const { return *value_; }
    const std::string& what() const { return *what_; }
    // "model.merges[3] in 'tokenizer.json'".
    std::string place() const;

    // A member that must be there; one that may be absent or null.
    JsonNode at(std::string_view key) const;
    std::optional<JsonNode> find(std::string_view key) const;
    std::vector<JsonNode> items() const;  // of an array

    const std::string& text() const;
    std::int64_t integer() const;
    bool flag() const;
    std::string text(std::string_view key, std::string_view otherwise) const;
    bool flag(std::string_view key, bool otherwise) const;
    // The member `type`.
    const std::string& type() const { return at("type").text(); }

    [[noreturn]] void fail(std::string_view got, std::string_view expected, std::string_view hint = {}) const;

  private:
    JsonNode(const Json& value, const std::string& what, std::string path)
        : value_(&value), what_(&what), path_(std::move(path)) {}
    [[noreturn]] void fail_type(std::string_view expected) const;

    const Json* value_;
    const std::string* what_;
    std::string path_;
};

}  // namespace flyball::tokenizer
