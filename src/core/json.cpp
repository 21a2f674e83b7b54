#include "core/json.hpp"

#include <utility>
#include <vector>

#include "core/json_events.hpp"

namespace flyball {

namespace {

class Builder : public JsonEvents {
  public:
    Builder(std::string_view text, std::string_view what, JsonLimits limits)
        : JsonEvents(text, what, "core.parse_json", limits) {}

    Json take() { return std::move(root_); }

  protected:
    void on_null() override { put(nullptr); }
    void on_boolean(bool value) override { put(value); }
    void on_integer(std::int64_t value) override { put(value); }
    void on_unsigned(std::uint64_t value) override { put(value); }
    void on_float(double value, std::string_view /*text*/) override { put(value); }
    void on_string(std::string& value) override { put(std::move(value)); }
    void on_start_object() override { open_.push_back(put(Json::object())); }
    void on_start_array() override { open_.push_back(put(Json::array())); }
    void on_key(std::string& value) override { key_ = std::move(value); }
    void on_end_object() override { open_.pop_back(); }
    void on_end_array() override { open_.pop_back(); }

  private:
    // The place of the new value. Only the innermost open container grows, so the pointers in open_ stay valid.
    Json* put(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        // The object's own insertion searches all keys first; duplicates were refused already.
        using Base = std::vector<Json::object_t::value_type>;
        Base& members = parent.get_ref<Json::object_t&>();
        members.emplace_back(std::move(key_), std::move(value));
        return &members.back().second;
    }

    Json root_;
    std::vector<Json*> open_;
    std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view what, JsonLimits limits) {
    Builder builder(text, what, limits);
    builder.read();
    return builder.take();
}

std::string dump_json(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flyball
