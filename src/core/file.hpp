// Files: mapped for reading, replaced as a whole for writing.
//
// Promises: every failure is an Error of kind io (resource when the disk is full) that names the path and the system's
// reason; a file written through AtomicFile is either the old one or the complete new one, also after a crash. Not
// here: files that grow line by line (record/json_lines.hpp) and locking. A mapped file that somebody else truncates
// while it is read raises SIGBUS, as with every memory map; the program gives that a sentence (cli/process.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flyball {

// A regular file in memory, read-only. The bytes stay where they are when the object is moved.
class MappedFile {
  public:
    MappedFile() noexcept = default;
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const noexcept { return bytes_; }

    // Whole pages inside `part` of the bytes no longer count as memory of this process. The bytes stay readable:
    // whoever reads them again gets them from the file. A failure is ignored: it costs memory, not correctness.
    void let_go(std::span<const std::byte> part) const noexcept;

  private:
    std::span<const std::byte> bytes_;
};

// The whole contents; pipes and devices work too. More than max_bytes is an Error.
std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

// The same of the standard input, to its end.
std::string read_standard_input(std::size_t max_bytes);

// The same for files found in a folder that somebody else filled: whatever is no regular file, such as a named pipe
// that nobody writes to, is an Error at once instead of a wait.
std::string read_regular_file(const std::filesystem::path& path, std::size_t max_bytes);

// A new version of `path`, written to a temporary file beside it. Without commit() the destructor removes it and the
// old version stays. Writes are not buffered: give them in large pieces.
class AtomicFile {
  public:
    explicit AtomicFile(const std::filesystem::path& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);

    // For formats that are not written from front to back. A hole reads as zeros, and so does what lies beyond the end.
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
    void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

    // Flushes to the disk and takes the place of the old version.
    void commit();

  private:
    std::filesystem::path path_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
};

// Of the files and folders in a folder, in no order.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Deletes what AtomicFiles in `folder` left behind whose process was killed before it could commit; of `name` alone,
// when one is given. Writers that are still at work keep theirs. Failures are ignored.
void remove_abandoned(const std::filesystem::path& folder, std::string_view name = {});

void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// Whether there is such a file or folder, through links. Where the system does not say, since a folder on the way may not
// be entered or links go in a circle, that is an Error of `where`, and not a no.
bool is_there(const std::filesystem::path& path, std::string_view where);

// Whether its folder has this name. True for a link that leads nowhere too: who opens it says so, instead of reading
// something else in silence.
bool is_named(const std::filesystem::path& path);

// The Error of a system call that failed on this file: io, or resource when the disk is full.
[[noreturn]] void throw_file_error(std::string_view where, const std::filesystem::path& path, int error,
                                   std::string_view expected);

// Writes everything to an open descriptor; `path` is for the message.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace flyball
