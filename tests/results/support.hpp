// Folders of results, written by hand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/json.hpp"
#include "results/document.hpp"

namespace flyball::results::test {

class ResultFolder {
  public:
    explicit ResultFolder(const std::string& command) {
        static int number = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("flyball-results-" + std::to_string(getpid()) + "-" + std::to_string(++number));
        std::filesystem::create_directories(path_);
        put("config.toml", "[" + command + "]\nseed = \"1\"\n");
        put("provenance.json", R"({"version": "1.2.3", "seed": 1, "files": {"a": "b"}})");
    }
    ~ResultFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ResultFolder(const ResultFolder&) = delete;
    ResultFolder& operator=(const ResultFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void put(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }
    // The one folder of the document.
    Json read(std::size_t level = 0) const { return document_of({path_}, level).at("folders").at(0); }

  private:
    std::filesystem::path path_;
};

// The first part of a kind; null where there is none.
inline Json part_of(const Json& folder, const std::string& kind) {
    for (const Json& part : folder.at("parts")) {
        if (part.at("kind") == kind) {
            return part;
        }
    }
    return nullptr;
}

inline Json typed(const std::string& text) {
    return parse_json(text, "typed");
}

}  // namespace flyball::results::test
