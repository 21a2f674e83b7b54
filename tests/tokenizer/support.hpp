// What tests of tokenizers share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"

namespace flyball::tokenizer::test {

inline std::filesystem::path data(const std::string& name) {
    return std::filesystem::path(flyball::test::source_folder) / "tests" / "tokenizer" / "data" / name;
}

inline Json read_json(const std::filesystem::path& file) {
    return parse_json(read_text_file(file, std::size_t{64} << 20), file.string());
}

// The message of the Error that `act` throws, "" if it throws none.
inline std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// FNV-1a over numbers, as the scripts that made the expectations have it.
class Checksum {
  public:
    void add(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001B3U; }
    void add(const std::string& text) {
        for (const char c : text) {
            add(static_cast<unsigned char>(c));
        }
    }
    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0xCBF29CE484222325U;
};

// A folder of its own that goes away with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "flyball-model-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const std::string& name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        write_file_atomically(path_ / name, text);
    }

  private:
    std::filesystem::path path_;
};

}  // namespace flyball::tokenizer::test
