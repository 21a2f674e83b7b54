#include "model/config_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"

namespace flyball::model {

namespace {

constexpr std::uint64_t largest_size = std::uint64_t{1} << 40;  // anything above is a mistake, not a model

}  // namespace

ConfigReader::ConfigReader(Json json, std::string what) : json_(std::move(json)), what_(std::move(what)) {
    if (!json_.is_object()) {
        throw Error(ErrorKind::input, "model.config", fmt::format("{} that holds no object", what_),
                    "a JSON object of settings");
    }
}

const Json* ConfigReader::find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
}

bool ConfigReader::has(const char* key) const {
    return find(key) != nullptr;
}

bool ConfigReader::is_null(const char* key) const {
    const Json* value = find(key);
    return value != nullptr && value->is_null();
}

void ConfigReader::fail(const std::string& key, const std::string& expected, const std::string& hint) const {
    const Json* value = find(key.c_str());
    const std::string got = value == nullptr
                                ? fmt::format("no {} in {}", key, what_)
                                : fmt::format("{} = {} in {}", key, flyball::quoted(dump_json(*value)), what_);
    throw Error(ErrorKind::input, "model.config", got, expected, hint);
}

std::size_t ConfigReader::size(const char* key) const {
    if (!has(key)) {
        fail(key, "a whole number, at least 1");
    }
    return size(key, 0, 1);
}

std::size_t ConfigReader::size(const char* key, std::size_t fallback, std::size_t least) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const bool fits = value->is_number_unsigned() && value->get<std::uint64_t>() <= largest_size;
    if (!fits || value->get<std::uint64_t>() < least) {
        fail(key, fmt::format("a whole number from {} to {}", least, largest_size));
    }
    return value->get<std::size_t>();
}

std::size_t ConfigReader::size_or_null(const char* key, std::size_t fallback, std::size_t for_null) const {
    return is_null(key) ? for_null : size(key, fallback, 1);
}

double ConfigReader::number(const char* key) const {
    if (!has(key)) {
        fail(key, "a finite number");
    }
    return number(key, 0);
}

double ConfigReader::number_or_null(const char* key, double fallback) const {
    return is_null(key) ? fallback : number(key, fallback);
}

double ConfigReader::number(const char* key, double fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_number() || !std::isfinite(value->get<double>())) {
        fail(key, "a finite number");
    }
    return value->get<double>();
}

bool ConfigReader::flag(const char* key, bool fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_boolean()) {
        fail(key, "true or false");
    }
    return value->get<bool>();
}

std::string ConfigReader::text(const char* key, const std::string& fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_string()) {
        fail(key, "a text");
    }
    return value->get<std::string>();
}

ConfigReader ConfigReader::object(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) {
        return ConfigReader(Json::object(), what_);
    }
    if (!value->is_object()) {
        fail(key, "an object");
    }
    return ConfigReader(*value, fmt::format("{} of {}", key, what_));
}

}  // namespace flyball::model
