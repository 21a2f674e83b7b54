// Puts other results into the folder of a run, as if the run itself had written them.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/config.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "record/sealed.hpp"

namespace flyball::cli::test {

class ReproduceFolder {
  public:
    ReproduceFolder()
        : path_((std::filesystem::temp_directory_path() / ("flyball-reproduce-" + std::to_string(getpid()))).string()) {
        std::filesystem::remove_all(path_);
    }
    ~ReproduceFolder() { std::filesystem::remove_all(path_); }
    ReproduceFolder(const ReproduceFolder&) = delete;
    ReproduceFolder& operator=(const ReproduceFolder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

inline record::Identity identity_in(const ReproduceFolder& folder) {
    record::Identity identity = record::program_identity();
    for (const ConfigEntry& entry : load_config(folder / "config.toml")) {
        std::string values = entry.values[0];
        for (std::size_t i = 1; i < entry.values.size(); ++i) {
            values += " " + entry.values[i];
        }
        identity.emplace_back(entry.key.substr(entry.key.find('.') + 1), values);
    }
    return identity;
}

// As if the run of `identity` had been killed after this claim.
inline void store_claim(const ReproduceFolder& folder, const record::Identity& identity, const std::string& id,
                        const Json& body) {
    std::filesystem::create_directories(folder / "work");
    record::write_sealed_json(folder / "work/run.json", {"run", identity}, Json::object());
    record::write_sealed_json(folder / ("work/" + id + ".json"), {"claim " + id, identity}, body);
}

// A file of a finished run, and its checksum.
inline void replace_result(const std::string& folder, const std::string& name, const std::string& contents) {
    write_file_atomically(folder + "/" + name, contents);
    const std::string list = folder + "/provenance.json";
    Json about = parse_json(read_text_file(list, 1 << 20), list);
    about["files"][name] = record::file_checksum(folder + "/" + name);
    about.erase("checksum");
    about["checksum"] = record::checksum(std::string_view(dump_json(about, 2)));
    write_file_atomically(list, dump_json(about));
}

}  // namespace flyball::cli::test
