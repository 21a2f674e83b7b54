#include "core/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace flyball {

namespace {

std::string reason(int error) {
    return std::generic_category().message(error);
}

class Descriptor {
  public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() {
        if (value_ >= 0) {
            ::close(value_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }

  private:
    int value_;
};

struct stat status_of(int descriptor, std::string_view where, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        throw_file_error(where, path, errno, "a readable file");
    }
    return status;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
    const std::filesystem::path folder = path.parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
}

// A new version of NAME is written as .NAME.PROCESS-COUNTER.tmp, so that writers do not meet. (Names of 255 bytes are
// the longest there are.)
std::string temporary_name(const std::string& name, std::uint64_t counter) {
    return fmt::format(".{}.{}-{}.tmp", name.substr(0, 200), ::getpid(), counter);
}

// Whether that could be `text`; any NAME if it is empty.
bool is_temporary_name(std::string_view text, std::string_view name) {
    constexpr std::string_view end = ".tmp";
    if (text.size() < end.size() || text.front() != '.' || text.substr(text.size() - end.size()) != end) {
        return false;
    }
    text.remove_prefix(1);
    text.remove_suffix(end.size());
    const std::size_t dot = text.rfind('.');
    const std::string_view numbers = dot == std::string_view::npos ? "" : text.substr(dot + 1);
    const std::size_t dash = numbers.find('-');
    const auto is_number = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    return dash != std::string_view::npos && is_number(numbers.substr(0, dash)) &&
           is_number(numbers.substr(dash + 1)) && (name.empty() || text.substr(0, dot) == name.substr(0, 200));
}

void expect_regular(const struct stat& status, std::string_view where, const std::filesystem::path& path) {
    if (!S_ISREG(status.st_mode)) {
        throw Error(ErrorKind::io, where,
                    fmt::format("{}, which is {}", flyball::quoted(path.string()),
                                S_ISDIR(status.st_mode) ? "a directory" : "not a regular file"),
                    "a readable file");
    }
}

// Opening a named pipe must not wait for its other end before we refuse it.
constexpr int open_at_once = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// All that can be read from the descriptor; `told` is how much that will be, as far as is known.
std::string read_all(int descriptor, std::size_t told, std::size_t max_bytes, std::string_view where,
                     const std::filesystem::path& path) {
    constexpr std::size_t piece = 65536;
    std::string text;
    std::size_t used = 0;
    while (used <= max_bytes) {
        if (used == text.size()) {
            const std::size_t step = used == 0 ? std::min(told, max_bytes) + 1 : std::max(piece, used / 2);
            text.resize(used + step);
        }
        const ssize_t got = ::read(descriptor, text.data() + used, text.size() - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw_file_error(where, path, errno, "a readable file");
        }
        if (got == 0) {
            text.resize(used);
            return text;
        }
        used += static_cast<std::size_t>(got);
    }
    throw Error(ErrorKind::input, where,
                fmt::format("{} with more than {} bytes", flyball::quoted(path.string()), max_bytes), "a smaller file");
}

}  // namespace

void throw_file_error(std::string_view where, const std::filesystem::path& path, int error, std::string_view expected) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    throw Error(full ? ErrorKind::resource : ErrorKind::io, where,
                fmt::format("{} ({})", flyball::quoted(path.string()), reason(error)), expected,
                full ? "free some space or choose another place" : "");
}

MappedFile::MappedFile(const std::filesystem::path& path) {
    constexpr std::string_view where = "core.map_file";
    const Descriptor file(::open(path.c_str(), open_at_once));
    if (file.get() < 0) {
        throw_file_error(where, path, errno, "a readable file");
    }
    const struct stat status = status_of(file.get(), where, path);
    expect_regular(status, where, path);
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return;  // mmap refuses empty maps
    }
    void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (start == MAP_FAILED) {
        throw_file_error(where, path, errno, "a file that can be mapped into memory");
    }
    bytes_ = {static_cast<const std::byte*>(start), size};
}

void MappedFile::let_go(std::span<const std::byte> part) const noexcept {
    if (part.empty()) {
        return;
    }
    // Whole pages inside the part; the map itself begins with one.
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto first = static_cast<std::size_t>(part.data() - bytes_.data());
    const std::size_t begin = (first + page - 1) / page * page;
    const std::size_t end = (first + part.size()) / page * page;
    if (begin < end) {
        static_cast<void>(::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED));
    }
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) {
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
    constexpr std::string_view where = "core.read_text_file";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        throw_file_error(where, path, errno, "a readable file");
    }
    const struct stat status = status_of(file.get(), where, path);
    if (S_ISDIR(status.st_mode)) {
        throw_file_error(where, path, EISDIR, "a readable file");
    }
    // The size is a hint only: it is 0 for pipes, and the file may grow while we read.
    return read_all(file.get(), static_cast<std::size_t>(std::max<off_t>(0, status.st_size)), max_bytes, where, path);
}

