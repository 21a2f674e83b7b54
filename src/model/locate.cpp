#include "model/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "model/builtin.hpp"

namespace flyball::model {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// "" when not even a home is known.
fs::path cache_folder() {
    for (const char* const name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
        if (const std::string value = variable(name); !value.empty()) {
            return value;
        }
    }
    if (const std::string value = variable("HF_HOME"); !value.empty()) {
        return fs::path(value) / "hub";
    }
    if (const std::string value = variable("XDG_CACHE_HOME"); !value.empty()) {
        return fs::path(value) / "huggingface" / "hub";
    }
    const std::string home = variable("HOME");
    return home.empty() ? fs::path() : fs::path(home) / ".cache" / "huggingface" / "hub";
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

// A plain name: what is read from the command line or from refs/main must not lead elsewhere.
bool is_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !text.empty() && text != "." && text != ".." && std::all_of(text.begin(), text.end(), allowed);
}

// NAME or ORGANISATION/NAME.
bool is_repository(std::string_view model) {
    const std::size_t slash = model.find('/');
    return slash == std::string_view::npos ? is_name(model)
                                           : is_name(model.substr(0, slash)) && is_name(model.substr(slash + 1));
}

fs::path snapshot(const fs::path& repository, const std::string& model) {
    const fs::path reference = repository / "refs" / "main";
    std::error_code ignored;
    if (fs::exists(reference, ignored)) {
        std::string revision = read_regular_file(reference, 4096);
        revision.erase(revision.find_last_not_of(" \r\n\t") + 1);
        fs::path found = repository / "snapshots" / revision;
        if (is_name(revision) && is_folder(found)) {
            return found;
        }
        throw Error(ErrorKind::usage, "model.locate",
                    fmt::format("the model {}, whose revision {} in {} has no snapshot", flyball::quoted(model),
                                flyball::quoted(revision), flyball::quoted(reference.string())),
                    "a complete download", fmt::format("huggingface-cli download {}", model));
    }
    std::vector<fs::path> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(repository / "snapshots", ignored)) {
        if (is_folder(entry.path())) {
            all.push_back(entry.path());
        }
    }
    if (all.size() == 1) {
        return all.front();
    }
    throw Error(ErrorKind::usage, "model.locate",
                fmt::format("the model {} with {} snapshots in {} and no refs/main", flyball::quoted(model), all.size(),
                            flyball::quoted(repository.string())),
                "one snapshot", "give the folder of the snapshot");
}

}  // namespace

fs::path locate(const std::string& model) {
    if (model.starts_with(builtin_prefix)) {
        return builtin_model(model.substr(builtin_prefix.size()));
    }
    if (is_folder(model)) {
        return model;
    }
    std::error_code ignored;
    if (fs::exists(model, ignored)) {
        throw Error(ErrorKind::usage, "model.locate", fmt::format("the file {}", flyball::quoted(model)),
                    "the folder of a model", "give the folder that it is in");
    }
    std::string looked = "no such folder";
    if (is_repository(model)) {
        const fs::path cache = cache_folder();
        std::string name = "models--" + model;
        if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
            name.replace(slash, 1, "--");
        }
        const fs::path repository = cache / name;
        if (!cache.empty() && is_folder(repository)) {
            return snapshot(repository, model);
        }
        looked += cache.empty() ? ", and no Hugging Face cache because HOME is not set"
                                : fmt::format(", and no {}", flyball::quoted(repository.string(), 200));
    }
    throw Error(ErrorKind::usage, "model.locate", fmt::format("the model {} ({})", flyball::quoted(model), looked),
                "a folder, a repository in the local Hugging Face cache, or builtin:NAME");
}

}  // namespace flyball::model
