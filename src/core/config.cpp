#include "core/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "core/config_key.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json_events.hpp"
#include "core/number.hpp"

namespace flyball {

namespace {

constexpr std::size_t largest_config = std::size_t{1} << 20;

class JsonConfig : public JsonEvents {
  public:
    JsonConfig(std::string_view text, const std::string& name)
        : JsonEvents(text, flyball::quoted(name), "core.load_config", {.max_depth = 16, .max_bytes = largest_config}),
          name_(name) {}

    std::vector<ConfigEntry> take() { return std::move(entries_); }

  protected:
    std::string expected_here() const override {
        return depth() == 0 ? "an object of options" : "a number, a text, true, false or an array of them";
    }

    void on_start_object() override {
        if (depth() > 2 || in_array_) {
            fail("a nested object", "options, or objects of options named like a command");
        }
        if (depth() == 2) {
            table_ = key_ + ".";
        }
    }
    void on_end_object() override { table_.clear(); }
    void on_key(std::string& value) override {
        location_ = fmt::format("{}:{}", name_, line());
        check_config_key(value, location_);
        key_ = value;
    }
    void on_start_array() override {
        if (depth() == 1 || in_array_) {
            fail(depth() == 1 ? "an array" : "a nested array", depth() == 1 ? "an object of options" : "flat arrays");
        }
        in_array_ = true;
        entries_.push_back({table_ + key_, {}, location_});
    }
    void on_end_array() override { in_array_ = false; }
    void on_boolean(bool value) override { put(value ? "true" : "false"); }
    void on_integer(std::int64_t value) override { put(fmt::format("{}", value)); }
    void on_unsigned(std::uint64_t value) override { put(fmt::format("{}", value)); }
    void on_float(double value, std::string_view /*text*/) override { put(format_double(value)); }
    void on_string(std::string& value) override { put(value); }

  private:
    void put(std::string value) {
        if (depth() == 0) {
            fail(flyball::quoted(value), "an object of options");
        }
        if (!in_array_) {
            entries_.push_back({table_ + key_, {}, location_});
        }
        entries_.back().values.push_back(std::move(value));
    }

    std::string name_;
    std::string table_;
    std::string key_;
    std::string location_;
    bool in_array_ = false;
    std::vector<ConfigEntry> entries_;
};

// A bare TOML value where the text is exactly what reading the value gives back; else a quoted string.
std::string toml_value(const std::string& value) {
    if (value == "true" || value == "false") {
        return value;
    }
    const auto integer = parse_integer(value);
    const auto real = parse_double(value);
    if (integer && fmt::format("{}", *integer) == value) {
        return value;
    }
    // Without point or exponent it would be an integer in TOML, which may not fit (1e20) or loses its sign (-0).
    if (real && format_double(*real) == value && value.find_first_of(".e") != std::string::npos) {
        return value;
    }
    std::string text = "\"";
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            text += fmt::format("\\u{:04X}", byte);
        } else {
            text += c;
        }
    }
    return text + "\"";
}

std::string toml_line(std::string_view key, const std::vector<std::string>& values) {
    if (values.size() == 1) {
        return fmt::format("{} = {}\n", key, toml_value(values.front()));
    }
    std::string list;
    for (const std::string& value : values) {
        list += (list.empty() ? "" : ", ") + toml_value(value);
    }
    return fmt::format("{} = [{}]\n", key, list);
}

}  // namespace

void check_config_key(std::string_view key, std::string_view location) {
    const bool fine = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!fine) {
        throw Error(ErrorKind::input, "core.load_config",
                    fmt::format("the key {} in {}", flyball::quoted(key), flyball::quoted(location)),
                    "the name of an option: letters, digits, '-' and '_'");
    }
}

std::vector<ConfigEntry> parse_json_config(std::string_view text, const std::string& name) {
    JsonConfig config(text, name);
    config.read();
    return config.take();
}

std::vector<ConfigEntry> load_config(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    if (extension != ".toml" && extension != ".json") {
        throw Error(ErrorKind::usage, "core.load_config", "the configuration file " + flyball::quoted(path.string()),
                    "a name ending in .toml or .json");
    }
    const std::string text = read_text_file(path, largest_config);
    return extension == ".toml" ? parse_toml_config(text, path.string()) : parse_json_config(text, path.string());
}

std::string to_toml(const std::vector<ConfigEntry>& entries) {
    std::string text;
    std::vector<std::pair<std::string, std::string>> tables;
    std::set<std::string> seen;
    for (const ConfigEntry& entry : entries) {
        const std::size_t dot = entry.key.find('.');
        const std::string table = dot == std::string::npos ? "" : entry.key.substr(0, dot);
        const std::string key = dot == std::string::npos ? entry.key : entry.key.substr(dot + 1);
        check_config_key(key, "the configuration to write");
        if (!seen.insert(entry.key).second) {
            throw Error(ErrorKind::input, "core.to_toml", "the key " + flyball::quoted(entry.key) + " twice",
                        "every key once");
        }
        if (dot == std::string::npos) {
            text += toml_line(key, entry.values);
            continue;
        }
        check_config_key(table, "the configuration to write");
        auto place = std::find_if(tables.begin(), tables.end(), [&](const auto& t) { return t.first == table; });
        if (place == tables.end()) {
            place = tables.insert(tables.end(), {table, ""});
        }
        place->second += toml_line(key, entry.values);
    }
    for (const auto& [table, lines] : tables) {
        text += fmt::format("{}[{}]\n{}", text.empty() ? "" : "\n", table, lines);
    }
    return text;
}

}  // namespace flyball
