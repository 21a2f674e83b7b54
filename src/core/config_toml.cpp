// TOML through toml++, which bounds the nesting of values but not of dotted keys: half a megabyte of "a.a.a" would
// overflow the stack when the tables are destroyed. So the text is scanned for nesting before it is parsed.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/config.hpp"
#include "core/config_key.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/utf8.hpp"

namespace flyball {

namespace {

constexpr std::size_t deepest = 16;
constexpr std::string_view where_loaded = "core.load_config";

[[noreturn]] void fail(std::string_view got, const std::string& name, std::size_t line, std::string_view expected) {
    const std::string place = fmt::format("{}:{}", name, line);
    throw Error(ErrorKind::input, where_loaded, fmt::format("{} in {}", got, flyball::quoted(place)), expected);
}

// The position after the string that starts at `at`; single-line strings end at the line end at the latest.
std::size_t skip_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string triple(3, quote);
    const bool multi_line = text.substr(at, 3) == triple;
    std::size_t i = at + (multi_line ? 3 : 1);
    while (i < text.size()) {
        if (quote == '"' && text[i] == '\\') {
            i += 2;
        } else if (multi_line && text.substr(i, 3) == triple) {
            i += 3;
            // Two more quotes may belong to the contents.
            for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) {
                ++i;
            }
            return i;
        } else if (!multi_line && (text[i] == quote || text[i] == '\n')) {
            return text[i] == quote ? i + 1 : i;
        } else {
            ++i;
        }
    }
    return text.size();
}

void check_nesting(std::string_view text, const std::string& name) {
    std::size_t dots = 0;  // since the start of the current key or value
    std::size_t open = 0;
    std::size_t i = 0;
    while (i < text.size()) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            i = skip_string(text, i);
            continue;
        }
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (c == '.') {
            ++dots;
        } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
            dots = 0;
        }
        if (c == '[' || c == '{') {
            ++open;
        } else if ((c == ']' || c == '}') && open > 0) {
            --open;
        }
        if (dots > deepest || open > deepest) {
            const auto end = text.begin() + static_cast<std::ptrdiff_t>(i);
            fail("deep nesting", name, 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n')),
                 "options, or tables of options named like a command");
        }
        ++i;
    }
}

class TomlConfig {
  public:
    TomlConfig(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    std::vector<ConfigEntry> read(const toml::table& root) {
        add_table(root, "");
        // toml++ sorts by key; people expect the order of the file.
        std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<ConfigEntry> entries;
        for (auto& [position, entry] : found_) {
            entries.push_back(std::move(entry));
        }
        return entries;
    }

  private:
    using Position = std::pair<std::size_t, std::size_t>;

    static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

    void add_table(const toml::table& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
            const std::size_t line = key.source().begin.line;
            const std::string location = fmt::format("{}:{}", name_, line);
            check_config_key(key.str(), location);
            if (const toml::table* const inner = node.as_table()) {
                if (!prefix.empty()) {
                    fail("a nested table " + flyball::quoted(key.str()), name_, line,
                         "options, or tables of options named like a command");
                }
                add_table(*inner, std::string(key.str()) + ".");
                continue;
            }
            ConfigEntry entry{prefix + std::string(key.str()), {}, location};
            if (const toml::array* const list = node.as_array()) {
                for (const toml::node& element : *list) {
                    entry.values.push_back(scalar(element));
                }
            } else {
                entry.values.push_back(scalar(node));
            }
            found_.emplace_back(Position{line, key.source().begin.column}, std::move(entry));
        }
    }

    // The number that begins at this place; columns count characters.
    std::string_view number_at(toml::source_position place) const {
        std::string_view rest = text_;
        for (std::size_t line = 1; line < place.line; ++line) {
            rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
        }
        for (std::size_t column = 1; column < place.column && !rest.empty(); ++column) {
            rest.remove_prefix(std::min(point_length(rest.front()), rest.size()));
        }
        return rest.substr(0, rest.find_first_not_of("+-.0123456789_eE"));
    }

    std::string scalar(const toml::node& node) const {
        if (const auto* const text = node.as_string()) {
            return text->get();
        }
        if (const auto* const integer = node.as_integer()) {
            return fmt::format("{}", integer->get());
        }
        if (const auto* const real = node.as_floating_point()) {
            if (is_lost(real->get(), number_at(node.source().begin))) {
                fail("a number too small for double precision", name_, line_of(node), "TOML text");
            }
            return format_double(real->get());
        }
        if (const auto* const boolean = node.as_boolean()) {
            return boolean->get() ? "true" : "false";
        }
        const char* const got = node.is_table() ? "a table in an array" : node.is_array() ? "a nested array" : "a date";
        fail(got, name_, line_of(node), "a number, a text, true, false or an array of them");
    }

    std::string_view text_;
    const std::string& name_;
    std::vector<std::pair<Position, ConfigEntry>> found_;
};

}  // namespace

std::vector<ConfigEntry> parse_toml_config(std::string_view text, const std::string& name) {
    check_nesting(text, name);
    try {
        const toml::table root = toml::parse(text, name);
        return TomlConfig(text, name).read(root);
    } catch (const toml::parse_error& problem) {
        fail(fmt::format("\"{}\"", problem.description()), name, problem.source().begin.line, "TOML text");
    }
}

}  // namespace flyball
