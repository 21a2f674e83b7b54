// Values of a configuration file, checked one by one: a string for a number, a negative size or a missing key is one
// sentence that names the file and the key.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/json.hpp"

namespace flyball::model {

class ConfigReader {
  public:
    // `what` names the file in messages.
    ConfigReader(Json json, std::string what);

    bool has(const char* key) const;  // present and not null

    std::size_t size(const char* key) const;  // required, at least 1
    std::size_t size(const char* key, std::size_t fallback, std::size_t least = 0) const;
    double number(const char* key, double fallback) const;
    bool flag(const char* key, bool fallback) const;
    std::string text(const char* key, const std::string& fallback) const;
    ConfigReader object(const char* key) const;  // an empty one when absent
    const Json& json() const { return json_; }
    const std::string& what() const { return what_; }

    [[noreturn]] void fail(const std::string& key, const std::string& expected, const std::string& hint = "") const;

  private:
    const Json* find(const char* key) const;  // null when absent or null

    Json json_;
    std::string what_;
};

}  // namespace flyball::model
