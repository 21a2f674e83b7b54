// What provenance.json says of a run, and whether it is as the run wrote it.
#include "record/provenance.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/isa.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"
#include "record/sealed.hpp"

namespace flyball::record {

namespace {

constexpr std::size_t largest_provenance = std::size_t{1} << 24U;

// Without a stream, whose failed allocation would look like a machine without a name.
std::string machine_name() {
    std::array<char, 4096> text{};  // the first processor's lines
    const int file = ::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : ::read(file, text.data(), text.size());
    if (file >= 0) {
        ::close(file);
    }
    const std::string_view lines(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    constexpr std::string_view key = "\nmodel name";
    const std::size_t line = lines.find(key);
    const std::size_t colon = line == std::string_view::npos ? line : lines.find(": ", line);
    if (colon == std::string_view::npos) {
        return "unknown";
    }
    return std::string(lines.substr(colon + 2, lines.find('\n', colon) - colon - 2));
}

}  // namespace

std::string in_utc(std::time_t time) {
    std::tm parts{};
    std::array<char, 64> stamp{};
    if (gmtime_r(&time, &parts) == nullptr ||
        std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        return fmt::format("{} s after 1970", time);
    }
    return stamp.data();
}

Json provenance(std::uint64_t seed) {
    Json result = Json::object();
    result["version"] = version;
    result["seed"] = seed;
    result["threads"] = threads();
    for (const auto& [key, value] : program_identity()) {
        if (key != "flyball version") {
            result[key == "instruction set" ? "isa" : "blas"] = value;
        }
    }
    result["machine"] = machine_name();
    result["finished"] = in_utc(std::time(nullptr));
    return result;
}

std::string provenance_sum(const Json& about) {
    return checksum(std::string_view(dump_json(about, 2)));
}

bool is_provenance_as_written(Json about) {
    if (!about.is_object() || !about.contains("checksum")) {
        return false;
    }
    const Json sum = about["checksum"];
    about.erase("checksum");
    return sum == provenance_sum(about);
}

// A list that cannot be read says nothing about the file: it may be somebody else's.
void expect_as_recorded(const std::filesystem::path& file, const std::string& sum) {
    const std::filesystem::path list = file.parent_path() / "provenance.json";
    Json about;
    std::error_code ignored;
    try {
        about = std::filesystem::exists(list, ignored)
                    ? parse_json(read_regular_file(list, largest_provenance), list.string())
                    : Json();
    } catch (const Error&) {
        return;
    }
    const std::string name = file.filename().string();
    if (about.is_object() && about.contains("files") && about["files"].is_object() && about["files"].contains(name) &&
        about["files"][name] != sum) {
        throw Error(ErrorKind::input, "record.open",
                    fmt::format("{}, which does not have its checksum in {}", flyball::quoted(file.string()),
                                flyball::quoted(list.string())),
                    "the file as the run wrote it", "a file that was changed on purpose belongs into another folder");
    }
}

}  // namespace flyball::record
