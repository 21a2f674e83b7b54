#include "results/watched.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace flyball::results {

Watched::State Watched::state_of(const std::filesystem::path& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        return {};
    }
    return {true,
            found.st_dev,
            found.st_ino,
            static_cast<std::uint64_t>(found.st_size),
            found.st_mtim.tv_sec,
            found.st_mtim.tv_nsec};
}

void Watched::look(const std::filesystem::path& path) {
    if (seen_.find(path) == seen_.end()) {
        seen_.emplace(path, state_of(path));
    }
}

bool Watched::changed() const {
    return std::any_of(seen_.begin(), seen_.end(), [](const auto& one) { return state_of(one.first) != one.second; });
}

}  // namespace flyball::results
