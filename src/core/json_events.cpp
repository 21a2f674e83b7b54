#include "core/json_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "core/number.hpp"

namespace flyball {

namespace {

// Reads characters and tells how far it came: the parser's callbacks do not say where they are.
class Reader {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Reader(std::string_view text, std::size_t at, std::size_t* position)
        : text_(text.data()), at_(at), position_(position) {}

    const char& operator*() const { return text_[at_]; }
    Reader& operator++() {
        ++at_;
        *position_ = at_;
        return *this;
    }
    Reader operator++(int) {
        const Reader before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Reader& other) const { return at_ == other.at_; }

  private:
    const char* text_;
    std::size_t at_;
    std::size_t* position_;
};

// "[json.exception.parse_error.101] parse error at line 1, column 8: syntax error while parsing value - REASON; last
// read: '...'": the reason is what a user needs; what was read may not be printable.
std::string reason_of(std::string_view message) {
    if (message.find("out_of_range.406") != std::string_view::npos) {
        return "a number too large for double precision";
    }
    const std::size_t from = message.find(" - ");
    if (from != std::string_view::npos) {
        message.remove_prefix(from + 3);
    }
    message = message.substr(0, message.find("; last read"));
    message = message.substr(0, message.find("; expected"));
    return std::string(message);
}

}  // namespace

JsonEvents::JsonEvents(std::string_view text, std::string_view what, std::string_view where, JsonLimits limits)
    : text_(text), what_(what), where_(where), limits_(limits) {}

void JsonEvents::read() {
    if (text_.size() > limits_.max_bytes) {
        throw Error(ErrorKind::input, where_, fmt::format("{} of {} bytes", what_, text_.size()),
                    fmt::format("at most {} bytes", limits_.max_bytes));
    }
    // The parser takes NUL for the end of the input and skips a byte order mark; both would hide what follows.
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
        fail_at(nul, "a NUL byte", "JSON text");
    }
    if (text_.starts_with("\xef\xbb\xbf")) {
        fail_at(0, "a byte order mark", "JSON text in plain UTF-8");
    }
    // Errors leave as exceptions of ours; false cannot come back.
    static_cast<void>(Json::sax_parse(Reader(text_, 0, &position_), Reader(text_, text_.size(), &position_), this));
}

std::size_t JsonEvents::line() {
    // The last byte read may already be the line end after a number.
    for (; counted_ + 1 < position_; ++counted_) {
        line_ += text_[counted_] == '\n' ? 1 : 0;
    }
    return line_;
}

void JsonEvents::fail(std::string_view got, std::string_view expected, std::string_view hint) const {
    fail_at(position_ == 0 ? 0 : position_ - 1, got, expected, hint);
}

void JsonEvents::fail_at(std::size_t position, std::string_view got, std::string_view expected,
                         std::string_view hint) const {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const std::size_t line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw Error(ErrorKind::input, where_,
                fmt::format("{} in {}, line {} column {}", got, what_, line, before.size() - line_start + 1), expected,
                hint);
}

void JsonEvents::open(bool object) {
    if (open_.size() >= limits_.max_depth) {
        fail(fmt::format("{} nested deeper than {} levels", object ? "objects" : "arrays", limits_.max_depth),
             "less nesting");
    }
    open_.emplace_back();
}

bool JsonEvents::null() {
    on_null();
    return true;
}

bool JsonEvents::boolean(bool value) {
    on_boolean(value);
    return true;
}

bool JsonEvents::number_integer(std::int64_t value) {
    on_integer(value);
    return true;
}

bool JsonEvents::number_unsigned(std::uint64_t value) {
    on_unsigned(value);
    return true;
}

bool JsonEvents::number_float(double value, const std::string& text) {
    if (is_lost(value, text)) {
        fail("a number too small for double precision", "JSON text");
    }
    on_float(value, text);
    return true;
}

bool JsonEvents::string(std::string& value) {
    on_string(value);
    return true;
}

bool JsonEvents::binary(Json::binary_t& /*value*/) {
    return false;
}  // JSON text has none

bool JsonEvents::start_object(std::size_t /*size*/) {
    open(true);
    on_start_object();
    return true;
}

bool JsonEvents::key(std::string& value) {
    if (!open_.back().insert(value).second) {
        fail(fmt::format("the key {} twice", flyball::quoted(value)), "every key once in an object");
    }
    on_key(value);
    return true;
}

bool JsonEvents::end_object() {
    on_end_object();
    open_.pop_back();
    return true;
}

bool JsonEvents::start_array(std::size_t /*size*/) {
    open(false);
    on_start_array();
    return true;
}

bool JsonEvents::end_array() {
    on_end_array();
    open_.pop_back();
    return true;
}

bool JsonEvents::parse_error(std::size_t position, const std::string& /*token*/,
                             const nlohmann::detail::exception& problem) {
    fail_at(position == 0 ? 0 : position - 1, reason_of(problem.what()), "JSON text");
}

std::string JsonEvents::expected_here() const {
    return "another value";
}
void JsonEvents::on_null() {
    fail("null", expected_here());
}
void JsonEvents::on_boolean(bool value) {
    fail(value ? "true" : "false", expected_here());
}
void JsonEvents::on_integer(std::int64_t value) {
    fail(fmt::format("{}", value), expected_here());
}
void JsonEvents::on_unsigned(std::uint64_t value) {
    fail(fmt::format("{}", value), expected_here());
}
void JsonEvents::on_float(double /*value*/, std::string_view text) {
    fail(flyball::quoted(text), expected_here());
}
void JsonEvents::on_string(std::string& value) {
    fail(flyball::quoted(value), expected_here());
}
void JsonEvents::on_start_object() {
    fail("an object", expected_here());
}
void JsonEvents::on_key(std::string& /*value*/) {}
void JsonEvents::on_end_object() {}
void JsonEvents::on_start_array() {
    fail("an array", expected_here());
}
void JsonEvents::on_end_array() {}

}  // namespace flyball
