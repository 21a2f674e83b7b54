// What the tests of core share: a folder that cleans up after itself, and the text of an Error.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.hpp"

namespace flyball::test {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "flyball-test-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) {
            ADD_FAILURE() << "no temporary folder";
        }
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    std::filesystem::path put(const std::string& name, std::string_view contents) const {
        const auto file = path_ / name;
        std::ofstream(file, std::ios::binary) << contents;
        return file;
    }

    std::string get(const std::string& name) const {
        std::ifstream in(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    std::size_t files() const {
        std::size_t n = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) {
            ++n;
        }
        return n;
    }

  private:
    std::filesystem::path path_;
};

struct Caught {
    std::string text;
    std::optional<ErrorKind> kind;

    bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

// The Error an action throws; an empty text if it throws none. Other exceptions pass and fail the test.
template <class Action>
Caught error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return {error.what(), error.kind()};
    }
    return {};
}

// The action throws an Error whose sentence contains `part`.
#define EXPECT_ERROR(action, part)                                                               \
    do {                                                                                         \
        const auto caught_error = ::flyball::test::error_of([&] { static_cast<void>(action); }); \
        EXPECT_TRUE(caught_error.kind.has_value()) << "no Error from " #action;                  \
        EXPECT_TRUE(caught_error.has(part)) << "the Error says: " << caught_error.text;          \
    } while (false)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace flyball::test
