#include "model/builtin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::model {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
    if (const char* const data = std::getenv("FLYBALL_DATA"); data != nullptr && *data != '\0') {
        return {fs::path(data) / "models"};
    }
    std::vector<fs::path> all;
    std::error_code failed;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", failed); !failed) {
        all.push_back(program.parent_path().parent_path() / "share" / "flyball" / "models");
    }
    all.push_back(fs::path(FLYBALL_SOURCE_DATA) / "models");
    all.push_back(fs::path(FLYBALL_INSTALLED_DATA) / "models");
    return all;
}

std::vector<std::string> models_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        if (fs::exists(entry.path() / "config.json", ignored)) {
            names.push_back(entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

// The folder that is used, which may have no models.
fs::path used_folder() {
    const std::vector<fs::path> all = folders();
    const auto found = std::find_if(all.begin(), all.end(), [](const fs::path& f) { return !models_in(f).empty(); });
    return found == all.end() ? all.front() : *found;
}

}  // namespace

std::vector<std::string> builtin_models() {
    return models_in(used_folder());
}

fs::path builtin_model(const std::string& name) {
    const fs::path folder = used_folder();
    const std::vector<std::string> names = models_in(folder);
    // Only a name of the list leads anywhere: "../x" is none.
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        return folder / name;
    }
    const std::string close = nearest(name, names);
    const std::string place = flyball::quoted(folder.string(), 200);
    throw Error(ErrorKind::usage, "model.locate",
                fmt::format("the model {}", flyball::quoted(fmt::format("{}{}", builtin_prefix, name))),
                names.empty() ? fmt::format("a model in {}, where there is none", place)
                              : fmt::format("one of {} after {}, in {}", fmt::join(names, ", "), builtin_prefix, place),
                close.empty() ? std::string(names.empty() ? "FLYBALL_DATA names the folder that holds models" : "")
                              : fmt::format("did you mean {}{}?", builtin_prefix, close));
}

fs::path builtin_text() {
    return used_folder().parent_path() / "text" / "shakespeare.txt";
}

}  // namespace flyball::model