std::string read_standard_input(std::size_t max_bytes) {
    return read_all(STDIN_FILENO, 0, max_bytes, "core.read_standard_input", "standard input");
}

std::string read_regular_file(const std::filesystem::path& path, std::size_t max_bytes) {
    constexpr std::string_view where = "core.read_regular_file";
    const Descriptor file(::open(path.c_str(), open_at_once));
    if (file.get() < 0) {
        throw_file_error(where, path, errno, "a readable file");
    }
    const struct stat status = status_of(file.get(), where, path);
    expect_regular(status, where, path);
    return read_all(file.get(), static_cast<std::size_t>(std::max<off_t>(0, status.st_size)), max_bytes, where, path);
}

void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            throw_file_error("core.write_file", path, errno, "a file that can be written to the end");
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

// Beside the file it will replace, since only a rename within one file system is atomic; under a name that nobody has,
// and locked while its writer lives, so that what a killed process left behind is told from work in progress.
AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
    constexpr std::string_view where = "core.write_file";
    constexpr std::string_view expected = "the path of a file in a writable folder";
    struct stat status {};
    mode_t mode = 0;
    if (::stat(path_.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode)) {
            throw Error(ErrorKind::io, where,
                        fmt::format("{}, which is {}", flyball::quoted(path_.string()),
                                    S_ISDIR(status.st_mode) ? "a directory" : "not a regular file"),
                        expected);
        }
        mode = status.st_mode & 07777U;
        // Through a symbolic link the file it points to is replaced, not the link.
        std::error_code ignored;
        const auto real = std::filesystem::canonical(path_, ignored);
        path_ = ignored ? path_ : real;
    } else if (errno != ENOENT || !path_.has_filename()) {
        throw_file_error(where, path_, errno, expected);
    }
    static std::atomic<std::uint64_t> counter{0};
    do {
        temporary_ = folder_of(path_) / temporary_name(path_.filename().string(), counter.fetch_add(1));
        descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) {
        throw_file_error(where, path_, errno, expected);
    }
    static_cast<void>(::flock(descriptor_, LOCK_EX | LOCK_NB));  // somebody is at work here: see remove_abandoned
    if (mode != 0) {
        static_cast<void>(::fchmod(descriptor_, mode));  // a nicety: the new version keeps the old permissions
    }
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    write_all(descriptor_, bytes, path_);
}

void AtomicFile::write(std::string_view text) {
    write(std::as_bytes(std::span(text)));
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            throw_file_error("core.write_file", path_, errno, "a file that can be written to the end");
        }
        offset += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw_file_error("core.write_file", path_, errno, "a file that can be read while it is written");
        }
        if (got == 0) {
            std::fill(bytes.begin(), bytes.end(), std::byte{0});
            return;
        }
        offset += static_cast<std::uint64_t>(got);
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
}

void AtomicFile::commit() {
    constexpr std::string_view where = "core.write_file";
    constexpr std::string_view expected = "a file that can be written to the end";
    if (::fsync(descriptor_) != 0) {
        throw_file_error(where, path_, errno, expected);
    }
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        throw_file_error(where, path_, errno, expected);
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
        throw_file_error(where, path_, errno, expected);
    }
    temporary_.clear();
    // The rename itself must reach the disk. Some file systems cannot sync a folder; the file is complete anyway.
    const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) {
        static_cast<void>(::fsync(folder.get()));
    }
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
    // By hand: the library's iterator ends the process when memory runs out in it.
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.empty() ? "." : folder.c_str()), ::closedir);
    if (!directory) {
        throw_file_error("core.names_in", folder, errno, "a folder that can be read");
    }
    std::vector<std::string> names;
    for (const dirent* entry = nullptr; (entry = ::readdir(directory.get())) != nullptr;) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    return names;
}

void remove_abandoned(const std::filesystem::path& folder, std::string_view name) {
    std::vector<std::string> names;
    try {
        names = names_in(folder);
    } catch (const Error&) {
        return;  // nothing is there, or nothing to be had
    }
    for (const std::string& one : names) {
        if (!is_temporary_name(one, name)) {
            continue;
        }
        const std::filesystem::path path = folder / one;
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            ::unlink(path.c_str());
        }
    }
}

bool is_there(const std::filesystem::path& path, std::string_view where) {
    std::error_code unknown;
    const bool there = std::filesystem::exists(path, unknown);
    if (unknown) {
        throw_file_error(where, path, unknown.value(), "a path that can be followed");
    }
    return there;
}

bool is_named(const std::filesystem::path& path) {
    std::error_code unknown;  // leaves a type that is neither
    return std::filesystem::symlink_status(path, unknown).type() != std::filesystem::file_type::not_found;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace flyball
