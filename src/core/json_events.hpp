// A strict JSON reader that reports events, the one way text becomes JSON here (json, config, safetensors headers).
//
// Promises: depth and size bounded before anything is built, duplicate keys refused, invalid UTF-8, NUL and byte order
// marks refused, every error one sentence with line and column. Memory is that of the longest token and of the keys of
// the open objects. Used by core's own sources only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/json.hpp"

namespace flyball {

// Derive, override the events you accept, and call read(). What is not overridden is an Error.
class JsonEvents {
  public:
    JsonEvents(std::string_view text, std::string_view what, std::string_view where, JsonLimits limits);
    virtual ~JsonEvents() = default;
    JsonEvents(const JsonEvents&) = delete;
    JsonEvents& operator=(const JsonEvents&) = delete;

    void read();

    // What nlohmann's parser calls.
    bool null();
    bool boolean(bool value);
    bool number_integer(std::int64_t value);
    bool number_unsigned(std::uint64_t value);
    bool number_float(double value, const std::string& text);
    bool string(std::string& value);
    bool binary(Json::binary_t& value);
    bool start_object(std::size_t size);
    bool key(std::string& value);
    bool end_object();
    bool start_array(std::size_t size);
    bool end_array();
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& problem);

  protected:
    // What the next value should be, for the message about an event that was not overridden.
    virtual std::string expected_here() const;

    virtual void on_null();
    virtual void on_boolean(bool value);
    virtual void on_integer(std::int64_t value);  // negative ones only
    virtual void on_unsigned(std::uint64_t value);
    virtual void on_float(double value, std::string_view text);
    virtual void on_string(std::string& value);
    virtual void on_start_object();
    virtual void on_key(std::string& value);
    virtual void on_end_object();
    virtual void on_start_array();
    virtual void on_end_array();

    // Throws, naming the place that has just been read.
    [[noreturn]] void fail(std::string_view got, std::string_view expected, std::string_view hint = {}) const;

    // Containers open now; 1 inside the outermost one.
    std::size_t depth() const { return open_.size(); }
    std::size_t line();

  private:
    [[noreturn]] void fail_at(std::size_t position, std::string_view got, std::string_view expected,
                              std::string_view hint = {}) const;
    void open(bool object);

    std::string_view text_;
    std::string what_;
    std::string where_;
    JsonLimits limits_;
    std::size_t position_ = 0;  // bytes read so far
    std::size_t counted_ = 0;   // bytes whose line ends are in line_
    std::size_t line_ = 1;
    std::vector<std::unordered_set<std::string>> open_;  // the keys of every open object; empty sets for arrays
};

}  // namespace flyball
