// Values of a configuration file, checked one by one: a string for a number, a negative size or a missing key is one
// sentence that names the file and the key.
//
// A key that is missing takes the default of its family. A key that is null is not missing: most keys have no meaning
// for null, and then it is refused like any other wrong value; those that have one are read with the *_or_null calls.
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

    bool has(const char* key) const;      // there, with any value
    bool is_null(const char* key) const;  // there, and null

    std::size_t size(const char* key) const;  // required, at least 1
    std::size_t size(const char* key, std::size_t fallback, std::size_t least = 0) const;
    std::size_t size_or_null(const char* key, std::size_t fallback, std::size_t for_null) const;  // at least 1
    double number(const char* key) const;                                                         // required
    double number(const char* key, double fallback) const;
    double number_or_null(const char* key, double fallback) const;  // the fallback serves null too
    bool flag(const char* key, bool fallback) const;
    std::string text(const char* key, const std::string& fallback) const;
    ConfigReader object(const char* key) const;  // an empty one when missing or null
    const Json& json() const { return json_; }
    const std::string& what() const { return what_; }

    [[noreturn]] void fail(const std::string& key, const std::string& expected, const std::string& hint = "") const;

  private:
    const Json* find(const char* key) const;  // a null pointer when missing

    Json json_;
    std::string what_;
};

}  // namespace flyball::model
