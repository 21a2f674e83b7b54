#include "tokenizer/json.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace flyball::tokenizer {

std::string JsonNode::place() const {
    return path_.empty() ? *what_ : fmt::format("{} in {}", path_, *what_);
}

void JsonNode::fail(std::string_view got, std::string_view expected, std::string_view hint) const {
    throw Error(ErrorKind::input, "tokenizer.read", fmt::format("{} as {}", got, place()), expected, hint);
}

void JsonNode::fail_type(std::string_view expected) const {
    const bool scalar = value_->is_primitive() && !value_->is_string();
    fail(scalar ? dump_json(*value_)
                : fmt::format("{} {}", value_->is_array() || value_->is_object() ? "an" : "a", value_->type_name()),
         expected);
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
    if (!value_->is_object()) {
        fail_type("an object");
    }
    const auto member = value_->find(std::string(key));
    if (member == value_->end() || member->is_null()) {
        return std::nullopt;
    }
    return JsonNode(*member, *what_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

JsonNode JsonNode::at(std::string_view key) const {
    std::optional<JsonNode> member = find(key);
    if (!member) {
        throw Error(ErrorKind::input, "tokenizer.read", fmt::format("no {} in {}", flyball::quoted(key), place()),
                    "what Hugging Face's tokenizers writes");
    }
    return *member;
}

std::vector<JsonNode> JsonNode::items() const {
    if (!value_->is_array()) {
        fail_type("an array");
    }
    std::vector<JsonNode> nodes;
    nodes.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i) {
        nodes.push_back(JsonNode((*value_)[i], *what_, fmt::format("{}[{}]", path_, i)));
    }
    return nodes;
}

const std::string& JsonNode::text() const {
    if (!value_->is_string()) {
        fail_type("a string");
    }
    return value_->get_ref<const std::string&>();
}

std::int64_t JsonNode::integer() const {
    const bool fits = value_->is_number_unsigned() ? value_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                                                   : value_->is_number_integer();
    if (!fits) {
        fail_type("a whole number");
    }
    return value_->get<std::int64_t>();
}

bool JsonNode::flag() const {
    if (!value_->is_boolean()) {
        fail_type("true or false");
    }
    return value_->get<bool>();
}

std::string JsonNode::text(std::string_view key, std::string_view otherwise) const {
    const std::optional<JsonNode> member = find(key);
    return member ? member->text() : std::string(otherwise);
}

bool JsonNode::flag(std::string_view key, bool otherwise) const {
    const std::optional<JsonNode> member = find(key);
    return member ? member->flag() : otherwise;
}

}  // namespace flyball::tokenizer
